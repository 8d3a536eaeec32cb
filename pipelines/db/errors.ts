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
  '28000': 'Check user and pg_hba.conf of the server.',
  '3D000': 'Create the database first: createdb NAME.',
  '42501': 'Give the role of DATABASE_URL the right to create schemas in this database: grant create on database NAME to ROLE.',
  '53100': 'The disk of the server is full. Free room, then run the same command again: nothing published was touched.',
  '53200': 'The server ran out of memory. Lower work_mem or --parallel, then run the same command again.',
  '57P01': 'The server closed the connection. Run the same command again: nothing published was touched.',
  ECONNREFUSED: 'Start the server, or unset DATABASE_URL to use the embedded database.',
  ENOTFOUND: 'Check the host name in DATABASE_URL.',
  ECONNRESET: 'The connection was lost. Run the same command again: nothing published was touched.',
};

/** Turns whatever a driver throws into a MappaleError of kind `database`. */
export function databaseError(error: unknown, sql: string | null, origin: string | null): MappaleError {
  if (error instanceof MappaleError) return error;
  const server = (error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error) as ServerError;
  const code = server.code ?? 'UNKNOWN';
  const place = sql !== null && server.position !== undefined ? locate(sql, Number(server.position)) : null;
  const excerpt = place === null ? undefined : `${place.text}\n${' '.repeat(Math.max(0, place.column - 1))}^`;
  return new MappaleError(server.message || 'the database failed', {
    code: `SQL_${code}`,
    kind: 'database',
    at: origin === null ? server.where : place === null ? origin : `${origin}:${place.line}:${place.column}`,
    detail: [server.detail, excerpt].filter((text) => text !== undefined && text !== '').join('\n') || undefined,
    hint: server.hint ?? HINTS[code],
    cause: error,
  });
}

function locate(sql: string, position: number): { line: number; column: number; text: string } {
  const before = sql.slice(0, position - 1);
  const line = before.split('\n').length;
  return { line, column: position - 1 - before.lastIndexOf('\n'), text: sql.split('\n')[line - 1] ?? '' };
}
