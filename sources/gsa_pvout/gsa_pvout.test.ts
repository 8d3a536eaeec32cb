import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { loaded } from '../../test/harness/loaded.ts';
import { goldenOf, trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the yield of photovoltaics', () => {
  test.each(readdirSync(join(FOLDER, 'fixture')))('%s gives what its golden file says', async (name) => {
    const golden = JSON.parse(readFileSync(join(FOLDER, 'golden', name.replace(/\.[a-z0-9]+$/, '.json')), 'utf8')) as unknown;
    expect(goldenOf(await trial(source, join(FOLDER, 'fixture', name)))).toEqual(golden);
  });

  it('of the synthetic region is that of the year, not of a month', async () => {
    await synthetic.write(makeRegion({ parcels: 600, seed: 3 }), folder);
    const [name = ''] = readdirSync(folder);
    const { recognition, collected } = await trial(source, join(folder, name));
    expect(recognition).toMatchObject({ role: 'year', vintage: '2', complete: true, dated: '2019-10-23' });
    const [tile] = collected!.rows['raw_tile']!;
    expect(tile).toMatchObject({ name: 'PVOUT', epsg: 4326, no_data: null });
    expect(tile!['min_value']).toBeGreaterThan(1000);
  });
});

describeDatabase('loading the yield of photovoltaics', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it('knows its extent', async () => {
    const found = await loaded(database, 'gsa_pvout', `insert into raw_tile values
      (1, 1, 'PVOUT', 4326, 1440, 1440, 6.5, 47.5, 1.0 / 120, 1.0 / 120, null, 'float32', 1440, 1, 1000000, 700, 1700)`, async ({ session, checks }) => ({
      tiles: await session.query('select name, st_xmin(geom) as west, st_ymin(geom) as south, round(st_xmax(geom)::numeric, 9)::float8 as east, st_ymax(geom) as north from pvout_tile'),
      offences: await checks(),
    }));
    expect(found.tiles).toEqual([{ name: 'PVOUT', west: 6.5, south: 35.5, east: 18.5, north: 47.5 }]);
    expect(found.offences).toEqual([]);
  });
});
