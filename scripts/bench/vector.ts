/**
 * Measures how fast the stage step reads polygons from shapefiles and KML, compared with ogr2ogr, which uses COPY. The files are the flood mosaic of a dense
 * synthetic region, and a KML of the property observatory (OMI) with the zones of one comune. For the shapefiles, the stage step reads the zips and ogr2ogr
 * reads the unpacked files. Both read the same KML file.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { ofSteps, rateOf, stepOf } from './history.ts';
import { inFolder, isInstalled, median, megabytes, number, ogr2ogr, onFreshDatabase, percent, say, thousands, type Bench, type Result } from './shared.ts';
import { stageInChild, type StageWork } from './stage.ts';

const PARCELS = 200_000;
const REPEATS = 3;
/** Number of zones in the KML: all possible zone numbers of five bands (fasce). */
const ZONES = 4_995;
/** Number of corners of a zone. Published zones have a few hundred corners. */
const CORNERS = 300;

export const run: Bench = (databaseUrl, [parcels = PARCELS]) => inFolder((folder) => onFreshDatabase(databaseUrl, async ({ url }) => {
  const sources = await Promise.all(['ispra_flood', 'omi_quotations'].map(registerSource));
  await onDatabase(url, 'write', (database) => migrate(database, sources));
  const [floods, zones] = [join(folder, 'floods'), join(folder, 'zones')];
  await mkdir(floods);
  await (await loadSynthetic('ispra_flood')).write(makeRegion({ parcels, seed: 1, dense: true }), floods);
  await mkdir(zones);
  const kml = join(zones, 'Z001 - Comune di INVENTATO 2025-2.kml');
  await pipeline(zonesDocument(), createWriteStream(kml, { highWaterMark: 1_048_576 }));
  return [
    await measure('shapefile', { url, source: 'ispra_flood', table: 'raw_flood_hazard', files: floods }, await unpacked(floods, join(folder, 'unpacked'))),
    await measure('kml', { url, source: 'omi_quotations', table: 'raw_perimeter', files: zones }, kml),
  ];
}));

/** Measures the stage step and ogr2ogr on the same data. @param unpackedPath path of the unpacked files, for ogr2ogr */
async function measure(format: 'shapefile' | 'kml', work: StageWork, unpackedPath: string): Promise<Result> {
  const hasOgr = await isInstalled('ogr2ogr');
  const [staged, peer]: [number[], number[]] = [[], []];
  let rows = 0;
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const ours = await stageInChild(work);
    rows = ours.rows;
    staged.push(ours.seconds);
    // Reads shapefiles as ISO 8859-1, because some of the files are in ISO 8859-1 but declare UTF-8.
    const options = ['-nlt', 'PROMOTE_TO_MULTI', '--config', 'SHAPE_ENCODING', 'ISO-8859-1'];
    if (hasOgr) peer.push(await onDatabase(work.url, 'write', (database) => ogr2ogr(database, work.url, unpackedPath, options)));
  }
  const [stageSeconds, peerSeconds, bytes] = [median(staged), hasOgr ? median(peer) : null, await bytesOf(unpackedPath)];
  const rate = (seconds: number | null): string => number(seconds === null ? null : bytes / 1e6 / seconds, 1);
  say(`${format}: ${thousands(rows)} areas, ${megabytes(bytes)}`);
  say(`  stage              ${rate(stageSeconds)} MB/s`);
  say(`  ogr2ogr with COPY  ${rate(peerSeconds)} MB/s; stage reaches ${percent(peerSeconds, stageSeconds)}`);
  return { bench: format, ...ofSteps(rows, [stepOf('stage', stageSeconds, rows), rateOf('ogr2ogr', peerSeconds === null ? null : rows / peerSeconds)], { bytes }) };
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

/** Yields a KML document in the observatory's form, with one zone around each point of a grid. */
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
