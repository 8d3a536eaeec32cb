/** Reads and writes snapshots of a new embedded database. Unpacking a snapshot takes a quarter of the CPU time that creating a database takes. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { ROOT } from '../config.ts';

/**
 * Content of a snapshot. `tables`: the extensions and all tables. Only the compiled program has this snapshot, because the tables change with every change of
 * the SQL. `extensions`: only the extensions. This snapshot is committed to the repository, because the extensions change only with PGlite.
 */
export type SnapshotContent = 'tables' | 'extensions';

/** Folder of the snapshots, relative to the root of the program. */
const FOLDER = 'pipelines/db';

/** Path of the snapshot of the extensions. The name contains the versions of PGlite and of its PostGIS package. */
const EXTENSIONS_FILE = join(ROOT, FOLDER, 'extensions-pglite-0-5-8-postgis-0-2-8.br');

/** Matches the files that determine the content of a new database: all files of `sql`, and the SQL, layers and manifests of the sources. */
const CONTENT = /^sql\/|\.sql$|\/(?:layers|manifest)\.[jt]s$/;

/** Returns the path of the snapshot of all tables. The name contains the digest of these files, so that the program never uses a snapshot of other files. */
async function tablesFile(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['sql', 'sources']) {
    const paths = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();
    for (const path of paths) {
      const name = path.slice(ROOT.length);
      if (CONTENT.test(name)) hash.update(`${name}\0`).update(createHash('sha256').update(await readFile(path)).digest());
    }
  }
  return join(ROOT, FOLDER, `new-database-${hash.digest('hex').slice(0, 16)}.tar.br`);
}

/** Returns the data folder of a new database as a tar archive, from the snapshot with the most content. Returns undefined if the program has no snapshot. */
export async function readSnapshot(): Promise<Blob | undefined> {
  const path = [await tablesFile(), EXTENSIONS_FILE].find((each) => existsSync(each));
  return path === undefined ? undefined : new Blob([await promisify(brotliDecompress)(await readFile(path))]);
}

/** Compresses the archive of a data folder and stores it as the snapshot. The snapshot of all tables replaces the snapshot of the extensions. */
export async function writeSnapshot(content: SnapshotContent, archive: Buffer): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_SIZE_HINT]: archive.length,
  };
  await writeFile(content === 'tables' ? await tablesFile() : EXTENSIONS_FILE, await promisify(brotliCompress)(archive, { params }));
  if (content === 'tables') await rm(EXTENSIONS_FILE, { force: true });
}
