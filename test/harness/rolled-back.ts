/** Cases that make tables of their own and leave none. */
import type { Database, Session } from '../../pipelines/db/index.ts';

/** Work in a transaction that is rolled back, however it ends. */
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
