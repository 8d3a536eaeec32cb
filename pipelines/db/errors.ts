/** Database failures told as the program tells every failure: with the file and line of the SQL. */
import { MappaleError } from '../errors.ts';

interface ServerError extends Error {
  readonly code?: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly where?: string;
}

const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in DATABASE_URL.',
  28000: 'Check user and pg_hba.conf of the server.',
  '3D000': 'Create the database first: createdb NAME.',
  42501: 'Give the role of DATABASE_URL the right to create schemas in this database: grant create on database NAME to ROLE.',
  53100: 'The disk of the server is full. Free room, then run the same command again: nothing published was touched.',
  53200: 'The server ran out of memory. Lower work_mem or --parallel, then run the same command again.',
  '57P01': 'The server closed the connection. Run the same command again: nothing published was touched.',
  '57P02': 'The server went down. When it is up, run the same command again: nothing published was touched.',
  '57P03': 'The server is starting or stopping. Run the same command again in a minute.',
  58030: 'The server could not read or write its disk. Look at its log and its free room, then run the same command again.',
  ECONNREFUSED: 'Start the server, or unset DATABASE_URL to use the embedded database.',
  ENOTFOUND: 'Check the host name in DATABASE_URL.',
  CONNECTION_LOST: 'Look whether the server is up, then run the same command again: nothing published was touched.',
};

/** What a broken connection is called, by the system and by the driver. */
const LOST_CODES: readonly (string | undefined)[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', '08000', '08003', '08006'];
const LOST_MESSAGE = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

/** Turns whatever a driver throws into a MappaleError of kind `database`. */
export function databaseError(error: unknown, sql: string | null, origin: string | null): MappaleError {
  if (error instanceof MappaleError) return error;
  const server = (error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error) as ServerError;
  const lost = LOST_CODES.includes(server.code) || (server.code === undefined && LOST_MESSAGE.test(server.message));
  const code = lost ? 'CONNECTION_LOST' : server.code ?? 'UNKNOWN';
  const place = sql !== null && server.position !== undefined ? locate(sql, Number(server.position)) : null;
  const excerpt = place === null ? undefined : `${place.text}\n${' '.repeat(Math.max(0, place.column - 1))}^`;
  return new MappaleError(lost ? 'the connection to the database was lost' : server.message || 'the database failed', {
    code: `SQL_${code}`,
    kind: 'database',
    at: origin === null ? server.where : place === null ? origin : `${origin}:${place.line}:${place.column}`,
    detail: [lost ? server.message : undefined, server.detail, excerpt].filter((text) => text !== undefined && text !== '').join('\n') || undefined,
    // Ours says what to type; the server only what is wrong.
    hint: HINTS[code] ?? server.hint,
    cause: error,
  });
}

function locate(sql: string, position: number): { line: number; column: number; text: string } {
  const before = sql.slice(0, position - 1);
  const line = before.split('\n').length;
  return { line, column: position - 1 - before.lastIndexOf('\n'), text: sql.split('\n')[line - 1] ?? '' };
}
