/** Parses the address of a server in `DATABASE_URL` before the program connects, so that a password is never looked up as a host or printed. */
import pg from 'pg';
import { libpqSettings, type LibpqSettings } from '../config.ts';
import { MappaleError } from '../errors.ts';
import { quoted } from '../typed.ts';
import { completeAddress, socketPassword } from './libpq.ts';

const NO_HOST = 'no-host-is-named';

/** Host, port, database and user of a server. */
export interface ServerPlace {
  /** Host name, IP address, or socket folder. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

export interface ServerAddress {
  readonly place: ServerPlace;
  /** Description of the server for messages, with host, port, database and user only. */
  readonly label: string;
  /** Address for the driver, without the parameter `options`. */
  readonly connectionString: string;
  /** Session options from the address (`?options=-c …`), which are applied before the program's options. */
  readonly options: string;
}

/**
 * Parses the address and, for a default socket, adds the password from the password file.
 * @throws the errors of `serverAddress`
 */
export async function resolveAddress(url: string): Promise<ServerAddress> {
  const address = serverAddress(url);
  const parsed = new URL(address.connectionString.replace('@/', `@${NO_HOST}/`));
  if (parsed.password !== '' || parsed.searchParams.has('password')) return address;
  const password = await socketPassword(address.place);
  if (password === undefined) return address;
  parsed.searchParams.set('password', password);
  return { ...address, connectionString: parsed.href.replace(`@${NO_HOST}/`, '@/') };
}

/**
 * Parses `DATABASE_URL` as libpq does: `postgres:///italy` is the database `italy` on the socket of this machine, as the user of the process.
 * @throws MappaleError `DATABASE_URL_UNREADABLE` (exit 2), which never shows the address; `PGSERVICE_UNKNOWN` (exit 2)
 */
export function serverAddress(url: string, settings: LibpqSettings = libpqSettings()): ServerAddress {
  // In `postgres://me@/italy?host=/run/postgresql`, no host follows the user. The class `URL` needs a host there, so a placeholder is inserted.
  const [parsed] = [url, url.replace('@/', `@${NO_HOST}/`)].filter((each) => URL.canParse(each)).map((each) => new URL(each));
  if (parsed === undefined || /\s/.test(url)) throw unreadable('an address that cannot be parsed');
  const query = url.slice(url.indexOf('?') + 1 || url.length);
  // Refuses unescaped special characters, because the rest of a password could be read as host or database.
  if (parsed.hash !== '' || parsed.pathname.includes('@') || parsed.pathname.lastIndexOf('/') > 0 || query.includes('@')) throw unreadable('@, /, ? or # in the wrong position');
  const hasHost = (parsed.hostname !== '' && parsed.hostname !== NO_HOST) || parsed.searchParams.has('host');
  completeAddress(parsed, hasHost ? 'stated' : 'missing', settings);
  const options = parsed.searchParams.getAll('options').join(' ');
  parsed.searchParams.delete('options');
  const connectionString = parsed.href.replace(`@${NO_HOST}/`, '@/');
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString });
  } catch (error) {
    // Opening the certificate files named in the address may fail.
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw unreadable(syscall === undefined ? 'an address that the driver cannot parse' : `a certificate or key that cannot be read (${code ?? ''})`);
  }
  const { host, port, database, user } = client;
  const place: ServerPlace = { host, port, database: database ?? user ?? '', user: user ?? '' };
  return { place, label: `postgres ${hostPort(place)}, database ${place.database}, user ${place.user}`, connectionString, options };
}

function hostPort({ host, port }: ServerPlace): string {
  return host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the error with a fix that is specific to this address. Keeps the error's own fix if there is no specific fix. */
export function repairedAt(error: MappaleError, place: ServerPlace): MappaleError {
  return error.knowing({ fix: fixOf(error.code, place) ?? undefined });
}

/** Returns a command that runs a program as the server's administrator: with sudo on this machine, otherwise with a remote login. */
function asAdministrator(program: string, { host, port }: ServerPlace): string {
  const isHere = host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host);
  return `${isHere ? `sudo -u postgres ${program}` : `${program} -h ${host} -U postgres`}${port === 5432 ? '' : ` -p ${port}`}`;
}

/** Returns the command that runs statements as an administrator of the server. */
export function byAdministrator(place: ServerPlace, sql: string): string {
  return `${asAdministrator('psql', place)} -d ${quoted(place.database)} -c ${quoted(sql)}`;
}

/** Returns the `createdb` command that creates a database on the server, as the user of the address. */
export function createDatabase({ host, port, user }: ServerPlace, name: string, ...options: readonly string[]): string {
  return ['createdb', '-h', quoted(host), '-p', String(port), '-U', quoted(user), ...options, quoted(name)].join(' ');
}

/** Returns the command that sets `DATABASE_URL` to the database of the address, with a given role. */
export function asRole(place: ServerPlace, role: string): string {
  const database = encodeURIComponent(place.database);
  const address = place.host.startsWith('/') ? `@/${database}?host=${place.host}` : `:PASSWORD@${hostPort(place)}/${database}`;
  return `export DATABASE_URL=${quoted(`postgres://${encodeURIComponent(role)}${address}`)}`;
}

function fixOf(code: string, place: ServerPlace): string | null {
  const { host, port, database, user } = place;
  switch (code) {
    case 'SQL_28P01': return host.startsWith('/') ? 'export PGPASSWORD=PASSWORD' : asRole(place, user);
    case 'SQL_28000': return `${asAdministrator('createuser', place)} ${quoted(user)}`;
    case 'SQL_3D000': return createDatabase(place, database);
    case 'SQL_ENOTFOUND': case 'SQL_EAI_AGAIN': return `export DATABASE_URL=${quoted(`postgres://${encodeURIComponent(user)}@HOST:${port}/${encodeURIComponent(database)}`)}`;
    case 'SQL_ECONNREFUSED': return asAdministrator('', place).startsWith('sudo') ? null : `pg_isready -h ${host} -p ${port}`;
    default: return null;
  }
}

function unreadable(found: string): MappaleError {
  return new MappaleError('DATABASE_URL cannot be read', {
    code: 'DATABASE_URL_UNREADABLE', kind: 'usage', at: 'DATABASE_URL (not shown: it may hold a password)', detail: `expected postgres://user:password@host:port/database, found ${found}`,
    hint: 'In user, password and database write @ as %40, / as %2F, ? as %3F, # as %23, : as %3A, % as %25 and a blank as %20. Or leave the password out and set PGPASSWORD.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
  });
}
