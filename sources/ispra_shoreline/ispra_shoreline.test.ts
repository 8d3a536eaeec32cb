import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { yearsOf } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('the shoreline change', () => {
  test.each([['Dinamica_Litoranea_2006_2020', 14], ['dinamica 1999-2006', 7], ['Linea_di_costa_2020', null], ['x_2020_2006', null]])('covers as many years as the name states (%s: %s)', (name, years) => {
    expect(yearsOf(name)).toBe(years);
  });

  it('is read from a zip with interrupted segments, accents in a latin1 table, and classes without information', async () => {
    const region = makeRegion({ parcels: 6_000, seed: 3 });
    await synthetic.write(region, folder);
    const { recognition, collected } = await trial(source, join(folder, 'Dinamica_Litoranea_2006_2020.zip'));
    expect(recognition).toMatchObject({ role: 'dynamics', vintage: '2020' });
    const rows = collected!.rows['raw_shoreline_segment']!;
    expect(rows.filter((row) => row['dynamic'] === null).length).toBeGreaterThan(0);
    expect(rows.filter((row) => row['dynamic'] === 'stable').length).toBeGreaterThan(1);
    expect(rows.filter((row) => (row['geom'] as Buffer).readUInt32LE(1) === 0x20000005).length).toBeGreaterThan(0);
    expect(rows.map((row) => row['avg_change_m_year'])).toContain(-7.31);
  });

  it('is read from a GeoPackage with one layer', async () => {
    const path = join(folder, 'Dinamica_Litoranea_2006_2020.gpkg');
    await writeGeoPackage(path, [{
      name: 'Dinamica_Litoranea_2006_2020', srid: 3035, geometry: 'MultiLineString', fields: [{ name: 'Dinamica', type: 'string' }, { name: 'm_anno', type: 'real' }],
      features: [{ values: ['Erosione', -1.5], geometry: { type: 'MultiLineString', coordinates: [[[4_600_000, 2_100_000], [4_600_100, 2_100_000]]] } }],
    }]);
    const { collected } = await trial(source, path);
    expect(collected!.rows['raw_shoreline_segment']![0]).toMatchObject({ dynamic: 'erosion', avg_change_m_year: -1.5 });
  });

  it('is read from a GeoPackage that also contains the beaches, which are ignored', async () => {
    const path = join(folder, 'Linea_di_costa_2020.gpkg');
    const line = { type: 'MultiLineString' as const, coordinates: [[[4_600_000, 2_100_000], [4_600_100, 2_100_000]]] as [number, number][][] };
    await writeGeoPackage(path, [
      { name: 'Spiagge_2020', srid: 3035, geometry: 'MultiLineString', fields: [{ name: 'Tipo', type: 'string' }], features: [{ values: ['sabbia'], geometry: line }] },
      {
        name: 'Dinamica_Litoranea_2006_2020', srid: 3035, geometry: 'MultiLineString', fields: [{ name: 'Dinamica', type: 'string' }, { name: 'm_anno', type: 'real' }],
        features: [{ values: ['Erosione', -1.5], geometry: line }],
      },
    ]);
    const { collected, error } = await trial(source, path);
    expect(error).toBeNull();
    expect(collected!.rows['raw_shoreline_segment']).toMatchObject([{ dynamic: 'erosion', avg_change_m_year: -1.5 }]);
    expect(collected!.asides.map((aside) => aside.path)).toEqual([expect.stringContaining('Spiagge_2020')]);
  });
});

describeLoad('loading the shoreline change', 'ispra_shoreline', (loaded) => {
  it('rejects a line without a length, and warns if the class contradicts the mean', async () => {
    const found = await loaded(`
      insert into raw_shoreline_segment values
        (1, 1, 'erosion', -1.5, 'srid=32632;linestring(900000 4700000, 900200 4700000)'),
        (1, 2, 'erosion', 0.5, 'srid=32632;multilinestring((901000 4700000, 901200 4700000), (901300 4700000, 901400 4700000))'),
        (1, 3, null, null, 'srid=32632;linestring(902000 4700000, 902200 4700000)'),
        (1, 4, 'stable', 0, 'srid=32632;linestring(903000 4700000, 903000 4700000)')`, async ({ session, checks }) => ({
      rows: await session.query('select position, dynamic, st_srid(geom) as srid, round(st_length(geom::geography))::int4 as metres from shoreline_segment order by 1'),
      rejects: await session.query('select position, code from reject'),
      coverage: await session.query('select member_id, position, regions from shoreline_coverage'),
      violations: (await checks()).map(({ name, samples }) => [name, samples[0]!['position']]),
    }));
    // The position is about 13.9° E 42.3° N, in the boxes of Lazio and Abruzzo.
    expect(found.coverage).toEqual([{ member_id: 1, position: 1, regions: [12, 13] }]);
    // In UTM zone 32, 200 m are slightly less on the ground, because the place is far east of the zone's central meridian.
    expect(found.rows).toEqual([
      { position: 1, dynamic: 'erosion', srid: 4326, metres: 200 },
      { position: 2, dynamic: 'erosion', srid: 4326, metres: 300 },
      { position: 3, dynamic: null, srid: 4326, metres: 200 },
    ]);
    expect(found.rejects).toEqual([{ position: 4, code: 'geometry_without_length' }]);
    expect(found.violations).toEqual([['shoreline_change_agrees', 2], ['shoreline_information', 3]]);
  });
});
