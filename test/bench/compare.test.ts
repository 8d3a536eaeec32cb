import { describe, expect, it } from 'vitest';
import { compareLines, describeComparison, slowerOf } from '../../scripts/bench/compare.ts';
import { lineOf } from '../harness/bench-lines.ts';

const OTHER = 'b'.repeat(40);

describe('two commits', () => {
  const before = lineOf(20_000, { 'section.risk': 10, 'core.parcel': 4, 'core.region': 0.001, gone: 1 });
  const after = lineOf(20_000, { 'section.risk': 12, 'core.parcel': 4.2, 'core.region': 0.01, came: 1 }, { commit: OTHER });

  it('are compared by the steps that were measured for both at the same size', () => {
    expect(compareLines([before], [after]).map(({ step, ratio }) => [step, ratio])).toEqual([['section.risk', 1.2], ['core.parcel', 1.05], ['core.region', 10]]);
    expect(compareLines([before], [{ ...after, size: 100_000 }])).toEqual([]);
  });

  it('are reported with the steps that take more than 10 % longer, except very short steps', () => {
    expect(slowerOf(compareLines([before], [after])).map(({ step }) => step)).toEqual(['section.risk']);
  });

  it('are compared by rates if a step has no time', () => {
    const rate = (rowsPerSecond: number) => ({ ...before, steps: [{ name: 'detail', seconds: null, rows: null, rowsPerSecond }] });
    expect(slowerOf(compareLines([rate(600)], [rate(300)])).map(({ ratio }) => ratio)).toEqual([2]);
  });

  it('are compared with a warning if they were measured on different machines', () => {
    const elsewhere = { ...after, machine: { ...after.machine, cores: 16 } };
    expect(describeComparison([before, after], 'last~1', 'last')).toContain('Steps that take more than 1.1 times as long:\n  load 20000 section.risk: 1.20');
    expect(describeComparison([before, after], 'last~1', 'last')).not.toContain('different machines');
    expect(describeComparison([before, elsewhere], 'aaa', 'bbb')).toContain('different machines. Ratios across machines mean little');
  });
});
