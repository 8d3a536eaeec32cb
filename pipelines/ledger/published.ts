/** Reads the current publications from the ledger. */
import { regionName, regionSlug, type Region } from '../contract/regions.ts';
import { tableOf, type Relation } from '../contract/sql-files.ts';
import { isDistributed } from '../db/distributed.ts';
import type { Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { describeHold, holds } from './hold.ts';

const ledger = statementsOf('ledger');

export interface PublishedTable {
  readonly relation: Relation;
  /** Name of this version of the table's rows. A publication that changes a row gives the rows a new name. */
  readonly partition: string;
  /** Name of the table while the table is detached or in the schema `previous`. A publication that replaces single rows does not change this name. */
  readonly heldIn: string;
  /** Name of the table while published. A table of Italy (unit 0) is swapped as a whole and has the name of the parent table. */
  readonly currentTable: string;
  readonly fingerprint: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly rows: number;
  readonly digest: string;
}

/** Returns the tables of a region's current or previous publication, by relation. */
export async function publishedTables(session: Session, region: number, state: 'current' | 'previous' = 'current'): Promise<Map<Relation, PublishedTable>> {
  return (await tablesOf(session, region, state)).get(region) ?? new Map<Relation, PublishedTable>();
}

/** Returns the swaps without complete counts of changed parcels, oldest first. A distributed database has no counts. */
export async function uncountedSwaps(session: Session): Promise<number[]> {
  const swaps = (await session.query<{ swap: number }>(ledger('uncounted'))).map(({ swap }) => swap);
  return swaps.length > 0 && await isDistributed(session) ? [] : swaps;
}

/** Refuses a region that is not published. @throws MappaleError `NOT_PUBLISHED` (exit 2) with the command that publishes the region */
export async function mustBePublished(session: Session, region: Region): Promise<void> {
  if ((await publishedTables(session, region.code)).size === 0) throw await notPublished(session, region.code);
}

/** Returns the error for a region that is not published, with the reason and the command that publishes the region. */
export async function notPublished(session: Session, region: number): Promise<MappaleError> {
  const [name, slug] = [regionName(region), regionSlug(region)];
  const hold = (await holds(session)).get(region);
  if (hold?.kind === 'withdrawn') {
    return new MappaleError(`${name} is withdrawn`, {
      code: 'NOT_PUBLISHED', kind: 'usage', detail: describeHold(hold), hint: 'No data of the region is served. This command publishes the region again.', fix: `npx mappale rollback ${slug}`,
    });
  }
  return new MappaleError(`${name} is not published`, {
    code: 'NOT_PUBLISHED', kind: 'usage', hint: 'Load the region first. npx mappale status lists published regions.', fix: `npx mappale load-region ${slug} --data FOLDER`,
  });
}

/** Returns all current publications, by region. */
export function publications(session: Session): Promise<Map<number, Map<Relation, PublishedTable>>> {
  return tablesOf(session, null, 'current');
}

/** Returns the published tables. @param region the region code, or null for all regions */
async function tablesOf(session: Session, region: number | null, state: 'current' | 'previous'): Promise<Map<number, Map<Relation, PublishedTable>>> {
  const rows = await session.query<Omit<PublishedTable, 'currentTable'> & { region: number }>(ledger('published_tables'), [region, state]);
  const found = new Map<number, Map<Relation, PublishedTable>>();
  for (const { region: of, ...table } of rows) {
    const tables = found.get(of) ?? new Map<Relation, PublishedTable>();
    found.set(of, tables.set(table.relation, { ...table, currentTable: of === 0 && state === 'current' ? tableOf(table.relation) : table.heldIn }));
  }
  return found;
}
