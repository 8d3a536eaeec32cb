/** What the rest of the program sees of a database: one interface, two engines. */

export type Row = Record<string, unknown>;

/** Runs statements on one connection; between them its settings stay. */
export interface Session {
  /** One statement with parameters `$1 …`. @throws MappaleError (kind `database`). */
  query<T extends Row = Row>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Several statements as one implicit transaction. `origin` names the file for error messages. */
  script(sql: string, origin: string): Promise<void>;
  /** `begin` … `commit`; `rollback` when the work throws. Not nested. @param work gets the session of the transaction */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Adds rows to a table by a COPY of their own, inside the transaction that is open. @param rows in binary COPY format, without header and trailer */
  copyRows(schema: string, table: string, rows: Buffer): Promise<void>;
}

/** An open binary COPY into one table. */
export interface CopyIn {
  /** Whole rows in binary COPY format, no header or trailer. Returns a promise only when the caller should wait. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Commits. @returns rows that the server took. */
  end(): Promise<number>;
  /** Gives up; nothing of it stays. */
  abort(): Promise<void>;
}

export interface Database extends Session {
  readonly engine: 'postgres' | 'pglite';
  /** For messages: no password. */
  readonly label: string;
  /** A connection pooler between the program and the server: it keeps sessions, or only transactions. Null: there is none. */
  readonly pooling: 'session' | 'transaction' | null;
  /** How many sessions may work at the same time. */
  readonly parallel: number;
  /** A connection of its own for the work. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Starts a COPY on a connection of its own. */
  copyIn(schema: string, table: string): Promise<CopyIn>;
  /** Makes what is committed quick to recover. A server does so by itself; the embedded database has nobody else to. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/** The one row of a statement that always gives one. @throws Error when it gave none: a bug of the statement */
export async function one<T extends Row>(session: Pick<Session, 'query'>, sql: string, parameters?: readonly unknown[]): Promise<T> {
  return first(await session.query<T>(sql, parameters), sql);
}

/** The same of rows that are there. */
export function first<T>([row]: readonly T[], sql: string): T {
  if (row === undefined) throw new Error(`expected a row, found none: ${sql.trim().slice(0, 200)}`);
  return row;
}

/** Quotes an identifier that the program made itself (schemas of workspaces, names of partitions). */
export function ident(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
