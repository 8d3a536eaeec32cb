import { describe, expect, it } from 'vitest';
import { findState, latestOf, parseHistory, rateOf, readHistory, stateOf, stepOf } from '../../scripts/bench/history.ts';
import { COMMIT, lineOf } from '../harness/bench-lines.ts';

describe('the history of benchmarks', () => {
  it('is valid in the committed file', () => {
    for (const { steps } of readHistory()) expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  });

  it('is read back without changes, and an invalid line is reported', () => {
    const line = lineOf(20_000, { all: 12.5 });
    expect(parseHistory(`${JSON.stringify(line)}\n\n`)).toEqual([line]);
    expect(() => parseHistory(`${JSON.stringify(line)}\n${JSON.stringify({ ...line, commit: 'abc' })}\n`)).toThrow('history.jsonl, line 2');
    expect(() => parseHistory(JSON.stringify({ ...line, cpuSeconds: { node: -1, server: null } }))).toThrow('line 1');
    expect(() => parseHistory(JSON.stringify({ ...line, guess: 1 }))).toThrow('line 1');
  });

  it('has a rate for a step with rows and time, and null for a step that was not measured', () => {
    expect(stepOf('core.parcel', 2.000_01, 20_000)).toEqual({ name: 'core.parcel', seconds: 2, rows: 20_000, rowsPerSecond: 10_000 });
    expect(stepOf('join', 3, null).rowsPerSecond).toBeNull();
    expect(stepOf('core.region', 0, 1).rowsPerSecond).toBeNull();
    expect(rateOf('ogr2ogr', null)).toEqual({ name: 'ogr2ogr', seconds: null, rows: null, rowsPerSecond: null });
  });
});

describe('a state of the code', () => {
  const [first, second] = [lineOf(1, {}, { commit: `abc1${'0'.repeat(36)}` }), lineOf(1, {}, { commit: `abd1${'0'.repeat(36)}` })];
  const changed = { ...second, dirty: true };
  const history = [first, second, changed];

  it('is found by the first digits of its commit, or by its distance from the last state', () => {
    expect(findState(history, 'abc')).toBe(stateOf(first));
    expect(findState(history, 'last')).toBe(stateOf(changed));
    expect(findState(history, 'last~1')).toBe(stateOf(second));
    expect(findState(history, 'last~2')).toBe(stateOf(first));
  });

  it('is distinguished from its commit if the working copy was changed', () => {
    expect(findState(history, 'abd')).toBe(stateOf(second));
    expect(findState(history, 'abd+')).toBe(stateOf(changed));
  });

  it('causes an error if it was not measured or is ambiguous', () => {
    expect(() => findState(history, 'ab')).toThrow('matches more than one state');
    expect(() => findState(history, 'fff')).toThrow('no benchmark was run on fff');
    expect(() => findState(history, 'last~3')).toThrow('no benchmark was run on last~3');
    expect(() => findState([], 'last')).toThrow('no benchmark was run');
  });

  it('has the last measurement of each bench and size', () => {
    const again = lineOf(20_000, { all: 2 });
    expect(latestOf([lineOf(20_000, { all: 1 }), lineOf(100_000, { all: 5 }), again], COMMIT)).toEqual([again, lineOf(100_000, { all: 5 })]);
  });
});
