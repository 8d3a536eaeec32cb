import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const TOWN = 'IT900L3_CASTEL_DELL_INVENTATO_UA2018';

const folder = temporaryFolder();
beforeAll(() => synthetic.write(makeRegion({ parcels: 2_000, seed: 3 }), folder));

describe('the Urban Atlas', () => {
  it('is read from a GeoPackage with the land use and the boundary, without the layer of the city', async () => {
    const { recognition, collected } = await trial(source, join(folder, `${TOWN}_v013.gpkg`));
    expect(recognition).toMatchObject({ role: 'urban_area', vintage: '2018', region: null, place: 'IT900L3', dated: '013', complete: false });
    expect(collected!.members.map(({ path }) => path)).toEqual([`#${TOWN}`, `#${TOWN}_Boundary`]);
    const uses = collected!.rows['raw_land_use']!;
    expect(new Set(uses.map(({ code }) => code)).size).toBeGreaterThan(10);
    expect(uses[0]).toMatchObject({ fua_code: 'IT900L3', code: '12220', class: 'Other roads and associated land' });
    expect((uses[0]!['geom'] as Buffer).readUInt32LE(5)).toBe(3035);
    expect(collected!.rows['raw_urban_area']).toHaveLength(1);
  });

  it('is read with the same rows from a zipped GeoPackage', async () => {
    const plain = await trial(source, join(folder, `${TOWN}_v013.gpkg`));
    const path = join(folder, `${TOWN}_v013.zip`);
    await writeZip(path, [[`${TOWN}_v013/Data/${TOWN}_v013.gpkg`, readFileSync(join(folder, `${TOWN}_v013.gpkg`))], [`${TOWN}_v013/Documents/Readme.txt`, 'synthetic']]);
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ place: 'IT900L3', dated: '013' });
    const rows = (of: typeof collected): unknown => JSON.parse(JSON.stringify(of!.rows));
    expect(rows(collected)).toEqual(rows(plain.collected));
    await rm(path);
  });

  it('is read from a file whose only layer has the name of the file, and rejected if the file also has an unexpected layer', async () => {
    const path = join(folder, 'IT907L3_BORGO_UA2018_v013.gpkg');
    const LAND_USE = ['country', 'fua_name', 'fua_code', 'code_2018', 'class_2018', 'prod_date', 'identifier', 'perimeter', 'area', 'comment'];
    const land = ['IT', 'Borgo', 'IT907L3', '31000', 'Forests', '2020-02', '1', '2000', '250000', ''];
    const square = [[4_650_000, 2_050_000], [4_650_500, 2_050_000], [4_650_500, 2_050_500], [4_650_000, 2_050_000]];
    const layer = (name: string, fields: readonly string[], values: readonly string[]) => ({
      name, srid: 3035, geometry: 'MultiPolygon' as const, fields: fields.map((field) => ({ name: field, type: 'string' as const })), features: [{ values, geometry: { type: 'MultiPolygon', coordinates: [[square]] } }],
    });
    await writeGeoPackage(path, [layer('IT907L3_BORGO_UA2018_v013', LAND_USE, land)]);
    expect((await trial(source, path)).collected!.rows).toMatchObject({ raw_land_use: [{ fua_code: 'IT907L3', code: '31000', class: 'Forests' }], raw_urban_area: [] });
    await writeGeoPackage(path, [layer('IT907L3_BORGO_UA2018', LAND_USE, land), layer('trees', ['height'], ['3'])]);
    expect((await trial(source, path)).error).toMatchObject({ code: 'LAYER_UNEXPECTED' });
    await rm(path);
  });
});

describeLoad('loading the Urban Atlas', 'urban_atlas', (loaded) => {
  const box = (x: number): string => `srid=3035;polygon((${4_650_000 + x} 2050000, ${4_650_000 + x} 2050500, ${4_650_500 + x} 2050500, ${4_650_500 + x} 2050000, ${4_650_000 + x} 2050000))`;

  it('cuts a boundary into pieces, uses the first name of each class, rejects an empty polygon, and warns about a file without a boundary', async () => {
    const found = await loaded(`
      update member set file_id = 2 where member_id = 3;
      insert into raw_land_use values
        (1, 1, 'IT900L3', '11100', null, '${box(0)}'), (1, 2, 'IT900L3', '11100', 'Continuous', '${box(500)}'), (1, 3, 'IT900L3', '11100', 'Other', '${box(1000)}'),
        (1, 4, 'IT900L3', '11100', 'Continuous', 'srid=3035;polygon((4650000 2050000, 4651000 2050000, 4650000 2050000, 4650000 2050000))'),
        (3, 1, 'IT901L3', '31000', 'Forests', '${box(9000)}');
      insert into raw_urban_area values (2, 1, st_buffer(st_setsrid(st_point(4650000, 2050000), 3035), 5000, 200));`, async ({ session, checks }) => ({
      rows: await session.query('select member_id, position, code, class, round(area_m2)::int4 as area_m2 from land_use_polygon order by 1, 2'),
      classes: await session.query('select member_id, code, class, position from land_use_class order by 1, 2'),
      areas: await session.query('select member_id, position, round(area_m2 / 1e4)::int4 as hectares from urban_boundary'),
      pieces: await session.query('select count(*) > 3 as is_cut from urban_boundary_piece'),
      rejects: await session.query('select member_id, position, code from reject'),
      violations: (await checks()).map(({ name, level }) => [name, level]),
    }));
    expect(found.rows).toEqual([
      { member_id: 1, position: 1, code: '11100', class: null, area_m2: 250_000 }, { member_id: 1, position: 2, code: '11100', class: 'Continuous', area_m2: 250_000 },
      { member_id: 1, position: 3, code: '11100', class: 'Other', area_m2: 250_000 }, { member_id: 3, position: 1, code: '31000', class: 'Forests', area_m2: 250_000 },
    ]);
    expect(found.classes).toEqual([{ member_id: 1, code: '11100', class: 'Continuous', position: 2 }, { member_id: 3, code: '31000', class: 'Forests', position: 1 }]);
    expect(found.areas).toEqual([{ member_id: 2, position: 1, hectares: 7854 }]);
    expect(found.pieces).toEqual([{ is_cut: true }]);
    expect(found.rejects).toEqual([{ member_id: 1, position: 4, code: 'geometry_without_area' }]);
    expect(found.violations).toEqual([['land_use_bounded', 'warn']]);
  });
});
