/** Creates lines of a bench history for tests. */
import type { Line } from '../../scripts/bench/history.ts';

export const COMMIT = 'a'.repeat(40);

/** Returns the line in the bench history for a load with the given number of parcels. @param steps seconds of each step */
export function lineOf(size: number, steps: Readonly<Record<string, number>>, more: Partial<Line> = {}): Line {
  return {
    bench: 'load', commit: COMMIT, dirty: false, date: '2026-11-22T10:00:00.000Z', machine: { cpu: 'a processor', cores: 2, memoryMiB: 24_000 },
    versions: { node: '20.20.2', postgres: '15.18', postgis: '3.3.2', gdal: '3.12.3', ogr2ogr: null }, settings: { fsync: 'off' },
    size, seconds: 100, cpuSeconds: { node: 40, server: 120 }, peakMiB: { node: 400, server: 800 }, walBytes: 1e9,
    diskBytes: { published: 1e9, after: 2e9, peak: 2.2e9 }, figures: { parallel: 2 }, ...more,
    steps: Object.entries(steps).map(([name, seconds]) => ({ name, seconds, rows: size, rowsPerSecond: seconds === 0 ? null : size / seconds })),
  };
}
