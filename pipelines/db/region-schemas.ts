/**
 * Copies of the record functions for each published region, in a schema with views of the region's partitions. The copies return the same records as the API
 * functions, but read the tables of one region only.
 */
import { REGIONS, unitName } from '../contract/regions.ts';
import { parseSqlFile, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { isDistributed } from './distributed.ts';
import { RecordFunctions } from './record-functions.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('region_schemas');

/** File with the statements that create the schemas. */
export const REGION_SCHEMAS_FILE = 'sql/statements/region_schemas.sql';

/** @param unit region code; null: all */
function published(session: Session, unit: number | null): Promise<{ readonly unit: number; readonly relation: Relation; readonly partition: string }[]> {
  return session.query(statementsOf('ledger')('published_tables'), [unit, 'current']);
}

function schemaOfRegion(unit: number): string {
  return `region_${unit}`;
}

/** Returns the API function that selects the schema of a region. */
export function regionFunctions(): SqlFile {
  const regions = REGIONS.map(({ code }) => `${statement('region', { code, schema: schemaOfRegion(code) })};`).join('\n      ');
  return parseSqlFile('sql/api/region_record.sql', `-- purpose: one parcel's record, by the functions of its region
-- reads: none
-- writes: api.region_record
-- grain: one call per parcel
-- crs: none

${statement('dispatch', { regions: { sql: regions } })};
`);
}

/** Drops all regional schemas before tables change, because their views depend on the tables. Call inside a transaction. */
export async function dropRegionSchemas(session: Session): Promise<void> {
  const made = await session.query<{ name: string }>(statement('made'), [REGIONS.map(({ code }) => schemaOfRegion(code))]);
  for (const { name } of made) await session.query(statement('end', { schema: name }));
}

/** Creates all regional schemas from the current API functions. Call after `dropRegionSchemas` in its transaction. */
export async function makeRegionSchemas(session: Session): Promise<void> {
  for (const unit of new Set((await published(session, null)).map((table) => table.unit))) await followRegion(session, unit);
}

/**
 * Updates a region's schema to the current publication. Call at the end of a swap, inside its transaction, while readers wait.
 * Distributed databases have no regional schemas, because their views would have to read shards on the workers.
 */
export async function followRegion(session: Session, unit: number): Promise<void> {
  if (unit === 0 || await isDistributed(session)) return;
  const schema = schemaOfRegion(unit);
  const partitions = new Map((await published(session, unit)).map(({ relation, partition }) => [relation, partition]));
  if (partitions.size === 0) {
    await session.query(statement('end', { schema }));
    return;
  }
  await makeRegionSchema(session, schema, unitName(unit), partitions);
}

/**
 * Creates the schema of a region, or replaces its views. Call inside a transaction.
 * @param title name of the region
 * @param partitions partitions by table; a table without an entry is read as a whole
 */
export async function makeRegionSchema(session: Session, schema: string, title: string, partitions: ReadonlyMap<Relation, string>): Promise<void> {
  const functions = await RecordFunctions.of(session);
  const split = (await functions.tables(session)).filter((table) => table.split !== null);
  const views = split.map(({ relation, columns }) => {
    const partition = partitions.get(relation);
    return statement('view', {
      view: { schema, table: tableOf(relation) }, columns: columns.map(({ name }) => name), description: `Rows of ${relation} of one region`,
      // A publication of an earlier version lacks the tables that were added later.
      from: { schema: schemaOf(relation), table: partition ?? tableOf(relation) },
    });
  });
  const isNew = (await session.query(statement('made'), [[schema]])).length === 0;
  const read = new Set(split.map(({ relation }) => relation));
  const own = isNew ? functions.over(schema, (relation) => (read.has(relation) ? `${schema}.${tableOf(relation)}` : null)) : [];
  const begin = isNew ? ['set local check_function_bodies = off', statement('begin', { schema, description: `The API functions of a record, created from the same text over the tables of ${title}` })] : [];
  await session.script([...begin, ...views, ...own].map((each) => `${each};\n`).join('\n'), REGION_SCHEMAS_FILE);
}
