/**
 * Defines the type of a source: the contract between `sources/<id>/source.ts` and the program.
 *
 * Terminology
 * - source: one dataset of one publisher; a folder under `sources/`.
 * - file: a file in a data folder, identified by its sha256.
 * - member: a part of a file with records: the file itself, or an entry of a zip (`CB.zip/H833_X.zip/H833_X_ple.gml`).
 * - record: one unit that the publisher counts: a CSV row, a GML feature, a KML placemark.
 * - release: one vintage of one source for one region (or for Italy), immutable, identified by the sha256 of its files.
 * - row: a record that was accepted into a staging table. Records = rows + rejects + duplicates, for every member.
 */
import type { Readable } from 'node:stream';
import type { Column, Columns, RowWriter } from '../formats/copy.ts';
import type { ZipArchive, ZipEntry } from '../formats/zip.ts';

export { MappaleError, inputError } from '../errors.ts';
export type { Columns, ColumnType } from '../formats/copy.ts';

interface Attribution {
  /** Holder of the data, in the spelling of `contract/holders.ts`; several are separated by semicolons. */
  readonly holder: string;
  /** SPDX-like short name: `CC-BY-4.0`. */
  readonly license: string;
  readonly url: string;
  /** Attribution that users of the data must show. */
  readonly text: string;
  /** True for the three attributions that every answer contains. */
  readonly mandatory?: boolean;
}

export interface Envelope {
  /**
   * Number of records in the publisher's whole file, by role: `{ comunale: { min: 7_500 } }`. `validate` warns if a file that is named as the whole file is
   * outside these bounds. A load does not refuse the file, because the gate checks the number of rows.
   */
  readonly records?: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>;
  /** Largest share of rejected records (0–1) with which a file may be published. */
  readonly rejectShare: number;
}

export interface Manifest {
  /** Name of the folder: `<publisher>_<dataset>`. */
  readonly id: string;
  /** Version of the reader's result. Increase the version by one with every change of the result, so that files are read again. Never decrease the version. */
  readonly version: number;
  readonly title: string;
  readonly attribution: Attribution;
  /** Description of how the vintage is found in the file. */
  readonly vintageRule: string;
  /** Download addresses for people, including the addresses in `download.ts`. */
  readonly downloads: readonly { readonly url: string; readonly note: string }[];
  /** `monthly`, `half-yearly`, … */
  readonly cadence: string;
  /** CRS of the published coordinates as text, or null without coordinates. */
  readonly crs: string | null;
  /** Vintages that sections use. `newest`: only the newest vintage. `all`: every vintage (a time series). */
  readonly keep: 'newest' | 'all';
  /** True if other sources need these layers (codes of comuni). The source is then loaded first and published for all of Italy. */
  readonly reference?: boolean;
  /** Published fields that are not used, each with the reason. Any other unknown field is reported as `COLUMNS_ADDED`. */
  readonly ignored: Readonly<Record<string, string>>;
  /**
   * Columns that some known files lack, as published (`*`: all of `ignored`), each with the reason. A file without another known column is refused with
   * `COLUMNS_CHANGED`.
   */
  readonly optional?: Readonly<Record<string, string>>;
  readonly envelope: Envelope;
  /** Entry in the annex of Regulation (EU) 2023/138 on high-value datasets. Omitted if the annex does not list the dataset. */
  readonly highValue?: { readonly category: 'geospatial' | 'environment'; readonly entry: string };
  /**
   * Layer tables with rows that count as accepted records, one row per (member_id, position). `layers.ts` declares the tables and load.sql fills them. Tables
   * with parts of a record (subdivided pieces, tokens) are not listed.
   */
  readonly layers: readonly string[];
}

/** Input of `recognise`: a file in a data folder, with the listing of a zip. The content is read only on demand. */
export interface Probe {
  /** Absolute path. */
  readonly path: string;
  /** File name without folders. */
  readonly name: string;
  readonly size: number;
  /** First 64 KiB. */
  readonly head: Buffer;
  /** Central directory of a zip (also kmz, xlsx, gpkg.zip); null for other files. A damaged zip causes an error before `recognise`. */
  readonly entries: readonly ZipEntry[] | null;
  /** Returns the first 64 KiB of one entry after decompression. `path` may name an entry of a nested zip: `CB.zip/H833_X.zip/H833_X_ple.gml`. */
  headOf(path: string): Promise<Buffer>;
  /** Returns the listing of a zip inside the zip. */
  entriesOf(path: string): Promise<readonly ZipEntry[]>;
  /** Names of the files in the same folder, for example to find the `.dbf` of a `.shp`. */
  readonly siblings: readonly string[];
  /** Returns the first 64 KiB of a file in the same folder. */
  headOfSibling(name: string): Promise<Buffer>;
}

