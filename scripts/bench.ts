/**
 * Benchmarks: `npm run bench -- cadastre`, `-- sources`, `-- api`, `-- refresh`, `-- terrain`; without a name, all of them.
 * Each compares within one run, on the same bytes, in turn; quote ratios, because machines differ and are noisy.
 */
import { readConfig } from '../pipelines/config.ts';
import { openDatabase } from '../pipelines/db/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { benchAnncsu } from './bench-anncsu.ts';
import { benchApi, describeApi } from './bench-api.ts';
import { benchCadastre } from './bench-cadastre.ts';
import { benchEgms } from './bench-egms.ts';
import { benchRefresh } from './bench-refresh.ts';
import { benchSources } from './bench-sources.ts';
import { benchTerrain } from './bench-terrain.ts';

type Run = (databaseUrl: string, size: number | undefined) => Promise<void>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const k = (n: number | null): string => (n === null ? 'not measured' : `${Math.round(n / 1000).toLocaleString('en-US')} k`);

/** Name → what it does with a size (parcels, rows), and its default. */
const BENCHES: Readonly<Record<string, Run>> = {
  async cadastre(databaseUrl, size) {
    const bench = await benchCadastre({ databaseUrl, ...(size === undefined ? {} : { parcels: size }) });
    say(`cadastre: ${k(bench.parcels)} parcels, ${Math.round(bench.gmlBytes / 1e6)} MB of GML, ${Math.round(bench.zipBytes / 1e6)} MB zipped`);
    say(`  reader alone              ${k(bench.scanRate)} parcels/s`);
    say(`  stage: zip to table       ${k(bench.stageRate)} parcels/s`);
    say(`  ogr2ogr with COPY         ${k(bench.ogr2ogrRate)} parcels/s; stage is ${bench.stageToOgr2ogr?.toFixed(1) ?? '?'} times that`);
    say(`  raw binary COPY           ${k(bench.copyRate)} parcels/s; stage is ${(bench.stageToCopy * 100).toFixed(0)} % of that`);
    say(`  peak memory of the stage  ${Math.round(bench.peakMiB.all)} MiB on all parcels, ${Math.round(bench.peakMiB.quarter)} MiB on a quarter of them`);
  },
  async sources(databaseUrl, size) {
    for (const row of await onFreshDatabase(databaseUrl, (url) => benchSources({ databaseUrl: url, parcels: size ?? 20_000 }))) {
      say(`  ${row.source.padEnd(18)} ${row.megabytes.toFixed(1).padStart(7)} MB  ${k(row.rows).padStart(8)} rows  read ${k(row.readRowsPerSecond).padStart(7)} rows/s ${row.readMegabytesPerSecond.toFixed(0).padStart(5)} MB/s  `
        + `COPY of the same rows ${k(row.copyRowsPerSecond).padStart(7)} rows/s`);
    }
    const anncsu = await onFreshDatabase(databaseUrl, (url) => benchAnncsu({ databaseUrl: url }));
    say(`addresses: ${k(anncsu.rows)} rows, ${Math.round(anncsu.csvBytes / 1e6)} MB`);
    say(`  reader alone: plain ${k(anncsu.plainRowsPerSecond)} rows/s, zipped ${k(anncsu.zippedRowsPerSecond)} rows/s; into the staging table ${k(anncsu.loadedRowsPerSecond)} rows/s`);
    say(`  \\copy of the same file: ${k(anncsu.rawCopyRowsPerSecond)} rows/s; reader ${ratio(anncsu.plainRowsPerSecond, anncsu.rawCopyRowsPerSecond)}, stage ${ratio(anncsu.loadedRowsPerSecond, anncsu.rawCopyRowsPerSecond)} of that; peak ${Math.round(anncsu.peakMiB)} MiB`);
    const egms = await onFreshDatabase(databaseUrl, (url) => benchEgms({ databaseUrl: url }));
    say(`ground motion: ${k(egms.rows)} rows, ${Math.round(egms.csvBytes / 1e6)} MB`);
    say(`  reader: plain ${Math.round(egms.plainMBs)} MB/s, zipped ${Math.round(egms.zippedMBs)} MB/s (inflating alone ${Math.round(egms.inflateMBs)}), ${k(egms.rowsPerSecond)} rows/s; COPY of the same rows ${k(egms.copyRowsPerSecond)} rows/s`);
  },
  async refresh(databaseUrl, size) {
    const bench = await onFreshDatabase(databaseUrl, (url) => benchRefresh({ databaseUrl: url, ...(size === undefined ? {} : { parcels: size }) }));
    say(`refresh: ${k(bench.parcels)} parcels in ${bench.comuni} comuni`);
    say(`  full load ${bench.loadSeconds.toFixed(1)} s; nothing to do ${bench.noopSeconds.toFixed(2)} s; ${bench.changedComuni} comune written anew ${bench.sameSeconds.toFixed(1)} s, ${ratio(bench.sameSeconds, bench.loadSeconds)} of the full load; all ${bench.changedParcels} parcels of ${bench.changedComuni} changed ${bench.refreshSeconds.toFixed(1)} s, ${ratio(bench.refreshSeconds, bench.loadSeconds)}`);
  },
  async terrain(databaseUrl, size) {
    const bench = await onFreshDatabase(databaseUrl, (url) => benchTerrain({ databaseUrl: url, ...(size === undefined ? {} : { parcels: size }) }));
    const rate = bench.parcels / bench.seconds;
    say(`terrain: ${k(bench.parcels)} parcels, ${k(bench.cells)} cells of them, ${Math.round(bench.rasterBytes / 1e6)} MB of rasters`);
    say(`  swept in ${bench.seconds.toFixed(1)} s: ${k(rate)} parcels/s, ${Math.round(bench.rasterBytes / 1e6 / bench.seconds)} MB/s; peak ${Math.round(bench.peakMiB)} MiB, of which ${Math.round(bench.baseMiB)} before it began`);
    say(`  PostGIS raster: ${Math.round(bench.peerParcelsPerSecond).toLocaleString('en-US')} parcels/s, the sweep is ${(rate / bench.peerParcelsPerSecond).toFixed(0)} times that; of ${bench.sample.toLocaleString('en-US')} parcels ${bench.differing} differ, and of ${bench.peerLacks} it has other cells than those whose centre lies in them`);
  },
  async api(databaseUrl, size) {
    say(describeApi(await onFreshDatabase(databaseUrl, (url) => benchApi({ databaseUrl: url, parcels: size ?? 100_000, seconds: 10 }))));
  },
};

