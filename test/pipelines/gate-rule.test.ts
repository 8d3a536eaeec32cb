/** Tests the limits of the quality gate exactly at each limit, and on random tables against a model without SQL. */
import { expect, it, describe } from 'vitest';
import { compareValues, measure, type Figures } from '../../pipelines/db/figures.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import type { TableGate } from '../../pipelines/contract/gate.ts';
import { GATES } from '../../pipelines/contract/gates.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { compare, type Comparison, type Violation } from '../../pipelines/build/gate-rule.ts';
import { describeDatabase } from '../harness/database.ts';

/** Maps comuni to provinces. No other comune is in the list of comuni. */
const PROVINCES: Readonly<Record<string, string>> = { A001: '001', A002: '001', A003: '001', B001: '002', B002: '002', B003: '002', B004: '002' };
const provinceOf = (comune: string): string => PROVINCES[comune] ?? '';

/** A row of a tested table. Omitted values are null, except `slice` (0) and `flag` (false). */
interface Line {
  readonly comune: string;
  readonly slice?: number;
  readonly x?: number | null;
  readonly n?: number | null;
  readonly part?: number;
  readonly whole?: number;
  readonly label?: string | null;
  readonly flag?: boolean;
  readonly sure?: boolean;
}

const GATE: TableGate = {
  section: 'test', by: 'belfiore', slice: { column: 'slice' },
  fields: {
    x: { kind: 'quantity', within: [-1000, 10_000], typical: [-500, 5000] },
    n: { kind: 'quantity', moves: { by: 0.5, step: 4, why: 'this test has a field with its own limits' } },
    x_per_n: { kind: 'quantity', of: ['x', 'n'] },
    label: { kind: 'presence', keeps: { share: 0.5, why: 'this test has rare values' }, gains: { share: 0.5, why: 'this test has values everywhere' } },
    flag: { kind: 'truth' },
    sure: { kind: 'truth', keeps: { share: 1, why: 'this test has values that must not be lost' } },
  },
  excused: {},
  identities: [{ parts: ['part', 'n'], is: '=', whole: 'whole', most: 0.01 }, { parts: ['part'], is: '<=', whole: 'whole', most: 0.01 }],
};

/** Returns `count` lines, which are equal or come from a function of the index. */
function lines(count: number, of: Line | ((index: number) => Line)): Line[] {
  return Array.from({ length: count }, (_, index) => (typeof of === 'function' ? of(index) : of));
}

// --- the model: the rule of the contract, over rows in memory --------------------------------------------

const quotient = ({ x = null, n = null }: Line): number | null => (x === null || n === null || n === 0 ? null : x / n);
const QUANTITIES: Readonly<Record<string, (line: Line) => number | null>> = { x: ({ x = null }) => x, n: ({ n = null }) => n, x_per_n: quotient };
const FILLED: Readonly<Record<string, (line: Line) => boolean>> = {
  x: ({ x = null }) => x !== null,
  n: ({ n = null }) => n !== null,
  x_per_n: (line) => quotient(line) !== null,
  label: ({ label = null }) => label !== null,
  flag: ({ flag }) => flag === true,
  sure: ({ sure }) => sure === true,
};

/** Returns the smallest value that at least this share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** Returns how many values of `a` are missing in `b`. A value that is missing several times is counted each time. */
function without(a: readonly number[], b: readonly number[]): number {
  const left = [...b];
  return a.filter((value) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  }).length;
}

/** Returns whether a quantile changed only because of a few changed values, or by chance, according to the rule of the contract. */
function isExplained(a: readonly number[], b: readonly number[], share: number): boolean {
  const changed = Math.max(without(a, b), without(b, a));
  const [from, to] = [quantile(a, share), quantile(b, share)];
  const shareOf = (values: readonly number[], isBeyond: (value: number) => boolean): number => values.filter(isBeyond).length / values.length;
  const sharesOf = (isBeyond: (value: number) => boolean): readonly [number, number] => [shareOf(a, isBeyond), shareOf(b, isBeyond)];
  const [was, now] = sharesOf(to > from ? (value) => value > from : (value) => value < from);
  const crossed = (now - was) * b.length;
  const most = Math.max(a.length, b.length);
  if (a.length < 50 || b.length < 50) return 2 * changed < most || (crossed < 2 - 1e-9 && changed < most);
  return changed < 5 || 20 * changed < most || crossed * crossed <= 32 * changed * share * (1 - share);
}

