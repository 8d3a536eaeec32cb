/**
 * Measures how fast cadastral parcels are loaded into PostgreSQL. The same synthetic parcels, in the publisher's dialect, are loaded in three ways, alternating
 * in one run. The medians are compared:
 * - stage: the step of this program, from the region's zip of zips to rows in an unlogged table, with checksums and accounting;
 * - ogr2ogr: GDAL with COPY into an unlogged table without index, from the unpacked document with an existing .gfs;
 * - copy: a binary COPY of the rows of `stage` from a file. This is the limit of the server.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { SILENT } from '../../pipelines/log.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { GmlDocument } from '../../sources/ade_cadastre/document.ts';
import { featureColumns } from '../../sources/ade_cadastre/feature-columns.ts';
import { tables } from '../../sources/ade_cadastre/tables.ts';
import { ogrTarget } from './fresh.ts';

const run = promisify(execFile);

/** Parcels of a comune. The median of the published comuni is 7,918. */
const COMUNE_PARCELS = 10_000;
/** Positions of a ring. The last one equals the first. */
const POSITIONS = 9;
const SRS = 'urn:ogc:def:crs:EPSG::6706';

export interface CadastreBenchOptions {
  /** `postgres://…` of a server on which databases may be created. The named database is not changed. */
  readonly databaseUrl: string;
  /** Default 1,000,000, a small region with about 1.3 GB of GML. Fewer parcels measure the start more than the reading. */
  readonly parcels?: number;
  /** Runs of each of the three loads; default 3. */
  readonly repeats?: number;
}

/** Rates are parcels per second, medians of all runs. */
export interface CadastreBench {
  readonly parcels: number;
  readonly gmlBytes: number;
  readonly zipBytes: number;
  readonly runs: { readonly stage: readonly number[]; readonly ogr2ogr: readonly number[]; readonly copy: readonly number[] };
  /** Rate of the reader alone, from bytes in memory to COPY bytes in memory, on one thread. */
  readonly scanRate: number;
  readonly stageRate: number;
  /** Null if ogr2ogr is not installed. */
  readonly ogr2ogrRate: number | null;
  readonly copyRate: number;
  readonly stageToOgr2ogr: number | null;
  readonly stageToCopy: number;
  /** Largest resident set of the staging process in MiB, for all parcels and for a quarter of them. */
  readonly peakMiB: { readonly all: number; readonly quarter: number };
}

