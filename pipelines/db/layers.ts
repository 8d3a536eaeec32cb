/**
 * Creates the views of a workspace: the current rows of layers, and published tables. Also records in the ledger the files and places that a release contains.
 */
import type { Groups, PlaceColumns } from '../contract/source.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { atHand, isOnNodes } from './at-hand.ts';
import { columnNames } from './ddl.ts';
import { sessionsNotKept } from './pooler.ts';
import { placeOf, statementsOf, type Names, type Place } from './statements.ts';
import type { Database, Session } from './types.ts';

const workspace = statementsOf('workspace');

/**
 * Runs work inside a workspace: with the workspace first in the search path, and with memory settings for bulk work.
 * @throws MappaleError `SESSIONS_NOT_KEPT` (exit 6) behind a pooler in transaction mode
 */
export async function inWorkspace<T>(database: Database, schema: string, work: (session: Session) => Promise<T>): Promise<T> {
  if (database.pooling === 'transaction') throw sessionsNotKept(database.label, 'transaction');
  return database.session(async (session) => {
    const [sorting, indexing] = database.engine === 'postgres' ? ['256MB', '512MB'] : ['64MB', '64MB'];
    await session.script(workspace('settings', { schemas: [schema, 'public'], sorting, indexing }), 'sql/statements/workspace.sql, settings');
    return work(session);
  });
}

/** A view of a workspace. */
export interface View {
  /** Statement that creates the view. */
  readonly sql: string;
  /** `added` if rows for this view were added to `current_place`, so that the statistics of `current_place` are out of date. */
  readonly places: 'added' | 'none';
}

/** Returns a view of a workspace, with a named statement as the view's query. */
function viewOf(schema: string, table: string, statement: string, names: Names = {}): View {
  return { sql: workspace('view', { schema, view: table, rows: { sql: workspace(statement, names) } }), places: 'none' };
}

/** Creates a view in a workspace, with a named statement as its query. */
export async function provide(session: Session, schema: string, table: string, statement: string, names: Names = {}): Promise<void> {
  await session.query(viewOf(schema, table, statement, names).sql);
}

/** Creates several views in one request. */
export async function provideAll(session: Session, schema: string, views: readonly View[]): Promise<void> {
  if (views.some(({ places }) => places === 'added')) await session.query(workspace('analyze_places', { schema }));
  if (views.length > 0) await session.script(views.map(({ sql }) => sql).join(';\n'), 'sql/statements/workspace.sql, view');
}

/** Views of a workspace, each created shortly before SQL first reads the view. A refresh of few rows reads few of the roughly one hundred inputs. */
export class WaitingViews {
  readonly #schema: string;
  readonly #waiting = new Map<Relation, (session: Session) => Promise<View>>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  add(relation: Relation, view: (session: Session) => Promise<View>): void {
    this.#waiting.set(relation, view);
  }

  /** Creates the views of these relations that do not exist yet. Call outside a transaction that may be rolled back. */
  async provide(session: Session, relations: readonly Relation[]): Promise<void> {
    const views: View[] = [];
    for (const relation of new Set(relations)) {
      const view = this.#waiting.get(relation);
      if (view === undefined) continue;
      this.#waiting.delete(relation);
      views.push(await view(session));
    }
    await provideAll(session, this.#schema, views);
  }

  /** Creates all views that do not exist yet. */
  async provideRest(session: Session): Promise<void> {
    await this.provide(session, [...this.#waiting.keys()]);
  }
}

/** A place in a layer: series (half-year, year or kind), and code of a comune or other unit. A value is empty if the layer has no column for the value. */
export interface SeriesPlace {
  readonly series: string;
  readonly place: string;
}

/** A file, and the releases whose partitions contain the file's rows: the file's own release, and earlier releases whose rows were reused. */
interface FileRows {
  readonly fileId: number;
  readonly releaseIds: readonly number[];
}

/** A file whose rows are current for some places only. */
export interface FilePart extends FileRows {
  readonly places: readonly SeriesPlace[];
}

/** Selection of a layer's rows for a workspace: complete releases, complete files, or some places of files. */
export interface LayerRows {
  /** Releases whose rows are all current. */
  readonly releases: readonly number[];
  /** Files of other releases whose rows are all current. */
  readonly files: readonly FileRows[];
  /** Files whose rows are current for some places only. */
  readonly parts: readonly FilePart[];
  /** Columns of the layer for series and place; null if the layer has no such columns. If null, `parts` is empty. */
  readonly columns: PlaceColumns | null;
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)];
}

