/** Opens a PMTiles file with the library `pmtiles`, which reads ranges of bytes, as in a browser. */
import { readFile } from 'node:fs/promises';
import { PMTiles } from 'pmtiles';

export async function openPmtiles(path: string): Promise<PMTiles> {
  const bytes = await readFile(path);
  return new PMTiles({
    getKey: () => path,
    getBytes: async (offset, length) => ({ data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer }),
  });
}
