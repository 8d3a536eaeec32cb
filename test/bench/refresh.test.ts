import { describe, expect, it } from 'vitest';
import { changedTables, compareCosts, describeCost, slopeOf, type Cost } from '../../scripts/bench/costs.ts';
import { movedParcels, moveOf, withSameValues } from '../../scripts/bench/releases.ts';
import { changedRows } from '../../scripts/bench/rows.ts';
import { withMotion, withSpreadCivics, withTaxYear } from '../../scripts/nights/files.ts';

const costOf = (name: string, server: number | null, seconds = 10): Cost => (
  { name, seconds, cpuSeconds: { node: 2, server }, walBytes: server === null ? 0 : server * 1e6, tables: { patched: ['core.parcel'], rebuilt: ['core.sheet', 'section.risk'] } });

describe('the costs of a refresh', () => {
  it('are reported as percentages of the costs of the full load', () => {
    const load = costOf('full load', 98, 40);
    const { figures, walBytes, steps } = compareCosts(2_000, load, [costOf('nothing', 8)]);
    expect(figures).toMatchObject({ 'nothing: CPU, % of the load': 10, 'nothing: WAL, % of the load': 8.163, 'nothing: duration, % of the load': 25, 'nothing: tables rebuilt': 2 });
    expect([walBytes, steps.map(({ name }) => name)]).toEqual([98e6, ['full load', 'nothing']]);
    expect(describeCost(costOf('nothing', 1), load)).toContain('CPU 3 s (Node 2, server 1), 3 % of the load; WAL 1 MB, 1 %; 10 s, 25 %; 1 tables patched, 2 rebuilt (core.sheet, section.risk)');
  });

  it('have no percentage for CPU time if the CPU time of the server is not readable', () => {
    expect(compareCosts(1, costOf('full load', 98), [costOf('nothing', null)]).figures['nothing: CPU, % of the load']).toBeNull();
  });

  it('distinguish patched, rebuilt and unchanged tables', () => {
    const before = new Map([['14 a', { partition: 'a_1', heldIn: 'a_1' }], ['14 b', { partition: 'b_1', heldIn: 'b_1' }], ['14 c', { partition: 'c_1', heldIn: 'c_1' }]]);
    const after = new Map([['14 a', { partition: 'a_2', heldIn: 'a_1' }], ['14 b', { partition: 'b_2', heldIn: 'b_2' }], ['14 c', { partition: 'c_1', heldIn: 'c_1' }], ['14 d', { partition: 'd_2', heldIn: 'd_2' }]]);
    expect(changedTables(before, after)).toEqual({ patched: ['a'], rebuilt: ['b', 'd'] });
  });

  it('have a growth rate that is the slope of a regression line', () => {
    expect([slopeOf([1, 3, 5, 7]), slopeOf([2, 2, 2]), slopeOf([4])]).toEqual([2, 0, 0]);
  });
});

describe('changed rows', () => {
  it('include added, removed and changed rows', () => {
    expect(changedRows(new Map([['a', '1'], ['b', '1'], ['c', null], ['d', '1']]), new Map([['a', '1'], ['b', '2'], ['c', null], ['e', '1']]))).toBe(3);
  });
});

describe('a new release', () => {
  const member = (lat: string): string => `<wfs:member><gml:posList srsDimension="2">${lat} 14.00000000 </gml:posList></wfs:member>\n`;
  const gml = `<head>${member('42.00000000')}${member('42.10000000')}</head>`;

  it('moves the chosen parcels, which return to the same place when they move back', () => {
    const there = movedParcels(gml, (position) => position === 1);
    expect(there).toEqual({ gml: gml.replace('42.10000000', '42.10002700'), moved: 1 });
    expect(movedParcels(there.gml, (position) => position === 1, -1)).toEqual({ gml, moved: 1 });
    expect(withSameValues(gml)).not.toBe(gml);
  });

  it('moves parcels of a different comune each night, and moves parcels back only after all have moved', () => {
    const comuni = ['Z001', 'Z002', 'Z003'].map((belfiore) => ({ belfiore, parcelCount: 10 }));
    const nights = Array.from({ length: 6 }, (_, night) => moveOf(night, comuni, 5));
    expect(nights.map(({ comune }) => comune)).toEqual(['Z002', 'Z003', 'Z002', 'Z003', 'Z002', 'Z003']);
    expect(nights.map(({ direction }) => direction)).toEqual([1, 1, 1, 1, -1, -1]);
    const positions = nights.map(({ isMoved }) => [...Array(12).keys()].filter(isMoved));
    expect(positions.slice(0, 3)).toEqual([[0, 2, 4, 6, 8], [0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]);
  });

  it('raises the incomes so that the brackets still add up to the total', () => {
    const cells = ['2024', 'Z001', ...Array.from({ length: 50 }, (_, at) => (at === 33 ? '3000' : at === 35 ? '1000' : at === 49 ? '2000\r' : '0'))];
    const { content, total } = withTaxYear(Buffer.from(`header\n${cells.join(';')}\n`), 2025);
    const changed = content.toString().split('\n')[1]?.split(';') ?? [];
    expect([total, changed[0], changed[35], changed[37], changed[51], changed[1]]).toEqual([3060, '2025', '3060', '1020', '2040\r', 'Z001']);
  });

  it('changes house numbers in all parts of the file', () => {
    const line = (access: number): string => ['Z001', '', '', '', '', '', '', '', access, '', '5', '', '', '', '', '', '', '', ''].join(';');
    const { content, changed } = withSpreadCivics(Buffer.from(`header\n${[0, 1, 2, 3, 4].map(line).join('\n')}\n`), 2, 2_000);
    expect([changed, content.toString().split('\n').slice(1, -1).map((each) => each.split(';')[10])]).toEqual([3, ['2001', '5', '2002', '5', '2003']]);
  });

  it('changes the velocities of a tile', () => {
    expect(withMotion(Buffer.from('pid,mean_velocity\nA,-1.5\n'), (velocity) => velocity + 1).toString()).toBe('pid,mean_velocity\nA,-0.5\n');
  });
});
