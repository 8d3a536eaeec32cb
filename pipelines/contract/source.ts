/**
 * Defines the type of a source: the contract between `sources/<id>/source.ts` and the program.
 *
 * Terminology
 * - source: one dataset of one publisher; a folder under `sources/`.
 * - file: a file in a data folder, identified by its sha256.
 * - member: a part of a file that contains records: the file itself, or an entry of a zip (`CB.zip/H833_X.zip/H833_X_ple.gml`).
 * - record: one unit that the publisher counts: a CSV row, a GML feature, a KML placemark.
 * - release: the files of one vintage of one source for one region (or for Italy); immutable, identified by the sha256 of the files.
 * - row: a record that was accepted into a staging table. Records = rows + rejects + duplicates, for every member.
 */
import type { Readable } from 'node:stream';
import type { Column, Columns, RowWriter } from '../formats/copy.ts';
import type { ZipArchive, ZipEntry } from '../formats/zip.ts';
import type { Download } from './download.ts';

export { MappaleError, inputError } from '../errors.ts';
export type { Columns, ColumnType } from '../formats/copy.ts';

interface Attribution {
  /** Holder of the data, in the spelling of `contract/holders.ts`. Semicolons separate several holders. */
  readonly holder: string;
  /** Short name of the licence in the style of SPDX, such as `CC-BY-4.0`. */
  readonly license: string;
  readonly url: string;
  /** Attribution that users of the data must show. */
  readonly text: string;
  /** True if every API response must contain this attribution. Three sources require this. */
  readonly mandatory?: boolean;
}

export interface Envelope {
  /**
   * Expected number of records in the publisher's complete file, by role: `{ comunale: { min: 7_500 } }`. `validate` warns if a file with the name of the
   * complete file is outside these bounds. A load accepts such a file, because the quality gate checks the number of rows.
   */
  readonly records?: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>;
  /** Largest share of rejected records (0–1) in a loaded release. Up to ten rejects are accepted at any share, unless all records are rejects. */
  readonly rejectShare: number;
}

export interface Manifest {
  /** Name of the source's folder: `<publisher>_<dataset>`. */
  readonly id: string;
  /**
   * Version of the rows that the reader produces. Increase the version by one with every change of these rows, so that files are read again. Never decrease the
   * version.
   */
  readonly version: number;
  readonly title: string;
  /** Title that the map shows in Italian. If `title` is Italian, both titles are equal. */
  readonly italianTitle: string;
  readonly attribution: Attribution;
  /** Description of how the reader finds the vintage of a file. */
  readonly vintageRule: string;
  /** Addresses from which a person can download the files. Includes the addresses of automatic downloads. */
  readonly downloads: readonly { readonly url: string; readonly note: string }[];
  /** `monthly`, `half-yearly`, … */
  readonly cadence: string;
  /** CRS of the published coordinates, as text; null if the files contain no coordinates. */
  readonly crs: string | null;
  /** Vintages that sections use. `newest`: only the newest vintage. `all`: every vintage (a time series). */
  readonly keep: 'newest' | 'all';
  /**
   * True if the tables of Italy are built from this source's layers, such as the list of comuni. The tables of Italy are built before the tables of the
   * regions.
   */
  readonly reference?: boolean;
  /** Published fields that the reader ignores, each with the reason. Any other unknown field is reported as `COLUMNS_ADDED`. */
  readonly ignored: Readonly<Record<string, string>>;
  /**
   * Published names of columns that some known files lack, each with the reason. `*` means all fields in `ignored`. A file that lacks any other known column is
   * refused with `COLUMNS_CHANGED`.
   */
  readonly optional?: Readonly<Record<string, string>>;
  readonly envelope: Envelope;
  /** Entry in the annex of Regulation (EU) 2023/138 on high-value datasets. Omitted if the annex does not list the dataset. */
  readonly highValue?: { readonly category: 'geospatial' | 'environment'; readonly entry: string };
  /**
   * Layer tables in which each row is an accepted record, with one row per (member_id, position). `Source.layers` declares these tables, and load.sql fills
   * them. Tables with parts of a record (subdivided pieces, tokens) are not listed.
   */
  readonly layers: readonly string[];
}

