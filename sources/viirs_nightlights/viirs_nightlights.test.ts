import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { writeViirs, type ViirsTile } from '../../pipelines/synthetic/viirs-writer.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { COMPANIONS } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

/** Regions whose boxes overlap the tile from 10° to 20° E and from 40° to 50° N. The boxes come from `contract/regions.ts`. */
const REACHED = REGIONS.filter(({ box }) => box.west <= 20 && box.east >= 10 && box.south <= 50 && box.north >= 40).map(({ code }) => code);

const folder = temporaryFolder();

describe('light at night', () => {
  it('is written for two years in the synthetic region, in tiles of ten degrees', async () => {
    await synthetic.write(makeRegion({ parcels: 600, seed: 3 }), folder);
    const trials = await Promise.all(readdirSync(folder).sort().map((name) => trial(source, join(folder, name))));
    expect(trials.map(({ recognition }) => [recognition!.vintage, recognition!.place, recognition!.complete])).toEqual([['2022', 'h19v04', false], ['2023', 'h19v04', false]]);
    expect(trials[1]!.collected!.rows['raw_tile']![0]).toMatchObject({ epsg: 4326, width: 2400, height: 2400, west: 10, north: 50, no_data: '-999.9', sample_type: 'float32' });
    expect(trials[0]!.collected!.rows['raw_tile']![0]).toMatchObject({ no_data: '65535', sample_type: 'uint16' });
  });

  /** Writes a tile with 2,400 × 2,400 cells. Every third cell of one row in Italy's box has the fill value. All other cells have the same radiance. */
  function tile(name: string, radiance: number, fillType: ViirsTile['fillType'] = '<f'): string {
    const cells = new Float32Array(2400 * 2400).fill(radiance);
    for (let cell = 1000 * 2400; cell < 1001 * 2400; cell += 3) cells[cell] = -999.9;
    writeViirs(join(folder, name), { rows: 2400, columns: 2400, cells, fillType });
    return join(folder, name);
  }

  it.each(['<f', '<d', 'text', null] as const)('is read from collection 2 with fill values inside Italy (type of the attribute _FillValue: %s)', async (fillType) => {
    const { collected, error } = await trial(source, tile('VNP46A4.A2025001.h19v04.002.2026120045030.h5', 12.5, fillType));
    expect(error).toBeNull();
    expect(collected!.rows['raw_tile']![0]).toMatchObject({ no_data: '-999.9', sample_type: 'float32', min_value: 12.5, max_value: 12.5 });
    expect(collected!.rows['raw_tile']![0]!['cells']).toBeLessThan(2400 * 2400);
  });

  it('is read from VJ146A4, the product of a later satellite', async () => {
    const { recognition, collected } = await trial(source, tile('VJ146A4.A2026001.h18v05.002.2027120045030.h5', 3));
    expect(recognition).toMatchObject({ role: 'year', vintage: '2026', place: 'h18v05' });
    expect(collected!.rows['raw_tile']![0]).toMatchObject({ min_value: 3, west: 0, north: 40 });
  });

  it('is ignored in a tile outside Italy', async () => {
    expect((await trial(source, tile('VJ146A4.A2026001.h20v05.002.2027120045030.h5', 3))).recognition?.ignored).toContain('outside Italy');
  });

  describe('in VNL files', () => {
    const PRODUCT = 'VNL_v22_npp-j01_2022_global_vcmslcfg_c202303062300';
    const bytes = readFileSync(fileURLToPath(new URL(`./fixture/${PRODUCT}.average_masked.dat.tif`, import.meta.url)));

    it.each(['average', 'average_masked', 'median', 'median_masked'])('is read from %s', async (part) => {
      const path = join(folder, `${PRODUCT}.${part}.dat.tif`);
      writeFileSync(path, bytes);
      const { recognition, collected } = await trial(source, path);
      expect(recognition).toMatchObject({ role: 'year', vintage: '2022', complete: true });
      expect(recognition).not.toHaveProperty('ignored');
      expect(collected!.rows['raw_tile']).toHaveLength(1);
    });

    it.each(Object.entries(COMPANIONS))('is not read from %s (%s), which is ignored', async (part, content) => {
      for (const name of [`${PRODUCT}.${part}.dat.tif`, `${PRODUCT}.${part}.tif`, `VNL_2022_${part.toUpperCase()}.tif`]) {
        const path = join(folder, name);
        writeFileSync(path, bytes);
        expect((await trial(source, path)).recognition, name).toMatchObject({ vintage: '2022', ignored: expect.stringContaining(content) });
      }
    });

    it('is read from a zip that also contains a different raster of the product, and ignored if the zip contains only that raster', async () => {
      const path = join(folder, 'VNL_2022.zip');
      await writeZip(path, ['cf_cvg', 'average'].map((part): ZipEntry => [`${PRODUCT}.${part}.dat.tif`, bytes]));
      const { recognition, collected } = await trial(source, path);
      expect(recognition).toMatchObject({ role: 'year', vintage: '2022' });
      expect(collected!.rows['raw_tile']![0]!['name']).toBe(`${PRODUCT}.average.dat`);
      await writeZip(path, [[`${PRODUCT}.cf_cvg.dat.tif`, bytes]]);
      expect((await trial(source, path)).recognition?.ignored).toContain('cloud-free');
    });
  });

  it.each([-0.5, -20])('is rejected if a product of NASA has the value %d, and the message states the lowest allowed value', async (value) => {
    const { error } = await trial(source, tile('VJ146A4.A2026001.h18v04.002.2027120045030.h5', value));
    expect(error).toMatchObject({ code: 'RASTER_OTHER', detail: `min_value: expected nW cm⁻² sr⁻¹, 0 or more, found ${value}` });
  });

  it('is dated so that collection 2 sorts after 1 and VNP46A4 after VJ146A4 within one year, whatever the time of production', async () => {
    const names = [
      'VNP46A4.A2025001.h19v04.001.2027300000000.h5', 'VJ146A4.A2025001.h19v04.002.2027200000000.h5',
      'VNP46A4.A2025001.h19v04.002.2026100000000.h5', 'VNP46A4.A2025001.h19v04.002.2026200000000.h5',
    ];
    const found = await Promise.all(names.map(async (name) => (await trial(source, tile(name, 1))).recognition));
    expect(new Set(found.map((each) => `${each?.vintage} ${each?.place}`))).toEqual(new Set(['2025 h19v04']));
    const issues = found.map((each) => each?.dated ?? '');
    expect([...issues].sort()).toEqual(issues);
    expect(new Set(issues).size).toBe(names.length);
    // Databases may still contain values of an earlier version, which stored only the time of production. Such values must sort before the values that this
    // version stores.
    expect(issues.every((issue) => issue > '2027300000000')).toBe(true);
  });
});

