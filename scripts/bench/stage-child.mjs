/** Runs the stage step of one release, and prints duration, rows and peak memory as JSON: `node stage-child.mjs COMPILED URL SOURCE TABLE FILES`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, url, source, table, files] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(compiled, 'pipelines', path)).href);
const [{ registerSource }, { dropSchema }, { onDatabase, one }, { locate }, { stage }, { SILENT }] = await Promise.all(
  ['contract/registry.js', 'db/ddl.js', 'db/index.js', 'ingest/locate.js', 'ingest/stage.js', 'log.js'].map(load),
);

await onDatabase(url, 'write', async (database) => {
  const survey = await locate([files], [await registerSource(source)], { get: () => undefined, set: () => undefined });
  const startedAt = performance.now();
  const { schema } = await stage(database, survey.releases[0], 'bench', () => undefined, SILENT);
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows } = await one(database, `select count(*)::float8 as rows from ${schema}.${table}`);
  await dropSchema(database, schema);
  process.stdout.write(JSON.stringify({ seconds, rows, peakMiB: process.resourceUsage().maxRSS / 1024 }));
});
