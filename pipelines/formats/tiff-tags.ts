/**
 * Reads the directories of a TIFF, which contain the tags of the images. Compares every size in a header with the file's size before reading. Format: TIFF 6.0
 * (1992); BigTIFF (2007).
 */
import type { FileHandle } from 'node:fs/promises';
import { inputError, type MappaleError } from '../errors.ts';

/** Number of bytes of a value, by TIFF field type. */
const TYPE_BYTES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8 };
const TEXT = 2;
const MOST_TAGS = 4096;
/** Maximum number of bytes of a tag's values. The limit does not apply to tables of blocks. The longest values are descriptions and colour tables. */
const MOST_TAG_BYTES = 1_048_576;
const MOST_BLOCKS = 16_777_216;

/** A raster file of known size, with functions that read bytes at given positions. */
export class RasterFile {
  readonly #handle: FileHandle;
  readonly size: number;
  readonly at: string;

  constructor(handle: FileHandle, size: number, at: string) {
    this.#handle = handle;
    this.size = size;
    this.at = at;
  }

  /** Reads bytes. @throws input error `RASTER_DAMAGED` if the offset or length is not a whole number, or if the file does not contain all these bytes */
  async bytes(offset: number, length: number, what: string): Promise<Buffer> {
    const isWithin = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0 && offset + length <= this.size;
    if (!isWithin) throw this.damaged(`${what} of ${length} bytes at byte ${offset}`, `a file of ${this.size} bytes`);
    const { buffer, bytesRead } = await this.#handle.read(Buffer.allocUnsafeSlow(length), 0, length, offset);
    if (bytesRead !== length) throw this.damaged(`${what} of ${length} bytes at byte ${offset}`, `${bytesRead} bytes`);
    return buffer;
  }

  damaged(expected: string, found: string, cause?: unknown): MappaleError {
    return inputError('the raster is damaged', {
      code: 'RASTER_DAMAGED', at: this.at, detail: `expected ${expected}, found ${found}`,
      hint: 'The download was probably cut short. Download the file again and compare its size with the publisher\'s.', cause,
    });
  }

  refused(code: string, message: string, expected: string, found: string, hint: string): MappaleError {
    return inputError(message, { code, at: this.at, detail: `expected ${expected}, found ${found}`, hint });
  }
}

/** Position and type of a tag's values. */
interface Field {
  readonly type: number;
  readonly count: number;
  /** Offset of the values in the file. */
  readonly offset: number;
}

export interface Directory {
  readonly fields: ReadonlyMap<number, Field>;
  /** Offset of the next image's directory; 0 for the last image. */
  readonly next: number;
}

/** Reads numbers and directories in the file's byte order. */
export class TiffReader {
  readonly file: RasterFile;
  readonly little: boolean;
  readonly #big: boolean;

  constructor(file: RasterFile, { little, big }: { readonly little: boolean; readonly big: boolean }) {
    this.file = file;
    this.little = little;
    this.#big = big;
  }

  /** Reads an offset or a count of 8 bytes. A value above 2^53 − 1 means that the file is damaged. */
  #long(bytes: Buffer, at: number): number {
    const value = Number(this.little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
    if (!Number.isSafeInteger(value)) throw this.file.damaged('a possible file size or offset', String(value));
    return value;
  }

