import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, truncate, writeFile, readFile, readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { epsgOfWkt } from '../../pipelines/formats/crs.ts';
import { chooseEngine } from '../../pipelines/formats/gdal-engine.ts';
import type { GdalCalls, LoadedEngine } from '../../pipelines/formats/gdal.ts';
import { WASM_VERSION } from '../../pipelines/formats/gdal-wasm.ts';
import { openVector, type VectorFeature, type VectorPath } from '../../pipelines/formats/vector.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { ringArea, type Ring } from '../../pipelines/synthetic/plane-geometry.ts';
import { ESRI_WKT, shapefileParts } from '../../pipelines/synthetic/shapefile-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const UTM32 = ESRI_WKT[32632];

interface Row {
  /** Rings of a shape, or null for a null shape. Outer rings are clockwise, as the format requires. */
  readonly rings: readonly Ring[] | null;
  readonly text: Buffer;
  readonly number: string;
  readonly deleted?: boolean;
}

/** Returns a shapefile of polygons with a text field of 12 bytes and an integer field. Sets the code page and marks deleted records, unlike the writer. */
function shapefile(rows: readonly Row[], languageDriver = 0): { shp: Buffer; shx: Buffer; dbf: Buffer } {
  const { shp, shx, dbf } = shapefileParts({
    type: 'polygon', srid: 32632, encoding: null, fields: [{ name: 'scenario', type: 'text', length: 12 }, { name: 'CODE', type: 'integer', length: 9 }],
    features: rows.map(({ rings, text, number }) => ({ geometry: rings === null ? null : { type: 'polygon', polygons: polygonsOf(rings) }, values: [text.toString('latin1'), number] })),
  });
  dbf[29] = languageDriver;
  for (const [index, { deleted }] of rows.entries()) if (deleted === true) dbf[97 + 22 * index] = 0x2a;
  return { shp, shx, dbf };
}

/** Groups each outer ring with the holes that follow it. */
function polygonsOf(rings: readonly Ring[]): Ring[][] {
  const polygons: Ring[][] = [];
  for (const ring of rings) {
    if (ringArea(ring) <= 0 || polygons.length === 0) polygons.push([ring]);
    else polygons.at(-1)!.push(ring);
  }
  return polygons;
}

const square = (x: number, y: number, side = 10): Ring => [[x, y], [x, y + side], [x + side, y + side], [x + side, y], [x, y]];
const hole = (x: number, y: number, side = 2): Ring => [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]];
const row = (index: number, text: string | Buffer = `riga ${index}`): Row => ({
  rings: [square(500_000 + index * 20, 4_600_000)], text: typeof text === 'string' ? Buffer.from(text, 'latin1') : text, number: String(index),
});

const folder = temporaryFolder();

let made = 0;
async function write(rows: readonly Row[], options: { prj?: string | null; cpg?: string; languageDriver?: number } = {}): Promise<string> {
  const stem = join(folder, `f${(made += 1)}`);
  const files = shapefile(rows, options.languageDriver);
  for (const [part, bytes] of Object.entries(files)) await writeFile(`${stem}.${part}`, bytes);
  if (options.prj !== null) await writeFile(`${stem}.prj`, options.prj ?? UTM32);
  if (options.cpg !== undefined) await writeFile(`${stem}.cpg`, options.cpg);
  return `${stem}.shp`;
}

async function all(path: VectorPath, layer?: string): Promise<VectorFeature[]> {
  const dataset = await openVector(path);
  try {
    const features: VectorFeature[] = [];
    for await (const feature of dataset.features(dataset.layer(layer))) features.push(feature);
    return features;
  } finally {
    await dataset.close();
  }
}

async function failure(promise: Promise<unknown>): Promise<MappaleError> {
  const error = await promise.then(() => null, (caught: unknown) => caught);
  expect(error).toBeInstanceOf(MappaleError);
  return error as MappaleError;
}

