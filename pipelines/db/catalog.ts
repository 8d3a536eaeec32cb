/** Schemas, tables, partitions and views, whose names the program makes itself (workspaces, releases, publications). */
import { firstFid } from '../contract/regions.ts';
import type { PlaceColumns } from '../contract/source.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { atHand, isOnNodes } from './at-hand.ts';
import { sessionsNotKept } from './pooler.ts';
import { runEach, statementsOf, type Names, type Place } from './statements.ts';
import { ident, one, type Database, type Row, type Session } from './types.ts';

const catalog = statementsOf('catalog');
const content = statementsOf('content');
const copiedRows = statementsOf('copied_rows');
const workspace = statementsOf('workspace');

/** Columns that say where a row was read and not what it says. */
export const PROVENANCE: readonly string[] = ['release_id', 'member_id', 'position'];

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

/**
 * Work inside a workspace: unqualified names are its tables; memory as bulk work needs it.
 * @throws MappaleError `SESSIONS_NOT_KEPT` (exit 6) behind a pooler that keeps only transactions
 */
export async function inWorkspace<T>(database: Database, schema: string, work: (session: Session) => Promise<T>): Promise<T> {
  if (database.pooling === 'transaction') throw sessionsNotKept(database.label, 'transaction');
  return database.session(async (session) => {
    await lookIn(session, [schema]);
    const [sorting, indexing] = database.engine === 'postgres' ? ['256MB', '512MB'] : ['64MB', '64MB'];
    await session.script(`set work_mem to '${sorting}'; set maintenance_work_mem to '${indexing}'; set client_min_messages to 'warning'`, 'settings of a workspace');
    return work(session);
  });
}

function placeOf(relation: Relation): Place {
  return { schema: schemaOf(relation), table: tableOf(relation) };
}

/** Makes a statement's rows seen as this table of a workspace. */
async function provide(session: Session, schema: string, table: string, statement: string, names: Names = {}): Promise<void> {
  await session.query(workspace('view', { schema, view: table, rows: { sql: workspace(statement, names) } }));
}

/** Half-year, year or kind, and code of a comune or of another unit; empty where a layer knows none. */
export interface SeriesPlace {
  readonly series: string;
  readonly place: string;
}

/** A file of which some places are in force. */
export interface FilePart {
  readonly fileId: number;
  readonly releaseId: number;
  readonly places: readonly SeriesPlace[];
}

/** Which rows of a layer a workspace sees: all of some releases, all or some places of some files. */
export interface LayerRows {
  /** Releases that are in force as a whole. */
  readonly releases: readonly number[];
  /** Files of other releases that are in force as a whole. */
  readonly files: readonly { readonly fileId: number; readonly releaseId: number }[];
  /** Files of which some places are in force. */
  readonly parts: readonly FilePart[];
  /** Columns of the layer that say series and place; null: it has none, and no parts. */
  readonly columns: PlaceColumns | null;
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)];
}

/** A layer as a workspace sees it: what is in force of it, or nothing. `member_in_force` and `place_in_force` must be there. */
export async function provideLayer(session: Session, schema: string, relation: Relation, { releases, files, parts, columns }: LayerRows): Promise<void> {
  const layer = tableOf(relation);
  const names = { schema, layer, from: placeOf(relation) };
  const rows: string[] = [];
  if (releases.length > 0) rows.push(workspace('rows_of_releases', { ...names, releases: distinct(releases) }));
  if (files.length > 0) {
    rows.push(workspace('rows_of_files', { ...names, releases: distinct(files.map(({ releaseId }) => releaseId)), files: distinct(files.map(({ fileId }) => fileId)) }));
  }
  if (parts.length > 0) {
    if (columns === null) throw new Error(`${relation} has no column that says which of its rows are in force`);
    const pairs = parts.flatMap(({ fileId, places }) => places.map((each) => ({ fileId, ...each })));
    await session.query(workspace('note_places', names), [layer, pairs.map(({ fileId }) => fileId), pairs.map(({ series }) => series), pairs.map(({ place }) => place)]);
    rows.push(workspace('rows_of_places', { ...names, releases: distinct(parts.map(({ releaseId }) => releaseId)), series: columns.series ?? [], place: columns.place }));
  }
  const sql = rows.length === 0 ? workspace('no_rows', names) : rows.join('\nunion all\n');
  await session.query(workspace('view', { schema, view: layer, rows: { sql } }));
}

