/**
 * Compares a scheduled refresh with a full load in three cases: without a change, after one comune in a hundred was rewritten with the same content, and after
 * the parcels of one comune in a hundred changed. A synthetic region is written, loaded, and refreshed after each change.
 */
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { readConfig } from '../../pipelines/config.ts';
import { contextOf } from '../../pipelines/run/context.ts';
import { openDatabase } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { SILENT } from '../../pipelines/log.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';

export interface RefreshBench {
  readonly parcels: number;
  readonly comuni: number;
  readonly changedComuni: number;
  /** Parcels of these comuni. */
  readonly changedParcels: number;
  readonly loadSeconds: number;
  /** Seconds of a refresh that finds no change, without the start of the process. */
  readonly noopSeconds: number;
  /** Seconds after comuni were rewritten with other bytes and the same content. */
  readonly sameSeconds: number;
  /** Seconds after every parcel of the comuni moved and one in fifty was removed. */
  readonly refreshSeconds: number;
  /** refreshSeconds / loadSeconds */
  readonly share: number;
  /** Tables that were published again after the parcels changed. */
  readonly rebuilt: readonly string[];
}

export interface RefreshBenchOptions {
  /** An empty database, which is filled. */
  readonly databaseUrl: string;
  /** Default 200,000. */
  readonly parcels?: number;
  readonly seed?: number;
  /** Default 100, so that one is 1 %. */
  readonly comuni?: number;
  /** Share of the comuni whose file changes; default 0.01, at least one. */
  readonly share?: number;
}

/** Measures on the caller's database. @throws Error if a step failed, because its time would mean nothing */
export async function benchRefresh(options: RefreshBenchOptions): Promise<RefreshBench> {
  const parcels = options.parcels ?? 200_000;
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  const sources = await loadSources();
  const database = await openDatabase(options.databaseUrl);
  try {
    const region = await writeSynthetic(sources, folder, { parcels, seed: options.seed ?? 1, comuni: options.comuni ?? 100 });
    await migrate(database, sources);
    const context = await contextOf(readConfig({}), sources, database, SILENT);
    const timed = async (): Promise<{ seconds: number; report: RefreshReport }> => {
      const startedAt = performance.now();
      const report = await refresh(context, { command: 'bench', data: [folder], regions: [region.code], parallel: 2, accept: null, force: true });
      if (report.failures.length > 0) throw report.failures[0]!;
      return { seconds: (performance.now() - startedAt) / 1000, report };
    };
    const load = await timed();
    const noop = await timed();
    if (noop.report.runId !== null) throw new Error('a refresh without a change did something');
    const changedComuni = Math.max(1, Math.round(region.comuni.length * (options.share ?? 0.01)));
    // Chooses comuni all over the region, without the first, which is the largest.
    const every = Math.floor(region.comuni.length / changedComuni);
    const chosen = (offset: number): Set<string> =>
      new Set(
        region.comuni
          .filter(({ index }) => index % every === offset % every)
          .slice(0, changedComuni)
          .map(({ belfiore }) => belfiore),
      );
    const cadastre = join(folder, 'MOLISE.zip');
    await rewriteComuni(cadastre, chosen(Math.floor(every / 2)), writtenAnew);
    const same = await timed();
    await rewriteComuni(cadastre, chosen(Math.floor(every / 2) + 1), changed);
    const again = await timed();
    const [read] = await database.query<{ parcels: number }>(
      `select count(*) as parcels from core.parcel p join ledger.member m using (member_id)
       where m.taken_from is null and p.release_id = (select max(release_id) from ledger.release where source_id = 'ade_cadastre')`,
    );
    return {
      parcels: region.parcelCount,
      comuni: region.comuni.length,
      changedComuni,
      changedParcels: read!.parcels,
      loadSeconds: load.seconds,
      noopSeconds: noop.seconds,
      sameSeconds: same.seconds,
      refreshSeconds: again.seconds,
      share: again.seconds / load.seconds,
      rebuilt: again.report.units.flatMap(({ built }) => built.map(({ relation }) => relation)),
    };
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns other bytes with the same content, like an office that publishes its file again. */
function writtenAnew(gml: string): string {
  return gml.replaceAll(' </gml:posList>', '</gml:posList>').replace(/\s*$/, '\n\n');
}

/** Moves every corner three metres to the north, and removes one parcel in fifty. */
function changed(gml: string): string {
  let index = 0;
  return gml
    .replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) => `${tag}${list.trim().split(/\s+/).map((value, at) => (at % 2 === 0 ? (Number(value) + 0.00003).toFixed(8) : value)).join(' ')} <`)
    .replace(/<wfs:member>[\s\S]*?<\/wfs:member>\s*/g, (member) => ((index += 1) % 50 === 7 ? '' : member));
}

/** Rewrites the parcels of these comuni. */
async function rewriteComuni(path: string, comuni: ReadonlySet<string>, edit: (gml: string) => string): Promise<void> {
  async function* rewritten(archive: ZipArchive): AsyncGenerator<ZipEntry> {
    for (const { path: name, modified } of archive.entries) {
      if (name.endsWith('.zip')) {
        const inner = await archive.archive(name);
        yield [name, zipStream(rewritten(inner)), { modified, level: 0 }];
        await inner.close();
        continue;
      }
      const content = await archive.buffer(name);
      const changes = name.endsWith('_ple.gml') && comuni.has(name.slice(0, 4));
      yield [name, changes ? edit(content.toString('utf8')) : content, { modified }];
    }
  }
  const archive = await ZipArchive.open(path);
  await writeZip(`${path}.part`, rewritten(archive));
  await archive.close();
  await rename(`${path}.part`, path);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [databaseUrl, parcels] = process.argv.slice(2);
  if (databaseUrl === undefined) throw new Error('usage: node --import tsx scripts/bench/refresh.ts postgres://…/empty_database [parcels]');
  process.stdout.write(`${JSON.stringify(await benchRefresh({ databaseUrl, ...(parcels === undefined ? {} : { parcels: Number(parcels) }) }), null, 2)}\n`);
}
