/** Schemas, tables, partitions and views whose names the program generates: workspaces, releases and publications. */
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

/** Columns with the place where a row was read. These columns are not part of the row's content. */
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

/** Returns the schemas whose name starts with a prefix. */
export async function schemasLike(session: Session, prefix: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>('select nspname as name from pg_namespace where starts_with(nspname, $1) order by 1', [prefix]);
  return rows.map(({ name }) => name);
}

/** Sets the search path. Unqualified names are looked up in these schemas in order, and new objects are created in the first. */
export async function lookIn(session: Session, schemas: readonly string[]): Promise<void> {
  await session.query(`set search_path to ${[...schemas.map((schema) => ident(schema)), 'public'].join(', ')}`);
}

/**
 * Runs work inside a workspace, with its tables under unqualified names and memory settings for bulk work.
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

/** Creates a view in a workspace that returns the rows of a statement. */
async function provide(session: Session, schema: string, table: string, statement: string, names: Names = {}): Promise<void> {
  await session.query(workspace('view', { schema, view: table, rows: { sql: workspace(statement, names) } }));
}

/** Series (half-year, year or kind) and code of a comune or another unit. A value is empty if the layer does not have it. */
export interface SeriesPlace {
  readonly series: string;
  readonly place: string;
}

/** A file that is current for some places only. */
export interface FilePart {
  readonly fileId: number;
  readonly releaseId: number;
  readonly places: readonly SeriesPlace[];
}

/** Rows of a layer that a workspace reads: complete releases, complete files, or some places of files. */
export interface LayerRows {
  /** Releases that are completely current. */
  readonly releases: readonly number[];
  /** Files of other releases that are completely current. */
  readonly files: readonly { readonly fileId: number; readonly releaseId: number }[];
  /** Files that are current for some places only. */
  readonly parts: readonly FilePart[];
  /** Columns of the layer with series and place; null if the layer has none, and therefore no parts. */
  readonly columns: PlaceColumns | null;
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)];
}

/** Creates the view of a layer's current rows in a workspace. Needs `member_in_force` and `place_in_force`. */
export async function provideLayer(session: Session, schema: string, relation: Relation, { releases, files, parts, columns }: LayerRows): Promise<void> {
  const layer = tableOf(relation);
  const names = { schema, layer, from: placeOf(relation) };
  const rows: string[] = [];
  if (releases.length > 0) rows.push(workspace('rows_of_releases', { ...names, releases: distinct(releases) }));
  if (files.length > 0) {
    rows.push(workspace('rows_of_files', { ...names, releases: distinct(files.map(({ releaseId }) => releaseId)), files: distinct(files.map(({ fileId }) => fileId)) }));
  }
  if (parts.length > 0) {
    if (columns === null) throw new Error(`${relation} has no column that shows which of its rows are current`);
    const pairs = parts.flatMap(({ fileId, places }) => places.map((each) => ({ fileId, ...each })));
    await session.query(workspace('note_places', names), [layer, pairs.map(({ fileId }) => fileId), pairs.map(({ series }) => series), pairs.map(({ place }) => place)]);
    rows.push(workspace('rows_of_places', { ...names, releases: distinct(parts.map(({ releaseId }) => releaseId)), series: columns.series ?? [], place: columns.place }));
  }
  const sql = rows.length === 0 ? workspace('no_rows', names) : rows.join('\nunion all\n');
  await session.query(workspace('view', { schema, view: layer, rows: { sql } }));
}

/** Returns the digest of a file's rows for some places of a layer, independent of their position in the file. */
export async function digestOfPlaces(
  session: Session, relation: Relation, file: { readonly fileId: number; readonly releaseId: number }, columns: PlaceColumns, places: readonly SeriesPlace[],
): Promise<string> {
  const table = placeOf(relation);
  const names = { table, columns: await contentColumns(session, table), series: columns.series ?? [], place: columns.place };
  return (await one<{ digest: string }>(session, content('digest_of_places', names), [file.releaseId, file.fileId, places.map(({ series }) => series), places.map(({ place }) => place)])).digest;
}

/** Creates the view of one release's rows of a layer. */
export async function provideRelease(session: Session, schema: string, relation: Relation, releaseId: number): Promise<void> {
  await provide(session, schema, tableOf(relation), 'rows_of_releases', { from: placeOf(relation), releases: [releaseId] });
}