/** Input of `recognise`: a file in a data folder with its first bytes, and its entries if the file is a zip. Other content is read only on demand. */
export interface Probe {
  /** Absolute path. */
  readonly path: string;
  /** File name without folders. */
  readonly name: string;
  readonly size: number;
  /** First 64 KiB of the file. */
  readonly head: Buffer;
  /** Entries in the central directory of a zip (also kmz, xlsx, gpkg.zip); null for other files. A damaged zip causes an error before `recognise`. */
  readonly entries: readonly ZipEntry[] | null;
  /** Returns the first 64 KiB of one entry after decompression. `path` may name an entry of a nested zip: `CB.zip/H833_X.zip/H833_X_ple.gml`. */
  headOf(path: string): Promise<Buffer>;
  /** Returns the entries of a nested zip. */
  entriesOf(path: string): Promise<readonly ZipEntry[]>;
  /** Names of the files in the same folder, for example to find the `.dbf` of a `.shp`. */
  readonly siblings: readonly string[];
  /** Returns the first 64 KiB of a file in the same folder. */
  headOfSibling(name: string): Promise<Buffer>;
}

/** Result of recognising a file. */
export interface Recognition {
  /** Kind of file within the source, such as `VALORI`, `ple` or `comunale`. */
  readonly role: string;
  /** Vintage of the file, such as `2024`, `2025_1` or `2026-07-01`. The text order of a source's vintages is their order in time. */
  readonly vintage: string;
  /** ISTAT region code (1–20) of a regional file. Null for a national file, or if the rows of the file state their places. */
  readonly region: number | null;
  /** Files in the same folder that belong to this file (`.dbf`, `.shx`, `.prj`, `.cpg`). */
  readonly sidecars?: readonly string[];
  /**
   * Day or other value in the file that distinguishes issues of one vintage. Examples are the date in a title line, the date of a zip's newest entry and the
   * number of a re-issue. For one source and role, the text order of the values is the order of the issues. Omitted if the file has no such value.
   */
  readonly dated?: string;
  /** Part of the dataset that the file contains, if the rows do not state the part. A part is a tile (`E46N19`), or a class with a separate file (`HPH`). */
  readonly place?: string;
  /**
   * True if, by the publisher's packaging, the file covers all of Italy or a whole region. False for a part (one comune, one tile, an extract). Size and
   * content are not considered, see `packaging.ts`.
   */
  readonly complete: boolean;
  /**
   * Reason why a file of this source is ignored, such as a different component or a companion table. The file belongs to no release and is never read. Reports
   * print the reason with the file's name.
   */
  readonly ignored?: string;
}

/** A file of a release that can be read. */
export interface InputFile {
  readonly path: string;
  readonly name: string;
  readonly role: string;
  readonly vintage: string;
  readonly region: number | null;
  readonly size: number;
  /** Returns the bytes of a plain file from the start. */
  open(): Readable;
  /** Opens the file as a zip. @throws `ZIP_*` input errors. */
  zip(): Promise<ZipArchive>;
}

export interface Position {
  /** Position of the record: line number (from 1), byte offset or feature number, as the source's notes state. */
  readonly position: number;
}

/** A record that was not accepted, with the reason. `code` is stable and snake_case, such as `reference_malformed`. */
export interface Reject {
  readonly position: number;
  readonly code: string;
  /** `expected … found …` on one line. */
  readonly message: string;
  /** The record as published, so that `rejects --retry` can read the record again. Stored as UTF-8 text, with invalid bytes escaped. */
  readonly raw: string | Buffer;
}

/** Receives the records of one member. The sink adds the provenance, counts the records and sends the rows to the database. */
export interface MemberSink {
  /** Id of the member in the ledger, which is the first value of every row. */
  readonly memberId: number;
  /** Returns a writer for the rows of this member in a staging table. Fast readers write fields directly to the writer. */
  writer(table: string): RowWriter;
  /** Writes one row from values in column order, and counts one accepted record. */
  row(table: string, position: number, values: readonly unknown[]): void;
  /** Stores a reject, and counts one record. */
  reject(reject: Reject): void;
  /** Skips a record that is not an error: a duplicate, or a place outside Italy. Counts one record. */
  duplicate(position: number, code: string, raw?: string | Buffer): void;
  /**
   * Reports an unknown column or property in a file that has all known columns. Called again with a sample value for each of the first records. The program
   * keeps a few samples, masked and shortened.
   */
  added(column: string, sample?: string): void;
  /**
   * Waits until the sink can accept more rows; undefined if no wait is necessary. Call this method once per chunk of input, outside the inner loop.
   * @throws the error of an earlier write that failed
   */
  drain(): Promise<void> | undefined;
  /** Ends the member. Called once. @param records number of records by an independent count, such as lines or features */
  close(records: number): Promise<void>;
}

