/** Runs queries that call the SQL functions of parcel records directly. These functions find their tables by the search path. */
import type { Database, Row, Session } from '../../pipelines/db/index.ts';

/** Search path of the API functions that read the tables of all regions. */
export const ALL_REGIONS = 'core, section, ledger, public, pg_temp';

/** Runs a query with the tables of all regions in its search path. */
export function queryRecords<T extends Row>(database: Database, sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
  return database.session((session) => session.transaction(() => inAllRegions(session, () => session.query<T>(sql, parameters))));
}

/** Runs work with the tables of all regions in the search path of an open session. */
export async function inAllRegions<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const [before] = await session.query<{ path: string }>("select current_setting('search_path') as path");
  await session.query(`set search_path to ${ALL_REGIONS}`);
  try {
    return await work();
  } finally {
    await session.query(`set search_path to ${before!.path}`).catch(() => undefined);
  }
}
