/** Decompresses blocks of a TIFF that use DEFLATE, LZW or a predictor. Format: TIFF 6.0, sections 13 and 14; Adobe's Technical Note 3 (2005). */
import { endianness } from 'node:os';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

export type Compression = 'none' | 'lzw' | 'deflate';

/** Compressions by TIFF code. DEFLATE has two codes, Adobe's code 8 and the older code 32946. */
export const COMPRESSIONS: Readonly<Record<number, Compression>> = { 1: 'none', 5: 'lzw', 8: 'deflate', 32_946: 'deflate' };

export interface Packing {
  readonly compression: Compression;
  /** Predictor: 1 for none, 2 for differences of neighbouring numbers, 3 for differences of bytes that are grouped by significance. */
  readonly predictor: number;
  /** True for a little-endian file. */
  readonly little: boolean;
  readonly sampleBytes: number;
  /** Number of values in a row of the block. */
  readonly width: number;
  /** Minimum and maximum number of decompressed bytes. */
  readonly least: number;
  readonly most: number;
}

const LITTLE = endianness() === 'LE';
const inflated = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

/** Decompresses a block. @returns complete rows in the machine's byte order, aligned to the size of a number @throws Error that describes the damage */
export async function unpack(packed: Buffer, packing: Packing): Promise<Buffer> {
  const { compression, predictor, little, sampleBytes, width, least, most } = packing;
  const found = compression === 'none' ? packed : compression === 'lzw' ? unpackLzw(packed, most) : await inflated(packed, { maxOutputLength: most });
  if (found.length < least) throw new Error(`${found.length} bytes`);
  const bytes = aligned(found.subarray(0, least));
  if (predictor === 3) {
    gatherFloats(bytes, width, sampleBytes);
    return bytes;
  }
  if (little !== LITTLE) swap(bytes, sampleBytes);
  if (predictor === 2) sumUp(bytes, width, sampleBytes);
  return bytes;
}

/** Returns the bytes at an offset that is a multiple of 8. Typed arrays need such an offset, but Node may place small buffers at any offset. */
function aligned(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 8 === 0) return bytes;
  const moved = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(moved);
  return moved;
}

function swap(bytes: Buffer, sampleBytes: number): void {
  if (sampleBytes === 2) bytes.swap16();
  else if (sampleBytes === 4) bytes.swap32();
  else if (sampleBytes === 8) bytes.swap64();
}

/** Undoes predictor 2 in place. Sums overflow as in the cell type. */
function sumUp({ buffer, byteOffset, length }: Buffer, width: number, sampleBytes: number): void {
  const count = length / sampleBytes;
  const at = [buffer as ArrayBuffer, byteOffset, count] as const;
  if (sampleBytes === 8) {
    const numbers = new BigUint64Array(...at);
    for (let i = 1; i < count; i += 1) if (i % width !== 0) numbers[i] = (numbers[i] ?? 0n) + (numbers[i - 1] ?? 0n);
    return;
  }
  const numbers = sampleBytes === 1 ? new Uint8Array(...at) : sampleBytes === 2 ? new Uint16Array(...at) : new Uint32Array(...at);
  for (let start = 0; start < count; start += width) {
    let sum = 0;
    for (let i = start, end = start + width; i < end; i += 1) {
      sum = (sum + (numbers[i] ?? 0)) >>> 0;
      numbers[i] = sum;
    }
  }
}

/** Undoes predictor 3 of a little-endian file. With this predictor, a row begins with the most significant byte of each number. */
function gatherFloats(bytes: Buffer, width: number, sampleBytes: number): void {
  const rowBytes = width * sampleBytes;
  const row = Buffer.alloc(rowBytes);
  for (let start = 0; start < bytes.length; start += rowBytes) {
    let sum = 0;
    for (let i = 0; i < rowBytes; i += 1) {
      sum = (sum + (bytes[start + i] ?? 0)) & 0xff;
      row[i] = sum;
    }
    for (let weight = 0; weight < sampleBytes; weight += 1) {
      const place = start + (LITTLE ? sampleBytes - 1 - weight : weight);
      for (let i = 0; i < width; i += 1) bytes[place + i * sampleBytes] = row[weight * width + i] ?? 0;
    }
  }
}

const CLEAR = 256;
const END = 257;
const LONGEST = 12;
const CODES = 1 << LONGEST;

/**
 * Decodes TIFF's variant of LZW. Codes begin with the most significant bit, and the code length increases one code early.
 * @returns at most `most` bytes, or fewer if the codes end early
 * @throws Error for invalid codes
 */
export function unpackLzw(packed: Buffer, most: number): Buffer {
  const output = Buffer.allocUnsafeSlow(most);
  // A code represents a range of earlier output bytes, given by offset and length.
  const from = new Int32Array(CODES);
  const lengths = new Int32Array(CODES);
  let written = 0;
  let next = END + 1;
  let bits = 9;
  let held = 0;
  let heldBits = 0;
  let before = -1;
  for (let at = 0; written < most;) {
    while (heldBits < bits && at < packed.length) {
      held = ((held << 8) | (packed[at] ?? 0)) & 0xffffff;
      heldBits += 8;
      at += 1;
    }
    if (heldBits < bits) break;
    heldBits -= bits;
    const code = (held >>> heldBits) & ((1 << bits) - 1);
    if (code === END) break;
    if (code === CLEAR) {
      next = END + 1;
      bits = 9;
      before = -1;
      continue;
    }
    const start = written;
    if (code < CLEAR) {
      output[written] = code;
      written += 1;
    } else {
      // The first use of the code `next` defines the code: the bytes of the previous code, followed by the first of these bytes.
      const known = code < next || (code === next && before >= 0);
      if (!known) throw new Error(`code ${code} occurs before its definition`);
      const length = code < next ? lengths[code] ?? 0 : written - before + 1;
      const source = code < next ? from[code] ?? 0 : before;
      for (let i = 0; i < length && written < most; i += 1, written += 1) output[written] = output[source + i] ?? 0;
    }
    if (before >= 0 && next < CODES) {
      from[next] = before;
      lengths[next] = start - before + 1;
      next += 1;
    }
    before = start;
    if (next + 1 >= 1 << bits && bits < LONGEST) bits += 1;
  }
  return output.subarray(0, written);
}
