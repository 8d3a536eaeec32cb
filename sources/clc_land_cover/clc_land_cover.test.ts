import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import { CLASSES } from './schema.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const MAP = 'U2018_CLC2018_V2020_20u1';

const folder = temporaryFolder();
beforeAll(() => synthetic.write(makeRegion({ parcels: 2_000, seed: 3 }), folder));

describe('the map of land cover', () => {
  it('has a name for each of its 44 classes', () => {
    expect(CLASSES.size).toBe(44);
  });

  it('keeps polygons with thousands of corners, rejects an unknown class, and counts polygons outside Italy as duplicates', async () => {
    const { recognition, collected } = await trial(source, join(folder, `${MAP}.gpkg`));
    expect(recognition).toMatchObject({ vintage: '2018', region: null, complete: true, dated: '2020_20u1' });
    const [member] = collected!.members;
    expect(member!.duplicates).toHaveLength(3);
    expect(member!.rejects.map(({ code, message }) => [code, message])).toEqual([['code_invalid', 'code: expected one of the 44 classes, 111 to 523, found "990"']]);
    const rows = collected!.rows['raw_land_cover']!;
    expect(rows[0]).toMatchObject({ clc_id: 'EU_1600001', code: '211', description: 'Seminativi in aree non irrigue' });
    const geometry = rows[0]!['geom'] as Buffer;
    expect(geometry.readUInt32LE(5)).toBe(3035);
    expect(geometry.length / 16).toBeGreaterThan(3_000);
  });

  it('is read from the publisher\'s package, which also contains documents and the overseas departments of France', async () => {
    const path = join(folder, 'u2018_clc2018_v2020_20u1_geoPackage.zip');
    const bytes = readFileSync(join(folder, `${MAP}.gpkg`));
    await writeZip(path, [
      [`u2018_clc2018_v2020_20u1_geoPackage/DATA/${MAP}.gpkg`, bytes],
      [`u2018_clc2018_v2020_20u1_geoPackage/DATA/French_DOMs/${MAP}_FR_GLP.gpkg`, bytes],
      ['u2018_clc2018_v2020_20u1_geoPackage/Legend/clc_legend.txt', 'synthetic'],
    ]);
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ vintage: '2018', complete: true, dated: '2020_20u1' });
    expect(collected!.members.map(({ path: member }) => member)).toEqual([`u2018_clc2018_v2020_20u1_geoPackage/DATA/${MAP}.gpkg`, `u2018_clc2018_v2020_20u1_geoPackage/DATA/French_DOMs/${MAP}_FR_GLP.gpkg`]);
    await rm(path);
  });

  it('has no identifiers if the file has no column ID', async () => {
    const path = join(folder, 'clc_extract.zip');
    await writeZip(path, shapefileEntries('x', {
      type: 'polygon', srid: 3035, fields: [{ name: 'CODE_18', type: 'text', length: 3 }, { name: 'Remark', type: 'text', length: 20 }, { name: 'Area_Ha', type: 'real', length: 19, decimals: 6 }],
      features: [{ geometry: { type: 'polygon', polygons: [[[[4_650_000, 2_050_000], [4_650_000, 2_050_500], [4_650_500, 2_050_500], [4_650_000, 2_050_000]]]] }, values: ['223', '', 12.5] }],
    }));
    const { error, collected } = await trial(source, path);
    expect(error).toBeNull();
    expect(collected!.rows['raw_land_cover']!.map(({ code, clc_id }) => [code, clc_id])).toEqual([['223', null]]);
  });

  it('is recognised by the column of a shapefile under any file name, but is not complete without the published name', async () => {
    const path = join(folder, 'uso_suolo_molise.zip');
    await writeZip(path, shapefileEntries('x', {
      type: 'polygon', srid: 3035, fields: [{ name: 'CODE_18', type: 'text', length: 3 }, { name: 'ID', type: 'text', length: 18 }, { name: 'Remark', type: 'text', length: 20 }, { name: 'Area_Ha', type: 'real', length: 19, decimals: 6 }, { name: 'Shape_Leng', type: 'real', length: 19, decimals: 3 }],
      features: [{ geometry: { type: 'polygon', polygons: [[[[4_650_000, 2_050_000], [4_650_000, 2_050_500], [4_650_500, 2_050_500], [4_650_000, 2_050_000]]]] }, values: ['223', 'EU_1', '', 12.5, 1.5] }],
    }));
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ vintage: '2018', complete: false });
    expect(collected!.rows['raw_land_cover']![0]).toMatchObject({ code: '223', description: 'Oliveti' });
    await rm(path);
  });

  it('is ignored with a reason if the file is a raster or a File Geodatabase', async () => {
    for (const [name, entry] of [['u2018_clc2018_v2020_20u1_raster100m.zip', `DATA/${MAP}.tif`], ['u2018_clc2018_v2020_20u1_fgdb.zip', `DATA/${MAP}.gdb/a00000001.gdbtable`]] as const) {
      await writeZip(join(folder, name), [[entry, 'synthetic']]);
      const { recognition } = await trial(source, join(folder, name));
      expect(recognition?.ignored, name).toMatch(/use the vector map/i);
      await rm(join(folder, name));
    }
  });
});

