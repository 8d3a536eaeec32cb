/** Reads a file that a publisher distributes with or without a zip. */
import type { Readable } from 'node:stream';
import type { InputFile, MemberFacts, Sink } from '../contract/source.ts';
import { isZip, type ZipArchive, type ZipEntry } from '../formats/zip.ts';

/** A plain file, or one entry of a zip. */
export interface FilePart {
  readonly facts: MemberFacts;
  /** Name of the part in messages, such as `a.zip!b.csv`. */
  readonly at: string;
  readonly open: () => Promise<Readable>;
  /** Reports progress. @param bytes number of decompressed bytes of the part so far */
  readonly progress: (bytes: number) => void;
}

/**
 * Yields a plain file, or the chosen entries of a zip. The zip is closed at the end.
 * @param choose returns the entries to read. Throws an input error if the zip does not have these entries
 */
export async function* partsOf(
  file: InputFile, sink: Pick<Sink, 'progress'>, choose: (zip: ZipArchive) => readonly ZipEntry[] | Promise<readonly ZipEntry[]>,
): AsyncGenerator<FilePart> {
  if (!(await isZip(file.path))) {
    yield { facts: { path: '', size: file.size }, at: file.name, open: () => Promise.resolve(file.open()), progress: (bytes) => sink.progress(bytes) };
    return;
  }
  const zip = await file.zip();
  try {
    for (const { path, crc32, size, compressedSize } of await choose(zip)) {
      const ratio = size === 0 ? 0 : compressedSize / size;
      yield { facts: { path, crc32, size }, at: `${file.name}!${path}`, open: () => zip.stream(path), progress: (bytes) => sink.progress(bytes * ratio) };
    }
  } finally {
    await zip.close();
  }
}