/** Returns the points of the first ring of an EWKB polygon. */
function ring(ewkb: Buffer): [number, number][] {
  expect(ewkb.readUInt32LE(1)).toBe(0x20000003);
  const count = ewkb.readUInt32LE(13);
  return Array.from({ length: count }, (_, i) => [ewkb.readDoubleLE(17 + i * 16), ewkb.readDoubleLE(25 + i * 16)]);
}

describe('a shapefile', () => {
  it('has field names, field types, a feature count, a CRS, and features in file order with easting first', async () => {
    const path = await write([row(1, 'Molise'), row(2, '')]);
    const dataset = await openVector(path);
    expect(dataset.layers).toHaveLength(1);
    const layer = dataset.layer();
    expect({ srid: layer.srid, count: layer.featureCount, fields: layer.fields }).toEqual({
      srid: 32632, count: 2, fields: [{ name: 'scenario', type: 'string' }, { name: 'CODE', type: 'integer' }],
    });
    await dataset.close();
    const features = await all(path);
    expect(features.map((f) => [f.fid, f.position, f.properties])).toEqual([[0, 1, { scenario: 'Molise', CODE: 1 }], [1, 2, { scenario: null, CODE: 2 }]]);
    expect(features[0]!.ewkb!.readUInt32LE(5)).toBe(32632);
    expect(ring(features[0]!.ewkb!)).toEqual(square(500_020, 4_600_000));
  });

  it('has one multipolygon with holes for a record with several rings', async () => {
    const path = await write([{ ...row(1), rings: [square(0, 0), hole(2, 2), square(100, 0)] }]);
    const [feature] = await all(path);
    expect(feature!.ewkb!.readUInt32LE(1)).toBe(0x20000006);
    expect(feature!.ewkb!.readUInt32LE(9)).toBe(2);
    expect(feature!.ewkb!.readUInt32LE(9 + 4 + 5)).toBe(2);
  });

  it('is read without deleted records', async () => {
    const features = await all(await write([row(1), { ...row(2), deleted: true }, row(3)]));
    expect(features.map((f) => f.properties['CODE'])).toEqual([1, 3]);
  });

  it('distinguishes a null shape from a shape that cannot be read', async () => {
    const path = await write([row(1), { ...row(2), rings: null }, row(3)]);
    const bytes = await readFile(path);
    const third = bytes.length - 128;
    expect(bytes.readInt32LE(third)).toBe(5);
    bytes.writeInt32LE(9_999_999, third + 36);
    await writeFile(path, bytes);
    const features = await all(path);
    expect(features.map((f) => [f.ewkb === null, f.geometryError])).toEqual([
      [false, null], [true, null], [true, 'record 3 (shape type 5) cannot be read'],
    ]);
  });

  it('has no geometry for a polygon without parts whose box is NaN', async () => {
    const path = await write([row(1), { ...row(2), rings: [] }]);
    const bytes = await readFile(path);
    const second = bytes.length - 44;
    expect([bytes.readInt32LE(second), bytes.readInt32LE(second + 36), bytes.readInt32LE(second + 40)]).toEqual([5, 0, 0]);
    for (const at of [4, 12, 20, 28]) bytes.writeDoubleLE(Number.NaN, second + at);
    await writeFile(path, bytes);
    expect((await all(path)).map((f) => [f.ewkb === null, f.geometryError])).toEqual([[false, null], [true, null]]);
  });

  it('with a coordinate that is not a number is reported with the feature', async () => {
    const path = await write([{ ...row(1), rings: [[[0, 0], [0, 10], [Number.NaN, 10], [10, 0], [0, 0]]] }]);
    const [feature] = await all(path);
    expect([feature!.ewkb, feature!.geometryError]).toEqual([null, 'a coordinate is not a number']);
  });

  it.each([
    ['.shp', 'SHAPEFILE_TRUNCATED', /expected \d+ bytes of .shp \(header\), found \d+/],
    ['.shx', 'SHAPEFILE_TRUNCATED', /bytes of \.shx/],
    ['.dbf', 'SHAPEFILE_TRUNCATED', /expected 5 records of 22 bytes in \.dbf, found 3. The file ends in record 4/],
  ])('is rejected with its name if its %s is truncated', async (part, code, detail) => {
    const path = await write([1, 2, 3, 4, 5].map((i) => row(i)));
    const cut = path.replace('.shp', part);
    await truncate(cut, part === '.dbf' ? 97 + 3 * 22 + 5 : (await readFile(cut)).length - 20);
    const error = await failure(openVector(path));
    expect([error.code, error.kind, error.at]).toEqual([code, 'input', basename(path)]);
    expect(error.detail).toMatch(detail);
  });

  it('is rejected if .dbf and .shx are from different versions', async () => {
    const path = await write([row(1), row(2)]);
    await writeFile(path.replace('.shp', '.dbf'), shapefile([row(1)]).dbf);
    expect((await failure(openVector(path))).code).toBe('SHAPEFILE_INCONSISTENT');
  });

  it('is rejected if its .dbf is missing', async () => {
    const path = await write([row(1)]);
    await rm(path.replace('.shp', '.dbf'));
    const error = await failure(openVector(path));
    expect([error.code, error.detail]).toEqual(['SIDECAR_MISSING', 'expected a .dbf in the same folder, found none']);
  });

  it.each([
    ['a .cpg with UTF-8', { cpg: 'UTF-8' }, Buffer.from('Agliè')],
    ['a .cpg with ANSI 1252', { cpg: 'ANSI 1252' }, Buffer.from('Agliè', 'latin1')],
    ['a .cpg with ISO 8859-1', { cpg: 'ISO-8859-1' }, Buffer.from('Agliè', 'latin1')],
    ['no .cpg and bytes that are UTF-8', {}, Buffer.from('Agliè')],
    ['no .cpg and bytes that are not UTF-8', {}, Buffer.from('Agliè', 'latin1')],
    ['no .cpg and a code page in the .dbf', { languageDriver: 0x02 }, Buffer.from([0x41, 0x67, 0x6c, 0x69, 0x8a])],
  ])('has its text decoded correctly with %s', async (_, options, bytes) => {
    const features = await all(await write([row(1, bytes), row(2, 'Roma')], options));
    expect(features.map((f) => f.properties['scenario'])).toEqual(['Agliè', 'Roma']);
  });

  it('is read as UTF-8 even if the end of a field cuts a character', async () => {
    const path = await write([row(1, Buffer.from('Pericolositàà').subarray(0, 12)), row(2, Buffer.from('è'))]);
    const dataset = await openVector(path);
    expect(dataset.encoding).toBe('UTF-8');
    await dataset.close();
  });

  it('is rejected if its encoding is unknown', async () => {
    expect((await failure(openVector(await write([row(1)], { cpg: 'KOI8-R' })))).code).toBe('ENCODING_UNKNOWN');
  });

  it('is not read if the .prj is missing', async () => {
    const path = await write([row(1)], { prj: null });
    expect((await failure(all(path))).code).toBe('CRS_MISSING');
  });

  it('is not read if the CRS is unknown', async () => {
    const error = await failure(all(await write([row(1)], { prj: 'LOCAL_CS["Grid of the works"]' })));
    expect([error.code, error.detail]).toEqual(['CRS_UNKNOWN', 'expected an EPSG code or a known name, found LOCAL_CS["Grid of the works"]']);
  });
});

