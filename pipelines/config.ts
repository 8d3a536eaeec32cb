/** Reads the settings from environment variables. No other file reads environment variables. */
import { existsSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MappaleError } from './errors.ts';

/** Root folder of the program, with `sql/` and `sources/`: the checkout, or `dist/`. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

const UNSET = 'Unset it to use the default.';

/** Names and descriptions of the settings, except the settings of sources (`sourceSettings`). The README contains the same descriptions. */
export const SETTINGS: Readonly<Record<string, string>> = {
  DATABASE_URL: '`postgres://user:password@host:port/database` or `pglite:FOLDER`. Default: the embedded database in `database` below the home folder',
  MAPPALE_HOME: 'home folder, which has the embedded database and the files of the demo region; same as `--home`. Default: `.mappale` in the working folder if it exists, '
    + 'else `$XDG_DATA_HOME/mappale`, else `~/.local/share/mappale`',
  MAPPALE_DISTRIBUTED: '`citus`: `DATABASE_URL` is the coordinator of a Citus cluster, and the next command that writes distributes the tables keyed by parcel '
    + '([Citus](docs/citus.md)). Default: tables are not distributed',
  MAPPALE_LOG: '`human`: plain lines; `json`: one object per line on stderr, for unattended runs. Default: `human`',
  MAPPALE_LOG_LEVEL: '`debug`: each step and its time, like `--verbose`; `info`: phases and progress; `warn`: warnings only, like `--quiet`. '
    + 'Default: `info`, or `debug` with `MAPPALE_LOG=json`',
  MAPPALE_PUBLISHER: 'public body that publishes the catalogue: its IPA code or another identifier, a space, and its name, such as `c_b519 Comune di Campobasso`. Default: `operator Operator of this database`',
  NO_COLOR: 'if set to any value, the output has no colours',
};

export interface Config {
  readonly databaseUrl: string;
  /**
   * True if the tables that are partitioned by `fid` must be distributed over several Citus nodes. Tables that are already distributed stay distributed, even
   * if the value is false.
   */
  readonly distributed: boolean;
  readonly log: 'human' | 'json';
  readonly logLevel: 'debug' | 'info' | 'warn';
  readonly noColor: boolean;
  /** Public body that the catalogue names as its publisher. */
  readonly publisher: { readonly id: string; readonly name: string };
  /** Name of this machine, for the ledger. */
  readonly host: string;
  /** Operating-system user of the process, for the ledger. */
  readonly user: string;
}

/** @param env environment; empty variables count as unset @throws MappaleError `CONFIG_UNKNOWN`, `CONFIG_DISTRIBUTED` (exit 2) */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const databaseUrl = env['DATABASE_URL'] || `pglite:${join(homeFolder(env), 'database')}`;
  const distributed = chosen(env, 'MAPPALE_DISTRIBUTED', { values: ['citus'], hint: 'Unset it to leave the database on one machine.' }) !== null;
  if (distributed && !/^postgres(ql)?:/.test(databaseUrl)) {
    throw new MappaleError('the embedded database cannot be distributed', {
      code: 'CONFIG_DISTRIBUTED', kind: 'usage', at: 'MAPPALE_DISTRIBUTED', detail: 'expected DATABASE_URL to be postgres://…, the coordinator of a Citus cluster',
      hint: 'Set DATABASE_URL, or unset MAPPALE_DISTRIBUTED.', fix: 'unset MAPPALE_DISTRIBUTED',
    });
  }
  const log = chosen(env, 'MAPPALE_LOG', { values: ['human', 'json'], hint: UNSET }) ?? 'human';
  const logLevel = chosen(env, 'MAPPALE_LOG_LEVEL', { values: ['debug', 'info', 'warn'], hint: UNSET }) ?? (log === 'json' ? 'debug' : 'info');
  const [id = '', ...name] = (env['MAPPALE_PUBLISHER']?.trim() || 'operator Operator of this database').split(/\s+/);
  const publisher = { id, name: name.join(' ') || id };
  return { databaseUrl, distributed, log, logLevel, publisher, noColor: (env['NO_COLOR'] || null) !== null, host: hostname(), user: userName() };
}

