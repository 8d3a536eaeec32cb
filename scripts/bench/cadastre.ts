/**
 * Measures how fast cadastral parcels are loaded into PostgreSQL. The benchmark loads the same synthetic parcels, in the GML of the Agenzia delle Entrate, with
 * three programs in turn and compares the medians:
 * - stage: the step of mappale, from the zip of the region to rows in an unlogged table, with checksums and record counts
 * - ogr2ogr: GDAL with COPY into an unlogged table without an index, from the unpacked document
 * - copy: binary COPY from a file with the rows that the stage step would write
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { onDatabase, type Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { GmlDocument } from '../../sources/ade_cadastre/document.ts';
import { featureColumns } from '../../sources/ade_cadastre/feature-columns.ts';
import { tables } from '../../sources/ade_cadastre/tables.ts';
import { ofSteps, rateOf, stepOf } from './history.ts';
import {
  execute, inFolder, median, megabytes, number, ogr2ogr, onFreshDatabase, percent, say, secondsOf, thousands, type Bench, type Result,
} from './shared.ts';
import { stageInChild, type Staged } from './stage.ts';

/** Default number of parcels, as in a small region. The GML has a size of 1.3 GB. With fewer parcels, starting the programs would take most of the time. */
const PARCELS = 1_000_000;
const REPEATS = 3;
/** Number of parcels in a comune. The median of the published comuni is 7,918 parcels. */
const COMUNE_PARCELS = 10_000;
/** Number of positions in a ring. The last position repeats the first. */
const POSITIONS = 9;
const SRS = 'urn:ogc:def:crs:EPSG::6706';

interface Files {
  /** Path of the zip with all parcels, and path of a zip with a quarter of the parcels. */
  readonly zip: string;
  readonly quarter: string;
  readonly gml: string;
  /** Path of a file with the parcel rows in binary COPY format. */
  readonly rows: string;
}

export const run: Bench = (databaseUrl, [parcels = PARCELS]) => inFolder((folder) => onFreshDatabase(databaseUrl, async ({ url }) => {
  const files = { zip: join(folder, 'MOLISE.zip'), quarter: join(folder, 'ABRUZZO.zip'), gml: join(folder, 'parcels.gml'), rows: join(folder, 'rows.copy') };
  await writeRegion(files.zip, parcels);
  await writeRegion(files.quarter, Math.ceil(parcels / 4));
  await pipeline(() => document(0, parcels), createWriteStream(files.gml, { highWaterMark: 1_048_576 }));
  return onDatabase(url, 'write', async (database) => {
    await migrate(database, [await registerSource('ade_cadastre')]);
    return [await measure(database, url, files, parcels)];
  });
}));

async function measure(database: Database, url: string, { zip, quarter, gml, rows }: Files, parcels: number): Promise<Result> {
  const readerRate = parcels / (await scan(gml, rows));
  const hasOgr = await execute('ogrinfo', ['-ro', '-so', gml, 'CadastralParcel']).then(() => true, () => false);
  const stageAll = async (path: string, expected: number): Promise<Staged> => {
    const staged = await stageInChild({ url, source: 'ade_cadastre', table: 'raw_parcel', files: path });
    if (staged.rows !== expected) throw new Error(`expected ${expected} rows, found ${staged.rows}`);
    return staged;
  };
  const [staged, peer, copied, peaks]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const { seconds, peakMiB } = await stageAll(zip, parcels);
    staged.push(seconds);
    peaks.push(peakMiB);
    if (hasOgr) peer.push(await ogr2ogr(database, url, gml, ['CadastralParcel']));
    copied.push(await copy(database, rows, parcels));
  }
  const [stageSeconds, copyRate, peakMiB] = [median(staged), parcels / median(copied), Math.max(...peaks)];
  const [stageRate, ogrRate] = [parcels / stageSeconds, hasOgr ? parcels / median(peer) : null];
  const quarterMiB = (await stageAll(quarter, Math.ceil(parcels / 4))).peakMiB;
  say(`cadastre: ${thousands(parcels)} parcels, ${megabytes((await stat(gml)).size)} of GML, ${megabytes((await stat(zip)).size)} zipped`);
  say(`  reader alone         ${thousands(readerRate)} parcels/s`);
  say(`  stage: zip to table  ${thousands(stageRate)} parcels/s, peak memory ${number(peakMiB)} MiB, with a quarter of the parcels ${number(quarterMiB)} MiB`);
  say(`  ogr2ogr with COPY    ${thousands(ogrRate)} parcels/s; stage reaches ${percent(stageRate, ogrRate)}`);
  say(`  binary COPY          ${thousands(copyRate)} parcels/s; stage reaches ${percent(stageRate, copyRate)}`);
  const steps = [rateOf('reader alone', readerRate), stepOf('stage', stageSeconds, parcels), rateOf('ogr2ogr', ogrRate), rateOf('raw binary COPY', copyRate)];
  return { bench: 'cadastre', ...ofSteps(parcels, steps), peakMiB: { node: Math.round(peakMiB), server: null } };
}

// --- The input -----------------------------------------------------------------------------------------------------

/** Yields the GML of a feature collection, whose parcels are numbered from `first`, in the format of the Agenzia's MapServer. */
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

/** Writes the nested zips of a region: `MOLISE.zip` › `CB.zip` › `Z001_INVENTATO.zip` › `Z001_INVENTATO_ple.gml`. Every entry is deflated. */
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

// --- The three programs ------------------------------------------------------------------------------------------------------

/** Reads a GML document and writes the rows of the parcels to a file. @returns the time for reading, without writing, in seconds */
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
  if (reader.problems.length > 0) throw new Error(`expected no rejects, found ${reader.problems[0]!.code}`);
  return spent / 1000;
}

/** Copies the rows of a file into a staging table. @returns the time in seconds */
async function copy(database: Database, rows: string, parcels: number): Promise<number> {
  const source = await registerSource('ade_cadastre');
  await database.query('create schema bench_copy');
  await database.session(async (session) => {
    await session.query('set search_path to bench_copy, public');
    await session.script(source.staging.text, source.staging.file);
    await session.query('reset search_path');
  });
  let copied = 0;
  const spent = await secondsOf(async () => {
    const into = await database.copyIn('bench_copy', 'raw_parcel');
    for await (const chunk of createReadStream(rows, { highWaterMark: 65_536 }) as AsyncIterable<Buffer>) {
      const wait = into.write(chunk);
      if (wait !== undefined) await wait;
    }
    copied = await into.end();
  });
  if (copied !== parcels) throw new Error(`copy: expected ${parcels} rows, found ${copied}`);
  await database.query('drop schema bench_copy cascade');
  return spent;
}
