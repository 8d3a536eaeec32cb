/**
 * Benchmarks: `npm run bench -- NAME [SIZE…]`; without a name, all of them. Each compares within one run, on the same bytes, in turn; quote ratios, because
 * machines differ and are noisy. Results are appended to `history.jsonl`. `compare`, `slopes`, `page` and `sizing` read this file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, ROOT } from '../../pipelines/config.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { benchAnncsu } from './anncsu.ts';
import { benchApi, describeApi } from './api.ts';
import { benchCadastre } from './cadastre.ts';
import { describeComparison } from './compare.ts';
import { benchEgms } from './egms.ts';
import { benchEnrich } from './enrich.ts';
import { onDatabase, onFreshDatabase } from './fresh.ts';
import { appendHistory, findState, latestOf, ofSteps, rateOf, readHistory, rounded, stepOf, type Measurement } from './history.ts';
import { measureLoad, SyntheticFiles } from './load.ts';
import { circumstancesOf } from './machine.ts';
import { drawPage } from './page.ts';
import { benchRefresh } from './refresh.ts';
import { benchSections, measurementOfSections } from './sections.ts';
import { SIZING_PAGE, sizingPage } from './sizing.ts';
import { slopesOf, steepOf, STEEP } from './slopes.ts';
import { benchSources } from './sources.ts';
import { benchTerrain } from './terrain.ts';
import { benchVector } from './vector.ts';

/** Appends a measurement to the history. */
type Keep = (bench: string, measurement: Measurement) => void;
/** @param sizes parcels or rows; empty for the benchmark's defaults */
type Run = (databaseUrl: string, sizes: readonly number[], keep: Keep) => Promise<void>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const k = (n: number | null): string => (n === null ? 'not measured' : `${Math.round(n / 1000).toLocaleString('en-US')} k`);

const mega = (bytes: number | null): string => (bytes === null ? 'not measured' : `${Math.round(bytes / 1e6).toLocaleString('en-US')} MB`);

const sized = (sizes: readonly number[]): { parcels?: number } => (sizes[0] === undefined ? {} : { parcels: sizes[0] });

