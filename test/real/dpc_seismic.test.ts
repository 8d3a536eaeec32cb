import { describe, expect, it } from 'vitest';
import source from '../../sources/dpc_seismic/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const path = realData('seismic/classificazione2024.csv');

describe('the real seismic classification of 2024', () => {
  it.skipIf(path === null)('has 7,899 comuni in zones 1–4', async () => {
    const { recognition, collected } = await trial(source, path!);
    expect(recognition).toEqual({ role: 'comuni', vintage: '2024', region: null, complete: true });
    expect(collected!.members[0]).toMatchObject({ records: 7899, rows: 7899, rejects: [], duplicates: [] });
    const rows = collected!.rows['raw_seismic']!;
    expect(new Set(rows.map(({ istat_code }) => istat_code)).size).toBe(7899);
    const zones = [1, 2, 3, 4].map((zone) => rows.filter((row) => row['zone'] === zone).length);
    // These counts are independent of the reader. The count of zone 1 includes the label 1-2A. The count of zone 2 includes 2A, 2B and labels of several zones
    // that begin with 2, such as 2A-3A-3B. The count of zone 3 includes 3A, 3B, 3S and 3A-3B.
    expect(zones).toEqual([801, 2346, 3040, 1712]);
    expect(rows.filter(({ sigla }) => sigla === 'NA').length).toBe(92);
    expect(rows.filter(({ region_name, zone }) => region_name === 'Sardegna' && zone === 4)).toHaveLength(377);
    expect(rows.find(({ istat_code }) => istat_code === '058091')).toMatchObject({ name: 'Roma', label: '2A-3A-3B', zone: 2 });
  });
});
