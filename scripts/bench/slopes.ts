/** How the cost of a parcel grows with the number of parcels. */
import type { Line } from './history.ts';

/** A cost per parcel that grows by more than a tenth for ten times as many parcels is named. */
export const STEEP = 1.1;
/** Seconds: of a step that takes less, the slope is noise. */
const TINY = 0.1;

export interface Slope {
  readonly bench: string;
  readonly step: string;
  /** Parcels of the two measurements. */
  readonly from: number;
  readonly to: number;
  /** At the larger size. */
  readonly seconds: number;
  /** What a parcel costs when there are ten times as many, beside what it costs now. */
  readonly perDecade: number;
}

/** Cost per parcel for ten times as many parcels, from two measurements: 10^(slope − 1), where slope is that of seconds over parcels, both as logarithms. */
export function perDecade(from: { readonly size: number; readonly value: number }, to: { readonly size: number; readonly value: number }): number {
  return 10 ** (Math.log(to.value / from.value) / Math.log(to.size / from.size) - 1);
}

/** Of every step between neighbouring sizes of one bench. @param lines of one state and machine, each bench and size once */
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

/** Those that are too steep, the worst first. */
export function steepOf(slopes: readonly Slope[]): Slope[] {
  return slopes.filter(({ seconds, perDecade: growth }) => growth > STEEP && seconds >= TINY).sort((a, b) => b.perDecade - a.perDecade);
}