/** Records the files of a release that have rows in a layer without place columns. Needs `member`. */
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

/** Returns members with a row that repeats these columns of another member of the same file. */
export async function repeatingMembers(session: Session, schema: string, layer: string, columns: readonly string[]): Promise<number[]> {
  const rows = await session.query<{ id: number }>(workspace('repeating_members', { schema, layer, columns }));
  return rows.map(({ id }) => id);
}

/** Creates the view of a published table in a workspace: one partition, or the empty parent. */
export async function providePublished(session: Session, schema: string, relation: Relation, partition: string | null): Promise<void> {
  await provide(session, schema, tableOf(relation), partition === null ? 'no_rows' : 'all_rows', { from: await publishedAtHand(session, schema, relation, partition) });
}

/** Creates the same view as `standing_<table>`, for SQL that builds the replacement of the table. */
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

/** Creates the view of parcels for an explanation: the explained parcels, or all parcels of their comuni. */
export async function provideParcels(session: Session, schema: string, partition: string, fids: readonly number[], scope: 'one' | 'comune'): Promise<void> {
  const from = { schema: 'core', table: partition };
  const rows = { sql: workspace(scope === 'one' ? 'some_parcels' : 'parcels_of_comuni', { from, fids }) };
  // Parcels on other nodes cannot be joined with tables on the coordinator, so their rows are copied.
  await session.query(workspace((await isOnNodes(session, from)) ? 'rows' : 'view', { schema, view: 'parcel', rows }));
}

/** Creates the view `region (code, name)` with one row in a region's workspace. */
export async function provideRegion(session: Session, schema: string, code: number, name: string): Promise<void> {
  await provide(session, schema, 'region', 'region', { code, name });
}

/** A file that a workspace reads, and its rank within its source and kind: 1 is the newest. */
interface RankedFile {
  readonly fileId: number;
  readonly rank: number;
  readonly vintage: string;
}

/**
 * Creates the view `member_in_force (member_id, release_id, file_id, rank, vintage, may_be_cut)` in a region's workspace.
 * The view ranks overlapping files that do not name comuni. Also creates the table `place_in_force`, which the views of layers read.
 */
export async function provideMembers(session: Session, schema: string, files: readonly RankedFile[]): Promise<void> {
  await session.script(workspace('files_in_force', { schema }), 'sql/statements/workspace.sql, files_in_force');
  await session.query(workspace('note_files', { schema }), [files.map(({ fileId }) => fileId), files.map(({ rank }) => rank), files.map(({ vintage }) => vintage)]);
}

/** Drops all views and intermediate tables of a workspace except those to keep. */
export async function dropOthers(session: Session, schema: string, keep: ReadonlySet<string>): Promise<void> {
  await runEach(session, catalog('drop_others'), [schema, [...keep]]);
}

/** Returns the tables (not views) of a workspace. */
export async function tablesIn(session: Session, schema: string): Promise<string[]> {
  return (await session.query<{ name: string }>(catalog('tables'), [schema])).map(({ name }) => name);
}

/** Moves a table with its indexes to another schema. */
export async function giveTable(session: Session, from: Place, schema: string): Promise<void> {
  await session.query(`alter table ${ident(from.schema, from.table)} set schema ${ident(schema)}`);
}

export async function analyze(session: Session, schema: string, table: string): Promise<void> {
  await session.query(`analyze ${ident(schema, table)}`);
}

/** Analyzes a table that was mostly copied. A third of the usual sample is enough for the planner. */
export async function analyzeRoughly(session: Session, schema: string, table: string): Promise<void> {
  await session.query('set default_statistics_target to 30');
  await analyze(session, schema, table);
  await session.query('reset default_statistics_target');
}

export async function countRows(session: Session, schema: string, table: string): Promise<number> {
  return (await one<{ n: number }>(session, `select count(*) as n from ${ident(schema, table)}`)).n;
}

/** Counts the rows of a staged table per member, and its distinct positions. */
export async function countByMember(session: Session, schema: string, table: string): Promise<{ member_id: number; n: number; distinct_n: number }[]> {
  return session.query(`select member_id, count(*) as n, count(distinct position) as distinct_n from ${ident(schema, table)} group by member_id order by member_id`);
}

