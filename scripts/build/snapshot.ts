/**
 * Runs the compiled program so that the program creates the snapshot from which new embedded databases start.
 *
 *   npm run snapshot                for the program in `dist/`, as `npm run build` does
 *   npm run snapshot -- FOLDER      for a program in a different folder, for tests
 */
import '../help.ts';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../pipelines/config.ts';

const DIST = resolve(ROOT, process.argv[2] ?? 'dist');

const compiled = (file: string): Promise<unknown> => import(pathToFileURL(join(DIST, file)).href);

const { createSnapshot } = (await compiled('pipelines/db/pglite.js')) as typeof import('../../pipelines/db/pglite.ts');
const { upgrade } = (await compiled('pipelines/run/upgrade.js')) as typeof import('../../pipelines/run/upgrade.ts');
const { loadSources } = (await compiled('pipelines/contract/registry.js')) as typeof import('../../pipelines/contract/registry.ts');
const sources = await loadSources();
await createSnapshot('tables', (database) => upgrade(database, sources));
