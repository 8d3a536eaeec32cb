/** Creates, renames, moves and drops schemas and tables whose names the program generates. */
import { runEach, statementsOf, type Place } from './statements.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { ident, one, type Row, type Session } from './types.ts';

const catalog = statementsOf('catalog');

export async function createSchema(session: Session, schema: string): Promise<void> {
  await session.query(catalog('create_schema', { schema }));
}

export async function dropSchema(session: Session, schema: string): Promise<void> {
  await session.query(catalog('drop_schema', { schema }));
}

export async function dropTable(session: Session, schema: string, table: string): Promise<void> {
  await session.query(catalog('drop_table', { table: { schema, table } }));
}

export async function renameTable(session: Session, schema: string, table: string, name: string): Promise<void> {
  await session.query(catalog('rename_table', { table: { schema, table }, name }));
}

/** Returns the schemas whose name starts with a prefix. */
export async function schemasLike(session: Session, prefix: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>(catalog('schemas_like'), [prefix]);
  return rows.map(({ name }) => name);
}

/** Sets the search path. PostgreSQL looks up unqualified names in these schemas in order, and creates new objects in the first schema. */
export async function lookIn(session: Session, schemas: readonly string[]): Promise<void> {
  await session.query(catalog('look_in', { schemas: [...schemas, 'public'] }));
}

/** Sets the search path until the end of the transaction. */
export async function lookInLocally(session: Session, schemas: readonly string[]): Promise<void> {
  await session.query(catalog('look_in_locally', { schemas: [...schemas, 'public'] }));
}

export async function hasRelation(session: Session, relation: Relation): Promise<boolean> {
  return (await one<{ there: boolean }>(session, catalog('has_relation'), [ident(schemaOf(relation), tableOf(relation))])).there;
}

/** Drops all views and tables of a workspace except the given tables. */
export async function dropOthers(session: Session, schema: string, keep: ReadonlySet<string>): Promise<void> {
  await runEach(session, catalog('drop_others'), [schema, [...keep]]);
}

/** Returns the tables (not views) of a workspace. */
export async function tablesIn(session: Session, schema: string): Promise<string[]> {
  return (await session.query<{ name: string }>(catalog('tables'), [schema])).map(({ name }) => name);
}

/** Moves a table with its indexes to another schema. */
export async function giveTable(session: Session, from: Place, schema: string): Promise<void> {
  await session.query(catalog('give_table', { table: from, schema }));
}

export async function analyze(session: Session, schema: string, table: string): Promise<void> {
  await session.query(catalog('analyze', { table: { schema, table } }));
}

/** Analyzes a table that consists mostly of copied rows. Uses a third of the usual sample, which is enough for the planner. */
export async function analyzeRoughly(session: Session, schema: string, table: string): Promise<void> {
  await session.script(catalog('analyze_roughly', { table: { schema, table } }), 'sql/statements/catalog.sql, analyze_roughly');
}

export async function countRows(session: Session, schema: string, table: string): Promise<number> {
  return (await one<{ n: number }>(session, catalog('count_rows', { table: { schema, table } }))).n;
}

/** Returns the sum of a column of row counts. */
export async function sumOfRows(session: Session, schema: string, table: string, column: string): Promise<number> {
  return (await one<{ n: number }>(session, catalog('sum_of_rows', { table: { schema, table }, column }))).n;
}

/** Returns the names of a table's columns in alphabetical order, without the given names. */
export async function columnNames(session: Session, { schema, table }: Place, without: readonly string[] = []): Promise<string[]> {
  return (await columnsOf(session, { schema, table })).map(({ name }) => name).filter((name) => !without.includes(name));
}

/** A column of a table. `key` is true if the column alone is the primary key. */
interface Column extends Row {
  readonly name: string;
  readonly key: boolean;
}

/** Returns the columns of a table, in alphabetical order. */
export async function columnsOf(session: Session, { schema, table }: Place): Promise<readonly Column[]> {
  return session.query<Column>(catalog('columns'), [ident(schema, table)]);
}

/**
 * Renames the indexes of a table to match the name of the partition. Call before the table moves to another schema, because index names are unique in a schema.
 */
export async function renameIndexes(session: Session, schema: string, table: string, partition: string): Promise<void> {
  await runEach(session, catalog('rename_indexes'), [ident(schema, table), partition]);
}

/** Copies the comments of a table and its columns to the replacement of the table. */
export async function copyComments(session: Session, from: Place, to: Place): Promise<void> {
  await runEach(session, catalog('copy_comments'), [ident(from.schema, from.table), ident(to.schema, to.table)]);
}
