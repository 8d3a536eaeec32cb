/**
 * Creates the snapshot that a checkout uses: an embedded database with all extensions. Run this script after changing the version of PGlite.
 *
 * node --import tsx scripts/build/extensions.ts
 */
import { createSnapshot } from '../../pipelines/db/pglite.ts';
import { EXTENSIONS } from '../../pipelines/db/migrate.ts';

await createSnapshot('extensions', async (database) => {
  for (const extension of EXTENSIONS) await database.query(`create extension ${extension}`);
});
