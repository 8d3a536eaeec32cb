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

describe('a tile of the surface model', () => {
  it('ends half a second north of its northern degree and half a second west of its eastern degree, and a region at a corner has four tiles', async () => {
    const region = makeRegion({ parcels: 600, seed: 3 });
    await synthetic.write({ ...region, box: [14.99, 41.99, 15.01, 42] }, folder);
    expect(readdirSync(folder).sort()).toEqual(['N41_00_E014', 'N41_00_E015', 'N42_00_E014', 'N42_00_E015'].map((place) => `Copernicus_DSM_COG_10_${place}_00_DEM.tif`));
    const { collected } = await trial(source, join(folder, 'Copernicus_DSM_COG_10_N41_00_E014_00_DEM.tif'));
    const tile = collected!.rows['raw_tile']![0]!;
    // The centres of the first row are at 42° N, and the centres of the last column are one arc second west of 15° E.
    expect(Number(tile['north'])).toBeCloseTo(42 + 0.5 / 3600, 9);
    expect(Number(tile['west']) + Number(tile['width']) / 3600).toBeCloseTo(15 - 0.5 / 3600, 9);
  });
});

describeLoad('loading tiles of the surface model', 'copernicus_dem', (loaded) => {
  it('loads the extent of each tile and warns about tiles far from Italy', async () => {
    const tile = (member: number, name: string, west: number, north: number): string =>
      `(${member}, 1, '${name}', 4326, 3600, 3600, ${west} - 0.5 / 3600, ${north} + 0.5 / 3600, 1.0 / 3600, 1.0 / 3600, null, 'float32', 1024, 1024, 12960000, 1, 900)`;
    const found = await loaded(`insert into raw_tile values ${tile(1, 'N41_E014', 14, 42)}, ${tile(2, 'N41_E015', 15, 42)}, ${tile(3, 'N55_E014', 14, 56)}`, async ({ session, checks }) => ({
      tiles: await session.query('select name, round(st_xmin(geom)::numeric, 6)::float8 as west, round(st_ymin(geom)::numeric, 6)::float8 as south from copernicus_tile where member_id < 3 order by name'),
      violations: (await checks()).map(({ name, rows }) => [name, rows]),
    }));
    expect(found.tiles).toEqual([{ name: 'N41_E014', west: 13.999861, south: 41.000139 }, { name: 'N41_E015', west: 14.999861, south: 41.000139 }]);
    expect(found.violations).toEqual([['copernicus_tile_in_italy', 1]]);
  });
});
