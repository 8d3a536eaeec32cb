/** Opens databases. Only this folder imports `pg` and PGlite. */
import { MappaleError } from '../errors.ts';
import { openPostgres } from './postgres.ts';
import type { Access, Database } from './types.ts';

export { databaseError } from './errors.ts';
export { serverFacts } from './server-facts.ts';
export { ident, one, type Access, type CopyIn, type Database, type Row, type Session } from './types.ts';

/** Opens a database, runs work and always closes the database. `url` and `access` are as in `openDatabase`. */
export async function onDatabase<T>(url: string, access: Access, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, access);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * Opens a database.
 * @param url `postgres://…`, `pglite:<folder>` or `pglite:memory`
 * @param access `read`: transactions are read-only by default, and a missing database is not created
 * @throws MappaleError `DATABASE_URL_UNKNOWN` (exit 2), and the errors of `openPostgres` and `openPglite`
 */
export async function openDatabase(url: string, access: Access = 'write'): Promise<Database> {
  if (url.startsWith('postgres://') || url.startsWith('postgresql://')) return openPostgres(url, access);
  // Imported on demand, because a database server does not need the embedded database.
  if (url.startsWith('pglite:')) return (await import('./pglite.ts')).openPglite(url.slice('pglite:'.length), access);
  throw new MappaleError('DATABASE_URL has an unknown scheme', {
    code: 'DATABASE_URL_UNKNOWN', kind: 'usage', at: 'DATABASE_URL (not shown: it may hold a password)', detail: 'expected postgres://user:password@host:port/database or pglite:<folder>, found another scheme',
    hint: `${/(?:^|\s)(?:host|hostaddr|port|dbname|user|password)\s*=/i.test(url) ? 'Write the address in the form postgres://user:password@host:port/database' : 'Correct it'}, or unset it to use the embedded database.`, fix: 'unset DATABASE_URL',
  });
}
