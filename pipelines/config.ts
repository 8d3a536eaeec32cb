/** The one place that reads the environment. Every setting with its default and meaning. */
import { homedir, hostname, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join, resolve } from 'node:path';
import { MappaleError } from './errors.ts';

/** The project's root: where `sql/` and `sources/` lie. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export interface Config {
  /** `DATABASE_URL`: `postgres://…`, or `pglite:<folder>`; default `pglite:.mappale/database` below the working folder. */
  readonly databaseUrl: string;
  /** `NO_COLOR`: any value turns colours off. */
  readonly noColor: boolean;
  /** `MAPPALE_LOG`: `human` (default) or `json` (one object per line on stderr, for unattended runs). */
  readonly log: 'human' | 'json';
  /** Name of this machine in the ledger. */
  readonly host: string;
  /** Who runs it, as the ledger names people. */
  readonly user: string;
}

/** @throws MappaleError `CONFIG_UNKNOWN` (exit 2) */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const log = env['MAPPALE_LOG'] ?? '';
  if (!['', 'human', 'json'].includes(log)) {
    throw new MappaleError('MAPPALE_LOG is of no kind that is known', { code: 'CONFIG_UNKNOWN', kind: 'usage', at: 'MAPPALE_LOG', detail: `expected human or json, found ${JSON.stringify(log)}`, hint: 'Unset it for lines that people read.' });
  }
  return {
    databaseUrl: env['DATABASE_URL'] !== undefined && env['DATABASE_URL'] !== '' ? env['DATABASE_URL'] : `pglite:${resolve('.mappale/database')}`,
    noColor: env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '',
    log: log === 'json' ? 'json' : 'human',
    host: hostname(),
    user: userName(),
  };
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