/** Digest of what one file says of some places of a layer, wherever in it that stands. */
export async function digestOfPlaces(
  session: Session, relation: Relation, file: { readonly fileId: number; readonly releaseId: number }, columns: PlaceColumns, places: readonly SeriesPlace[],
): Promise<string> {
  const table = placeOf(relation);
  const names = { table, columns: await contentColumns(session, table), series: columns.series ?? [], place: columns.place };
  return (await one<{ digest: string }>(session, content('digest_of_places', names), [file.releaseId, file.fileId, places.map(({ series }) => series), places.map(({ place }) => place)])).digest;
}

/** A layer as one release has it. */
export async function provideRelease(session: Session, schema: string, relation: Relation, releaseId: number): Promise<void> {
  await provide(session, schema, tableOf(relation), 'rows_of_releases', { from: placeOf(relation), releases: [releaseId] });
}

/** Notes which files of a release hold rows of a layer that knows no places. `member` must be there. */
export async function recordWholeFiles(session: Session, schema: string, layer: string, releaseId: number): Promise<void> {
  await session.query(workspace('note_whole_files', { schema, layer }), [layer, releaseId]);
}

/** Writes the places of the files of a layer into the ledger. */
export async function recordPlaces(session: Session, schema: string, layer: string, columns: PlaceColumns): Promise<void> {
  const { series = [], place, region, likelyRegion, istatCode, dated } = columns;
  const optional = (column: string | undefined): readonly string[] => (column === undefined ? [] : [column]);
  await session.query(workspace('note_layer_places', {
    schema, layer, series, place, region: optional(region), likely_region: optional(likelyRegion), istat_code: optional(istatCode), dated: optional(dated),
  }), [layer]);
}

/** Members of which a row says, in these columns, what one of another member of the same file says. */
export async function repeatingMembers(session: Session, schema: string, layer: string, columns: readonly string[]): Promise<number[]> {
  const rows = await session.query<{ id: number }>(workspace('repeating_members', { schema, layer, columns }));
  return rows.map(({ id }) => id);
}

/** A published table as a workspace sees it: one partition, or the empty parent. */
export async function providePublished(session: Session, schema: string, relation: Relation, partition: string | null): Promise<void> {
  await provide(session, schema, tableOf(relation), partition === null ? 'no_rows' : 'all_rows', { from: await publishedAtHand(session, schema, relation, partition) });
}

/** The same under another name, `standing_<table>`, for what takes its place. */
export async function provideStanding(session: Session, schema: string, relation: Relation, partition: string | null): Promise<void> {
  const from = await publishedAtHand(session, schema, relation, partition);
  await provide(session, schema, `standing_${tableOf(relation)}`, partition === null ? 'no_rows' : 'all_rows', { from });
}

function publishedAtHand(session: Session, schema: string, relation: Relation, partition: string | null): Promise<Place> {
  return atHand(session, schema, { schema: schemaOf(relation), table: partition ?? tableOf(relation) }, partition === null ? 'none' : 'all');
}

export async function hasRelation(session: Session, relation: Relation): Promise<boolean> {
  return (await one<{ there: boolean }>(session, 'select to_regclass($1) is not null as there', [ident(schemaOf(relation), tableOf(relation))])).there;
}

/** Parcels as an explanation sees them: those that it explains, or all parcels of their comuni. */
export async function provideParcels(session: Session, schema: string, partition: string, fids: readonly number[], scope: 'one' | 'comune'): Promise<void> {
  const from = { schema: 'core', table: partition };
  const rows = { sql: workspace(scope === 'one' ? 'some_parcels' : 'parcels_of_comuni', { from, fids }) };
  // On other nodes they cannot be joined with the tables here.
  await session.query(workspace((await isOnNodes(session, from)) ? 'rows' : 'view', { schema, view: 'parcel', rows }));
}

/** The one-row view `region (code, name)` of a region's workspace. */
export async function provideRegion(session: Session, schema: string, code: number, name: string): Promise<void> {
  await provide(session, schema, 'region', 'region', { code, name });
}

/** A file whose rows a workspace sees, and its place among those of its source and kind: 1 is the newest. */
export interface RankedFile {
  readonly fileId: number;
  readonly rank: number;
  readonly vintage: string;
}

