/** The one place that reads the environment. */
import { homedir, hostname, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { MappaleError } from './errors.ts';

/** The project's root: where `sql/` and `sources/` lie. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** Settings with their meaning, as the README's table has them. */
export const SETTINGS = z.object({
  DATABASE_URL: z.string().default(() => `pglite:${resolve('.mappale/database')}`).describe(
    '`postgres://user:password@host:port/database` or `pglite:FOLDER`. Default: the embedded database in `.mappale/database` below the working folder',
  ),
  MAPPALE_DISTRIBUTED: z.enum(['citus'], { error: 'expected citus' }).optional().describe(
    '`citus`: `DATABASE_URL` is the coordinator of a Citus cluster; the next command that writes distributes the tables keyed by parcel ([how](docs/citus.md)). Default: the database stays unchanged',
  ),
  MAPPALE_LOG: z.enum(['human', 'json'], { error: 'expected human or json' }).default('human').describe(
    '`human`: plain lines; `json`: one object per line on stderr, for unattended runs. Default: `human`',
  ),
  MAPPALE_LOG_LEVEL: z.enum(['debug', 'info', 'warn'], { error: 'expected debug, info or warn' }).optional().describe(
    '`debug`: each step and its time, as `--verbose`; `info`: phases and progress; `warn`: warnings only, as `--quiet`. Default: `info`, with `MAPPALE_LOG=json` `debug`',
  ),
  NO_COLOR: z.string().optional().describe('any value turns colours off'),
});

export interface Config {
  readonly databaseUrl: string;
  /** What is keyed by parcel is to lie on several nodes. What is distributed stays so. */
  readonly distributed: boolean;
  readonly log: 'human' | 'json';
  readonly logLevel: 'debug' | 'info' | 'warn';
  readonly noColor: boolean;
  /** Name of this machine in the ledger. */
  readonly host: string;
  /** Who runs it, as the ledger names people. */
  readonly user: string;
}

/** @param env what is set to nothing is not set @throws MappaleError `CONFIG_UNKNOWN`, `CONFIG_DISTRIBUTED` (exit 2) */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { data, error } = SETTINGS.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (data !== undefined) {
    const distributed = data.MAPPALE_DISTRIBUTED !== undefined;
    if (distributed && !/^postgres(ql)?:/.test(data.DATABASE_URL)) {
      throw new MappaleError('the embedded database cannot be distributed', {
        code: 'CONFIG_DISTRIBUTED', kind: 'usage', at: 'MAPPALE_DISTRIBUTED', detail: 'expected DATABASE_URL to be postgres://…, the coordinator of a Citus cluster',
        hint: 'Set DATABASE_URL, or unset MAPPALE_DISTRIBUTED.', fix: 'unset MAPPALE_DISTRIBUTED',
      });
    }
    const { DATABASE_URL: databaseUrl, MAPPALE_LOG: log, MAPPALE_LOG_LEVEL: logLevel = log === 'json' ? 'debug' : 'info' } = data;
    return { databaseUrl, distributed, log, logLevel, noColor: data.NO_COLOR !== undefined, host: hostname(), user: userName() };
  }
  const [name = '', message = ''] = error.issues.flatMap((issue) => [issue.path.join('.'), issue.message]);
  throw new MappaleError(`${name} is of no kind that is known`, {
    code: 'CONFIG_UNKNOWN', kind: 'usage', at: name, detail: `${message}, found ${JSON.stringify(env[name])}`, hint: name === 'MAPPALE_DISTRIBUTED' ? 'Unset it to leave the database on one machine.' : 'Unset it to use the default.',
    fix: `unset ${name}`,
  });
}

/** What is set for one source; null: nothing. */
export interface SourceSettings {
  /** `MAPPALE_<SOURCE>_URL`: stands in the place of the addresses of its files up to their own part. Without a login. */
  readonly url: string | null;
  /** `user:password` of that address. A secret. */
  readonly login: string | null;
  /** `MAPPALE_<SOURCE>_TOKEN`: by which its publisher knows the user. A secret. */
  readonly token: string | null;
}

