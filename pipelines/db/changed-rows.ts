/**
 * Finds the parcels whose rows an incremental build must create, and the published rows to replace. A document is a member of the cadastre's files that is
 * identified across releases by file name and path.
 */
import { tableOf, type Relation } from '../contract/sql-files.ts';
import { contentColumns } from './comparing.ts';
import { columnNames, columnsOf, countRows } from './ddl.ts';
import { provide } from './layers.ts';
import { placeOf, statementsOf, type Names, type Part, type Place } from './statements.ts';
import { one, type Session } from './types.ts';

const changedRows = statementsOf('changed_rows');

/** Copies the rows of `members` from earlier releases into a layer table of the workspace `schema`. */
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
    changedRows('members', { schema, layer: tableOf(layer), from, columns }),
    [releaseId, members.map((m) => m.memberId), members.map((m) => m.fromMemberId), members.map((m) => m.fromReleaseId)],
  );
}

/** Runs a named statement of `changed_rows.sql`, which may consist of several SQL statements. */
async function make(session: Session, statement: string, names: Names): Promise<void> {
  await session.script(changedRows(statement, names), `sql/statements/changed_rows.sql, ${statement}`);
}

/**
 * Creates the table `same_document` of documents whose parcels have not changed. These documents have the same bytes in the published files and in the current
 * files, and as many current rows as published parcels. Also creates the empty table `same_parcel`.
 * @param build workspace of the region
 * @param layers tables of the workspace with the current rows; if the list is empty, no documents are compared
 */
export async function findSameDocuments(
  session: Session, schema: string, was: Place,
  { region, build, layers }: { readonly region: number; readonly build: string; readonly layers: readonly string[] },
): Promise<void> {
  await make(session, 'no_same_parcels', { schema });
  if (layers.length === 0) await make(session, 'no_same_documents', { schema });
  else {
    const counted = { sql: layers.map((table) => changedRows('counted_members', { table: { schema: build, table } })).join('\nunion all\n') };
    await make(session, 'same_documents', { schema, build, was, counted, region });
  }
}

/**
 * Fills `same_parcel` with the rows of the members in `fresh` that equal a published parcel. Rows are compared in all columns that a layer and the parcels have
 * in common.
 * @returns the number of parcels in `same_document` and `same_parcel`
 */
export async function findSameParcels(session: Session, schema: string, was: Place, fresh: readonly FreshMembers[]): Promise<number> {
  const parcelColumns = new Set(await contentColumns(session, was));
  const rows: string[] = [];
  for (const { layer, members } of fresh) {
    const columns = (await columnNames(session, layer)).filter((name) => parcelColumns.has(name));
    rows.push(changedRows('same_parcels_of_layer', { build: layer.schema, layer, was, columns, members }));
  }
  await make(session, 'same_parcels', { schema, rows: { sql: rows.join('\nunion all\n') } });
  return (await one<{ rows: number }>(session, changedRows('same_rows', { schema }))).rows;
}

/** Empties `same_document` and `same_parcel`, so that all parcels are built and compared. */
export async function forgetSameParcels(session: Session, schema: string): Promise<void> {
  await make(session, 'forget_same_parcels', { schema });
}

/** Returns the query for the current members that have rows in a layer of the workspace. */
function membersWithRows(layer: Place): Part {
  return { sql: changedRows('members_with_rows', { build: layer.schema, layer }) };
}

/** Returns whether current rows of a layer come from several files and any two rows of the layer have the same cadastral reference. */
export async function repeatsInFiles(session: Session, layer: Place): Promise<boolean> {
  return (await one<{ repeats: boolean }>(session, changedRows('repeats_in_files', { layer, members: membersWithRows(layer) }))).repeats;
}

/** A layer of the workspace, and its current members whose document is not in `same_document`. */
export interface FreshMembers {
  readonly layer: Place;
  readonly members: readonly number[];
}

