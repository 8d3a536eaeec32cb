/**
 * What a scheduled refresh costs beside a full load: with nothing to do, and after one comune in a hundred of the cadastre changed.
 * An invented region is written, loaded, refreshed without a change, changed and refreshed again.
 */
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeSynthetic } from '../pipelines/commands/synth.ts';
import { readConfig } from '../pipelines/config.ts';
import { recogniserOf, type Context } from '../pipelines/context.ts';
import { openDatabase } from '../pipelines/db/index.ts';
import { migrate } from '../pipelines/db/migrate.ts';
import { ZipWriter } from '../pipelines/kit/zip-writer.ts';
import { ZipArchive } from '../pipelines/kit/zip.ts';
import { SILENT } from '../pipelines/log.ts';
import { loadSources } from '../pipelines/registry.ts';
import { refresh, type RefreshReport } from '../pipelines/steps/refresh.ts';

export interface RefreshBench {
  readonly parcels: number;
  readonly comuni: number;
  readonly changedComuni: number;
  readonly loadSeconds: number;
  /** Files looked at, nothing else to do; whole process excluded. */
  readonly noopSeconds: number;
  readonly refreshSeconds: number;
  /** refreshSeconds / loadSeconds */
  readonly share: number;
  readonly rebuilt: readonly string[];
}

export interface RefreshBenchOptions {
  /** An empty database; it is filled. */
  readonly databaseUrl: string;
  /** Default 200,000. */
  readonly parcels?: number;
  readonly seed?: number;
  /** Share of the comuni whose file changes; default 0.01, at least one. */
  readonly share?: number;
}

/** Measures on a database of the caller's. @throws Error when a step failed: its time would mean nothing */
export async function benchRefresh(options: RefreshBenchOptions): Promise<RefreshBench> {
  const parcels = options.parcels ?? 200_000;
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  const sources = await loadSources();
  const database = await openDatabase(options.databaseUrl);
  try {
    const world = await writeSynthetic(sources, folder, parcels, options.seed ?? 1);
    await migrate(database, sources);
    const context: Context = { config: readConfig({}), sources, database, log: SILENT, recogniser: recogniserOf(sources) };
    const timed = async (): Promise<{ seconds: number; report: RefreshReport }> => {
      const startedAt = performance.now();
      const report = await refresh(context, { command: 'bench', data: [folder], regions: [world.region.code], parallel: 2, accept: null, force: true });
      if (report.failures.length > 0) throw report.failures[0]!;
      return { seconds: (performance.now() - startedAt) / 1000, report };
    };
    const load = await timed();
    const noop = await timed();
    if (noop.report.runId !== null) throw new Error('a refresh without a change did something');
    const changedComuni = Math.max(1, Math.round(world.comuni.length * (options.share ?? 0.01)));
    await touchComuni(join(folder, 'MOLISE.zip'), new Set(world.comuni.slice(0, changedComuni).map(({ belfiore }) => belfiore)));
    const again = await timed();
    return {
      parcels: world.parcelCount, comuni: world.comuni.length, changedComuni, loadSeconds: load.seconds, noopSeconds: noop.seconds, refreshSeconds: again.seconds,
      share: again.seconds / load.seconds, rebuilt: again.report.units.flatMap(({ built }) => built.map(({ relation }) => relation)),
    };
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rewrites the parcels of these comuni with other bytes of the same meaning, as when an office publishes its file anew. */
async function touchComuni(path: string, comuni: ReadonlySet<string>): Promise<void> {
  const rewrite = async (archive: ZipArchive, target: string): Promise<void> => {
    const writer = await ZipWriter.create(target);
    for (const [index, entry] of archive.entries.entries()) {
      const name = entry.path;
      if (name.endsWith('.zip')) {
        const inner = await archive.archive(name);
        const part = `${target}.${index}`;
        await rewrite(inner, part);
        await inner.close();
        await writer.add(name, await readFile(part), { modified: entry.modified, stored: true });
        await rm(part);
        continue;
      }
      const content = await archive.buffer(name);
      const changes = name.endsWith('_ple.gml') && comuni.has(name.slice(0, 4));
      await writer.add(name, changes ? Buffer.from(content.toString('utf8').replaceAll(' </gml:posList>', '</gml:posList>').replace(/\s*$/, '\n\n')) : content, { modified: entry.modified });
    }
    await writer.close();
  };
  const archive = await ZipArchive.open(path);
  await rewrite(archive, `${path}.part`);
  await archive.close();
  await rename(`${path}.part`, path);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [databaseUrl, parcels] = process.argv.slice(2);
  if (databaseUrl === undefined) throw new Error('usage: node --import tsx scripts/bench-refresh.ts postgres://…/empty_database [parcels]');
  process.stdout.write(`${JSON.stringify(await benchRefresh({ databaseUrl, ...(parcels === undefined ? {} : { parcels: Number(parcels) }) }), null, 2)}\n`);
}
