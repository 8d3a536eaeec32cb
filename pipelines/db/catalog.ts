/**
 * Statements about schemas, partitions and views, whose names the program makes itself (workspaces, releases, publications).
 * The only place where SQL text is put together; every name is quoted, no value is.
 */
import { schemaOf, tableOf, type Relation } from '../sql-files.ts';
import { ident, type Database, type Row, type Session } from './types.ts';

/** Columns that say where a row was read and not what it says. */
const PROVENANCE: readonly string[] = ['release_id', 'member_id', 'position'];

export async function createSchema(session: Session, schema: string): Promise<void> {
  await session.query(`create schema ${ident(schema)}`);
}

export async function dropSchema(session: Session, schema: string): Promise<void> {
  await session.query(`drop schema if exists ${ident(schema)} cascade`);
}

export async function dropTable(session: Session, schema: string, table: string): Promise<void> {
  await session.query(`drop table if exists ${ident(schema, table)}`);
}

/** Schemas whose name starts so. */
export async function schemasLike(session: Session, prefix: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>('select nspname as name from pg_namespace where starts_with(nspname, $1) order by 1', [prefix]);
  return rows.map(({ name }) => name);
}

/** Work inside a workspace: unqualified names are its tables; memory as bulk work needs it. */
export async function inWorkspace<T>(database: Database, schema: string, work: (session: Session) => Promise<T>): Promise<T> {
  return database.session(async (session) => {
    await session.query(`set search_path to ${ident(schema)}, public`);
    await session.query(database.engine === 'postgres' ? "set work_mem to '256MB'" : "set work_mem to '64MB'");
    await session.query(database.engine === 'postgres' ? "set maintenance_work_mem to '512MB'" : "set maintenance_work_mem to '64MB'");
    await session.query("set client_min_messages to 'warning'");
    return work(session);
  });
}

/** A layer as a workspace sees it: the partitions of these releases, or nothing. */
export async function provideLayer(session: Session, schema: string, relation: Relation, releaseIds: readonly number[]): Promise<void> {
  const condition = releaseIds.length === 0 ? 'false' : `release_id in (${releaseIds.map((id) => String(Math.trunc(id))).join(', ')})`;
  await session.query(`create view ${ident(schema, tableOf(relation))} as select * from ${ident(schemaOf(relation), tableOf(relation))} where ${condition}`);
}

/** A published table as a workspace sees it: one partition, or the empty parent. */
export async function providePublished(session: Session, schema: string, relation: Relation, partition: string | null): Promise<void> {
  const target = partition === null ? ident(schemaOf(relation), tableOf(relation)) : ident(schemaOf(relation), partition);
  await session.query(`create view ${ident(schema, tableOf(relation))} as select * from ${target}${partition === null ? ' where false' : ''}`);
}

export async function hasRelation(session: Session, relation: Relation): Promise<boolean> {
  const [row] = await session.query<{ there: boolean }>('select to_regclass($1) is not null as there', [ident(schemaOf(relation), tableOf(relation))]);
  return row!.there;
}

/** A published partition under a name of its own, beside the table that is to follow it. */
export async function providePublishedAs(session: Session, schema: string, relation: Relation, partition: string, name: string): Promise<void> {
  await session.query(`create or replace view ${ident(schema, name)} as select * from ${ident(schemaOf(relation), partition)}`);
}

/** Parcels as an explanation sees them: one, or all of its comune. */
export async function provideParcels(session: Session, schema: string, partition: string, fid: number, scope: 'one' | 'comune'): Promise<void> {
  const from = ident('core', partition);
  const id = String(Math.trunc(fid));
  const condition = scope === 'one' ? `fid = ${id}` : `belfiore = (select belfiore from ${from} where fid = ${id})`;
  await session.query(`create view ${ident(schema, 'parcel')} as select * from ${from} where ${condition}`);
}

