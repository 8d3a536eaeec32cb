/** Tests the rounding of a sweep against the database. */
import { expect, it } from 'vitest';
import { rounded } from '../../pipelines/contract/sweep.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';

describeDatabase('numbers of a sweep', (engine) => {
  it('are rounded like decimal numbers in the database, including halves and their neighbours', async () => {
    const random = randomOf(11, 'rounding');
    const halves = Array.from({ length: 3000 }, (_, i) => (i - 1500 + 0.5) / (i % 2 === 0 ? 10 : 100));
    const values = [
      ...halves, ...halves.flatMap((value) => [value * (1 + 2e-16), value * (1 - 2e-16), value * (1 + 1e-14)]),
      0, -0, -0.04, 0.04, 1.005, 8848.86, -9999.5, 1e-300,
      ...Array.from({ length: 3000 }, () => (random.next() - 0.3) * 10 ** random.below(5)),
      // Values as they are stored in 32-bit files.
      ...Array.from({ length: 3000 }, () => Math.fround(random.below(300_000) / 64)),
    ];
    const database = await engine.openDatabase();
    for (const digits of [1, 2] as const) {
      const rows = await database.query<{ value: number }>(
        'select round(v::numeric, $2::int4)::float8 as value from unnest($1::float8[]) with ordinality as u (v, n) order by n', [values, digits],
      );
      expect(values.map((value) => rounded(value, digits))).toEqual(rows.map(({ value }) => value));
    }
  });
});