interface Choice<Value> {
  readonly values: readonly Value[];
  readonly hint: string;
}

/** Returns the value of a setting, or null if the setting is unset. @throws MappaleError `CONFIG_UNKNOWN` (exit 2) */
function chosen<Value extends string>(env: NodeJS.ProcessEnv, name: string, { values, hint }: Choice<Value>): Value | null {
  const text = env[name] || null;
  const value = values.find((each) => each === text);
  if (text === null || value !== undefined) return value ?? null;
  throw new MappaleError(`${name} is invalid`, {
    code: 'CONFIG_UNKNOWN', kind: 'usage', at: name, detail: `expected ${values.join(', ').replace(/, (?!.*,)/, ' or ')}, found ${JSON.stringify(text)}`, hint, fix: `unset ${name}`,
  });
}

/** Returns the folder of the embedded database and of the demo region's files. The folder may be missing. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { MAPPALE_HOME: named, XDG_DATA_HOME: data = '' } = env;
  if (named) return expandPath(named);
  if (existsSync('.mappale')) return resolve('.mappale');
  // A relative path in this variable is invalid and ignored (XDG Base Directory Specification 0.8).
  return join(isAbsolute(data) ? data : join(homedir(), '.local', 'share'), 'mappale');
}

/** Settings of one source. Unset settings are null. */
export interface SourceSettings {
  /** `MAPPALE_<SOURCE>_URL` without the login: address that replaces the publisher's base address. */
  readonly url: string | null;
  /** `user:password` of `MAPPALE_<SOURCE>_URL` (secret). */
  readonly login: string | null;
  /** `MAPPALE_<SOURCE>_TOKEN`: access token that the publisher gave to the user (secret). */
  readonly token: string | null;
}

/** Returns the settings of a source. @param id the id of the source @throws MappaleError `CONFIG_UNKNOWN` (exit 2) for an invalid address */
export function sourceSettings(id: string, env: NodeJS.ProcessEnv = process.env): SourceSettings {
  const name = `MAPPALE_${id.toUpperCase()}`;
  const [text, token] = [env[`${name}_URL`]?.trim() || null, env[`${name}_TOKEN`]?.trim() || null];
  if (text === null) return { url: null, login: null, token };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new MappaleError(`${name}_URL is invalid`, {
      code: 'CONFIG_UNKNOWN', kind: 'usage', at: `${name}_URL`, detail: `expected http://… or https://…, found ${JSON.stringify(withoutLogin(text))}`,
      hint: 'Unset it to download from the publisher. For local files use --data FOLDER instead.', fix: `unset ${name}_URL`,
    });
  }
  const { username, password } = new URL(text);
  return { url: withoutLogin(text), login: username === '' ? null : `${decoded(username)}:${decoded(password)}`, token };
}

/** Decodes a percent-encoded text. Returns a text with an invalid encoding, such as `100%`, unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutLogin(url: string): string {
  return url.replace(/^([a-z+.-]*:\/\/)[^/?#]*@/i, '$1');
}

/**
 * Returns the start time of the program's clock from `MAPPALE_TEST_CLOCK`, in milliseconds since 1970. Returns null to use the system's clock. Only tests set
 * this variable.
 * @throws MappaleError `CONFIG_UNKNOWN` (exit 2)
 */
export function testClock(env: NodeJS.ProcessEnv = process.env): number | null {
  const name = 'MAPPALE_TEST_CLOCK';
  const text = env[name]?.trim() || null;
  const moment = text === null ? null : Date.parse(text);
  if (moment === null || !Number.isNaN(moment)) return moment;
  throw new MappaleError(`${name} is not a date`, {
    code: 'CONFIG_UNKNOWN', kind: 'usage', at: name, detail: `expected a date such as 2026-12-01T02:15:00Z, found ${JSON.stringify(text)}`,
    hint: 'Unset it to use the clock of this machine.', fix: `unset ${name}`,
  });
}

