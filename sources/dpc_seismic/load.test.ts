import { expect, test } from 'vitest';
import { describeLoad } from '../../test/harness/loaded.ts';

describeLoad('loading seismic zones', 'dpc_seismic', (loaded) => {
  test('counts a repeated row as a duplicate, and reports contradicting rows and zones that contradict their labels as errors', async () => {
    const zone = (position: number, code: string, label: string, digit: number): string => `insert into raw_seismic values (1, ${position}, 'Molise', 'CB', 'Finto', '${code}', '${label}', ${digit});`;
    await loaded([zone(2, '070901', '2A-3A', 2), zone(3, '070901', '2A-3A', 2), zone(4, '070902', '1-2A', 1), zone(5, '070903', '3S', 3)].join('\n'), async ({ session, checks }) => {
      expect(await session.query('select position::int4 as position, istat_code, label, zone::int4 as zone from seismic_zone order by position')).toEqual([
        { position: 2, istat_code: '070901', label: '2A-3A', zone: 2 }, { position: 4, istat_code: '070902', label: '1-2A', zone: 1 }, { position: 5, istat_code: '070903', label: '3S', zone: 3 },
      ]);
      expect(await session.query('select position::int4 as position, code from duplicate')).toEqual([{ position: 3, code: 'comune_repeated' }]);
      expect(await checks()).toEqual([]);
    });
    await loaded([zone(2, '070901', '2', 2), zone(3, '070901', '3', 3), zone(4, '070902', '1-2A', 2), zone(5, '070903', '3', 4)].join('\n'), async ({ checks }) => {
      expect((await checks()).map((violation) => [violation.name, violation.level, violation.rows])).toEqual([['one_zone_per_comune', 'error', 1], ['zone_is_in_its_label', 'error', 2]]);
    });
  });
});
