/** Converts database failures to the program's errors, with file and line of the SQL. */
import { MappaleError } from '../errors.ts';

interface ServerError extends Error {
  readonly code?: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly where?: string;
}

/** Meaning of an error code, with the fix. */
interface Meaning {
  /** Meaning in English for the documentation. The server's message may be in a different language. */
  readonly means: string;
  readonly hint: string;
  /** Command that fixes the error on a local server with default names. */
  readonly fix?: string;
}

/** Errors by their PostgreSQL or system code, or `CONNECTION_LOST`. `server-address.ts` has the fixes that depend on the server's address. */
export const SERVER_ERRORS: Readonly<Record<string, Meaning>> = {
  '28P01': { means: 'the password is wrong', hint: 'Check user and password in DATABASE_URL.', fix: 'export DATABASE_URL=postgres://USER:PASSWORD@localhost:5432/DATABASE' },
  28000: { means: 'the server refuses this user', hint: 'Create the role if it does not exist. Otherwise allow the role in pg_hba.conf and reload the server.', fix: 'sudo -u postgres createuser USER' },
  '3D000': { means: 'there is no such database', hint: 'Create the database first.', fix: 'createdb DATABASE' },
  42501: { means: 'the role lacks a privilege', hint: 'Set DATABASE_URL to the role that loaded the database. To load a new database, the role needs the right to create schemas.', fix: 'export DATABASE_URL=postgres://ROLE:PASSWORD@HOST:5432/DATABASE' },
  40001: { means: 'another session changed the same rows', hint: 'Another session changed the same rows at the same time. Run the same command again. Published data is unchanged.' },
  '40P01': { means: 'this command and another session had a deadlock', hint: 'Another session and this command waited for each other\'s locks. Run the same command again. Published data is unchanged.' },
  53100: {
    means: 'the disk of the server is full', fix: 'npx mappale prune',
    hint: 'The disk of the server is full. Free space, then run the same command again. Published data is unchanged. Prune also removes unfinished data of earlier runs.',
  },
  53200: { means: 'the server ran out of memory', hint: 'The server ran out of memory. Lower work_mem or --parallel, then run the same command again.' },
  '57P01': { means: 'the server closed the connection', hint: 'The server closed the connection. Run the same command again. Published data is unchanged.' },
  '57P02': { means: 'the server went down', hint: 'The server went down. When the server is running again, run the same command again. Published data is unchanged.' },
  '57P03': { means: 'the server is starting or stopping', hint: 'The server is starting or stopping. Run the same command again in a minute.' },
  58030: { means: 'the server could not read or write its disk', hint: 'The server could not read or write its disk. Check its log and free disk space, then run the same command again.' },
  ECONNREFUSED: { means: 'no server answers at this address', hint: 'Start the server, or unset DATABASE_URL to use the embedded database.', fix: 'sudo systemctl start postgresql' },
  ENOENT: { means: 'this folder has no server socket', hint: 'Start the server, or use the folder of its socket.', fix: 'sudo systemctl start postgresql' },
  ENOTFOUND: { means: 'there is no such host', hint: 'Check the host name in DATABASE_URL.', fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE' },
  EAI_AGAIN: { means: 'the host name cannot be looked up now', hint: 'Check the host name in DATABASE_URL, and the network.', fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE' },
  CONNECTION_LOST: { means: 'the connection to the database was lost', hint: 'Check that the server is running, then run the same command again. Published data is unchanged.' },
};

/** Error codes of the operating system, Node.js and PostgreSQL that mean a lost connection. */
const LOST_CODES: readonly (string | undefined)[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', '08000', '08003', '08006'];
const LOST_MESSAGE = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

/** Matches the driver's message for a server that requires a password when none is configured. */
const NO_PASSWORD = /client password must be a string/;

/**
 * Converts any error of a driver to a MappaleError of kind `database`. Returns a MappaleError unchanged.
 * @param sql text of the failed statement, in which the error's line and column are found; null if unknown
 * @param origin file of the statement, or the server, for the message; null if unknown
 */
export function databaseError(error: unknown, sql: string | null, origin: string | null): MappaleError {
  if (error instanceof MappaleError) return error;
  const server = (error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error) as ServerError;
  const lost = LOST_CODES.includes(server.code) || (server.code === undefined && LOST_MESSAGE.test(server.message));
  const code = lost ? 'CONNECTION_LOST' : server.code ?? (NO_PASSWORD.test(server.message) ? '28P01' : 'UNKNOWN');
  const place = sql !== null && server.position !== undefined ? locate(sql, Number(server.position)) : null;
  const excerpt = place === null ? undefined : `${place.text}\n${' '.repeat(Math.max(0, place.column - 1))}^`;
  return new MappaleError(lost ? 'the connection to the database was lost' : server.message || 'the database failed', {
    code: `SQL_${code}`,
    kind: 'database',
    at: origin === null ? server.where : place === null ? origin : `${origin}:${place.line}:${place.column}`,
    detail: [lost ? server.message : undefined, server.detail, excerpt].filter((text) => text !== undefined && text !== '').join('\n') || undefined,
    // The program's hint has priority over the server's hint.
    hint: SERVER_ERRORS[code]?.hint ?? server.hint,
    fix: SERVER_ERRORS[code]?.fix,
    cause: error,
  });
}

function locate(sql: string, position: number): { line: number; column: number; text: string } {
  const before = sql.slice(0, position - 1);
  const line = before.split('\n').length;
  return { line, column: position - 1 - before.lastIndexOf('\n'), text: sql.split('\n')[line - 1] ?? '' };
}
