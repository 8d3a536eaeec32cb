/** Reads a PMTiles file like a browser, by ranges of bytes. */
import { readFile } from 'node:fs/promises';
import { PMTiles } from 'pmtiles';

export async function openPmtiles(path: string): Promise<PMTiles> {
  const bytes = await readFile(path);
  return new PMTiles({
    getKey: () => path,
    getBytes: async (offset, length) => ({ data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer }),
  });
}
