import { describe, expect, it } from 'vitest';
import { findState, latestOf, parseHistory, rateOf, readHistory, stateOf, stepOf } from '../../scripts/bench/history.ts';
import { COMMIT, lineOf } from '../harness/bench-lines.ts';

describe('the history of benchmarks', () => {
  it('has the required form in the committed file', () => {
    for (const { steps } of readHistory()) expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  });

  it('is read as written, and an invalid line is reported', () => {
    const line = lineOf(20_000, { all: 12.5 });
    expect(parseHistory(`${JSON.stringify(line)}\n\n`)).toEqual([line]);
    expect(() => parseHistory(`${JSON.stringify(line)}\n${JSON.stringify({ ...line, commit: 'abc' })}\n`)).toThrow('history.jsonl, line 2');
    expect(() => parseHistory(JSON.stringify({ ...line, cpuSeconds: { node: -1, server: null } }))).toThrow('line 1');
    expect(() => parseHistory(JSON.stringify({ ...line, guess: 1 }))).toThrow('line 1');
  });

  it('has rates of steps with rows and time, and null for steps that were not measured', () => {
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

  it('is found by the start of its commit, or counted from the last', () => {
    expect(findState(history, 'abc')).toBe(stateOf(first));
    expect(findState(history, 'last')).toBe(stateOf(changed));
    expect(findState(history, 'last~1')).toBe(stateOf(second));
    expect(findState(history, 'last~2')).toBe(stateOf(first));
  });

  it('a state of a changed working copy differs from its commit', () => {
    expect(findState(history, 'abd')).toBe(stateOf(second));
    expect(findState(history, 'abd+')).toBe(stateOf(changed));
  });

  it('a state that was not measured or is ambiguous is an error that lists the measured ones', () => {
    expect(() => findState(history, 'ab')).toThrow('more than one commit');
    expect(() => findState(history, 'fff')).toThrow('nothing was measured on fff');
    expect(() => findState(history, 'last~3')).toThrow('nothing was measured on last~3');
    expect(() => findState([], 'last')).toThrow('nothing was measured');
  });

  it('has the last measurement of each bench and size', () => {
    const again = lineOf(20_000, { all: 2 });
    expect(latestOf([lineOf(20_000, { all: 1 }), lineOf(100_000, { all: 5 }), again], COMMIT)).toEqual([again, lineOf(100_000, { all: 5 })]);
  });
});
