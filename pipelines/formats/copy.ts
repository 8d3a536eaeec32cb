/**
 * Writes rows in PostgreSQL's binary COPY format into large buffers.
 *
 * Rows are appended to one buffer per table, and flushed in chunks of 64 KiB. One chunk per row would need four times the CPU time, and hexadecimal geometry
 * would need twice the time of binary geometry (measured). Format: PostgreSQL documentation, "COPY", section "Binary Format".
 */

/** PostgreSQL types that a staging column may have. `geometry` values are EWKB with SRID, longitude before latitude (easting before northing). */
export type ColumnType = 'text' | 'int2' | 'int4' | 'int8' | 'float8' | 'bool' | 'date' | 'geometry' | 'text[]' | 'int4[]' | 'float8[]';

/** Type of a column in a table. A geometry type may include kind and SRID: `geometry(multipolygon, 6706) not null`. */
export type Column = ColumnType | `geometry(${string})` | `${ColumnType | `geometry(${string})`} not null`;

/** Columns of a staging table in COPY order. Omits the columns `member_id` and `position`, which always come first. */
export type Columns = Readonly<Record<string, Column>>;

/** Returns the types that COPY writes for these columns. */
export function typesOf(columns: Columns): ColumnType[] {
  return Object.values(columns).map((column) => column.replace(/\([^()]*\)| not null/g, '') as ColumnType);
}

/** Default size in bytes at which a chunk is flushed. The last row may make a chunk larger. A larger default would double the garbage collector's work. */
const CHUNK_BYTES = 65_536;
/** Space in bytes that the buffer has for the last row of a chunk. The buffer grows for a longer row. */
const LAST_ROW_BYTES = 8_192;

