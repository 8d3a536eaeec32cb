/**
 * Compares the staging of shapefiles and KML with ogr2ogr and COPY on the same bytes, alternating. The input is the flood mosaic of a dense synthetic region,
 * and zones of one comune in the KML dialect of OMI. The program reads the zip with checksums and accounting. ogr2ogr reads unpacked files.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { dropSchema } from '../../pipelines/db/catalog.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { SILENT } from '../../pipelines/log.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { ogrTarget, onDatabase } from './fresh.ts';

const run = promisify(execFile);

const REPEATS = 3;
/** Zones of the document: all numbers of five bands. */
const ZONES = 4_995;
/** Corners of a zone. Real zones have some hundred. */
const CORNERS = 300;

export interface VectorBench {
  readonly format: 'shapefile' | 'kml';
  readonly bytes: number;
  readonly rows: number;
  /** Medians. */
  readonly stageSeconds: number;
  /** Null if ogr2ogr is not installed. */
  readonly ogr2ogrSeconds: number | null;
}

/** @param url an empty database, which is filled @param parcels number of parcels of the region with the flood mosaic */
export async function benchVector(url: string, parcels: number): Promise<VectorBench[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  try {
    return await onDatabase(url, async (database) => {
      const sources = await Promise.all(['ispra_flood', 'omi_quotations'].map(registerSource));
      await migrate(database, sources);
      const [floods, zones] = [join(folder, 'floods'), join(folder, 'zones')];
      await mkdir(floods);
      await (await loadSynthetic('ispra_flood')).write(makeRegion({ parcels, seed: 1, dense: true }), floods);
      await mkdir(zones);
      const kml = join(zones, 'Z001 - Comune di INVENTATO 2025-2.kml');
      await pipeline(zonesDocument(), createWriteStream(kml, { highWaterMark: 1_048_576 }));
      return [
        { format: 'shapefile' as const, ...(await measure(database, url, 'ispra_flood', 'raw_flood_hazard', floods, await unpacked(floods, join(folder, 'unpacked')))) },
        { format: 'kml' as const, ...(await measure(database, url, 'omi_quotations', 'raw_perimeter', zones, kml)) },
      ];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Measured = Omit<VectorBench, 'format'>;

async function measure(database: Database, url: string, source: string, table: string, files: string, unpackedPath: string): Promise<Measured> {
  const withOgr = await run('ogr2ogr', ['--version']).then(() => true, () => false);
  const [staged, peer]: [number[], number[]] = [[], []];
  let rows = 0;
  for (let turn = 0; turn < REPEATS; turn += 1) {
    const ours = await stageOnce(database, source, table, files);
    rows = ours.rows;
    staged.push(ours.seconds);
    if (withOgr) peer.push(await ogr2ogr(database, url, unpackedPath));
  }
  return { bytes: await bytesOf(unpackedPath), rows, stageSeconds: median(staged), ogr2ogrSeconds: withOgr ? median(peer) : null };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

async function stageOnce(database: Database, id: string, table: string, files: string): Promise<{ seconds: number; rows: number }> {
  const survey = await locate([files], [await registerSource(id)], { get: () => undefined, set: () => undefined });
  const startedAt = performance.now();
  const { schema } = await stage(database, survey.releases[0]!, 'bench', () => undefined, SILENT);
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows } = await one<{ rows: number }>(database, `select count(*)::float8 as rows from ${schema}.${table}`);
  await dropSchema(database, schema);
  return { seconds, rows };
}

async function ogr2ogr(database: Database, url: string, path: string): Promise<number> {
  await database.query('create schema ogr');
  const startedAt = performance.now();
  await run('ogr2ogr', [
    '-f', 'PostgreSQL', ogrTarget(url), path, '-lco', 'SCHEMA=ogr', '-lco', 'UNLOGGED=ON', '-lco', 'SPATIAL_INDEX=NONE', '-nlt', 'PROMOTE_TO_MULTI',
    // Some files declare UTF-8 but have another encoding.
    '--config', 'PG_USE_COPY', 'YES', '--config', 'SHAPE_ENCODING', 'ISO-8859-1',
  ]).catch((error: unknown) => {
    // It repeats whole geometries.
    throw new Error(`ogr2ogr: ${String(error).slice(0, 500)}`);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await database.query('drop schema ogr cascade');
  return seconds;
}

async function unpacked(folder: string, into: string): Promise<string> {
  await mkdir(into);
  for (const name of await readdir(folder)) {
    const archive = await ZipArchive.open(join(folder, name));
    for (const { path } of archive.entries) await writeFile(join(into, basename(path)), await archive.buffer(path));
    await archive.close();
  }
  return into;
}

async function bytesOf(path: string): Promise<number> {
  const about = await stat(path);
  if (!about.isDirectory()) return about.size;
  return (await Promise.all((await readdir(path)).map(async (name) => (await stat(join(path, name))).size))).reduce((sum, size) => sum + size, 0);
}

/** Returns rings around the points of a grid, in the format of OMI's KML. */
function* zonesDocument(): Generator<string> {
  const random = randomOf('bench zones');
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>\n<name>INVENTATO (CB) Anno/Semestre 2025/2 generato il 13/04/2026 15:39</name>\n';
  for (let index = 0; index < ZONES; index += 1) {
    const zone = `${'BCDER'[index % 5]!}${1 + Math.floor(index / 5)}`;
    const [lon, lat] = [14 + (index % 71) / 100, 41 + Math.floor(index / 71) / 100];
    const ring = Array.from({ length: CORNERS }, (_, corner) => {
      const [turn, radius] = [(corner / CORNERS) * 2 * Math.PI, 0.003 + random.next() * 0.001];
      return `${(lon + radius * Math.cos(turn)).toFixed(6)},${(lat + radius * Math.sin(turn)).toFixed(6)},0`;
    });
    yield `<Placemark>\n<name>INVENTATO - Zona OMI ${zone}</name>\n<description><![CDATA[<table border="1"><tr><td><b>Cod. Naz. Comune</b></td><td>Z001</td></tr>`
      + `<tr><td><b>Zona OMI</b></td><td>${zone}</td></tr><tr><td><b>Anno / Semestre</b></td><td>2025 / 2</td></tr></table>]]></description>\n`
      + '<ExtendedData><Data name="LINKZONA">\n<displayName>LinkZONA</displayName>\n<value></value>\n</Data>\n<Data name="CODCOM">\n<displayName>Codice Comune</displayName>\n<value>Z001</value>\n</Data>\n'
      + `<Data name="CODZONA">\n<displayName>Codice Zona</displayName>\n<value>${zone}</value>\n</Data>\n</ExtendedData><MultiGeometry>\n<Polygon>\n<outerBoundaryIs>\n<LinearRing>\n<coordinates>\n`
      + `${[...ring, ring[0]!].join(' ')}\n</coordinates>\n</LinearRing>\n</outerBoundaryIs>\n</Polygon>\n</MultiGeometry>\n</Placemark>\n`;
  }
  yield '</Document>\n</kml>\n';
}
