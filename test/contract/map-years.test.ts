/** Tests deliveries with maps of several years, or with changes between years. Only the layers of one year are read. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { validate, type FileVerdict } from '../../pipelines/operate/validate.ts';
import { writeGeoPackage, type WrittenLayer } from '../../pipelines/synthetic/geopackage-writer.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { testEnvironment } from '../harness/environment.ts';
import { realData } from '../harness/real-data.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const sources = await loadSources();
const seed = testEnvironment().seed;
const random = randomOf('map years', seed);
const folder = temporaryFolder();

interface Layer {
  readonly name: string;
  readonly fields: readonly string[];
  readonly values: readonly string[];
  readonly isRead: boolean;
}

interface Delivery {
  readonly file: string;
  readonly layers: readonly Layer[];
}

const letters = (count: number): string => Array.from({ length: count }, () => random.pick('abcdefghijklmnopqrstuvwxyz'.split(''))).join('');
const shuffled = <T>(values: readonly T[]): T[] => values.map((value) => [random.next(), value] as const).sort(([a], [b]) => a - b).map(([, value]) => value);

/** Returns a national delivery of CORINE Land Cover: maps of three years, and the changes between two of the years. */
function corine(): Delivery {
  const country = letters(2);
  const [long, upper] = [random.below(2) === 0, random.below(2) === 0];
  const named = (prefix: string, year: number): string => {
    const name = `${prefix}${String(long ? year : year % 100).padStart(2, '0')}_${country}`;
    return upper ? name.toUpperCase() : name;
  };
  const map = (year: number): Layer => ({
    name: named('clc', year), fields: [`code_${String(year % 100).padStart(2, '0')}`, 'id', 'remark', 'area_ha'], values: ['211', `made_${year}`, '', '25'], isRead: year === 2018,
  });
  const years = [random.pick([1990, 2000, 2006]), 2012, 2018];
  const changes: Layer = { name: named('cha', 2018), fields: ['code_12', 'code_18', 'change'], values: ['211', '112', '211-112'], isRead: false };
  return { file: random.pick([`made_${letters(5)}`, `clc2018_${country}`]), layers: shuffled([...years.map(map), changes]) };
}

/** Returns the delivery of an urban area: land use of two years, both boundaries, changes and street trees. */
function urbanAtlas(): Delivery {
  const area = `IT${900 + random.below(99)}L3_${letters(6).toUpperCase()}`;
  const [columns, cells] = [['country', 'fua_name', 'prod_date', 'identifier', 'perimeter', 'area', 'comment'], ['IT', area, '2020', '1', '2000', '250000', '']];
  const map = (year: number): Layer => ({
    name: `${area}_UA${year}`, fields: ['fua_code', `code_${year}`, `class_${year}`, ...columns], values: [area.slice(0, 7), '31000', 'Forests', ...cells], isRead: year === 2018,
  });
  return {
    file: `${area}_UA2018_v013`,
    layers: shuffled([
      map(2012), map(2018),
      { name: `${area}_UA2018_Boundary`, fields: ['fua_name'], values: [area], isRead: true },
      { name: `${area}_UA2012_Boundary`, fields: ['fua_name'], values: [area], isRead: false },
      { name: `${area}_change_2012_2018`, fields: ['code_2012', 'code_2018'], values: ['21000', '31000'], isRead: false },
      { name: `${area}_UA2018_STL`, fields: ['stl'], values: ['1'], isRead: false },
    ]),
  };
}

const SQUARE = [[4_650_000, 2_050_000], [4_650_000, 2_050_500], [4_650_500, 2_050_500], [4_650_500, 2_050_000], [4_650_000, 2_050_000]] as const;

async function geoPackage(name: string, layers: readonly Layer[]): Promise<string> {
  const path = join(folder, `${name}.gpkg`);
  await writeGeoPackage(path, layers.map((layer): WrittenLayer => ({
    name: layer.name, srid: 3035, geometry: 'MultiPolygon', fields: layer.fields.map((field) => ({ name: field, type: 'string' })),
    features: [{ values: [...layer.values], geometry: { type: 'MultiPolygon', coordinates: [[SQUARE.map(([x, y]) => [x, y])]] } }],
  })));
  return path;
}

