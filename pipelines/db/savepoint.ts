import { ident, type Session } from './types.ts';

/** Runs work in a savepoint. If it fails, its changes and locks are undone and the transaction can continue. Call inside a transaction. */
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
