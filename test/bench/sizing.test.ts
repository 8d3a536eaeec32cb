import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readHistory } from '../../scripts/bench/history.ts';
import { drawPage } from '../../scripts/bench/page.ts';
import { parseStat, spent } from '../../scripts/bench/server-watch.ts';
import { chainOf, ITALY, modelOf, sizeOf, SIZING_PAGE, sizingPage } from '../../scripts/bench/sizing.ts';
import { lineOf } from './lines.ts';

const STEPS = { 'stage ade_cadastre': 1, 'load ade_cadastre': 1, 'core.parcel': 1, 'section.risk': 5, 'section.poi': 2, check: 1, gate: 0.5, publish: 0.5 };
const scaled = (by: number): Record<string, number> => Object.fromEntries(Object.entries(STEPS).map(([name, seconds]) => [name, seconds * by]));
const small = lineOf(100_000, STEPS, {
  seconds: 10, cpuSeconds: { node: 4, server: 12 }, walBytes: 1e8, diskBytes: { published: 1e8, after: 3e8, peak: 3.2e8 },
  peakMiB: { node: 400, server: 800 },
});
const large = lineOf(1_000_000, scaled(10), {
  seconds: 100, cpuSeconds: { node: 40, server: 120 }, walBytes: 1e9, diskBytes: { published: 1e9, after: 2.1e9, peak: 2.3e9 },
  peakMiB: { node: 400, server: 800 },
});

describe('the sizing page', () => {
  it('is in the committed form what the script writes from the committed history', () => {
    expect(readFileSync(SIZING_PAGE, 'utf8')).toBe(sizingPage(readHistory()));
  });

  it('reports that nothing was measured if the history has no measurements', () => {
    expect(modelOf([large])).toBeNull();
    expect(modelOf([large, { ...small, machine: { ...small.machine, cores: 8 } }])).toBeNull();
    expect(sizingPage([])).toContain('No state of the code has loads of two sizes');
    const { cpuSeconds: _, ...rest } = large;
    expect(sizingPage([small, { ...rest, cpuSeconds: { node: 40, server: null } }])).toContain('| Time | not measured | not measured | not measured |');
  });

  it('divides the CPU seconds of Italy by the busy cores', () => {
    const model = modelOf([small, large])!;
    expect(model.cpu).toBeCloseTo(160e-6, 12);
    expect(model.cpuGrowth).toBe(1);
    expect(model.busy).toBeCloseTo(0.8, 9);
    const { seconds, boundBy } = sizeOf(model, { name: '', nodes: 1, cores: 8 });
    expect(seconds).toBeCloseTo((ITALY.parcels * 160e-6) / (8 * 0.8), 3);
    expect(boundBy).toBe('CPU of all nodes');
  });

  it('is never faster than the largest region alone', () => {
    expect(chainOf(large)).toBeCloseTo(100, 9);
    expect(sizeOf(modelOf([small, large])!, { name: '', nodes: 100, cores: 64 })).toMatchObject({ seconds: ITALY.largest * 100e-6, boundBy: 'the largest region' });
  });

  it('extrapolates a growing cost per parcel, and keeps a falling one constant', () => {
    const growing = modelOf([{ ...small, cpuSeconds: { node: 4, server: 4 } }, large])!;
    expect(growing.cpuGrowth).toBeCloseTo(2, 9);
    expect(modelOf([{ ...small, cpuSeconds: { node: 40, server: 12 } }, large])!.cpuGrowth).toBe(1);
    const machine = { name: '', nodes: 1, cores: 8 };
    expect(sizeOf(growing, machine).seconds!).toBeGreaterThan(sizeOf(modelOf([small, large])!, machine).seconds! * 1.5);
  });

  it('computes disk and WAL from the growth per parcel, without the initial size', () => {
    const model = modelOf([small, large])!;
    expect(model.published).toBeCloseTo(1000, 6);
    expect(model.after).toBeCloseTo(2000, 6);
    const one = sizeOf(model, { name: '', nodes: 1, cores: 1 });
    expect(one).toMatchObject({ published: ITALY.parcels * 1000, after: ITALY.parcels * 2000, wal: ITALY.parcels * 1000 });
    expect(one.peak! - one.after!).toBeCloseTo(ITALY.largest * 200, -2);
    const four = sizeOf(model, { name: '', nodes: 4, cores: 1 });
    expect([four.published, four.after]).toEqual([(ITALY.parcels * 1000) / 4, (ITALY.parcels * 1000) / 4 + ITALY.parcels * 1000]);
  });

  it('multiplies peak memory by the number of parallel jobs', () => {
    expect(sizeOf(modelOf([small, large])!, { name: '', nodes: 1, cores: 8 })).toMatchObject({ node: 1600, server: 3200 });
  });
});

describe('the page of the history', () => {
  it('requests nothing from other hosts, and shows the measurements', () => {
    const page = drawPage([small, large, lineOf(1_000_000, { 'a<b': 3 }, { commit: 'b'.repeat(40) })]);
    expect(page).not.toMatch(/https?:|src=|href=|@import|url\(/);
    expect(page).toContain('<figcaption>section.risk</figcaption>');
    expect(page).toContain('a&lt;b');
    expect(page).not.toContain('NaN');
    expect(drawPage([])).toContain('0 measurements');
  });
});

describe('the CPU of a server', () => {
  it('is read past a name with spaces and brackets', () => {
    expect(parseStat('12 (post) gres) S 7 12 12 0 -1 4194560 1 2 3 4 100 20 3000 400 20 0')).toEqual({ parent: 7, own: 120, ended: 3400 });
  });

  it('includes ended and live processes, each since the first reading', () => {
    const before = { main: 1000, living: new Map([[1, 50], [2, 30]]) };
    // Process 2 ended at 40 ticks, a third one started and ended with 5, a fourth one is live.
    expect(spent(before, { main: 1045, living: new Map([[1, 60], [4, 7]]) })).toBe(10 + 10 + 5 + 7);
  });
});
