import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { goldenOf, trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mappale-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the list of comuni', () => {
  test.each(readdirSync(join(FOLDER, 'fixture')))('%s gives what its golden file says', async (name) => {
    const golden = JSON.parse(readFileSync(join(FOLDER, 'golden', name.replace(/\.(?:csv|xlsx)$/, '.json')), 'utf8')) as unknown;
    expect(goldenOf(await trial(source, join(FOLDER, 'fixture', name)))).toEqual(golden);
  });

  test('a file of another kind is not taken', async () => {
    const path = join(folder, 'other.csv');
    await writeFile(path, 'Codice Comune;Denominazione\r\n070901;Forlì Finto\r\n');
    expect(await trial(source, path)).toEqual({ recognition: null, collected: null, error: null });
  });

  test('the synthetic region comes back with its accents, apostrophes and second names', async () => {
    const region = makeRegion({ parcels: 20_000, seed: 1 });
    await synthetic.write(region, folder);
    const { recognition, collected } = await trial(source, join(folder, 'Elenco-comuni-italiani.csv'));
    expect(recognition).toEqual({ role: 'elenco', vintage: '2026', region: null, complete: true });
    expect(collected!.members[0]!.rejects).toEqual([]);
    expect(collected!.rows['raw_comune']!.map(({ belfiore, istat_code, name, name_other, province_code, sigla, region_code }) => ({ belfiore, istat_code, name, name_other, province_code, sigla, region_code })))
      .toEqual(region.comuni.map((comune) => ({
        belfiore: comune.belfiore, istat_code: comune.istatCode, name: comune.italianName, name_other: comune.otherName, province_code: comune.province.code,
        sigla: comune.province.sigla, region_code: 14,
      })));
  });

  test('the truth of a parcel names its comune', () => {
    const region = makeRegion({ parcels: 2000, seed: 1 });
    const truth = synthetic.truth!(region);
    const [parcel] = region.parcels(region.comuni[2]);
    expect(truth(parcel!)).toEqual({ municipality: { code: 'Z003', name: 'Borgo Finto', province: 'Campobasso', region: 'Molise' } });
  });
});
