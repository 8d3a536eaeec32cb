import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('the list of suppressed comuni', () => {
  test.each([['29/02/2024', '2024-02-29'], ['29/02/2023', null], ['00/01/2023', null], ['1/1/2023', null], ['2023-01-01', null], ['', null]])('converts the day %j to %j', (text, iso) => {
    expect(isoDate(text)).toBe(iso);
  });

  test('contains mergers (one in two steps), a division and a cession for the synthetic region', async () => {
    await synthetic.write(makeRegion({ parcels: 2000, seed: 1 }), folder);
    const { recognition, collected } = await trial(source, join(folder, 'comuni-soppressi.csv'));
    expect(recognition).toEqual({ role: 'soppressi', vintage: '2020-01-01', region: null, complete: true });
    expect(collected!.rows['raw_suppressed']!.map(({ istat_code, divided, successor_istat_code }) => [istat_code, divided, successor_istat_code])).toEqual([
      ['070196', false, '070902'], ['070197', false, '070902'], ['070195', false, '070196'], ['094191', false, '094901'], ['094192', true, '094901'], ['094192', true, '070901'], ['094193', false, null],
    ]);
  });
});
