/** Interfaces through which the program uses a database. Both engines implement these interfaces. */

export type Row = Record<string, unknown>;

/** A connection that runs statements and keeps its settings between statements. */
export interface Session {
  /** Runs one statement with parameters `$1 …`. @throws MappaleError (kind `database`). */
  query<T extends Row = Row>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Runs several statements as one implicit transaction. @param origin name of the file, for error messages */
  script(sql: string, origin: string): Promise<void>;
  /** Runs work in a transaction, which is rolled back if the work throws. Cannot be nested. @param work receives the session of the transaction */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Appends rows to a table by COPY, inside the open transaction. @param rows rows in binary COPY format, without header and trailer */
  copyRows(schema: string, table: string, rows: Buffer): Promise<void>;
}

/** An open binary COPY into one table. */
export interface CopyIn {
  /** Writes complete rows in binary COPY format, without header or trailer. Returns a promise if the caller should wait before the next call. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Ends the COPY and commits. @returns the number of copied rows */
  end(): Promise<number>;
  /** Aborts the COPY. On PostgreSQL, no rows are kept. On the embedded database, rows that were already sent to the database are kept. */
  abort(): Promise<void>;
}

/** Access that a command needs. `read` opens read-only sessions and creates nothing. */
export type Access = 'read' | 'write';

export interface Database extends Session {
  readonly engine: 'postgres' | 'pglite';
  /** Description of the database for messages, without password. */
  readonly label: string;
  /** Pool mode of the connection pooler between the program and the server; null if there is no pooler. */
  readonly pooling: 'session' | 'transaction' | null;
  /** Number of sessions that may work at the same time. */
  readonly parallel: number;
  /** Runs work on a separate connection. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Starts a COPY on a separate connection. */
  copyIn(schema: string, table: string): Promise<CopyIn>;
  /** Writes a checkpoint, so that recovery after a crash is quick. Has an effect only on the embedded database. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/** Runs a statement that always returns one row, and returns this row. @throws Error if there is no row, which is a bug in the statement */
export async function one<T extends Row>(session: Pick<Session, 'query'>, sql: string, parameters?: readonly unknown[]): Promise<T> {
  return first(await session.query<T>(sql, parameters), sql);
}

/** Returns the first row. @throws Error if there is no row */
export function first<T>([row]: readonly T[], sql: string): T {
  if (row === undefined) throw new Error(`expected a row, found none: ${sql.trim().slice(0, 200)}`);
  return row;
}

/** Quotes a generated identifier, such as the schema of a workspace or the name of a partition. */
export function ident(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
