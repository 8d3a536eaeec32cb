/**
 * Writes GeoTIFFs with one band of floats in GDAL's layout: header, tags and tables, followed by the blocks. Requests the rows one after another, so a raster
 * may be larger than memory.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { deflateSync } from 'node:zlib';

export interface RasterToWrite {
  readonly epsg: 4326 | 32632;
  readonly width: number;
  readonly height: number;
  /** North-western corner of the raster, in degrees or metres. If `isPoint` is set, the centre of the north-western cell. */
  readonly west: number;
  readonly north: number;
  /** Width and height of a cell, in degrees or metres. */
  readonly cell: number;
  readonly isPoint?: boolean;
  /** No-data value in GDAL's form, such as `-9999` or `nan`. If omitted, the file declares no such value. */
  readonly noData?: string;
  /** Side length of the tiles in cells. Tiles are compressed with DEFLATE and the floating-point predictor. If omitted, each row is an uncompressed strip. */
  readonly tile?: number;
  /** Returns the values of a row. Rows are numbered from the north. */
  row(row: number): Float32Array;
}

const [BYTE_HEADER, BYTE_ENTRY] = [8, 12];
const [ASCII, SHORT, LONG, DOUBLE] = [2, 3, 4, 12] as const;
const SIZE = { [ASCII]: 1, [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8 } as const;

interface Tag {
  readonly number: number;
  readonly type: keyof typeof SIZE;
  readonly values: readonly number[];
}

/** Writes a GeoTIFF. @param path the path of the file, which is overwritten */
export function writeGeoTiff(path: string, raster: RasterToWrite): void {
  const { width, height, tile } = raster;
  const [blockWidth, blockHeight] = tile === undefined ? [width, 1] : [tile, tile];
  const across = Math.ceil(width / blockWidth);
  const down = Math.ceil(height / blockHeight);
  const file = openSync(path, 'w');
  try {
    const none = Array.from({ length: across * down }, () => 0);
    const offsets: number[] = [];
    const sizes: number[] = [];
    let at = header(raster, none, none).length;
    for (let by = 0; by < down; by += 1) {
      const rows = Array.from({ length: Math.min(blockHeight, height - by * blockHeight) }, (_, y) => raster.row(by * blockHeight + y));
      for (let bx = 0; bx < across; bx += 1) {
        const cells = new Float32Array(blockWidth * blockHeight);
        rows.forEach((row, y) => cells.set(row.subarray(bx * blockWidth, Math.min(width, (bx + 1) * blockWidth)), y * blockWidth));
        const bytes = tile === undefined ? littleEndian(cells) : deflateSync(differences(cells, blockWidth), { level: 1 });
        writeSync(file, bytes, 0, bytes.length, at);
        offsets.push(at);
        sizes.push(bytes.length);
        at += bytes.length;
      }
    }
    writeSync(file, header(raster, offsets, sizes), 0, undefined, 0);
  } finally {
    closeSync(file);
  }
}

/** Returns all bytes before the blocks. The number of bytes does not depend on the offsets and sizes. */
function header(raster: RasterToWrite, offsets: readonly number[], sizes: readonly number[]): Buffer {
  const { epsg, width, height, west, north, cell, isPoint = false, noData, tile } = raster;
  const text = (value: string): number[] => [...Buffer.from(`${value}\0`, 'latin1')];
  const place = epsg === 4326 ? [1024, 0, 1, 2, 2048, 0, 1, 4326] : [1024, 0, 1, 1, 3072, 0, 1, epsg];
  const tags: readonly Tag[] = [
    { number: 256, type: LONG, values: [width] },
    { number: 257, type: LONG, values: [height] },
    { number: 258, type: SHORT, values: [32] },
    { number: 259, type: SHORT, values: [tile === undefined ? 1 : 8] },
    { number: 262, type: SHORT, values: [1] },
    ...(tile === undefined ? [{ number: 273, type: LONG, values: offsets } as const] : []),
    { number: 277, type: SHORT, values: [1] },
    ...(tile === undefined ? [{ number: 278, type: LONG, values: [1] }, { number: 279, type: LONG, values: sizes }] as const : []),
    { number: 284, type: SHORT, values: [1] },
    ...(tile === undefined ? [] : [
      { number: 317, type: SHORT, values: [3] }, { number: 322, type: SHORT, values: [tile] }, { number: 323, type: SHORT, values: [tile] },
      { number: 324, type: LONG, values: offsets }, { number: 325, type: LONG, values: sizes },
    ] as const),
    { number: 339, type: SHORT, values: [3] },
    { number: 33_550, type: DOUBLE, values: [cell, cell, 0] },
    { number: 33_922, type: DOUBLE, values: [0, 0, 0, west, north, 0] },
    { number: 34_735, type: SHORT, values: [1, 1, 0, 3, ...place.slice(0, 4), 1025, 0, 1, isPoint ? 2 : 1, ...place.slice(4)] },
    ...(noData === undefined ? [] : [{ number: 42_113, type: ASCII, values: text(noData) } as const]),
  ];
  const directoryBytes = 2 + tags.length * BYTE_ENTRY + 4;
  const longer = tags.map(({ type, values }) => ((bytes) => (bytes > 4 ? bytes + (bytes % 2) : 0))(values.length * SIZE[type]));
  const bytes = Buffer.alloc(longer.reduce((sum, each) => sum + each, BYTE_HEADER + directoryBytes));
  bytes.write('II*\0', 'latin1');
  bytes.writeUInt32LE(BYTE_HEADER, 4);
  bytes.writeUInt16LE(tags.length, BYTE_HEADER);
  let free = BYTE_HEADER + directoryBytes;
  for (const [index, { number, type, values }] of tags.entries()) {
    const entry = BYTE_HEADER + 2 + index * BYTE_ENTRY;
    bytes.writeUInt16LE(number, entry);
    bytes.writeUInt16LE(type, entry + 2);
    bytes.writeUInt32LE(values.length, entry + 4);
    const outside = longer[index] ?? 0;
    if (outside > 0) bytes.writeUInt32LE(free, entry + 8);
    let to = outside > 0 ? free : entry + 8;
    for (const value of values) {
      if (type === ASCII) bytes.writeUInt8(value, to);
      else if (type === SHORT) bytes.writeUInt16LE(value, to);
      else if (type === LONG) bytes.writeUInt32LE(value, to);
      else bytes.writeDoubleLE(value, to);
      to += SIZE[type];
    }
    free += outside;
  }
  return bytes;
}

function littleEndian(cells: Float32Array): Buffer {
  const bytes = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength);
  return endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32();
}

/** Applies predictor 3 to each row: writes the most significant bytes first, and each byte as the difference from the previous byte. */
function differences(cells: Float32Array, width: number): Buffer {
  const plain = littleEndian(cells);
  const bytes = Buffer.alloc(plain.length);
  const rowBytes = width * 4;
  for (let start = 0; start < plain.length; start += rowBytes) {
    let before = 0;
    for (let weight = 0; weight < 4; weight += 1) {
      for (let i = 0; i < width; i += 1) {
        const value = plain[start + i * 4 + 3 - weight] ?? 0;
        bytes[start + weight * width + i] = value - before;
        before = value;
      }
    }
  }
  return bytes;
}
