/** The snapshot of a new embedded database, which only the compiled program has. Unpacking it takes a quarter of the CPU time of creating a database. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { ROOT } from '../config.ts';

/** Folder of the snapshot, below the root of the program. */
const FOLDER = 'pipelines/db';

/** Files that determine the content of a new database: all of `sql`, which includes the sections' schemas, and the layers of the sources. */
const CONTENT = /^sql\/|\.sql$/;

/** Returns the path of the snapshot. Its name has the digest of the SQL, so that a snapshot of other SQL is not found. */
async function snapshotPath(): Promise<string> {
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

/** Returns the data folder of a new database as a tar archive, or undefined if the program has no snapshot of its SQL. */
export async function readSnapshot(): Promise<Blob | undefined> {
  const path = await snapshotPath();
  return existsSync(path) ? new Blob([await promisify(brotliDecompress)(await readFile(path))]) : undefined;
}

/** Compresses the archive of a data folder and stores it as the snapshot. */
export async function writeSnapshot(archive: Buffer): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_SIZE_HINT]: archive.length,
  };
  await writeFile(await snapshotPath(), await promisify(brotliCompress)(archive, { params }));
}