/**
 * Returns a view of a layer's current rows in a workspace. The tables `current_member` and `current_place` must exist in the workspace. Adds the current places
 * to `current_place`.
 */
export async function viewOfLayer(session: Session, schema: string, relation: Relation, { releases, files, parts, columns }: LayerRows): Promise<View> {
  const layer = tableOf(relation);
  const names = { schema, layer, from: placeOf(relation) };
  const rows: string[] = [];
  if (releases.length > 0) rows.push(workspace('rows_of_releases', { ...names, releases: distinct(releases) }));
  if (files.length > 0) {
    rows.push(workspace('rows_of_files', { ...names, releases: distinct(files.flatMap(({ releaseIds }) => releaseIds)), files: distinct(files.map(({ fileId }) => fileId)) }));
  }
  if (parts.length > 0) {
    if (columns === null) throw new Error(`${relation} has no columns for series and place, so the current places of a file cannot be selected`);
    const pairs = parts.flatMap(({ fileId, places }) => places.map((each) => ({ fileId, ...each })));
    await session.query(workspace('note_places', names), [layer, pairs.map(({ fileId }) => fileId), pairs.map(({ series }) => series), pairs.map(({ place }) => place)]);
    rows.push(workspace('rows_of_places', { ...names, releases: distinct(parts.flatMap(({ releaseIds }) => releaseIds)), series: columns.series ?? [], place: columns.place }));
  }
  const sql = rows.length === 0 ? workspace('no_rows', names) : rows.join('\nunion all\n');
  return { sql: workspace('view', { schema, view: layer, rows: { sql } }), places: parts.length > 0 ? 'added' : 'none' };
}

/**
 * Creates a view of a layer during the load of a release. The view contains the release's own rows, and the rows of earlier releases that the release reuses.
 * @param schema schema in which the view is created
 * @param own table with the release's own rows
 */
export async function provideWithReferred(
  session: Session, schema: string, relation: Relation, own: Place, referred: readonly { readonly fromMemberId: number; readonly fromReleaseId: number }[],
): Promise<void> {
  await provide(session, schema, own.table, 'rows_with_referred', {
    own, from: placeOf(relation), columns: await columnNames(session, own),
    releases: distinct(referred.map(({ fromReleaseId }) => fromReleaseId)), members: distinct(referred.map(({ fromMemberId }) => fromMemberId)),
  });
}

/** Creates a view of the rows of one release in a layer. */
export async function provideRelease(session: Session, schema: string, relation: Relation, releaseId: number): Promise<void> {
  await provide(session, schema, tableOf(relation), 'rows_of_releases', { from: placeOf(relation), releases: [releaseId] });
}

/** Records in the ledger which files of a release have rows in a layer without place columns. */
export async function recordWholeFiles(session: Session, schema: string, layer: string, releaseId: number): Promise<void> {
  await session.query(workspace('note_whole_files', { schema, layer }), [layer, releaseId]);
}

/** Records in the ledger the places of each file in a layer. The table `member` must exist in the workspace. */
export async function recordPlaces(session: Session, schema: string, layer: string, columns: PlaceColumns): Promise<void> {
  const { series = [], place, region, likelyRegion, istatCode, dated } = columns;
  const optional = (column: string | undefined): readonly string[] => (column === undefined ? [] : [column]);
  await session.query(workspace('note_layer_places', {
    schema, layer, series, place, region: optional(region), likely_region: optional(likelyRegion), istat_code: optional(istatCode), dated: optional(dated),
  }), [layer]);
}

/**
 * Returns the members with a row whose values in `columns` occur in more than one row of the file.
 * @param schemas `whole` contains all rows and the table `member`. `own` contains all rows that may repeat others: the rows of the members that were read, or
 * all rows
 * @param groups only rows in the same group can have the same values; null: all rows are compared
 */
