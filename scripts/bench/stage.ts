/** Runs the stage step of one release in a separate process, to measure the peak memory of the step alone: `stage.ts URL SOURCE TABLE FILES`. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from '../../pipelines/config.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { dropSchema } from '../../pipelines/db/ddl.ts';
import { onDatabase, one } from '../../pipelines/db/index.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { SILENT } from '../../pipelines/log.ts';
import { execute } from './shared.ts';

export interface StageWork {
  readonly url: string;
  readonly source: string;
  /** Staging table whose rows are counted. */
  readonly table: string;
  /** File or folder of one release. */
  readonly files: string;
}

export interface Staged {
  readonly seconds: number;
  readonly rows: number;
  readonly peakMiB: number;
}

/** Stages a release in a child process, and drops the staging schema. */
export async function stageInChild({ url, source, table, files }: StageWork): Promise<Staged> {
  const { stdout } = await execute(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), url, source, table, files], { cwd: ROOT });
  return JSON.parse(stdout) as Staged;
}

function stageHere({ url, source, table, files }: StageWork): Promise<Staged> {
  return onDatabase(url, 'write', async (database) => {
    const survey = await locate([files], [await registerSource(source)], { get: () => undefined, set: () => undefined });
    const startedAt = performance.now();
    const { schema } = await stage(database, survey.releases[0]!, 'bench', () => undefined, SILENT);
    const seconds = (performance.now() - startedAt) / 1000;
    const { rows } = await one<{ rows: number }>(database, `select count(*)::float8 as rows from ${schema}.${table}`);
    await dropSchema(database, schema);
    return { seconds, rows, peakMiB: process.resourceUsage().maxRSS / 1024 };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [url = '', source = '', table = '', files = ''] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await stageHere({ url, source, table, files })));
}