/** Returns the current members with rows in each layer of the workspace, except members whose document is in `same_document`. */
export async function freshMembersOf(session: Session, schema: string, layers: readonly Place[]): Promise<FreshMembers[]> {
  const found: FreshMembers[] = [];
  for (const layer of layers) {
    const rows = await session.query<{ id: number }>(changedRows('fresh_members', { schema, members: membersWithRows(layer) }));
    found.push({ layer, members: rows.map(({ id }) => id) });
  }
  return found;
}

/** Copies the rows of fresh members, except the rows in `same_parcel`, to a table with the name of the layer. */
export async function provideFresh(session: Session, schema: string, { layer, members }: FreshMembers): Promise<void> {
  await make(session, 'fresh_rows', { schema, table: layer.table, from: layer, members });
}

/** Name of a set of parcels, such as `changed`, `near` or `meeting`. The tables of the set have this name as prefix: `…_fid` and, if needed, `…_parcel`. */
export type Reach = string;

async function makeFids(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  const fids = `${which}_fid`;
  await make(session, statement, { schema, fids, ...names });
  await make(session, 'known_fids', { schema, fids });
}

/** Creates the table `…_parcel` of a set. @param statement name of the statement that selects the parcels */
async function makeParcels(session: Session, schema: string, which: Reach, statement: string, names: Names): Promise<void> {
  await make(session, 'parcels', { schema, table: `${which}_parcel`, rows: { sql: changedRows(statement, { schema, ...names }) } });
}

/** A set of the parcels around given parcels, and the statement that finds the parcels of this set. */
interface Reached {
  readonly which: 'near' | 'meeting';
  /** Name of the statement that creates a table of the fids around given parcels. */
  readonly statement: string;
  /** Returns further names that the statement needs. @param shape table of the shapes of the given parcels */
  readonly names: (shape: Place) => Names;
}

/**
 * Creates the table `…_fid` of the changed parcels and the parcels around changed parcels. Also creates the table `…_parcel` of all parcels on which the rows
 * of these parcels depend.
 */
async function findReached(session: Session, schema: string, was: Place, { which, statement, names }: Reached): Promise<void> {
  const find = async (around: Reach): Promise<{ found: string }> => {
    const found = `${statement}_${around}`;
    const shapes = { sql: changedRows('shapes', { schema, was, fids: `${around}_fid` }) };
    const shape = `shape_${around}`;
    await make(session, statement, { schema, was, shapes, found, shape, feature: `feature_${around}`, ...names({ schema, table: shape }) });
    return { found };
  };
  await makeFids(session, schema, which, 'reached_fid', await find('changed'));
  await makeParcels(session, schema, which, 'reached_parcel', { parcels: was, ...await find(which) });
}

/**
 * Creates `changed_fid` with the fids of parcels that were added, removed, or changed in any column except the provenance. Also creates `changed_parcel` with
 * the current rows. Parcels of documents in `same_document`, and parcels in `same_parcel`, are identical and are not compared.
 * @returns the number of changed parcels
 */
export async function findChanged(session: Session, schema: string, was: Place, now: Place): Promise<number> {
  await makeFids(session, schema, 'changed', 'changed_fid', { was, now, columns: await contentColumns(session, now) });
  await makeParcels(session, schema, 'changed', 'changed_parcel', { now });
  return countRows(session, schema, 'changed_fid');
}

/**
 * Metres per degree of longitude. The value is lower than the true value anywhere in Italy. A box in degrees therefore always contains the circle whose radius
 * is the distance in metres.
 */
const M_OF_LONGITUDE = 74_000;

const M_OF_LATITUDE = 110_000;

/**
 * Creates `near_fid` with the changed parcels and all parcels within a distance of their old or new geometry. Also creates `near_parcel` with all parcels on
 * which the rows of these parcels depend. Bounding boxes are compared, so the sets may be too large, but never too small.
 */
export async function findNear(session: Session, schema: string, was: Place, withinM: number): Promise<void> {
  await findReached(session, schema, was, { which: 'near', statement: 'within', names: () => ({ east: withinM / M_OF_LONGITUDE, north: withinM / M_OF_LATITUDE }) });
}