/** Measures parcels. Creates and drops a database, and writes and removes files in the temporary folder. */
export async function benchCadastre(options: CadastreBenchOptions): Promise<CadastreBench> {
  const parcels = options.parcels ?? 1_000_000;
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  const name = `mappale_bench_${process.pid}`;
  const url = new URL(options.databaseUrl);
  const server = await openDatabase(options.databaseUrl);
  try {
    await server.query(`create database ${name}`);
    url.pathname = `/${name}`;
    const database = await openDatabase(url.href);
    try {
      await database.query('create extension if not exists postgis');
      return await measure(database, url.href, folder, parcels, options.repeats ?? 3);
    } finally {
      await database.close();
    }
  } finally {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(database: Database, url: string, folder: string, parcels: number, repeats: number): Promise<CadastreBench> {
  await migrate(database, [await registerSource('ade_cadastre')]);
  const zip = join(folder, 'MOLISE.zip');
  const quarter = join(folder, 'ABRUZZO.zip');
  const gml = join(folder, 'parcels.gml');
  const rows = join(folder, 'rows.copy');
  await writeRegion(zip, parcels);
  await writeRegion(quarter, Math.ceil(parcels / 4));
  await pipeline(() => document(0, parcels), createWriteStream(gml, { highWaterMark: 1_048_576 }));
  const scanRate = parcels / (await scan(gml, rows));
  const withOgr = await run('ogrinfo', ['-ro', '-so', gml, 'CadastralParcel']).then(() => true, () => false);

  const runs = { stage: [] as number[], ogr2ogr: [] as number[], copy: [] as number[] };
  let peak = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const staged = await stageInChild(url, zip, parcels);
    peak = Math.max(peak, staged.peakMiB);
    runs.stage.push(parcels / staged.seconds);
    if (withOgr) runs.ogr2ogr.push(parcels / (await ogr2ogr(database, url, gml, parcels)));
    runs.copy.push(parcels / (await copy(database, rows, parcels)));
  }
  const quarterPeak = (await stageInChild(url, quarter, Math.ceil(parcels / 4))).peakMiB;
  const [stageRate, copyRate] = [median(runs.stage), median(runs.copy)];
  const ogr2ogrRate = withOgr ? median(runs.ogr2ogr) : null;
  return {
    parcels,
    gmlBytes: (await stat(gml)).size,
    zipBytes: (await stat(zip)).size,
    runs,
    scanRate,
    stageRate,
    ogr2ogrRate,
    copyRate,
    stageToOgr2ogr: ogr2ogrRate === null ? null : stageRate / ogr2ogrRate,
    stageToCopy: stageRate / copyRate,
    peakMiB: { all: peak, quarter: quarterPeak },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

// --- The input -----------------------------------------------------------------------------------------------------

/** Returns a collection of parcels, numbered from `first`, in the format of the publisher's MapServer. */
function* document(first: number, count: number): Generator<string> {
  yield `<?xml version='1.0' encoding="UTF-8" ?>\n<wfs:FeatureCollection\n   xmlns:CP="http://mapserver.gis.umn.edu/mapserver"\n   xmlns:gml="http://www.opengis.net/gml/3.2"\n`
    + '   xmlns:wfs="http://www.opengis.net/wfs/2.0"\n   xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n'
    + `   timeStamp="2026-07-01T00:00:00" numberMatched="${count}" numberReturned="${count}">\n${box('      ', 41, 14, 42, 15)}`;
  const random = randomOf('bench', first);
  for (let i = first; i < first + count; i += 1) yield parcel(i, 41 + random.next(), 14 + random.next());
  yield '</wfs:FeatureCollection>\n\n';
}

function box(indent: string, south: number, west: number, north: number, east: number): string {
  const corner = (lat: number, lon: number): string => `${lat.toFixed(6)} ${lon.toFixed(6)}`;
  return `${indent}<gml:boundedBy>\n${indent}\t<gml:Envelope srsName="${SRS}">\n${indent}\t\t<gml:lowerCorner>${corner(south, west)}</gml:lowerCorner>\n`
    + `${indent}\t\t<gml:upperCorner>${corner(north, east)}</gml:upperCorner>\n${indent}\t</gml:Envelope>\n${indent}</gml:boundedBy>\n`;
}

function parcel(index: number, lat: number, lon: number): string {
  const comune = `Z${String(1 + Math.floor(index / COMUNE_PARCELS)).padStart(3, '0')}`;
  const sheet = String(1 + Math.floor((index % COMUNE_PARCELS) / 250)).padStart(4, '0');
  const label = String(1 + (index % 250));
  const reference = `${comune}_${sheet}00.${label}`;
  const id = `CadastralParcel.IT.AGE.PLA.${reference}`;
  let ring = '';
  for (let i = 0; i < POSITIONS; i += 1) {
    const repeat = ((i % (POSITIONS - 1)) / (POSITIONS - 1)) * 2 * Math.PI;
    ring += `${(lat + 0.0002 * Math.sin(repeat)).toFixed(8)} ${(lon + 0.0002 * Math.cos(repeat)).toFixed(8)} `;
  }
  return `    <wfs:member>\n      <CP:CadastralParcel gml:id="${id}">\n${box('        ', lat - 0.0002, lon - 0.0002, lat + 0.0002, lon + 0.0002)}`
    + `        <CP:msGeometry>\n          <gml:Polygon gml:id="${id}.1" srsName="${SRS}">\n            <gml:exterior>\n              <gml:LinearRing>\n`
    + `                <gml:posList srsDimension="2">${ring}</gml:posList>\n              </gml:LinearRing>\n            </gml:exterior>\n          </gml:Polygon>\n        </CP:msGeometry>\n`
    + `        <CP:INSPIREID_LOCALID>IT.AGE.PLA.${reference}</CP:INSPIREID_LOCALID>\n        <CP:INSPIREID_NAMESPACE>IT.AGE.PLA.</CP:INSPIREID_NAMESPACE>\n`
    + `        <CP:LABEL>${label}</CP:LABEL>\n        <CP:NATIONALCADASTRALREFERENCE>${reference}</CP:NATIONALCADASTRALREFERENCE>\n`
    + `        <CP:ADMINISTRATIVEUNIT>${comune}</CP:ADMINISTRATIVEUNIT>\n      </CP:CadastralParcel>\n    </wfs:member>\n`;
}

/** `MOLISE.zip` › `CB.zip` › `Z001_INVENTATO.zip` › `Z001_INVENTATO_ple.gml`, each level deflated. */
async function writeRegion(path: string, parcels: number): Promise<void> {
  const level = { level: 6 };
  function* comuni(): Generator<ZipEntry> {
    for (let first = 0; first < parcels; first += COMUNE_PARCELS) {
      const stem = `Z${String(1 + first / COMUNE_PARCELS).padStart(3, '0')}_INVENTATO`;
      yield [`${stem}.zip`, zipStream([[`${stem}_ple.gml`, document(first, Math.min(COMUNE_PARCELS, parcels - first)), level]]), level];
    }
  }
  await writeZip(path, [['CB.zip', zipStream(comuni()), level]]);
}

// --- The three loads -----------------------------------------------------------------------------------------------

/** Runs the reader alone and writes its rows into a file. @returns seconds of reading */
async function scan(gml: string, into: string): Promise<number> {
  const out = createWriteStream(into, { highWaterMark: 1_048_576 });
  const full: Buffer[] = [];
  const parcels = new RowWriter(tables.raw_parcel, (chunk) => full.push(chunk));
  const sheets = new RowWriter(tables.raw_sheet, () => undefined);
  const reader = new GmlDocument({ at: gml });
  let spent = 0;
  let open = false;
  for await (const chunk of createReadStream(gml, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    const start = performance.now();
    reader.push(chunk);
    if (!open) reader.open({ parcels, sheets, fileBelfiore: null, columns: featureColumns({ added: () => undefined }, gml) });
    open = true;
    reader.process();
    spent += performance.now() - start;
    for (const piece of full.splice(0)) if (!out.write(piece)) await once(out, 'drain');
  }
  reader.finish();
  parcels.flush();
  for (const piece of full) out.write(piece);
  await new Promise<void>((resolve) => out.end(resolve));
  if (reader.problems.length > 0) throw new Error(`expected no rejects of synthetic parcels, found ${reader.problems[0]!.code}`);
  return spent / 1000;
}

interface ChildResult {
  readonly seconds: number;
  readonly rows: number;
  readonly peakMiB: number;
}

/** Runs the stage step in a separate process, so that its memory can be measured. */
async function stageInChild(url: string, zip: string, parcels: number): Promise<ChildResult> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), 'stage', url, zip], { cwd: fileURLToPath(new URL('../..', import.meta.url)) });
  const result = JSON.parse(stdout) as ChildResult;
  if (result.rows !== parcels) throw new Error(`expected ${parcels} rows, found ${result.rows}`);
  return result;
}