describe('the CRS of a .prj', () => {
  it.each([
    ['PROJCS["WGS_1984_UTM_Zone_33N",GEOGCS["GCS_WGS_1984"]]', 32633],
    ['PROJCS["ETRS_1989_LAEA",GEOGCS["GCS_ETRS_1989"]]', 3035],
    ['PROJCS["ETRS89-extended / LAEA Europe",GEOGCS["ETRS89",AUTHORITY["EPSG","4258"]],AUTHORITY["EPSG","3035"]]', 3035],
    ['PROJCS["RDN2008_Italy_zone_E-N",GEOGCS["GCS_RDN2008"]]', 7794],
    ['PROJCS["RDN2008 / Italy zone (N-E)",GEOGCS["RDN2008"],AUTHORITY["EPSG","6875"]]', 7794],
    ['PROJCS["RDN2008_TM33",GEOGCS["GCS_RDN2008"]]', 7792],
    ['PROJCS["RDN2008_Italy_zone",GEOGCS["GCS_RDN2008"]]', 7794],
    ['PROJCS["ETRS_1989_ETRS-TM32",GEOGCS["GCS_ETRS_1989"]]', 25832],
    ['PROJCS["IGM_1995_UTM_Zone_32N",GEOGCS["GCS_IGM_1995"]]', 3064],
    ['GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984"]]', 4326],
    ['GEOGCS["GCS_RDN2008",DATUM["D_RDN2008"]]', 6706],
    ['GEOGCS["GCS_European_1950",DATUM["D_European_1950"]]', 4230],
    ['PROJCS["ED_1950_UTM_Zone_32N",GEOGCS["GCS_European_1950"]]', 23032],
    ['PROJCRS["WGS 84 / UTM zone 32N",BASEGEOGCRS["WGS 84"],ID["EPSG",32632]]', 32632],
    ['GEOGCRS["WGS 84 (CRS84)",ID["OGC","CRS84"]]', 4326],
    // The authority of a part of the CRS is not the authority of the whole CRS.
    ['PROJCS["Something of one\'s own",GEOGCS["WGS 84",AUTHORITY["EPSG","4326"]]]', null],
    ['PROJCS["Custom",GEOGCS["x"],AUTHORITY["ESRI","102999"]]', null],
  ])('%s is %s', (wkt, srid) => {
    expect(epsgOfWkt(wkt)).toBe(srid);
  });
});