export async function repeatingMembers(
  session: Session, { whole, own }: { readonly whole: string; readonly own: string }, layer: string,
  { columns, groups }: { readonly columns: readonly string[]; readonly groups: Groups | null },
): Promise<number[]> {
  const inGroups = groups === null ? '' : workspace('in_same_groups', { schema: whole, own, groups: groups.layer, columns: groups.columns });
  const rows = await session.query<{ id: number }>(workspace('repeating_members', { schema: whole, own, layer, columns, in_groups: { sql: inGroups } }));
  return rows.map(({ id }) => id);
}

/**
 * Returns a view of a published table in a workspace.
 * @param partition partition that the view reads; null for a view without rows
 * @param nodes `one`: all published tables are on this node; `any`: a table may be on other nodes, and is then copied
 */
export async function viewOfPublished(session: Session, schema: string, relation: Relation, partition: string | null, nodes: 'one' | 'any'): Promise<View> {
  const from = nodes === 'one' ? publishedPlace(relation, partition) : await publishedAtHand(session, schema, relation, partition);
  return viewOf(schema, tableOf(relation), partition === null ? 'no_rows' : 'all_rows', { from });
}

/** Creates a view `standing_<table>` of a published table, for the SQL that builds a new version of the table. */
export async function providePreviousRows(session: Session, schema: string, relation: Relation, partition: string | null): Promise<void> {
  const from = await publishedAtHand(session, schema, relation, partition);
  await provide(session, schema, `standing_${tableOf(relation)}`, partition === null ? 'no_rows' : 'all_rows', { from });
}

function publishedAtHand(session: Session, schema: string, relation: Relation, partition: string | null): Promise<Place> {
  return atHand(session, schema, publishedPlace(relation, partition), partition === null ? 'none' : 'all');
}

function publishedPlace(relation: Relation, partition: string | null): Place {
  return { schema: schemaOf(relation), table: partition ?? tableOf(relation) };
}

/** Creates a view of parcels for an explanation. @param scope `one`: only the explained parcels; `comune`: all parcels of the same comuni */
export async function provideParcels(session: Session, schema: string, partition: string, fids: readonly number[], scope: 'one' | 'comune'): Promise<void> {
  const from = { schema: 'core', table: partition };
  const rows = { sql: workspace(scope === 'one' ? 'some_parcels' : 'parcels_of_comuni', { from, fids }) };
  // Copies parcels on other nodes, because such parcels cannot be joined with tables on the coordinator.
  await session.query(workspace((await isOnNodes(session, from)) ? 'rows' : 'view', { schema, view: 'parcel', rows }));
}

/** Creates the view `region (code, name)` in a region's workspace, with one row. */
export async function provideRegion(session: Session, schema: string, code: number, name: string): Promise<void> {
  await provide(session, schema, 'region', 'region', { code, name });
}

/** A file that a workspace reads, with its rank among files of the same source and kind. Rank 1 is the newest. */
interface RankedFile {
  readonly fileId: number;
  readonly rank: number;
  readonly vintage: string;
}

/**
 * Creates the table `current_member (member_id, current_member_id, document_id, release_id, file_id, rank, vintage, may_be_cut)` in a region's workspace. The
 * table maps the member of each layer row to the current member, release and file. `rank` orders overlapping files that do not name comuni. Also creates the
 * table `current_file` of the given files, the table `current_place` for the views of layers, and the view `file_place` of the files' places in
 * `ledger.file_place`.
 */
export async function provideMembers(session: Session, schema: string, files: readonly RankedFile[]): Promise<void> {
  await session.script(workspace('current_files', { schema }), 'sql/statements/workspace.sql, current_files');
  await session.query(workspace('note_files', { schema }), [files.map(({ fileId }) => fileId), files.map(({ rank }) => rank), files.map(({ vintage }) => vintage)]);
  await session.script(workspace('current_members', { schema }), 'sql/statements/workspace.sql, current_members');
}

/** Counts the rows and the distinct positions of each member in a staging table. */
export async function countByMember(session: Session, schema: string, table: string): Promise<{ member_id: number; n: number; distinct_n: number }[]> {
  return session.query(workspace('count_by_member', { table: { schema, table } }));
}

/** Creates a view `parcel` of a table, for the SQL of sections. */
export async function provideParcelsOf(session: Session, schema: string, table: string): Promise<void> {
  await provide(session, schema, 'parcel', 'all_rows', { from: { schema, table } });
}