/** Returns the names of a table's columns in alphabetical order, without the given ones. */
export async function columnNames(session: Session, { schema, table }: Place, without: readonly string[] = []): Promise<string[]> {
  const columns = await session.query<{ name: string }>(catalog('columns'), [ident(schema, table)]);
  return columns.map(({ name }) => name).filter((name) => !without.includes(name));
}

/** Returns the columns with the content of rows, without their provenance. */
function contentColumns(session: Session, table: Place): Promise<string[]> {
  return columnNames(session, table, PROVENANCE);
}

/**
 * Returns the digest of a table's content. It does not depend on the order of rows or on where they were read: the same
 * content always has the same digest.
 */
export async function digestOf(session: Session, schema: string, name: string): Promise<{ rows: number; digest: string }> {
  const table = { schema, table: name };
  return one<{ rows: number; digest: string }>(session, content('digest', { table, columns: await contentColumns(session, table) }));
}

/** Copies the layer rows of members that another release already contains. */
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

/** Renames indexes after the partition before the table moves, because index names are unique in a schema. */
export async function renameIndexes(session: Session, schema: string, table: string, partition: string): Promise<void> {
  await runEach(session, catalog('rename_indexes'), [ident(schema, table), partition]);
}

/** How a parent table is partitioned; `whole`: the table is replaced as a whole. */
export type Split = 'release' | 'fid' | 'region' | 'whole';

/** Rows of a table that a partition has. */
interface Bound {
  readonly split: Split;
  /** Number of the release, or code of the region. */
  readonly key: number;
}

/** @throws Error for a parent with another partitioning: a bug of a migration */
export async function splitOf(session: Session, relation: Relation): Promise<Split> {
  if (!(await hasRelation(session, relation))) throw new Error(`${relation} is written by an SQL file but no migration creates it`);
  const key = await partitionKey(session, schemaOf(relation), tableOf(relation));
  switch (key) {
    case null: return 'whole';
    case 'LIST (release_id)': return 'release';
    case 'LIST (region_code)': return 'region';
    case 'RANGE (fid)': return 'fid';
    default: throw new Error(`${relation} is partitioned by ${key}, expected release_id, region_code or fid`);
  }
}

