/**
 * Writes zips for synthetic regions and fixtures with yazl. Streams the entries, so an entry may be larger than memory. Writes fixed dates, so that the same
 * content and the same version of zlib give the same bytes.
 */
import { createWriteStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

type ZipContent = string | Uint8Array | Readable | Iterable<string | Uint8Array>;

export interface ZipEntryOptions {
  /** zlib level, from 1 (fast, the default) to 9. Level 0 stores the entry without compression, as some publishers do for zips inside zips. */
  readonly level?: number;
  /** Date of the entry, such as `2026-07-01`; by default 1980-01-01, the first date that the format allows. */
  readonly modified?: string;
}

export type ZipEntry = readonly [path: string, content: ZipContent, options?: ZipEntryOptions];

/**
 * Returns a zip with the entries in the given order. Requests each entry only after the previous entry was read. Therefore a zip can be an entry of another zip
 * without a temporary file.
 */
export function zipStream(entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  zip.outputStream.pipe(output);
  const fill = async (): Promise<void> => {
    for await (const [path, content, { level = 1, modified = '1980-01-01' } = {}] of entries) {
      const stream = content instanceof Readable ? content : Readable.from(pieces(content), { objectMode: false });
      // Uses noon in local time, because the format and yazl also use local time. The file then has the same time in every time zone. In some time zones,
      // midnight does not exist on the day of a clock change.
      zip.addReadStream(stream, path, { compressionLevel: level, mtime: new Date(`${modified}T12:00:00`), forceDosTimestamp: true });
      await finished(stream);
    }
    zip.end();
  };
  fill().catch((error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  return output;
}

/** Writes a zip to a file. */
export async function writeZip(path: string, entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>): Promise<void> {
  await pipeline(zipStream(entries), createWriteStream(path));
}

/** Joins small pieces into chunks, because calling zlib for each line would take more time than compressing the line. */
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
