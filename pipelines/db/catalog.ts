/**
 * Statements about schemas, partitions and views, whose names the program makes itself (workspaces, releases, publications).
 * The only place where SQL text is put together; every name is quoted, no value is.
 */
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
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

export async function renameTable(session: Session, schema: string, table: string, name: string): Promise<void> {
  await session.query(`alter table ${ident(schema, table)} rename to ${ident(name)}`);
}

/** Schemas whose name starts so. */
export async function schemasLike(session: Session, prefix: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>('select nspname as name from pg_namespace where starts_with(nspname, $1) order by 1', [prefix]);
  return rows.map(({ name }) => name);
}

/** Unqualified names are tables of these schemas, the first that has one; what is made lies in the first. */
export async function lookIn(session: Session, schemas: readonly string[]): Promise<void> {
  await session.query(`set search_path to ${[...schemas.map((schema) => ident(schema)), 'public'].join(', ')}`);
}

/** Work inside a workspace: unqualified names are its tables; memory as bulk work needs it. */
export async function inWorkspace<T>(database: Database, schema: string | readonly string[], work: (session: Session) => Promise<T>): Promise<T> {
  return database.session(async (session) => {
    await lookIn(session, typeof schema === 'string' ? [schema] : schema);
    await session.query(database.engine === 'postgres' ? "set work_mem to '256MB'" : "set work_mem to '64MB'");
    await session.query(database.engine === 'postgres' ? "set maintenance_work_mem to '512MB'" : "set maintenance_work_mem to '64MB'");
    await session.query("set client_min_messages to 'warning'");
    return work(session);
  });
}

/** Which rows of a layer a workspace sees: all of some releases, all or some places of some files. */
export interface LayerRows {
  /** Releases that are in force as a whole. */
  readonly releases: readonly number[];
  /** Files of other releases that are in force as a whole. */
  readonly files: readonly { readonly fileId: number; readonly releaseId: number }[];
  /** Files of which some places are in force. */
  readonly parts: readonly { readonly fileId: number; readonly releaseId: number; readonly places: readonly { readonly series: string; readonly place: string }[] }[];
  /** Columns of the layer that say series and place; null: it has none, and no parts. */
  readonly columns: PlaceColumns | null;
}

/** The columns of a layer by which newer files supersede older ones. */
export interface PlaceColumns {
  /** Columns that together say half-year, year or kind; none: the layer has one state. */
  readonly series?: readonly string[];
  /** Code of a comune, or of another unit. */
  readonly place: string;
}

function list(values: readonly number[]): string {
  return [...new Set(values)].map((value) => String(Math.trunc(value))).join(', ');
}

/** A layer as a workspace sees it: what is in force of it, or nothing. `member_in_force` and `place_in_force` must be there. */
export async function provideLayer(session: Session, schema: string, relation: Relation, rows: LayerRows): Promise<void> {
  const { releases, files, parts, columns } = rows;
  const from = ident(schemaOf(relation), tableOf(relation));
  const members = ident(schema, 'member_in_force');
  const queries: string[] = [];
  if (releases.length > 0) queries.push(`select l.* from ${from} l where l.release_id in (${list(releases)})`);
  if (files.length > 0) {
    queries.push(`select l.* from ${from} l where l.release_id in (${list(files.map(({ releaseId }) => releaseId))})
      and l.member_id in (select m.member_id from ${members} m where m.file_id in (${list(files.map(({ fileId }) => fileId))}))`);
  }
  if (parts.length > 0) {
    if (columns === null) throw new Error(`${relation} has no column that says which of its rows are in force`);
    const pairs = parts.flatMap(({ fileId, places }) => places.map((each) => ({ fileId, ...each })));
    await session.query(
      `insert into ${ident(schema, 'place_in_force')} (layer, file_id, series, place) select $1, * from unnest($2::int4[], $3::text[], $4::text[])`,
      [tableOf(relation), pairs.map(({ fileId }) => fileId), pairs.map(({ series }) => series), pairs.map(({ place }) => place)],
    );
    const [quoted] = await session.query<{ name: string }>('select quote_literal($1::text) as name', [tableOf(relation)]);
    const series = (columns.series ?? []).length === 0 ? "''" : `concat_ws(' ', ${columns.series!.map((column) => `l.${ident(column)}`).join(', ')})`;
    queries.push(`select l.* from ${from} l join ${members} m on m.member_id = l.member_id
      where l.release_id in (${list(parts.map(({ releaseId }) => releaseId))})
        and exists (
          select from ${ident(schema, 'place_in_force')} p
          where p.layer = ${quoted!.name} and p.file_id = m.file_id and p.series = ${series} and p.place = coalesce(l.${ident(columns.place)}, '')
        )`);
  }
  await session.query(`create view ${ident(schema, tableOf(relation))} as ${queries.length === 0 ? `select * from ${from} where false` : queries.join(' union all ')}`);
}

