/** Compares a publication with the previous one. */
import type { Database } from '../db/index.ts';
import { compareTables, type TableDifference } from '../db/comparing.ts';
import { MappaleError } from '../errors.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { publishedTables, type PublishedTable } from '../ledger/published.ts';

export interface Difference {
  readonly relation: Relation;
  readonly comuni: readonly TableDifference[];
}

/**
 * @param region region code
 * @returns the tables that differ, by comune; tables that both publications share are not read
 * @throws MappaleError `NO_PREVIOUS` (exit 2)
 */
export async function diff(database: Database, region: number): Promise<Difference[]> {
  return database.session(async (session) => {
    const now = await publishedTables(session, region);
    const was = await publishedTables(session, region, 'previous');
    const parcels = { was: was.get('core.parcel'), now: now.get('core.parcel') };
    if (was.size === 0 || parcels.was === undefined || parcels.now === undefined) {
      throw new MappaleError('there is no previous publication to compare with', { code: 'NO_PREVIOUS', kind: 'usage', hint: 'List what is published.', fix: 'npx mappale status' });
    }
    const current = new Set([...now.values()].map(({ partition }) => partition));
    const place = (table: PublishedTable): { schema: string; table: string } => ({ schema: current.has(table.partition) ? schemaOf(table.relation) : 'previous', table: table.partition });
    const differences: Difference[] = [];
    for (const [relation, table] of [...now].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = was.get(relation);
      if (before === undefined || before.partition === table.partition || before.digest === table.digest) continue;
      if (tableOf(relation) === 'token') continue; // a dictionary of the search, which describes no parcel
      const comuni = await compareTables(session, place(before), place(table), { was: place(parcels.was), now: place(parcels.now) });
      if (comuni.length > 0) differences.push({ relation, comuni });
    }
    return differences;
  });
}