describe('a GeoPackage', () => {
  const polygon = (x: number): { type: string; coordinates: unknown } => ({ type: 'MultiPolygon', coordinates: [[[[x, 0], [x + 1, 0], [x + 1, 1], [x, 0]]]] });
  const features = Array.from({ length: 400 }, (_, i) => ({ values: [`Elevata P3 – così ${i}`, i], geometry: i === 7 ? null : polygon(4_000_000 + i) }));
  const layers = [{ name: 'frane', srid: 3035, geometry: 'MultiPolygon', fields: [{ name: 'per_fr_ita', type: 'string' }, { name: 'n', type: 'integer' }], features }] as const;

  it('has the same bytes every time it is written', async () => {
    await writeGeoPackage(join(folder, 'a.gpkg'), layers);
    await writeGeoPackage(join(folder, 'b.gpkg'), layers);
    expect((await readFile(join(folder, 'a.gpkg'))).equals(await readFile(join(folder, 'b.gpkg')))).toBe(true);
  });

  it('is read back unchanged, with easting first although EPSG:3035 defines northing first', async () => {
    await writeGeoPackage(join(folder, 'c.gpkg'), layers);
    const read = await all(join(folder, 'c.gpkg'));
    expect(read).toHaveLength(400);
    expect(read[3]!.properties).toEqual({ per_fr_ita: 'Elevata P3 – così 3', n: 3 });
    expect([read[7]!.ewkb, read[7]!.geometryError]).toEqual([null, null]);
    const ewkb = read[3]!.ewkb!;
    expect([ewkb.readUInt32LE(1), ewkb.readUInt32LE(5), ewkb.readDoubleLE(9 + 4 + 5 + 4 + 4), ewkb.readDoubleLE(9 + 4 + 5 + 4 + 4 + 8)]).toEqual([
      0x20000006, 3035, 4_000_003, 0,
    ]);
  });

  it('is written and read without attribute columns', async () => {
    const path = join(folder, 'shapes.gpkg');
    await writeGeoPackage(path, [{ name: 'shapes', srid: 3035, geometry: 'MultiPolygon', fields: [], features: [{ values: [], geometry: polygon(4_000_000) }] }]);
    expect((await all(path)).map(({ properties, ewkb }) => [properties, ewkb?.readUInt32LE(5)])).toEqual([[{}, 3035]]);
  });

  it('is rejected if it is truncated, and the error states the number of pages', async () => {
    const path = join(folder, 'd.gpkg');
    await writeGeoPackage(path, layers);
    await truncate(path, 40_960);
    const error = await failure(openVector(path));
    expect(error.code).toBe('GPKG_TRUNCATED');
    expect(error.detail).toMatch(/expected \d+ pages of 4096 bytes according to the header, found 40960 bytes/);
  });

  it('is rejected if it is damaged inside, and never gives fewer features', async () => {
    const path = join(folder, 'e.gpkg');
    await writeGeoPackage(path, layers);
    const bytes = await readFile(path);
    // Only pages of the spatial index follow the pages of the feature table. Damages the first 64 bytes of each page in the middle third of the file.
    for (let page = Math.floor(bytes.length / 4096 / 3); page < Math.floor(((bytes.length / 4096) * 2) / 3); page += 1)
      bytes.fill(0xff, page * 4096, page * 4096 + 64);
    await writeFile(path, bytes);
    expect(['VECTOR_UNREADABLE', 'FEATURES_MISSING']).toContain((await failure(all(path))).code);
  });
});

