/** Reads a file that a publisher distributes with or without a zip. */
import type { InputFile, MemberFacts, Sink } from '../contract/source.ts';
import { counted } from '../formats/streams.ts';
import { isZip, type ZipArchive, type ZipEntry } from '../formats/zip.ts';

/** A plain file, or one entry of a zip. */
export interface FilePart {
  readonly facts: MemberFacts;
  /** Name of the part in messages, such as `a.zip!b.csv`. */
  readonly at: string;
  /** Opens the part. The stream reports the progress of the file while it is read. */
  readonly open: () => Promise<AsyncIterable<Buffer>>;
}

/**
 * Yields a plain file, or the chosen entries of a zip. The zip is closed at the end.
 * @param choose returns the entries to read. Throws an input error if the zip does not have these entries
 */
export async function* partsOf(
  file: InputFile, sink: Pick<Sink, 'progress'>, choose: (zip: ZipArchive) => readonly ZipEntry[] | Promise<readonly ZipEntry[]>,
): AsyncGenerator<FilePart> {
  if (!(await isZip(file.path))) {
    yield { facts: { path: '', size: file.size }, at: file.name, open: () => Promise.resolve(counted(file.open(), (bytes) => sink.progress(bytes))) };
    return;
  }
  const zip = await file.zip();
  let before = 0;
  try {
    for (const { path, crc32, size, compressedSize } of await choose(zip)) {
      const start = before;
      const progress = (bytes: number): void => sink.progress(start + (compressedSize * bytes) / size);
      yield { facts: { path, crc32, size }, at: `${file.name}!${path}`, open: async () => counted(await zip.stream(path) as AsyncIterable<Buffer>, progress) };
      before += compressedSize;
    }
  } finally {
    await zip.close();
  }
}
