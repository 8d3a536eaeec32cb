/** Functions for work inside transactions: savepoints, local settings, and work that is rolled back. */
import { ident, type Session } from './types.ts';

/**
 * Runs work in a savepoint. If the work fails, PostgreSQL undoes the changes and releases the locks of the work, and the transaction can continue. Call inside
 * a transaction.
 */
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

/** Changes a setting until the end of the transaction. */
export async function setLocal(session: Session, name: string, value: string): Promise<void> {
  await session.query('select set_config($1, $2, true)', [name, value]);
}

/** Runs work in a transaction that may create tables and is always rolled back. */
export async function rolledBack<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('begin read write');
  try {
    return await work();
  } finally {
    await session.query('rollback');
  }
}
