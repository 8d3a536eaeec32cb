/** Runs test cases whose changes to the database are undone afterwards. */
import type { Database, Session } from '../../pipelines/db/index.ts';

/** Runs work in a transaction that is always rolled back. */
export function rolledBack<T>(database: Database, work: (session: Session) => Promise<T>): Promise<T> {
  return database.session(async (session) => {
    await session.script('begin', 'test');
    try {
      return await work(session);
    } finally {
      await session.script('rollback', 'test');
    }
  });
}