/** Header of a COPY stream: `PGCOPY\n\377\r\n\0`, flags, length of the header extension. */
export const COPY_HEADER: Buffer = Buffer.from([0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/** Trailer of a COPY stream: a field count of −1. */
export const COPY_TRAILER: Buffer = Buffer.from([0xff, 0xff]);

/** Number of days between 1970-01-01 and PostgreSQL's epoch, 2000-01-01. */
const EPOCH_DAYS = 10_957;

/** A function that writes a non-null value as a field. */
type Encoder = (writer: RowWriter, value: unknown) => void;

/** Encoders by column type. An encoder throws TypeError for a value of a different kind. */
const ENCODERS: Readonly<Record<ColumnType, Encoder>> = {
  text: (writer, value) => writer.text(typeof value === 'string' ? value : wrong('text', value)),
  int2: (writer, value) => writer.int2(integer(value)),
  int4: (writer, value) => writer.int4(integer(value)),
  int8: (writer, value) => writer.int8(typeof value === 'bigint' ? value : integer(value)),
  float8: (writer, value) => writer.float8(typeof value === 'number' ? value : wrong('float8', value)),
  bool: (writer, value) => writer.bool(typeof value === 'boolean' ? value : wrong('bool', value)),
  date: (writer, value) => writer.date(typeof value === 'string' ? value : wrong('date', value)),
  geometry: (writer, value) => writer.bytes(value instanceof Uint8Array ? value : wrong('geometry', value)),
  'text[]': (writer, value) => writer.array(25, 'text', Array.isArray(value) ? value : wrong('text[]', value)),
  'int4[]': (writer, value) => writer.array(23, 'int4', Array.isArray(value) ? value : wrong('int4[]', value)),
  'float8[]': (writer, value) => writer.array(701, 'float8', Array.isArray(value) ? value : wrong('float8[]', value)),
};

function wrong(type: ColumnType, value: unknown): never {
  throw new TypeError(`${type} column got ${typeof value}`);
}

function integer(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError(`expected a number for an integer column, found ${String(value)}`);
  return value;
}

/**
 * Encodes rows of one table. Between `begin` and `end`, the caller writes the fields in column order, with exactly one call per column. Readers of large files
 * may write directly into `buffer` at `length`, after a call of `ensure`.
 */
export class RowWriter {
  readonly #types: readonly ColumnType[];
  readonly #flush: (chunk: Buffer) => void;
  readonly #chunkBytes: number;
  #rowStart = 0;
  /** Number of completed rows. */
  rows = 0;
  /** Member id to write into every row. */
  memberId = 0;
  buffer: Buffer;
  length = 0;

  /**
   * @param columns staging columns without `member_id` and `position`
   * @param flush receives a chunk of whole rows, without header and trailer, in a buffer that is not used again @param chunkBytes size of chunks in bytes
   */
  constructor(columns: Columns, flush: (chunk: Buffer) => void, chunkBytes: number = CHUNK_BYTES) {
    this.#types = typesOf(columns);
    this.#flush = flush;
    this.#chunkBytes = chunkBytes;
    this.buffer = Buffer.allocUnsafeSlow(chunkBytes + LAST_ROW_BYTES);
  }

  /** Ensures that the buffer has space for `bytes` more bytes at `length`. */
  ensure(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }

  /** Starts a row: writes field count, member_id and position. */
  begin(position: number): void {
    this.#rowStart = this.length;
    this.ensure(22);
    const { buffer } = this;
    let at = this.length;
    const fields = this.#types.length + 2;
    buffer[at] = fields >>> 8;
    buffer[at + 1] = fields & 0xff;
    at = buffer.writeInt32BE(4, at + 2);
    at = buffer.writeInt32BE(this.memberId, at);
    at = buffer.writeInt32BE(8, at);
    at = buffer.writeInt32BE(Math.floor(position / 4_294_967_296), at);
    this.length = buffer.writeUInt32BE(position % 4_294_967_296, at);
  }

  /** Discards the current row. */
  abandon(): void {
    this.length = this.#rowStart;
  }

  /** Ends the row, and flushes the chunk if the chunk is full. */
  end(): void {
    this.rows += 1;
    if (this.length >= this.#chunkBytes) this.flush();
  }

  /** Flushes all buffered rows, even if the chunk is not full. */
  flush(): void {
    if (this.length === 0) return;
    const chunk = this.buffer.subarray(0, this.length);
    this.buffer = Buffer.allocUnsafeSlow(this.#chunkBytes + LAST_ROW_BYTES);
    this.length = 0;
    this.#rowStart = 0;
    this.#flush(chunk);
  }

  /** Appends whole rows that another writer of the same table encoded. Overwrites the member id of these rows in `chunk` with this writer's `memberId`. */
  append(chunk: Buffer): void {
    this.flush();
    for (let at = 0; at < chunk.length; this.rows += 1) {
      chunk.writeInt32BE(this.memberId, at + 6);
      let fields = chunk.readInt16BE(at);
      for (at += 2; fields > 0; fields -= 1) at += 4 + Math.max(0, chunk.readInt32BE(at));
    }
    this.#flush(chunk);
  }

  null(): void {
    this.ensure(4);
    this.length = this.buffer.writeInt32BE(-1, this.length);
  }

  int2(value: number): void {
    this.ensure(6);
    this.length = this.buffer.writeInt16BE(value, this.buffer.writeInt32BE(2, this.length));
  }

  int4(value: number): void {
    this.ensure(8);
    this.length = this.buffer.writeInt32BE(value, this.buffer.writeInt32BE(4, this.length));
  }

  /** Writes an int8 field. @param value a safe integer or a bigint */
  int8(value: number | bigint): void {
    this.ensure(12);
    this.length = this.buffer.writeBigInt64BE(BigInt(value), this.buffer.writeInt32BE(8, this.length));
  }

  float8(value: number): void {
    this.ensure(12);
    this.length = this.buffer.writeDoubleBE(value, this.buffer.writeInt32BE(8, this.length));
  }

  bool(value: boolean): void {
    this.ensure(5);
    const at = this.buffer.writeInt32BE(1, this.length);
    this.buffer[at] = value ? 1 : 0;
    this.length = at + 1;
  }

  /** Writes a date field. @param iso ISO date, such as `2026-07-01` */
  date(iso: string): void {
    this.ensure(8);
    const days = Date.parse(`${iso}T00:00:00Z`) / 86_400_000 - EPOCH_DAYS;
    if (!Number.isInteger(days)) throw new RangeError(`not an ISO date: ${iso}`);
    this.length = this.buffer.writeInt32BE(days, this.buffer.writeInt32BE(4, this.length));
  }

  /** Writes a text field. The caller rejects NUL characters, which PostgreSQL cannot store. */
  text(value: string): void {
    this.ensure(4 + value.length * 3);
    const written = this.buffer.write(value, this.length + 4, 'utf8');
    this.buffer.writeInt32BE(written, this.length);
    this.length += 4 + written;
  }

  /** Writes a field whose bytes are already encoded: text in valid UTF-8, or a geometry in EWKB. */
  bytes(source: Uint8Array, start: number = 0, end: number = source.length): void {
    const size = end - start;
    this.ensure(4 + size);
    const at = this.buffer.writeInt32BE(size, this.length);
    if (size < 24) {
      // For a few bytes, a loop is faster than `set`.
      for (let i = 0; i < size; i += 1) this.buffer[at + i] = source[start + i] ?? 0;
    } else {
      this.buffer.set(source.subarray(start, end), at);
    }
    this.length = at + size;
  }

  /** Writes an array. @param oid OID of the element type in PostgreSQL */
  array(oid: number, type: ColumnType, values: readonly unknown[]): void {
    const sizeAt = this.length;
    this.ensure(24);
    let at = this.buffer.writeInt32BE(values.length === 0 ? 0 : 1, sizeAt + 4);
    at = this.buffer.writeInt32BE(values.includes(null) ? 1 : 0, at);
    at = this.buffer.writeInt32BE(oid, at);
    if (values.length > 0) at = this.buffer.writeInt32BE(1, this.buffer.writeInt32BE(values.length, at));
    this.length = at;
    for (const value of values) this.value(type, value);
    this.buffer.writeInt32BE(this.length - sizeAt - 4, sizeAt);
  }

  /** Writes a value as a field of the given type. Null and undefined become null. @throws TypeError for a value of a different kind. */
  value(type: ColumnType, value: unknown): void {
    if (value === null || value === undefined) this.null();
    else ENCODERS[type](this, value);
  }

  /** Writes a row from values in column order. */
  row(position: number, values: readonly unknown[]): void {
    if (values.length !== this.#types.length) {
      throw new TypeError(`row has ${values.length} values, but the table has ${this.#types.length} columns`);
    }
    this.begin(position);
    let index = 0;
    for (const type of this.#types) {
      this.value(type, values[index]);
      index += 1;
    }
    this.end();
  }
}

/**
 * Reads encoded rows, without header and trailer. Field 0 is member_id, and field 1 is position. A null has the length −1. @param onField called for each
 * field, with the field number, the offset and length of the field's bytes, and the row's position (0 in the call for field 0)
 */
export function readRows(
  chunk: Buffer, onField: (field: number, at: number, size: number, position: number) => void, onRow?: (position: number) => void,
): void {
  for (let at = 0; at < chunk.length;) {
    const fields = chunk.readInt16BE(at);
    at += 2;
    let position = 0;
    for (let field = 0; field < fields; field += 1) {
      const size = chunk.readInt32BE(at);
      at += 4;
      if (field === 1) position = Number(chunk.readBigInt64BE(at));
      onField(field, at, size, position);
      at += Math.max(size, 0);
    }
    onRow?.(position);
  }
}
