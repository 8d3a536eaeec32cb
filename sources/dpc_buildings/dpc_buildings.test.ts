import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildingsOf, buildingSource } from '../../pipelines/synthetic/buildings.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeShapefile } from '../../pipelines/synthetic/shapefile-writer.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const region = makeRegion({ parcels: 2_000, seed: 3 });

const folder = temporaryFolder();
beforeAll(() => synthetic.write(region, folder));

describe('the structural aggregates', () => {
  it('have the date of change in their table as vintage, and the CRS of their .prj', async () => {
    const [comune] = region.comuni.filter((each) => buildingSource(region, each) === 'aggregates');
    const { recognition, collected } = await trial(source, join(folder, `${comune!.italianName}.shp`));
    expect(recognition).toMatchObject({ vintage: '2021-03-23', region: null, complete: false });
    const rows = collected!.rows['raw_dpc_building']!;
    expect(rows).toHaveLength([...buildingsOf(region, comune!)].length);
    expect(new Set(rows.map((row) => row['istat_code']))).toEqual(new Set([comune!.istatCode]));
    expect((rows[0]!['geom'] as Buffer).readUInt32LE(5)).toBe(7794);
  });

  it('are valid if a number and its polygon are repeated, as in Sardinia in 2022', async () => {
    const ring = [[7_212_000, 4_610_000], [7_212_010, 4_610_000], [7_212_010, 4_610_010], [7_212_000, 4_610_010], [7_212_000, 4_610_000]] as const;
    const aggregate = { geometry: { type: 'polygon' as const, polygons: [[ring]] }, values: ['20111016000000071400', 714, 'Domusnovas'] };
    await writeShapefile(folder, 'Domusnovas', {
      type: 'polygon', srid: 7794, encoding: null, modified: '2022-10-20',
      fields: [{ name: 'IDAG', type: 'text', length: 20 }, { name: 'Label', type: 'integer', length: 10 }, { name: 'Comune', type: 'text', length: 58 }],
      features: [aggregate, aggregate],
    });
    const [verdict] = await validate([join(folder, 'Domusnovas.shp')], await loadSources(), null, () => undefined);
    expect(verdict).toMatchObject({ ok: true, records: 2, rows: 2, findings: [] });
  });

  it('become one member per comune if a zip contains several comuni', async () => {
    const { collected } = await trial(source, join(folder, 'aggregati_strutturali.zip'));
    expect(collected!.members.length).toBeGreaterThan(1);
    for (const { records } of collected!.members) expect(records).toBeGreaterThan(0);
  });
});

describeLoad('loading the structural aggregates', 'dpc_buildings', (loaded) => {
  it('repairs invalid footprints, rejects footprints without an area, recognises equal footprints, and warns about very small footprints', async () => {
    const found = await loaded(`
      insert into raw_dpc_building values
        (1, 1, '14070901000000000100', '070901', 'srid=7794;polygon((7212000 4610000, 7212010 4610000, 7212010 4610020, 7212020 4610020, 7212020 4610010, 7212000 4610010, 7212000 4610000))'),
        (1, 2, '14070901000000000200', '070901', 'srid=7794;polygon((7212100 4610000, 7212110 4610000, 7212110 4610010, 7212100 4610010, 7212100 4610000))'),
        (2, 1, '14070901000000000200', '070901', 'srid=7794;polygon((7212110 4610010, 7212100 4610010, 7212100 4610000, 7212110 4610000, 7212110 4610010))'),
        (1, 3, '14070901000000000300', '070901', 'srid=7794;polygon((7212000 4610000, 7212010 4610000, 7212000 4610000, 7212000 4610000))'),
        (1, 4, '14070901000000000400', '070901', 'srid=7794;polygon((7212200 4610000, 7212200.5 4610000, 7212200.5 4610000.5, 7212200 4610000))')`, async ({ session, checks }) => ({
      rows: await session.query('select member_id, position, st_isvalid(geom) as valid, round(area_m2)::int4 as area_m2 from dpc_building order by 1, 2'),
      drawings: await session.query('select count(distinct drawing)::int4 as n from dpc_building'),
      rejects: await session.query('select position, code from reject'),
      violations: (await checks()).map(({ name, level }) => [name, level]),
    }));
    expect(found.rows).toEqual([
      { member_id: 1, position: 1, valid: true, area_m2: 200 },
      { member_id: 1, position: 2, valid: true, area_m2: 100 },
      { member_id: 1, position: 4, valid: true, area_m2: 0 },
      { member_id: 2, position: 1, valid: true, area_m2: 100 },
    ]);
    expect(found.drawings).toEqual([{ n: 3 }]);
    expect(found.rejects).toEqual([{ position: 3, code: 'geometry_without_area' }]);
    expect(found.violations).toEqual([['dpc_building_of_a_size', 'warn']]);
  });
});