/**
 * The view `member_in_force (member_id, release_id, file_id, rank, vintage, may_be_cut)` of a region's workspace: where files overlap that do not name comuni,
 * it says which is the newer. And the table `place_in_force`, which the views of layers read.
 */
export async function provideMembers(session: Session, schema: string, files: readonly RankedFile[]): Promise<void> {
  await session.script(workspace('files_in_force', { schema }), 'sql/statements/workspace.sql, files_in_force');
  await session.query(workspace('note_files', { schema }), [files.map(({ fileId }) => fileId), files.map(({ rank }) => rank), files.map(({ vintage }) => vintage)]);
}

/** Drops what a workspace holds beside this: views, which each run makes anew, and steps on the way to a result. */
export async function dropOthers(session: Session, schema: string, keep: ReadonlySet<string>): Promise<void> {
  await runEach(session, catalog('drop_others'), [schema, [...keep]]);
}

/** Tables (not views) of a workspace. */
export async function tablesIn(session: Session, schema: string): Promise<string[]> {
  return (await session.query<{ name: string }>(catalog('tables'), [schema])).map(({ name }) => name);
}

/** Gives a table to another schema, with its indexes. */
export async function giveTable(session: Session, from: Place, schema: string): Promise<void> {
  await session.query(`alter table ${ident(from.schema, from.table)} set schema ${ident(schema)}`);
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
  return (await one<{ n: number }>(session, `select count(*) as n from ${ident(schema, table)}`)).n;
}

/** Rows of a staged table per member, each (member_id, position) once. */
export async function countByMember(session: Session, schema: string, table: string): Promise<{ member_id: number; n: number; distinct_n: number }[]> {
  return session.query(`select member_id, count(*) as n, count(distinct position) as distinct_n from ${ident(schema, table)} group by member_id order by member_id`);
}

/** Names of columns, sorted, but these. */
export async function columnNames(session: Session, { schema, table }: Place, without: readonly string[] = []): Promise<string[]> {
  const columns = await session.query<{ name: string }>(catalog('columns'), [ident(schema, table)]);
  return columns.map(({ name }) => name).filter((name) => !without.includes(name));
}

/** Columns of what the rows say, wherever they were read. */
function contentColumns(session: Session, table: Place): Promise<string[]> {
  return columnNames(session, table, PROVENANCE);
}

/**
 * Digest of a table's content that does not depend on the order of rows, nor on where they were read: the same content gives the same
 * digest, whenever and however it was loaded.
 */
export async function digestOf(session: Session, schema: string, name: string): Promise<{ rows: number; digest: string }> {
  const table = { schema, table: name };
  return one<{ rows: number; digest: string }>(session, content('digest', { table, columns: await contentColumns(session, table) }));
}

/** Copies the layer rows of members that another release already holds. */
export async function copyMembers(
  session: Session,
  schema: string,
  layer: Relation,
  releaseId: number,
  members: readonly { readonly memberId: number; readonly fromMemberId: number; readonly fromReleaseId: number }[],
): Promise<void> {
  const from = placeOf(layer);
  const columns = await columnNames(session, from, ['release_id', 'member_id']);
  await session.query(
    copiedRows('members', { schema, layer: tableOf(layer), from, columns }),
    [releaseId, members.map((m) => m.memberId), members.map((m) => m.fromMemberId), members.map((m) => m.fromReleaseId)],
  );
}

/** Names of indexes are unique in a schema: give them the partition's name before the table moves. */
export async function renameIndexes(session: Session, schema: string, table: string, partition: string): Promise<void> {
  await runEach(session, catalog('rename_indexes'), [ident(schema, table), partition]);
}

/** How a parent is split, or that it is swapped whole. */
export type Split = 'release' | 'fid' | 'region' | 'whole';

/** @throws Error for a parent of another form: a bug of a migration */
export async function splitOf(session: Session, relation: Relation): Promise<Split> {
  if (!(await hasRelation(session, relation))) throw new Error(`${relation} is written by a SQL file but made by no migration`);
  const key = await partitionKey(session, schemaOf(relation), tableOf(relation));
  switch (key) {
    case null: return 'whole';
    case 'LIST (release_id)': return 'release';
    case 'LIST (region_code)': return 'region';
    case 'RANGE (fid)': return 'fid';
    default: throw new Error(`${relation} is partitioned by ${key}, expected release_id, region_code or fid`);
  }
}

