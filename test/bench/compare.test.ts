import { describe, expect, it } from 'vitest';
import { compareLines, describeComparison, slowerOf } from '../../scripts/bench/compare.ts';
import { perDecade, slopesOf, steepOf } from '../../scripts/bench/slopes.ts';
import { lineOf } from './lines.ts';

const OTHER = 'b'.repeat(40);

describe('two commits', () => {
  const before = lineOf(20_000, { 'section.risk': 10, 'core.parcel': 4, 'core.region': 0.001, gone: 1 });
  const after = lineOf(20_000, { 'section.risk': 12, 'core.parcel': 4.2, 'core.region': 0.01, came: 1 }, { commit: OTHER });

  it('are compared step by step, for steps that both have at that size', () => {
    expect(compareLines([before], [after]).map(({ step, ratio }) => [step, ratio])).toEqual([['section.risk', 1.2], ['core.parcel', 1.05], ['core.region', 10]]);
    expect(compareLines([before], [{ ...after, size: 100_000 }])).toEqual([]);
  });

  it('report steps that take more than a tenth longer, except very short ones', () => {
    expect(slowerOf(compareLines([before], [after])).map(({ step }) => step)).toEqual(['section.risk']);
  });

  it('are compared by rates if a step has no time', () => {
    const rate = (rowsPerSecond: number) => ({ ...before, steps: [{ name: 'detail', seconds: null, rows: null, rowsPerSecond }] });
    expect(slowerOf(compareLines([rate(600)], [rate(300)])).map(({ ratio }) => ratio)).toEqual([2]);
  });

  it('measurements of different machines are reported as such', () => {
    const elsewhere = { ...after, machine: { ...after.machine, cores: 16 } };
    expect(describeComparison([before, after], 'last~1', 'last')).toContain('Slower by more than 1.1:\n  load 20000 section.risk: 1.20');
    expect(describeComparison([before, after], 'last~1', 'last')).not.toContain('different machines');
    expect(describeComparison([before, elsewhere], 'aaa', 'bbb')).toContain('different machines: ratios across machines mean little');
  });
});

describe('the cost of a parcel', () => {
  it('is constant if ten times as many parcels take ten times as long, for any sizes', () => {
    expect(perDecade({ size: 20_000, value: 2 }, { size: 200_000, value: 20 })).toBeCloseTo(1, 9);
    expect(perDecade({ size: 20_000, value: 2 }, { size: 60_000, value: 6 })).toBeCloseTo(1, 9);
  });

  it('is ten times as high if the time grows with the square', () => {
    expect(perDecade({ size: 10, value: 1 }, { size: 20, value: 4 })).toBeCloseTo(10, 9);
    expect(perDecade({ size: 10, value: 1 }, { size: 1000, value: 1 })).toBeCloseTo(0.1, 9);
  });

  it('is given between neighbouring sizes, for steps that take time at both', () => {
    const slopes = slopesOf([lineOf(100_000, { a: 11, b: 0, c: 1 }), lineOf(10_000, { a: 1, b: 1 }), lineOf(1_000_000, { a: 110, b: 5, c: 10 })]);
    expect(slopes.map(({ step, from, to, perDecade: growth }) => [step, from, to, Number(growth.toFixed(3))])).toEqual([
      ['a', 10_000, 100_000, 1.1], ['a', 100_000, 1_000_000, 1], ['c', 100_000, 1_000_000, 1],
    ]);
  });

  it('is reported if it grows by more than a tenth, except for very short steps', () => {
    const slopes = slopesOf([lineOf(10_000, { a: 1, b: 1, c: 0.001 }), lineOf(100_000, { a: 10.9, b: 12, c: 0.05 })]);
    expect(steepOf(slopes).map(({ step }) => step)).toEqual(['b']);
  });
});
