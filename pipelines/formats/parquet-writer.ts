/**
 * GeoParquet 1.1, a row group at a time: geometries as WKB, a column of boxes that covers them, and what the file says of itself. Each row group goes to the
 * disk when it is written: what is kept is where it lies.
 */
import * as zlib from 'node:zlib';
import { ParquetWriter, fileWriter } from 'hyparquet-writer';

type WriterOptions = ConstructorParameters<typeof ParquetWriter>[0];
type SchemaElement = WriterOptions['schema'][number];

export type ParquetType = 'int2' | 'int4' | 'int8' | 'float8' | 'text' | 'bool';

export interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
}

/** West, south, east, north; degrees. */
export type Extent = readonly [west: number, south: number, east: number, north: number];

export interface ParquetRow {
  /** In the order of the columns. */
  readonly cells: readonly (string | number | boolean | null)[];
  /** Multipolygon, longitude latitude; outer rings counterclockwise, holes clockwise. */
  readonly wkb: Uint8Array;
  readonly extent: Extent;
}

export interface ParquetFacts {
  readonly columns: readonly ParquetColumn[];
  /** Of all rows. */
  readonly extent: Extent;
  /** Told beside the geometries, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Name and version of the program. */
  readonly createdBy: string;
}

const TYPES: Readonly<Record<ParquetType, Omit<SchemaElement, 'name'>>> = {
  int2: { type: 'INT32' }, int4: { type: 'INT32' }, int8: { type: 'INT64' }, float8: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }, bool: { type: 'BOOLEAN' },
};

const SIDES = ['xmin', 'ymin', 'xmax', 'ymax'] as const;

/** Added to Node in 22.15. */
const zstd = (zlib as { readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer }).zstdCompressSync;

/** What files are compressed with on this runtime. */
export const PARQUET_CODEC: 'ZSTD' | 'SNAPPY' = zstd === undefined ? 'SNAPPY' : 'ZSTD';

const COMPRESSORS: NonNullable<WriterOptions['compressors']> = zstd === undefined ? {} : { ZSTD: (bytes) => zstd(bytes) };

export class GeoParquetFile {
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ParquetColumn[];

  /** @param path is made, or written over */
  constructor(path: string, { columns, extent, metadata, createdBy }: ParquetFacts) {
    this.#columns = columns;
    const schema: SchemaElement[] = [
      { name: 'schema', num_children: columns.length + 2 },
      ...columns.map(({ name, type }) => ({ ...TYPES[type], name, repetition_type: 'OPTIONAL' as const })),
      { name: 'bbox', num_children: SIDES.length, repetition_type: 'REQUIRED' },
      ...SIDES.map((name) => ({ name, type: 'DOUBLE' as const, repetition_type: 'REQUIRED' as const })),
      { name: 'geometry', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED' },
    ];
    // Without a CRS it is OGC:CRS84: longitude and latitude on WGS 84.
    const geo = {
      version: '1.1.0',
      primary_column: 'geometry',
      columns: {
        geometry: {
          encoding: 'WKB', geometry_types: ['MultiPolygon'], orientation: 'counterclockwise', edges: 'planar', bbox: extent,
          covering: { bbox: Object.fromEntries(SIDES.map((side) => [side, ['bbox', side]])) },
        },
      },
    };
    this.#writer = new ParquetWriter({
      writer: fileWriter(path), schema, codec: PARQUET_CODEC, compressors: COMPRESSORS, createdBy,
      kvMetadata: [{ key: 'geo', value: JSON.stringify(geo) }, ...Object.entries(metadata).map(([key, value]) => ({ key, value }))],
    });
  }

  /** One row group. */
  async write(rows: readonly ParquetRow[]): Promise<void> {
    const columns = this.#columns.map(({ name, type }, index) => ({
      name, data: rows.map(({ cells }) => (type === 'int8' && typeof cells[index] === 'number' ? BigInt(cells[index]) : cells[index] ?? null)),
    }));
    await this.#writer.write({
      rowGroupSize: rows.length,
      columnData: [
        ...columns,
        { name: 'bbox', data: rows.map(({ extent }) => Object.fromEntries(SIDES.map((side, index) => [side, extent[index]]))) },
        // Every geometry is another: a dictionary of them would be looked for in vain.
        { name: 'geometry', data: rows.map(({ wkb }) => wkb), encoding: 'PLAIN', statistics: false },
      ],
    });
  }

  /** Writes where everything lies; only then it is a file that can be read. */
  async close(): Promise<void> {
    await this.#writer.finish();
  }
}