/** Benchmarks by name. */
const BENCHES: Readonly<Record<string, Run>> = {
  async load(databaseUrl, sizes, keep) {
    await SyntheticFiles.during(async (files) => {
      for (const parcels of sizes.length === 0 ? [20_000, 200_000, 1_000_000] : sizes) {
        const load = await onFreshDatabase(databaseUrl, (fresh) => measureLoad(fresh, files, parcels));
        keep('load', load);
        describeLoad(load);
      }
    });
    describeSlopes('last');
  },
  async sections(databaseUrl, sizes, keep) {
    const parcels = sizes[0] ?? 200_000;
    const { load, sections } = await SyntheticFiles.during((files) => onFreshDatabase(databaseUrl, (fresh) => benchSections(fresh, files, parcels)));
    keep('load', load);
    keep('sections', measurementOfSections(parcels, sections));
    say(`sections: ${k(parcels)} parcels, compared with a plain PostGIS script on the same tables`);
    say(textTable(
      sections.map(({ section, seconds, plainSeconds, layerSeconds, parcels: found, differing }) =>
        [
          section, rounded(seconds), rounded(plainSeconds), rounded(plainSeconds / seconds), rounded(plainSeconds / (seconds + layerSeconds)), found, differing,
        ]),
      ['section', 'ours, s', 'plain, s', 'times', 'with its layers', 'parcels', 'differing'],
    ));
    const [ours, plain] = [sections.reduce((sum, { seconds }) => sum + seconds, 0), sections.reduce((sum, { plainSeconds }) => sum + plainSeconds, 0)];
    say(`all: ${ours.toFixed(1)} s, plain ${plain.toFixed(1)} s, ${(plain / ours).toFixed(1)} times`);
  },
  async cadastre(databaseUrl, sizes, keep) {
    const bench = await benchCadastre({ databaseUrl, ...sized(sizes) });
    keep('cadastre', {
      ...ofSteps(bench.parcels, [
        rateOf('reader alone', bench.scanRate), stepOf('stage', bench.parcels / bench.stageRate, bench.parcels), rateOf('ogr2ogr', bench.ogr2ogrRate), rateOf('raw binary COPY', bench.copyRate),
      ]),
      peakMiB: { node: Math.round(bench.peakMiB.all), server: null },
    });
    say(`cadastre: ${k(bench.parcels)} parcels, ${Math.round(bench.gmlBytes / 1e6)} MB of GML, ${Math.round(bench.zipBytes / 1e6)} MB zipped`);
    say(`  reader alone              ${k(bench.scanRate)} parcels/s`);
    say(`  stage: zip to table       ${k(bench.stageRate)} parcels/s`);
    say(`  ogr2ogr with COPY         ${k(bench.ogr2ogrRate)} parcels/s; stage is ${bench.stageToOgr2ogr?.toFixed(1) ?? '?'} times that`);
    say(`  raw binary COPY           ${k(bench.copyRate)} parcels/s; stage is ${(bench.stageToCopy * 100).toFixed(0)} % of that`);
    say(`  peak memory of the stage  ${Math.round(bench.peakMiB.all)} MiB on all parcels, ${Math.round(bench.peakMiB.quarter)} MiB on a quarter of them`);
  },
  async sources(databaseUrl, sizes, keep) {
    const parcels = sizes[0] ?? 20_000;
    const readers = await onFreshDatabase(databaseUrl, ({ url }) => benchSources({ databaseUrl: url, parcels }));
    // Some sources publish other regions only, so they have no rate.
    keep('sources', ofSteps(parcels, readers.filter(({ rows }) => rows > 0).flatMap(({ source, rows, readRowsPerSecond, copyRowsPerSecond }) => [
      stepOf(`read ${source}`, rows / readRowsPerSecond, rows), stepOf(`COPY ${source}`, rows / copyRowsPerSecond, rows),
    ])));
    for (const row of readers) {
      say(`  ${row.source.padEnd(18)} ${row.megabytes.toFixed(1).padStart(7)} MB  ${k(row.rows).padStart(8)} rows  read ${k(row.readRowsPerSecond).padStart(7)} rows/s ${row.readMegabytesPerSecond.toFixed(0).padStart(5)} MB/s  `
        + `COPY of the same rows ${k(row.copyRowsPerSecond).padStart(7)} rows/s`);
    }
    const anncsu = await onFreshDatabase(databaseUrl, ({ url }) => benchAnncsu({ databaseUrl: url }));
    keep('addresses', ofSteps(anncsu.rows, [
      rateOf('reader, plain', anncsu.plainRowsPerSecond), rateOf('reader, zipped', anncsu.zippedRowsPerSecond), rateOf('stage', anncsu.loadedRowsPerSecond),
      rateOf('\\copy', anncsu.rawCopyRowsPerSecond),
    ]));
    say(`addresses: ${k(anncsu.rows)} rows, ${Math.round(anncsu.csvBytes / 1e6)} MB`);
    say(`  reader alone: plain ${k(anncsu.plainRowsPerSecond)} rows/s, zipped ${k(anncsu.zippedRowsPerSecond)} rows/s; into the staging table ${k(anncsu.loadedRowsPerSecond)} rows/s`);
    say(`  \\copy of the same file: ${k(anncsu.rawCopyRowsPerSecond)} rows/s; reader ${ratio(anncsu.plainRowsPerSecond, anncsu.rawCopyRowsPerSecond)}, stage ${ratio(anncsu.loadedRowsPerSecond, anncsu.rawCopyRowsPerSecond)} of that; peak ${Math.round(anncsu.peakMiB)} MiB`);
    const egms = await onFreshDatabase(databaseUrl, ({ url }) => benchEgms({ databaseUrl: url }));
    keep('ground motion', ofSteps(egms.rows, [rateOf('reader, plain', egms.rowsPerSecond), rateOf('COPY', egms.copyRowsPerSecond)], {
      plain_megabytes_per_second: rounded(egms.plainMBs), zipped_megabytes_per_second: rounded(egms.zippedMBs),
      inflate_megabytes_per_second: rounded(egms.inflateMBs),
    }));
    say(`ground motion: ${k(egms.rows)} rows, ${Math.round(egms.csvBytes / 1e6)} MB`);
    say(`  reader: plain ${Math.round(egms.plainMBs)} MB/s, zipped ${Math.round(egms.zippedMBs)} MB/s (inflating alone ${Math.round(egms.inflateMBs)}), ${k(egms.rowsPerSecond)} rows/s; COPY of the same rows ${k(egms.copyRowsPerSecond)} rows/s`);
  },
  async refresh(databaseUrl, sizes, keep) {
    const bench = await onFreshDatabase(databaseUrl, ({ url }) => benchRefresh({ databaseUrl: url, ...sized(sizes) }));
    keep('refresh', ofSteps(bench.parcels, [
      stepOf('full load', bench.loadSeconds, bench.parcels), stepOf('nothing to do', bench.noopSeconds, null), stepOf('rewritten, same content', bench.sameSeconds, null),
      stepOf('parcels changed', bench.refreshSeconds, bench.changedParcels),
    ]));
    say(`refresh: ${k(bench.parcels)} parcels in ${bench.comuni} comuni`);
    say(`  full load ${bench.loadSeconds.toFixed(1)} s; nothing to do ${bench.noopSeconds.toFixed(2)} s; ${bench.changedComuni} comune rewritten ${bench.sameSeconds.toFixed(1)} s, ${ratio(bench.sameSeconds, bench.loadSeconds)} of the full load; all ${bench.changedParcels} parcels of ${bench.changedComuni} changed ${bench.refreshSeconds.toFixed(1)} s, ${ratio(bench.refreshSeconds, bench.loadSeconds)}`);
  },
  async terrain(databaseUrl, sizes, keep) {
    const bench = await onFreshDatabase(databaseUrl, ({ url }) => benchTerrain({ databaseUrl: url, ...sized(sizes) }));
    const rate = bench.parcels / bench.seconds;
    keep('terrain', {
      ...ofSteps(bench.parcels, [stepOf('sweep', bench.seconds, bench.parcels), rateOf('PostGIS raster', bench.peerParcelsPerSecond)], { differing_parcels: bench.differing }),
      peakMiB: { node: Math.round(bench.peakMiB), server: null },
    });
    say(`terrain: ${k(bench.parcels)} parcels, ${k(bench.cells)} cells of them, ${Math.round(bench.rasterBytes / 1e6)} MB of rasters`);
    say(`  swept in ${bench.seconds.toFixed(1)} s: ${k(rate)} parcels/s, ${Math.round(bench.rasterBytes / 1e6 / bench.seconds)} MB/s; peak ${Math.round(bench.peakMiB)} MiB, including ${Math.round(bench.baseMiB)} before the start`);
    say(`  PostGIS raster: ${Math.round(bench.peerParcelsPerSecond).toLocaleString('en-US')} parcels/s, the sweep is ${(rate / bench.peerParcelsPerSecond).toFixed(0)} times that; of ${bench.sample.toLocaleString('en-US')} parcels ${bench.differing} differ, and PostGIS has other cells than the cell centres inside for ${bench.peerLacks}`);
  },
  async vector(databaseUrl, sizes, keep) {
    const parcels = sizes[0] ?? 200_000;
    for (const { format, bytes, rows, stageSeconds, ogr2ogrSeconds } of await onFreshDatabase(databaseUrl, ({ url }) => benchVector(url, parcels))) {
      keep(format, ofSteps(rows, [stepOf('stage', stageSeconds, rows), rateOf('ogr2ogr', ogr2ogrSeconds === null ? null : rows / ogr2ogrSeconds)], { bytes }));
      say(`${format}: ${k(rows)} areas, ${mega(bytes)}; stage ${(bytes / 1e6 / stageSeconds).toFixed(1)} MB/s; `
        + `ogr2ogr with COPY ${ogr2ogrSeconds === null ? 'not measured' : `${(bytes / 1e6 / ogr2ogrSeconds).toFixed(1)} MB/s, stage is ${(ogr2ogrSeconds / stageSeconds).toFixed(1)} times that`}`);
    }
  },
  async api(databaseUrl, sizes, keep) {
    const report = await onFreshDatabase(databaseUrl, ({ url }) => benchApi({ databaseUrl: url, parcels: sizes[0] ?? 100_000, seconds: 10 }));
    keep('api', ofSteps(report.parcels, report.measured.map(({ name, most }) => rateOf(name, most)), Object.fromEntries([
      ...report.measured.map(({ name, calm }) => [`${name}: p99 at half the most, ms`, rounded(calm.p99)] as const),
      ...report.fairness.map(({ load, p99 }) => [`beside ${load}: p99, ms`, rounded(p99)] as const),
    ])));
    say(describeApi(report));
  },
  async enrich(databaseUrl, [parcels = 200_000, points = 1_000_000], keep) {
    const bench = await SyntheticFiles.during((files) => onFreshDatabase(databaseUrl, async (fresh) => {
      await measureLoad(fresh, files, parcels);
      return benchEnrich(fresh.url, points);
    }));
    const { seconds, found, columns, cpuSeconds, peakMiB, outBytes, oneByOne } = bench;
    const rate = points / seconds;
    keep('enrich', {
      ...ofSteps(parcels, [stepOf('points in a table', seconds, points), rateOf('one by one', oneByOne.alone), rateOf('three at a time', oneByOne.three)], { columns, found }),
      cpuSeconds: { node: rounded(cpuSeconds), server: null }, peakMiB: { node: Math.round(peakMiB), server: null },
    });
    say(`enrich: ${k(points)} points in ${k(bench.parcels)} parcels, ${columns} columns: ${seconds.toFixed(1)} s, ${k(rate)} rows/s, ${k(found)} found, ${mega(outBytes)} written`);
    say(`  Node ${cpuSeconds.toFixed(1)} s of CPU, peak ${Math.round(peakMiB)} MiB`);
    say(`  the API, two requests for each of ${oneByOne.points.toLocaleString('en-US')} points: one by one ${Math.round(oneByOne.alone)} points/s, three at a time ${Math.round(oneByOne.three)}; `
      + `the table is ${(rate / oneByOne.alone).toFixed(0)} and ${(rate / oneByOne.three).toFixed(0)} times that`);
  },
};

