/**
 * The functions of a record once more for each region that is published, in a schema of its own, over views of its own tables. What they say is what
 * those of the interface say; they touch the tables of one region instead of all.
 */
import { REGIONS, unitName } from '../contract/regions.ts';
import { parseSqlFile, schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { isDistributed } from './distributed.ts';
import { RecordFunctions } from './record-functions.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('region_schemas');

/** What the schemas are made with. */
export const REGION_SCHEMAS_FILE = 'sql/statements/region_schemas.sql';

/** @param unit null: all */
function published(session: Session, unit: number | null): Promise<{ readonly unit: number; readonly relation: Relation; readonly partition: string }[]> {
  return session.query(statementsOf('ledger')('published_tables'), [unit, 'current']);
}

function schemaOfRegion(unit: number): string {
  return `region_${unit}`;
}

/** The function of the interface that chooses among them. */
export function regionFunctions(): SqlFile {
  const regions = REGIONS.map(({ code }) => `${statement('region', { code, schema: schemaOfRegion(code) })};`).join('\n    ');
  return parseSqlFile('sql/api/region_record.sql', `-- purpose: one parcel's record, by the functions of its region
-- reads: none
-- writes: api.region_record
-- grain: one call per parcel
-- crs: none

${statement('dispatch', { regions: { sql: regions } })};
`);
}

/** Drops them all. Before tables change their form: views would hold them. Inside a transaction. */
export async function dropRegionSchemas(session: Session): Promise<void> {
  const made = await session.query<{ name: string }>(statement('made'), [REGIONS.map(({ code }) => schemaOfRegion(code))]);
  for (const { name } of made) await session.query(statement('end', { schema: name }));
}

/** Makes them all, of the interface as it is. After `dropRegionSchemas`, inside its transaction. */
export async function makeRegionSchemas(session: Session): Promise<void> {
  for (const unit of new Set((await published(session, null)).map((table) => table.unit))) await followRegion(session, unit);
}

/**
 * Has a region's schema follow what is in force now. At the end of a swap, inside its transaction, while readers wait. Where parcels lie on other nodes
 * there is none: views of their shards would be the workers'.
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
 * Makes the schema of a region, or has its views follow other partitions. Inside a transaction.
 * @param title name of the region
 * @param partitions by whole table; the whole table is read where there is none
 */
export async function makeRegionSchema(session: Session, schema: string, title: string, partitions: ReadonlyMap<Relation, string>): Promise<void> {
  const functions = await RecordFunctions.of(session);
  const split = (await functions.tables(session)).filter((table) => table.split !== null);
  const views = split.map(({ relation, columns }) => {
    const partition = partitions.get(relation);
    return statement('view', {
      view: { schema, table: tableOf(relation) }, columns: columns.map(({ name }) => name), description: `Rows of ${relation} of one region`,
      // What an earlier version published lacks the tables of a later one.
      from: { schema: schemaOf(relation), table: partition ?? tableOf(relation) },
    });
  });
  const isNew = (await session.query(statement('made'), [[schema]])).length === 0;
  const read = new Set(split.map(({ relation }) => relation));
  const own = isNew ? functions.over(schema, (relation) => (read.has(relation) ? `${schema}.${tableOf(relation)}` : null)) : [];
  const begin = isNew ? ['set local check_function_bodies = off', statement('begin', { schema, description: `The interface's functions of a record, made from the same text over the tables of ${title}` })] : [];
  await session.script([...begin, ...views, ...own].map((each) => `${each};\n`).join('\n'), REGION_SCHEMAS_FILE);
}