describe('a GeoJSON', () => {
  it.each([
    ['in all features', '{"a":1,"b":2,"a":3}', '{"a":1,"a":1,"b":2}', ['a', 'b', 'a']], ['in one feature, escaped', '{"a":1,"b":2}', '{"a":1,"\\u0062":{"b":1},"b":2}', ['a', 'b', 'b']],
    ['in different objects', '{"a":{"a":1},"b":2}', '{"a":":{\\"a\\":1","b":[{"a":1},{"a":2}]}', ['a', 'b']],
  ])('lists two fields of the same name only if one object repeats a property: %s', async (_where, first, second, expected) => {
    const path = join(folder, 'made_twice.geojson');
    const feature = (properties: string): string => `{"type":"Feature","geometry":{"type":"Point","coordinates":[14,41]},"properties":${properties}}`;
    await writeFile(path, `{"type":"FeatureCollection","features":[${feature(first)},\n${feature(second)}]}`);
    const dataset = await openVector(path);
    expect(dataset.layers[0]!.fields.map(({ name }) => name)).toEqual(expected);
    await dataset.close();
  });

  it('has lon/lat in EPSG:4326, and is rejected if its end is cut', async () => {
    const path = join(folder, 'a.geojson');
    const text = JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: { a: 'è', d: '2024-05-01' }, geometry: { type: 'Polygon', coordinates: [[[14, 41, 300], [14, 42, 300], [15, 42, 300], [14, 41, 300]]] } }] });
    await writeFile(path, text);
    const [feature] = await all(path);
    expect(feature!.properties['a']).toBe('è');
    expect(feature!.properties['d']).toBe('2024-05-01');
    expect(feature!.ewkb!.readUInt32LE(5)).toBe(4326);
    expect(ring(feature!.ewkb!)).toEqual([[14, 41], [14, 42], [15, 42], [14, 41]]);
    await writeFile(path, text.slice(0, -40));
    expect((await failure(all(path))).code).toBe('VECTOR_UNREADABLE');
  });
});

