/**
 * Builds the documentation site: `npm run docs`. The option `--out` is the output folder (default `.mappale/site`). The option `--base` is the URL path below
 * which a web server serves the site (default `/`). The comments of the tables come from a temporary embedded database.
 */
import '../help.ts';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { buildSite } from './build.ts';
import { tablesOf } from './tables.ts';

const { values: { out, base } } = parseArgs({ options: { out: { type: 'string', default: '.mappale/site' }, base: { type: 'string', default: '/' } } });
const folder = resolve(out);

const tables = await onDatabase('pglite:memory', 'write', async (database) => {
  await migrate(database, await loadSources());
  return tablesOf(database);
});
const pages = await buildSite(folder, base, tables);
process.stdout.write(`${pages.length} pages: ${folder}\nTo read the pages: python3 -m http.server --directory ${folder}\n`);
