import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const region = makeRegion({ parcels: 2_000, seed: 3 });

const folder = temporaryFolder();
beforeAll(() => synthetic.write(region, folder));

describe('the landslide mosaic', () => {
  it.each([['peric_ita', 'Elevata P3', '2020_2021'], ['cod_per_it', '3', '2024']])('is recognised by the column %s of a web service as GeoPackage and as shapefile', async (column, text, vintage) => {
    const polygons = [[[[970_000, 4_630_000], [970_000, 4_630_100], [970_100, 4_630_100], [970_000, 4_630_000]]]] as const;
    const [gpkg, zip] = [join(folder, `made_${column}.gpkg`), join(folder, `made_${column}.zip`)];
    await writeGeoPackage(gpkg, [{
      name: 'areas', srid: 32632, geometry: 'MultiPolygon', fields: [{ name: column, type: 'string' }], features: [{ values: [text], geometry: { type: 'MultiPolygon', coordinates: polygons } }],
    }]);
    await writeZip(zip, shapefileEntries('areas', { type: 'polygon', srid: 32632, fields: [{ name: column, type: 'text', length: 50 }], features: [{ geometry: { type: 'polygon', polygons }, values: [text] }] }));
    for (const path of [gpkg, zip]) {
      const { recognition, collected } = await trial(source, path);
      expect(recognition, path).toMatchObject({ role: 'mosaic', vintage, complete: false });
      expect(collected!.rows['raw_landslide_hazard']!.map((row) => [row['class'], row['label']]), path).toEqual([['P3', text]]);
    }
  });

  it('is read from the GeoPackage of 2024, including areas without a class', async () => {
    const { recognition, collected } = await trial(source, join(folder, 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.gpkg'));
    expect(recognition).toMatchObject({ vintage: '2024', region: null, complete: true });
    const rows = collected!.rows['raw_landslide_hazard']!;
    expect(new Set(rows.map((row) => row['class']))).toEqual(new Set(['P4', 'P3', 'P2', 'P1', 'AA', null]));
    expect(rows.filter((row) => row['label'] === 'Pn.d.').length).toBeGreaterThan(0);
    expect((rows[0]!['geom'] as Buffer).readUInt32LE(5)).toBe(32632);
  });

  it('gives the same rows when the file of 2024 is in a zip', async () => {
    const plain = await trial(source, join(folder, 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.gpkg'));
    const path = join(folder, 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.zip');
    await writeZip(path, [['Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.gpkg', readFileSync(join(folder, 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI.gpkg'))]]);
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ vintage: '2024' });
    expect(collected!.rows).toEqual(plain.collected!.rows);
    await rm(path);
  });

  it('is read from the shapefile of 2020–2021 with a vintage before 2024', async () => {
    const { recognition, collected } = await trial(source, join(folder, 'Mosaicatura_ISPRA_2020_2021_aree_pericolosita_frana_PAI.zip'));
    expect(recognition).toMatchObject({ vintage: '2020_2021', region: null });
    expect(recognition!.vintage < '2024').toBe(true);
    expect(collected!.rows['raw_landslide_hazard']).toHaveLength(1);
  });

  it('is recognised by its class column under any file name', async () => {
    const path = join(folder, 'frane_2024.zip');
    await writeZip(path, shapefileEntries('x', {
      type: 'polygon', srid: 32632, fields: [{ name: 'PER_FR_ITA', type: 'text', length: 50 }],
      features: [{ geometry: { type: 'polygon', polygons: [[[[500_000, 4_600_000], [500_000, 4_600_010], [500_010, 4_600_010], [500_000, 4_600_000]]]] }, values: ['Elevata P3'] }],
    }));
    const { recognition, collected } = await trial(source, path);
    expect(recognition).toMatchObject({ vintage: '2024' });
    expect(collected!.rows['raw_landslide_hazard']![0]).toMatchObject({ class: 'P3', label: 'Elevata P3' });
    await rm(path);
  });
});

describeLoad('loading the landslide mosaic', 'ispra_landslide', (loaded) => {
  it('keeps an area of undetermined class with a warning, repairs invalid polygons, and rejects polygons without an area', async () => {
    const found = await loaded(`
      insert into raw_landslide_hazard values
        (1, 1, 'P3', 'Elevata P3', 'srid=32632;polygon((500000 4600000, 502000 4600000, 502000 4604000, 504000 4604000, 504000 4602000, 500000 4602000, 500000 4600000))'),
        (1, 2, null, 'Pn.d.', 'srid=32632;polygon((510000 4600000, 511000 4600000, 511000 4601000, 510000 4601000, 510000 4600000))'),
        (1, 3, 'P2', 'Media P2', 'srid=32632;polygon((510000 4600000, 511000 4600000, 512000 4600000, 510000 4600000))')`, async ({ session, checks }) => ({
      rows: await session.query('select position, class, label, st_isvalid(geom) as valid, round(area_m2 / 1e4)::int4 as hectares from landslide_hazard order by 1'),
      pieces: await session.query('select position, class, count(*)::int4 as pieces from landslide_hazard_piece group by 1, 2 order by 1'),
      rejects: await session.query('select position, code from reject'),
      coverage: await session.query('select member_id, position, regions from landslide_coverage'),
      violations: (await checks()).map(({ name, level }) => [name, level]),
    }));
    // The areas are at about 9° E 41.5° N, in Corsica. No region's box overlaps the areas, so `regions` is empty.
    expect(found.coverage).toEqual([{ member_id: 1, position: 1, regions: [] }]);
    expect(found.rows).toEqual([
      { position: 1, class: 'P3', label: 'Elevata P3', valid: true, hectares: 801 },
      { position: 2, class: null, label: 'Pn.d.', valid: true, hectares: 100 },
    ]);
    expect(found.pieces).toEqual([{ position: 1, class: 'P3', pieces: 12 }, { position: 2, class: null, pieces: 2 }]);
    expect(found.rejects).toEqual([{ position: 3, code: 'geometry_without_area' }]);
    expect(found.violations).toEqual([['landslide_class_determined', 'warn']]);
  });
});