/** Result of recognising a file. */
export interface Recognition {
  /** Kind of file of the source: `VALORI`, `ple`, `comunale`. */
  readonly role: string;
  /** Vintage of the file, in a form that sorts as text, newest last: `2024`, `2025_1`, `2026-07-01`. */
  readonly vintage: string;
  /** ISTAT region code 1–20 of a regional file. Null for a national file, or if the rows of the file contain their places. */
  readonly region: number | null;
  /** Files in the same folder that belong to this file (`.dbf`, `.shx`, `.prj`, `.cpg`). */
  readonly sidecars?: readonly string[];
  /**
   * Day in the file, or another value that distinguishes issues of one vintage. Examples are the date in a title line, the newest entry of a zip and the number
   * of a re-issue. The values of one source and role sort as text. Omitted if the file has no such value.
   */
  readonly dated?: string;
  /** Part of the whole dataset, if the rows do not contain the part. A part is a tile (`E46N19`), or a class with a separate file (`HPH`). */
  readonly place?: string;
  /**
   * True if the file contains all of Italy or of its region according to the publisher's packaging. False for a part (one comune, one tile, an extract). Size
   * and content are not considered, see `packaging.ts`.
   */
  readonly complete: boolean;
  /**
   * Reason why a file of this source is ignored (another component, a companion table). The file belongs to no release and is never read. Reports print this
   * reason with the file's name.
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
  /** Line number (1-based), byte offset or feature number, as described in the source's notes. */
  readonly position: number;
}

/** Reason why a record was not accepted. `code` is stable and snake_case: `reference_malformed`. */
export interface Reject {
  readonly position: number;
  readonly code: string;
  /** `expected … found …` on one line. */
  readonly message: string;
  /** The record as published, so that `rejects --retry` can read it again. Text is stored as UTF-8, and bytes that are not UTF-8 are escaped. */
  readonly raw: string | Buffer;
}

/** Receives the records of one member. The sink adds the provenance, counts the records and flushes. */
export interface MemberSink {
  /** Provenance key, the first value of every row. */
  readonly memberId: number;
  /** Returns the writer of a staging table's rows for this member. Fast readers write fields directly to this writer. */
  writer(table: string): RowWriter;
  /** Writes one row from values in column order, and counts one accepted record. */
  row(table: string, position: number, values: readonly unknown[]): void;
  /** Records a reject, and counts one record. */
  reject(reject: Reject): void;
  /** Skips a record that is not an error: a duplicate, or a place outside Italy. Counts one record. */
  duplicate(position: number, code: string, raw?: string | Buffer): void;
  /**
   * Reports an unknown column or property in a file that has all known columns. Called again with the value of each of the first records. The program keeps a
   * few values, which are masked and shortened.
   */
  added(column: string, sample?: string): void;
  /** Waits until the database has received the written rows. Call this once per chunk of input, outside the inner loop. */
  drain(): Promise<void> | undefined;
  /** Ends the member. The argument is the number of records by an independent count (lines, features). Called once. */
  close(records: number): Promise<void>;
}

export interface MemberFacts {
  /** Path inside the file, `''` for the file itself. */
  readonly path: string;
  /** CRC-32 of a zip entry, by which unchanged members are found and reused. */
  readonly crc32?: number;
  readonly size?: number;
  /** ISTAT region code, if the file contains a separate member for each region. */
  readonly region?: number;
  /** Text before and after a raw record. With this text, the record is a readable file (`rejects --retry`). */
  readonly envelope?: { readonly before: string; readonly after: string };
}

export interface Sink {
  /** Opens the next member. The previous member must be closed. */
  member(facts: MemberFacts): Promise<MemberSink>;
  /**
   * Returns true if an earlier release has the same member (same path, CRC, size and reader). The rows are then copied inside the database, and the member is
   * not parsed.
   */
  reuse(facts: MemberFacts): Promise<boolean>;
  /** Returns the result of `reuse` without recording it, for readers that look at later members in advance. Omitted by sinks that never reuse members. */
  reusable?(facts: MemberFacts): boolean;
  /**
   * Records a known part of the file that is not read, with the reason. Omitted by sinks without reports.
   * @param path the path of the part inside the file
   */
  aside?(path: string, reason: string): void;
  /** Reports progress in bytes of the (compressed) file. */
  progress(bytes: number): void;
}

/** SQL type of a layer's column, followed by `not null` and `default '…'`, and the description of the column. */
type LayerColumn = readonly [type: string, description: string];