async function stageHere(url: string, zip: string): Promise<ChildResult> {
  const database = await openDatabase(url);
  try {
    const source = await registerSource('ade_cadastre');
    const survey = await locate([zip], [source], { get: () => undefined, set: () => undefined });
    let rows = 0;
    let schema = '';
    const spent = await seconds(async () => {
      const staged = await stage(database, survey.releases[0]!, 'bench', () => undefined, SILENT);
      schema = staged.schema;
    });
    const [counted] = await database.query<{ rows: number }>(`select count(*) as rows from ${schema}.raw_parcel`);
    rows = counted!.rows;
    await database.query(`drop schema ${schema} cascade`);
    return { seconds: spent, rows, peakMiB: process.resourceUsage().maxRSS / 1024 };
  } finally {
    await database.close();
  }
}

async function ogr2ogr(database: Database, url: string, gml: string, parcels: number): Promise<number> {
  const spent = await seconds(() => run('ogr2ogr', [
    '-f', 'PostgreSQL', ogrTarget(url), gml, 'CadastralParcel', '-nln', 'ogr_parcel', '--config', 'PG_USE_COPY', 'YES', '-lco', 'UNLOGGED=ON', '-lco', 'SPATIAL_INDEX=NONE',
  ]));
  const [found] = await database.query<{ n: number }>('select count(*) as n from ogr_parcel');
  if (found!.n !== parcels) throw new Error(`ogr2ogr: expected ${parcels} rows, found ${found!.n}`);
  await database.query('drop table ogr_parcel');
  return spent;
}

async function copy(database: Database, rows: string, parcels: number): Promise<number> {
  const source = await registerSource('ade_cadastre');
  await database.query('create schema bench_copy');
  await database.session(async (session) => {
    await session.query('set search_path to bench_copy, public');
    await session.script(source.staging.text, source.staging.file);
    await session.query('reset search_path');
  });
  let taken = 0;
  const spent = await seconds(async () => {
    const into = await database.copyIn('bench_copy', 'raw_parcel');
    for await (const chunk of createReadStream(rows, { highWaterMark: 65_536 }) as AsyncIterable<Buffer>) {
      const wait = into.write(chunk);
      if (wait !== undefined) await wait;
    }
    taken = await into.end();
  });
  if (taken !== parcels) throw new Error(`copy: expected ${parcels} rows, found ${taken}`);
  await database.query('drop schema bench_copy cascade');
  return spent;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [first, second, third] = process.argv.slice(2);
  if (first === 'stage') console.log(JSON.stringify(await stageHere(second!, third!)));
  else if (first === undefined) throw new Error('usage: scripts/bench/cadastre.ts postgres://… [parcels] [repeats]');
  else {
    console.log(JSON.stringify(await benchCadastre({
      databaseUrl: first, ...(second === undefined ? {} : { parcels: Number(second) }), ...(third === undefined ? {} : { repeats: Number(third) }),
    }), null, 2));
  }
}
