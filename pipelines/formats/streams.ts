/** Reads streams of bytes and text. Invalid UTF-8 is an error and never becomes a replacement character. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Returns whether bytes are valid UTF-8. @param extent `cut`: the last character may be incomplete */
export function isUtf8(bytes: Uint8Array, extent: 'whole' | 'cut'): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: extent === 'cut' });
    return true;
  } catch {
    return false;
  }
}

/** Decodes a stream as UTF-8. @param wrong returns the error to throw for invalid UTF-8 */
export async function* utf8Text(stream: AsyncIterable<Buffer>, wrong: (cause: unknown) => Error): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      throw wrong(error);
    }
  };
  for await (const chunk of stream) yield decode(chunk);
  yield decode();
}

/**
 * Reads the start of a stream.
 * @param most number of bytes or characters after which the start ends
 * @param until text after which the start ends, within one chunk; null for none
 * @returns the whole chunks of the start, and a stream of all chunks. The start is empty if the stream is empty
 */
export async function withStart<Chunk extends Buffer | string>(
  stream: AsyncIterable<Chunk>, { most, until = null }: { readonly most: number; readonly until?: string | null },
): Promise<{ readonly start: readonly Chunk[]; readonly all: AsyncIterable<Chunk> }> {
  const chunks = stream[Symbol.asyncIterator]();
  const start: Chunk[] = [];
  let length = 0;
  for (let isEnough = false; !isEnough;) {
    const next = await chunks.next();
    if (next.done === true) break;
    start.push(next.value);
    length += next.value.length;
    isEnough = length >= most || (until !== null && next.value.includes(until));
  }
  async function* all(): AsyncGenerator<Chunk, void, undefined> {
    yield* start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { start, all: all() };
}

/** Yields the chunks of a stream unchanged. @param count receives the number of bytes of the stream so far, before each chunk is yielded */
export async function* counted(stream: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    count(bytes);
    yield chunk;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Yields the bytes of a UTF-8 text without the byte order mark at its beginning. */
export async function* withoutByteOrderMark(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let beginning: Buffer | null = Buffer.alloc(0);
  for await (const chunk of stream) {
    if (beginning === null) yield chunk;
    else {
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < BYTE_ORDER_MARK.length) continue;
      yield beginning.subarray(beginning.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
      beginning = null;
    }
  }
  if (beginning !== null) yield beginning;
}

/** Returns the SHA-256 of a file in hexadecimal digits. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
