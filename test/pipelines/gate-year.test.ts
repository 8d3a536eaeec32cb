/**
 * Tests that a year of small nightly changes passes the quality gate, and that corruptions of the same tables do not. The test computes the metrics without
 * SQL.
 */
import { describe, expect, it } from 'vitest';
import type { Changes, FieldFigures, Figures } from '../../pipelines/db/figures.ts';
import type { TableGate } from '../../pipelines/contract/gate.ts';
import { compare, type Violation } from '../../pipelines/build/gate-rule.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';

type Random = ReturnType<typeof randomOf>;

/** Number of rows in each province. Small numbers occur in sections with few parcels. */
const ROWS: Readonly<Record<string, number>> = { '001': 15, '002': 40, '003': 80, '004': 300, '005': 2_000 };
const GATE: TableGate = { section: 'made', by: 'belfiore', fields: { x: { kind: 'quantity' } }, excused: {} };
const NIGHTS = 365;

interface Row {
  readonly id: number;
  readonly province: string;
  readonly x: number;
}

/** Returns a value from a long-tailed distribution, like the areas of roofs. */
function valueOf(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.round(300 * Math.exp(normal));
}

function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function figuresOf(rows: readonly Row[]): Figures[] {
  return [...new Set(rows.map(({ province }) => province))].flatMap((province) => {
    const values = rows.filter((row) => row.province === province).map(({ x }) => x);
    const x: FieldFigures = { values: values.length, median: quantile(values, 0.5), p95: quantile(values, 0.95), outside: 0 };
    const place = { slice: '', province, rows: values.length, fields: { x }, identities: {}, windows: null };
    return [{ ...place, comune: '' }, { ...place, comune: `C${province}` }];
  });
}

function without(a: readonly number[], b: readonly number[]): number {
  const left = new Map<number, number>();
  for (const value of b) left.set(value, (left.get(value) ?? 0) + 1);
  return a.filter((value) => {
    const count = left.get(value) ?? 0;
    left.set(value, count - 1);
    return count <= 0;
  }).length;
}

function changesOf(before: readonly Row[], after: readonly Row[]): Changes[] {
  return Object.keys(ROWS).flatMap((province) => {
    const [a, b] = [before, after].map((rows) => rows.filter((row) => row.province === province).map(({ x }) => x)) as [number[], number[]];
    const crossed = (share: number): number => {
      const [from, to] = [quantile(a, share) ?? 0, quantile(b, share) ?? 0];
      const beyond = (values: readonly number[]): number => values.filter((value) => (to > from ? value > from : value < from)).length / values.length;
      return (beyond(b) - beyond(a)) * b.length;
    };
    const place = { slice: '', province, before: a.length, after: b.length, changed: Math.max(without(a, b), without(b, a)), crossed: { median: crossed(0.5), p95: crossed(0.95) } };
    return [{ ...place, comune: '' }, { ...place, comune: `C${province}` }];
  });
}

function judge(before: readonly Row[], after: readonly Row[]): Promise<Violation[]> {
  return compare({
    relation: 'section.made', gate: GATE, before: figuresOf(before), after: figuresOf(after), provinceOf: (comune) => comune.slice(1), nameOf: (province) => province,
    among: () => Promise.resolve({ before: figuresOf(before), after: figuresOf(after) }), changes: () => Promise.resolve(changesOf(before, after)),
  });
}

function firstRows(random: Random): Row[] {
  const rows = Object.entries(ROWS).flatMap(([province, count]) => Array.from({ length: count }, () => ({ province, x: valueOf(random) })));
  return rows.map((row, id) => ({ ...row, id }));
}

/** Changes the values of 1 to 50 parcels, and sometimes replaces a parcel. */
function nightAfter(rows: readonly Row[], random: Random): Row[] {
  const next = [...rows];
  for (let count = 1 + random.below(50); count > 0; count -= 1) {
    const at = random.below(next.length);
    next[at] = { ...next[at]!, id: random.below(20) === 0 ? next.length + at : next[at]!.id, x: valueOf(random) };
  }
  return next;
}

describe('a year of nightly runs', () => {
  it('passes without a refusal if each night changes 1 to 50 parcels', async () => {
    const random = randomOf('a year of nights', 1);
    const refused: string[] = [];
    let rows = firstRows(random);
    for (let night = 1; night <= NIGHTS; night += 1) {
      const next = nightAfter(rows, random);
      refused.push(...(await judge(rows, next)).map((violation) => `night ${night}: ${JSON.stringify(violation)}`));
      rows = next;
    }
    expect(refused).toEqual([]);
  });

  it.each<readonly [string, (row: Row) => Row[]]>([
    ['all values multiplied by ten', (row) => [{ ...row, x: 10 * row.x }]],
    ['all values divided by a thousand', (row) => [{ ...row, x: row.x / 1_000 }]],
    ['only a third of the rows', (row) => (row.id % 3 === 0 ? [row] : [])],
  ])('has a refusal for every province if one night publishes %s', async (_, corrupt) => {
    const rows = firstRows(randomOf('a year of nights', 2));
    const violations = await judge(rows, rows.flatMap(corrupt));
    expect([...new Set(violations.map(({ place }) => place))].sort()).toEqual(Object.keys(ROWS));
  });
});
