/** The only folder that knows `pg` and PGlite. */
import { MappaleError } from '../errors.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import type { Database } from './types.ts';

export { databaseError } from './errors.ts';
export { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

/** What a command may do with a database. */
export type Access = 'read' | 'write';

/**
 * @param access `read`: every transaction is read-only unless it says otherwise, and what is not there is not made
 * @param url `postgres://…`, `pglite:<folder>` or `pglite:memory`
 * @throws MappaleError `DATABASE_URL_UNKNOWN` (exit 2), `SQL_*`, `DATABASE_OUT_OF_DATE` (exit 6), `DATABASE_IN_USE` (exit 7)
 */
export async function openDatabase(url: string, access: Access = 'write'): Promise<Database> {
  if (url.startsWith('postgres://') || url.startsWith('postgresql://')) return openPostgres(url, access === 'read');
  if (url.startsWith('pglite:')) return openPglite(url.slice('pglite:'.length), access === 'read');
  throw new MappaleError('DATABASE_URL is of no kind that is known', {
    code: 'DATABASE_URL_UNKNOWN', kind: 'usage', detail: `expected postgres://… or pglite:<folder>, found ${url.split(':')[0]}:…`,
    hint: 'Unset DATABASE_URL to use the embedded database.',
  });
}