/** Commands that show the history and measure nothing. */
const VIEWS: Readonly<Record<string, (args: readonly string[]) => void>> = {
  compare([first = 'last~1', second = 'last']) {
    say(describeComparison(readHistory(), first, second));
  },
  slopes([state = 'last']) {
    describeSlopes(state);
  },
  page() {
    const path = join(ROOT, 'scripts', 'bench', 'history.html');
    writeFileSync(path, drawPage(readHistory()));
    say(path);
  },
  sizing() {
    writeFileSync(SIZING_PAGE, sizingPage(readHistory()));
    say(SIZING_PAGE);
  },
};

function describeLoad({ size, seconds, steps, cpuSeconds, peakMiB, walBytes, diskBytes: { published, after, peak } }: Measurement): void {
  say(`load: ${k(size)} parcels in ${seconds?.toFixed(1) ?? '?'} s`);
  say(textTable(
    steps
      .filter((step) => (step.seconds ?? 0) >= 0.1)
      .map((step) => [step.name, step.seconds, step.rows, step.rowsPerSecond === null ? null : Math.round(step.rowsPerSecond)]),
    ['step', 's', 'rows', 'rows/s'],
  ));
  say(`  CPU: Node ${cpuSeconds.node ?? '?'} s, server ${cpuSeconds.server ?? '?'} s; peak memory: Node ${peakMiB.node ?? '?'} MiB, server ${peakMiB.server ?? '?'} MiB without shared buffers`);
  say(`  write-ahead log ${mega(walBytes)}; on disk: published ${mega(published)}, all ${mega(after)}, at most ${mega(peak)}, `
    + `${peak === null || published === null ? '?' : (peak / published).toFixed(1)} times the published data`);
}

