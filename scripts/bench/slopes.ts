/** Computes the growth of the cost per parcel with the number of parcels. */
import type { Line } from './history.ts';

/** A step is reported if its cost per parcel grows by more than a tenth for ten times as many parcels. */
export const STEEP = 1.1;
/** Seconds. The slope of a shorter step is noise. */
const TINY = 0.1;

export interface Slope {
  readonly bench: string;
  readonly step: string;
  /** Number of parcels of the two measurements. */
  readonly from: number;
  readonly to: number;
  /** Seconds at the larger size. */
  readonly seconds: number;
  /** Cost of a parcel for ten times as many parcels, relative to its cost now. */
  readonly perDecade: number;
}

/** Returns the growth of the cost per parcel for ten times as many parcels: 10^(slope − 1), with the slope of log seconds over log parcels. */
export function perDecade(from: { readonly size: number; readonly value: number }, to: { readonly size: number; readonly value: number }): number {
  return 10 ** (Math.log(to.value / from.value) / Math.log(to.size / from.size) - 1);
}

/** Returns the slope of each step between neighbouring sizes of a benchmark. @param lines of one state and machine, each benchmark and size once */
export function slopesOf(lines: readonly Line[]): Slope[] {
  const slopes: Slope[] = [];
  for (const bench of new Set(lines.map((line) => line.bench))) {
    const sized = lines
      .flatMap((line) => (line.bench === bench && line.size !== null ? [{ size: line.size, steps: line.steps }] : []))
      .sort((a, b) => a.size - b.size);
    for (const [index, larger] of sized.entries()) {
      const smaller = sized[index - 1];
      if (smaller === undefined) continue;
      for (const { name, seconds } of larger.steps) {
        const before = smaller.steps.find((step) => step.name === name)?.seconds ?? null;
        if (before === null || before <= 0 || seconds === null || seconds <= 0) continue;
        const growth = perDecade({ size: smaller.size, value: before }, { size: larger.size, value: seconds });
        slopes.push({ bench, step: name, from: smaller.size, to: larger.size, seconds, perDecade: growth });
      }
    }
  }
  return slopes;
}

/** Returns the slopes that are too steep, the steepest first. */
export function steepOf(slopes: readonly Slope[]): Slope[] {
  return slopes.filter(({ seconds, perDecade: growth }) => growth > STEEP && seconds >= TINY).sort((a, b) => b.perDecade - a.perDecade);
}
