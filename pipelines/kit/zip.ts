/**
 * Zips, and zips inside zips, by random access. An inner zip that is stored is read in place; one that is deflated is
 * inflated into memory when small and into one temporary file otherwise, one at a time.
 * Every entry's CRC-32 and size are verified: a damaged zip is an error, never fewer rows.
 */
import { createReadStream } from 'node:fs';
import { open, mkdtemp, rm, type FileHandle } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, crc32 } from 'node:zlib';
import yauzl from 'yauzl';
import { MappaleError, inputError } from '../errors.ts';
import { maskTaxCode } from './mask-tax-code.ts';

/** Inner zips up to this many bytes are held in memory. */
const IN_MEMORY_BYTES = 64 * 1024 * 1024;
const HEAD_BYTES = 65_536;

export interface ZipEntry {
  /** Path inside its zip, forward slashes. */
  readonly path: string;
  readonly size: number;
  readonly compressedSize: number;
  readonly crc32: number;
  /** Local date of the entry, `2026-07-01`. */
  readonly modified: string;
  readonly isFolder: boolean;
}

/** Positioned bytes: a file, a range of a file, or memory. */
interface Bytes {
  readonly size: number;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  stream(start: number, end: number): Readable;
  close(): Promise<void>;
}

class FileBytes implements Bytes {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly size: number;
  readonly #remove: string | null;

  constructor(handle: FileHandle, path: string, size: number, remove: string | null) {
    this.#handle = handle;
    this.#path = path;
    this.size = size;
    this.#remove = remove;
  }

