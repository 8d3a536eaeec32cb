/**
 * Writes PMTiles 3: all tiles of a map in one file, which clients read by byte ranges. The tiles are sorted by number, and equal tiles are stored once. The
 * directory entries stay in memory until the end. The first 16 KiB contain the header and the root directory, as readers expect. The metadata and the leaf
 * directories follow the tiles, because the size of the directories is known only at the end.
 */
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gzip, gzipSync } from 'node:zlib';
import type { TileNumber } from './vector-tile.ts';

const pack = promisify(gzip);

const HEADER_BYTES = 127;

/** Number of bytes at the start of a file in which readers expect the header and the root directory. */
const FRONT_BYTES = 16_384;

const MOST_ROOT_BYTES = FRONT_BYTES - HEADER_BYTES;

/** Number of entries in a leaf directory. A larger number is used if the root directory would be too large. */
const LEAF_ENTRIES = 4_096;

/** PMTiles codes for gzip compression and for the tile type Mapbox Vector Tile. */
const [GZIP, MVT] = [2, 1];

interface PmtilesFacts {
  /** Bounds in degrees (EPSG:4326): west, south, east, north. */
  readonly bounds: readonly [number, number, number, number];
  readonly minzoom: number;
  readonly maxzoom: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Entry {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
  /** Number of consecutive tiles with the same content; 0 if the entry is a leaf directory. */
  run: number;
}

/** Returns the PMTiles number of a tile. The numbers increase with the zoom, and follow a Hilbert curve within a zoom. */
export function tileId({ z, x, y }: TileNumber): number {
  let id = (4 ** z - 1) / 3;
  let [column, row] = [x, y];
  for (let side = 2 ** (z - 1); side >= 1; side /= 2) {
    const [right, down] = [(column & side) > 0, (row & side) > 0];
    id += side * side * (right ? (down ? 2 : 3) : down ? 1 : 0);
    // Rotates the coordinates, because each quarter of a Hilbert curve is a rotated copy of the whole curve.
    if (!down) {
      if (right) [column, row] = [side - 1 - column, side - 1 - row];
      [column, row] = [row, column];
    }
  }
  return id;
}

export class PmtilesFile {
  readonly #path: string;
  readonly #facts: PmtilesFacts;
  readonly #entries: Entry[] = [];
  readonly #known = new Map<string, Pick<Entry, 'offset' | 'length'>>();
  #file: FileHandle | null = null;
  #bytes = 0;
  #tiles = 0;

  constructor(path: string, facts: PmtilesFacts) {
    this.#path = path;
    this.#facts = facts;
  }

  /**
   * Adds a tile.
   * @param tile uncompressed tile, with a greater number than all previous tiles @throws Error if the tile's number is not greater than all previous numbers (a
   * bug)
   */
  async add(number: TileNumber, tile: Buffer): Promise<void> {
    this.#file ??= await open(this.#path, 'w');
    const id = tileId(number);
    const last = this.#entries.at(-1);
    if (last !== undefined && id < last.id + last.run) throw new Error(`expected a tile number greater than ${last.id}, found ${id}`);
    this.#tiles += 1;
    const digest = createHash('sha256').update(tile).digest('base64');
    let place = this.#known.get(digest);
    if (place === undefined) {
      const packed = await pack(tile, { level: constants.Z_BEST_COMPRESSION });
      place = { offset: this.#bytes, length: packed.length };
      await writeAll(this.#file, packed, FRONT_BYTES + this.#bytes);
      this.#bytes += packed.length;
      this.#known.set(digest, place);
    }
    if (last !== undefined && last.offset === place.offset && id === last.id + last.run) last.run += 1;
    else this.#entries.push({ id, ...place, run: 1 });
  }

  /** Writes the directories, the metadata and the header, and closes the file. */
  async close(): Promise<void> {
    this.#file ??= await open(this.#path, 'w');
    const { root, leaves } = directories(this.#entries);
    const metadata = gzipSync(JSON.stringify(this.#facts.metadata), { level: constants.Z_BEST_COMPRESSION });
    const end = FRONT_BYTES + this.#bytes;
    const front = Buffer.alloc(FRONT_BYTES);
    this.#header(front, root.length, [end, metadata.length], [end + metadata.length, leaves.length]);
    root.copy(front, HEADER_BYTES);
    await writeAll(this.#file, front, 0);
    await writeAll(this.#file, metadata, end);
    await writeAll(this.#file, leaves, end + metadata.length);
    await this.abort();
  }

  /** Closes the file if it is open. The caller removes an incomplete file. */
  async abort(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  #header(header: Buffer, rootBytes: number, metadata: readonly [number, number], leaves: readonly [number, number]): void {
    const { bounds, minzoom, maxzoom } = this.#facts;
    const [west, south, east, north] = bounds;
    header.write('PMTiles', 0, 'latin1');
    header.writeUInt8(3, 7);
    const places = [HEADER_BYTES, rootBytes, ...metadata, ...leaves, FRONT_BYTES, this.#bytes, this.#tiles, this.#entries.length, this.#known.size];
    for (const [index, value] of places.entries()) header.writeBigUInt64LE(BigInt(value), 8 + index * 8);
    // The value 1 at byte 96 means that the tiles are sorted by number.
    for (const [index, value] of [1, GZIP, GZIP, MVT, minzoom, maxzoom].entries()) header.writeUInt8(value, 96 + index);
    for (const [index, degrees] of bounds.entries()) header.writeInt32LE(Math.round(degrees * 1e7), 102 + index * 4);
    header.writeUInt8(minzoom, 118);
    for (const [index, degrees] of [(west + east) / 2, (south + north) / 2].entries()) header.writeInt32LE(Math.round(degrees * 1e7), 119 + index * 4);
  }
}

/** Writes all bytes. On a full disk, a system call may write only some of the bytes. The next call then reports the error. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** Returns the root directory. Also returns leaf directories if all entries would make the root directory too large. */
function directories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  const alone = directory(entries);
  if (alone.length <= MOST_ROOT_BYTES) return { root: alone, leaves: Buffer.alloc(0) };
  for (let size = LEAF_ENTRIES; ; size *= 2) {
    const leaves: Buffer[] = [];
    const pointers: Entry[] = [];
    let offset = 0;
    for (let at = 0; at < entries.length; at += size) {
      const leaf = directory(entries.slice(at, at + size));
      pointers.push({ id: (entries[at] as Entry).id, offset, length: leaf.length, run: 0 });
      leaves.push(leaf);
      offset += leaf.length;
    }
    const root = directory(pointers);
    if (root.length <= MOST_ROOT_BYTES) return { root, leaves: Buffer.concat(leaves) };
  }
}

/** Returns a compressed directory. The entries are stored column by column. */
function directory(entries: readonly Entry[]): Buffer {
  const bytes: number[] = [];
  const varint = (value: number): void => {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  varint(entries.length);
  for (const [index, { id }] of entries.entries()) varint(id - (entries[index - 1]?.id ?? 0));
  for (const { run } of entries) varint(run);
  for (const { length } of entries) varint(length);
  for (const [index, { offset }] of entries.entries()) {
    const before = entries[index - 1];
    // The offset 0 means that the tile starts at the end of the previous entry.
    varint(before !== undefined && offset === before.offset + before.length ? 0 : offset + 1);
  }
  return gzipSync(Buffer.from(bytes), { level: constants.Z_BEST_COMPRESSION });
}
