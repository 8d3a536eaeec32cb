import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('a tile of the ground model', () => {
  it('is cut to the synthetic region, and a region across two squares has two tiles', async () => {
    // The box of the region crosses the easting of 950 km, where two squares meet.
    const region = makeRegion({ parcels: 40_000, seed: 3, comuni: 900 });
    await synthetic.write({ ...region, box: [14.4, 41.99, 14.46, 42] }, folder);
    const names = readdirSync(folder);
    expect(names.sort()).toEqual(['w46590_s10.zip', 'w46595_s10.zip']);
    const [west, east] = await Promise.all(names.map(async (name) => (await trial(source, join(folder, name))).collected!.rows['raw_tile']![0]!));
    expect(Number(west!['west']) + Number(west!['width']) * 10).toBe(950_000);
    expect(east!['west']).toBe(950_000);
    expect(east!['min_value']).toBeGreaterThan(100);
  });
});

describeLoad('loading tiles of the ground model', 'tinitaly_dem', (loaded) => {
  it('loads the extent of each tile in degrees, and reports tiles without a common grid and tiles far from Italy', async () => {
    const tile = (member: number, name: string, west: number, north: number): string =>
      `(${member}, 1, '${name}', 32632, 5000, 5000, ${west}, ${north}, 10, 10, '-9999', 'float32', 5000, 1, 25000000, 1, 900)`;
    const found = await loaded(`insert into raw_tile values
      ${tile(1, 'w46590_s10', 900_000, 4_700_000)}, ${tile(2, 'w46595_s10', 950_000, 4_700_000)}, ${tile(3, 'w47090_s10', 900_005, 4_750_000)}, ${tile(4, 'w90090_s10', 900_000, 9_000_000)}`, async ({ session, checks }) => ({
      tiles: await session.query('select name, st_npoints(geom) as points, round(st_xmin(geom)::numeric, 4)::float8 as west, round(st_ymax(geom)::numeric, 4)::float8 as north from tinitaly_tile where member_id < 3 order by name'),
      violations: (await checks()).map(({ name, rows }) => [name, rows]),
    }));
    expect(found.tiles).toEqual([
      { name: 'w46590_s10', points: 201, west: 13.8218, north: 42.3494 },
      { name: 'w46595_s10', points: 201, west: 14.422, north: 42.3221 },
    ]);
    expect(found.violations).toEqual([['tinitaly_tile_in_italy', 1], ['tinitaly_tile_on_one_grid', 1]]);
  });
});
