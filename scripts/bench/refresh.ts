/**
 * Compares three refreshes with a full load of a synthetic region. Before the first refresh, no file changes. Before the second refresh, the benchmark writes
 * one comune in a hundred again, with other bytes and the same values. Before the third refresh, the benchmark changes the parcels of one comune in a hundred.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { SILENT } from '../../pipelines/log.ts';
import { contextOf } from '../../pipelines/run/context.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { ofSteps, stepOf } from './history.ts';
import { inFolder, number, onFreshDatabase, percent, say, thousands, type Bench, type Result } from './shared.ts';

const PARCELS = 200_000;
const COMUNI = 100;

export const run: Bench = (databaseUrl, [parcels = PARCELS]) => inFolder((folder) => onFreshDatabase(databaseUrl, ({ url }) =>
  onDatabase(url, 'write', async (database) => [await measure(database, folder, parcels)])));

async function measure(database: Database, folder: string, parcels: number): Promise<Result> {
  const sources = await loadSources();
  const region = await writeSynthetic(sources, folder, { parcels, seed: 1, comuni: COMUNI });
  await migrate(database, sources);
  const context = await contextOf(readConfig({}), sources, database, SILENT);
  const timed = async (): Promise<{ seconds: number; report: RefreshReport }> => {
    const startedAt = performance.now();
    const report = await refresh(context, { command: 'bench', data: [folder], regions: [region.code], parallel: 2, accept: null, force: true });
    if (report.failures.length > 0) throw report.failures[0]!;
    return { seconds: (performance.now() - startedAt) / 1000, report };
  };
  const load = await timed();
  const nothing = await timed();
  if (nothing.report.runId !== null) throw new Error('expected a refresh with nothing to do, found a run with steps');
  const changedComuni = Math.max(1, Math.round(region.comuni.length / 100));
  const every = Math.floor(region.comuni.length / changedComuni);
  // Chooses comuni from all over the region, except the first comune, which is the largest.
  const chosen = (offset: number): Set<string> =>
    new Set(region.comuni.filter(({ index }) => index % every === offset % every).slice(0, changedComuni).map(({ belfiore }) => belfiore));
  const cadastre = join(folder, 'MOLISE.zip');
  await rewriteComuni(cadastre, chosen(Math.floor(every / 2)), rewritten);
  const same = await timed();
  await rewriteComuni(cadastre, chosen(Math.floor(every / 2) + 1), changed);
  const again = await timed();
  const { changedParcels } = await one<{ changedParcels: number }>(database, `
    select count(*)::float8 as "changedParcels" from core.parcel p join ledger.member m using (member_id)
    where m.taken_from is null and p.release_id = (select max(release_id) from ledger.release where source_id = 'ade_cadastre')`);
  say(`refresh: ${thousands(region.parcelCount)} parcels in ${region.comuni.length} comuni, ${changedComuni} of them changed (${number(changedParcels)} parcels)`);
  say(`  full load              ${number(load.seconds, 1)} s`);
  say(`  nothing to do          ${number(nothing.seconds, 2)} s`);
  say(`  rewritten, same values ${number(same.seconds, 1)} s, ${percent(same.seconds, load.seconds)} of the full load`);
  say(`  parcels changed        ${number(again.seconds, 1)} s, ${percent(again.seconds, load.seconds)} of the full load`);
  return { bench: 'refresh', ...ofSteps(region.parcelCount, [
    stepOf('full load', load.seconds, region.parcelCount), stepOf('nothing to do', nothing.seconds, null), stepOf('rewritten, same values', same.seconds, null),
    stepOf('parcels changed', again.seconds, changedParcels),
  ]) };
}

/** Changes the bytes of a GML document but no values, as when the publisher writes the document again. */
function rewritten(gml: string): string {
  return gml.replaceAll(' </gml:posList>', '</gml:posList>').replace(/\s*$/, '\n\n');
}

/** Moves every corner in a GML document three metres to the north, and removes one parcel in fifty. */
function changed(gml: string): string {
  let index = 0;
  return gml
    .replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) => `${tag}${list.trim().split(/\s+/).map((value, at) => (at % 2 === 0 ? (Number(value) + 0.00003).toFixed(8) : value)).join(' ')} <`)
    .replace(/<wfs:member>[\s\S]*?<\/wfs:member>\s*/g, (member) => ((index += 1) % 50 === 7 ? '' : member));
}

/** Edits the GML documents of some comuni in the zip of a region. */
async function rewriteComuni(path: string, comuni: ReadonlySet<string>, edit: (gml: string) => string): Promise<void> {
  async function* entriesOf(archive: ZipArchive): AsyncGenerator<ZipEntry> {
    for (const { path: name, modified } of archive.entries) {
      if (name.endsWith('.zip')) {
        const inner = await archive.archive(name);
        yield [name, zipStream(entriesOf(inner)), { modified, level: 0 }];
        await inner.close();
        continue;
      }
      const content = await archive.buffer(name);
      const changes = name.endsWith('_ple.gml') && comuni.has(name.slice(0, 4));
      yield [name, changes ? edit(content.toString('utf8')) : content, { modified }];
    }
  }
  const archive = await ZipArchive.open(path);
  await writeZip(`${path}.part`, entriesOf(archive));
  await archive.close();
  await rename(`${path}.part`, path);
}
