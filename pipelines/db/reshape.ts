/**
 * Changes existing layers to match the source's definition, without losing rows. The tables are created as defined, next to the existing tables, and the
 * differences are applied to the existing tables. If rows cannot be kept, returns the reasons and changes nothing.
 */
import { schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { MappaleError } from '../errors.ts';
import { copyComments, dropSchema, hasRelation, schemasLike } from './ddl.ts';
import { partitionKey } from './partitions.ts';
import { savepoint } from './transactions.ts';
import { statementsOf, type Place } from './statements.ts';
import { ident, type Row, type Session } from './types.ts';

const catalog = statementsOf('catalog');

interface Reshaped {
  /** Steps that were done, as text. Empty if nothing changed or only comments changed. */
  readonly steps: readonly string[];
  /** Reasons why rows cannot be kept. If the list is not empty, nothing was changed. */
  readonly losses: readonly string[];
}

/** Name of the schema with the existing layers, while the schema `layer` contains the newly defined layers. */
const OLD_LAYERS = 'layer_standing';
/** Error that is thrown to undo all changes if rows cannot be kept. */
class Kept extends Error {}

/**
 * Changes the layers of one source to match the source's definition. Call inside a transaction.
 * @param former names of the layer tables that the source's releases in the ledger have used; tables that the source no longer defines are dropped
 */
export async function reshapeLayers(session: Session, file: SqlFile, former: readonly string[]): Promise<Reshaped> {
  const steps: string[] = [];
  const losses: string[] = [];
  await savepoint(session, 'reshape', async () => {
    await session.query(`alter schema layer rename to ${ident(OLD_LAYERS)}`);
    await session.query('create schema layer');
    await session.script(file.text, file.file);
    for (const relation of file.writes) {
      const table = tableOf(relation);
      if (await hasRelation(session, `${OLD_LAYERS}.${table}`)) {
        const found = await follow(session, relation);
        steps.push(...found.steps.map((step) => `${relation}: ${step}`));
        losses.push(...found.losses.map((loss) => `${relation}: ${loss}`));
        if (found.losses.length === 0) await copyComments(session, { schema: 'layer', table }, { schema: OLD_LAYERS, table });
      } else {
        await session.query(`alter table ${ident('layer', table)} set schema ${ident(OLD_LAYERS)}`);
        steps.push(`${relation}: created, empty`);
      }
    }
    for (const table of former) {
      if (file.writes.some((relation) => tableOf(relation) === table) || !(await hasRelation(session, `${OLD_LAYERS}.${table}`))) continue;
      await dropWorkspaces(session);
      await session.query(`drop table ${ident(OLD_LAYERS, table)}`);
      steps.push(`layer.${table}: dropped, because the source no longer has this layer`);
    }
    if (losses.length > 0) throw new Kept();
    await dropSchema(session, 'layer');
    await session.query(`alter schema ${ident(OLD_LAYERS)} rename to layer`);
  }).catch((error: unknown) => {
    if (!(error instanceof Kept)) throw error;
  });
  return losses.length > 0 ? { steps: [], losses } : { steps, losses };
}

/** Tries a statement that may fail because of existing rows. @returns the error message of the database, or null if the statement succeeds */
async function objection(session: Session, sql: string): Promise<string | null> {
  try {
    await savepoint(session, 'attempt', () => session.query(sql));
    return null;
  } catch (error) {
    // SQL states of class 22 and 23 concern rows, and class 42 concerns types. All other errors are unexpected.
    if (error instanceof MappaleError && /^SQL_(22|23|42)/.test(error.code)) return error.message;
    throw error;
  }
}

/** Changes an existing layer table to match the new table of the same name in the schema `layer`. */
async function follow(session: Session, relation: Relation): Promise<{ steps: string[]; losses: string[] }> {
  const table = tableOf(relation);
  const oldTable = ident(OLD_LAYERS, table);
  const steps: string[] = [];
  const losses: string[] = [];
  const [wanted, found] = [await partitionKey(session, 'layer', table), await partitionKey(session, OLD_LAYERS, table)];
  if (wanted !== found) losses.push(`is partitioned by ${found ?? 'nothing'}, should be by ${wanted ?? 'nothing'}`);
  const changes = await columnChanges(session, { schema: OLD_LAYERS, table }, { schema: 'layer', table });
  losses.push(...changes.losses);
  if (losses.length > 0) return { steps, losses };
  // Drops workspaces, because views in the workspace of a killed run may depend on the columns.
  if (changes.actions.some(({ frees }) => frees)) await dropWorkspaces(session);
  for (const { sql, note } of changes.actions) {
    const against = await objection(session, `alter table ${oldTable} ${sql}`);
    if (against === null) steps.push(note);
    else losses.push(`${note}: ${against}`);
  }
  const constraints = await both(session, table, catalog('constraints'));
  for (const { name } of constraints.over) await session.query(`alter table ${oldTable} drop constraint ${ident(name)}`);
  for (const { definition } of constraints.lacking) {
    const against = await objection(session, `alter table ${oldTable} add ${definition}`);
    if (against === null) steps.push(`${definition} added`);
    else losses.push(`${definition}: ${against}`);
  }
  const indexes = await both(session, table, catalog('plain_indexes'));
  for (const { name } of indexes.over) await session.query(`drop index ${ident(OLD_LAYERS, name)}`);
  for (const { definition } of indexes.lacking) await session.query(definition.replace(' ON USING', ` ON ${oldTable} USING`));
  if (indexes.over.length + indexes.lacking.length > 0) steps.push('indexes created again');
  return { steps, losses };
}

interface Named extends Record<string, unknown> {
  readonly name: string;
  readonly definition: string;
}

/** Returns the objects (`over`) that only the existing table has, and the objects (`lacking`) that only the new table has. */
async function both(session: Session, table: string, query: string): Promise<{ over: Named[]; lacking: Named[] }> {
  const wanted = await session.query<Named>(query, [ident('layer', table)]);
  const found = await session.query<Named>(query, [ident(OLD_LAYERS, table)]);
  const without = (some: readonly Named[], others: readonly Named[]): Named[] =>
    some.filter((each) => !others.some(({ definition }) => definition === each.definition));
  return { over: without(found, wanted), lacking: without(wanted, found) };
}

interface Change extends Row {
  /** Action of `alter table`, as SQL. */
  readonly sql: string;
  readonly note: string;
  /** True if views that use the column must be dropped before the action. */
  readonly frees: boolean;
}

/** Returns the changes that give a table the columns of another table without losing rows. */
async function columnChanges(session: Session, table: Place, wanted: Place): Promise<{ actions: Change[]; losses: string[] }> {
  const parameters = [table, wanted].map((each) => ident(each.schema, each.table));
  const changes = await session.query<Change & { loss: string | null }>(catalog('column_changes', { table }), parameters);
  return { actions: changes.filter(({ loss }) => loss === null), losses: changes.flatMap(({ loss }) => loss ?? []) };
}

/** Drops all workspaces, because their content can be rebuilt. */
async function dropWorkspaces(session: Session): Promise<void> {
  for (const prefix of ['staging_', 'build_']) for (const schema of await schemasLike(session, prefix)) await dropSchema(session, schema);
  await session.query('delete from ledger.built');
}

/**
 * Gives the tables of previous publications the columns of the current tables, so that a rollback can attach the previous tables again. Call inside a
 * transaction, after migrations.
 * @returns the steps as text
 * @throws Error if a migration changed a column in a way that a previous table cannot follow
 */
export async function alignPrevious(session: Session): Promise<string[]> {
  const kept = await session.query<{ relation: Relation; partition: string }>(catalog('previous_tables'));
  const steps: string[] = [];
  for (const { relation, partition } of kept) {
    const { actions, losses } = await columnChanges(session, { schema: 'previous', table: partition }, { schema: schemaOf(relation), table: tableOf(relation) });
    if (losses.length > 0) throw new Error(`a migration changed ${relation}, but not previous.${partition}: ${losses.join('; ')}`);
    for (const { sql, note } of actions) {
      await session.query(`alter table ${ident('previous', partition)} ${sql}`);
      steps.push(`previous.${partition}: ${note}`);
    }
  }
  return steps;
}
