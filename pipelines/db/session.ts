/** Base classes of the sessions and databases of both engines. */
import type { CopyIn, Database, Row, Session } from './types.ts';

/** A session: one connection to the database. */
export abstract class OneSession implements Session {
  abstract query<T extends Row = Row>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  abstract script(sql: string, origin: string): Promise<void>;
  abstract copyRows(schema: string, table: string, rows: Buffer): Promise<void>;

  /** Restores the settings that the connection had when it was opened. */
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

/** A database in which each statement may run in a different session. Work that changes settings must use `session`, which resets the settings afterwards. */
export abstract class SessionDatabase implements Database {
  abstract readonly engine: Database['engine'];
  abstract readonly label: string;
  abstract readonly pooling: Database['pooling'];
  abstract readonly parallel: number;
  /** Runs work on one connection. The work must not leave changed settings. After a failure, later work gets a different connection or a reset connection. */
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
