import { ident, type Session } from './types.ts';

/** Work that is undone as a whole when it throws, its locks, too, and leaves the transaction whole. Inside a transaction. */
export async function savepoint<T>(session: Session, name: string, work: () => Promise<T>): Promise<T> {
  await session.query(`savepoint ${ident(name)}`);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await session.query(`rollback to savepoint ${ident(name)}`);
    throw error;
  }
  await session.query(`release savepoint ${ident(name)}`);
  return result;
}
