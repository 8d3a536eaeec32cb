/**
 * Reads the FlatGeobuf files that GDAL writes for `gdal-wasm.ts`. These files contain exact numbers and no spatial index, and the features are in file order.
 * Format: FlatGeobuf 3.0 (header.fbs, feature.fbs); FlatBuffers, "Internals".
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { VectorValue } from './vector.ts';

const MAGIC_BYTES = 8;
/** Number of bytes per read. */
const CHUNK_BYTES = 1_048_576;
/** Numbers of the fields in FlatGeobuf's schema, by table. */
const HEADER = { columns: 7 } as const;
const COLUMN = { type: 1 } as const;
const FEATURE = { geometry: 0, properties: 1 } as const;
const GEOMETRY = { ends: 0, xy: 1, type: 6, parts: 7 } as const;

/** A FlatBuffer table, from which fields are read by number. */
class Table {
  readonly #bytes: Buffer;
  readonly #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  static root(bytes: Buffer): Table {
    return new Table(bytes, bytes.readUInt32LE(0));
  }

  byte(field: number): number {
    const at = this.#place(field);
    return at === null ? 0 : this.#bytes.readUInt8(at);
  }

  table(field: number): Table | null {
    const at = this.#place(field);
    return at === null ? null : new Table(this.#bytes, at + this.#bytes.readUInt32LE(at));
  }

  tables(field: number): Table[] {
    const { from, count } = this.#vector(field);
    return Array.from({ length: count }, (_, index) => from + index * 4).map((at) => new Table(this.#bytes, at + this.#bytes.readUInt32LE(at)));
  }

  numbers(field: number): number[] {
    const { from, count } = this.#vector(field);
    return Array.from({ length: count }, (_, index) => this.#bytes.readUInt32LE(from + index * 4));
  }

  /** Returns the bytes of a vector field. @param width size of an element in bytes */
  bytes(field: number, width: number): Buffer {
    const { from, count } = this.#vector(field);
    return this.#bytes.subarray(from, from + count * width);
  }

  /** Returns the offset of a field's value; null for an omitted field, which has the default value. */
  #place(field: number): number | null {
    const table = this.#at - this.#bytes.readInt32LE(this.#at);
    const slot = 4 + field * 2;
    if (slot >= this.#bytes.readUInt16LE(table)) return null;
    const offset = this.#bytes.readUInt16LE(table + slot);
    return offset === 0 ? null : this.#at + offset;
  }

  #vector(field: number): { readonly from: number; readonly count: number } {
    const at = this.#place(field);
    if (at === null) return { from: 0, count: 0 };
    const start = at + this.#bytes.readUInt32LE(at);
    return { from: start + 4, count: this.#bytes.readUInt32LE(start) };
  }
}

export interface FlatFeature {
  /** Values in the order of the file's columns; null for a missing value. */
  readonly values: readonly VectorValue[];
  /** Geometry as WKB in XY; null for a missing or empty geometry. */
  readonly wkb: Buffer | null;
  /** Size of the feature in the file, in bytes. */
  readonly size: number;
}

/** An open FlatGeobuf file, which the caller must close. */
export class FlatGeobufFile {
  readonly #file: number;
  readonly #types: readonly number[];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.#take(MAGIC_BYTES);
    const header = this.#sized();
    this.#types = header === null ? [] : Table.root(header).tables(HEADER.columns).map((column) => column.byte(COLUMN.type));
  }

  /** Returns the next feature, or null after the last feature. @throws Error if the file ends inside a feature */
  next(): FlatFeature | null {
    const bytes = this.#sized();
    if (bytes === null) return null;
    const feature = Table.root(bytes);
    const geometry = feature.table(FEATURE.geometry);
    const wkb = geometry === null ? null : Buffer.concat(wkbOf(geometry, 0));
    return { values: valuesOf(feature.bytes(FEATURE.properties, 1), this.#types), wkb, size: bytes.length };
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Reads a size of 4 bytes, and returns as many of the following bytes. Returns null at the end of the file. */
  #sized(): Buffer | null {
    const size = this.#take(4);
    if (size.length === 0) return null;
    return this.#take(size.readUInt32LE(0));
  }

  /** Returns the next `count` bytes of the file, or an empty buffer at the end of the file. @throws Error if the file ends inside these bytes */
  #take(count: number): Buffer {
    if (this.#bytes.length - this.#at < count) {
      const rest = this.#bytes.subarray(this.#at);
      const chunk = Buffer.allocUnsafe(Math.max(count, CHUNK_BYTES));
      rest.copy(chunk);
      let end = rest.length;
      for (let read = -1; read !== 0 && end < count; end += read) read = readSync(this.#file, chunk, end, chunk.length - end, null);
      this.#bytes = chunk.subarray(0, end);
      this.#at = 0;
      if (end === 0) return this.#bytes;
      if (end < count) throw new Error(`expected ${count} more bytes of the intermediate file, found ${end}`);
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

/** Functions that read a property value, by column type. Each returns the value and its length in bytes. */
const VALUES: Readonly<Record<number, (bytes: Buffer, at: number) => readonly [VectorValue, number]>> = {
  0: (bytes, at) => [bytes.readInt8(at), 1],
  1: (bytes, at) => [bytes.readUInt8(at), 1],
  2: (bytes, at) => [bytes.readUInt8(at), 1],
  3: (bytes, at) => [bytes.readInt16LE(at), 2],
  4: (bytes, at) => [bytes.readUInt16LE(at), 2],
  5: (bytes, at) => [bytes.readInt32LE(at), 4],
  6: (bytes, at) => [bytes.readUInt32LE(at), 4],
  7: (bytes, at) => [Number(bytes.readBigInt64LE(at)), 8],
  8: (bytes, at) => [Number(bytes.readBigUInt64LE(at)), 8],
  9: (bytes, at) => [bytes.readFloatLE(at), 4],
  10: (bytes, at) => [bytes.readDoubleLE(at), 8],
  11: text,
  12: text,
  13: text,
  14: (bytes, at) => {
    const size = bytes.readUInt32LE(at);
    return [JSON.stringify(bytes.subarray(at + 4, at + 4 + size)), 4 + size];
  },
};

function text(bytes: Buffer, at: number): readonly [string, number] {
  const size = bytes.readUInt32LE(at);
  return [bytes.toString('utf8', at + 4, at + 4 + size), 4 + size];
}

function valuesOf(bytes: Buffer, types: readonly number[]): VectorValue[] {
  const values: VectorValue[] = types.map(() => null);
  for (let at = 0; at < bytes.length;) {
    const column = bytes.readUInt16LE(at);
    const read = VALUES[types[column] ?? -1];
    if (read === undefined) throw new Error(`column ${column} of the intermediate file has an unexpected type`);
    const [value, size] = read(bytes, at + 2);
    values[column] = value;
    at += 2 + size;
  }
  return values;
}

const POSITION_BYTES = 16;

/** Returns the WKB of a geometry, as a list of buffers. @param fallback type for parts that state no type */
function wkbOf(geometry: Table, fallback: number): Buffer[] {
  const type = geometry.byte(GEOMETRY.type) || fallback;
  const xy = geometry.bytes(GEOMETRY.xy, 8);
  const parts = geometry.tables(GEOMETRY.parts);
  switch (type) {
    case 1:
      return [head(type), xy];
    case 2:
    case 8:
      return [head(type, xy.length / POSITION_BYTES), xy];
    case 4:
      return [head(type, xy.length / POSITION_BYTES), ...pieces(xy, POSITION_BYTES).flatMap((point) => [head(1), point])];
    case 3:
    case 17: {
      const rings = lines(geometry, xy);
      return [head(type, rings.length), ...rings.flatMap((ring) => [count(ring.length / POSITION_BYTES), ring])];
    }
    case 5: {
      const members = lines(geometry, xy);
      return [head(type, members.length), ...members.flatMap((line) => [head(2, line.length / POSITION_BYTES), line])];
    }
    default:
      return [head(type, parts.length), ...parts.flatMap((part) => wkbOf(part, type === 6 ? 3 : 2))];
  }
}

/** Splits the coordinates of a geometry into lines or rings, at the ends that the geometry states. */
function lines(geometry: Table, xy: Buffer): Buffer[] {
  const ends = geometry.numbers(GEOMETRY.ends);
  if (ends.length === 0) return xy.length === 0 ? [] : [xy];
  return ends.map((end, index) => xy.subarray((ends[index - 1] ?? 0) * POSITION_BYTES, end * POSITION_BYTES));
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: bytes.length / size }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function head(type: number, members?: number): Buffer {
  const bytes = Buffer.alloc(members === undefined ? 5 : 9);
  bytes[0] = 1;
  bytes.writeUInt32LE(type, 1);
  if (members !== undefined) bytes.writeUInt32LE(members, 5);
  return bytes;
}

function count(of: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(of);
  return bytes;
}
