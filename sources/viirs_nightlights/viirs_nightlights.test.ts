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

describe('light at night', () => {
  test.each(readdirSync(join(FOLDER, 'fixture')))('%s gives what its golden file says', async (name) => {
    const golden = JSON.parse(readFileSync(join(FOLDER, 'golden', name.replace(/\.[a-z0-9]+$/, '.json')), 'utf8')) as unknown;
    expect(goldenOf(await trial(source, join(FOLDER, 'fixture', name)))).toEqual(golden);
  });

  it('of the synthetic region is of two years, each in tiles of ten degrees', async () => {
    await synthetic.write(makeRegion({ parcels: 600, seed: 3 }), folder);
    const trials = await Promise.all(readdirSync(folder).sort().map((name) => trial(source, join(folder, name))));
    expect(trials.map(({ recognition }) => [recognition!.vintage, recognition!.place, recognition!.complete])).toEqual([['2022', 'h19v04', false], ['2023', 'h19v04', false]]);
    expect(trials[1]!.collected!.rows['raw_tile']![0]).toMatchObject({ epsg: 4326, width: 2400, height: 2400, west: 10, north: 50, no_data: '65535', sample_type: 'uint16' });
  });
});

describeDatabase('loading light at night', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });

  it('knows the year that the nights are of, and its tiles\' extent', async () => {
    const found = await loaded(database, 'viirs_nightlights', `
      insert into raw_tile values (1, 1, 'VNP46A4.A2023001.h19v04', 4326, 2400, 2400, 10, 50, 10.0 / 2400, 10.0 / 2400, '65535', 'uint16', 240, 240, 1000, 0, 80)`, async ({ session, checks }) => ({
      tiles: await session.query('select name, year, st_xmin(geom) as west, round(st_ymin(geom)::numeric, 9)::float8 as south from radiance_tile'),
      offences: await checks(),
    }));
    expect(found.tiles).toEqual([{ name: 'VNP46A4.A2023001.h19v04', year: 2020, west: 10, south: 40 }]);
    expect(found.offences).toEqual([]);
  });
});