describeLoad('loading light at night', 'viirs_nightlights', (loaded) => {
  it('stores the year, product, collection, regions and extent of each tile', async () => {
    const found = await loaded(`
      insert into raw_tile values
        (1, 1, 'VNP46A4.A2023001.h19v04', 4326, 2400, 2400, 10, 50, 10.0 / 2400, 10.0 / 2400, '65535', 'uint16', 240, 240, 1000, 0, 80),
        (2, 1, 'vj146a4.A2023001.H18V05.002.2024045030000', 4326, 2400, 2400, 0, 40, 10.0 / 2400, 10.0 / 2400, '-999.9', 'float32', 240, 240, 1000, 0, 80)`, async ({ session, checks }) => ({
      tiles: await session.query('select name, year, product, collection, regions, st_xmin(geom) as west, round(st_ymin(geom)::numeric, 9)::float8 as south from radiance_tile order by member_id'),
      violations: await checks(),
    }));
    expect(found.tiles).toEqual([{ name: 'VNP46A4.A2023001.h19v04', year: 2020, product: 'VNP46A4', collection: 0, regions: REACHED, west: 10, south: 40 }, { name: 'vj146a4.A2023001.H18V05.002.2024045030000', year: 2020, product: 'VJ146A4', collection: 2, regions: [20], west: 0, south: 30 }]);
    expect(found.violations).toEqual([]);
  });
});
