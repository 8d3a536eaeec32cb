/**
 * Reads zips, and zips inside zips, by random access. A stored inner zip is read in place. A small deflated zip is decompressed into memory. A large deflated
 * zip is decompressed into a temporary file if there is enough space. The central directory contains the positions of entries. Bytes outside the zip, such as a
 * self-extracting program or a server message, are therefore ignored. The reader verifies CRC-32 and size of every entry, so a damaged zip is an error and
 * never results in fewer rows.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, mkdtemp, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline as joined, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import yauzl from 'yauzl';
import { firstNames, MappaleError, inputError } from '../errors.ts';
import { freeBytes } from './disk.ts';
import { escapedName, isFull } from './file-error.ts';
import { maskTaxCode } from '../mask-tax-code.ts';

/** Maximum size in bytes of an inner zip that is kept in memory. The limit is low, because several inner zips are open at the same time. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 65_536;
/** Maximum size in bytes of an entry that is read as a whole, such as the list of sheets in a workbook. */
const WHOLE_BYTES = 64 * 1024 * 1024;
/** Maximum number of members of a zip. The zip of the largest province has about 350 members, one per comune. */
const MOST_MEMBERS = 100_000;
/** Maximum lengths of a file name and of a path in bytes of UTF-8, as in common file systems. The sources' patterns for file names rely on these limits. */
const NAME_BYTES = 255;
const PATH_BYTES = 4_096;
/** Maximum number of levels of nested zips inside a zip. A zip of Italy contains three levels: regions, provinces and comuni. */
const DEPTH = 5;
/** Maximum compression ratio. Published text has a ratio of about ten, and at most forty. A large entry with a higher ratio is refused as a zip bomb. */
const RATIO = 250;
const RATIO_FROM_BYTES = 64 * 1024 * 1024;
/** Number of bytes that stay free on the disk of temporary files. */
const SPARE_BYTES = 64 * 1024 * 1024;
/** Signatures of headers, from the specification of the ZIP format (APPNOTE.TXT). */
const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_RECORD = 0x06054b50;
const END_RECORD_64 = 0x06064b50;
const END_LOCATOR_64 = 0x07064b50;
/** Codes of the systems that store Unix file modes: Unix and macOS. */
const UNIX_SYSTEMS = new Set([3, 19]);
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;
const CENTRAL_HEADER_BYTES = 46;
/**
 * Matches paths of files that desktop systems add to folders and zips. `._name` contains the macOS attributes of the file `name`, and has the same extension.
 */
export const OF_A_DESKTOP = /(?:^|\/)(?:desktop\.ini|thumbs\.db|\$recycle\.bin|system volume information|__macosx|\.ds_store|\._[^/]*)(?:\/|$)/i;
const END_RECORD_MARK = Buffer.from('PK\u0005\u0006', 'latin1');
const END_RECORD_BYTES = 22;
const END_RECORD_64_BYTES = 56;
const END_LOCATOR_64_BYTES = 20;
/** Maximum total size in bytes of the end record with a comment and of the preceding ZIP64 records. */
export const TAIL_BYTES = END_RECORD_BYTES + 0xffff + END_LOCATOR_64_BYTES + END_RECORD_64_BYTES;
/** Maximum size in bytes of a decompressed chunk. A larger chunk leaves the processor's cache before the reader reads the chunk. */
const INFLATED_BYTES = 262_144;
/**
 * Maximum size in bytes of an entry that is decompressed in one call. Decompression in one call takes a fifth of the time of a stream. Only
 * entries of the largest cities are larger.
 */
const AT_ONCE_BYTES = 32 * 1024 * 1024;

export interface ZipEntry {
  /** Path inside the zip, with forward slashes. */
  readonly path: string;
  readonly size: number;
  readonly compressedSize: number;
  readonly crc32: number;
  /** Modification date of the entry in local time, such as `2026-07-01`. */
  readonly modified: string;
  readonly isFolder: boolean;
}