  async read(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    return (await this.#handle.read(buffer, offset, length, position)).bytesRead;
  }

  stream(start: number, end: number): Readable {
    if (start === end) return Readable.from([]);
    return createReadStream(this.#path, { start, end: end - 1, highWaterMark: 262_144 });
  }

  async close(): Promise<void> {
    await this.#handle.close();
    if (this.#remove !== null) await rm(this.#remove, { recursive: true, force: true });
  }
}

class RangeBytes implements Bytes {
  readonly #outer: Bytes;
  readonly #start: number;
  readonly size: number;

  constructor(outer: Bytes, start: number, size: number) {
    this.#outer = outer;
    this.#start = start;
    this.size = size;
  }

  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    return this.#outer.read(buffer, offset, Math.min(length, Math.max(0, this.size - position)), this.#start + position);
  }

  stream(start: number, end: number): Readable {
    return this.#outer.stream(this.#start + start, this.#start + end);
  }

  async close(): Promise<void> {}
}

class MemoryBytes implements Bytes {
  readonly #buffer: Buffer;
  readonly size: number;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.size = buffer.length;
  }

  async read(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    return this.#buffer.copy(buffer, offset, position, Math.min(position + length, this.size));
  }

  stream(start: number, end: number): Readable {
    return Readable.from([this.#buffer.subarray(start, end)]);
  }

  async close(): Promise<void> {}
}

/** yauzl's view of `Bytes`. */
class Reader extends yauzl.RandomAccessReader {
  readonly #bytes: Bytes;

  constructor(bytes: Bytes) {
    super();
    this.#bytes = bytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return this.#bytes.stream(start, end);
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    this.#bytes.read(buffer, offset, length, position).then(
      (count) => callback(count === length ? null : new Error('unexpected end of file')),
      (error: Error) => callback(error),
    );
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}

/** Fails when the bytes that passed are not those that the central directory promises. */
class Verify extends Transform {
  readonly #entry: ZipEntry;
  readonly #at: string;
  #size = 0;
  #crc = 0;

  constructor(entry: ZipEntry, at: string) {
    super({ highWaterMark: 262_144 });
    this.#entry = entry;
    this.#at = at;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#size += chunk.length;
    this.#crc = crc32(chunk, this.#crc);
    if (this.#size > this.#entry.size) return callback(this.#damaged());
    callback(null, chunk);
  }

  override _flush(callback: TransformCallback): void {
    callback(this.#size === this.#entry.size && this.#crc === this.#entry.crc32 ? null : this.#damaged());
  }

  /** `pipeline` hands on the inflater's own error, which says neither where nor what to do. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    callback(error === null ? null : unreadable(this.#at, error));
  }

  #damaged(): MappaleError {
    return inputError('zip entry is damaged', {
      code: 'ZIP_DAMAGED',
      at: this.#at,
      detail: `expected ${this.#entry.size} bytes with CRC-32 ${hex(this.#entry.crc32)}, found ${this.#size} bytes with ${hex(this.#crc)}`,
      hint: 'Download the file again and compare its size with the publisher\'s.',
    });
  }
}

function hex(crc: number): string {
  return (crc >>> 0).toString(16).padStart(8, '0');
}

/** An open zip. Close it; inner archives close with it. */
export class ZipArchive {
  readonly #bytes: Bytes;
  readonly #raw: ReadonlyMap<string, yauzl.Entry>;
  readonly #inner = new Set<ZipArchive>();
  /** How the archive is named in messages: `MOLISE.zip!CB.zip`. */
  readonly label: string;
  readonly entries: readonly ZipEntry[];

  private constructor(bytes: Bytes, raw: Map<string, yauzl.Entry>, label: string) {
    this.#bytes = bytes;
    this.#raw = raw;
    this.label = label;
    this.entries = [...raw.values()].map(describe);
  }

  /** Opens a zip file. @throws input errors `ZIP_UNREADABLE` with what to do. */
  static async open(path: string): Promise<ZipArchive> {
    const handle = await open(path, 'r');
    const { size } = await handle.stat();
    return ZipArchive.#from(new FileBytes(handle, path, size, null), maskTaxCode(basename(path)));
  }

  static async #from(bytes: Bytes, label: string): Promise<ZipArchive> {
    try {
      const zip = await new Promise<yauzl.ZipFile>((resolve, reject) => {
        yauzl.fromRandomAccessReader(new Reader(bytes), bytes.size, { lazyEntries: true, autoClose: false, strictFileNames: false, decodeStrings: true },
          (error, opened) => (error === null || error === undefined ? resolve(opened!) : reject(error)));
      });
      const raw = new Map<string, yauzl.Entry>();
      await new Promise<void>((resolve, reject) => {
        zip.on('entry', (entry: yauzl.Entry) => {
          raw.set(entry.fileName, entry);
          zip.readEntry();
        });
        zip.on('end', resolve);
        zip.on('error', reject);
        zip.readEntry();
      });
      return new ZipArchive(bytes, raw, label);
    } catch (error) {
      await bytes.close();
      throw unreadable(label, error);
    }
  }

  /** The entry at this path. @throws input error `ZIP_ENTRY_MISSING`. */
  entry(path: string): ZipEntry {
    return describe(this.#rawEntry(path));
  }

  /** Inflated bytes of an entry, verified. */
  async stream(path: string): Promise<Readable> {
    const entry = this.#rawEntry(path);
    const at = `${this.label}!${path}`;
    const compressed = await this.#compressed(entry, at);
    const verify = new Verify(describe(entry), at);
    const stages = entry.compressionMethod === 0 ? [compressed, verify] : [compressed, createInflateRaw({ chunkSize: 262_144 }), verify];
    pipeline(stages as [Readable, Transform]).catch((error: unknown) => {
      verify.destroy(error instanceof MappaleError ? error : unreadable(at, error));
    });
    return verify;
  }

  /** First bytes of an entry, not verified; for recognising files. */
  async head(path: string, bytes: number = HEAD_BYTES): Promise<Buffer> {
    const entry = this.#rawEntry(path);
    const at = `${this.label}!${path}`;
    const compressed = await this.#compressed(entry, at);
    const stream = entry.compressionMethod === 0 ? compressed : compressed.pipe(createInflateRaw());
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      compressed.on('error', (error) => stream.destroy(error));
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= bytes) break;
      }
    } catch (error) {
      throw unreadable(at, error);
    } finally {
      compressed.destroy();
    }
    return Buffer.concat(chunks).subarray(0, bytes);
  }

  /** The whole entry in memory; for small ones. */
  async buffer(path: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of (await this.stream(path)) as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Opens an entry that is itself a zip. Close it before opening the next, so that at most one lies on disk. */
  async archive(path: string): Promise<ZipArchive> {
    const entry = this.#rawEntry(path);
    const label = `${this.label}!${path}`;
    const inner = await ZipArchive.#from(await this.#materialise(entry, path), label);
    this.#inner.add(inner);
    return inner;
  }

  async close(): Promise<void> {
    for (const inner of this.#inner) await inner.close();
    this.#inner.clear();
    await this.#bytes.close();
  }

  async #materialise(entry: yauzl.Entry, path: string): Promise<Bytes> {
    if (entry.compressionMethod === 0 && !entry.isEncrypted()) {
      return new RangeBytes(this.#bytes, await this.#dataStart(entry), entry.uncompressedSize);
    }
    if (entry.uncompressedSize <= IN_MEMORY_BYTES) return new MemoryBytes(await this.buffer(path));
    const folder = await mkdtemp(join(tmpdir(), 'mappale-zip-'));
    const spooled = join(folder, basename(path));
    try {
      await pipeline(await this.stream(path), createWriteStream(spooled));
      const handle = await open(spooled, 'r');
      return new FileBytes(handle, spooled, entry.uncompressedSize, folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async #dataStart(entry: yauzl.Entry): Promise<number> {
    // Local header: 30 fixed bytes, then name and extra field, whose lengths may differ from the central directory's.
    const header = Buffer.alloc(30);
    const read = await this.#bytes.read(header, 0, 30, entry.relativeOffsetOfLocalHeader);
    if (read !== 30 || header.readUInt32LE(0) !== 0x04034b50) throw unreadable(`${this.label}!${entry.fileName}`, new Error('no local file header'));
    return entry.relativeOffsetOfLocalHeader + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  }

  async #compressed(entry: yauzl.Entry, at: string): Promise<Readable> {
    if (entry.isEncrypted()) {
      throw inputError('zip entry is encrypted', { code: 'ZIP_ENCRYPTED', at, hint: 'Unpack it with its password and give the plain file.' });
    }
    if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
      throw inputError('zip entry uses a compression that is not read', {
        code: 'ZIP_METHOD', at, detail: `expected stored (0) or deflated (8), found method ${entry.compressionMethod}`, hint: 'Pack it again with ordinary zip.',
      });
    }
    const start = await this.#dataStart(entry);
    return this.#bytes.stream(start, start + entry.compressedSize);
  }

  #rawEntry(path: string): yauzl.Entry {
    const entry = this.#raw.get(path);
    if (entry === undefined) {
      throw inputError('zip has no such entry', { code: 'ZIP_ENTRY_MISSING', at: this.label, detail: `expected ${path}, found ${[...this.#raw.keys()].slice(0, 5).join(', ')}` });
    }
    return entry;
  }
}

function describe(entry: yauzl.Entry): ZipEntry {
  const modified = entry.getLastModDate({ timezone: 'UTC', forceDosFormat: true });
  return {
    path: entry.fileName,
    size: entry.uncompressedSize,
    compressedSize: entry.compressedSize,
    crc32: entry.crc32,
    modified: Number.isNaN(modified.getTime()) ? '1980-01-01' : modified.toISOString().slice(0, 10),
    isFolder: entry.fileName.endsWith('/'),
  };
}

function unreadable(at: string, error: unknown): MappaleError {
  if (error instanceof MappaleError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return inputError('zip cannot be read', {
    code: 'ZIP_UNREADABLE',
    at,
    detail: `expected a complete zip, found: ${reason}`,
    hint: 'The download was probably cut short. Download the file again and compare its size with the publisher\'s.',
    cause: error,
  });
}