function describeSlopes(asked: string): void {
  const history = readHistory();
  const slopes = slopesOf(latestOf(history, findState(history, asked)));
  if (slopes.length === 0) return;
  const steps = slopes.map(({ bench, step, from, to, perDecade }) => [bench, step, from, to, Number(perDecade.toFixed(2))] as const);
  say(textTable(steps, ['bench', 'step', 'from', 'to', 'cost per parcel for ten times as many']));
  const steep = steepOf(slopes);
  say(steep.length === 0 ? `No step costs more than ${STEEP} times as much per parcel for ten times as many parcels.` : `Above ${STEEP}:`);
  for (const { bench, step, from, to, perDecade } of steep) say(`  ${bench} ${step}: ${perDecade.toFixed(2)} (${k(from)} to ${k(to)})`);
}

function ratio(a: number | null, b: number | null): string {
  return a === null || b === null ? 'not measured' : `${((a / b) * 100).toFixed(0)} %`;
}

/** @throws MappaleError `BENCH_SIZE` (exit 2) */
function parseSize(text: string): number {
  const size = Number(text);
  if (Number.isInteger(size) && size > 0) return size;
  throw new MappaleError('a size is a whole number', { code: 'BENCH_SIZE', kind: 'usage', detail: `expected parcels or rows such as 200000, found ${text}` });
}

async function measure(asked: string | undefined, sizes: readonly number[]): Promise<void> {
  const { databaseUrl } = readConfig();
  if (!databaseUrl.startsWith('postgres')) {
    throw new MappaleError('benchmarks compare with a PostgreSQL server', {
      code: 'DATABASE_URL_MISSING', kind: 'usage', hint: 'Set DATABASE_URL=postgres://… to a server on which the role may create databases. Existing databases are not changed.',
    });
  }
  for (const run of Object.entries(BENCHES).flatMap(([name, each]) => (asked === undefined || name === asked ? [each] : []))) {
    // Read before the benchmark, because the working copy may change while it runs.
    const circumstances = await onDatabase(databaseUrl, circumstancesOf);
    await run(databaseUrl, sizes, (bench, measurement) => {
      appendHistory([{ bench, ...circumstances, ...measurement }]);
    });
  }
}

const [asked, ...args] = process.argv.slice(2);
try {
  const view = asked === undefined ? undefined : VIEWS[asked];
  if (view !== undefined) view(args);
  else if (asked === undefined || asked in BENCHES) await measure(asked, args.map(parseSize));
  else {
    throw new MappaleError(`there is no benchmark ${asked}`, {
      code: 'BENCH_UNKNOWN', kind: 'usage', detail: `expected one of ${[...Object.keys(BENCHES), ...Object.keys(VIEWS)].join(', ')}`,
    });
  }
} catch (error) {
  if (!(error instanceof MappaleError)) throw error;
  process.stderr.write(`${error.report()}\n`);
  process.exitCode = error.exitCode;
}