/** Digest of what one file says of some places of a layer, wherever in it that stands. */
export async function digestOfPlaces(
  session: Session, relation: Relation, file: { readonly fileId: number; readonly releaseId: number }, columns: PlaceColumns, places: readonly { readonly series: string; readonly place: string }[],
): Promise<string> {
  const names = (await columnsOf(session, { schema: schemaOf(relation), table: tableOf(relation) })).map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
  const series = (columns.series ?? []).length === 0 ? "''" : `concat_ws(' ', ${columns.series!.map((column) => `l.${ident(column)}`).join(', ')})`;
  const [found] = await session.query<{ digest: string }>(
    `select count(*) || ' ' || coalesce(sum(hashtextextended(row(${names.map((name) => `l.${ident(name)}`).join(', ')})::text, 0)::numeric), 0) as digest
     from ${ident(schemaOf(relation), tableOf(relation))} l
     join ledger.member m using (member_id)
     join unnest($3::text[], $4::text[]) as p (series, place) on p.series = ${series} and p.place = coalesce(l.${ident(columns.place)}, '')
     where l.release_id = $1 and m.file_id = $2`,
    [file.releaseId, file.fileId, places.map(({ series: each }) => each), places.map(({ place }) => place)],
  );
  return found!.digest;
}

/** A layer as one release has it. */
export async function provideRelease(session: Session, schema: string, relation: Relation, releaseId: number): Promise<void> {
  await session.query(`create view ${ident(schema, tableOf(relation))} as select * from ${ident(schemaOf(relation), tableOf(relation))} where release_id = ${String(Math.trunc(releaseId))}`);
}

/** Notes which files of a release hold rows of a layer that knows no places. `member` must be there. */
export async function recordWholeFiles(session: Session, schema: string, layer: string, releaseId: number): Promise<void> {
  await session.query(
    `insert into ledger.file_place (file_id, layer, series, named, places)
     select distinct m.file_id, $1, '', true, array['']
     from (select distinct member_id from ${ident(schema, layer)}) l join ledger.member m on m.member_id = l.member_id and m.release_id = $2`, [layer, releaseId],
  );
}

/** Members of which a row says, in these columns, what one of another member of the same file says. */
export async function repeatingMembers(session: Session, schema: string, layer: string, columns: readonly string[]): Promise<number[]> {
  const key = `row(${columns.map((column) => `l.${ident(column)}`).join(', ')})::text`;
  const rows = await session.query<{ id: number }>(
    `with hashed as (select l.member_id, m.file_id, hashtextextended(${key}, 0) as hash from ${ident(schema, layer)} l join ${ident(schema, 'member')} m using (member_id)),
     repeated as (select file_id, hash from hashed group by file_id, hash having count(*) > 1)
     select distinct member_id as id from hashed join repeated using (file_id, hash)`,
  );
  return rows.map(({ id }) => id);
}

