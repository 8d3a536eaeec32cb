/** Attaches, detaches and patches partitions. Before attaching, checks that a workspace table matches the parent table. */
import { firstFid } from '../contract/regions.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { columnNames, giveTable, hasRelation, renameIndexes, renameTable } from './ddl.ts';
import { placeOf, runEach, statementsOf, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const catalog = statementsOf('catalog');

/** Partition key of a layer or a published table. `whole`: the table has no partitions, and a publication replaces the table. */
export type Split = 'release' | 'fid' | 'region' | 'whole';

/** The rows that a partition may contain. */
interface Bound {
  readonly split: Split;
  /** Id of the release, or code of the region. */
  readonly key: number;
}

/** Returns the partition key of a table. @throws Error for a missing table or an unknown partition key, which is a bug in a migration */
export async function splitOf(session: Session, relation: Relation): Promise<Split> {
  if (!(await hasRelation(session, relation))) throw new Error(`an SQL file writes ${relation}, but no migration creates this table`);
  const key = await partitionKey(session, schemaOf(relation), tableOf(relation));
  switch (key) {
    case null: return 'whole';
    case 'LIST (release_id)': return 'release';
    case 'LIST (region_code)': return 'region';
    case 'RANGE (fid)': return 'fid';
    default: throw new Error(`${relation} is partitioned by ${key}, expected release_id, region_code or fid`);
  }
}

/** Returns the partition key of a table as PostgreSQL prints it, or null if the table is not partitioned. */
export async function partitionKey(session: Session, schema: string, table: string): Promise<string | null> {
  return (await one<{ key: string | null }>(session, catalog('partition_key'), [ident(schema, table)])).key;
}

/** Returns the bound of a partition, as a check condition and as the clause of `attach partition`. */
export function boundOf(split: Exclude<Split, 'whole'>, key: number): { check: string; bound: string } {
  if (split === 'fid') {
    const [from, to] = [firstFid(key), firstFid(key + 1)];
    return { check: `fid >= ${from} and fid < ${to}`, bound: `for values from (${from}) to (${to})` };
  }
  return { check: `${split === 'release' ? 'release_id' : 'region_code'} = ${key}`, bound: `for values in (${key})` };
}

/**
 * Adds not-null constraints and the partition bound to a workspace table. Attaching then does not scan the table while the parent is locked. Also changes the
 * collations of the columns to the parent's collations.
 * @throws Error if columns differ, which is a bug in an SQL file; MappaleError if a row is outside the partition bound, or has a null in a required column
 */
export async function proveBound(session: Session, { schema, table }: Place, parent: Relation, { split, key }: Bound): Promise<void> {
  const tables = [ident(schemaOf(parent), tableOf(parent)), ident(schema, table)];
  const different = await session.query<{ name: string; wanted: string; found: string }>(catalog('differing_columns'), tables);
  if (different.length > 0) {
    throw new Error(`the SQL file of ${parent} builds a table whose columns differ from the expected columns: ${different.map(({ name, wanted, found }) => `${name} should be ${wanted}, is ${found}`).join('; ')}`);
  }
  await runEach(session, catalog('prove'), [...tables, split === 'whole' ? null : boundOf(split, key).check]);
}

/**
 * Attaches a checked table to a parent table, under the name `partition`. If the parent is not partitioned, the checked table takes the parent's name. Call
 * inside a transaction.
 */
export async function attach(session: Session, from: Place, parent: Relation, partition: string, { split, key }: Bound): Promise<void> {
  const schema = schemaOf(parent);
  const name = split === 'whole' ? tableOf(parent) : partition;
  await renameIndexes(session, from.schema, from.table, partition);
  if (from.table !== name) await renameTable(session, from.schema, from.table, name);
  await giveTable(session, { schema: from.schema, table: name }, schema);
  if (split !== 'whole') {
    const bound = { sql: boundOf(split, key).bound };
    await session.query(catalog('attach', { parent: placeOf(parent), partition: { schema, table: name }, bound }));
  }
}

/** Moves a published table into the schema `previous` under its partition name. Call inside a transaction. */
export async function detach(session: Session, parent: Relation, partition: string, split: Split): Promise<void> {
  const schema = schemaOf(parent);
  if (split !== 'whole') await session.query(catalog('detach', { parent: placeOf(parent), partition: { schema, table: partition } }));
  else await renameTable(session, schema, tableOf(parent), partition);
  await giveTable(session, { schema, table: partition }, 'previous');
}

/** Returns the tables in the schema `previous` from which a patched table can be restored: the replaced rows, and the fids of the replaced parcels. */
export function formerRows(partition: string): { readonly rows: Place; readonly fids: Place } {
  return { rows: { schema: 'previous', table: `${partition}_rows` }, fids: { schema: 'previous', table: `${partition}_fids` } };
}

/**
 * Replaces the rows of some parcels in a published table. The replaced rows are stored in the schema `previous`. Takes no lock that blocks readers. Call inside
 * a transaction.
 * @param content partition name of the content before the patch. The tables with the replaced rows have this name as prefix
 */
export async function patchRows(session: Session, published: Place, content: string, { fids, came }: Readonly<Record<'fids' | 'came', Place>>): Promise<void> {
  const former = formerRows(content);
  await session.script(catalog('keep_replaced', { published, fids, rows: former.rows.table, fids_kept: former.fids.table }), 'sql/statements/catalog.sql, keep_replaced');
  await session.query(catalog('remove_replaced', { published, fids }));
  await session.query(catalog('insert_rows', { published, came, columns: await columnNames(session, came) }));
}
