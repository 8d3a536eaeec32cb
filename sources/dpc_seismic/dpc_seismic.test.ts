import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { formerIstatCode, mergedComuni } from '../../pipelines/synthetic/former-codes.ts';
import { mostSevere } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const folder = temporaryFolder();

describe('the seismic classification', () => {
  test.each([['3', 3], ['2A-2B', 2], ['2A-3A-3B', 2], ['1-2A', 1], ['12A', 1], ['3-4', 3], ['4', 4]])('maps the label %s to the most severe zone %d', (label, zone) => {
    expect(mostSevere(label)).toBe(zone);
  });

  test('gives the expected zones of the synthetic region', async () => {
    const region = makeRegion({ parcels: 30_000, seed: 2 });
    await synthetic.write(region, folder);
    const { recognition, collected } = await trial(source, join(folder, 'classificazione-sismica-aggiornata-maggio-2025.csv'));
    expect(recognition).toEqual({ role: 'comuni', vintage: '2025', region: null, complete: true });
    const rows = new Map(collected!.rows['raw_seismic']!.map((row) => [row['istat_code'], row]));
    // One comune is listed as its two former comuni, and one row is repeated.
    expect(rows.size).toBe(region.comuni.length + 1);
    expect(collected!.rows['raw_seismic']).toHaveLength(region.comuni.length + 2);
    const truth = synthetic.truth!(region);
    for (const comune of region.comuni) {
      const [parcel] = region.parcels(comune);
      const codes = mergedComuni(comune).length > 0 ? mergedComuni(comune).map(({ istatCode }) => istatCode) : [formerIstatCode(comune) ?? comune.istatCode];
      const stated = codes.map((code) => rows.get(code)!).sort((a, b) => Number(a['zone']) - Number(b['zone']));
      const [row] = stated;
      const exact = !String(row!['label']).includes('-') && new Set(stated.map((each) => each['zone'])).size === 1;
      expect(truth(parcel!)).toEqual({ risk: { seismic_zone: row!['zone'], seismic_zone_label: row!['label'], seismic_zone_exact: exact } });
    }
  });
});