/** Region of each comune of the list, by cadastral code. */
export async function readRegister(session: Session, fileIds: readonly number[]): Promise<Map<string, number>> {
  const [there] = await session.query<{ there: boolean }>("select to_regclass('layer.comune_code') is not null as there");
  if (!there!.there || fileIds.length === 0) return new Map();
  const rows = await session.query<{ belfiore: string; region: number }>(
    `select c.belfiore, c.region_code::int4 as region from layer.comune_code c join ledger.member m on m.member_id = c.member_id
     where m.file_id = any ($1::int4[]) order by c.belfiore`, [[...fileIds]],
  );
  return new Map(rows.map(({ belfiore, region }) => [belfiore, region]));
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

/** A file whose rows a workspace sees, and its place among those of its source and kind: 1 is the newest. */
export interface RankedFile {
  readonly fileId: number;
  readonly rank: number;
  readonly vintage: string;
}

/**
 * The view `member_in_force (member_id, release_id, file_id, rank, vintage)` of a region's workspace: where files overlap that do not name comuni, it
 * says which is the newer. And the table `place_in_force`, which the views of layers read.
 */
export async function provideMembers(session: Session, schema: string, files: readonly RankedFile[]): Promise<void> {
  await session.query(`drop table if exists ${ident(schema, 'place_in_force')} cascade`);
  await session.query(`create table ${ident(schema, 'place_in_force')} (layer text not null, file_id int4 not null, series text not null, place text not null)`);
  const ranked = ident(schema, 'file_in_force');
  await session.query(`drop table if exists ${ranked} cascade`);
  await session.query(`create table ${ranked} (file_id int4 not null, rank int4 not null, vintage text not null)`);
  await session.query(
    `insert into ${ranked} select * from unnest($1::int4[], $2::int4[], $3::text[])`,
    [files.map(({ fileId }) => fileId), files.map(({ rank }) => rank), files.map(({ vintage }) => vintage)],
  );
  await session.query(
    `create view ${ident(schema, 'member_in_force')} as
     select m.member_id, m.release_id, m.file_id, f.rank, f.vintage from ledger.member m join ${ranked} f using (file_id)`,
  );
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

/** Of a table that is copied for the most part: a third of the usual sample tells the planner its sizes, and where its rows lie. */
export async function analyzeRoughly(session: Session, schema: string, table: string): Promise<void> {
  await session.query('set default_statistics_target to 30');
  await analyze(session, schema, table);
  await session.query('reset default_statistics_target');
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

/** A table by schema and name. */
export interface Place {
  readonly schema: string;
  readonly table: string;
}

function columnsOf(session: Session, { schema, table }: Place): Promise<{ name: string }[]> {
  return session.query('select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attname', [ident(schema, table)]);
}

/**
 * Makes `carried_member`: members of what is published (`was`) whose rows these releases hold unchanged as rows of another member (`now`).
 * @param layer what is in force of them; null: none is looked for
 * @returns rows of such members
 */
export async function pairMembers(session: Session, schema: string, published: Place, layer: Place | null, releaseIds: readonly number[]): Promise<number> {
  const pairs = ident(schema, 'carried_member');
  await session.query(
    `create table ${pairs} as
     select o.member_id as was, n.member_id as now, n.release_id, p.rows
     from (select member_id, count(*) as rows from ${ident(published.schema, published.table)} group by member_id) p
     join ledger.member o on o.member_id = p.member_id
     join ledger.member n on coalesce(n.taken_from, n.member_id) = coalesce(o.taken_from, o.member_id)
     ${layer === null ? '' : `-- All of its rows, and no others, are in force now.
     join (select member_id, count(*) as rows from ${ident(layer.schema, layer.table)} group by member_id) i on i.member_id = n.member_id and i.rows = p.rows`}
     where n.release_id in (${[...releaseIds.map((id) => String(Math.trunc(id))), 'null'].join(', ')})`,
  );
  await analyze(session, schema, 'carried_member');
  const [found] = await session.query<{ rows: number }>(`select coalesce(sum(rows), 0)::int8 as rows from ${pairs}`);
  return found!.rows;
}

/** Whether rows of a layer of several files in force say the same reference. */
export async function repeatsInFiles(session: Session, layer: Place): Promise<boolean> {
  const from = ident(layer.schema, layer.table);
  const [found] = await session.query<{ repeats: boolean }>(
    `select (select count(distinct file_id) from ${ident(layer.schema, 'member_in_force')} where release_id in (select release_id from ${from})) > 1
       and exists (select from ${from} group by hashtextextended(reference, 0) having count(*) > 1) as repeats`,
  );
  return found!.repeats;
}

/** A layer without the members that are carried over. */
export async function provideFresh(session: Session, schema: string, from: Place): Promise<void> {
  await session.query(
    `create view ${ident(schema, from.table)} as select l.* from ${ident(from.schema, from.table)} l
     where not exists (select from ${ident(schema, 'carried_member')} m where m.now = l.member_id)`,
  );
}

/**
 * Makes `changed_fid` and `changed_parcel`, as they are now: parcels that came, went, or of which anything but their provenance is another.
 * Rows of `carried_member` are known to be the same and not compared.
 * @returns how many changed
 */
export async function findChanged(session: Session, schema: string, was: Place, now: Place): Promise<number> {
  const columns = (await columnsOf(session, now)).filter(({ name }) => !PROVENANCE.includes(name)).map(({ name }) => `t.${ident(name)}`).join(', ');
  // offset 0: chosen first, then turned into text.
  const side = (place: Place, member: 'was' | 'now'): string => `select t.fid, row(${columns})::text as content from (
      select * from ${ident(place.schema, place.table)} r where not exists (select from ${ident(schema, 'carried_member')} m where m.${member} = r.member_id) offset 0
    ) t`;
  await session.query(
    `create table ${ident(schema, 'changed_fid')} as
     select fid from (${side(was, 'was')}) w full join (${side(now, 'now')}) n using (fid) where w.content is distinct from n.content`,
  );
  await session.query(`alter table ${ident(schema, 'changed_fid')} add primary key (fid)`);
  await analyze(session, schema, 'changed_fid');
  await makeParcels(session, schema, 'changed_parcel', `select t.* from ${ident(now.schema, now.table)} t join ${ident(schema, 'changed_fid')} c using (fid)`);
  return countRows(session, schema, 'changed_fid');
}

/** Parcels in the order and with the indexes that section SQL counts on. */
async function makeParcels(session: Session, schema: string, table: string, query: string): Promise<void> {
  const name = ident(schema, table);
  await session.query(`create table ${name} as select * from (${query}) q order by geom`);
  await session.query(`alter table ${name} add primary key (fid)`);
  await session.query(`create index on ${name} using gist (geom)`);
  await session.query(`create index on ${name} using gist (point)`);
  await analyze(session, schema, table);
}

/** Metres of a degree, fewer than anywhere in Italy: boxes in degrees become wider than the metres asked for. */
const M_OF_LONGITUDE = 74_000;
const M_OF_LATITUDE = 110_000;

/**
 * Makes `near_fid`, the parcels whose rows a change may reach (those that changed and those within so many metres of what changed, as it was and as it
 * is), and `near_parcel`, all parcels that the rows of those depend on.
 */
export async function findNear(session: Session, schema: string, was: Place, withinM: number): Promise<void> {
  const changed = ident(schema, 'changed_fid');
  const now = ident(schema, 'changed_parcel');
  const before = ident(was.schema, was.table);
  const near = ident(schema, 'near_fid');
  const around = (geometry: string): string => `st_expand(${geometry}, ${String(withinM / M_OF_LONGITUDE)}, ${String(withinM / M_OF_LATITUDE)})`;
  await session.query(
    `create table ${near} as
     select fid from ${changed}
     union
     select p.fid from (
       select geom from ${now}
       union all
       select w.geom from ${before} w join ${changed} using (fid)
     ) c join ${before} p on p.geom && ${around('c.geom')}`,
  );
  await session.query(`alter table ${near} add primary key (fid)`);
  await analyze(session, schema, 'near_fid');
  await makeParcels(session, schema, 'near_parcel',
    `select * from ${now}
     union all
     select p.* from ${before} p
     where not exists (select from ${changed} c where c.fid = p.fid)
       and p.fid in (
         select p.fid from (
           select geom from ${now}
           union all
           select w.geom from ${before} w join ${near} using (fid)
         ) c join ${before} p on p.geom && ${around('c.geom')}
       )`);
}

/**
 * Makes `sharing_fid`, the parcels that changed and those whose rows share a value of this column with one of them, as it was or as it is, and
 * `sharing_parcel`, these parcels as they are.
 * @param table rows of the parcels that changed, as they are
 */
export async function findSharing(session: Session, schema: string, parcels: Place, was: Place, table: string, column: string): Promise<void> {
  const changed = ident(schema, 'changed_fid');
  const before = ident(was.schema, was.table);
  const sharing = ident(schema, 'sharing_fid');
  await session.query(
    `create table ${sharing} as
     select fid from ${changed}
     union
     select w.fid from ${before} w where w.${ident(column)} in (
       select ${ident(column)} from ${ident(schema, table)}
       union
       select c.${ident(column)} from ${before} c join ${changed} using (fid)
     )`,
  );
  await session.query(`alter table ${sharing} add primary key (fid)`);
  await analyze(session, schema, 'sharing_fid');
  await makeParcels(session, schema, 'sharing_parcel',
    `select * from ${ident(schema, 'changed_parcel')}
     union all
     select p.* from ${ident(parcels.schema, parcels.table)} p join ${sharing} using (fid) where not exists (select from ${changed} c where c.fid = p.fid)`);
}

/** What section SQL sees as `parcel`: a view of this table. */
export async function provideParcelsOf(session: Session, schema: string, table: string): Promise<void> {
  await session.query(`create view ${ident(schema, 'parcel')} as select * from ${ident(schema, table)}`);
}

/**
 * Sets a result of some parcels apart as `name`, to be completed, and leaves a copy under its own name for what reads it next.
 * @param fids table of the parcels of which it is to hold the rows; others' rows are left out
 */
export async function setApart(session: Session, schema: string, table: string, name: string, fids: string): Promise<void> {
  await renameTable(session, schema, table, name);
  await session.query(`delete from ${ident(schema, name)} t where not exists (select from ${ident(schema, fids)} c where c.fid = t.fid)`);
  await session.query(`create table ${ident(schema, table)} as select * from ${ident(schema, name)}`);
  await analyze(session, schema, table);
}

/** True when two tables hold the same rows, with where each was read. */
export async function sameRows(session: Session, one: Place, other: Place): Promise<boolean> {
  const columns = (await columnsOf(session, other)).map(({ name }) => `t.${ident(name)}`).join(', ');
  const side = ({ schema, table }: Place): string => `select row(${columns})::text as content from ${ident(schema, table)} t`;
  const [found] = await session.query<{ same: boolean }>(
    `with one as materialized (${side(one)}), other as materialized (${side(other)})
     select not exists (select content from one except all select content from other) and not exists (select content from other except all select content from one) as same`,
  );
  return found!.same;
}

/**
 * What changes when rows of these parcels are replaced.
 * @returns whether nothing does; else rows and digest of the whole table when they are
 */
export async function replacing(
  session: Session, schema: string, table: string, was: Place, fids: string, before: { rows: number; digest: string },
): Promise<{ same: boolean; rows: number; digest: string }> {
  const names = (await columnsOf(session, was)).map(({ name }) => name);
  const row = (columns: readonly string[]): string => `row(${columns.map((name) => `t.${ident(name)}`).join(', ')})::text`;
  const side = (from: string): string => `select ${row(names)} as whole, hashtextextended(${row(names.filter((name) => !PROVENANCE.includes(name)))}, 0)::numeric as hash from ${from}`;
  const [found] = await session.query<{ same: boolean; rows: number; digest: string }>(
    `with n as materialized (${side(`${ident(schema, table)} t`)}),
     w as materialized (${side(`${ident(was.schema, was.table)} t join ${ident(schema, fids)} using (fid)`)})
     select not exists (select whole from n except all select whole from w) and not exists (select whole from w except all select whole from n) as same,
       $1::int8 + (select count(*) from n) - (select count(*) from w) as rows,
       ($2::numeric + (select coalesce(sum(hash), 0) from n) - (select coalesce(sum(hash), 0) from w))::text as digest`,
    [before.rows, before.digest],
  );
  return found!;
}

/**
 * Completes a table of some parcels with the published rows of the others, and moves it under its name into the workspace. Indexes are built
 * when all rows are there. Inside a transaction.
 * @param by `fid`: all but the rows of the parcels in the table `fids`; `member`: the rows of `carried_member`, with their provenance of now
 */
export async function complete(session: Session, from: Place, to: Place, was: Place, by: { readonly fids: string } | 'member'): Promise<void> {
  const table = ident(from.schema, from.table);
  const indexes = await session.query<{ name: string; definition: string; key: string | null }>(
    `select i.relname as name, pg_get_indexdef(i.oid) as definition, pg_get_constraintdef(c.oid) as key
     from pg_index x join pg_class i on i.oid = x.indexrelid left join pg_constraint c on c.conindid = i.oid
     where x.indrelid = to_regclass($1) order by i.oid`, [table],
  );
  for (const { name, key } of indexes) await session.query(key === null ? `drop index ${ident(from.schema, name)}` : `alter table ${table} drop constraint ${ident(name)}`);
  const names = (await columnsOf(session, from)).map(({ name }) => name);
  const value = (name: string): string => (by === 'member' && name === 'release_id' ? 'm.release_id' : by === 'member' && name === 'member_id' ? 'm.now' : `t.${ident(name)}`);
  await session.query(
    `insert into ${table} (${names.map((name) => ident(name)).join(', ')}) select ${names.map(value).join(', ')} from ${ident(was.schema, was.table)} t
     ${by === 'member' ? `join ${ident(from.schema, 'carried_member')} m on m.was = t.member_id` : `where not exists (select from ${ident(from.schema, by.fids)} c where c.fid = t.fid)`}`,
  );
  for (const { name, definition, key } of indexes) await session.query(key === null ? definition : `alter table ${table} add constraint ${ident(name)} ${key}`);
  await session.query(`alter table ${table} set schema ${ident(to.schema)}`);
  await renameTable(session, to.schema, from.table, to.table);
}
