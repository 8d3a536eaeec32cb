/**
 * Sorted values around a quantile of one place, such as a province. If some values of the place change, the new quantile is read from the window, without
 * reading the other values of the place. The result is exact.
 */
export interface QuantileWindow {
  /** Number of values before the first value of the window, in ascending order. */
  readonly below: number;
  /** Values in ascending order, each with its number of occurrences in the window. */
  readonly values: readonly (readonly [value: number, count: number])[];
}

/** Number of added (positive) or removed (negative) occurrences of a value. */
export interface Difference {
  readonly value: number;
  readonly count: number;
}

/**
 * Number of near shares on each side of a quantile's share (`sharesAround`). In the place with the most values, a new window extends by at least this number of
 * ranks to each side of the quantile. A window that reaches the first or last value may be shorter. If half of a comune's 2,000 values change, the net number
 * of values that cross the median is about 22.
 */
const REACH = 64;

/** Maximum number of different values in a window. From a window with more values, the values that are farthest from the quantile are removed. */
const MOST_VALUES = 4 * REACH;

/** Returns the rank of a quantile, counted from 1, as `percentile_disc` does. */
export function rankOf(share: number, total: number): number {
  return Math.max(1, Math.ceil(share * total));
}

/**
 * Returns ascending shares around the share of a quantile, including 0 and 1. In a place with at most `rows` values, the ranks of the nearest shares have no
 * gaps. If the values at two farther shares are equal, all values between these shares are equal, too.
 */
export function sharesAround(share: number, rows: number): number[] {
  const steps = Array.from({ length: REACH }, (_, index) => index + 1);
  for (let far = 2 * REACH; far < rows; far *= 2) steps.push(far);
  const near = [0, ...steps, ...steps.map((step) => -step)].map((step) => share + step / Math.max(1, rows));
  return [0, ...near.filter((each) => each > 0 && each < 1), 1].sort((a, b) => a - b);
}

/** Quantiles of the values of a place. */
interface Found {
  /** Number of values of the place. */
  readonly total: number;
  /** Ascending shares with their values, as `percentile_disc` returns them. */
  readonly values: readonly (readonly [share: number, value: number])[];
}

/** Returns the window around a quantile, whose share must be among the found shares; null if a value is not finite. */
export function windowOf(share: number, { total, values: found }: Found): QuantileWindow | null {
  if (total === 0) return { below: 0, values: [] };
  if (found.some(([, value]) => !Number.isFinite(value))) return null;
  const rank = rankOf(share, total);
  const known = [...new Map(found.map(([each, value]) => [rankOf(each, total), value]))].map(([at, value]) => ({ rank: at, value }));
  // If two values are equal, the values between them are equal, too.
  const isNext = (one: Ranked, next: Ranked): boolean => one.rank + 1 === next.rank || one.value === next.value;
  const at = known.findIndex((each) => each.rank === rank);
  const first = known.findLastIndex((each, index) => index <= at && (known[index - 1] === undefined || !isNext(known[index - 1] ?? each, each)));
  const last = known.findIndex((each, index) => index >= at && (known[index + 1] === undefined || !isNext(each, known[index + 1] ?? each)));
  const below = (known[first]?.rank ?? 1) - 1;
  const values = new Map<number, number>();
  let before = below;
  for (const each of known.slice(first, last + 1)) {
    values.set(each.value, (values.get(each.value) ?? 0) + each.rank - before);
    before = each.rank;
  }
  return cut({ below, values: [...values] }, rank);
}

interface Ranked {
  readonly rank: number;
  readonly value: number;
}

/** A change of the values of a place. */
interface Change {
  /** Number of values before the change. */
  readonly total: number;
  readonly differences: readonly Difference[];
}

/** Returns the window after a change; null if the new quantile cannot be determined from the window. */
export function changedWindow(share: number, window: QuantileWindow, { total, differences }: Change): QuantileWindow | null {
  const values = new Map(window.values);
  const [first, last] = [window.values[0]?.[0] ?? Infinity, window.values.at(-1)?.[0] ?? -Infinity];
  const [isFirst, isLast] = [window.below === 0, window.below + sizeOf(window) === total];
  let { below } = window;
  let after = total;
  for (const { value, count } of differences) {
    if (!Number.isFinite(value)) return null;
    after += count;
    if (value > last && !isLast) continue;
    if (value < first && !isFirst) {
      below += count;
      continue;
    }
    const left = (values.get(value) ?? 0) + count;
    if (left > 0) values.set(value, left);
    else values.delete(value);
    if (left >= 0) continue;
    // Values equal to the first or last value may also be outside the window.
    if (value === first) below += left;
    else if (value !== last) return null;
  }
  const changed = { below, values: [...values].sort(([a], [b]) => a - b) };
  return after === 0 || valueAt(changed, rankOf(share, after)) !== null ? cut(changed, rankOf(share, after)) : null;
}

/** Returns the value with a rank, counted from 1; null if the window does not contain the value. */
export function valueAt({ below, values }: QuantileWindow, rank: number): number | null {
  if (rank <= below) return null;
  let upTo = below;
  for (const [value, count] of values) if ((upTo += count) >= rank) return value;
  return null;
}

function sizeOf({ values }: QuantileWindow): number {
  return values.reduce((sum, [, count]) => sum + count, 0);
}

/** Removes the values that are farthest from a rank if the window has too many values. */
function cut({ below, values }: QuantileWindow, rank: number): QuantileWindow {
  if (values.length <= MOST_VALUES) return { below, values };
  let upTo = below;
  const at = values.findIndex(([, count]) => (upTo += count) >= rank);
  const start = Math.max(0, at - MOST_VALUES / 2);
  return { below: below + sizeOf({ below, values: values.slice(0, start) }), values: values.slice(start, start + MOST_VALUES) };
}