  number(bytes: Buffer, type: number, at: number): number {
    const { little } = this;
    switch (type) {
      case 1: case 2: case 7: return bytes.readUInt8(at);
      case 6: return bytes.readInt8(at);
      case 3: return little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
      case 8: return little ? bytes.readInt16LE(at) : bytes.readInt16BE(at);
      case 4: case 13: return little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
      case 9: return little ? bytes.readInt32LE(at) : bytes.readInt32BE(at);
      case 11: return little ? bytes.readFloatLE(at) : bytes.readFloatBE(at);
      case 12: return little ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at);
      case 16: case 18: return this.#long(bytes, at);
      default: throw this.file.damaged('a number', `a value of type ${type}`);
    }
  }

  async firstDirectory(): Promise<number> {
    if (!this.#big) return this.number(await this.file.bytes(4, 4, 'header'), 4, 0);
    const header = await this.file.bytes(4, 12, 'header');
    const [size, zero] = [this.number(header, 3, 0), this.number(header, 3, 2)];
    if (size !== 8 || zero !== 0) throw this.file.damaged('offsets of 8 bytes in a BigTIFF', `${size} and ${zero}`);
    return this.#long(header, 4);
  }

  async directory(offset: number): Promise<Directory> {
    const [countBytes, entryBytes, offsetBytes] = this.#big ? [8, 20, 8] : [2, 12, 4];
    const head = await this.file.bytes(offset, countBytes, 'directory');
    const count = this.#big ? this.#long(head, 0) : this.number(head, 3, 0);
    if (count === 0 || count > MOST_TAGS) throw this.file.damaged(`a directory of 1 to ${MOST_TAGS} tags`, String(count));
    const bytes = await this.file.bytes(offset + countBytes, count * entryBytes + offsetBytes, 'directory');
    const fields = new Map<number, Field>();
    for (let at = 0; at < count * entryBytes; at += entryBytes) {
      const tag = this.number(bytes, 3, at);
      const type = this.number(bytes, 3, at + 2);
      const values = this.#big ? this.#long(bytes, at + 4) : this.number(bytes, 4, at + 4);
      const inline = at + (this.#big ? 12 : 8);
      const size = (TYPE_BYTES[type] ?? 0) * values;
      const where = size <= offsetBytes ? offset + countBytes + inline : this.#big ? this.#long(bytes, inline) : this.number(bytes, 4, inline);
      if (!fields.has(tag)) fields.set(tag, { type, count: values, offset: where });
    }
    return { fields, next: this.#big ? this.#long(bytes, count * entryBytes) : this.number(bytes, 4, count * entryBytes) };
  }

  /** Returns all values of a field as numbers. */
  async numbers({ type, count, offset }: Field, what: string): Promise<Float64Array> {
    const size = TYPE_BYTES[type];
    // Values of an unknown type have an unknown size, which cannot be compared with the file's size.
    if (size === undefined) throw this.file.damaged('a number', `values of type ${type} in ${what}`);
    const bytes = await this.file.bytes(offset, size * count, what);
    return Float64Array.from({ length: count }, (_, index) => this.number(bytes, type, index * size));
  }
}

/** Tags of one image. */
export class Image {
  readonly #reader: TiffReader;
  readonly #fields: ReadonlyMap<number, Field>;

  constructor(reader: TiffReader, { fields }: Directory) {
    this.#reader = reader;
    this.#fields = fields;
  }

  get file(): RasterFile {
    return this.#reader.file;
  }

  has(tag: number): boolean {
    return this.#fields.has(tag);
  }

  async numbers(tag: number): Promise<readonly number[] | null> {
    const field = this.#fields.get(tag);
    if (field === undefined) return null;
    this.#refuseLong(tag, field);
    return [...(await this.#reader.numbers(field, `tag ${tag}`))];
  }

  /**
   * Returns the first value of a tag that contains a size, a count or a code.
   * @param otherwise value to return if the image lacks the tag
   * @throws input error `RASTER_DAMAGED` for a negative or fractional value
   */
  async whole(tag: number, otherwise: number): Promise<number> {
    const value = (await this.numbers(tag))?.[0] ?? otherwise;
    if (!Number.isSafeInteger(value) || value < 0) throw this.file.damaged(`a whole number in tag ${tag}`, String(value));
    return value;
  }

  async text(tag: number): Promise<string | null> {
    const field = this.#fields.get(tag);
    if (field?.type !== TEXT) return null;
    this.#refuseLong(tag, field);
    return (await this.#reader.file.bytes(field.offset, field.count, `tag ${tag}`)).toString('latin1').replace(/\0[^]*$/, '');
  }

  /** Returns the offset or the size of each block, as in the file. `RasterFile.bytes` checks these values when a block is read. */
  async table(tag: number, blocks: number): Promise<Float64Array> {
    const field = this.#fields.get(tag);
    if (field === undefined || field.count < blocks || blocks > MOST_BLOCKS) {
      throw this.#reader.file.damaged(`tag ${tag} with the position of ${blocks} blocks`, `${field?.count ?? 'none'}`);
    }
    return this.#reader.numbers({ ...field, count: blocks }, 'table of blocks');
  }

  #refuseLong(tag: number, { type, count }: Field): void {
    if ((TYPE_BYTES[type] ?? 0) * count > MOST_TAG_BYTES) throw this.#reader.file.damaged(`at most ${MOST_TAG_BYTES} bytes in tag ${tag}`, `${count} values`);
  }
}
