/** Tests windows around quantiles against sorted lists of all values. */
import { describe, expect, it } from 'vitest';
import { changedWindow, rankOf, sharesAround, valueAt, windowOf, type Difference, type QuantileWindow } from '../../pipelines/db/quantile-window.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';

const MEDIAN = 0.5;
const SHARES = [MEDIAN, 0.95];

function quantile(values: readonly number[], share: number): number | null {
  return values.toSorted((a, b) => a - b)[rankOf(share, values.length) - 1] ?? null;
}

/** Builds a window from the values that the database would return. */
function measured(share: number, values: readonly number[], rows = values.length): QuantileWindow | null {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sharesAround(share, rows).map((each) => [each, sorted[rankOf(each, values.length) - 1] ?? NaN] as const);
  return windowOf(share, { total: values.length, values: found });
}

function found(share: number, window: QuantileWindow, total: number): number | null {
  return valueAt(window, rankOf(share, total));
}

/** Removes up to `count` random values from `values` and adds up to `count` values. Returns by how much the number of occurrences of each value changed. */
function change(random: ReturnType<typeof randomOf>, values: number[], count: number, draw: () => number): Difference[] {
  const differences = new Map<number, number>();
  const note = (value: number, sign: number): void => void differences.set(value, (differences.get(value) ?? 0) + sign);
  for (let index = 0; index < count; index += 1) {
    const [gone] = values.length > 0 && random.below(2) === 0 ? values.splice(random.below(values.length), 1) : [];
    if (gone !== undefined) note(gone, -1);
    if (random.below(2) === 0) continue;
    const value = draw();
    values.push(value);
    note(value, 1);
  }
  return [...differences].map(([value, each]) => ({ value, count: each })).filter((each) => each.count !== 0);
}

describe('the window around a quantile', () => {
  it('has the same quantile as all values after many small changes, and is rarely lost', () => {
    let [followed, lost] = [0, 0];
    for (let seed = 0; seed < 60; seed += 1) {
      const random = randomOf('quantile window', seed);
      const different = random.pick([1, 2, 5, 300, 1_000_000]);
      const draw = (): number => random.below(different) - different / 3;
      const values = Array.from({ length: random.pick([0, 1, 7, 150, 4000]) }, draw);
      const share = random.pick(SHARES);
      let window = measured(share, values);
      for (let night = 0; night < 40; night += 1) {
        const total = values.length;
        const differences = change(random, values, random.pick([0, 1, 3, 20]), draw);
        window = window === null ? null : changedWindow(share, window, { total, differences });
        if (window === null) {
          lost += 1;
          window = measured(share, values);
          continue;
        }
        followed += 1;
        expect(found(share, window, values.length), `seed ${seed}, night ${night}`).toBe(quantile(values, share));
      }
    }
    expect(followed).toBeGreaterThan(2000);
    expect(lost).toBeLessThan(followed / 20);
  });

  it('is lost if most values are replaced', () => {
    const values = Array.from({ length: 5000 }, (_, index) => index);
    const differences = values.flatMap((value) => [{ value, count: -1 }, { value: value + 10_000, count: 1 }]);
    expect(changedWindow(MEDIAN, measured(MEDIAN, values)!, { total: 5000, differences })).toBeNull();
  });

  it('extends over all known values that are equal to the quantile', () => {
    const values = [...Array.from({ length: 3000 }, () => 0), ...Array.from({ length: 1000 }, (_, index) => index + 1)];
    const window = measured(MEDIAN, values)!;
    expect(window.below).toBe(0);
    expect(changedWindow(MEDIAN, window, { total: 4000, differences: [{ value: 0, count: -900 }] })).toMatchObject({ below: 0 });
  });

  it('contains exact counts for a place with fewer values than the largest place', () => {
    const random = randomOf('small place', 1);
    const values = Array.from({ length: 700 }, () => random.below(1_000_000));
    const window = measured(0.95, values, 9000)!;
    const sorted = values.toSorted((a, b) => a - b);
    const inWindow = window.values.flatMap(([value, count]) => Array.from({ length: count }, () => value));
    expect(inWindow).toEqual(sorted.slice(window.below, window.below + inWindow.length));
    expect(inWindow.length).toBeGreaterThan(5);
  });

  it('does not exist for values that are not finite', () => {
    expect(measured(MEDIAN, [1, 2, Infinity])).toBeNull();
    expect(changedWindow(MEDIAN, measured(MEDIAN, [1, 2, 3])!, { total: 3, differences: [{ value: NaN, count: 1 }] })).toBeNull();
  });

  it('is lost if a difference contradicts the values', () => {
    expect(changedWindow(MEDIAN, measured(MEDIAN, [1, 2, 3])!, { total: 3, differences: [{ value: 2, count: -2 }] })).toBeNull();
  });
});
