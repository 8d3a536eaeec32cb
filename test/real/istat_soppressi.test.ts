import { describe, expect, it } from 'vitest';
import source from '../../sources/istat_soppressi/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const path = realData('istat-admin/codes/istat_comuni-soppressi.csv');

describe('the real list of suppressed comuni', () => {
  it.skipIf(path === null)('has 2,634 events since 1861, including 333 of divided comuni and 107 abroad', async () => {
    const { recognition, collected } = await trial(source, path!);
    expect(recognition).toEqual({ role: 'soppressi', vintage: '2024-01-22', region: null, complete: true });
    expect(collected!.members[0]).toMatchObject({ records: 2634, rows: 2634, rejects: [], duplicates: [] });
    const rows = collected!.rows['raw_suppressed']!;
    expect(rows.filter(({ divided }) => divided === true)).toHaveLength(333);
    expect(rows.filter(({ successor_istat_code }) => successor_istat_code === null)).toHaveLength(107);
    expect(rows[0]).toMatchObject({ istat_code: '024044', event_date: '2024-01-22', successor_istat_code: '024128' });
  });
});