export interface MemberFacts {
  /** Path of the member inside the file; `''` if the member is the file itself. */
  readonly path: string;
  /** CRC-32 of the zip entry, which identifies unchanged members for reuse. */
  readonly crc32?: number;
  readonly size?: number;
  /** ISTAT region code, if the file contains a separate member for each region. */
  readonly region?: number;
  /** Text to add before and after a raw record. With this text, `rejects --retry` can read the record as a file. */
  readonly envelope?: { readonly before: string; readonly after: string };
}

export interface Sink {
  /** Opens the next member. The previous member must be closed. */
  member(facts: MemberFacts): Promise<MemberSink>;
  /**
   * Returns true if an earlier release has the same member (equal file name, size, CRC-32 and reader). The member is then not parsed. The new release copies
   * the rows of the earlier release inside the database, or refers to these rows.
   */
  reuse(facts: MemberFacts): Promise<boolean>;
  /**
   * Returns the result of `reuse` without recording the reuse, for readers that look at later members in advance. Omitted by sinks that never reuse members.
   */
  reusable?(facts: MemberFacts): boolean;
  /**
   * Reports a known part of the file that is not read, with the reason. Omitted by sinks without reports.
   * @param path path of the part inside the file
   */
  aside?(path: string, reason: string): void;
  /** Reports the progress. @param bytes number of bytes read so far from the file, before decompression */
  progress(bytes: number): void;
}

/** SQL type and description of a layer's column. The type may include `not null` and `default '…'`. */
type LayerColumn = readonly [type: string, description: string];

/** Columns of a layer by name, in the order of the table. */
export type LayerColumns = Readonly<Record<string, LayerColumn>>;

/** Columns that both a staging table and a layer contain, with descriptions. */
export type SharedColumns = Readonly<Record<string, readonly [type: Column, description: string]>>;

/** Returns the columns of a staging table without their descriptions. */
export function stagedColumns(columns: SharedColumns): Columns {
  return Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));
}

