/**
 * Tests that both engines read the same rows from vector files. The files are fixtures of sources, synthetic files, and publishers' files if there are any.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { VECTOR_ENGINES, type VectorEngine } from '../../pipelines/formats/gdal.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeShapefile } from '../../pipelines/synthetic/shapefile-writer.ts';
import { SOURCES } from '../harness/architecture/project.ts';
import { childEnvironment } from '../harness/environment.ts';
import { PROGRAM } from '../harness/program.ts';
import { realData } from '../harness/real-data.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import type { LayerDigest } from '../harness/vector-digests.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const folder = temporaryFolder();
/** Whether gdal-async is installed. Without gdal-async, the engines cannot be compared. */
let isComparable = false;
beforeAll(async () => {
  isComparable = existsSync(join(ROOT, 'node_modules/gdal-async/lib/binding'));
});

interface Digests {
  readonly layers: readonly LayerDigest[];
  readonly maxRssMb: number;
}

async function digests(engine: VectorEngine, paths: readonly string[]): Promise<Digests> {
  const args = ['--import', 'tsx', join(ROOT, 'test/harness/vector-digests.ts'), ...paths];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: childEnvironment({ MAPPALE_TEST_VECTOR_ENGINE: engine }), maxBuffer: 1e8 });
  return JSON.parse(stdout) as Digests;
}

const withoutTime = ({ seconds: _seconds, ...digest }: LayerDigest): Omit<LayerDigest, 'seconds'> => digest;

/** Reads the files with both engines and compares the results. @returns the layers */
async function sameOf(paths: readonly string[]): Promise<readonly LayerDigest[]> {
  const [native, wasm] = [await digests('gdal-async', paths), await digests('gdal3.js', paths)];
  expect(wasm.layers.map(withoutTime)).toEqual(native.layers.map(withoutTime));
  return wasm.layers;
}

/** Returns the paths of the shapefiles, GeoPackages, KML files and zips below a folder. */
function vectorFiles(below: string): string[] {
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:shp|gpkg|kml|zip)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * GeoJSON with fields of different types, which a test converts to several formats. The values include nulls, an empty text, and large and small numbers.
 */
const ALL_TYPES = `{"type":"FeatureCollection","features":[
${[
  '{"t":"Agliè","i":1,"b":true,"r":0.1,"big":9007199254740991,"d":"2024-02-29","dt":"2024-02-29T12:34:56"}', '{"t":"","i":-5,"b":false,"r":1e-300,"big":-1,"d":null,"dt":null}',
  '{"t":null,"i":null,"b":null,"r":null,"big":null,"d":"1999-12-31","dt":"1999-12-31T00:05:00"}',
].map((properties, index) => `{"type":"Feature","properties":${properties},"geometry":${[
  '{"type":"Polygon","coordinates":[[[14,41],[15,41],[15,42],[14,41]]]}', 'null', '{"type":"MultiPolygon","coordinates":[[[[14,41],[15,41],[15,42],[14,41]],[[14.5,41.2],[14.6,41.2],[14.6,41.3],[14.5,41.2]]]]}',
][index]!}}`).join(',\n')}]}`;

