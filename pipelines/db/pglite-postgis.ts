/**
 * Loads PostGIS into PGlite, without the raster and topology libraries, which the program does not need. The package's own extension compiles all three
 * libraries at each start and keeps the whole archive in memory.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Extension } from '@electric-sql/pglite';
import { tarFiles } from '../formats/tar.ts';

/** Matches the files that PostGIS needs: the library, the files of `create extension postgis`, and the data of PROJ. */
const NEEDED = /^(lib\/postgresql\/postgis-3\.so|share\/postgresql\/extension\/postgis(\.control|--\d+\.\d+\.\d+\.sql)|share\/proj\/.+)$/;

const CHUNK_BYTES = 256 * 1024;

/** The file system inside PGlite. Declared here because PGlite does not install the package with these types. */
interface FileSystem {
  mkdirTree(path: string): void;
  writeFile(path: string, bytes: Buffer, options: { readonly canOwn: boolean }): void;
}

/** PostGIS extension for PGlite, with only the needed files. The database compiles the library at the first call of a PostGIS function. */
export const postgis: Extension = {
  name: 'postgis',
  async setup(pglite, options) {
    const original: Extension = (await import('@electric-sql/pglite-postgis')).postgis;
    const { bundlePath, ...rest } = await original.setup(pglite, options);
    if (bundlePath === undefined) throw new Error('this version of PGlite does not contain the archive of PostGIS');
    return { ...rest, init: () => unpack(bundlePath, (pglite as unknown as { readonly Module: { readonly FS: FileSystem } }).Module.FS) };
  },
};

/** The needed files by path, which all databases of this process share. Empty until the archive was read. */
const unpacked = new Map<string, Buffer>();

/** Writes the needed files. Only the first database of a process reads the archive. */
async function unpack(archive: URL, files: FileSystem): Promise<void> {
  if (unpacked.size === 0) {
    const stream = createReadStream(archive, { highWaterMark: CHUNK_BYTES }).pipe(createGunzip({ chunkSize: CHUNK_BYTES }));
    const read: [string, Buffer][] = [];
    for await (const { path, bytes } of tarFiles(stream, (each) => NEEDED.test(each))) read.push([`/pglite/${path}`, bytes]);
    for (const [path, bytes] of read) unpacked.set(path, bytes);
  }
  for (const [path, bytes] of unpacked) {
    files.mkdirTree(path.slice(0, path.lastIndexOf('/')));
    files.writeFile(path, bytes, { canOwn: true });
  }
}