/**
 * Returns the engine for vector files from `MAPPALE_TEST_VECTOR_ENGINE`. Returns null if the variable is not set; the
 * fastest installed engine is then used. Only tests set this variable.
 * @throws MappaleError `CONFIG_UNKNOWN` (exit 2)
 */
export function testVectorEngine<Name extends string>(names: readonly Name[], env: NodeJS.ProcessEnv = process.env): Name | null {
  return chosen(env, 'MAPPALE_TEST_VECTOR_ENGINE', { values: names, hint: 'Unset it to use the fastest engine that is installed.' });
}

/** Proxy settings from the environment variables that `curl` and other programs use. */
export interface Proxies {
  /** Address of the proxy for `http:` addresses, with login (secret); null if there is no proxy. */
  readonly http: string | null;
  readonly https: string | null;
  /** Hosts and domains to contact without a proxy. */
  readonly except: readonly string[];
}

export const NO_PROXIES: Proxies = { http: null, https: null, except: [] };

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. If the lower-case name of a variable is also set, the lower-case name has priority.
 * @throws MappaleError `CONFIG_UNKNOWN` (exit 2) for an invalid address
 */
export function readProxies(env: NodeJS.ProcessEnv = process.env): Proxies {
  const proxy = (name: string): string | null => {
    const text = (env[name.toLowerCase()] || env[name])?.trim();
    if (text === undefined || text === '') return null;
    const url = text.includes('://') ? text : `http://${text}`;
    if (URL.canParse(url) && /^(?:https?|socks5?):$/.test(new URL(url).protocol) && !/%(?![\da-f]{2})/i.test(url)) return url;
    throw new MappaleError(`${name} is invalid`, {
      code: 'CONFIG_UNKNOWN', kind: 'usage', at: name, detail: `expected http://PROXY:PORT, found ${JSON.stringify(withoutLogin(url))}`, hint: 'Correct the setting, or unset it to connect directly.', fix: `unset ${name} ${name.toLowerCase()}`,
    });
  };
  return { http: proxy('HTTP_PROXY'), https: proxy('HTTPS_PROXY'), except: (env['no_proxy'] || env['NO_PROXY'] || '').split(/[\s,]+/).filter((host) => host !== '') };
}

/** Returns the name of the operating-system user. Returns the numeric user id if the user has no name, as in some containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Returns the folders in `PATH`. */
export function programFolders(env: NodeJS.ProcessEnv = process.env): string[] {
  return (env['PATH'] ?? '').split(delimiter);
}

/** Expands `~` as a shell does, and makes a relative path absolute. */
export function expandPath(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path);
}

/** Environment variables of libpq that determine the address of a server. Unset variables are null, except that the port is `5432`. */
export interface LibpqSettings {
  readonly host: string | null;
  readonly port: string;
  readonly user: string | null;
  readonly service: string | null;
  /** Paths of service files, in the order in which libpq reads these files. */
  readonly serviceFiles: readonly string[];
  /** User of the process in the operating system. */
  readonly systemUser: string;
}

/** Reads the environment variables of libpq that the program needs to complete the address of a server. */
export function libpqSettings(env: NodeJS.ProcessEnv = process.env): LibpqSettings {
  const { PGHOST, PGPORT, PGUSER, PGSERVICE, PGSERVICEFILE, PGSYSCONFDIR } = env;
  return {
    host: PGHOST || null, port: PGPORT || '5432', user: PGUSER || null, service: PGSERVICE || null,
    serviceFiles: [PGSERVICEFILE || join(homedir(), '.pg_service.conf'), join(PGSYSCONFDIR || '/etc/postgresql-common', 'pg_service.conf')],
    systemUser: userName(),
  };
}

/** Options that every command accepts. */
export interface GlobalOptions {
  readonly home?: string;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
}

/** Sets environment variables for the options that every command accepts. Worker processes inherit these variables. */
export function applyOptions({ home, verbose = false, quiet = false }: GlobalOptions): void {
  if (home !== undefined) process.env['MAPPALE_HOME'] = expandPath(home);
  if (verbose) process.env['MAPPALE_LOG_LEVEL'] = 'debug';
  else if (quiet) process.env['MAPPALE_LOG_LEVEL'] = 'warn';
}