describe('the two engines', () => {
  it('read the same rows from the vector fixtures of sources', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    const folders = SOURCES.map((id) => join(ROOT, 'sources', id, 'fixture')).filter(existsSync);
    const paths = folders.flatMap(vectorFiles).filter((path) => !path.includes('ade_cadastre'));
    const layers = await sameOf(paths);
    expect(layers.filter(({ features }) => features > 0).length).toBeGreaterThan(40);
    for (const kind of ['.shp', '.gdb', '.kml']) expect(layers.some(({ file }) => file.includes(kind)), kind).toBe(true);
  });

  it('write and read the same synthetic region', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    const read: (readonly LayerDigest[])[] = [];
    for (const engine of VECTOR_ENGINES) {
      const out = join(folder, `region-${engine}`);
      await run(process.execPath, [PROGRAM, 'synth', '--out', out, '--parcels', '300'], { cwd: folder, env: childEnvironment({ MAPPALE_TEST_VECTOR_ENGINE: engine }) });
      read.push(await sameOf(vectorFiles(out).filter((path) => !/ITALIA|MOLISE|AUTONOMA/.test(basename(path)))));
    }
    const [native, wasm] = read.map((layers) => layers.map(withoutTime));
    expect(wasm).toEqual(native);
    for (const kind of ['.shp', '.gpkg', '.gdb']) expect(read[0]!.some(({ file, features }) => file.includes(kind) && features > 0), kind).toBe(true);
  });

  it('read the same values of every type, including missing and empty values', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    if (await run('ogr2ogr', ['--version']).then(() => false, () => true)) return context.skip('ogr2ogr is not installed');
    const source = join(folder, 'types.geojson');
    await writeFile(source, ALL_TYPES);
    const paths = [['GPKG', 'types.gpkg'], ['OpenFileGDB', 'types.gdb'], ['KML', 'types.kml'], ['ESRI Shapefile', 'types.shp']].map(([format = '', name = '']) => [format, join(folder, name)] as const);
    for (const [format, path] of paths) await run('ogr2ogr', ['-f', format, path, source, '-nlt', format === 'GPKG' ? 'GEOMETRY' : 'MULTIPOLYGON']);
    const layers = await sameOf(paths.map(([, path]) => path));
    // ogr2ogr does not write features without geometry to KML.
    expect(layers.map(({ features, error }) => [features, error])).toEqual(paths.map(([format]) => [format === 'KML' ? 2 : 3, null]));
  });

  it('read blank cells of a shapefile as null', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    await writeShapefile(folder, 'blank', {
      type: 'point', srid: 32632,
      fields: [{ name: 'TEXT', type: 'text', length: 8 }, { name: 'WHOLE', type: 'integer', length: 9 }, { name: 'REAL', type: 'real', length: 12, decimals: 2 }, { name: 'SINCE', type: 'date' }],
      features: [{ geometry: { type: 'point', point: [1, 2] }, values: ['a', 1, 1.5, '2026-01-31'] }, { geometry: { type: 'point', point: [1, 2] }, values: [null, null, null, null] }],
    });
    expect((await sameOf([join(folder, 'blank.shp')])).map(({ features, error }) => [features, error])).toEqual([[2, null]]);
  });

  it('read the same geometries, including curves, empty geometries, collections and heights', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    if (await run('ogr2ogr', ['--version']).then(() => false, () => true)) return context.skip('ogr2ogr is not installed');
    const table = join(folder, 'geometries.csv');
    const shapes = [
      'POINT (1 2)', 'POINT EMPTY', 'POLYGON EMPTY', 'MULTIPOLYGON EMPTY', 'POLYGON Z ((0 0 5,1 0 5,1 1 5,0 0 5))', 'MULTIPOINT (1 2,3 4)', 'LINESTRING (0 0,1 1)', 'MULTILINESTRING ((0 0,1 1),(2 2,3 3,4 4))',
      'GEOMETRYCOLLECTION (POINT (1 2),POLYGON ((0 0,1 0,1 1,0 0)),MULTIPOLYGON (((0 0,1 0,1 1,0 0))))', 'CIRCULARSTRING (0 0,1 1,2 0)', 'CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0))',
      'MULTISURFACE (((0 0,1 0,1 1,0 0)))', 'MULTICURVE ((0 0,1 1),(2 2,3 3))', 'MULTISURFACE (CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0)))', 'COMPOUNDCURVE (CIRCULARSTRING (0 0,1 1,2 0),(2 0,3 0))',
    ];
    await writeFile(table, `n,WKT\n${shapes.map((wkt, index) => `${index},"${wkt}"`).join('\n')}\n16,\n`);
    const path = join(folder, 'geometries.gpkg');
    await run('ogr2ogr', ['-f', 'GPKG', path, table, '-nlt', 'GEOMETRY', '-a_srs', 'EPSG:32632', '-oo', 'AUTODETECT_TYPE=YES']);
    expect((await sameOf([path])).map(({ features }) => features)).toEqual([shapes.length + 1]);
  });

  it('read a shapefile whose files are symbolic links', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    const [linked, from] = [join(folder, 'linked'), join(ROOT, 'sources/dpc_buildings/fixture')];
    await mkdir(linked);
    for (const name of readdirSync(from).filter((each) => each.startsWith('aggregates.'))) await symlink(join(from, name), join(linked, name));
    const [layer] = await sameOf([join(linked, 'aggregates.shp')]);
    expect(layer?.features).toBeGreaterThan(0);
  });

  it('reject damaged files with the same code', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    const fixture = join(ROOT, 'sources/igm_dbsn/fixture/PZ_dbsn_2025-07-28.zip');
    const zip = await ZipArchive.open(fixture);
    const damaged = join(folder, 'damaged.gdb');
    await mkdir(damaged);
    for (const { path, isFolder } of zip.entries) if (!isFolder && path.includes('.gdb/')) await zip.spool(path, join(damaged, basename(path)));
    await zip.close();
    await truncate(join(damaged, 'a00000001.gdbtable'), 20);
    const [text, kml] = [join(folder, 'text.gpkg'), join(folder, 'cut.kml')];
    await writeFile(text, 'no database');
    const whole = join(ROOT, 'sources/omi_quotations/fixture/perimeter-hole-and-two-parts.kml');
    await copyFile(whole, kml);
    await truncate(kml, Math.floor((await readFile(whole)).length / 2));
    const layers = await sameOf([damaged, text, kml]);
    expect(layers.map(({ error }) => error)).not.toContain(null);
  });

  const real = realData();
  it.skipIf(real === null)('read the same rows from the files of the publishers', async (context) => {
    if (!isComparable) return context.skip('gdal-async is not installed');
    const paths = vectorFiles(real!).filter((path) => /\.(?:shp|gpkg|kml)$|gpkg\.zip$/i.test(path));
    const layers = await sameOf(paths);
    expect(layers.filter(({ features }) => features > 0).length).toBeGreaterThan(10);
  });
});
