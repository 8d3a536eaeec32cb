/**
 * Completes a server's address as libpq does, from the service file, the socket folder and the user of the process. The driver itself reads `PGHOST`, `PGPORT`,
 * `PGUSER`, `PGPASSWORD`, `PGDATABASE` and, for TCP connections, `PGPASSFILE`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { LibpqSettings } from '../config.ts';
import { MappaleError } from '../errors.ts';

/** Reads the password file. The driver's package `pgpass` has no type declarations. */
const pgpass = createRequire(import.meta.url)('pgpass') as (place: SocketPlace, callback: (password: string | undefined) => void) => void;

interface SocketPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Socket folders of Debian's packages and of PostgreSQL's default build. */
const SOCKET_FOLDERS = ['/var/run/postgresql', '/tmp'];

/** Keywords of a service file that the driver supports. The parameters of a connection URL have the same names as these keywords. */
const KEYWORDS = new Set([
  'host', 'port', 'user', 'password', 'options', 'application_name', 'connect_timeout', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation',
]);

/**
 * Adds missing parts to an address: first the entries of the service, then the folder of a local socket and the user of the process. The driver reads the
 * remaining parts from environment variables.
 * @param host `stated` if the address has a host before the path or as a parameter
 * @throws MappaleError `PGSERVICE_UNKNOWN` (exit 2)
 */
export function completeAddress(address: URL, host: 'stated' | 'missing', settings: LibpqSettings): void {
  const query = address.searchParams;
  const service = query.get('service') ?? settings.service;
  const at = query.has('service') ? 'DATABASE_URL' : 'PGSERVICE';
  query.delete('service');
  const offered = service === null ? new Map<string, string>() : serviceOf(service, at, settings);
  const dbname = offered.get('dbname');
  if (dbname !== undefined && address.pathname.length <= 1) address.pathname = `/${encodeURIComponent(dbname)}`;
  const stated: Readonly<Record<string, boolean>> = { host: host === 'stated', port: address.port !== '', user: address.username !== '', password: address.password !== '' };
  for (const [keyword, value] of offered) if (KEYWORDS.has(keyword) && stated[keyword] !== true && !query.has(keyword)) query.set(keyword, value);
  if (host === 'missing' && !query.has('host') && settings.host === null) {
    const port = query.get('port') ?? (address.port || settings.port);
    const folder = SOCKET_FOLDERS.find((each) => existsSync(join(each, `.s.PGSQL.${port}`)));
    if (folder !== undefined) query.set('host', folder);
  }
  if (address.username === '' && !query.has('user') && settings.user === null) query.set('user', settings.systemUser);
}

/** Returns the entries of a service from the user's service file, or from the system's service file if the user's file lacks the service. */
function serviceOf(name: string, at: string, { serviceFiles }: LibpqSettings): Map<string, string> {
  for (const file of serviceFiles.filter(existsSync)) {
    const lines = readFileSync(file, 'utf8').split(/\r?\n/).map((line) => line.trim());
    const start = lines.indexOf(`[${name}]`);
    if (start === -1) continue;
    const end = lines.findIndex((line, index) => index > start && line.startsWith('['));
    const entries = lines.slice(start + 1, end === -1 ? undefined : end).filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(entries.map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]));
  }
  throw new MappaleError(`the service in ${at} is unknown`, {
    code: 'PGSERVICE_UNKNOWN', kind: 'usage', at, detail: `expected a section [${name}] in ${serviceFiles.join(' or ')}, found none`,
    hint: 'Add the service to that file, or write host, port, database and user into DATABASE_URL.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
  });
}

/**
 * Returns the password for a server on a default socket from the password file. For such a server, libpq looks up `localhost`, but the driver looks up the
 * folder of the socket.
 * @returns undefined if the server is not on a default socket, or if the file has no password for the server
 */
export async function socketPassword(place: SocketPlace): Promise<string | undefined> {
  if (!SOCKET_FOLDERS.includes(place.host)) return undefined;
  return new Promise((resolve) => pgpass({ ...place, host: 'localhost' }, resolve));
}
