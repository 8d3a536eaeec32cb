/** Opens a published file, or the entries of a published zip, as streams. */
import type { InputFile, MemberFacts, Sink } from '../contract/source.ts';
import { counted } from '../formats/streams.ts';
import { isZip, type ZipArchive, type ZipEntry } from '../formats/zip.ts';

/** A plain file, or one entry of a zip. */
export interface FilePart {
  readonly facts: MemberFacts;
  /** Name of the part in messages, such as `a.zip!b.csv`. */
  readonly at: string;
  /** Opens the part as a stream. While the stream is read, reports the progress of the file. */
  readonly open: () => Promise<AsyncIterable<Buffer>>;
}

/** Opens a plain file as a stream. While the stream is read, reports the number of bytes read so far as the progress of the file. */
export function openFile(file: Pick<InputFile, 'open'>, sink: Pick<Sink, 'progress'>): AsyncIterable<Buffer> {
  return counted(file.open(), (bytes) => sink.progress(bytes));
}

/**
 * Opens an entry of a zip as a stream. @param progress receives the number of compressed bytes read so far, estimated from the share of the entry that was read
 */
export async function openEntry(zip: ZipArchive, { path, size, compressedSize }: ZipEntry, progress: (bytes: number) => void): Promise<AsyncIterable<Buffer>> {
  return counted(await zip.stream(path) as AsyncIterable<Buffer>, (bytes) => progress((compressedSize * bytes) / size));
}

/**
 * Yields a plain file, or the chosen entries of a zip. The zip is closed at the end.
 * @param choose returns the entries to read. Throws an input error if the zip does not have these entries
 */
export async function* partsOf(
  file: InputFile, sink: Pick<Sink, 'progress'>, choose: (zip: ZipArchive) => readonly ZipEntry[] | Promise<readonly ZipEntry[]>,
): AsyncGenerator<FilePart> {
  if (!(await isZip(file.path))) {
    yield { facts: { path: '', size: file.size }, at: file.name, open: () => Promise.resolve(openFile(file, sink)) };
    return;
  }
  const zip = await file.zip();
  let before = 0;
  try {
    for (const entry of await choose(zip)) {
      const start = before;
      const { path, crc32, size } = entry;
      yield { facts: { path, crc32, size }, at: `${file.name}!${path}`, open: () => openEntry(zip, entry, (bytes) => sink.progress(start + bytes)) };
      before += entry.compressedSize;
    }
  } finally {
    await zip.close();
  }
}