/** Work on a database of its own, which is dropped afterwards. */
async function onFreshDatabase<T>(databaseUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `mappale_bench_${process.pid}`;
  const server = await openDatabase(databaseUrl);
  try {
    await server.query(`create database ${name}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    const fresh = await openDatabase(url.href);
    await fresh.query('create extension postgis').finally(() => fresh.close());
    return await work(url.href);
  } finally {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.close();
  }
}

function ratio(a: number | null, b: number | null): string {
  return a === null || b === null ? 'not measured' : `${((a / b) * 100).toFixed(0)} %`;
}

const [asked, size] = process.argv.slice(2);
const { databaseUrl } = readConfig();
try {
  if (asked !== undefined && BENCHES[asked] === undefined) {
    throw new MappaleError(`there is no benchmark ${asked}`, { code: 'BENCH_UNKNOWN', kind: 'usage', detail: `expected one of ${Object.keys(BENCHES).join(', ')}` });
  }
  if (!databaseUrl.startsWith('postgres')) {
    throw new MappaleError('benchmarks compare with a PostgreSQL server', {
      code: 'DATABASE_URL_MISSING', kind: 'usage', hint: 'Set DATABASE_URL=postgres://… to a server on which the role may create databases; its own databases are not touched.',
    });
  }
  for (const name of asked === undefined ? Object.keys(BENCHES) : [asked]) await BENCHES[name]!(databaseUrl, size === undefined ? undefined : Number(size));
} catch (error) {
  if (!(error instanceof MappaleError)) throw error;
  process.stderr.write(`${error.report()}\n`);
  process.exitCode = error.exitCode;
}