/** A byte range of a file, or bytes in memory. */
type Stretch = { readonly path: string; readonly start: number; readonly end: number } | Uint8Array;

/** Position of an entry, with the expected size and CRC-32. The type is plain data, so that another thread can read the entry. The archive must stay open. */
export interface EntryExtent {
  /** Name of the entry in messages, such as `MOLISE.zip!CB.zip`. */
  readonly at: string;
  readonly deflated: boolean;
  readonly compressed: Stretch;
  readonly size: number;
  readonly crc32: number;
}

/** Reads bytes at given positions in a range of an open file, or in memory. yauzl reads through this class. */
class Bytes extends yauzl.RandomAccessReader {
  readonly #of: { readonly handle: FileHandle; readonly path: string } | Buffer;
  readonly #start: number;
  readonly size: number;

  constructor(of: { readonly handle: FileHandle; readonly path: string } | Buffer, start: number, size: number) {
    super();
    this.#of = of;
    this.#start = start;
    this.size = size;
  }

  within(start: number, size: number): Bytes {
    return new Bytes(this.#of, this.#start + start, size);
  }

  /** Reads bytes at a position. Returns fewer bytes than requested if the range ends earlier. */
  async at(position: number, length: number): Promise<Buffer> {
    const from = this.#start + position;
    const count = Math.max(0, Math.min(length, this.size - position));
    // In a damaged file, a position may not be a valid number.
    if (count === 0 || !Number.isSafeInteger(from) || from < 0) return Buffer.alloc(0);
    if (this.#of instanceof Uint8Array) return this.#of.subarray(from, from + count);
    const { buffer, bytesRead } = await this.#of.handle.read(Buffer.allocUnsafe(count), 0, count, from);
    return buffer.subarray(0, bytesRead);
  }

  async signatureAt(position: number): Promise<number | null> {
    const bytes = await this.at(position, 4);
    return bytes.length === 4 ? bytes.readUInt32LE(0) : null;
  }

  stretch(start: number, end: number): Stretch {
    const [from, to] = [this.#start + start, this.#start + end];
    return this.#of instanceof Uint8Array ? this.#of.subarray(from, to) : { path: this.#of.path, start: from, end: to };
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    this.at(position, length).then((bytes) => callback(bytes.copy(buffer, offset) === length ? null : new Error('unexpected end of file')), callback);
  }
}

interface Place {
  readonly start: number;
  readonly end: number;
  /** Number of members according to the end record, modulo 65,536. */
  readonly entries: number;
  /** Size of the central directory in bytes; null if the ZIP64 end record is not at the expected position. */
  readonly directoryBytes: number | null;
}

/**
 * Finds the start and end of a zip in a file. The offsets in a zip are relative to the zip's start. If a tool has corrected the offsets, the offsets are
 * relative to the file's start.
 * @returns null if the file has no end record that matches a central directory
 */
async function placeOf(bytes: Bytes): Promise<Place | null> {
  if (bytes.size < END_RECORD_BYTES) return null;
  const tailAt = Math.max(0, bytes.size - TAIL_BYTES);
  const tail = await bytes.at(tailAt, TAIL_BYTES);
  if (tailAt + tail.length !== bytes.size) return null;
  // `lastIndexOf` would count a negative offset from the end.
  const markBefore = (offset: number): number => (offset < 0 ? -1 : tail.lastIndexOf(END_RECORD_MARK, offset));
  for (let at = markBefore(tail.length - END_RECORD_BYTES); at >= 0; at = markBefore(at - 1)) {
    const end = tailAt + at + END_RECORD_BYTES + tail.readUInt16LE(at + 20);
    if (end > bytes.size) continue;
    const entries = tail.readUInt16LE(at + 10);
    let recordAt = at;
    let size = tail.readUInt32LE(at + 12);
    let stated = tail.readUInt32LE(at + 16);
    const locator = at - END_LOCATOR_64_BYTES;
    if (locator >= END_RECORD_64_BYTES && tail.readUInt32LE(locator) === END_LOCATOR_64) {
      recordAt = locator - END_RECORD_64_BYTES;
      if (tail.readUInt32LE(recordAt) !== END_RECORD_64) return { start: 0, end, entries, directoryBytes: null };
      size = Number(tail.readBigUInt64LE(recordAt + 40));
      stated = Number(tail.readBigUInt64LE(recordAt + 48));
    }
    const directory = tailAt + recordAt - size;
    if (directory >= stated && (entries === 0 || (await bytes.signatureAt(directory)) === CENTRAL_HEADER)) {
      return { start: directory - stated, end, entries, directoryBytes: size };
    }
    // Accepts a zip with other bytes between the central directory and the end record.
    if ((await bytes.signatureAt(stated)) === CENTRAL_HEADER) return { start: 0, end, entries, directoryBytes: size };
  }
  return null;
}

/**
 * Returns whether a file is a zip, regardless of the file's name. The first bytes identify even a truncated zip, and the last bytes identify a zip that follows
 * other bytes.
 */
export async function isZip(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const bytes = new Bytes({ handle, path }, 0, (await handle.stat()).size);
    const first = await bytes.signatureAt(0);
    if (first === LOCAL_HEADER || first === END_RECORD) return true;
    const place = await placeOf(bytes);
    return place !== null && place.entries > 0;
  } finally {
    await handle.close();
  }
}

/**
 * Returns whether a file may be a zip, judging by bytes that were already read. If the result is false, `isZip` is also false.
 * @param tail the last `TAIL_BYTES` bytes, or the whole file
 */
export function mayBeZip(head: Buffer, tail: Buffer): boolean {
  const first = head.length < 4 ? 0 : head.readUInt32LE(0);
  return first === LOCAL_HEADER || first === END_RECORD || tail.includes(END_RECORD_MARK);
}

function opened(stretch: Stretch): Readable {
  if (stretch instanceof Uint8Array) return Readable.from([stretch]);
  const { path, start, end } = stretch;
  return start === end ? Readable.from([]) : createReadStream(path, { start, end: end - 1, highWaterMark: 262_144 });
}

/**
 * Streams the decompressed bytes of an entry, without verification. @param pieceBytes maximum size of a decompressed chunk @throws input error `ZIP_UNREADABLE`
 */
async function* inflate({ at, deflated, compressed }: EntryExtent, pieceBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const source = opened(compressed);
  try {
    // The callback ignores errors, because the last stream reports all errors.
    yield* deflated ? joined(source, createInflateRaw({ chunkSize: pieceBytes }), () => undefined) : source;
  } catch (error) {
    // Replaces zlib's error, which has neither a position nor a hint.
    throw unreadable(at, error);
  } finally {
    source.destroy();
  }
}

/**
 * Returns all decompressed bytes of an entry, or null if the entry is larger than expected. The caller then reads the entry as a stream, and reports the size
 * error. @throws input error `ZIP_UNREADABLE`
 */
async function inflateAtOnce({ at, compressed, size }: EntryExtent): Promise<Buffer | null> {
  try {
    const packed = compressed instanceof Uint8Array ? compressed : await readStretch(compressed);
    // With a chunk size one byte above the size of the result, zlib returns a single chunk.
    return inflateRawSync(packed, { chunkSize: Math.max(64, size + 1), maxOutputLength: Math.max(1, size) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw unreadable(at, error);
  }
}

async function readStretch({ path, start, end }: { readonly path: string; readonly start: number; readonly end: number }): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Streams the decompressed bytes of an entry. At the end, compares size and CRC-32 with the central directory.
 * @throws input errors `ZIP_DAMAGED`, `ZIP_UNREADABLE`
 */
export async function* inflated(extent: EntryExtent): AsyncGenerator<Buffer, void, undefined> {
  const { at, size } = extent;
  let seen = 0;
  let crc = 0;
  const damaged = (): MappaleError => inputError('zip entry is damaged', {
    code: 'ZIP_DAMAGED',
    at,
    detail: `expected ${size} bytes with CRC-32 ${hex(extent.crc32)}, found ${seen} bytes with ${hex(crc)}`,
    hint: 'Download the file again and compare its size with the publisher\'s.',
  });
  const whole = extent.deflated && size <= AT_ONCE_BYTES ? await inflateAtOnce(extent) : null;
  for await (const chunk of whole === null ? inflate(extent, INFLATED_BYTES) : piecesOf(whole)) {
    seen += chunk.length;
    crc = crc32(chunk, crc);
    if (seen > size) throw damaged();
    yield chunk;
  }
  if (seen !== size || crc !== extent.crc32) throw damaged();
}

function* piecesOf(bytes: Buffer): Generator<Buffer, void, undefined> {
  for (let from = 0; from < bytes.length; from += INFLATED_BYTES) yield bytes.subarray(from, from + INFLATED_BYTES);
}

function hex(crc: number): string {
  return (crc >>> 0).toString(16).padStart(8, '0');
}

/** An open zip. Closing a zip also closes the zips that were opened inside the zip. */
export class ZipArchive {
  /** Reads bytes of the zip. Offsets count from the start of the zip. */
  readonly #bytes: Bytes;
  readonly #raw: ReadonlyMap<string, yauzl.Entry>;
  /** Releases the file or memory of the zip. */
  readonly #release: () => Promise<void>;
  readonly #inner = new Set<ZipArchive>();
  #outer: ZipArchive | null = null;
  /** Nesting depth: the number of zips that contain this zip. */
  #depth = 0;
  /** Name of the zip in messages, such as `MOLISE.zip!CB.zip`. */
  readonly label: string;
  /** Entries of the zip, without the files that desktop systems add to zips. */
  readonly entries: readonly ZipEntry[];
  /** Number of bytes of the file that are before or after the zip. */
  readonly strayBytes: number;

  private constructor(whole: Bytes, bytes: Bytes, raw: Map<string, yauzl.Entry>, label: string, release: () => Promise<void>) {
    this.strayBytes = whole.size - bytes.size;
    this.#bytes = bytes;
    this.#raw = raw;
    this.label = label;
    this.#release = release;
    this.entries = [...raw.values()].filter(({ fileName }) => !OF_A_DESKTOP.test(fileName)).map(describe);
  }

  /**
   * Opens a zip file. @throws input errors `ZIP_UNREADABLE`, `ZIP_PATH`, `ZIP_NAME_INVALID`, `ZIP_NAME_LONG`, `ZIP_LINK`, `ZIP_MEMBER_REPEATED`, `ZIP_RATIO`
   */
  static async open(path: string): Promise<ZipArchive> {
    const handle = await open(path, 'r');
    const { size } = await handle.stat().catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    return ZipArchive.#from(new Bytes({ handle, path }, 0, size), maskTaxCode(basename(path)), () => handle.close());
  }

  static async #from(whole: Bytes, label: string, release: () => Promise<void>): Promise<ZipArchive> {
    try {
      const place = await placeOf(whole);
      const bytes = place === null ? whole : whole.within(place.start, place.end - place.start);
      const raw = await entriesOf(bytes, label, place?.directoryBytes ?? null);
      return new ZipArchive(whole, bytes, raw, label, release);
    } catch (error) {
      await release();
      throw unreadable(label, error);
    }
  }

  /** Returns the entry at this path. @throws input error `ZIP_ENTRY_MISSING`. */
  entry(path: string): ZipEntry {
    return describe(this.#rawEntry(path));
  }

  /** Returns a stream of an entry's decompressed bytes. The stream verifies the bytes. */
  async stream(path: string): Promise<Readable> {
    return Readable.from(inflated(await this.extent(path)), { objectMode: false });
  }

  /** Returns the position of an entry, for `inflated`. @throws input errors `ZIP_ENTRY_MISSING`, `ZIP_ENCRYPTED`, `ZIP_METHOD`, `ZIP_UNREADABLE` */
  async extent(path: string): Promise<EntryExtent> {
    const entry = this.#rawEntry(path);
    const at = `${this.label}!${path}`;
    if (entry.isEncrypted()) {
      throw inputError('zip entry is encrypted', { code: 'ZIP_ENCRYPTED', at, hint: 'Extract the entry with its password and use the extracted file.' });
    }
    if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
      throw inputError('zip entry uses an unsupported compression', {
        code: 'ZIP_METHOD', at, detail: `expected stored (0) or deflated (8), found method ${entry.compressionMethod}`,
        hint: 'Create the zip again with the compression method deflate.',
      });
    }
    const start = await this.#dataStart(entry);
    const compressed = this.#bytes.stretch(start, start + entry.compressedSize);
    return { at, deflated: entry.compressionMethod !== 0, compressed, size: entry.uncompressedSize, crc32: entry.crc32 };
  }

  /** Returns the first decompressed bytes of an entry, without verification. Sources recognise files by these bytes. */
  async head(path: string, bytes: number = HEAD_BYTES): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of inflate(await this.extent(path), bytes)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= bytes) break;
    }
    return Buffer.concat(chunks).subarray(0, bytes);
  }

