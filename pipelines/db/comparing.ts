/** Compares the contents of tables, and computes their digests. */
import type { PlaceColumns, PointColumns } from '../contract/source.ts';
import type { Relation } from '../contract/sql-files.ts';
import { isOnNodes } from './at-hand.ts';
import { columnNames, columnsOf } from './ddl.ts';
import type { SeriesPlace } from './layers.ts';
import { placeOf, statementsOf, type Part, type Place } from './statements.ts';
import { one, type Row, type Session } from './types.ts';

const content = statementsOf('content');

/** Columns with the provenance of a row, which do not count as content. */
export const PROVENANCE: readonly string[] = ['release_id', 'member_id', 'position', 'document_id'];

/** A file with its release, and earlier releases that contain rows of the file's members. */
interface FileOfRows {
  readonly fileId: number;
  readonly releaseId: number;
  readonly refersTo: readonly number[];
}

/** Returns the digest of a file's rows for some places of a layer. The digest does not depend on the rows' position in the file. */
export async function digestOfPlaces(
  session: Session, relation: Relation, { fileId, releaseId, refersTo }: FileOfRows, columns: PlaceColumns, places: readonly SeriesPlace[],
): Promise<string> {
  const table = placeOf(relation);
  const names = { table, columns: await contentColumns(session, table), series: columns.series ?? [], place: columns.place };
  const sums = sumsOf(content('contents_of_places', names));
  return (await one<{ digest: string }>(session, content('digest_of_places', { sums }), [[releaseId, ...refersTo], fileId, places.map(({ series }) => series), places.map(({ place }) => place)])).digest;
}

/** Points of one place in two versions of a list of points. */
export interface PointsOfPlace extends Row {
  readonly place: string;
  /** Region of the rows; null if the rows state none. */
  readonly region: number | null;
  readonly was: number;
  readonly now: number;
  /** Points of `was` that the newer version has in other places only. */
  readonly moved: number;
}

/** Counts the points of each place of a layer in two sets of files. */
export async function pointsByPlace(
  session: Session, relation: Relation, { place, point: { id, region, istatCode } }: { readonly place: string; readonly point: PointColumns },
  { was, now }: { readonly was: readonly FileOfRows[]; readonly now: readonly FileOfRows[] },
): Promise<PointsOfPlace[]> {
  const optional = (column: string | undefined): readonly string[] => (column === undefined ? [] : [column]);
  const releases = [...was, ...now].flatMap(({ releaseId, refersTo }) => [releaseId, ...refersTo]);
  const idsOf = (files: readonly FileOfRows[]): number[] => files.map(({ fileId }) => fileId);
  const query = content('points_by_place', { table: placeOf(relation), place, id, region: optional(region), istat_code: optional(istatCode) });
  return session.query<PointsOfPlace>(query, [[...new Set(releases)], idsOf(was), idsOf(now)]);
}

/** Returns the names of a table's columns without the provenance columns. */
export function contentColumns(session: Session, table: Place): Promise<string[]> {
  return columnNames(session, table, PROVENANCE);
}

/** Row count and digest of a table's content. */
export interface Content {
  readonly rows: number;
  readonly digest: string;
}

/** Returns the query for the row count and the two sums of row hashes. @param contents query for the rows as text */
function sumsOf(contents: string): Part {
  return { sql: content('sums', { contents: { sql: contents } }) };
}

/** Returns the row count and the digest of a table's content. The digest does not depend on the order or provenance of the rows. */
export async function digestOf(session: Session, schema: string, name: string): Promise<Content> {
  const table = { schema, table: name };
  // `contents_once` contains `offset 0`. With an offset, Citus would copy all rows to the coordinator.
  const contents = (await isOnNodes(session, table)) ? 'contents' : 'contents_once';
  return one<Row & Content>(session, content('digest', { sums: sumsOf(content(contents, { table, columns: await contentColumns(session, table) })) }));
}