/** The one-row view `region (code, name)` of a region's workspace. */
export async function provideRegion(session: Session, schema: string, code: number, name: string): Promise<void> {
  const [quoted] = await session.query<{ name: string }>('select quote_literal($1::text) as name', [name]);
  await session.query(`create view ${ident(schema, 'region')} as select ${String(Math.trunc(code))}::int2 as code, ${quoted!.name}::text as name`);
}

/** Views of a workspace are made anew by each run; its tables may stay. */
export async function dropViews(session: Session, schema: string): Promise<void> {
  const rows = await session.query<{ name: string }>(
    "select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'v' order by 1", [schema],
  );
  for (const { name } of rows) await session.query(`drop view if exists ${ident(schema, name)} cascade`);
}

/** Drops what a script left in a workspace beside its result: steps on the way. */
export async function dropOthers(session: Session, schema: string, keep: ReadonlySet<string>): Promise<void> {
  const rows = await session.query<{ name: string; kind: string }>(
    `select c.relname as name, c.relkind::text as kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'v') order by c.relkind desc, c.oid desc`, [schema],
  );
  for (const { name, kind } of rows) {
    if (!keep.has(name)) await session.query(`drop ${kind === 'v' ? 'view' : 'table'} if exists ${ident(schema, name)} cascade`);
  }
}

/** Tables (not views) of a workspace. */
export async function tablesIn(session: Session, schema: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    "select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r' order by 1", [schema],
  );
  return rows.map(({ name }) => name);
}

export async function analyze(session: Session, schema: string, table: string): Promise<void> {
  await session.query(`analyze ${ident(schema, table)}`);
}

export async function countRows(session: Session, schema: string, table: string): Promise<number> {
  const [row] = await session.query<{ n: number }>(`select count(*) as n from ${ident(schema, table)}`);
  return row!.n;
}

/** Rows of a staged table per member, each (member_id, position) once. */
export async function countByMember(session: Session, schema: string, table: string): Promise<{ member_id: number; n: number; distinct_n: number }[]> {
  return session.query(
    `select member_id, count(*) as n, count(distinct position) as distinct_n from ${ident(schema, table)} group by member_id order by member_id`,
  );
}

/**
 * Digest of a table's content that does not depend on the order of rows, nor on where they were read: the same content gives the same
 * digest, whenever and however it was loaded.
 */
export async function digestOf(session: Session, schema: string, table: string): Promise<{ rows: number; digest: string }> {
  const columns = await session.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
       and attname <> all ($2) order by attname`,
    [ident(schema, table), PROVENANCE],
  );
  const row = columns.map(({ name }) => `t.${ident(name)}`).join(', ');
  const [found] = await session.query<{ rows: number; digest: string }>(
    `select count(*) as rows, coalesce(sum(hashtextextended(row(${row})::text, 0)::numeric), 0)::text as digest from ${ident(schema, table)} t`,
  );
  return found!;
}

/** Copies the layer rows of members that another release already holds. */
export async function copyMembers(
  session: Session,
  schema: string,
  layer: Relation,
  releaseId: number,
  members: readonly { readonly memberId: number; readonly fromMemberId: number; readonly fromReleaseId: number }[],
): Promise<void> {
  const columns = await session.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
       and attname not in ('release_id', 'member_id') order by attnum`,
    [ident(schemaOf(layer), tableOf(layer))],
  );
  const list = columns.map(({ name }) => ident(name)).join(', ');
  await session.query(
    `insert into ${ident(schema, tableOf(layer))} (release_id, member_id, ${list})
     select $1, m.member_id, ${columns.map(({ name }) => `l.${ident(name)}`).join(', ')}
     from ${ident(schemaOf(layer), tableOf(layer))} l
     join unnest($2::int4[], $3::int4[], $4::int4[]) as m (member_id, from_member_id, from_release_id)
       on m.from_release_id = l.release_id and m.from_member_id = l.member_id
     where l.release_id = any ($4::int4[])`,
    [releaseId, members.map((m) => m.memberId), members.map((m) => m.fromMemberId), members.map((m) => m.fromReleaseId)],
  );
}

