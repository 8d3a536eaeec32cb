import { expect, test } from 'vitest';
import { describeLoad } from '../../test/harness/loaded.ts';

describeLoad('loading suppressed comuni', 'istat_soppressi', (loaded) => {
  test('keeps divisions, counts repeated rows as duplicates, and reports a comune that is its own successor and a division that is not marked', async () => {
    const event = (position: number, code: string, into: string | null, divided: boolean): string =>
      `insert into raw_suppressed values (1, ${position}, '${code}', 'Finto', '070', 'CB', ${divided}, '1928-04-15', ${into === null ? 'null' : `'${into}'`}, 'Altrove');`;
    await loaded([event(2, '070981', '070901', true), event(3, '070981', '070902', true), event(4, '070982', null, false), event(5, '070982', null, false), event(6, '070983', '070983', false), event(7, '070984', '070901', false), event(8, '070984', '070902', false)].join('\n'), async ({ session, checks }) => {
      expect((await session.query<{ position: number }>('select position::int4 as position from comune_suppressed order by position')).map(({ position }) => position)).toEqual([2, 3, 4, 6, 7, 8]);
      expect(await session.query('select position::int4 as position, code from duplicate')).toEqual([{ position: 5, code: 'event_repeated' }]);
      expect((await checks()).map((violation) => [violation.name, violation.level, violation.rows])).toEqual([['not_its_own_successor', 'error', 1], ['division_said', 'warn', 1]]);
    });
  });
});