/** Columns of a layer by name, in their order. */
export type LayerColumns = Readonly<Record<string, LayerColumn>>;

/** Columns that a staging table and a layer have in common, with descriptions. */
export type SharedColumns = Readonly<Record<string, readonly [type: Column, description: string]>>;

/** Returns the columns of a staging table without their descriptions. */
export function stagedColumns(columns: SharedColumns): Columns {
  return Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));
}

/** A layer table, partitioned by release. The columns `release_id`, `member_id` and `position` precede the listed columns. */
export interface Layer {
  readonly description: string;
  /** Description of the column `position`: `Line of the file, from 1.` */
  readonly position: string;
  /** Staging table whose polygons load.sql repairs for this layer. A staged row that is not in the layer is a reject, `geometry_without_area`. */
  readonly areasOf?: string;
  readonly columns: LayerColumns;
  /** Indexed columns, by the query that uses the index. An index of a geometry is a GiST index. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
  readonly checks?: LayerChecks;
}

/** Columns of a layer with the places of its rows. */
export interface PlaceColumns {
  /** Columns that distinguish series of the same place: a year, a level. Values of several columns are joined by a blank. */
  readonly series?: readonly string[];
  /** Code of the comune or unit. Null is treated as an empty code. */
  readonly place: string;
  /** Region of the place, as the publisher states it. */
  readonly region?: string;
  /** Region of the place, used if the place is not in the list of comuni. */
  readonly likelyRegion?: string;
  /** ISTAT code of the comune. The code contains the province, and so determines the region. */
  readonly istatCode?: string;
  /** Day of the row. The newest day distinguishes issues of one vintage. */
  readonly dated?: string;
}

/** Edges in degrees: west, south, east, north. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** Checks of a layer that several sources share. Other checks are queries in `checks.sql`. */
interface LayerChecks {
  /** Every geometry is inside this box. */
  readonly within?: Box;
  /** The box of every geometry overlaps this box. */
  readonly overlaps?: Box;
  /** Layer with the pieces of each polygon. The sum of their areas is the area of the polygon. */
  readonly pieces?: string;
  /** Usual bounds of `area_m2`. Areas outside these bounds cause a warning. */
  readonly area?: readonly [least: number, most: number];
  /** `one`: the cells of all tiles are on one grid. */
  readonly grid?: 'one';
}

/** Layer tables, by name without schema. */
export type Layers = Readonly<Record<string, Layer>>;

export interface Source {
  readonly manifest: Manifest;
  /**
   * File names that the publisher uses. The names do not affect recognition. If a file with such a name is not recognised, the file is reported as empty, as an
   * error page or as changed.
   */
  readonly names: readonly RegExp[];
  /** Staging tables by name, `raw_<thing>`, with their columns after `member_id` and `position`. */
  readonly tables: Readonly<Record<string, Columns>>;
  /** Layer tables, filled by load.sql. */
  readonly layers: Layers;
  /**
   * Columns with the places of a layer's rows, for layers in which newer files replace older files place by place. The places of a file are the values of these
   * columns, or the result of the source's `places.sql`. In all other layers, files are replaced as a whole.
   */
  readonly places?: Readonly<Record<string, PlaceColumns>>;
  /** Columns that identify a row of a layer among all rows of a file. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /**
   * Codes of the duplicates of staging tables. If rows of one file repeat the key in `keys`, the first row is used. The other rows are in the table `duplicate`
   * when load.sql runs. Nulls are equal.
   */
  readonly repeats?: Readonly<Record<string, string>>;
  /** Columns that identify a row of a staging table, by table. `validate` reports a file that repeats a key. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /**
   * Recognises a file of this source by its content, never by its folder; null for other files. May throw an input error for a damaged file of this source.
   */
  recognise(probe: Probe): Promise<Recognition | null>;
  /** Streams the records of one file into the sink, in constant memory. */
  read(file: InputFile, sink: Sink): Promise<void>;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const LAYER_TYPE = /^[a-z][a-z0-9]*(?:\[\]|\([a-z]+, \d+\))?(?: not null)?(?: default '[a-z]+')?$/;

/** Defines a source, and checks rules that types cannot express. @throws Error for a name or type that is not plain SQL */
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
  refuse('plain names of layers and columns', [...Object.keys(source.layers), ...columns, ...indexed].find((name) => !NAME.test(name)));
  refuse('plain types of columns', layers.flatMap((layer) => Object.values(layer.columns)).map(([type]) => type).find((type) => !LAYER_TYPE.test(type)));
  refuse('queries of indexes in one line', layers.flatMap(({ indexes = {} }) => Object.keys(indexes)).find((query) => query.includes('\n')));
  return source;
}
