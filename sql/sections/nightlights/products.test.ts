/** Tests which product a region's night lights come from, with an independent implementation of the rule. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { testEnvironment } from '../../../test/harness/environment.ts';

interface Tile {
  readonly product: string | null;
  readonly collection: number | null;
  readonly year: number;
  readonly regions: readonly number[] | null;
}

const REGION = 14;
const PRODUCTS = ['VNP46A4', 'VJ146A4', 'VNL'];

/**
 * Returns the product of the tile with the highest priority. A tile that intersects the region has priority, then the newest year, then the later collection.
 * For equal collections, VNP46A4 has priority over VNL, and VNL over VJ146A4.
 */
function productOf(tiles: readonly Tile[]): string {
  const key = ({ product, collection, year, regions }: Tile): number => {
    const reaches = regions === null || regions.includes(REGION) ? 1 : 0;
    const rank = { VNP46A4: 2, VNL: 1, VJ146A4: 0 }[product ?? 'VNP46A4'] ?? 0;
    return reaches * 1e6 + year * 100 + (collection ?? 1) * 10 + rank;
  };
  return [...tiles].sort((a, b) => key(b) - key(a))[0]!.product ?? 'VNP46A4';
}

describeDatabase('the rasters of night lights of a region', (engine) => {
  const seed = testEnvironment().seed;

  it(`come from a single product, the product of the tile with the highest priority (seed ${seed})`, async () => {
    const database = await engine.openDatabase();
    const random = randomOf('night light products', seed);
    const sql = readFileSync(new URL('../../core/raster_tile.sql', import.meta.url), 'utf8');
    for (let turn = 0; turn < 40; turn += 1) {
      const tiles = Array.from({ length: 1 + random.below(6) }, (): Tile => (random.below(8) === 0
        ? { product: null, collection: null, year: 2023 + random.below(3), regions: null }
        : {
            product: random.pick(PRODUCTS), collection: random.below(3), year: 2023 + random.below(3),
            regions: random.pick([[REGION], [3, REGION], [3, 9]]),
          }));
      const chosen = await database.session(async (session) => {
        await session.script(`drop schema if exists made_products cascade; create schema made_products; set search_path = made_products, public;
          create table region as select ${REGION}::int2 as code;
          create table tinitaly_tile (name text, release_id int4, member_id int4, position int8, geom geometry(polygon, 4326));
          create table pvout_tile (like tinitaly_tile);
          create table radiance_tile (like tinitaly_tile, year int4, product text, collection int4, regions int2[]);
          alter table tinitaly_tile add elevation_of text;
          create table copernicus_tile (like tinitaly_tile);`, 'made workspace');
        for (const [index, { product, collection, year, regions }] of tiles.entries()) {
          await session.query('insert into radiance_tile values ($1, 1, $2, 1, null, $3, $4, $5, $6::int2[])', [`tile ${index}`, index, year, product, collection, regions === null ? null : `{${regions.join()}}`]);
        }
        await session.script(sql, 'sql/core/raster_tile.sql');
        return session.query<{ member_id: number }>("select member_id from raster_tile where section = 'nightlights' order by member_id");
      });
      const product = productOf(tiles);
      const expected = tiles.flatMap((tile, index) => ((tile.product ?? 'VNP46A4') === product ? [index] : []));
      expect(chosen.map(({ member_id }) => member_id), JSON.stringify(tiles)).toEqual(expected);
    }
  });
});
