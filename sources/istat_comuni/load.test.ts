import { expect, test } from 'vitest';
import { describeLoad } from '../../test/harness/loaded.ts';

describeLoad('loading the list of comuni', 'istat_comuni', (loaded) => {
  const comune = (
    position: number,
    belfiore: string,
    code: string,
    more: Partial<{ province: string; provinceName: string; sigla: string; name: string; region: string }> = {},
  ): string =>
    `insert into raw_comune values (1, ${position}, 14, '${more.province ?? '070'}', '${more.province ?? '070'}', '${code}', '${more.name ?? 'Finto'}', null, '${more.region ?? 'Molise'}',
      '${more.provinceName ?? 'Campobasso'}', 1, false, '${more.sigla ?? 'CB'}', null, '${code}', '${code}', '${code}', '${belfiore}');`;

  test('counts a repeated row as a duplicate, and passes all checks with a valid list', async () => {
    await loaded([comune(4, 'Z001', '070901'), comune(5, 'Z002', '070902'), comune(6, 'Z001', '070901')].join('\n'), async ({ session, checks }) => {
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
  ])('reports a violation of the check %s (%s)', async (name, level, inserts) => {
    await loaded(inserts.join('\n'), async ({ checks }) => {
      expect((await checks()).map((violation) => [violation.name, violation.level, violation.rows])).toEqual([[name, level, 1]]);
    });
  });
});