/** What a table is partitioned by, as PostgreSQL says it; null: it is not. */
export async function partitionKey(session: Session, schema: string, table: string): Promise<string | null> {
  return (await one<{ key: string | null }>(session, 'select pg_get_partkeydef(to_regclass($1)) as key', [ident(schema, table)])).key;
}

/** The bound of a partition, as a condition of its rows and as attaching says it. */
export function boundOf(split: Exclude<Split, 'whole'>, key: number): { check: string; bound: string } {
  if (split === 'fid') {
    const [from, to] = [firstFid(key), firstFid(key + 1)];
    return { check: `fid >= ${from} and fid < ${to}`, bound: `for values from (${from}) to (${to})` };
  }
  return { check: `${split === 'release' ? 'release_id' : 'region_code'} = ${key}`, bound: `for values in (${key})` };
}

/**
 * Proves in the workspace, outside any lock on the parent, what attaching would otherwise scan for: not null and the bound.
 * Collations that a query left on its columns become the parent's.
 * @throws Error when columns differ: a bug of a SQL file; MappaleError when a row does not belong to the region or lacks a value
 */
export async function proveBound(session: Session, schema: string, table: string, parent: Relation, split: Split, key: number): Promise<void> {
  const tables = [ident(schemaOf(parent), tableOf(parent)), ident(schema, table)];
  const different = await session.query<{ name: string; wanted: string; found: string }>(catalog('differing_columns'), tables);
  if (different.length > 0) {
    throw new Error(`${parent} has other columns than the file that makes it: ${different.map(({ name, wanted, found }) => `${name} should be ${wanted}, is ${found}`).join('; ')}`);
  }
  await runEach(session, catalog('prove'), [...tables, split === 'whole' ? null : boundOf(split, key).check]);
}

/** Moves a proven table under its parent, as `partition`. Inside a transaction. For a whole table: it takes the parent's name. */
export async function attach(session: Session, from: Place, parent: Relation, partition: string, split: Split, key: number): Promise<void> {
  const schema = schemaOf(parent);
  const name = split === 'whole' ? tableOf(parent) : partition;
  await renameIndexes(session, from.schema, from.table, partition);
  if (from.table !== name) await renameTable(session, from.schema, from.table, name);
  await giveTable(session, { schema: from.schema, table: name }, schema);
  if (split !== 'whole') {
    await session.query(`alter table ${ident(schema, tableOf(parent))} attach partition ${ident(schema, name)} ${boundOf(split, key).bound}`);
  }
}

/** Takes a published table out into `previous` under its partition name. Inside a transaction. */
export async function detach(session: Session, parent: Relation, partition: string, split: Split): Promise<void> {
  const schema = schemaOf(parent);
  if (split !== 'whole') await session.query(`alter table ${ident(schema, tableOf(parent))} detach partition ${ident(schema, partition)}`);
  else await renameTable(session, schema, tableOf(parent), partition);
  await session.query(`alter table ${ident(schema, partition)} set schema previous`);
}

