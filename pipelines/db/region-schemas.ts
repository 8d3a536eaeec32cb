/**
 * Creates a schema `region_N` for each published region, with views of the region's partitions. Records are read from these views, because a statement on a
 * partitioned table would lock the partitions of all regions.
 */
import { REGIONS, regionName } from '../contract/regions.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { isDistributed } from './distributed.ts';
import { makePastOfItaly } from './history.ts';
import { recordTables } from './record-tables.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('region_schemas');

/** File with the statements that create the schemas. */
export const REGION_SCHEMAS_FILE = 'sql/statements/region_schemas.sql';

/** Returns the published tables with their partitions. @param region region code, or null for all regions */
function published(session: Session, region: number | null): Promise<{ readonly region: number; readonly relation: Relation; readonly heldIn: string }[]> {
  return session.query(statementsOf('ledger')('published_tables'), [region, 'current']);
}

function schemaOfRegion(region: number): string {
  return `region_${region}`;
}

/** Drops all regional schemas before tables change, because their views depend on the tables. Call inside a transaction. */
export async function dropRegionSchemas(session: Session): Promise<void> {
  const made = await session.query<{ name: string }>(statement('made'), [REGIONS.map(({ code }) => schemaOfRegion(code))]);
  for (const { name } of made) await session.query(statement('end', { schema: name }));
}

/** Creates the schemas of all published regions. Call in the same transaction as `dropRegionSchemas`, after that call. */
export async function makeRegionSchemas(session: Session): Promise<void> {
  for (const region of new Set((await published(session, null)).map((table) => table.region))) if (region > 0) await followRegion(session, region);
}

/**
 * Points the views of a region to the partitions of the current publication. Drops the schema of a region without a publication. For Italy (region 0),
 * recreates the views of past rows of Italy's tables. Call at the end of a swap, inside the swap's transaction, while readers wait. Distributed databases have
 * no regional schemas, because the views would have to read shards on the workers.
 * @param changed tables whose partitions changed; null for all tables
 */
export async function followRegion(session: Session, region: number, changed: ReadonlySet<Relation> | null = null): Promise<void> {
  if (region === 0) return makePastOfItaly(session);
  if (await isDistributed(session)) return;
  const schema = schemaOfRegion(region);
  const partitions = new Map((await published(session, region)).map(({ relation, heldIn }) => [relation, heldIn]));
  if (partitions.size === 0) {
    await session.query(statement('end', { schema }));
    return;
  }
  await makeRegionSchema(session, schema, regionName(region), partitions, changed);
}

/**
 * Creates the schema of a region, or replaces the views in the schema. Call inside a transaction.
 * @param title name of the region
 * @param partitions the region's partition of each table; for a table without an entry, the view reads the whole table
 * @param changed tables whose views are replaced; null for all tables. A new schema gets the views of all tables
 */
export async function makeRegionSchema(
  session: Session, schema: string, title: string, partitions: ReadonlyMap<Relation, string>, changed: ReadonlySet<Relation> | null = null,
): Promise<void> {
  const isNew = (await session.query(statement('made'), [[schema]])).length === 0;
  const tables = (await recordTables(session)).filter(({ relation, split }) => split !== null && (isNew || changed === null || changed.has(relation)));
  const views = tables.map(({ relation, columns }) => statement('view', {
    view: { schema, table: tableOf(relation) }, columns: columns.map(({ name }) => name), description: `Rows of ${relation} of one region`,
    // If an earlier program version created the publication, tables that were added later have no partition.
    from: { schema: schemaOf(relation), table: partitions.get(relation) ?? tableOf(relation) },
  }));
  const begin = isNew ? [statement('begin', { schema, description: `Views of the tables of ${title}, through which its records are read` })] : [];
  if (begin.length + views.length > 0) await session.script([...begin, ...views].map((each) => `${each};\n`).join('\n'), REGION_SCHEMAS_FILE);
}