describe('a file in a zip', () => {
  const zipped = async (names: Record<string, string>): Promise<string> => {
    const path = `${await mkdtemp(join(folder, 'zip-'))}.zip`;
    await writeZip(path, Object.entries(names).map(([name, from]) => [`Dati/${name}`, createReadStream(from)]));
    return path;
  };

  it('is read with its sidecar files whatever the case of their names, and leaves no temporary files', async () => {
    const shp = await write([row(1, Buffer.from('Agliè'))], { cpg: 'UTF-8' });
    const path = await zipped({ 'HPH_x.shp': shp, 'HPH_x.shx': shp.replace('.shp', '.shx'), 'HPH_x.DBF': shp.replace('.shp', '.dbf'), 'HPH_x.prj': shp.replace('.shp', '.prj'), 'HPH_x.cpg': shp.replace('.shp', '.cpg') });
    const zip = await ZipArchive.open(path);
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('mappale-vector-'));
    const dataset = await openVector({ zip, entry: 'Dati/HPH_x.shp' });
    expect(dataset.label).toMatch(/zip-.*\.zip!Dati\/HPH_x\.shp$/);
    expect(dataset.layer().name).toBe('HPH_x');
    const features: VectorFeature[] = [];
    for await (const feature of dataset.features('HPH_x')) features.push(feature);
    expect(features.map((f) => f.properties['scenario'])).toEqual(['Agliè']);
    await dataset.close();
    await zip.close();
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith('mappale-vector-'));
    expect(after.filter((name) => !before.includes(name))).toEqual([]);
  });

  it('is named by its path in the zip if it is damaged', async () => {
    const shp = await write([row(1), row(2)]);
    await truncate(shp, 150);
    const zip = await ZipArchive.open(await zipped({ 'a.shp': shp, 'a.shx': shp.replace('.shp', '.shx'), 'a.dbf': shp.replace('.shp', '.dbf') }));
    const error = await failure(openVector({ zip, entry: 'Dati/a.shp' }));
    expect([error.code, error.at?.endsWith('!Dati/a.shp')]).toEqual(['SHAPEFILE_TRUNCATED', true]);
    await zip.close();
  });
});