/** Names of indexes are unique in a schema: give them the partition's name before the table moves. */
export async function renameIndexes(session: Session, schema: string, table: string, partition: string): Promise<void> {
  const indexes = await session.query<{ name: string }>(
    `select i.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = to_regclass($1) order by i.oid`,
    [ident(schema, table)],
  );
  for (const [position, { name }] of indexes.entries()) {
    const renamed = `${partition}_i${position + 1}`;
    if (name !== renamed) await session.query(`alter index ${ident(schema, name)} rename to ${ident(renamed)}`);
  }
}

/** How a parent is split, or that it is swapped whole. */
export type Split = 'release' | 'fid' | 'region' | 'whole';

/** @throws Error for a parent of another form: a bug of a migration */
export async function splitOf(session: Session, relation: Relation): Promise<Split> {
  const [row] = await session.query<{ key: string | null; there: boolean }>(
    'select pg_get_partkeydef(to_regclass($1)) as key, to_regclass($1) is not null as there', [ident(schemaOf(relation), tableOf(relation))],
  );
  if (row?.there !== true) throw new Error(`${relation} is written by a SQL file but made by no migration`);
  switch (row.key) {
    case null: return 'whole';
    case 'LIST (release_id)': return 'release';
    case 'LIST (region_code)': return 'region';
    case 'RANGE (fid)': return 'fid';
    default: throw new Error(`${relation} is partitioned by ${row.key}, expected release_id, region_code or fid`);
  }
}

function boundOf(split: Exclude<Split, 'whole'>, key: number): { check: string; bound: string } {
  const value = String(Math.trunc(key));
  switch (split) {
    case 'release': return { check: `release_id = ${value}`, bound: `for values in (${value})` };
    case 'region': return { check: `region_code = ${value}`, bound: `for values in (${value})` };
    case 'fid': {
      const from = String(Math.trunc(key) * 100_000_000);
      const to = String((Math.trunc(key) + 1) * 100_000_000);
      return { check: `fid >= ${from} and fid < ${to}`, bound: `for values from (${from}) to (${to})` };
    }
  }
}

/**
 * Proves in the workspace, outside any lock on the parent, what attaching would otherwise scan for: not null and the bound.
 * Collations that a query left on its columns become the parent's.
 * @throws Error when columns differ: a bug of a SQL file; MappaleError when a row does not belong to the region or lacks a value
 */
export async function proveBound(session: Session, schema: string, table: string, parent: Relation, split: Split, key: number): Promise<void> {
  const columns = await session.query<{ name: string; required: boolean; wanted: string | null; found: string | null; collation: boolean }>(
    `select coalesce(p.attname, c.attname) as name, coalesce(p.attnotnull, false) as required,
       format_type(p.atttypid, p.atttypmod) as wanted, format_type(c.atttypid, c.atttypmod) as found, p.attcollation <> c.attcollation as collation
     from (select * from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped) p
     full join (select * from pg_attribute where attrelid = to_regclass($2) and attnum > 0 and not attisdropped) c on c.attname = p.attname
     order by p.attnum, c.attnum`,
    [ident(schemaOf(parent), tableOf(parent)), ident(schema, table)],
  );
  const different = columns.filter(({ wanted, found }) => wanted !== found);
  if (different.length > 0) {
    throw new Error(`${parent} has other columns than the file that makes it: ${different.map(({ name, wanted, found }) => `${name} should be ${wanted ?? 'absent'}, is ${found ?? 'absent'}`).join('; ')}`);
  }
  const actions = columns.filter(({ collation }) => collation).map(({ name, wanted }) => `alter column ${ident(name)} type ${wanted!} collate "default"`);
  actions.push(...columns.filter(({ required }) => required).map(({ name }) => `alter column ${ident(name)} set not null`));
  if (split !== 'whole') actions.push('drop constraint if exists bound', `add constraint bound check (${boundOf(split, key).check})`);
  if (actions.length > 0) await session.query(`alter table ${ident(schema, table)} ${actions.join(', ')}`);
}

