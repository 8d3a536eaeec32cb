/** The only folder that knows `pg` and PGlite. */
import { MappaleError } from '../errors.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import type { Database } from './types.ts';

export { databaseError } from './errors.ts';
export { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

/**
 * @param url `postgres://…`, `pglite:<folder>` or `pglite:memory`
 * @throws MappaleError `DATABASE_URL_UNKNOWN` (exit 2), `SQL_*` (exit 6), `DATABASE_IN_USE` (exit 7)
 */
export async function openDatabase(url: string): Promise<Database> {
  if (url.startsWith('postgres://') || url.startsWith('postgresql://')) return openPostgres(url);
  if (url.startsWith('pglite:')) return openPglite(url.slice('pglite:'.length));
  throw new MappaleError('DATABASE_URL is of no kind that is known', {
    code: 'DATABASE_URL_UNKNOWN', kind: 'usage', detail: `expected postgres://… or pglite:<folder>, found ${url.split(':')[0]}:…`,
    hint: 'Unset DATABASE_URL to use the embedded database.',
  });
}
