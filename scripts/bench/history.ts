/** Reads and writes the history of measurements. Each line is the JSON of one benchmark run, with commit, machine and versions. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../../pipelines/config.ts';
import { MappaleError } from '../../pipelines/errors.ts';

export const HISTORY = join(ROOT, 'scripts', 'bench', 'history.jsonl');

const amount = z.number().min(0).nullable();

const step = z.strictObject({
  name: z.string(),
  seconds: amount,
  rows: amount,
  rowsPerSecond: amount,
});

const measurement = z.strictObject({
  /** Number of parcels or other rows; null if the benchmark has no size. */
  size: z.number().int().positive().nullable(),
  /** Duration of the whole run in seconds. */
  seconds: amount,
  steps: z.array(step),
  /** User and system time in seconds. `server`: time of all processes of the database server during the run. */
  cpuSeconds: z.strictObject({ node: amount, server: amount }),
  /**
   * Peak memory in MiB (2^20 bytes). `node`: maximum resident set. `server`: highest sampled memory of all server processes in total, without shared buffers.
   */
  peakMiB: z.strictObject({ node: amount, server: amount }),
  walBytes: amount,
  /**
   * Sizes on disk. `published`: tables and indexes of `core` and `section`. `after`: the database after the run. `peak`: highest sampled size of the database
   * plus temporary files.
   */
  diskBytes: z.strictObject({ published: amount, after: amount, peak: amount }),
  /** Further measurements of the benchmark, by name. Names contain the unit, unless the number is a count. */
  figures: z.record(z.string(), z.number().nullable()),
});

const circumstances = z.strictObject({
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  /** True if the working copy had changes that were not in the commit. */
  dirty: z.boolean(),
  date: z.iso.datetime(),
  machine: z.strictObject({ cpu: z.string(), cores: z.number().int().positive(), memoryMiB: z.number().int().positive() }),
  /** `gdal`: the library that the readers use. `ogr2ogr`: the program in PATH. */
  versions: z.strictObject({
    node: z.string(), postgres: z.string().nullable(), postgis: z.string().nullable(), gdal: z.string().nullable(), ogr2ogr: z.string().nullable(),
  }),
  /** Settings of the database server that affect the numbers. */
  settings: z.record(z.string(), z.string()),
});

const line = z.strictObject({ bench: z.string(), ...circumstances.shape, ...measurement.shape });

export type Step = Readonly<z.infer<typeof step>>;
/** Measurements of one run. Null means not measured. */
export type Measurement = Readonly<z.infer<typeof measurement>>;
export type Circumstances = Readonly<z.infer<typeof circumstances>>;
export type Line = Readonly<z.infer<typeof line>>;

/** Returns a measurement with steps and further numbers. All other values are null. */
export function ofSteps(size: number | null, steps: readonly Step[], figures: Measurement['figures'] = {}): Measurement {
  return {
    size, seconds: null, steps: [...steps], cpuSeconds: { node: null, server: null }, peakMiB: { node: null, server: null }, walBytes: null,
    diskBytes: { published: null, after: null, peak: null }, figures,
  };
}

/** Returns a step with a duration, and with a rate if the step has rows. @param rows number of rows; null if the step has no rows */
export function stepOf(name: string, seconds: number, rows: number | null): Step {
  return { name, seconds: rounded(seconds), rows, rowsPerSecond: rows === null || seconds <= 0 ? null : rounded(rows / seconds) };
}

/** Returns a step that has only a rate. */
export function rateOf(name: string, rowsPerSecond: number | null): Step {
  return { name, seconds: null, rows: null, rowsPerSecond: rowsPerSecond === null ? null : rounded(rowsPerSecond) };
}

/** Rounds to four significant digits. No measurement is more accurate. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function appendHistory(lines: readonly Line[]): void {
  appendFileSync(HISTORY, lines.map((each) => `${JSON.stringify(line.parse(each))}\n`).join(''));
}

/** Reads the history, in the order of the runs. @throws Error with the number of an invalid line */
export function readHistory(): Line[] {
  return existsSync(HISTORY) ? parseHistory(readFileSync(HISTORY, 'utf8')) : [];
}

/** @throws Error with the number of an invalid line */
export function parseHistory(text: string): Line[] {
  return text.split('\n').flatMap((each, index) => {
    if (each === '') return [];
    try {
      return [line.parse(JSON.parse(each))];
    } catch (error) {
      throw new Error(`history.jsonl, line ${index + 1}: ${String(error)}`, { cause: error });
    }
  });
}

/** Returns the state of the code at a run: the commit, followed by + if the working copy had changes. */
export function stateOf({ commit, dirty }: Pick<Line, 'commit' | 'dirty'>): string {
  return `${commit}${dirty ? '+' : ''}`;
}

/** Shortens the commit of a state to eight digits. */
export function shortState(state: string): string {
  return `${state.slice(0, 8)}${state.endsWith('+') ? '+' : ''}`;
}

/** Returns the states in the order of their first runs. */
export function statesOf(history: readonly Line[]): string[] {
  return [...new Set(history.map(stateOf))];
}

/**
 * Returns the state that a user names. Without `+`, prefers a single matching state without changes. @param asked first digits of a commit, followed by `+` for
 * a changed working copy; or `last`, `last~1` …
 * @throws MappaleError `BENCH_STATE` (exit 2) with the list of states if no state or several states match
 */
export function findState(history: readonly Line[], asked: string): string {
  const states = statesOf(history);
  const [, back] = /^last(?:~(\d+))?$/.exec(asked) ?? [];
  const isLast = /^last(~\d+)?$/.test(asked);
  const isChanged = asked.endsWith('+');
  const begins = states.filter((each) => each.startsWith(isChanged ? asked.slice(0, -1) : asked) && (!isChanged || each.endsWith('+')));
  const clean = begins.filter((each) => !each.endsWith('+'));
  const found = isLast ? states.reverse().slice(Number(back ?? 0), Number(back ?? 0) + 1) : clean.length === 1 ? clean : begins;
  const [state, ...others] = found;
  if (state !== undefined && others.length === 0) return state;
  throw new MappaleError(state === undefined ? `no benchmark was run on ${asked}` : `${asked} matches more than one state`, {
    code: 'BENCH_STATE', kind: 'usage', detail: `expected one of ${statesOf(history).map(shortState).join(', ') || 'none, the history is empty'}`,
  });
}

/** Returns the last line of each benchmark and size that was measured on a state. */
export function latestOf(history: readonly Line[], state: string): Line[] {
  return [...new Map(history.filter((each) => stateOf(each) === state).map((each) => [`${each.bench} ${each.size ?? ''}`, each])).values()];
}

export function isSameMachine(a: Pick<Line, 'machine'>, b: Pick<Line, 'machine'>): boolean {
  // Tolerates a difference of 5 % in memory, because a kernel update changes the reported memory a little.
  return a.machine.cpu === b.machine.cpu && a.machine.cores === b.machine.cores && Math.abs(a.machine.memoryMiB / b.machine.memoryMiB - 1) < 0.05;
}
