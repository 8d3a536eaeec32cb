/** load.sql and checks.sql of the sources that are lists of comuni, on both engines. */
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { describeDatabase } from '../harness/database.ts';
import { loaded } from '../harness/loaded.ts';

describeDatabase('lists of comuni become layers', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
  });
  const comune = (position: number, belfiore: string, code: string, more: Partial<{ province: string; provinceName: string; sigla: string; name: string; region: string }> = {}): string =>
    `insert into raw_comune values (1, ${position}, 14, '${more.province ?? '070'}', '${more.province ?? '070'}', '${code}', '${more.name ?? 'Finto'}', null, '${more.region ?? 'Molise'}',
      '${more.provinceName ?? 'Campobasso'}', 1, false, '${more.sigla ?? 'CB'}', null, '${code}', '${code}', '${code}', '${belfiore}');`;

  test('the list of comuni: a repeated row is told apart, a good list offends no check', async () => {
    await loaded(database, 'istat_comuni', [comune(4, 'Z001', '070901'), comune(5, 'Z002', '070902'), comune(6, 'Z001', '070901')].join('\n'), async ({ session, checks }) => {
      expect(await session.query('select release_id, position::int4 as position, belfiore, istat_code, region_code::int4 as region_code, region_name, code_107_2017 from comune_code order by position')).toEqual([
        { release_id: 1, position: 4, belfiore: 'Z001', istat_code: '070901', region_code: 14, region_name: 'Molise', code_107_2017: null },
        { release_id: 1, position: 5, belfiore: 'Z002', istat_code: '070902', region_code: 14, region_name: 'Molise', code_107_2017: null },
      ]);
      expect(await session.query('select member_id, position::int4 as position, code from duplicate')).toEqual([{ member_id: 1, position: 6, code: 'comune_repeated' }]);
      expect(await checks()).toEqual([]);
    });
  });

  test.each([
    ['belfiore_unique', 'error', [comune(4, 'Z001', '070901'), comune(5, 'Z001', '070902')]],
    ['istat_code_unique', 'error', [comune(4, 'Z001', '070901'), comune(5, 'Z002', '070901')]],
    ['istat_code_in_its_province', 'error', [comune(4, 'Z001', '094901')]],
    ['province_consistent', 'error', [comune(4, 'Z001', '070901'), comune(5, 'Z002', '070902', { sigla: 'IS' })]],
    ['region_consistent', 'error', [comune(4, 'Z001', '070901'), comune(5, 'Z002', '070902', { region: 'Molisse' })]],
    ['letters_lost', 'warn', [comune(4, 'Z001', '070901', { name: 'Neznam?' })]],
  ])('the list of comuni: %s (%s) tells when it is broken', async (name, level, inserts) => {
    await loaded(database, 'istat_comuni', inserts.join('\n'), async ({ checks }) => {
      expect((await checks()).map((offence) => [offence.name, offence.level, offence.rows])).toEqual([[name, level, 1]]);
    });
  });

  test('suppressed comuni: divisions stay, repetitions do not, nobody succeeds himself', async () => {
    const event = (position: number, code: string, into: string | null, divided: boolean): string =>
      `insert into raw_suppressed values (1, ${position}, '${code}', 'Finto', '070', 'CB', ${divided}, '1928-04-15', ${into === null ? 'null' : `'${into}'`}, 'Altrove');`;
    await loaded(database, 'istat_soppressi', [event(2, '070981', '070901', true), event(3, '070981', '070902', true), event(4, '070982', null, false), event(5, '070982', null, false), event(6, '070983', '070983', false), event(7, '070984', '070901', false), event(8, '070984', '070902', false)].join('\n'), async ({ session, checks }) => {
      expect((await session.query<{ position: number }>('select position::int4 as position from comune_suppressed order by position')).map(({ position }) => position)).toEqual([2, 3, 4, 6, 7, 8]);
      expect(await session.query('select position::int4 as position, code from duplicate')).toEqual([{ position: 5, code: 'event_repeated' }]);
      expect((await checks()).map((offence) => [offence.name, offence.level, offence.rows])).toEqual([['not_its_own_successor', 'error', 1], ['division_said', 'warn', 1]]);
    });
  });

  test('seismic zones: a repeated row is told apart, a contradicting one is an error', async () => {
    const zone = (position: number, code: string, label: string, digit: number): string => `insert into raw_seismic values (1, ${position}, 'Molise', 'CB', 'Finto', '${code}', '${label}', ${digit});`;
    await loaded(database, 'dpc_seismic', [zone(2, '070901', '2A-3A', 2), zone(3, '070901', '2A-3A', 2), zone(4, '070902', '1-2A', 1), zone(5, '070903', '3S', 3)].join('\n'), async ({ session, checks }) => {
      expect(await session.query('select position::int4 as position, istat_code, label, zone::int4 as zone from seismic_zone order by position')).toEqual([
        { position: 2, istat_code: '070901', label: '2A-3A', zone: 2 }, { position: 4, istat_code: '070902', label: '1-2A', zone: 1 }, { position: 5, istat_code: '070903', label: '3S', zone: 3 },
      ]);
      expect(await session.query('select position::int4 as position, code from duplicate')).toEqual([{ position: 3, code: 'comune_repeated' }]);
      expect(await checks()).toEqual([]);
    });
    await loaded(database, 'dpc_seismic', [zone(2, '070901', '2', 2), zone(3, '070901', '3', 3), zone(4, '070902', '1-2A', 2), zone(5, '070903', '3', 4)].join('\n'), async ({ checks }) => {
      expect((await checks()).map((offence) => [offence.name, offence.level, offence.rows])).toEqual([['one_zone_per_comune', 'error', 1], ['zone_is_in_its_label', 'error', 2]]);
    });
  });
});