const short = ({ place, figure }: Pick<Violation, 'place' | 'figure'>): string => `${place}: ${figure}`;

function model(before: readonly Line[], after: readonly Line[]): string[] {
  const found: string[] = [];
  const sliceOf = ({ slice = 0 }: Line): number => slice;
  for (const slice of new Set([...before, ...after].map(sliceOf))) {
    const [was, now] = [before, after].map((side) => side.filter((line) => sliceOf(line) === slice)) as [Line[], Line[]];
    const comuni = (side: readonly Line[]): Set<string> => new Set(side.map(({ comune }) => comune));
    const both = (a: readonly Line[], b: readonly Line[]): ((line: Line) => boolean) => ({ comune }) => comuni(a).has(comune) && comuni(b).has(comune);
    const look = (place: string, a: readonly Line[], b: readonly Line[]): void => {
      const say = (figure: string): void => void found.push(`${place}, ${slice}: ${figure}`);
      const lost = a.length - b.length;
      if (lost > 0 && lost * 10 >= a.length && (lost > 1 || b.length === 0)) say('rows');
      const [sharedA, sharedB] = [a.filter(both(a, b)), b.filter(both(a, b))];
      for (const [name, has] of Object.entries(FILLED)) {
        if (sharedA.length === 0 || sharedB.length === 0) continue;
        const [filledA, filledB] = [sharedA.filter(has).length, sharedB.filter(has).length];
        // Checks with whole numbers whether the share fell by at least 0.2.
        const isLess = 5 * (filledA * sharedB.length - filledB * sharedA.length) >= sharedA.length * sharedB.length;
        const isMany = filledA * sharedB.length - filledB * sharedA.length >= 2 * sharedA.length || filledB === 0;
        if (isLess && isMany) say(`${name}, share of ${name === 'flag' || name === 'sure' ? 'true' : 'non-null'}`);
        else if (name === 'label' && filledA >= 20 && filledB * 2 < filledA) say('label, values');
        else if (name === 'sure' && filledB < filledA) say('sure, rows that are true');
        if (name === 'label' && place.startsWith('province') && filledA > 0 && 2 * (filledB * sharedA.length - filledA * sharedB.length) >= sharedA.length * sharedB.length) say('label, share of non-null');
      }
      for (const [name, value] of Object.entries(QUANTITIES)) {
        const [withA, withB] = [a.filter(FILLED[name]!), b.filter(FILLED[name]!)];
        const [valuesA, valuesB] = [withA.filter(both(withA, withB)).map(value), withB.filter(both(withA, withB)).map(value)] as [number[], number[]];
        if (valuesA.length === 0 || valuesB.length > 2 * valuesA.length) continue;
        for (const [figure, share] of [['median', 0.5], ['95th percentile', 0.95]] as const) {
          const [x, y] = [quantile(valuesA, share), quantile(valuesB, share)];
          const far = Math.abs(y - x);
          const isFar = name === 'n' ? far >= 4 && far >= 0.5 * Math.abs(x) : far >= 0.25 * Math.abs(x) * (1 - 1e-9);
          if (far > 0 && isFar && !isExplained(valuesA, valuesB, share)) say(`${name}, ${figure}`);
        }
      }
    };
    for (const province of new Set([...was, ...now].map(({ comune }) => provinceOf(comune)))) {
      const [a, b] = [was, now].map((side) => side.filter(({ comune }) => provinceOf(comune) === province)) as [Line[], Line[]];
      const say = (figure: string): void => void found.push(`province ${province}, ${slice}: ${figure}`);
      const outside = (side: readonly Line[]): number => side.filter(({ x = null }) => x !== null && (x < -1000 || x > 10_000)).length;
      if (outside(b) > outside(a)) say('x, values outside -1000 … 10000');
      for (const [name, knows, breaks] of [
        ['part + n = whole', ({ part, n = null, whole }: Line) => part !== undefined && n !== null && whole !== undefined, ({ part, n, whole }: Line) => part! + n! !== whole],
        ['part <= whole', ({ part, whole }: Line) => part !== undefined && whole !== undefined, ({ part, whole }: Line) => part! > whole!],
      ] as const) {
        const known = (side: readonly Line[]): Line[] => side.filter(knows);
        const share = (side: readonly Line[]): number => (known(side).length === 0 ? 0 : known(side).filter(breaks).length / known(side).length);
        const broken = known(b).filter(breaks).length;
        if (broken > 0 && (broken > 1 || known(b).length === 1) && share(b) > 0.01 + 1e-9 && share(b) > share(a) + 1e-9) {
          say(`rows that violate ${name}, share`);
        }
      }
      const median = (side: readonly Line[]): number | null => {
        const values = side.flatMap(({ x = null }) => (x === null ? [] : [x]));
        return values.length === 0 ? null : quantile(values, 0.5);
      };
      const isUsual = (value: number): boolean => value >= -500 && value <= 5000;
      const [x, y] = [median(a), median(b)];
      if (y !== null && !isUsual(y) && (x === null || isUsual(x))) say('x, median beyond');
      if (a.length === 0) continue;
      look(`province ${province}`, a, b);
      for (const comune of comuni(a)) {
        const [own, other] = [a, b].map((side) => side.filter((line) => line.comune === comune)) as [Line[], Line[]];
        if (own.length >= 200) look(comune, own, other);
      }
    }
  }
  return found.sort();
}

