/**
 * Loads PostGIS into PGlite, without the raster and topology libraries. The extension of the package compiles all three libraries at each start and keeps the
 * whole archive in memory. The program uses only `postgis`.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Extension } from '@electric-sql/pglite';
import { tarFiles } from '../formats/tar.ts';

/** Needed files: the library, the files of `create extension postgis`, and the coordinate reference systems of PROJ. */
const NEEDED = /^(lib\/postgresql\/postgis-3\.so|share\/postgresql\/extension\/postgis(\.control|--\d+\.\d+\.\d+\.sql)|share\/proj\/.+)$/;

const CHUNK_BYTES = 256 * 1024;

/** The file system of the database's process. PGlite does not install the package with the types of this file system. */
interface FileSystem {
  mkdirTree(path: string): void;
  writeFile(path: string, bytes: Buffer, options: { readonly canOwn: boolean }): void;
}

/** The extension in the form of the package, but only with the needed files. The database compiles the library at the first call of PostGIS. */
export const postgis: Extension = {
  name: 'postgis',
  async setup(pglite, options) {
    const original: Extension = (await import('@electric-sql/pglite-postgis')).postgis;
    const { bundlePath, ...rest } = await original.setup(pglite, options);
    if (bundlePath === undefined) throw new Error('this version of PGlite does not contain the archive of PostGIS');
    return { ...rest, init: () => unpack(bundlePath, (pglite as unknown as { readonly Module: { readonly FS: FileSystem } }).Module.FS) };
  },
};

async function unpack(archive: URL, files: FileSystem): Promise<void> {
  const stream = createReadStream(archive, { highWaterMark: CHUNK_BYTES }).pipe(createGunzip({ chunkSize: CHUNK_BYTES }));
  for await (const { path, bytes } of tarFiles(stream, (each) => NEEDED.test(each))) {
    const target = `/pglite/${path}`;
    files.mkdirTree(target.slice(0, target.lastIndexOf('/')));
    files.writeFile(target, bytes, { canOwn: true });
  }
}
