/** `mappale serve --workers N`: this process handles signals and keeps N worker processes running, which answer requests. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueFor } from '../../api/access.ts';
import { Primary } from '../../api/workers.ts';
import { MappaleError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SignInLink } from '../../api/sign-in.ts';
import { GRACE_MS, sayWhere, stopSignal } from './serving.ts';

/** Pause before a worker is replaced, in milliseconds. It doubles for each worker that ended early, up to the longest pause. */
const [PAUSE_MS, LONGEST_PAUSE_MS] = [250, 30_000];

/** Lifetime after which a worker counts as healthy, in milliseconds. */
const LASTING_MS = 60_000;

/** Time that a worker may take to close its connections after the grace time of its requests, in milliseconds. */
const CLOSING_MS = 5_000;

interface WorkersOptions {
  readonly workers: number;
  /** Connections of each worker. */
  readonly connections: number;
  /** Sign-in link for browsers, or null. */
  readonly link: SignInLink | null;
}

/** Exit code or signal of a process. */
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
 * Serves until a stop signal. If a worker ends during startup, the command ends with its exit code, because the next worker would fail too.
 * Workers that end later are replaced.
 * @throws MappaleError `WORKER_ENDED` if a worker ended during startup without an error code
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
      log.warn(`worker ${worker.process.pid ?? 'without a number'} ended (${nameOf(how)}); a new worker starts in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      // If the last worker ends, its random port is released. The next worker asks for the same port.
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
    // The first worker starts alone, so that an error is printed only once.
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
  if (failure === null) log.info(`${await stopped}: ${alive.size} workers are finishing current requests`);
  state = 'stopping';
  stopping.abort();
  await endAll(primary, alive);
  if (failure === null) return;
  if (failure.code === null || failure.code === 0) {
    throw new MappaleError('a worker ended before it answered', { code: 'WORKER_ENDED', kind: 'bug', detail: nameOf(failure), hint: 'Check whether the machine ran out of memory.' });
  }
  process.exitCode = failure.code;
}

function nameOf({ code, signal }: Ended): string {
  return signal ?? `exit code ${code ?? '?'}`;
}

/** Lets workers that serve finish their requests, and stops starting workers at once. */
async function endAll(primary: Primary, alive: ReadonlySet<Started>): Promise<void> {
  primary.stop();
  for (const { worker, answers } of alive) if (!answers) worker.process.kill('SIGTERM');
  const late = setTimeout(() => {
    for (const { worker } of alive) worker.process.kill('SIGKILL');
  }, GRACE_MS + CLOSING_MS);
  await Promise.all([...alive].map(({ ended }) => ended));
  clearTimeout(late);
}
