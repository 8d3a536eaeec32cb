import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ESRI_WKT, shapefileEntries, shapefileParts, writeShapefile, type ShapefileLayer } from '../../pipelines/synthetic/shapefile-writer.ts';
import { openVector, type VectorFeature } from '../../pipelines/formats/vector.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();

/** Reads a written file with GDAL, which shares no code with the writer. */
async function readBack(path: string): Promise<{ srid: number; fields: string[]; features: VectorFeature[] }> {
  const dataset = await openVector(path);
  try {
    const layer = dataset.layer();
    const features: VectorFeature[] = [];
    for await (const feature of dataset.features(layer)) features.push(feature);
    return { srid: layer.srid, fields: layer.fields.map(({ name, type }) => `${name} ${type}`), features };
  } finally {
    await dataset.close();
  }
}

const square = (x: number, y: number, size: number): [number, number][] => [[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]];

const POLYGONS: ShapefileLayer = {
  type: 'polygon',
  srid: 32632,
  fields: [
    { name: 'PRO_COM_T', type: 'text', length: 6 },
    { name: 'COD_REG', type: 'integer', length: 4 },
    { name: 'SHAPE_AREA', type: 'real', length: 19, decimals: 3 },
    { name: 'SINCE', type: 'date' },
  ],
  features: [
    { geometry: { type: 'polygon', polygons: [[square(0, 0, 10), square(2, 2, 3).reverse()], [square(20, 20, 5)]] }, values: ['070901', 14, 116.5, '2026-01-31'] },
    { geometry: null, values: ['Forlì', null, null, null] },
  ],
};

describe('shapefiles', () => {
  test('with holes and multipart polygons are read by GDAL unchanged', async () => {
    await writeShapefile(folder, 'polygons', POLYGONS);
    expect((await readdir(folder)).filter((name) => name.startsWith('polygons')).sort()).toEqual(['polygons.cpg', 'polygons.dbf', 'polygons.prj', 'polygons.shp', 'polygons.shx']);
    const { srid, fields, features } = await readBack(join(folder, 'polygons.shp'));
    expect(srid).toBe(32632);
    expect(fields).toEqual(['PRO_COM_T string', 'COD_REG integer', 'SHAPE_AREA real', 'SINCE date']);
    expect(features.map(({ properties }) => properties)).toEqual([
      { PRO_COM_T: '070901', COD_REG: 14, SHAPE_AREA: 116.5, SINCE: '2026-01-31' },
      { PRO_COM_T: 'Forlì', COD_REG: null, SHAPE_AREA: null, SINCE: null },
    ]);
    // This EWKB is a multipolygon with an SRID and two polygons. The first polygon has two rings.
    const ewkb = features[0]!.ewkb!;
    expect(ewkb.readUInt32LE(1)).toBe(0x2000_0006);
    expect(ewkb.readUInt32LE(9)).toBe(2);
    expect(ewkb.readUInt32LE(18)).toBe(2);
    expect(features[1]!.ewkb).toBeNull();
  });

  test('with lines or points are read by GDAL unchanged', async () => {
    await writeShapefile(folder, 'lines', {
      type: 'line', srid: 32632, fields: [{ name: 'ID', type: 'integer', length: 9 }],
      features: [{ geometry: { type: 'line', lines: [[[0, 0], [1, 1], [2, 0]], [[5, 5], [6, 6]]] }, values: [1] }],
    });
    await writeShapefile(folder, 'points', {
      type: 'point', srid: 4326, fields: [{ name: 'ID', type: 'integer', length: 9 }], features: [{ geometry: { type: 'point', point: [14.5, 41.7] }, values: [7] }],
    });
    const lines = await readBack(join(folder, 'lines.shp'));
    expect(lines.features[0]!.ewkb!.readUInt32LE(1)).toBe(0x2000_0005);
    const points = await readBack(join(folder, 'points.shp'));
    expect(points.srid).toBe(4326);
    expect(points.features[0]!.ewkb!.readDoubleLE(9)).toBe(14.5);
    expect(points.features[0]!.ewkb!.readDoubleLE(17)).toBe(41.7);
  });

  test.each(Object.keys(ESRI_WKT).map(Number))('are read by GDAL with the CRS EPSG:%d', async (srid) => {
    await writeShapefile(folder, `crs_${srid}`, { ...POLYGONS, srid: srid as keyof typeof ESRI_WKT });
    expect((await readBack(join(folder, `crs_${srid}.shp`))).srid).toBe(srid);
  });

  test('can be written into a zip', async () => {
    const path = join(folder, 'layer.zip');
    await writeZip(path, shapefileEntries('Limiti/Com', POLYGONS));
    const zip = await ZipArchive.open(path);
    expect(zip.entries.map((entry) => entry.path)).toEqual(['Limiti/Com.shp', 'Limiti/Com.shx', 'Limiti/Com.dbf', 'Limiti/Com.prj', 'Limiti/Com.cpg']);
    expect(await zip.buffer('Limiti/Com.shp')).toEqual(shapefileParts(POLYGONS).shp);
    await zip.close();
  });

  test('are valid without features', async () => {
    await writeShapefile(folder, 'empty', { ...POLYGONS, features: [] });
    expect((await readBack(join(folder, 'empty.shp'))).features).toEqual([]);
  });

  test.each([
    ['a text that is too long', { ...POLYGONS, features: [{ geometry: null, values: ['1234567', 1, 1, null] }] }, RangeError],
    ['a field name that is too long', { ...POLYGONS, fields: [{ name: 'ELEVEN_CHAR', type: 'date' as const }], features: [] }, RangeError],
    ['a different kind of geometry', { ...POLYGONS, features: [{ geometry: { type: 'point' as const, point: [0, 0] as const }, values: ['1', 1, 1, null] }] }, TypeError],
    ['a different number of values', { ...POLYGONS, features: [{ geometry: null, values: [] }] }, TypeError],
  ])('are refused with %s', (_, layer, error) => {
    expect(() => shapefileParts(layer)).toThrow(error);
  });
});