/** Moves a proven table under its parent, as `partition`. Inside a transaction. For a whole table: it takes the parent's name. */
export async function attach(session: Session, from: { schema: string; table: string }, parent: Relation, partition: string, split: Split, key: number): Promise<void> {
  const schema = schemaOf(parent);
  const name = split === 'whole' ? tableOf(parent) : partition;
  await renameIndexes(session, from.schema, from.table, partition);
  if (from.table !== name) await session.query(`alter table ${ident(from.schema, from.table)} rename to ${ident(name)}`);
  await session.query(`alter table ${ident(from.schema, name)} set schema ${ident(schema)}`);
  if (split !== 'whole') {
    await session.query(`alter table ${ident(schema, tableOf(parent))} attach partition ${ident(schema, name)} ${boundOf(split, key).bound}`);
  }
}

/** Takes a published table out into `previous` under its partition name. Inside a transaction. */
export async function detach(session: Session, parent: Relation, partition: string, split: Split): Promise<void> {
  const schema = schemaOf(parent);
  if (split !== 'whole') await session.query(`alter table ${ident(schema, tableOf(parent))} detach partition ${ident(schema, partition)}`);
  else await session.query(`alter table ${ident(schema, tableOf(parent))} rename to ${ident(partition)}`);
  await session.query(`alter table ${ident(schema, partition)} set schema previous`);
}

/** Parcels that are not in the table to be published are retired today; those that came back are in force again. */
export async function retireParcels(session: Session, region: number, parcels: { schema: string; table: string }): Promise<void> {
  await session.query(
    `update core.parcel_register r set retired_on = case when k.gone then current_date end
     from (
       select c.reference, p.fid is null as gone
       from core.parcel_register c left join ${ident(parcels.schema, parcels.table)} p on p.fid = c.fid
       where c.region_code = $1 and (p.fid is null) <> (c.retired_on is not null)
     ) k
     where r.region_code = $1 and r.reference = k.reference`, [region],
  );
}

/** Copies a comment of the parent and of its columns, for tables that are swapped whole. */
export async function copyComments(session: Session, from: { schema: string; table: string }, to: { schema: string; table: string }): Promise<void> {
  const comments = await session.query<{ column: string | null; text: string }>(
    `select a.attname as column, d.description as text from pg_description d left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
     where d.objoid = to_regclass($1) and d.classoid = 'pg_class'::regclass`, [ident(from.schema, from.table)],
  );
  for (const { column, text } of comments) {
    const target = column === null ? `table ${ident(to.schema, to.table)}` : `column ${ident(to.schema, to.table, column)}`;
    const [quoted] = await session.query<{ text: string }>('select quote_literal($1::text) as text', [text]);
    await session.query(`comment on ${target} is ${quoted!.text}`);
  }
}

/** What one comune's rows of a table became between two publications. */
export interface TableDifference extends Row {
  readonly comune: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Column → rows in which it changed; empty for tables with several rows per parcel. */
  readonly fields: Readonly<Record<string, number>>;
}

/**
 * Compares two partitions of one relation, comune by comune. Rows of a parcel are one thing, known by fid; rows of tables without fid
 * are known by their whole content, so that a change is one removed and one added.
 * @param parcels partitions of core.parcel of the two publications, which say what comune a fid is in
 */
