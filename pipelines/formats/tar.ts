/** Reads the files of a tar archive from a stream. */

const BLOCK_BYTES = 512;

interface TarFile {
  /** Path of the file inside the archive. */
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Yields the wanted files of a tar archive in archive order, with one file in memory at a time. Skips empty files.
 * @param stream uncompressed archive
 * @throws Error if the archive ends inside a file
 */
export async function* tarFiles(stream: AsyncIterable<Buffer>, wanted: (path: string) => boolean): AsyncGenerator<TarFile, void, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  let file: { path: string; size: number; parts: Buffer[] | null; missing: number; padding: number } | null = null;
  for await (const chunk of stream) {
    let rest = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    pending = Buffer.alloc(0);
    while (rest.length > 0) {
      if (file === null) {
        if (rest.length < BLOCK_BYTES) {
          pending = rest;
          break;
        }
        file = headerOf(rest, wanted);
        rest = rest.subarray(BLOCK_BYTES);
      }
      const part = rest.subarray(0, file.missing);
      file.parts?.push(part);
      file.missing -= part.length;
      rest = rest.subarray(part.length);
      const skipped = file.missing === 0 ? Math.min(file.padding, rest.length) : 0;
      file.padding -= skipped;
      rest = rest.subarray(skipped);
      if (file.missing > 0 || file.padding > 0) continue;
      if (file.parts !== null) yield { path: file.path, bytes: Buffer.concat(file.parts, file.size) };
      file = null;
    }
  }
  if (file !== null) throw new Error(`the tar archive ends inside ${file.path}: ${file.missing} of ${file.size} bytes are missing`);
}

function headerOf(block: Buffer, wanted: (path: string) => boolean) {
  const text = (start: number, end: number): string => block.toString('latin1', start, end).replace(/\0.*/s, '');
  const path = text(0, 100);
  const size = Number.parseInt(text(124, 136), 8) || 0;
  return { path, size, parts: size > 0 && wanted(path) ? [] as Buffer[] : null, missing: size, padding: (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES };
}