/** Returns the refusals in the notation of the model. */
function sentences(violations: readonly Violation[]): string[] {
  return violations.map((violation) => (violation.limit === '-500 … 5000' ? `${short(violation)} beyond` : short(violation))).sort();
}

// --- tables ------------------------------------------------------------------------------------------------------

async function tables(database: Database): Promise<{ fill(before: readonly Line[], after: readonly Line[]): Promise<Comparison> }> {
  await migrate(database, await loadSources());
  await database.query(
    `insert into core.comune (belfiore, istat_code, name, province_code, province_name, region_code)
     select c, '0', 'Comune ' || c, p, 'Provincia ' || p, 1 from unnest($1::text[], $2::text[]) as x (c, p)`, [Object.keys(PROVINCES), Object.values(PROVINCES)],
  );
  for (const name of ['was', 'now']) await database.query(`create table public.${name} (belfiore text, slice int2, x float8, n int4, part int4, whole int4, label text, flag bool, sure bool)`);
  const write = async (name: string, side: readonly Line[]): Promise<void> => {
    await database.query(`truncate public.${name}`);
    await database.query(
      `insert into public.${name} select * from jsonb_to_recordset($1::jsonb) as t (belfiore text, slice int2, x float8, n int4, part int4, whole int4, label text, flag bool, sure bool)`,
      [JSON.stringify(side.map(({ comune, slice = 0, flag = false, ...rest }) => ({ belfiore: comune, slice, flag, ...rest })))],
    );
  };
  const of = (table: string, only: readonly string[] | null = null): Promise<Figures[]> => measure(database, GATE, { table: { schema: 'public', table }, parcels: null }, { only });
  return {
    async fill(before, after) {
      await write('was', before);
      await write('now', after);
      return {
        relation: 'core.test', gate: GATE, before: await of('was'), after: await of('now'), provinceOf,
        nameOf: (province, comune) => comune ?? `province ${province}`, among: async (comuni) => ({ before: await of('was', comuni), after: await of('now', comuni) }),
        changes: (field, only) => compareValues(database, GATE, field, { before: { table: { schema: 'public', table: 'was' }, parcels: null }, after: { table: { schema: 'public', table: 'now' }, parcels: null } }, only),
      };
    },
  };
}

describe('the rule of the quality gate for a table without places', () => {
  const gate: TableGate = { section: 'test', by: 'whole', fields: { x: { kind: 'presence' } }, excused: {} };
  /** Returns the statistics of a table without places, as `measure` returns them. */
  const figures = (rows: number, values: number): Figures[] => ['*', ''].map((comune) => (
    { slice: '', province: '', comune, rows, fields: { x: { values, median: null, p95: null, outside: 0 } }, identities: {}, windows: null }
  ));

  it('reports each refused statistic once, and names the whole table as the place', async () => {
    const refused = async (before: readonly Figures[], after: readonly Figures[]): Promise<string[]> => sentences(await compare({
      relation: 'core.test', gate, before, after, provinceOf: () => '', nameOf: (province, comune) => comune ?? `province ${province}`,
      among: () => Promise.reject(new Error('a table without places has no comuni')), changes: async () => [],
    }));
    expect(await refused(figures(300, 300), figures(200, 200))).toEqual(['*: rows']);
    expect(await refused(figures(300, 300), figures(300, 100))).toEqual(['*: x, share of non-null']);
    expect(await refused(figures(300, 300), [])).toEqual(['*: rows']);
    expect(await refused(figures(9, 9), figures(5, 5))).toEqual(['*: rows']);
    expect(await refused(figures(300, 300), figures(300, 300))).toEqual([]);
  });
});