/** A layer table, partitioned by release. The columns `release_id`, `member_id` and `position` precede the listed columns. */
export interface Layer {
  readonly description: string;
  /** Description of the column `position`, such as `Line of the file, from 1.` */
  readonly position: string;
  /** Staging table whose polygons load.sql repairs for this layer. A staged row that does not reach the layer becomes a reject, `geometry_without_area`. */
  readonly areasOf?: string;
  readonly columns: LayerColumns;
  /** Indexed columns, by the query that uses the index. Indexes on a geometry are GiST indexes. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
  readonly checks?: LayerChecks;
}

/** Names of a layer's columns that state the place of each row. */
export interface PlaceColumns {
  /** Columns that distinguish several series of the same place, such as a year or a level. A blank joins the values of several columns. */
  readonly series?: readonly string[];
  /** Column with the code of the comune or other unit. Null counts as an empty code. */
  readonly place: string;
  /** Columns of a point. Set for lists of points. A newer complete list may lack some points (`lost-points.ts`). If omitted, no comune may be missing. */
  readonly point?: PointColumns;
  /** Column with the region that the publisher states for the place. */
  readonly region?: string;
  /** Column with the region to use if the place is not in ISTAT's list of comuni. */
  readonly likelyRegion?: string;
  /** Column with the ISTAT code of the comune. The code contains the province, which determines the region. */
  readonly istatCode?: string;
  /** Column with the day of the row. The newest day distinguishes issues of one vintage. */
  readonly dated?: string;
}

/** Names of the columns with which two lists of points are compared. */
export interface PointColumns {
  /** Column that identifies a point. Several rows may be about one point. */
  readonly id: string;
  /** Column with the region of the point, if `PlaceColumns` names no region. Null values are allowed. */
  readonly region?: string;
  /** Column with the ISTAT code of the comune, which determines the region if `PlaceColumns` names no region. */
  readonly istatCode?: string;
}

/** A bounding box in degrees: west, south, east, north. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** Checks of a layer that several sources share. Other checks are queries in `checks.sql`. */
interface LayerChecks {
  /** Box that must contain every geometry. */
  readonly within?: Box;
  /** Box that the bounding box of every geometry must overlap. */
  readonly overlaps?: Box;
  /** Layer with the pieces of each polygon. The areas of the pieces must add up to the area of the polygon. */
  readonly pieces?: string;
  /** Lower and upper bound of usual areas (`area_m2`). Areas outside these bounds cause a warning. */
  readonly area?: readonly [least: number, most: number];
  /** `one`: the cells of all tiles must be on one grid. */
  readonly grid?: 'one';
}

/** Layer tables, by name without schema. */
export type Layers = Readonly<Record<string, Layer>>;

/** Layer with one or more rows per member and group, and the columns that identify a group. The columns contain no nulls. */
export interface Groups {
  readonly layer: string;
  readonly columns: readonly string[];
  /** Column with the number of rows of the member in the group. */
  readonly rows: string;
}

export interface Source {
  readonly manifest: Manifest;
  /** Downloads of a source without `download.ts`. */
  readonly download?: Download;
  /**
   * Patterns of the publisher's file names. The names do not affect recognition. If a file with a matching name is not recognised, the file is reported as
   * empty, as an error page or as changed.
   */
  readonly names: readonly RegExp[];
  /** Staging tables by name, `raw_<thing>`, with their columns after `member_id` and `position`. */
  readonly tables: Readonly<Record<string, Columns>>;
  /** Layer tables, filled by load.sql. */
  readonly layers: Layers;
  /**
   * Place columns of some layers. In these layers, a newer file replaces an older file only for the places that the newer file contains. The places of a file
   * are the values of these columns, or the result of the source's `places.sql`. In all other layers, a newer file replaces an older file completely.
   */
  readonly places?: Readonly<Record<string, PlaceColumns>>;
  /** Columns that identify a row of a layer within a file, by layer. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /**
   * For each layer, a small layer that counts the rows of each group, per member. Groups are defined by columns of the layer. Two rows with equal values in the
   * columns of `unique` must be in the same group.
   */
  readonly groups?: Readonly<Record<string, Groups>>;
  /**
   * Reject codes for duplicates, by staging table. If rows of one file repeat the key in `keys`, the first row is used. The other rows are in the table
   * `duplicate` when load.sql runs. Nulls count as equal.
   */
  readonly repeats?: Readonly<Record<string, string>>;
  /** Columns that identify a row of a staging table, by table. `validate` reports files that repeat a key. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /**
   * Recognises a file of this source by the file's content, never by its folder. Returns null for other files. May throw an input error for a damaged file of
   * this source.
   */
  recognise(probe: Probe): Promise<Recognition | null>;
  /** Streams the records of one file into the sink, with constant memory use. */
  read(file: InputFile, sink: Sink): Promise<void>;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const LAYER_TYPE = /^[a-z][a-z0-9]*(?:\[\]|\([a-z]+, \d+\))?(?: not null)?(?: default '[a-z]+')?$/;

/** Returns the source unchanged, after checking rules that types cannot express. @throws Error for a violated rule, such as a name that is not plain SQL */
export function defineSource(source: Source): Source {
  const refuse = (expected: string, found: string | undefined): void => {
    if (found !== undefined) throw new Error(`${source.manifest.id}: expected ${expected}, found ${found}`);
  };
  refuse('staging tables named raw_<thing>', Object.keys(source.tables).find((table) => !/^raw_[a-z0-9_]+$/.test(table)));
  const layers = Object.values(source.layers);
  const columns = [...Object.values(source.tables), ...layers.map((layer) => layer.columns)].flatMap((each) => Object.keys(each));
  const indexed = layers.flatMap(({ indexes = {} }) => Object.values(indexes).flat());
  refuse('a key for each table in repeats', Object.keys(source.repeats ?? {}).find((table) => source.keys?.[table] === undefined));
  refuse('places of its layers', Object.keys(source.places ?? {}).find((layer) => !(layer in source.layers)));
  refuse('groups in its layers', Object.entries(source.groups ?? {}).flatMap(([layer, groups]) => [layer, groups.layer]).find((layer) => !(layer in source.layers)));
  refuse('places of the layers in groups', Object.values(source.groups ?? {}).map(({ layer }) => layer).find((layer) => source.places !== undefined && !(layer in source.places)));
  refuse('plain names of layers and columns', [...Object.keys(source.layers), ...columns, ...indexed].find((name) => !NAME.test(name)));
  refuse('plain types of columns', layers.flatMap((layer) => Object.values(layer.columns)).map(([type]) => type).find((type) => !LAYER_TYPE.test(type)));
  refuse('queries of indexes in one line', layers.flatMap(({ indexes = {} }) => Object.keys(indexes)).find((query) => query.includes('\n')));
  return source;
}
