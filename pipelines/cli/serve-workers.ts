/** `mappale serve --workers N`: this process listens to signals and keeps N others at work, which answer. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueFor } from '../../api/access.ts';
import { Primary } from '../../api/workers.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SignInLink } from '../../api/sign-in.ts';
import { GRACE_MS, sayWhere, stopSignal } from './serving.ts';

/** Before a worker is replaced; milliseconds. Doubled for each that did not last, up to the longest. */
const [PAUSE_MS, LONGEST_PAUSE_MS] = [250, 30_000];

/** A worker that lived so long was well; milliseconds. */
const LASTING_MS = 60_000;

/** After the grace of its requests, what a worker may take to close its connections; milliseconds. */
const CLOSING_MS = 5_000;

export interface WorkersOptions {
  readonly workers: number;
  /** Of each worker. */
  readonly connections: number;
  /** By which a browser is signed in; null: none is. */
  readonly link: SignInLink | null;
}

/** How a process ended. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface Started {
  readonly worker: Worker;
  readonly ended: Promise<Ended>;
  answers: boolean;
}

/**
 * Serves until told to stop. A worker that ends while all are being started ends the whole, with its exit code: it said why, and the next one would, too. Later
 * ones are replaced.
 * @throws MappaleError `WORKER_ENDED` where it could not say why
 */
export async function serveByWorkers({ workers, connections, link }: WorkersOptions, log: Log): Promise<void> {
  const primary = new Primary(queueFor(connections), link);
  const alive = new Set<Started>();
  const stopping = new AbortController();
  let state: 'starting' | 'serving' | 'stopping' = 'starting';
  let address = '';
  let fail: (how: Ended) => void = () => undefined;
  const failed = new Promise<Ended>((resolve) => (fail = resolve));
  let soonGone = 0;

  const startWorker = (): Promise<void> => {
    const worker = cluster.fork();
    const begun = performance.now();
    const ended = once(worker, 'exit').then(([code, signal]): Ended => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }));
    const started: Started = { worker, ended, answers: false };
    alive.add(started);
    void ended.then(async (how) => {
      alive.delete(started);
      if (state === 'starting') fail(how);
      if (state !== 'serving') return;
      primary.lost();
      soonGone = performance.now() - begun < LASTING_MS ? soonGone + 1 : 0;
      const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** soonGone);
      log.warn(`worker ${worker.process.pid ?? 'without a number'} ended (${nameOf(how)}); another one takes its place in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      // With the last worker a port that was any free one is given back: those who come are to have the same.
      if (alive.size === 0) cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', new URL(address).port] });
      if (!stopping.signal.aborted) void startWorker();
    });
    return new Promise((resolve) => primary.open(worker, (where) => {
      address = where;
      started.answers = true;
      resolve();
    }));
  };
  const start = async (): Promise<null> => {
    // What is wrong is said by one.
    await startWorker();
    await Promise.all(Array.from({ length: workers - 1 }, startWorker));
    return null;
  };

  const stopped = stopSignal();
  const found = await Promise.race([start(), failed, stopped]);
  if (found === null) {
    state = 'serving';
    sayWhere(address, log, link);
  }
  const failure = found !== null && typeof found === 'object' ? found : null;
  if (failure === null) log.info(`${await stopped}: ${alive.size} workers finish the requests under way`);
  state = 'stopping';
  stopping.abort();
  await endAll(primary, alive);
  if (failure === null) return;
  if (failure.code === null || failure.code === 0) {
    throw new MappaleError('a worker ended before it answered', { code: 'WORKER_ENDED', kind: 'bug', detail: nameOf(failure), hint: 'Look whether the machine ran out of memory.' });
  }
  process.exitCode = failure.code;
}

function nameOf({ code, signal }: Ended): string {
  return signal ?? `exit code ${code ?? '?'}`;
}

/** Those who answer finish what is under way; those who are being started have nothing to finish. */
async function endAll(primary: Primary, alive: ReadonlySet<Started>): Promise<void> {
  primary.stop();
  for (const { worker, answers } of alive) if (!answers) worker.process.kill('SIGTERM');
  const late = setTimeout(() => {
    for (const { worker } of alive) worker.process.kill('SIGKILL');
  }, GRACE_MS + CLOSING_MS);
  await Promise.all([...alive].map(({ ended }) => ended));
  clearTimeout(late);
}