export async function compareTables(
  session: Session,
  was: { schema: string; table: string },
  now: { schema: string; table: string },
  parcels: { was: { schema: string; table: string }; now: { schema: string; table: string } },
): Promise<TableDifference[]> {
  const found = await session.query<{ name: string; single: boolean }>(
    `select a.attname as name,
       exists (select from pg_index x where x.indrelid = a.attrelid and x.indisprimary and x.indnkeyatts = 1 and x.indkey[0] = a.attnum) as single
     from pg_attribute a where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [ident(now.schema, now.table)],
  );
  const columns = found.map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
  const byParcel = columns.includes('fid');
  const single = byParcel && found.some(({ name, single: key }) => name === 'fid' && key);
  const values = columns.filter((name) => name !== 'fid');
  const hash = `hashtextextended(row(${columns.map((name) => `t.${ident(name)}`).join(', ')})::text, 0)::numeric`;
  const side = (table: { schema: string; table: string }, place: { schema: string; table: string }): string => {
    const from = ident(table.schema, table.table);
    if (single) return `select t.*, ${columns.includes('belfiore') ? 't.belfiore' : 'p.belfiore'} as comune_, ${hash} as hash_ from ${from} t join ${ident(place.schema, place.table)} p using (fid)`;
    if (byParcel) return `select t.fid, min(p.belfiore) as comune_, sum(${hash}) as hash_ from ${from} t join ${ident(place.schema, place.table)} p using (fid) group by t.fid`;
    return `select ${hash} as fid, ${columns.includes('belfiore') ? 't.belfiore' : "''"} as comune_, 0 as hash_ from ${from} t`;
  };
  const fields = single ? values.map((name) => `'${name.replaceAll("'", "''")}', count(*) filter (where w.fid is not null and n.fid is not null and w.${ident(name)} is distinct from n.${ident(name)})`).join(', ') : '';
  const rows = await session.query<TableDifference>(
    `with w as (${side(was, parcels.was)}), n as (${side(now, parcels.now)})
     select coalesce(n.comune_, w.comune_) as comune,
       count(*) filter (where w.fid is null) as added,
       count(*) filter (where n.fid is null) as removed,
       count(*) filter (where w.fid is not null and n.fid is not null and w.hash_ <> n.hash_) as changed,
       jsonb_build_object(${fields}) as fields
     from w full join n on n.fid = w.fid
     where w.fid is null or n.fid is null or w.hash_ <> n.hash_
     group by 1 order by 1`,
  );
  return rows.map((row) => ({ ...row, fields: Object.fromEntries(Object.entries(row.fields).filter(([, count]) => count > 0)) }));
}

/** Bytes on disk of layer tables, by release. */
export async function layerBytes(session: Session): Promise<Map<number, number>> {
  const rows = await session.query<{ release_id: number; bytes: number }>(
    `select substring(c.relname from '_([0-9]+)$')::int4 as release_id, sum(pg_total_relation_size(c.oid))::int8 as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'layer' and c.relkind = 'r' and c.relname ~ '_[0-9]+$' group by 1`,
  );
  return new Map(rows.map(({ release_id, bytes }) => [release_id, bytes]));
}

/** Bytes on disk of the published partitions of one unit. */
export async function publishedBytes(session: Session, unit: number): Promise<number> {
  const [row] = await session.query<{ bytes: number | null }>(
    `select sum(pg_total_relation_size(c.oid))::int8 as bytes
     from ledger.publication p join ledger.publication_table t using (publication_id)
     join pg_class c on c.relname = t.partition join pg_namespace n on n.oid = c.relnamespace and n.nspname = split_part(t.relation, '.', 1)
     where p.unit_code = $1 and p.state = 'current'`, [unit],
  );
  return row?.bytes ?? 0;
}

/** A table's row of one parcel as JSON, from a workspace or from what is published; its rows in order where there are several. */
export async function rowsOf(session: Session, schema: string, table: string, fid: number): Promise<unknown[]> {
  const rows = await session.query<{ row: unknown }>(`select to_jsonb(t) as row from ${ident(schema, table)} t where t.fid = $1 order by to_jsonb(t)::text`, [fid]);
  return rows.map(({ row }) => row);
}
