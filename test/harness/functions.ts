/** The project's SQL functions on a database that has nothing else of it. */
import type { Session } from '../../pipelines/db/index.ts';
import { readSqlFolder } from '../../pipelines/sql-files.ts';

/** Makes every function of `sql/functions`; they read no table. */
export async function createFunctions(session: Pick<Session, 'query' | 'script'>): Promise<void> {
  await session.query('create schema if not exists core');
  // They call each other across files.
  await session.query('set check_function_bodies to off');
  for (const { text, file } of readSqlFolder('sql/functions')) await session.script(text, file);
  await session.query('reset check_function_bodies');
}

/** The functions, and the tables that migrations make, as a database of this version has them; no layers, no interface. */
export async function createTables(session: Pick<Session, 'query' | 'script'>): Promise<void> {
  await createFunctions(session);
  await session.query('create schema if not exists ledger');
  for (const { text, file } of readSqlFolder('sql/migrations')) await session.script(text, file);
}
