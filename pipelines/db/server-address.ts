/** `DATABASE_URL` of a server: taken apart before anything is connected or said, so that a password is neither looked up as a host nor shown. */
import pg from 'pg';
import { MappaleError } from '../errors.ts';

const NO_HOST = 'no-host-is-named';

export interface ServerAddress {
  /** How the database is named to people: host, port, database and user; never anything else of the address. */
  readonly label: string;
  /** For the driver: the address without its `options`. */
  readonly connectionString: string;
  /** What the address itself asks of the session (`?options=-c …`), before what we ask. */
  readonly options: string;
}

/** @throws MappaleError `DATABASE_URL_UNREADABLE` (exit 2), which shows nothing of it */
export function serverAddress(url: string): ServerAddress {
  // `postgres://me@/italy?host=/run/postgresql` names no host before the path, which a user needs for the parser.
  const [parsed] = [url, url.replace('@/', `@${NO_HOST}/`)].filter((each) => URL.canParse(each)).map((each) => new URL(each));
  if (parsed === undefined || /\s/.test(url)) throw unreadable('an address that cannot be taken apart');
  const query = url.slice(url.indexOf('?') + 1 || url.length);
  // A sign that was not escaped ends the part of the address in which it stands: what is behind it would be taken for a host or a database.
  if (parsed.hash !== '' || parsed.pathname.includes('@') || parsed.pathname.lastIndexOf('/') > 0 || query.includes('@')) throw unreadable('@, /, ? or # where none can stand');
  const options = parsed.searchParams.getAll('options').join(' ');
  parsed.searchParams.delete('options');
  const connectionString = parsed.href.replace(`@${NO_HOST}/`, '@/');
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString });
  } catch (error) {
    // The driver reads the certificates that it names.
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw unreadable(syscall === undefined ? 'an address that the driver cannot take apart' : `a certificate or key that cannot be read (${code ?? ''})`);
  }
  const { host, port, database, user } = client;
  const place = host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { label: `postgres ${place}, database ${database ?? user ?? ''}, user ${user ?? ''}`, connectionString, options };
}

function unreadable(found: string): MappaleError {
  return new MappaleError('DATABASE_URL cannot be read', {
    code: 'DATABASE_URL_UNREADABLE', kind: 'usage', at: 'DATABASE_URL (not shown: it may hold a password)', detail: `expected postgres://user:password@host:port/database, found ${found}`,
    hint: 'In user, password and database write @ as %40, / as %2F, ? as %3F, # as %23, : as %3A, % as %25 and a blank as %20; or leave the password out and set PGPASSWORD.',
  });
}
