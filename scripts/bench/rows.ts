/** Reads published rows before and after a refresh, to check that a benchmark measures the intended change. */
import type { Database } from '../../pipelines/db/index.ts';

/** A set of rows to compare. */
export interface Rows {
  /** Plural name of the rows for messages. */
  readonly name: string;
  /** Query with the columns `key` and `value`, both text. */
  readonly sql: string;
}

export const PARCELS: Rows = { name: 'parcels', sql: 'select fid::text as key, md5(public.st_asbinary(geom)) as value from core.parcel' };
export const ADDRESSES: Rows = { name: 'addresses', sql: 'select address_id::text as key, number::text as value from core.access_point' };
export const MOTIONS: Rows = { name: 'motions of parcels', sql: 'select fid::text as key, velocity_mm_year::text as value from section.subsidence' };

/** Returns the values of rows by key. */
export async function rowsOf(database: Database, { sql }: Rows): Promise<Map<string, string | null>> {
  return new Map((await database.query<{ key: string; value: string | null }>(sql)).map(({ key, value }) => [key, value]));
}

/** Returns the number of rows that were added, removed or changed. */
export function changedRows(before: ReadonlyMap<string, string | null>, after: ReadonlyMap<string, string | null>): number {
  let kept = 0;
  for (const [key, value] of after) if (before.has(key) && before.get(key) === value) kept += 1;
  const common = [...after.keys()].filter((key) => before.has(key)).length;
  return before.size + after.size - common - kept;
}
