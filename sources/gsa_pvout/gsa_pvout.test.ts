import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('the yield of photovoltaic systems', () => {
  it('is rejected if the raster has no values in Italy, because of its position or because all its cells are NoData', async () => {
    const path = join(folder, 'PVOUT.tif');
    const raster = { epsg: 4326, width: 240, height: 240, cell: 1 / 120, noData: '1.175494351e-38' } as const;
    const cells = (row: number): Float32Array => Float32Array.from({ length: 240 }, (_, column) => ((row + column) % 3 === 0 ? 1.175494351e-38 : 1400));
    // One raster is in Benin. The other raster is in Italy and contains only the NoData value.
    for (const [west, north, row] of [[1, 12, cells], [12, 43, () => new Float32Array(240).fill(1.175494351e-38)]] as const) {
      writeGeoTiff(path, { ...raster, west, north, row });
      const { error } = await trial(source, path);
      expect(error).toMatchObject({ code: 'RASTER_OTHER', message: 'the raster has no values in Italy', detail: expect.stringContaining(`from ${west} to ${west + 2} east`) });
    }
    writeGeoTiff(path, { ...raster, west: 12, north: 43, row: cells });
    expect((await trial(source, path)).collected!.rows['raw_tile']).toMatchObject([{ cells: 38_400, min_value: 1400, max_value: 1400 }]);
    await rm(path);
  });

  it.each([
    ['min_value', '100 or more', 50, 1400], ['max_value', '500 to 2,500', 120, 450], ['max_value', '500 to 2,500', 1400, 2600],
  ])('is rejected if the %s is not %s, and the message states the expected range (values of the raster: %d to %d)', async (column, range, least, most) => {
    const path = join(folder, 'PVOUT.tif');
    const row = (): Float32Array => new Float32Array(240).fill(least, 0, 1).fill(most, 1);
    writeGeoTiff(path, { epsg: 4326, width: 240, height: 240, cell: 1 / 120, noData: 'nan', west: 12, north: 43, row });
    const { error } = await trial(source, path);
    const found = column === 'min_value' ? least : most;
    expect(error).toMatchObject({ code: 'RASTER_OTHER', detail: `${column}: expected kWh/kWp of a year, ${range}, found ${found}` });
    await rm(path);
  });

  it('is read from the raster of the year, not of a month, for the synthetic region', async () => {
    await synthetic.write(makeRegion({ parcels: 600, seed: 3 }), folder);
    const [name = ''] = readdirSync(folder);
    const { recognition, collected } = await trial(source, join(folder, name));
    expect(recognition).toMatchObject({ role: 'year', vintage: '2', complete: true, dated: '2019-10-23' });
    const [tile] = collected!.rows['raw_tile']!;
    expect(tile).toMatchObject({ name: 'PVOUT', epsg: 4326, no_data: null });
    expect(tile!['min_value']).toBeGreaterThan(1000);
  });
});

describeLoad('loading the yield of photovoltaic systems', 'gsa_pvout', (loaded) => {
  it('loads the extent of the raster', async () => {
    const found = await loaded(`insert into raw_tile values
      (1, 1, 'PVOUT', 4326, 1440, 1440, 6.5, 47.5, 1.0 / 120, 1.0 / 120, null, 'float32', 1440, 1, 1000000, 700, 1700)`, async ({ session, checks }) => ({
      tiles: await session.query('select name, st_xmin(geom) as west, st_ymin(geom) as south, round(st_xmax(geom)::numeric, 9)::float8 as east, st_ymax(geom) as north from pvout_tile'),
      violations: await checks(),
    }));
    expect(found.tiles).toEqual([{ name: 'PVOUT', west: 6.5, south: 35.5, east: 18.5, north: 47.5 }]);
    expect(found.violations).toEqual([]);
  });
});