/** Creates the table `…_fid` of a set: the changed parcels, and other given parcels. @param others tables with the fids of the other parcels */
export async function findFids(session: Session, schema: string, reach: Reach, others: readonly Place[]): Promise<void> {
  await makeFids(session, schema, reach, 'with_others', { others: { sql: others.map((table) => changedRows('or_fids_of', { table })).join('\n') } });
}

/**
 * Creates the tables `…_fid` and `…_parcel` of a set. The set consists of the changed parcels and of other given parcels.
 * @param others tables with the fids of the other parcels
 */
export async function findWith(session: Session, schema: string, reach: Reach, parcels: Place, others: readonly Place[]): Promise<void> {
  await findFids(session, schema, reach, others);
  await makeParcels(session, schema, reach, 'reached_parcel', { parcels, found: `${reach}_fid` });
}

/** A set of parcels that share a value of a column, and the tables for finding these parcels. */
interface Sharing {
  readonly reach: Reach;
  /** Set of parcels from which the search starts. */
  readonly start: Reach;
  /** Table of the published parcels. */
  readonly parcels: Place;
  /** Published table that has the column. */
  readonly was: Place;
  /** Table with the current rows of the parcels in `start`. */
  readonly table: string;
  readonly column: string;
}

/**
 * Creates the tables `…_fid` and `…_parcel` of the set `reach`. The set consists of the parcels of the set `start`, and of further published parcels. Each
 * further parcel has the same value in `column` as a parcel of `start` before or after the change.
 */
export async function findSharing(session: Session, schema: string, { reach, start, parcels, was, table, column }: Sharing): Promise<void> {
  await makeFids(session, schema, reach, 'sharing_fid', { was, table, column, start: `${start}_fid`, values: `${reach}_value` });
  await makeParcels(session, schema, reach, 'reached_parcel', { parcels, found: `${reach}_fid` });
}

/** Returns whether a set contains all parcels of these tables. @param others tables with the fids of the parcels */
export async function areReached(session: Session, schema: string, reach: Reach, others: readonly Place[]): Promise<boolean> {
  for (const table of others) {
    if (!(await one<{ reached: boolean }>(session, changedRows('are_reached', { schema, fids: `${reach}_fid`, table }))).reached) return false;
  }
  return true;
}

/** Returns the name of the table that receives the new rows of a published table. @param table name of the published table */
export function newRows(table: string): string {
  return `${table}_new`;
}

/** Creates a view with the name `table`, which reads the table that `newRows` names. */
export async function provideNew(session: Session, schema: string, table: string): Promise<void> {
  await provide(session, schema, table, 'all_rows', { from: { schema, table: newRows(table) } });
}

/** Creates a view of the rows of some parcels. @param parcels table in `schema` with the fids of the parcels */
export async function provideRowsOf(
  session: Session, schema: string, { to, from, parcels }: { readonly to: string; readonly from: Place; readonly parcels: string },
): Promise<void> {
  await provide(session, schema, to, 'rows_of_some_parcels', { from, parcels: { schema, table: parcels } });
}

/** A published table, the patch, and the parcels whose rows are selected. */
interface PatchedRows extends Pick<Patch, 'fids' | 'came' | 'columns'> {
  /** Published table. */
  readonly was: Place;
  /** Table with the fids of the parcels. */
  readonly parcels: Place;
}

/** Returns the SQL for the rows of some parcels in a published table after a patch. */
export function patchedRows({ was, fids, came, columns, parcels }: PatchedRows): Part {
  return { sql: changedRows('patched_rows', { was, fids, came, columns, parcels }) };
}

/** Creates a view of the rows of some parcels in a published table after a patch. @param parcels table in `schema` with the fids of the parcels */
export async function providePatchedRowsOf(
  session: Session, schema: string,
  { to, was, patch, parcels }: { readonly to: string; readonly was: Place; readonly patch: Patch; readonly parcels: string },
): Promise<void> {
  const rows = patchedRows({ was, ...patch, parcels: { schema, table: parcels } });
  await session.query(statementsOf('workspace')('view', { schema, view: to, rows }));
}

/**
 * Creates `meeting_fid` with the changed parcels and the parcels that overlap the same feature as a changed parcel, before or after the change. Also creates
 * `meeting_parcel` with all parcels that overlap the same feature as a parcel of `meeting_fid`. Bounding boxes are compared, so the sets may be too large, but
 * never too small.
 */