/** @param id of the source @throws MappaleError `CONFIG_UNKNOWN` (exit 2) for what is no address */
export function sourceSettings(id: string, env: NodeJS.ProcessEnv = process.env): SourceSettings {
  const name = `MAPPALE_${id.toUpperCase()}`;
  const [text, token] = [env[`${name}_URL`]?.trim() || null, env[`${name}_TOKEN`]?.trim() || null];
  if (text === null) return { url: null, login: null, token };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new MappaleError(`${name}_URL is of no kind that is known`, {
      code: 'CONFIG_UNKNOWN', kind: 'usage', at: `${name}_URL`, detail: `expected http://… or https://…, found ${JSON.stringify(withoutLogin(text))}`,
      hint: 'Unset it to download from the publisher. What lies on this machine already needs no download: name its folder with --data.', fix: `unset ${name}_URL`,
    });
  }
  const { username, password } = new URL(text);
  return { url: withoutLogin(text), login: username === '' ? null : `${decoded(username)}:${decoded(password)}`, token };
}

/** What is no encoding is meant as it stands: `100%` */
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
 * Returns the moment at which the program's clock starts, in milliseconds since 1970. Null: the system's clock is used. Only tests set `MAPPALE_TEST_CLOCK`.
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

/** Through whom the internet is reached, as `curl` and others read it. */
export interface Proxies {
  /** With what it wants as a login: secrets. Null: none. */
  readonly http: string | null;
  readonly https: string | null;
  /** Hosts and domains that are asked without. */
  readonly except: readonly string[];
}

export const NO_PROXIES: Proxies = { http: null, https: null, except: [] };

/** `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, in either case. @throws MappaleError `CONFIG_UNKNOWN` (exit 2) for what is no address */
export function readProxies(env: NodeJS.ProcessEnv = process.env): Proxies {
  const proxy = (name: string): string | null => {
    const text = (env[name.toLowerCase()] || env[name])?.trim();
    if (text === undefined || text === '') return null;
    const url = text.includes('://') ? text : `http://${text}`;
    if (URL.canParse(url) && /^(?:https?|socks5?):$/.test(new URL(url).protocol) && !/%(?![\da-f]{2})/i.test(url)) return url;
    throw new MappaleError(`${name} is of no kind that is known`, {
      code: 'CONFIG_UNKNOWN', kind: 'usage', at: name, detail: `expected http://PROXY:PORT, found ${JSON.stringify(withoutLogin(url))}`, hint: 'Write it so, or unset it to ask publishers directly.', fix: `unset ${name} ${name.toLowerCase()}`,
    });
  };
  return { http: proxy('HTTP_PROXY'), https: proxy('HTTPS_PROXY'), except: (env['no_proxy'] || env['NO_PROXY'] || '').split(/[\s,]+/).filter((host) => host !== '') };
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** `~` and relative paths as a shell would read them. */
export function expandPath(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path);
}

/** Variables of libpq that decide where a server is. Null where a variable is not set. */
export interface LibpqSettings {
  readonly host: string | null;
  readonly port: string;
  readonly user: string | null;
  readonly service: string | null;
  /** Files that define services, in the order in which libpq reads them. */
  readonly serviceFiles: readonly string[];
  /** User of the process, as the operating system names it. */
  readonly systemUser: string;
}

/** Reads the variables of libpq that the driver does not read itself. */
export function libpqSettings(env: NodeJS.ProcessEnv = process.env): LibpqSettings {
  const { PGHOST, PGPORT, PGUSER, PGSERVICE, PGSERVICEFILE, PGSYSCONFDIR } = env;
  return {
    host: PGHOST || null, port: PGPORT || '5432', user: PGUSER || null, service: PGSERVICE || null,
    serviceFiles: [PGSERVICEFILE || join(homedir(), '.pg_service.conf'), join(PGSYSCONFDIR || '/etc/postgresql-common', 'pg_service.conf')],
    systemUser: userName(),
  };
}