/** Copies a comment of the parent and of its columns, for tables that are swapped whole. */
export async function copyComments(session: Session, from: Place, to: Place): Promise<void> {
  await runEach(session, catalog('copy_comments'), [ident(from.schema, from.table), ident(to.schema, to.table)]);
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
export async function compareTables(session: Session, was: Place, now: Place, parcels: Readonly<Record<'was' | 'now', Place>>): Promise<TableDifference[]> {
  const found = await session.query<{ name: string; key: boolean }>(catalog('columns'), [ident(now.schema, now.table)]);
  const columns = found.map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
  const isPlaced = columns.includes('belfiore');
  const single = found.some(({ name, key }) => name === 'fid' && key);
  const [statement, comune] = single ? ['parcels_with_one_row', isPlaced ? 't.belfiore' : 'p.belfiore']
    : columns.includes('fid') ? ['parcels_with_rows', ''] : ['rows_by_content', isPlaced ? 't.belfiore' : "''"];
  const side = (table: Place, of: Place): { sql: string } => ({ sql: content(statement, { table, parcels: of, columns, comune: { sql: comune } }) });
  const fields = single ? columns.filter((name) => name !== 'fid').map((name) => content('changed_field', { name })).join(', ') : '';
  const rows = await session.query<TableDifference>(content('differences', { was: side(was, parcels.was), now: side(now, parcels.now), fields: { sql: fields } }));
  return rows.map((row) => ({ ...row, fields: Object.fromEntries(Object.entries(row.fields).filter(([, count]) => count > 0)) }));
}

/** A table's row of one parcel as JSON, from a workspace or from what is published; its rows in order where there are several. */
export async function rowsOf(session: Session, schema: string, table: string, fid: number): Promise<unknown[]> {
  const rows = await session.query<{ row: unknown }>(content('rows_of_parcel', { table: { schema, table } }), [fid]);
  return rows.map(({ row }) => row);
}

/** Runs statements about copied rows, which make tables. */
async function make(session: Session, statement: string, names: Names): Promise<void> {
  await session.script(copiedRows(statement, names), `sql/statements/copied_rows.sql, ${statement}`);
}

/**
 * Makes `copied_member`: members of what is published (`was`) whose rows these releases hold unchanged as rows of another member (`now`).
 * @param layers what is in force of them; null: none is looked for
 * @returns rows of such members
 */
export async function pairMembers(
  session: Session, schema: string, published: Place, layers: readonly Place[] | null, releaseIds: readonly number[],
): Promise<number> {
  const counted = (...tables: readonly Place[]): { sql: string } => ({ sql: tables.map((table) => copiedRows('counted_members', { table })).join('\nunion all\n') });
  const inForce = layers === null ? '' : copiedRows('in_force', { counted: counted(...layers) });
  await make(session, 'pair_members', { schema, published: counted(published), layer: { sql: inForce }, releases: releaseIds });
  return (await one<{ rows: number }>(session, copiedRows('paired_rows', { schema }))).rows;
}

/** Whether rows of a layer of several files in force say the same reference. */
export async function repeatsInFiles(session: Session, layer: Place): Promise<boolean> {
  return (await one<{ repeats: boolean }>(session, copiedRows('repeats_in_files', { schema: layer.schema, layer }))).repeats;
}

/** A layer without the members whose rows are copied. */
export async function provideFresh(session: Session, schema: string, from: Place): Promise<void> {
  await provide(session, schema, from.table, 'fresh_rows', { schema, from });
}

/** Which parcels a change reaches: the beginning of the names of their tables, `_fid` and `_parcel`. */
export type Reach = 'changed' | 'near' | 'sharing' | 'meeting';

async function makeFids(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  const fids = `${which}_fid`;
  await make(session, statement, { schema, fids, ...names });
  await make(session, 'known_fids', { schema, fids });
}

/** @param statement of their rows */
async function makeParcels(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  await make(session, 'parcels', { schema, table: `${which}_parcel`, rows: { sql: copiedRows(statement, { schema, ...names }) } });
}

/**
 * Makes the tables of parcels that changed or are found around one that did, and of all parcels that the rows of those depend on, which are found around them.
 * @param statement makes the table `found`, of the fids of those around some
 */
async function findReached(session: Session, schema: string, which: 'near' | 'meeting', was: Place, statement: string, names: Names): Promise<void> {
  const find = async (around: Reach): Promise<{ found: string }> => {
    const found = `${statement}_${around}`;
    const shapes = { sql: copiedRows('shapes', { schema, was, fids: `${around}_fid` }) };
    await make(session, statement, { schema, was, shapes, found, shape: `shape_${around}`, feature: `feature_${around}`, ...names });
    return { found };
  };
  await makeFids(session, schema, which, 'reached_fid', await find('changed'));
  await makeParcels(session, schema, which, 'reached_parcel', { parcels: was, ...await find(which) });
}

/**
 * Makes `changed_fid` and `changed_parcel`, as they are now: parcels that came, went, or of which anything but their provenance is another.
 * Rows of `copied_member` are known to be the same and not compared.
 * @returns how many changed
 */
export async function findChanged(session: Session, schema: string, was: Place, now: Place): Promise<number> {
  await makeFids(session, schema, 'changed', 'changed_fid', { was, now, columns: await contentColumns(session, now) });
  await makeParcels(session, schema, 'changed', 'changed_parcel', { now });
  return countRows(session, schema, 'changed_fid');
}

/** Metres of a degree, fewer than anywhere in Italy: boxes in degrees become wider than the metres asked for. */
const M_OF_LONGITUDE = 74_000;
const M_OF_LATITUDE = 110_000;

/**
 * Makes `near_fid`, the parcels whose rows a change may reach (those that changed and those within so many metres of what changed, as it was and as it
 * is), and `near_parcel`, all parcels that the rows of those depend on.
 */
export async function findNear(session: Session, schema: string, was: Place, withinM: number): Promise<void> {
  await findReached(session, schema, 'near', was, 'within', { east: withinM / M_OF_LONGITUDE, north: withinM / M_OF_LATITUDE });
}

/**
 * Makes `sharing_fid`, the parcels that changed and those whose rows share a value of this column with one of them, as it was or as it is, and
 * `sharing_parcel`, these parcels as they are.
 * @param table rows of the parcels that changed, as they are
 */
export async function findSharing(session: Session, schema: string, parcels: Place, was: Place, table: string, column: string): Promise<void> {
  await makeFids(session, schema, 'sharing', 'sharing_fid', { was, table, column });
  await makeParcels(session, schema, 'sharing', 'reached_parcel', { parcels, found: 'sharing_fid' });
}

/**
 * Makes `meeting_fid`, the parcels that changed and those under a feature that a change lies under, as it was or as it is, and `meeting_parcel`, all parcels
 * that the rows of those depend on: under any feature that one of them lies under. Boxes decide, which are never too few.
 */
export async function findMeeting(session: Session, schema: string, was: Place, layers: readonly Place[]): Promise<void> {
  const features = layers.map((table) => copiedRows('features', { table })).join('\nunion all\n');
  await findReached(session, schema, 'meeting', was, 'under', { features: { sql: features } });
}

/** What section SQL sees as `parcel`: a view of this table. */
export async function provideParcelsOf(session: Session, schema: string, table: string): Promise<void> {
  await provide(session, schema, 'parcel', 'all_rows', { from: { schema, table } });
}

/**
 * Sets a result of some parcels apart as `name`, to be completed, and leaves a copy under its own name for what reads it next.
 * @param fids table of the parcels of which it is to hold the rows; others' rows are left out
 */
export async function setApart(session: Session, schema: string, table: string, name: string, fids: string): Promise<void> {
  await renameTable(session, schema, table, name);
  await make(session, 'set_apart', { schema, table, whole: name, fids });
}

/** True when two tables hold the same rows, with where each was read. */
export async function sameRows(session: Session, now: Place, was: Place): Promise<boolean> {
  return (await one<{ same: boolean }>(session, content('same', { now, was, columns: await columnNames(session, was) }))).same;
}

/**
 * What changes when rows of these parcels are replaced.
 * @returns whether nothing does; else rows and digest of the whole table when they are
 */
export async function replacing(
  session: Session, schema: string, table: string, was: Place, fids: string, before: { rows: number; digest: string },
): Promise<{ same: boolean; rows: number; digest: string }> {
  const columns = await columnNames(session, was);
  const names = { schema, table, was, fids, columns, content: columns.filter((name) => !PROVENANCE.includes(name)) };
  return one<{ same: boolean; rows: number; digest: string }>(session, content('replacing', names), [before.rows, before.digest]);
}

/**
 * Completes a table of some parcels with the published rows of the others, and moves it under its name into the workspace. Indexes are built
 * when all rows are there. Inside a transaction.
 * @param by `fid`: all but the rows of the parcels in the table `fids`; `member`: the rows of `copied_member`, with their provenance of now
 */
export async function complete(session: Session, from: Place, to: Place, was: Place, by: { readonly fids: string } | 'member'): Promise<void> {
  const { schema } = from;
  const table = ident(schema, from.table);
  const indexes = await session.query<{ drops: string; makes: string }>(catalog('indexes'), [table]);
  for (const { drops } of indexes) await session.query(drops);
  await session.query(by === 'member'
    ? copiedRows('complete_by_member', { schema, table: from.table, was, columns: await columnNames(session, from, ['release_id', 'member_id']) })
    : copiedRows('complete_by_parcel', { schema, table: from.table, was, fids: by.fids, columns: await columnNames(session, from) }));
  for (const { makes } of indexes) await session.query(makes);
  await giveTable(session, from, to.schema);
  await renameTable(session, to.schema, from.table, to.table);
}