async function shapefiles(name: string, layers: readonly Layer[]): Promise<string> {
  const path = join(folder, `${name}.shp.zip`);
  await writeZip(path, layers.flatMap((layer) => shapefileEntries(`data/${layer.name}`, {
    type: 'polygon', srid: 3035, fields: layer.fields.map((field) => ({ name: field, type: 'text', length: 40 })),
    features: [{ geometry: { type: 'polygon', polygons: [[SQUARE.map(([x, y]) => [x, y] as const)]] }, values: [...layer.values] }],
  })));
  return path;
}

async function verdictOf(path: string): Promise<FileVerdict> {
  const [verdict] = await validate([path], sources, null, () => undefined);
  return verdict!;
}

describe.each([['clc_land_cover', corine], ['urban_atlas', urbanAtlas]] as const)(`%s of several years (seed ${seed})`, (id, draw) => {
  it.each(['layers of a GeoPackage', 'layers of a zipped GeoPackage', 'shapefiles of a zip'])('reads the %s for one year, and reports the others as LAYER_LEFT_ASIDE', async (how) => {
    const { file, layers } = draw();
    let path = how.startsWith('shapefiles') ? await shapefiles(file, layers) : await geoPackage(file, layers);
    if (how.includes('zipped')) {
      await writeZip(`${path}.zip`, [[basename(path), readFileSync(path)]]);
      path = `${path}.zip`;
    }
    const verdict = await verdictOf(path);
    const read = layers.filter(({ isRead }) => isRead);
    expect(verdict, JSON.stringify(layers.map(({ name }) => name))).toMatchObject({ source: id, ok: true, rows: read.length, records: read.length });
    for (const { name, isRead } of layers) {
      const findings = verdict.findings.filter(({ at }) => at.replace(/\.shp$/, '').split(/[#/!]/).at(-1) === name);
      expect(findings.map(({ code, level }) => [level, code]), name).toEqual(isRead ? [] : [['warn', 'LAYER_LEFT_ASIDE']]);
    }
  });

  it('is rejected with the names of the found layers if the file has no layer of the expected year', async () => {
    const { layers } = draw();
    const others = layers.filter(({ isRead }) => !isRead);
    const name = id === 'urban_atlas' ? 'IT999L3_MADE_UA2018' : `clc2018_${letters(2)}`;
    const { findings } = await verdictOf(await geoPackage(name, others));
    expect(findings.find(({ level }) => level === 'error')).toMatchObject({ code: 'LAYER_MISSING', detail: expect.stringContaining(others[0]!.name), hint: expect.stringContaining('Remove this file') });
  });

  it('is ignored with a reason if it is a file of changes, plain or zipped', async () => {
    const name = id === 'urban_atlas' ? 'IT999L3_MADE_change_2012_2018' : `cha18_${letters(2)}`;
    const path = await geoPackage(name, [{ name, fields: ['code_2012', 'code_2018'], values: ['1', '2'], isRead: false }]);
    await writeZip(`${path}.zip`, [[basename(path), readFileSync(path)]]);
    for (const each of [path, `${path}.zip`]) {
      expect((await verdictOf(each)).findings[0], each).toMatchObject({ code: 'LEFT_ASIDE', message: expect.stringContaining('changes between two years') });
    }
  });
});

describe('real deliveries', () => {
  it.skipIf(realData('clc') === null)('contain 148 polygons of 2018 for Malta', async () => {
    const verdict = await verdictOf(realData('clc/clc2018_mt.gpkg.zip')!);
    expect(verdict).toMatchObject({ source: 'clc_land_cover', ok: true, records: 148, rows: 148 });
    expect(verdict.findings.map(({ at }) => at.split('#')[1])).toEqual(['clc12_mt', 'cha18_mt']);
  });

  it.skipIf(realData('urban_atlas') === null)('contain two polygons for Narva, both outside Italy', async () => {
    expect(await verdictOf(realData('urban_atlas/EE003L1_NARVA_UA2018.gpkg.zip')!)).toMatchObject({ source: 'urban_atlas', ok: true, records: 2, duplicates: 2 });
  });
});
