/**
 * Writes zips for synthetic regions and fixtures: streaming, so that an entry may be larger than memory, and with a fixed
 * date, so that the same content gives the same bytes on one version of zlib.
 * Format: PKWARE APPNOTE 6.3; sizes follow each entry in a data descriptor. No zip64: entries and archive stay below 4 GiB.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createDeflateRaw, crc32 } from 'node:zlib';

/** 1980-01-01, the first date that the format can say. */
const FIRST_DATE = '1980-01-01';
const UTF8_AND_DESCRIPTOR = 0x0808;
const LIMIT = 0xffff_fffe;

export interface ZipEntryOptions {
  /** Stored instead of deflated, as some publishers do for zips inside zips. */
  readonly stored?: boolean;
  /** zlib level, 1 (fast) – 9; default 1. */
  readonly level?: number;
  /** Day of the entry, `2026-07-01`; default 1980-01-01. */
  readonly modified?: string;
}

/** A day as DOS counts: years from 1980, month, day; the time is midnight. @throws RangeError for a day that it cannot say */
function dosDate(iso: string): number {
  const [year, month, day] = iso.split('-').map(Number);
  if (Number.isNaN(Date.parse(iso)) || year! < 1980 || year! > 2107) throw new RangeError(`not a day of 1980–2107: ${iso}`);
  return ((year! - 1980) << 9) | (month! << 5) | day!;
}

export type ZipContent = string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

interface Written {
  readonly name: Buffer;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
  readonly date: number;
}

/** A zip being written to a file. */
export class ZipWriter {
  readonly #handle: FileHandle;
  readonly #entries: Written[] = [];
  #offset = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await open(path, 'w'));
  }

  /** Appends one entry; entries stand in the order of the calls. @throws RangeError beyond 4 GiB */
  async add(path: string, content: ZipContent, options: ZipEntryOptions = {}): Promise<void> {
    const name = Buffer.from(path, 'utf8');
    const method = options.stored === true ? 0 : 8;
    const offset = this.#offset;
    const date = dosDate(options.modified ?? FIRST_DATE);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(UTF8_AND_DESCRIPTOR, 6);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(date, 12);
    local.writeUInt16LE(name.length, 26);
    await this.#write(local);
    await this.#write(name);

    let crc = 0;
    let size = 0;
    const start = this.#offset;
    async function* plain(): AsyncGenerator<Buffer> {
      for await (const piece of pieces(content)) {
        crc = crc32(piece, crc);
        size += piece.length;
        yield piece;
      }
    }
    const stream: AsyncIterable<Buffer> = method === 0
      ? plain()
      : Readable.from(plain(), { objectMode: false, highWaterMark: 262_144 }).pipe(createDeflateRaw({ level: options.level ?? 1, chunkSize: 262_144 }));
    for await (const piece of stream) await this.#write(piece);
    const compressed = this.#offset - start;

    const descriptor = Buffer.alloc(16);
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(crc, 4);
    if (size > LIMIT || this.#offset > LIMIT) throw new RangeError(`${path}: a zip without zip64 holds at most 4 GiB`);
    descriptor.writeUInt32LE(compressed, 8);
    descriptor.writeUInt32LE(size, 12);
    await this.#write(descriptor);
    this.#entries.push({ name, method, crc, compressed, size, offset, date });
  }

  /** Writes the central directory and closes the file. */
  async close(): Promise<void> {
    const start = this.#offset;
    for (const entry of this.#entries) {
      const header = Buffer.alloc(46);
      header.writeUInt32LE(0x02014b50, 0);
      header.writeUInt16LE(20, 4);
      header.writeUInt16LE(20, 6);
      header.writeUInt16LE(UTF8_AND_DESCRIPTOR, 8);
      header.writeUInt16LE(entry.method, 10);
      header.writeUInt16LE(entry.date, 14);
      header.writeUInt32LE(entry.crc, 16);
      header.writeUInt32LE(entry.compressed, 20);
      header.writeUInt32LE(entry.size, 24);
      header.writeUInt16LE(entry.name.length, 28);
      header.writeUInt32LE(entry.offset, 42);
      await this.#write(header);
      await this.#write(entry.name);
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(this.#entries.length, 8);
    end.writeUInt16LE(this.#entries.length, 10);
    end.writeUInt32LE(this.#offset - start, 12);
    end.writeUInt32LE(start, 16);
    await this.#write(end);
    await this.#handle.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
    this.#offset += bytes.length;
  }
}

/** Joins small pieces: a call of zlib per line would cost more than the line. */
async function* pieces(content: ZipContent): AsyncGenerator<Buffer> {
  if (typeof content === 'string' || content instanceof Uint8Array) {
    yield Buffer.from(content as string);
    return;
  }
  let text = '';
  const flush = (): Buffer => {
    const bytes = Buffer.from(text);
    text = '';
    return bytes;
  };
  const iterator = Symbol.asyncIterator in content ? content[Symbol.asyncIterator]() : content[Symbol.iterator]();
  for (;;) {
    // A synchronous source is not made to wait for a promise per piece.
    const next = iterator.next();
    const { done, value } = next instanceof Promise ? await next : next;
    if (done === true) break;
    if (typeof value === 'string') {
      text += value;
      if (text.length >= 65_536) yield flush();
    } else {
      if (text !== '') yield flush();
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }
  if (text !== '') yield flush();
}