describeLoad('loading the map of land cover', 'clc_land_cover', (loaded) => {
  it('cuts large polygons, repairs invalid polygons, rejects polygons without an area, and records the names of classes and the covered regions', async () => {
    const found = await loaded(`
      insert into raw_land_cover values
        (1, 1, 'EU_1', '211', 'Seminativi in aree non irrigue', st_buffer(st_setsrid(st_point(4650000, 2050000), 3035), 5000, 200)),
        (1, 2, 'EU_2', '112', 'Zone residenziali', 'srid=3035;polygon((4660000 2050000, 4662000 2050000, 4662000 2054000, 4664000 2054000, 4664000 2052000, 4660000 2052000, 4660000 2050000))'),
        (1, 3, 'EU_2', '112', 'Zone residenziali', 'srid=3035;polygon((4670000 2050000, 4671000 2050000, 4672000 2050000, 4670000 2050000))'),
        (2, 1, null, '112', 'Zone residenziali', 'srid=3035;polygon((4675000 2050000, 4676000 2050000, 4676000 2051000, 4675000 2051000, 4675000 2050000))'),
        (2, 2, 'EU_2', '311', 'Boschi di latifoglie', 'srid=3035;polygon((4676000 2050000, 4677000 2050000, 4677000 2051000, 4676000 2051000, 4676000 2050000))'),
        (2, 3, 'EU_2', '311', 'Boschi di latifoglie', 'srid=3035;polygon((4677000 2050000, 4678000 2050000, 4678000 2051000, 4677000 2051000, 4677000 2050000))')`, async ({ session, checks }) => ({
      rows: await session.query('select member_id, position, code, st_isvalid(geom) as valid, round(area_m2 / 1e4)::int4 as hectares from land_cover_polygon order by 1, 2'),
      pieces: await session.query('select member_id, position, count(*) > 1 as is_cut, max(st_npoints(geom)) <= 257 as is_small from land_cover_piece group by 1, 2 order by 1, 2'),
      classes: await session.query('select member_id, code, description, position from land_cover_class order by 1, 2'),
      reach: await session.query('select member_id, position, 14::int2 = any (regions) as reaches_molise, cardinality(regions) < 15 as is_part from land_cover_reach order by 1'),
      rejects: await session.query('select position, code from reject'),
      violations: (await checks()).map(({ name, level }) => [name, level]),
    }));
    expect(found.rows).toEqual([
      { member_id: 1, position: 1, code: '211', valid: true, hectares: 7854 },
      { member_id: 1, position: 2, code: '112', valid: true, hectares: 800 },
      { member_id: 2, position: 1, code: '112', valid: true, hectares: 100 },
      { member_id: 2, position: 2, code: '311', valid: true, hectares: 100 },
      { member_id: 2, position: 3, code: '311', valid: true, hectares: 100 },
    ]);
    expect(found.pieces).toMatchObject([{ is_cut: true, is_small: true }, { is_cut: true }, { is_cut: false }, { is_cut: false }, { is_cut: false }]);
    expect(found.classes).toEqual([
      { member_id: 1, code: '112', description: 'Zone residenziali', position: 2 }, { member_id: 1, code: '211', description: 'Seminativi in aree non irrigue', position: 1 },
      { member_id: 2, code: '112', description: 'Zone residenziali', position: 1 }, { member_id: 2, code: '311', description: 'Boschi di latifoglie', position: 2 },
    ]);
    expect(found.reach).toMatchObject([{ member_id: 1, position: 1, reaches_molise: true, is_part: true }, { member_id: 2, position: 1 }]);
    expect(found.rejects).toEqual([{ position: 3, code: 'geometry_without_area' }]);
    expect(found.violations).toEqual([['land_cover_polygon_repeated', 'warn']]);
  });
});
