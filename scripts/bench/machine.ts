/** Reads the commit, machine, versions and settings that are recorded with a measurement. */
import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { relative } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../pipelines/config.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { gdal } from '../../pipelines/formats/vector.ts';
import { HISTORY, type Circumstances } from './history.ts';

const run = promisify(execFile);

/** Settings of a database server that affect the numbers. */
const SETTINGS = ['fsync', 'synchronous_commit', 'shared_buffers', 'max_wal_size', 'wal_level', 'max_parallel_workers'];

/** Returns commit, machine, versions and settings. @param server a connection to any database of the server */
export async function circumstancesOf(server: Database): Promise<Circumstances> {
  const cores = cpus();
  const { postgres, postgis } = await one<{ postgres: string; postgis: string | null }>(
    server, "select current_setting('server_version') as postgres, (select default_version from pg_available_extensions where name = 'postgis') as postgis",
  );
  const settings = await server.query<{ name: string; value: string }>('select name, current_setting(name) as value from unnest($1::text[]) as name', [SETTINGS]);
  return {
    ...(await codeOf()),
    date: new Date().toISOString(),
    machine: { cpu: cores[0]?.model.trim() ?? 'unknown', cores: cores.length, memoryMiB: Math.round(totalmem() / 2 ** 20) },
    versions: { node: process.versions.node, postgres, postgis, gdal: await bindingVersion(), ogr2ogr: await ogrVersion() },
    settings: Object.fromEntries(settings.map(({ name, value }) => [name, value])),
  };
}

/** Returns the commit, and whether the working copy has changes. New lines in the history file do not count as changes. */
async function codeOf(): Promise<Pick<Circumstances, 'commit' | 'dirty'>> {
  const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], { cwd: ROOT });
  const { stdout: changes } = await run('git', ['status', '--porcelain', '--', '.', `:!${relative(ROOT, HISTORY)}`], { cwd: ROOT });
  return { commit: commit.trim(), dirty: changes.trim() !== '' };
}

/** Returns the version of the GDAL library that the readers use. Asks GDAL's thread, because a process can load GDAL only once. */
function bindingVersion(): Promise<string | null> {
  return gdal('GDAL', 'version').then(({ version }) => version, () => null);
}

/** Returns the version of the ogr2ogr in PATH; null if ogr2ogr is not installed. */
function ogrVersion(): Promise<string | null> {
  return run('ogr2ogr', ['--version']).then(({ stdout }) => /GDAL (\S+?),/.exec(stdout)?.[1] ?? null, () => null);
}
