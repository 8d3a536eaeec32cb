import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { shapefileEntries, type ShapefileLayer } from '../../pipelines/synthetic/shapefile-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

/** Returns a layer with a square for each scenario text, in EPSG:3035. The squares are `spread` metres apart. */
function layer(scenarios: readonly (string | null)[], spread = 1000, encoding: ShapefileLayer['encoding'] = 'utf-8'): ShapefileLayer {
  return {
    type: 'polygon', srid: 3035, ...(encoding === undefined ? {} : { encoding }), fields: [{ name: 'scenario', type: 'text', length: 80 }],
    features: scenarios.map((text, i) => {
      const x = 4_200_000 + i * spread;
      return { geometry: { type: 'polygon', polygons: [[[[x, 2_100_000], [x, 2_100_100], [x + 100, 2_100_100], [x + 100, 2_100_000], [x, 2_100_000]]]] }, values: [text] };
    }),
  };
}

describe('the flood mosaic', () => {
  it('has one member for each of three shapefiles in a zip, and takes the class from the name if the text is blank, in any encoding', async () => {
    const path = join(folder, 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica.zip');
    await writeZip(path, [
      ...shapefileEntries('Mosaicatura/HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata', layer(['Pericolosità idraulica elevata - HighProbabilityHazard', null], 1_200_000)),
      ...shapefileEntries('Mosaicatura/MPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_media', layer(['Pericolosità idraulica media - MediumProbabilityHazard', null], 1_200_000, null)),
      ...shapefileEntries('Mosaicatura/LPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_bassa', layer(["Pericolosita' idraulica bassa - LowProbabilityHazard", null], 1_200_000, 'latin1')),
      ['Mosaicatura/Licenza.pdf', '%PDF'],
      ['__MACOSX/Mosaicatura/._HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata.shp', 'shadow'],
    ]);
    const { recognition, collected } = await trial(source, path);
    // The file is complete because the zip has ISPRA's file name.
    expect(recognition).toMatchObject({ vintage: '2020', region: null, complete: true });
    expect(collected!.members.map(({ path: member, records, rejects }) => [member.slice(12, 16), records, rejects.length])).toEqual([['HPH_', 2, 0], ['MPH_', 2, 0], ['LPH_', 2, 0]]);
    expect(collected!.rows['raw_flood_hazard']!.map(({ class: level, scenario }) => [level, scenario])).toEqual([
      ['P3', 'Pericolosità idraulica elevata - HighProbabilityHazard'], ['P3', null],
      ['P2', 'Pericolosità idraulica media - MediumProbabilityHazard'], ['P2', null],
      ['P1', "Pericolosita' idraulica bassa - LowProbabilityHazard"], ['P1', null],
    ]);
    expect((collected!.rows['raw_flood_hazard']![0]!['geom'] as Buffer).readUInt32LE(5)).toBe(3035);
  });

  it.each([1, 2, 3])('is recognised by its class column as a shapefile of scenario %i from the web service, under any file name', async (n) => {
    const path = join(folder, `made_export_${n}.zip`);
    const { features, ...rest } = layer([`Aree a pericolosita' idraulica x P${n}`, null]);
    await writeZip(path, shapefileEntries('areas', { ...rest, features, fields: [{ name: `scenariop${n}`, type: 'text', length: 80 }] }));
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ role: 'mosaic', vintage: '2020', complete: false });
    expect(recognition).not.toHaveProperty('place');
    expect(collected!.rows['raw_flood_hazard']!.map((row) => row['class'])).toEqual([`P${n}`, `P${n}`]);
  });

  it('has its class as place and counts as incomplete if a zip with ISPRA\'s file names contains only one of the three classes', async () => {
    const path = join(folder, 'HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata.zip');
    await writeZip(path, shapefileEntries('HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata', layer([null, null], 1_200_000)));
    expect((await trial(source, path)).recognition).toMatchObject({ vintage: '2020', complete: false, place: 'HPH' });
  });

  it('has the year after ISPRA\'s words as edition, even if a copy has another year in its name', async () => {
    for (const name of ['HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata_2026.zip', '2026 HPH_Mosaicatura_ISPRA_2020_pericolosita_idraulica_elevata (30-11-2026).zip']) {
      const path = join(folder, name);
      await writeZip(path, shapefileEntries('layer', layer([null, null], 1_200_000)));
      expect((await trial(source, path)).recognition, name).toMatchObject({ vintage: '2020', complete: false });
    }
  });

  it('counts as incomplete if the file does not have ISPRA\'s file name', async () => {
    const path = join(folder, 'part_2020.zip');
    await writeZip(path, shapefileEntries('HPH_Mosaicatura', layer([null, null], 1_200_000)));
    expect((await trial(source, path)).recognition).toMatchObject({ vintage: '2020', complete: false });
  });

  it('is read for the synthetic region, including polygons of more than a thousand corners and areas without a class', async () => {
    const region = makeRegion({ parcels: 2_000, seed: 3 });
    await synthetic.write(region, folder);
    const { collected } = await trial(source, join(folder, 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica.zip'));
    const rows = collected!.rows['raw_flood_hazard']!;
    expect(Math.max(...rows.map((row) => (row['geom'] as Buffer).length))).toBeGreaterThan(16 * 1000);
    expect(new Set(rows.map((row) => row['class']))).toEqual(new Set(['P1', 'P2', 'P3', null]));
  });
});

describeLoad('loading the flood mosaic', 'ispra_flood', (loaded) => {
  it('repairs invalid polygons, rejects polygons without an area, and records the regions and missing provinces of each class', async () => {
    const found = await loaded(`
      insert into raw_flood_hazard values
        (1, 1, 'P3', null, 'srid=4326;polygon((14 42, 14.01 42, 14.01 42.02, 14.02 42.02, 14.02 42.01, 14 42.01, 14 42))'),
        (1, 2, 'P1', null, 'srid=4326;polygon((14 41, 14.01 41, 14.01 41.005, 14.05 41.005, 14.01 41.005, 14.01 41.01, 14 41.01, 14 41))'),
        (1, 3, 'P2', null, 'srid=4326;polygon((14 41, 14.01 41, 14.02 41, 14 41))'),
        (2, 1, null, null, 'srid=4326;polygon((15 41, 15.01 41, 15.01 41.01, 15 41.01, 15 41))')`, async ({ session, checks }) => ({
      rows: await session.query('select member_id, position, class, st_isvalid(geom) as valid, round(st_area(geom)::numeric, 9)::float8 as area, st_npoints(geom) as points from flood_hazard order by 1, 2'),
      rejects: await session.query('select member_id, position, code from reject'),
      coverage: await session.query('select member_id, position, class, missing_provinces, regions from flood_coverage order by member_id, class'),
      violations: (await checks()).map(({ name }) => name),
    }));
    expect(found.rows).toEqual([
      { member_id: 1, position: 1, class: 'P3', valid: true, area: 0.0002, points: 10 },
      { member_id: 1, position: 2, class: 'P1', valid: true, area: 0.0001, points: expect.any(Number) },
      { member_id: 2, position: 1, class: 'HPH', valid: true, area: 0.0001, points: 5 },
    ]);
    expect(found.rejects).toEqual([{ member_id: 1, position: 3, code: 'geometry_without_area' }]);
    // The point 14° E 42° N is in the boxes of Lazio, Abruzzo and Molise. The point 14° E 41° N is in the boxes of Lazio and Campania. The point
    // 15° E 41° N is in the boxes of Campania and Puglia.
    expect(found.coverage).toEqual([
      { member_id: 1, position: 2, class: 'P1', missing_provinces: [], regions: [12, 15] },
      { member_id: 1, position: 1, class: 'P3', missing_provinces: ['021', '041', '042', '043', '044', '109'], regions: [12, 13, 14] },
      { member_id: 2, position: 1, class: 'HPH', missing_provinces: [], regions: [15, 16] },
    ]);
    expect(found.violations).toEqual(['flood_scenarios_complete', 'flood_class_missing']);
  });

  it('covers each region whose box contains an area, and no region for an area in the sea', async () => {
    const found = await loaded(`
      insert into raw_flood_hazard
      select 1, region_code, 'P1', null, st_expand(st_centroid(geom), 0.01) from core.region_box
      union all
      select 2, region_code, 'P2', null, st_expand(st_centroid(geom), 0.01) from core.region_box where region_code = 20
      union all
      select 2, 100, 'P2', null, st_makeenvelope(6.5, 40, 6.6, 40.1, 4326)
      union all
      select 3, 1, 'P3', null, st_makeenvelope(6.5, 40, 6.6, 40.1, 4326)`, ({ session }) => session.query<{ regions: number[] }>('select regions from flood_coverage order by member_id'));
    expect(found.map(({ regions }) => regions)).toEqual([Array.from({ length: 20 }, (_, i) => i + 1), [20], []]);
  });

  it('cuts a polygon with many corners into pieces whose areas add up to the area of the polygon', async () => {
    const [found] = await loaded(`
      insert into raw_flood_hazard
      select 1, 1, 'P1', null, st_transform(st_buffer(st_setsrid(st_point(4400000, 2200000), 3035), 20000, 5000), 3035)`, ({ session }) => session.query<{ corners: number; pieces: number; most: number; gap: number; area: number }>(`
      select
        (select st_npoints(geom) from flood_hazard) as corners,
        count(*) as pieces,
        max(st_npoints(geom)) as most,
        abs(sum(st_area(geom)) / (select st_area(geom) from flood_hazard) - 1) as gap,
        (select area_m2 from flood_hazard) as area
      from flood_hazard_piece`));
    expect(found!.corners).toBeGreaterThan(20_000);
    expect(found!.pieces).toBeGreaterThan(80);
    expect(found!.most).toBeLessThanOrEqual(256);
    expect(found!.gap).toBeLessThan(1e-9);
    expect(Math.abs(found!.area / (Math.PI * 20_000 ** 2) - 1)).toBeLessThan(1e-6);
  });

  it('reprojects a long straight edge correctly between its ends', async () => {
    // The edge is 40 km long and runs from west to east in EPSG:3035. The middle of the edge must be within centimetres of its exact position.
    const [found] = await loaded(`
      insert into raw_flood_hazard values (1, 1, 'P1', null, 'srid=3035;polygon((4600000 2100000, 4640000 2100000, 4640000 2090000, 4600000 2090000, 4600000 2100000))')`, ({ session }) => session.query<{ off_m: number; naive_m: number }>(`
      select
        st_distance(st_transform('srid=3035;point(4620000 2100000)'::geometry, 4326)::geography, st_exteriorring(st_geometryn(geom, 1))::geography) as off_m,
        st_distance(st_transform('srid=3035;point(4620000 2100000)'::geometry, 4326)::geography, st_exteriorring(st_transform('srid=3035;polygon((4600000 2100000, 4640000 2100000, 4640000 2090000, 4600000 2090000, 4600000 2100000))'::geometry, 4326))::geography) as naive_m
      from flood_hazard`));
    expect(found!.off_m).toBeLessThan(0.05);
    expect(found!.naive_m).toBeGreaterThan(3);
  });
});
