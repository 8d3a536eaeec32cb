import { describe, expect, it } from 'vitest';
import { parseStat, spent } from '../../scripts/bench/server-watch.ts';
import { median, megabytes, percent, percentile, thousands } from '../../scripts/bench/shared.ts';

describe('the CPU of a server', () => {
  it('is read even if the process name contains spaces and brackets', () => {
    expect(parseStat('12 (post) gres) S 7 12 12 0 -1 4194560 1 2 3 4 100 20 3000 400 20 0')).toEqual({ parent: 7, own: 120, ended: 3400 });
  });

  it('includes ended and live processes since the first reading', () => {
    const before = { main: 1000, living: new Map([[1, 50], [2, 30]]) };
    // Process 2 ended after 40 ticks, a third process started and ended after 5, and a fourth process is still running.
    expect(spent(before, { main: 1045, living: new Map([[1, 60], [4, 7]]) })).toBe(10 + 10 + 5 + 7);
  });
});

describe('a summary of repeated measurements', () => {
  it('has as its median the middle value, or the mean of the two middle values, for values in any order', () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
  });

  it('has percentiles that are measured values, and no percentile above the largest value', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([percentile(values, 0.5), percentile(values, 0.95), percentile(values, 1), percentile([7], 0.95)]).toEqual([51, 96, 100, 7]);
  });

  it('is printed with a unit, or as not measured if a value is missing', () => {
    expect([thousands(null), megabytes(null), percent(1, null)]).toEqual(['not measured', 'not measured', 'not measured']);
    expect([thousands(12_345), megabytes(2_500_000), percent(1, 4)]).toEqual(['12 k', '2.5 MB', '25 %']);
  });
});