describeDatabase('the rule of the quality gate', (engine) => {
  let ready: ReturnType<typeof tables> | undefined;
  const refused = async (before: readonly Line[], after: readonly Line[]): Promise<string[]> => {
    const { fill } = await (ready ??= engine.openDatabase().then(tables));
    const found = sentences(await compare(await fill(before, after)));
    expect(found).toEqual(model(before, after));
    return found;
  };

  it('refuses 10 % fewer rows in a province, and in a comune of at least 200 rows', async () => {
    const all = (a: number, b: number): Line[] => [...lines(a, { comune: 'A001' }), ...lines(b, { comune: 'A002' })];
    expect(await refused(all(500, 500), all(450, 451))).toEqual(['A001, 0: rows']);
    expect(await refused(all(500, 500), all(451, 451))).toEqual([]);
    expect(await refused(all(500, 500), all(450, 450))).toEqual(['A001, 0: rows', 'A002, 0: rows', 'province 001, 0: rows']);
    // Comuni with fewer than 200 rows are only counted in their province.
    expect(await refused(all(5000, 199), all(5000, 50))).toEqual([]);
    expect(await refused(all(5000, 200), all(5000, 180))).toEqual(['A002, 0: rows']);
    expect(await refused(all(5000, 200), all(5000, 0))).toEqual(['A002, 0: rows']);
  });

  it('ignores the loss of a single row, but not the loss of the last row', async () => {
    expect(await refused(lines(3, { comune: 'A001' }), lines(2, { comune: 'A001' }))).toEqual([]);
    expect(await refused(lines(3, { comune: 'A001' }), lines(1, { comune: 'A001' }))).toEqual(['province 001, 0: rows']);
    expect(await refused(lines(1, { comune: 'A001' }), [])).toEqual(['province 001, 0: rows']);
  });

  it('refuses a table that is empty because its source was forgotten', async () => {
    const was = [...lines(300, { comune: 'A001', x: 1 }), ...lines(10, { comune: 'B001', x: 1 }), ...lines(2, { comune: 'Z999', x: 1 })];
    expect(await refused(was, [])).toEqual(['A001, 0: rows', 'province , 0: rows', 'province 001, 0: rows', 'province 002, 0: rows']);
  });

  it('accepts new rows, new comuni and new slices', async () => {
    const was = lines(300, (index) => ({ comune: 'A001', x: index, label: 'a', flag: true }));
    expect(await refused(was, [...was, ...lines(900, { comune: 'A002', x: 4000 }), ...lines(400, { comune: 'B001', x: -300 }), ...lines(300, { comune: 'A001', slice: 1, x: 5 })])).toEqual([]);
    expect(await refused([], was)).toEqual([]);
    // If more than half of the values are new, quantiles are not compared.
    expect(await refused(lines(300, (index) => ({ comune: 'A001', x: index < 20 ? 1 : null })), lines(300, (index) => ({ comune: 'A001', x: index < 41 ? 9 : null })))).toEqual([]);
    expect(await refused(lines(300, (index) => ({ comune: 'A001', x: index < 20 ? 1 : null })), lines(300, (index) => ({ comune: 'A001', x: index < 40 ? 9 : null })))).toHaveLength(4);
  });

  it('refuses a loss of 0.2 in the shares of non-null and true values', async () => {
    const half = (count: number): Line[] => lines(1000, (index) => ({ comune: 'A001', x: index < count ? 7 : null, flag: index < count }));
    expect(await refused(half(1000), half(801))).toEqual([]);
    expect(await refused(half(1000), half(800))).toEqual(['A001, 0: flag, share of true', 'A001, 0: x, share of non-null', 'province 001, 0: flag, share of true', 'province 001, 0: x, share of non-null']);
    expect(await refused(half(250), half(51))).toEqual([]);
    expect(await refused(half(250), half(50))).toHaveLength(4);
    expect(await refused(half(50), half(1000))).toEqual([]);
    // New rows in other comuni do not affect existing comuni.
    expect(await refused(half(1000), [...half(1000), ...lines(3000, { comune: 'A002' })])).toEqual([]);
  });

  it('refuses the loss of more than half of at least 20 rare values if the field has such a limit', async () => {
    const rare = (count: number): Line[] => lines(1000, (index) => ({ comune: 'A001', label: index < count ? 'P3' : null }));
    expect(await refused(rare(40), rare(20))).toEqual([]);
    expect(await refused(rare(40), rare(19))).toEqual(['A001, 0: label, values', 'province 001, 0: label, values']);
    expect(await refused(rare(19), rare(0))).toEqual([]);
  });

  it('refuses any loss of values that must be kept', async () => {
    const reached = (count: number): Line[] => lines(10, (index) => ({ comune: `A00${index}`, sure: index < count }));
    expect(await refused(reached(6), reached(5))).toEqual(['province , 0: sure, rows that are true']);
    expect(await refused(reached(5), reached(6))).toEqual([]);
    // The rows of a comune that no longer exists are not counted as a loss.
    expect(await refused(reached(6), reached(6).slice(1))).toEqual([]);
  });

  it('refuses a change of the median or 95th percentile by a quarter, up or down', async () => {
    const at = (median: number, high = 200): Line[] => lines(101, (index) => ({ comune: 'A001', x: index < 60 ? median : high }));
    expect(await refused(at(100), at(124.9))).toEqual([]);
    expect(await refused(at(100), at(125))).toEqual(['province 001, 0: x, median']);
    expect(await refused(at(100), at(75.1))).toEqual([]);
    expect(await refused(at(100), at(75))).toEqual(['province 001, 0: x, median']);
    expect(await refused(at(100), at(100, 249))).toEqual([]);
    expect(await refused(at(100), at(100, 250))).toEqual(['province 001, 0: x, 95th percentile']);
    expect(await refused(at(-100), at(-125))).toEqual(['province 001, 0: x, median']);
    expect(await refused(at(0), at(0.01))).toEqual(['province 001, 0: x, median']);
  });

  it('applies the limits that a field defines, and checks derived fields', async () => {
    const at = (n: number, x: number | null = null): Line[] => lines(50, { comune: 'A001', n, x });
    expect(await refused(at(4), at(7))).toEqual([]);
    expect(await refused(at(4), at(8))).toEqual(['province 001, 0: n, 95th percentile', 'province 001, 0: n, median']);
    expect(await refused(at(100), at(149))).toEqual([]);
    expect(await refused(at(100), at(150))).toHaveLength(2);
    expect(await refused(at(4, 400), at(5, 490))).toEqual([]);
    expect(await refused(at(4, 400), at(6, 420))).toEqual(['province 001, 0: x_per_n, 95th percentile', 'province 001, 0: x_per_n, median']);
  });

  it('compares the values of a province over the comuni that both versions have', async () => {
    const town = lines(100, { comune: 'A001', x: 10 });
    const land = lines(900, { comune: 'A002', x: 1000 });
    // The town is unchanged and new land is added, so no value has changed.
    expect(await refused(town, [...town, ...land])).toEqual([]);
    expect(await refused(town, [...lines(100, { comune: 'A001', x: 20 }), ...land])).toEqual(['province 001, 0: x, 95th percentile', 'province 001, 0: x, median']);
    expect(await refused([...town, ...land], town)).toEqual(['A002, 0: rows', 'province 001, 0: rows']);
  });

  it('compares each slice with its earlier version, and so detects one incomplete half-year among 21', async () => {
    const history = (last: number): Line[] => [...lines(20, null!).flatMap((_, slice) => lines(100, { comune: 'A001', slice, x: slice + 100 })), ...lines(last, { comune: 'A001', slice: 20, x: 120 })];
    expect(await refused(history(100), history(91))).toEqual([]);
    expect(await refused(history(100), history(34))).toEqual(['province 001, 20: rows']);
  });

  it('refuses impossible values on a first load, and later only if there are more of them than were accepted before', async () => {
    const sums = (broken: number, count = 1000): Line[] => lines(count, (index) => ({ comune: 'A001', part: 1, n: 2, whole: index < broken ? 4 : 3 }));
    expect(await refused([], sums(10))).toEqual([]);
    expect(await refused([], sums(11))).toEqual(['province 001, 0: rows that violate part + n = whole, share']);
    expect(await refused(sums(11), sums(11))).toEqual([]);
    expect(await refused(sums(11), sums(12))).toHaveLength(1);
    expect(await refused([], sums(1, 3))).toEqual([]);
    expect(await refused([], sums(2, 3))).toHaveLength(1);
    expect(await refused([], sums(1, 1))).toHaveLength(1);
    expect(await refused([], lines(9, { comune: 'A001', part: 5, whole: 4 }))).toEqual(['province 001, 0: rows that violate part <= whole, share']);
    expect(await refused([], lines(9, { comune: 'A001', part: 5, n: 1 }))).toEqual([]);
    const one = (x: number): Line[] => [...lines(99, { comune: 'A001', x: 5 }), { comune: 'A001', x }];
    expect(await refused([], one(10_000))).toEqual([]);
    expect(await refused([], one(10_001))).toEqual(['province 001, 0: x, values outside -1000 … 10000']);
    expect(await refused(one(-1001), one(-1002))).toEqual([]);
    expect(await refused([], lines(9, { comune: 'A001', x: 5001 }))).toEqual(['province 001, 0: x, median beyond']);
    expect(await refused(lines(9, { comune: 'A001', x: 5001 }), lines(9, { comune: 'A001', x: 5002 }))).toEqual([]);
    // The number of rows is never refused on a first load.
    expect(await refused([], one(1).slice(0, 1))).toEqual([]);
  });

  it('agrees with the model on random tables with changes near the limits', async () => {
    let refusals = 0;
    const cases = engine.name === 'postgres' ? 60 : 8;
    for (let seed = 0; seed < cases; seed += 1) {
      const random = randomOf('quality gate', seed);
      const comuni = [...Object.keys(PROVINCES), 'Z999'].filter(() => random.below(3) > 0);
      const before = comuni.flatMap((comune) => {
        const size = random.pick([1, 3, 20, 199, 200, 260]);
        const [level, share] = [random.pick([-40, 0, 3, 100, 4500]), random.pick([0.1, 0.5, 0.95, 1])];
        return lines(size, () => ({
          comune, slice: random.below(2), x: random.next() < share ? level + random.below(50) : null, n: random.next() < share ? random.below(9) : null,
          label: random.next() < share / 5 ? 'l' : null, flag: random.next() < share, sure: random.next() < share,
        }));
      });
      const spared = new Set(comuni.filter(() => random.below(2) === 0));
      const [keep, fill, factor] = [
        random.pick([1, 0.95, 0.91, 0.89, 0.5]),
        random.pick([1, 0.9, 0.8, 0.7]),
        random.pick([1, 1, 1.2, 1.25, 1.3, 0.76, 0.75, 10]),
      ];
      const changed = before.flatMap((line): Line[] => {
        if (spared.has(line.comune)) return [line];
        if (random.next() >= keep) return [];
        const isFilled = random.next() < fill;
        return [
          {
            ...line,
            x: line.x === null || !isFilled ? null : line.x! * factor,
            label: isFilled ? line.label! : null,
            flag: line.flag! && isFilled,
            sure: line.sure! && isFilled,
          },
        ];
      });
      const gone = random.below(4) === 0 ? random.pick(comuni.length === 0 ? [''] : comuni) : '';
      const after = [...changed.filter(({ comune }) => comune !== gone), ...(random.below(3) === 0 ? lines(random.below(400), { comune: random.pick(['B004', 'Z998']), slice: random.below(2), x: random.below(3000) }) : [])];
      refusals += Math.sign((await refused(before, after)).length);
    }
    // The rule must refuse some of the cases, so that the comparison covers refusals.
    expect(refusals).toBeGreaterThan(cases / 5);
    // A small number of cases may all be refused.
    if (cases > 20) expect(refusals).toBeLessThan(cases);
  });
});

describe('the gates of the published tables', () => {
  it('accept the published extremes of real files of OMI and MEF, and no tenfold income', () => {
    const quotation = GATES['core.quotation'] as TableGate;
    const income = GATES['core.declared_income'] as TableGate;
    // From 2017/1 to 2025/1, purchase prices are 40–29,000 euro/m² and rents 0.2–180 euro/m² per month. In 2023, the provincial medians of the average income
    // are 12,482–34,284 euro.
    for (const [field, value] of [['purchase_min_eur_m2', 40], ['purchase_max_eur_m2', 29_000], ['rental_min_eur_m2_month', 0.2], ['rental_max_eur_m2_month', 180]] as const) {
      const { within } = quotation.fields[field] as { within: readonly [number, number] };
      expect(value).toBeGreaterThanOrEqual(within[0]);
      expect(value).toBeLessThanOrEqual(within[1]);
    }
    const { typical } = income.fields['average_income_eur'] as { typical: readonly [number, number] };
    expect([12_482, 34_284].every((value) => value >= typical[0] && value <= typical[1])).toBe(true);
    expect([124_820, 342_840].some((value) => value <= typical[1])).toBe(false);
  });
});
