/** Compares the measurements of two states of the code (commits), step by step. */
import { textTable } from '../../pipelines/text-table.ts';
import { findState, isSameMachine, latestOf, shortState, type Line } from './history.ts';

/** Time ratio above which a step is listed as slower. */
const SLOWER = 1.1;
/** Time in seconds below which differences are only noise. */
const TINY = 0.1;

export interface ComparedStep {
  readonly bench: string;
  readonly size: number | null;
  readonly step: string;
  readonly seconds: readonly [number | null, number | null];
  readonly rowsPerSecond: readonly [number | null, number | null];
  /**
   * Time of the second state divided by the time of the first state. If a time is missing, the rate of the first state divided by the rate of the second state.
   * Null if the states have neither two times nor two rates.
   */
  readonly ratio: number | null;
}

/** Returns the steps that both states measured at the same size, in the order of the second state. */
export function compareLines(first: readonly Line[], second: readonly Line[]): ComparedStep[] {
  return second.flatMap((line) => {
    const other = first.find(({ bench, size }) => bench === line.bench && size === line.size);
    return line.steps.flatMap((step) => {
      const was = other?.steps.find(({ name }) => name === step.name);
      if (was === undefined) return [];
      return [{
        bench: line.bench, size: line.size, step: step.name,
        seconds: [was.seconds, step.seconds] as const, rowsPerSecond: [was.rowsPerSecond, step.rowsPerSecond] as const,
        ratio: quotient(step.seconds, was.seconds) ?? quotient(was.rowsPerSecond, step.rowsPerSecond),
      }];
    });
  });
}

function quotient(a: number | null, b: number | null): number | null {
  return a === null || b === null || b === 0 ? null : a / b;
}

/** Returns the steps that take more than 10 % longer in the second state, with the largest ratio first. Leaves out very short steps. */
export function slowerOf(steps: readonly ComparedStep[]): ComparedStep[] {
  return steps
    .filter(({ ratio, seconds }) => ratio !== null && ratio > SLOWER && seconds.some((each) => each === null || each >= TINY))
    .sort((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0));
}

/** Returns a table of the steps that both states measured, and a list of the slower steps. @throws MappaleError `BENCH_STATE` (exit 2) */
export function describeComparison(history: readonly Line[], askedFirst: string, askedSecond: string): string {
  const [first, second] = [askedFirst, askedSecond].map((asked) => findState(history, asked)) as [string, string];
  const [before, after] = [latestOf(history, first), latestOf(history, second)];
  const steps = compareLines(before, after);
  const names = [shortState(first), shortState(second)] as const;
  if (steps.length === 0) return `${names.join(' and ')} have no step of the same size in common`;
  const table = textTable(
    steps.map(({ bench, size, step, seconds, rowsPerSecond, ratio }) => [
      bench, size, step, ...seconds, ...rowsPerSecond.map((rate) => rate === null ? null : Math.round(rate)), ratio === null ? null : Number(ratio.toFixed(2)),
    ]),
    ['bench', 'size', 'step', `${names[0]}, s`, `${names[1]}, s`, 'rows/s', 'rows/s', 'time ratio'],
  );
  const slower = slowerOf(steps);
  const isOneMachine = before.every((a) => after.every((b) => isSameMachine(a, b)));
  return [
    table, '',
    ...(isOneMachine ? [] : ['The commits were measured on different machines. Ratios across machines mean little.']),
    slower.length === 0 ? `No step takes more than ${SLOWER} times as long.` : `Steps that take more than ${SLOWER} times as long:`,
    ...slower.map(({ bench, size, step, ratio }) => `  ${bench} ${size ?? ''} ${step}: ${ratio?.toFixed(2) ?? ''}`),
  ].join('\n');
}
