/** `make docs`: writes the site. The comments of tables come from an embedded database, which is created for this and removed. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { DeadLinks, siteFiles, sitePages } from './site.ts';
import { tablesOf } from './tables.ts';

const folder = resolve(process.argv[2] ?? '.mappale/site');
const scratch = await mkdtemp(join(tmpdir(), 'mappale-site-'));
try {
  const tables = await onDatabase(`pglite:${join(scratch, 'database')}`, 'write', async (database) => {
    await migrate(database, await loadSources());
    return tablesOf(database);
  });
  const files = siteFiles(await sitePages(tables));
  const made = `${folder}.unfinished`;
  await rm(made, { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(made, path)), { recursive: true });
    await writeFile(join(made, path), text);
  }
  await rm(folder, { recursive: true, force: true });
  await rename(made, folder);
  process.stdout.write(`${files.size} files: ${join(folder, 'index.html')}\n`);
} catch (error) {
  if (!(error instanceof DeadLinks)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
