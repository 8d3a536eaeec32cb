/**
 * Writes Parquet and GeoParquet by row groups. A GeoParquet file also has a geometry column and a column with the bounding boxes of the geometries. In
 * GeoParquet 1.1, geometries are bytes (WKB). In GeoParquet 2.0, geometries have Parquet's type GEOMETRY with statistics. The writer writes each complete
 * row group to disk, and then keeps only the group's metadata in memory.
 */
import * as zlib from 'node:zlib';
import { ParquetWriter, fileWriter } from 'hyparquet-writer';
import { multiPolygonOf } from './wkb.ts';

type WriterOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = WriterOptions['schema'][number];

type ParquetType = 'int2' | 'int4' | 'int8' | 'float8' | 'text' | 'bool';

interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
}

/** Extent in degrees (EPSG:4326): west, south, east, north. */
export type Extent = readonly [west: number, south: number, east: number, north: number];

/** Cells of a row, in the order of the columns. */
type ParquetCells = readonly (string | number | boolean | null)[];

interface ParquetRow {
  readonly cells: ParquetCells;
  /** WKB of a multipolygon, longitude before latitude. Outer rings are counterclockwise, and holes clockwise. */
  readonly wkb: Uint8Array;
  readonly extent: Extent;
}

interface ParquetFacts {
  readonly columns: readonly ParquetColumn[];
  /** Values of additional file metadata, by key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Name and version of the program. */
  readonly createdBy: string;
}

export type GeoParquetVersion = '1.1.0' | '2.0.0';

const TYPES: Readonly<Record<ParquetType, Omit<SchemaElement, 'name'>>> = {
  int2: { type: 'INT32' }, int4: { type: 'INT32' }, int8: { type: 'INT64' }, float8: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }, bool: { type: 'BOOLEAN' },
};

/** Parquet type of the geometry column. The type names the default CRS (OGC:CRS84), because DuckDB does not show an unnamed CRS. */
const NATIVE = { logical_type: { type: 'GEOMETRY', crs: 'OGC:CRS84' } } as const;

/** Number of rows in a row group. The size of a row group is a few megabytes. A spatial query reads or skips whole row groups. */
const ROW_GROUP = 20_000;

const SIDES = ['xmin', 'ymin', 'xmax', 'ymax'] as const;

/** Node's zstd function, available since Node 22.15; undefined in older versions. */
const zstd = (zlib as { readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer }).zstdCompressSync;

/** Compression codec of the written files: zstd if this version of Node supports zstd, otherwise Snappy. */
export const PARQUET_CODEC: 'ZSTD' | 'SNAPPY' = zstd === undefined ? 'SNAPPY' : 'ZSTD';

const COMPRESSORS: NonNullable<WriterOptions['compressors']> = zstd === undefined ? {} : { ZSTD: (bytes) => zstd(bytes) };

/** Columns that `GeoParquetFile` adds after the table's columns. */
interface MoreColumns {
  readonly schema: readonly SchemaElement[];
  /** Number of top-level columns in `schema`. */
  readonly children: number;
  /** Removes and returns the values of the buffered rows. */
  take(): Parameters<ParquetWriter['write']>[0]['columnData'];
}

const NO_MORE: MoreColumns = { schema: [], children: 0, take: () => [] };

export class ParquetFile {
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ParquetColumn[];
  readonly #more: MoreColumns;
  /** Buffered values, by column. */
  #cells: (ParquetCells[number] | bigint)[][];
  #rows = 0;

  /** @param path file that is created or overwritten */
  constructor(path: string, { columns, metadata, createdBy }: ParquetFacts, more: MoreColumns = NO_MORE) {
    this.#columns = columns;
    this.#more = more;
    this.#cells = columns.map(() => []);
    const schema: SchemaElement[] = [
      { name: 'schema', num_children: columns.length + more.children },
      ...columns.map(({ name, type }) => ({ ...TYPES[type], name, repetition_type: 'OPTIONAL' as const })),
      ...more.schema,
    ];
    this.#writer = new ParquetWriter({
      writer: fileWriter(path), schema, codec: PARQUET_CODEC, compressors: COMPRESSORS, createdBy,
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    });
  }

  /** Adds a row. The writer buffers the row until the rows fill a row group. */
  async add(cells: ParquetCells): Promise<void> {
    for (const [index, { type }] of this.#columns.entries()) {
      const cell = cells[index] ?? null;
      this.#cells[index]?.push(type === 'int8' && typeof cell === 'number' ? BigInt(cell) : cell);
    }
    this.#rows += 1;
    if (this.#rows === ROW_GROUP) await this.#write();
  }

  async #write(): Promise<void> {
    const [rows, cells] = [this.#rows, this.#cells];
    if (rows === 0) return;
    this.#rows = 0;
    this.#cells = cells.map(() => []);
    const columnData = this.#columns.map(({ name }, index) => ({ name, data: cells[index] ?? [] }));
    await this.#writer.write({ rowGroupSize: rows, columnData: [...columnData, ...this.#more.take()] });
  }

  /** Writes the last row group and the footer, without which no program can read the file. */
  async close(): Promise<void> {
    await this.#write();
    await this.#writer.finish();
  }
}

export class GeoParquetFile {
  readonly #file: ParquetFile;
  #boxes: object[] = [];
  #geometries: Uint8Array[] = [];

  /** @param path file that is created or overwritten @param facts `extent`: extent of all rows */
  constructor(path: string, { extent, version, metadata, ...facts }: ParquetFacts & { readonly extent: Extent; readonly version: GeoParquetVersion }) {
    // `geo` names no CRS, because the default is OGC:CRS84: longitude and latitude on WGS 84.
    const geo = {
      version,
      primary_column: 'geometry',
      columns: {
        geometry: {
          encoding: 'WKB', geometry_types: ['MultiPolygon'], orientation: 'counterclockwise', edges: 'planar', bbox: extent,
          covering: { bbox: Object.fromEntries(SIDES.map((side) => [side, ['bbox', side]])) },
        },
      },
    };
    this.#file = new ParquetFile(path, { ...facts, metadata: { geo: JSON.stringify(geo), ...metadata } }, {
      children: 2,
      schema: [
        { name: 'bbox', num_children: SIDES.length, repetition_type: 'REQUIRED' },
        ...SIDES.map((name) => ({ name, type: 'DOUBLE' as const, repetition_type: 'REQUIRED' as const })),
        { name: 'geometry', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED', ...(version === '2.0.0' ? NATIVE : {}) },
      ],
      take: () => {
        const [boxes, geometries] = [this.#boxes, this.#geometries];
        this.#boxes = [];
        this.#geometries = [];
        // A dictionary would be useless, because all geometries are different. Minimum and maximum of WKB bytes would also be useless.
        return [{ name: 'bbox', data: boxes }, version === '2.0.0'
          ? { name: 'geometry', data: geometries.map(multiPolygonOf), encoding: 'PLAIN' }
          : { name: 'geometry', data: geometries, encoding: 'PLAIN', statistics: false }];
      },
    });
  }

  async add(rows: readonly ParquetRow[]): Promise<void> {
    for (const { cells, wkb, extent } of rows) {
      this.#boxes.push(Object.fromEntries(SIDES.map((side, index) => [side, extent[index]])));
      this.#geometries.push(wkb);
      await this.#file.add(cells);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