  /** Returns a small entry as a whole. @throws input error `ZIP_MEMBER_TOO_LARGE`, and errors of `extent` and `inflated` */
  async buffer(path: string): Promise<Buffer> {
    const { size } = this.entry(path);
    if (size > WHOLE_BYTES) {
      throw inputError('a member of the zip is too large', {
        code: 'ZIP_MEMBER_TOO_LARGE', at: `${this.label}!${path}`, detail: `expected at most ${WHOLE_BYTES} bytes in a member of this kind, found ${size}`,
        hint: 'Download the file again from the publisher.',
      });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of inflated(await this.extent(path))) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /**
   * Decompresses an entry into a file, if there is enough space.
   * @throws MappaleError `TEMP_FULL` (exit 2) with the member and the folder; errors of `extent` and `inflated`
   */
  async spool(path: string, target: string): Promise<void> {
    const extent = await this.extent(path);
    const folder = dirname(target);
    const free = await freeBytes(folder);
    if (extent.size + SPARE_BYTES > free) throw tempFull(extent, folder, free);
    try {
      await pipeline(inflated(extent), createWriteStream(target));
    } catch (error) {
      if (isFull(error)) throw tempFull(extent, folder, null, error);
      throw error;
    }
  }

  /**
   * Opens an entry that is a zip. The caller must close the zip soon, because a large zip uses a temporary file. @throws input error `ZIP_TOO_DEEP`, and errors
   * of `open` and `spool`
   */
  async archive(path: string): Promise<ZipArchive> {
    const entry = this.#rawEntry(path);
    const label = `${this.label}!${path}`;
    if (this.#depth >= DEPTH) {
      throw inputError('zips are nested too deeply', {
        code: 'ZIP_TOO_DEEP', at: label, detail: `expected at most ${DEPTH} nested zips, found more`,
        hint: 'A zip with more nested zips may contain itself. Download the file again from the publisher.',
      });
    }
    const inner = await this.#opened(entry, path, label);
    inner.#outer = this;
    inner.#depth = this.#depth + 1;
    this.#inner.add(inner);
    return inner;
  }

  async close(): Promise<void> {
    for (const inner of [...this.#inner]) await inner.close();
    // Without this line, the inner zips of all comuni of a province would stay in memory.
    if (this.#outer !== null) this.#outer.#inner.delete(this);
    await this.#release();
  }

  async #opened(entry: yauzl.Entry, path: string, label: string): Promise<ZipArchive> {
    const nothing = async (): Promise<void> => undefined;
    const size = entry.uncompressedSize;
    if (entry.compressionMethod === 0 && !entry.isEncrypted()) return ZipArchive.#from(this.#bytes.within(await this.#dataStart(entry), size), label, nothing);
    if (size <= IN_MEMORY_BYTES) return ZipArchive.#from(new Bytes(await this.buffer(path), 0, size), label, nothing);
    const folder = await mkdtemp(join(tmpdir(), 'mappale-zip-'));
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    // Uses a short name, because the member's name may be too long for this file system.
    const spooled = join(folder, 'member.zip');
    try {
      await this.spool(path, spooled);
      const handle = await open(spooled, 'r');
      return await ZipArchive.#from(new Bytes({ handle, path: spooled }, 0, size), label, () => handle.close().then(remove));
    } catch (error) {
      await remove();
      throw error;
    }
  }

  async #dataStart(entry: yauzl.Entry): Promise<number> {
    // A local header has 30 fixed bytes, then the name and the extra field. The length of the extra field may differ from the length in the central directory.
    const header = await this.#bytes.at(entry.relativeOffsetOfLocalHeader, 30);
    if (header.length !== 30 || header.readUInt32LE(0) !== LOCAL_HEADER) throw unreadable(`${this.label}!${entry.fileName}`, new Error('no local file header'));
    return entry.relativeOffsetOfLocalHeader + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  }

  #rawEntry(path: string): yauzl.Entry {
    const entry = this.#raw.get(path);
    if (entry === undefined) {
      const found = [...this.#raw.keys()].slice(0, 5).join(', ');
      throw inputError('zip has no such entry', { code: 'ZIP_ENTRY_MISSING', at: this.label, detail: `expected ${path}, found ${found}`, hint: 'The content of the zip has changed. Download the zip again.' });
    }
    return entry;
  }
}

/**
 * Returns all entries of a zip by name, in the order of the central directory.
 * @param directoryBytes size of the central directory in the end record; null if unknown
 */
async function entriesOf(bytes: Bytes, label: string, directoryBytes: number | null): Promise<Map<string, yauzl.Entry>> {
  const zip = await yauzl.fromRandomAccessReaderPromise(bytes, bytes.size, { autoClose: false, strictFileNames: false, decodeStrings: true });
  const entries = new Map<string, yauzl.Entry>();
  const names = new Set<string>();
  const repeated: string[] = [];
  let readBytes = 0;
  let compressedBytes = 0;
  for await (const entry of zip.eachEntry()) {
    refuseName(entry, label);
    refuseLink(entry, label);
    // Two names are the same if they differ only in Unicode normalisation, or in empty or `.` path segments.
    const name = entry.fileName.normalize('NFC').replaceAll(/(?<=^|\/)\.?\//g, '');
    if (names.has(name)) repeated.push(entry.fileName);
    names.add(name);
    if (names.size > MOST_MEMBERS) throw new Error(`more than ${MOST_MEMBERS} members`);
    entries.set(entry.fileName, entry);
    readBytes += CENTRAL_HEADER_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    compressedBytes += entry.compressedSize;
  }
  if (repeated.length > 0) throw repeats(label, repeated);
  // The 16-bit count of members may have overflowed or may be wrong. The reader would then ignore later members.
  if (directoryBytes !== null && directoryBytes > readBytes) {
    throw new Error(`a directory of ${directoryBytes} bytes, but the ${entries.size} counted members need only ${readBytes} bytes`);
  }
  if (compressedBytes > bytes.size) throw new Error(`overlapping members: ${compressedBytes} bytes of members in a zip of ${bytes.size} bytes`);
  for (const entry of entries.values()) refuseBomb(entry, label);
  return entries;
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

/**
 * Refuses names that file systems, PostgreSQL or terminals cannot represent: names with control characters, and names that are too long.
 * @throws input errors `ZIP_NAME_INVALID`, `ZIP_NAME_LONG`
 */
function refuseName({ fileName }: yauzl.Entry, label: string): void {
  if (/\p{Cc}/u.test(fileName)) {
    const shown = escapedName(fileName.slice(0, 80), /\p{Cc}/gu);
    throw inputError('the zip contains a name with a control character', {
      code: 'ZIP_NAME_INVALID', at: `${label}!${shown}`, detail: `expected names of printable characters, found ${shown}`,
      hint: 'The zip is damaged. Download the zip again from the publisher.',
    });
  }
  if (fileName.length * 3 <= NAME_BYTES) return;
  const longest = Math.max(...fileName.split('/').map((part) => Buffer.byteLength(part)));
  const whole = Buffer.byteLength(fileName);
  if (longest <= NAME_BYTES && whole <= PATH_BYTES) return;
  throw inputError('the zip contains a name that is too long', {
    code: 'ZIP_NAME_LONG', at: `${label}!${fileName.slice(0, 80)}…`,
    detail: `expected folder and file names of at most ${NAME_BYTES} bytes in a path of at most ${PATH_BYTES}, found ${longest} in ${whole}`,
    hint: 'No file system stores such a name. Download the zip again from the publisher.',
  });
}

/**
 * Refuses symbolic links, whose content is the path of another file.
 * @throws input error `ZIP_LINK`
 */
function refuseLink({ fileName, externalFileAttributes, versionMadeBy }: yauzl.Entry, at: string): void {
  const mode = externalFileAttributes >>> 16;
  if (!UNIX_SYSTEMS.has(versionMadeBy >>> 8) || (mode & FILE_TYPE) !== SYMBOLIC_LINK) return;
  throw inputError('the zip contains a symbolic link', {
    code: 'ZIP_LINK', at: `${at}!${fileName}`, detail: `expected files and folders, found a symbolic link, ${fileName}`,
    hint: 'A link contains no data. Download the zip again, or create a zip with the target of the link.',
  });
}

/** Refuses a zip bomb. @throws input error `ZIP_RATIO` before any data is decompressed */
function refuseBomb({ fileName, uncompressedSize, compressedSize }: yauzl.Entry, at: string): void {
  if (uncompressedSize <= RATIO_FROM_BYTES || uncompressedSize <= compressedSize * RATIO) return;
  throw inputError('a member of the zip has an implausible size', {
    code: 'ZIP_RATIO', at: `${at}!${fileName}`,
    detail: `expected at most ${RATIO} bytes for each stored byte, found ${uncompressedSize} for ${compressedSize}`,
    hint: 'The member would fill the disk with repeated bytes. Download the file again from the publisher.',
  });
}

function tempFull({ at, size }: EntryExtent, folder: string, free: number | null, cause?: unknown): MappaleError {
  return new MappaleError('there is not enough space for temporary files', {
    code: 'TEMP_FULL', kind: 'usage', at,
    detail: `expected ${mib(size + SPARE_BYTES)} free in ${folder} for this member, found ${free === null ? 'no space left' : mib(free)}`,
    hint: 'Free space in this folder, or set TMPDIR to a folder on a larger disk.', fix: 'export TMPDIR=/OTHER_DISK/tmp', cause,
  });
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

function repeats(at: string, names: readonly string[]): MappaleError {
  const [first = ''] = names;
  return inputError('the zip contains two members with the same name', {
    code: 'ZIP_MEMBER_REPEATED', at: `${at}!${first}`,
    detail: `expected unique names, found repeated: ${firstNames(names)}`,
    hint: 'The program cannot decide which member is correct. Download the zip again, or create a zip with only the correct member.',
  });
}

function unreadable(at: string, error: unknown): MappaleError {
  if (error instanceof MappaleError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  // yauzl's errors have no codes.
  if (/^(?:absolute path|invalid relative path|invalid characters in fileName): /.test(reason)) {
    return inputError('the zip contains a path outside its folder', {
      code: 'ZIP_PATH', at, detail: `expected paths below the folder of the zip, found ${JSON.stringify(reason.slice(reason.indexOf(': ') + 2))}`,
      hint: 'Zips of publishers have no such paths, which could overwrite other files. Download the file again from the publisher.', cause: error,
    });
  }
  return inputError('zip cannot be read', {
    code: 'ZIP_UNREADABLE',
    at,
    detail: `expected a complete zip, found: ${reason}`,
    hint: 'The download was probably cut short. Download the file again and compare its size with the publisher\'s.',
    cause: error,
  });
}