/** Differences between two publications of a table, in the rows of one comune. */
export interface TableDifference extends Row {
  readonly comune: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Number of changed rows, for each column with changes. Empty unless `fid` is the primary key of the table. */
  readonly fields: Readonly<Record<string, number>>;
}

/**
 * Compares two partitions of one relation, comune by comune. Rows with a fid are compared by fid. Other rows are compared by their whole content, so that a
 * changed row counts as one removed row and one added row.
 * @param parcels partitions of core.parcel in the two publications, which contain the comune of each fid
 */
export async function compareTables(
  session: Session, { was, now }: { readonly was: Place | Part; readonly now: Place }, parcels: Readonly<Record<'was' | 'now', Place | Part>>,
): Promise<TableDifference[]> {
  const found = await columnsOf(session, now);
  const columns = found.map(({ name }) => name).filter((name) => !PROVENANCE.includes(name));
  const isPlaced = columns.includes('belfiore');
  const single = found.some(({ name, key }) => name === 'fid' && key);
  const [statement, comune] = single ? ['parcels_with_one_row', isPlaced ? 't.belfiore' : 'p.belfiore']
    : columns.includes('fid') ? ['parcels_with_rows', ''] : ['rows_by_content', isPlaced ? 't.belfiore' : "''"];
  const side = (table: Place | Part, of: Place | Part): Part => ({ sql: content(statement, { table, parcels: of, columns, comune: { sql: comune } }) });
  const fields = single ? columns.filter((name) => name !== 'fid').map((name) => content('changed_field', { name })).join(', ') : '';
  const rows = await session.query<TableDifference>(content('differences', { was: side(was, parcels.was), now: side(now, parcels.now), fields: { sql: fields } }));
  return rows.map((row) => ({ ...row, fields: Object.fromEntries(Object.entries(row.fields).filter(([, count]) => count > 0)) }));
}

/** Returns the rows of one parcel in a table as JSON, in a fixed order. */
export async function rowsOf(session: Session, schema: string, table: string, fid: number): Promise<unknown[]> {
  const rows = await session.query<{ row: unknown }>(content('rows_of_parcel', { table: { schema, table } }), [fid]);
  return rows.map(({ row }) => row);
}

/** Returns whether two tables have the same rows, including provenance. */
export async function sameRows(session: Session, now: Place, was: Place): Promise<boolean> {
  return (await one<{ same: boolean }>(session, content('same', { now, was, columns: await columnNames(session, was) }))).same;
}

/** Returns the query for the rows that a published table had before its last patch. */
export async function formerContent(session: Session, published: Place, { rows, fids }: Readonly<Record<'rows' | 'fids', Place>>): Promise<Part> {
  return { sql: content('former', { published, rows, fids, columns: await columnNames(session, published) }) };
}

/** Replaced rows and new rows of a patched table, with the names of the table's columns. */
interface Replaced {
  readonly gone: Place;
  readonly came: Place;
  readonly columns: readonly string[];
}

/** Returns whether a digest consists of two sums. Earlier versions of the program stored digests that consist of one sum. */
function hasTwoSums(digest: string): boolean {
  return digest.includes(' ');
}

/**
 * Computes the row count and digest that a table has after a patch. Normally, reads only the rows of the patch. Reads the whole table `was` if an earlier
 * version of the program computed the digest in `before`.
 * @param was table before the patch
 * @param before row count and digest before the patch
 */
export async function patchedContent(session: Session, { gone, came, columns }: Replaced, was: Place, before: Content): Promise<Content> {
  const compared = columns.filter((name) => !PROVENANCE.includes(name));
  const sums = (table: Place): Part => sumsOf(content('contents_once', { table, columns: compared }));
  const { rows, digest } = hasTwoSums(before.digest) ? before : await digestOf(session, was.schema, was.table);
  return one<Row & Content>(session, content('patched', { gone: sums(gone), came: sums(came) }), [rows, digest]);
}
