/**
 * Layers follow their `layer.sql` without losing rows: what the file says now is made beside what stands, and the difference is applied. What cannot be
 * kept is named, and nothing is done about it.
 */
import { tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { copyComments, dropSchema, schemasLike } from './catalog.ts';
import { ident, type Session } from './types.ts';
import { MappaleError } from '../errors.ts';

export interface Reshaped {
  /** What was done, as sentences; empty: only descriptions, if anything. */
  readonly steps: readonly string[];
  /** Why rows cannot be kept; when there is a reason, nothing was done. */
  readonly losses: readonly string[];
}

interface Column extends Record<string, unknown> {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly initial: string | null;
  readonly generated: boolean;
}

/** Where the layers stand while `layer` is what a file says. */
const STANDING = 'layer_standing';
/** Makes what is tried undone. */
class Kept extends Error {}

/**
 * Brings the layers of one source to what its file says. Inside a transaction.
 * @param former tables that the source had by the ledger
 */
export async function reshapeLayers(session: Session, file: SqlFile, former: readonly string[]): Promise<Reshaped> {
  const steps: string[] = [];
  const losses: string[] = [];
  await savepoint(session, 'reshape', async () => {
    await session.query(`alter schema layer rename to ${ident(STANDING)}`);
    await session.query('create schema layer');
    await session.script(file.text, file.file);
    for (const relation of file.writes) {
      const table = tableOf(relation);
      if (await exists(session, STANDING, table)) {
        const found = await follow(session, relation);
        steps.push(...found.steps.map((step) => `${relation}: ${step}`));
        losses.push(...found.losses.map((loss) => `${relation}: ${loss}`));
        if (found.losses.length === 0) await copyComments(session, { schema: 'layer', table }, { schema: STANDING, table });
      } else {
        await session.query(`alter table ${ident('layer', table)} set schema ${ident(STANDING)}`);
        steps.push(`${relation}: made, empty`);
      }
    }
    for (const table of former) {
      if (file.writes.some((relation) => tableOf(relation) === table) || !(await exists(session, STANDING, table))) continue;
      await dropWorkspaces(session);
      await session.query(`drop table ${ident(STANDING, table)}`);
      steps.push(`layer.${table}: dropped, nothing makes it any more`);
    }
    if (losses.length > 0) throw new Kept();
    await dropSchema(session, 'layer');
    await session.query(`alter schema ${ident(STANDING)} rename to layer`);
  }).catch((error: unknown) => {
    if (!(error instanceof Kept)) throw error;
  });
  return losses.length > 0 ? { steps: [], losses } : { steps, losses };
}

/** Work that is undone as a whole when it throws, and leaves the transaction whole. */
async function savepoint(session: Session, name: string, work: () => Promise<void>): Promise<void> {
  await session.query(`savepoint ${ident(name)}`);
  try {
    await work();
  } catch (error) {
    await session.query(`rollback to savepoint ${ident(name)}`);
    throw error;
  }
  await session.query(`release savepoint ${ident(name)}`);
}

/** Tries a statement that the rows may contradict. @returns what the database says against it, or null */
async function objection(session: Session, sql: string): Promise<string | null> {
  try {
    await savepoint(session, 'attempt', async () => void (await session.query(sql)));
    return null;
  } catch (error) {
    // Class 22 and 23: the rows; 42: the types. Anything else is no answer.
    if (error instanceof MappaleError && /^SQL_(22|23|42)/.test(error.code)) return error.message;
    throw error;
  }
}

async function exists(session: Session, schema: string, table: string): Promise<boolean> {
  const [row] = await session.query<{ there: boolean }>('select to_regclass($1) is not null as there', [ident(schema, table)]);
  return row!.there;
}

export async function columnsOf(session: Session, schema: string, table: string): Promise<Column[]> {
  return session.query<Column>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required, a.attgenerated <> '' as generated, pg_get_expr(d.adbin, d.adrelid) as initial
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped order by a.attnum`, [ident(schema, table)],
  );
}

/** Makes a standing layer what `layer` has under its name. */
async function follow(session: Session, relation: Relation): Promise<{ steps: string[]; losses: string[] }> {
  const table = tableOf(relation);
  const standing = ident(STANDING, table);
  const steps: string[] = [];
  const losses: string[] = [];
  const key = (schema: string): Promise<{ key: string | null }[]> => session.query<{ key: string | null }>('select pg_get_partkeydef(to_regclass($1)) as key', [ident(schema, table)]);
  const [[wanted], [found]] = [await key('layer'), await key(STANDING)];
  if (wanted!.key !== found!.key) losses.push(`is partitioned by ${found!.key ?? 'nothing'}, should be by ${wanted!.key ?? 'nothing'}`);
  const changes = await columnChanges(session, STANDING, table, await columnsOf(session, 'layer', table));
  losses.push(...changes.losses);
  if (losses.length > 0) return { steps, losses };
  // Views of a workspace that a killed run left would hold the columns.
  if (changes.actions.some(({ frees }) => frees)) await dropWorkspaces(session);
  for (const { sql, says } of changes.actions) {
    const against = await objection(session, `alter table ${standing} ${sql}`);
    if (against === null) steps.push(says);
    else losses.push(`${says}: ${against}`);
  }
  const constraints = await both(session, table, "select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = to_regclass($1) and contype in ('p', 'u', 'c')");
  for (const { name } of constraints.over) await session.query(`alter table ${standing} drop constraint ${ident(name)}`);
  for (const { definition } of constraints.lacking) {
    const against = await objection(session, `alter table ${standing} add ${definition}`);
    if (against === null) steps.push(`${definition} added`);
    else losses.push(`${definition}: ${against}`);
  }
  const indexes = await both(session, table, `
    select i.relname as name, regexp_replace(pg_get_indexdef(i.oid), '^CREATE (UNIQUE )?INDEX .*? ON (ONLY )?.*? USING', 'CREATE \\1INDEX ON USING') as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid
    where x.indrelid = to_regclass($1) and not exists (select from pg_constraint c where c.conindid = i.oid)`);
  for (const { name } of indexes.over) await session.query(`drop index ${ident(STANDING, name)}`);
  for (const { definition } of indexes.lacking) await session.query(definition.replace(' ON USING', ` ON ${standing} USING`));
  if (indexes.over.length + indexes.lacking.length > 0) steps.push('its indexes made anew');
  return { steps, losses };
}

interface Named extends Record<string, unknown> {
  readonly name: string;
  readonly definition: string;
}

/** What a standing table has too much, and what it lacks. */
async function both(session: Session, table: string, query: string): Promise<{ over: Named[]; lacking: Named[] }> {
  const wanted = await session.query<Named>(query, [ident('layer', table)]);
  const found = await session.query<Named>(query, [ident(STANDING, table)]);
  const definitions = (list: readonly Named[]): Set<string> => new Set(list.map(({ definition }) => definition));
  return { over: found.filter(({ definition }) => !definitions(wanted).has(definition)), lacking: wanted.filter(({ definition }) => !definitions(found).has(definition)) };
}

interface Change {
  /** What follows `alter table x`. */
  readonly sql: string;
  readonly says: string;
  /** Views of the column stand in its way. */
  readonly frees: boolean;
}

/** How a table's columns become these, with its rows. Types follow where each value has one in the new type. */
async function columnChanges(session: Session, schema: string, table: string, wanted: readonly Column[]): Promise<{ actions: Change[]; losses: string[] }> {
  const found = new Map((await columnsOf(session, schema, table)).map((column) => [column.name, column]));
  const [held] = await session.query<{ rows: boolean }>(`select exists (select from ${ident(schema, table)}) as rows`);
  const actions: Change[] = [];
  const losses: string[] = [];
  for (const column of wanted) {
    const { name, type, required, initial, generated } = column;
    const before = found.get(name);
    found.delete(name);
    if (before === undefined) {
      if (required && initial === null && held!.rows) losses.push(`column ${name} is new and may not be empty`);
      else {
        const value = initial === null ? '' : generated ? ` generated always as (${initial}) stored` : ` default ${initial}`;
        actions.push({ sql: `add column ${ident(name)} ${type}${value}${required ? ' not null' : ''}`, says: `column ${name} added${initial === null ? ', empty' : ''}`, frees: false });
      }
      continue;
    }
    if (generated !== before.generated || (generated && initial !== before.initial)) {
      losses.push(`column ${name} is computed in another way`);
      continue;
    }
    if (type !== before.type) {
      if (held!.rows && !(await widens(session, before.type, type))) losses.push(`column ${name} is ${before.type}, should be ${type}`);
      else actions.push({ sql: `alter column ${ident(name)} type ${type}${held!.rows ? '' : ` using ${ident(name)}::text::${type}`}`, says: `column ${name} made ${type}`, frees: true });
    }
    if (initial !== before.initial) actions.push({ sql: `alter column ${ident(name)} ${initial === null ? 'drop default' : `set default ${initial}`}`, says: `column ${name} has ${initial ?? 'no value'} by default`, frees: false });
    if (required !== before.required) actions.push({ sql: `alter column ${ident(name)} ${required ? 'set' : 'drop'} not null`, says: `column ${name} may ${required ? 'not ' : ''}be empty`, frees: false });
  }
  for (const name of found.keys()) actions.push({ sql: `drop column ${ident(name)}`, says: `column ${name} dropped`, frees: true });
  return { actions, losses };
}

/** Whether each value of a type is one of the other: the database converts it by itself, or it is a geometry, which is checked value by value. */
async function widens(session: Session, from: string, to: string): Promise<boolean> {
  if (/^geometry\b/.test(from) && /^geometry\b/.test(to)) return true;
  const [row] = await session.query<{ there: boolean }>(
    "select exists (select from pg_cast where castsource = to_regtype($1) and casttarget = to_regtype($2) and castcontext = 'i') as there", [from, to],
  );
  return row!.there;
}

/** Workspaces hold what is made again. */
async function dropWorkspaces(session: Session): Promise<void> {
  for (const prefix of ['staging_', 'build_']) for (const schema of await schemasLike(session, prefix)) await dropSchema(session, schema);
  await session.query('delete from ledger.built');
}

/**
 * Tables that were published before get the columns of those that are published now, so that they can be attached again. Inside a transaction, after
 * migrations.
 * @throws MappaleError of kind `database` when a migration gave a published table what its predecessor cannot have
 */
export async function alignPrevious(session: Session): Promise<string[]> {
  const kept = await session.query<{ relation: Relation; partition: string }>(
    `select distinct t.relation, t.partition from ledger.publication_table t join ledger.publication p using (publication_id)
     where p.state = 'previous' and to_regclass('previous.' || quote_ident(t.partition)) is not null order by 1, 2`,
  );
  const steps: string[] = [];
  for (const { relation, partition } of kept) {
    const schema = relation.slice(0, relation.indexOf('.'));
    const { actions, losses } = await columnChanges(session, 'previous', partition, await columnsOf(session, schema, tableOf(relation)));
    if (losses.length > 0) throw new Error(`a migration changed ${relation} and not previous.${partition}: ${losses.join('; ')}`);
    for (const { sql, says } of actions) {
      await session.query(`alter table ${ident('previous', partition)} ${sql}`);
      steps.push(`previous.${partition}: ${says}`);
    }
  }
  return steps;
}
