/**
 * Writes zips for synthetic regions and fixtures with yazl. Entries are streamed, so that an entry may be larger than memory. Dates are fixed, so that the same
 * content gives the same bytes with one version of zlib.
 */
import { createWriteStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

type ZipContent = string | Uint8Array | Readable | Iterable<string | Uint8Array>;

export interface ZipEntryOptions {
  /** zlib level, 1 (fast) – 9. 0 stores the entry without compression, as some publishers do for zips inside zips. Default 1. */
  readonly level?: number;
  /** Day of the entry, `2026-07-01`. By default 1980-01-01, the first day of the format. */
  readonly modified?: string;
}

export type ZipEntry = readonly [path: string, content: ZipContent, options?: ZipEntryOptions];

/**
 * Writes entries in their order. Each entry is requested after the previous entry was read. So a zip can be an entry of another zip without a temporary file.
 */
export function zipStream(entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  zip.outputStream.pipe(output);
  const fill = async (): Promise<void> => {
    for await (const [path, content, { level = 1, modified = '1980-01-01' } = {}] of entries) {
      const stream = content instanceof Readable ? content : Readable.from(pieces(content), { objectMode: false });
      // The format and yazl use local time, so noon here is noon in the file everywhere. In some time zones, midnight does not exist on the day of a clock
      // change.
      zip.addReadStream(stream, path, { compressionLevel: level, mtime: new Date(`${modified}T12:00:00`), forceDosTimestamp: true });
      await finished(stream);
    }
    zip.end();
  };
  fill().catch((error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  return output;
}

/** Writes `zipStream` to a file. */
export async function writeZip(path: string, entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>): Promise<void> {
  await pipeline(zipStream(entries), createWriteStream(path));
}

/** Joins small pieces, because a call of zlib for each line would take more time than the line itself. */
function* pieces(content: string | Uint8Array | Iterable<string | Uint8Array>): Generator<Uint8Array> {
  if (content instanceof Uint8Array) {
    yield content;
    return;
  }
  let text = '';
  for (const piece of typeof content === 'string' ? [content] : content) {
    if (typeof piece === 'string') text += piece;
    if (text.length >= 65_536 || (piece instanceof Uint8Array && text !== '')) {
      yield Buffer.from(text);
      text = '';
    }
    if (piece instanceof Uint8Array) yield piece;
  }
  if (text !== '') yield Buffer.from(text);
}