/** Returns the partition key of a table in PostgreSQL's words, or null if it is not partitioned. */
export async function partitionKey(session: Session, schema: string, table: string): Promise<string | null> {
  return (await one<{ key: string | null }>(session, 'select pg_get_partkeydef(to_regclass($1)) as key', [ident(schema, table)])).key;
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
 * Adds not-null and bound constraints in the workspace, so that attaching does not scan the table under a lock on the parent.
 * Columns get the collations of the parent.
 * @throws Error if columns differ (a bug of a SQL file); MappaleError if a row is outside the region or lacks a value
 */
export async function proveBound(session: Session, { schema, table }: Place, parent: Relation, { split, key }: Bound): Promise<void> {
  const tables = [ident(schemaOf(parent), tableOf(parent)), ident(schema, table)];
  const different = await session.query<{ name: string; wanted: string; found: string }>(catalog('differing_columns'), tables);
  if (different.length > 0) {
    throw new Error(`${parent} has other columns than the file that builds it: ${different.map(({ name, wanted, found }) => `${name} should be ${wanted}, is ${found}`).join('; ')}`);
  }
  await runEach(session, catalog('prove'), [...tables, split === 'whole' ? null : boundOf(split, key).check]);
}

/** Attaches a checked table to its parent as `partition`. A whole table takes the parent's name. Call inside a transaction. */
export async function attach(session: Session, from: Place, parent: Relation, partition: string, { split, key }: Bound): Promise<void> {
  const schema = schemaOf(parent);
  const name = split === 'whole' ? tableOf(parent) : partition;
  await renameIndexes(session, from.schema, from.table, partition);
  if (from.table !== name) await renameTable(session, from.schema, from.table, name);
  await giveTable(session, { schema: from.schema, table: name }, schema);
  if (split !== 'whole') {
    await session.query(`alter table ${ident(schema, tableOf(parent))} attach partition ${ident(schema, name)} ${boundOf(split, key).bound}`);
  }
}

/** Moves a published table into the schema `previous` under its partition name. Call inside a transaction. */
export async function detach(session: Session, parent: Relation, partition: string, split: Split): Promise<void> {
  const schema = schemaOf(parent);
  if (split !== 'whole') await session.query(`alter table ${ident(schema, tableOf(parent))} detach partition ${ident(schema, partition)}`);
  else await renameTable(session, schema, tableOf(parent), partition);
  await session.query(`alter table ${ident(schema, partition)} set schema previous`);
}

/** Copies the comments of a table and its columns, for tables that are replaced as a whole. */
export async function copyComments(session: Session, from: Place, to: Place): Promise<void> {
  await runEach(session, catalog('copy_comments'), [ident(from.schema, from.table), ident(to.schema, to.table)]);
}

/** Differences of one comune's rows between two publications of a table. */
export interface TableDifference extends Row {
  readonly comune: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Number of changed rows by column. Empty for tables with several rows per parcel. */
  readonly fields: Readonly<Record<string, number>>;
}

/**
 * Compares two partitions of one relation, comune by comune. Rows with a fid are matched by fid. Other rows are matched
 * by their whole content, so a change counts as one removed and one added row.
 * @param parcels core.parcel partitions of the two publications, which give the comune of each fid
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

/** Returns the rows of one parcel in a table as JSON, sorted if there are several. */
export async function rowsOf(session: Session, schema: string, table: string, fid: number): Promise<unknown[]> {
  const rows = await session.query<{ row: unknown }>(content('rows_of_parcel', { table: { schema, table } }), [fid]);
  return rows.map(({ row }) => row);
}

/** Runs statements of `copied_rows.sql` that create tables. */
async function make(session: Session, statement: string, names: Names): Promise<void> {
  await session.script(copiedRows(statement, names), `sql/statements/copied_rows.sql, ${statement}`);
}

/**
 * Creates `copied_member`: pairs of published members (`was`) and members of these releases (`now`) with identical rows.
 * @param layers views of the current rows; null: no members are compared
 * @returns the number of rows of such members
 */
export async function pairMembers(
  session: Session, schema: string, published: Place, layers: readonly Place[] | null, releaseIds: readonly number[],
): Promise<number> {
  const counted = (...tables: readonly Place[]): { sql: string } => ({ sql: tables.map((table) => copiedRows('counted_members', { table })).join('\nunion all\n') });
  const inForce = layers === null ? '' : copiedRows('in_force', { counted: counted(...layers) });
  await make(session, 'pair_members', { schema, published: counted(published), layer: { sql: inForce }, releases: releaseIds });
  return (await one<{ rows: number }>(session, copiedRows('paired_rows', { schema }))).rows;
}

/** Returns whether current rows of a layer from several files have the same reference. */
export async function repeatsInFiles(session: Session, layer: Place): Promise<boolean> {
  return (await one<{ repeats: boolean }>(session, copiedRows('repeats_in_files', { schema: layer.schema, layer }))).repeats;
}

/** Creates the view of a layer without members whose rows are copied. */
export async function provideFresh(session: Session, schema: string, from: Place): Promise<void> {
  await provide(session, schema, from.table, 'fresh_rows', { schema, from });
}

/** Kind of a set of parcels that a change affects. The kind is also the prefix of the table names `…_fid` and `…_parcel`. */
export type Reach = 'changed' | 'near' | 'sharing' | 'meeting';

async function makeFids(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  const fids = `${which}_fid`;
  await make(session, statement, { schema, fids, ...names });
  await make(session, 'known_fids', { schema, fids });
}

/** @param statement statement that selects the parcels */
async function makeParcels(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  await make(session, 'parcels', { schema, table: `${which}_parcel`, rows: { sql: copiedRows(statement, { schema, ...names }) } });
}

/** A statement that finds the parcels around given parcels. */
interface Reached {
  readonly which: 'near' | 'meeting';
  /** Creates the table `found` with the fids around given parcels. */
  readonly statement: string;
  readonly names: Names;
}

/** Creates the table of changed parcels and parcels found around them, and the table of all parcels that their rows depend on. */
async function findReached(session: Session, schema: string, was: Place, { which, statement, names }: Reached): Promise<void> {
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
 * Creates `changed_fid` and `changed_parcel` (current rows): parcels that were added, removed, or changed in any column but provenance.
 * Rows of `copied_member` are known to be identical and are not compared.
 * @returns the number of changed parcels
 */
export async function findChanged(session: Session, schema: string, was: Place, now: Place): Promise<number> {
  await makeFids(session, schema, 'changed', 'changed_fid', { was, now, columns: await contentColumns(session, now) });
  await makeParcels(session, schema, 'changed', 'changed_parcel', { now });
  return countRows(session, schema, 'changed_fid');
}

/** Metres per degree, less than anywhere in Italy, so that boxes in degrees are never smaller than the distance in metres. */
const M_OF_LONGITUDE = 74_000;
const M_OF_LATITUDE = 110_000;

/**
 * Creates `near_fid`, the parcels whose rows may change: changed parcels and those within a distance of the old or new
 * geometry. Also creates `near_parcel`, all parcels that their rows depend on.
 */
export async function findNear(session: Session, schema: string, was: Place, withinM: number): Promise<void> {
  await findReached(session, schema, was, { which: 'near', statement: 'within', names: { east: withinM / M_OF_LONGITUDE, north: withinM / M_OF_LATITUDE } });
}

/**
 * Creates `sharing_fid`: changed parcels, and parcels that share a value of a column with one of them, before or after the
 * change. Also creates `sharing_parcel`, the current rows of these parcels.
 * @param table current rows of the changed parcels
 */
export async function findSharing(
  session: Session, schema: string, parcels: Place, was: Place, { table, column }: { readonly table: string; readonly column: string },
): Promise<void> {
  await makeFids(session, schema, 'sharing', 'sharing_fid', { was, table, column });
  await makeParcels(session, schema, 'sharing', 'reached_parcel', { parcels, found: 'sharing_fid' });
}

/**
 * Creates `meeting_fid`: changed parcels, and parcels under a feature that a changed parcel is under, before or after. Also creates `meeting_parcel`, all
 * parcels under any feature that one of these is under. Bounding boxes decide, so the sets can only be too large.
 */
export async function findMeeting(session: Session, schema: string, was: Place, layers: readonly Place[]): Promise<void> {
  const features = layers.map((table) => copiedRows('features', { table })).join('\nunion all\n');
  await findReached(session, schema, was, { which: 'meeting', statement: 'under', names: { features: { sql: features } } });
}

/** Creates the view `parcel` of this table, which section SQL reads. */
export async function provideParcelsOf(session: Session, schema: string, table: string): Promise<void> {
  await provide(session, schema, 'parcel', 'all_rows', { from: { schema, table } });
}

/**
 * Renames a result for some parcels to `name`, to be completed later, and keeps a copy under the old name for SQL that reads it.
 * @param fids table of the parcels to keep; rows of other parcels are dropped
 */
export async function setApart(session: Session, schema: string, table: string, name: string, fids: string): Promise<void> {
  await renameTable(session, schema, table, name);
  await make(session, 'set_apart', { schema, table, whole: name, fids });
}

/** Returns whether two tables have the same rows, including provenance. */
export async function sameRows(session: Session, now: Place, was: Place): Promise<boolean> {
  return (await one<{ same: boolean }>(session, content('same', { now, was, columns: await columnNames(session, was) }))).same;
}

/**
 * Returns the effect of replacing the rows of some parcels.
 * @returns whether all rows stay the same, else row count and digest of the whole table after the replacement
 */
export async function replacing(
  session: Session, { schema, table }: Place, was: Place, fids: string, before: { rows: number; digest: string },
): Promise<{ same: boolean; rows: number; digest: string }> {
  const columns = await columnNames(session, was);
  const names = { schema, table, was, fids, columns, content: columns.filter((name) => !PROVENANCE.includes(name)) };
  return one<{ same: boolean; rows: number; digest: string }>(session, content('replacing', names), [before.rows, before.digest]);
}

/**
 * Adds the published rows of all other parcels to a table of some parcels, and moves it into the workspace. Indexes are built
 * after all rows were added. Call inside a transaction.
 * @param by `fid`: copy all rows except those of parcels in the table `fids`; `member`: copy the rows of `copied_member`, with their new provenance
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