/** Runs a module in a separate process. @returns the output of the process, parsed as JSON */
async function alone(script: string): Promise<unknown> {
  const file = join(await mkdtemp(join(folder, 'alone-')), 'script.mts');
  const module = pathToFileURL(join(import.meta.dirname, '../../pipelines/formats/vector.ts')).href;
  await writeFile(file, `const { openVector } = await import(${JSON.stringify(module)});\n${script}`);
  const done = spawnSync(process.execPath, ['--import', 'tsx', file], { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8' });
  expect([done.stderr, done.status]).toEqual(['', 0]);
  return JSON.parse(done.stdout);
}

describe('a big file', () => {
  it('is streamed, so that 200,000 features do not stay in memory', async () => {
    const path = await write(Array.from({ length: 200_000 }, (_, i) => row(i % 1000)));
    const seen = await alone(`
      const dataset = await openVector(${JSON.stringify(path)});
      let n = 0, bytes = 0, peak = 0;
      for await (const f of dataset.features(dataset.layer())) { n += 1; bytes += f.ewkb.length; if (n % 1000 === 0) peak = Math.max(peak, process.memoryUsage().rss); }
      await dataset.close();
      console.log(JSON.stringify({ n, bytes, peak }));`) as { n: number; bytes: number; peak: number };
    expect([seen.n, seen.bytes]).toEqual([200_000, 200_000 * 97]);
    expect(seen.peak).toBeLessThan(450 * 1024 * 1024);
  });

  it('does not block the event loop during opening and reading', async () => {
    const coordinates = [[[[14, 41], [14, 42], [15, 42], [14, 41]]]];
    const features = Array.from({ length: 30_000 }, (_, n) => ({ type: 'Feature', properties: { n }, geometry: { type: 'MultiPolygon', coordinates } }));
    const path = join(folder, 'big.geojson');
    await writeFile(path, JSON.stringify({ type: 'FeatureCollection', features }));
    await (await openVector(path)).close();
    let turns = 0;
    let working = true;
    const turn = (): void => {
      turns += 1;
      if (working) setImmediate(turn);
    };
    setImmediate(turn);
    const dataset = await openVector(path);
    // The file is read in blocks of 64 KiB. An unblocked event loop turns between blocks, sometimes only once for two blocks.
    expect(turns).toBeGreaterThan((await stat(path)).size / 131_072);
    turns = 0;
    let records = 0;
    for await (const feature of dataset.features(dataset.layer())) records += feature.position > 0 ? 1 : 0;
    working = false;
    expect(records).toBe(30_000);
    // Features come in batches of at most 500.
    expect(turns).toBeGreaterThanOrEqual(60);
    await dataset.close();
  });

  it('reports that its thread ended, and so does every file opened later', async () => {
    const path = await write(Array.from({ length: 5_000 }, (_, i) => row(i)));
    const errors = await alone(`
      let thread;
      // The last worker is the engine's thread. Newer versions of Node also report the loader's thread.
      process.on('worker', (worker) => (thread = worker));
      const outcome = (work) => work.then(() => null, ({ code, kind, at, detail, hint }) => ({ code, kind, at, detail, hint }));
      const dataset = await openVector(${JSON.stringify(path)});
      const reading = outcome((async () => { for await (const f of dataset.features(dataset.layer())) if (f.position === 1) await thread.terminate(); })());
      console.log(JSON.stringify([await reading, await outcome(openVector(${JSON.stringify(path)}))]));`);
    const ended = { code: 'THREAD_ENDED', kind: 'bug', detail: 'expected the thread to finish its task, found: exit code 1', hint: expect.stringMatching(/^Run the same command again/) as string };
    const stem = basename(path, '.shp');
    expect(errors).toEqual([{ ...ended, at: `${stem}.shp, layer ${stem}` }, { ...ended, at: `${stem}.shp` }]);
  });
});

describe('the choice of the engine', () => {
  const calls = {} as GdalCalls;
  const native = (): Promise<LoadedEngine> => Promise.resolve({ version: '3.6.2', calls });
  const wasm = (): Promise<LoadedEngine> => Promise.resolve({ version: '3.8.4', calls });
  const absent = (): Promise<never> => Promise.reject(new Error('Cannot find package\nRequire stack'));

  it('returns gdal-async if it is installed', async () => {
    expect(await chooseEngine(null, { native, wasm: absent })).toEqual({ engine: 'gdal-async', version: '3.6.2', calls, fallback: null });
  });

  it('returns gdal3.js and the reason if gdal-async cannot be loaded', async () => {
    expect(await chooseEngine(null, { native: absent, wasm })).toEqual({ engine: 'gdal3.js', version: '3.8.4', calls, fallback: 'Cannot find package' });
  });

  it('returns the engine that a test requests, or fails if this engine is not installed', async () => {
    expect((await chooseEngine('gdal3.js', { native, wasm })).engine).toBe('gdal3.js');
    const error = await failure(chooseEngine('gdal-async', { native: absent, wasm }));
    expect([error.code, error.kind, error.detail]).toEqual(['GDAL_MISSING', 'usage', 'expected the package gdal-async, found: Cannot find package']);
  });

  it('fails with the next step if no engine can be loaded', async () => {
    const error = await failure(chooseEngine(null, { native: absent, wasm: absent }));
    expect([error.code, error.kind, error.detail, error.fix]).toEqual(['GDAL_MISSING', 'usage', 'expected the package gdal3.js, found: Cannot find package', 'make setup']);
  });

  it('imports only the types of gdal-async', async () => {
    const source = await readFile(new URL('../../pipelines/formats/gdal-native.ts', import.meta.url), 'utf8');
    const imports = source.split('\n').filter((line) => /\bfrom 'gdal-async'/.test(line));
    expect(imports).toEqual(["import type * as Gdal from 'gdal-async';"]);
  });

  it('states for gdal3.js the GDAL version that the WebAssembly module contains', async () => {
    const bytes = await readFile(createRequire(import.meta.url).resolve('gdal3.js/dist/package/gdal3WebAssembly.wasm'));
    expect(bytes.includes(`GDAL ${WASM_VERSION}`)).toBe(true);
  });
});
