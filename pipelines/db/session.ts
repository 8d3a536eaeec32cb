/** What is alike on both engines. */
import type { CopyIn, Database, Row, Session } from './types.ts';

/** One connection. */
export abstract class OneSession implements Session {
  abstract query<T extends Row = Row>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  abstract script(sql: string, origin: string): Promise<void>;
  abstract copyRows(schema: string, table: string, rows: Buffer): Promise<void>;

  /** Settings as they were when the connection was opened. */
  abstract reset(): Promise<void>;

  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await this.query('begin');
    try {
      const result = await work(this);
      await this.query('commit');
      return result;
    } catch (error) {
      await this.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}

/** A database whose statements run on a session of their own each. They change no settings: who wants others asks for a session, which is reset. */
export abstract class SessionDatabase implements Database {
  abstract readonly engine: Database['engine'];
  abstract readonly label: string;
  abstract readonly pooling: Database['pooling'];
  abstract readonly parallel: number;
  /** A connection for work that leaves its settings as they are; after a failure the next one gets another, or one that was reset. */
  protected abstract connected<T>(work: (session: OneSession) => Promise<T>): Promise<T>;
  abstract copyIn(schema: string, table: string): Promise<CopyIn>;
  abstract checkpoint(): Promise<void>;
  abstract close(): Promise<void>;

  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.connected(async (session) => {
      const result = await work(session);
      await session.reset();
      return result;
    });
  }

  query<T extends Row = Row>(sql: string, parameters?: readonly unknown[]): Promise<T[]> {
    return this.connected((session) => session.query<T>(sql, parameters));
  }

  script(sql: string, origin: string): Promise<void> {
    return this.session((session) => session.script(sql, origin));
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.session((session) => session.transaction(work));
  }

  copyRows(schema: string, table: string, rows: Buffer): Promise<void> {
    return this.connected((session) => session.copyRows(schema, table, rows));
  }
}