export async function findMeeting(session: Session, schema: string, was: Place, layers: readonly Place[]): Promise<void> {
  const names = (shape: Place): Names => ({ features: { sql: layers.map((table) => changedRows('features', { schema: shape.schema, shape: shape.table, table })).join('\nunion all\n') } });
  await findReached(session, schema, was, { which: 'meeting', statement: 'under', names });
}

/** Deletes all rows of a table except the rows of the parcels in the table `fids`. */
export async function keepReached(session: Session, schema: string, table: string, fids: string): Promise<void> {
  await make(session, 'only_reached', { schema, table, fids });
}

/** The difference between a published table and its new version, as tables of rows. */
export interface Patch {
  /** Table with the fids of the parcels whose rows differ. */
  readonly fids: Place;
  /** Table with the published rows of these parcels. */
  readonly gone: Place;
  /** Table with the new rows of these parcels. */
  readonly came: Place;
  /** Names of the columns of the published table, in alphabetical order. */
  readonly columns: readonly string[];
}

/**
 * Compares new rows with the published rows of the same parcels.
 * @param table table of the new rows, in `schema`
 * @param reached table with the fids of the compared parcels, in `schema`
 * @returns null if all rows are equal
 */
export async function makePatch(session: Session, schema: string, table: string, was: Place, reached: string): Promise<Patch | null> {
  const columns = await columnsOf(session, was);
  const isSingle = columns.some(({ name, key }) => name === 'fid' && key);
  return patchOf(session, schema, table, was, { statement: isSingle ? 'other_row' : 'other_rows', names: { reached }, columns: columns.map(({ name }) => name) });
}

/**
 * Finds the parcels to replace: changed parcels, and unchanged parcels that are now in a different document.
 * @param table table of the new parcels, in `schema`
 * @returns null if no parcel must be replaced
 */
export async function makeParcelPatch(session: Session, schema: string, table: string, was: Place): Promise<Patch | null> {
  return patchOf(session, schema, table, was, { statement: 'other_parcels', names: {}, columns: await columnNames(session, was) });
}

/** The statement that finds the parcels whose rows differ, with the names in the statement and the columns of the published table. */
interface Finding {
  readonly statement: 'other_row' | 'other_rows' | 'other_parcels';
  readonly names: Names;
  readonly columns: readonly string[];
}

/** Creates the tables of a patch: fids, published rows and new rows. Returns null if no row differs. */
async function patchOf(session: Session, schema: string, table: string, was: Place, { statement, names, columns }: Finding): Promise<Patch | null> {
  const patch = { fids: `${table}_patch`, gone: `${table}_gone`, came: `${table}_came` };
  await make(session, statement, { schema, table, was, columns, ...patch, ...names });
  if ((await countRows(session, schema, patch.fids)) === 0) return null;
  await make(session, 'known_fids', { schema, fids: patch.fids });
  await make(session, 'replaced_rows', { schema, table, was, ...patch });
  return { fids: { schema, table: patch.fids }, gone: { schema, table: patch.gone }, came: { schema, table: patch.came }, columns };
}

/**
 * Copies a view of parcels into a table with the indexes that the SQL of sections needs. The view then reads this table.
 * @param table name of the table, created in `schema`
 */
export async function indexParcels(session: Session, schema: string, view: Place, table: string): Promise<void> {
  const columns = await columnNames(session, view);
  await make(session, 'parcels', { schema, table, rows: { sql: changedRows('rows_of', { from: view, columns }) } });
  await session.script(changedRows('read_instead', { view, schema, table, columns }), 'sql/statements/changed_rows.sql, read_instead');
}

/** Creates a view of a complete published table, in which the rows of a patch replace the published rows. */
export async function providePatched(session: Session, to: Place, was: Place, { fids, came, columns }: Patch): Promise<void> {
  await session.script(changedRows('patched_view', { schema: to.schema, table: to.table, was, fids, came, columns }), 'sql/statements/changed_rows.sql, patched_view');
}
