/** Compares a publication with the previous publication. */
import type { Database, Session } from '../db/index.ts';
import { compareTables, formerContent, type TableDifference } from '../db/comparing.ts';
import { formerRows } from '../db/partitions.ts';
import type { Part, Place } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { publishedTables, type PublishedTable } from '../ledger/published.ts';

/**
 * Returns where to read a table of the current or previous publication. If the current publication replaced only single rows, the previous table is read from
 * the current table and the kept old rows.
 */
async function placeOfContent(session: Session, table: PublishedTable, now: PublishedTable | undefined): Promise<Place | Part> {
  if (now?.heldIn !== table.heldIn) return { schema: 'previous', table: table.heldIn };
  const published = { schema: schemaOf(table.relation), table: now.currentTable };
  return now.partition === table.partition ? published : formerContent(session, published, formerRows(table.partition));
}

export interface Difference {
  readonly relation: Relation;
  readonly comuni: readonly TableDifference[];
}

/**
 * Compares a region's current publication with the previous publication.
 * @returns the number of different rows, by table and comune. Leaves out equal tables and the table of search words
 * @throws MappaleError `NO_PREVIOUS` (exit 2)
 */
export async function diff(database: Database, region: number): Promise<Difference[]> {
  return database.session(async (session) => {
    const now = await publishedTables(session, region);
    const was = await publishedTables(session, region, 'previous');
    const parcels = { was: was.get('core.parcel'), now: now.get('core.parcel') };
    if (was.size === 0 || parcels.was === undefined || parcels.now === undefined) {
      throw new MappaleError('there is no previous publication to compare with', { code: 'NO_PREVIOUS', kind: 'usage', hint: 'List the published regions.', fix: 'npx mappale status' });
    }
    const place = (table: PublishedTable): Promise<Place | Part> => placeOfContent(session, table, now.get(table.relation));
    const ofParcels = { was: await place(parcels.was), now: await place(parcels.now) };
    const differences: Difference[] = [];
    for (const [relation, table] of [...now].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = was.get(relation);
      if (before === undefined || before.partition === table.partition || before.digest === table.digest) continue;
      if (tableOf(relation) === 'token') continue; // Skips the table of search words, which describes no parcel.
      const comuni = await compareTables(session, { was: await place(before), now: { schema: schemaOf(relation), table: table.currentTable } }, ofParcels);
      if (comuni.length > 0) differences.push({ relation, comuni });
    }
    return differences;
  });
}
