/** Implements `mappale serve --workers N`. This process handles signals and keeps N worker processes running. The workers answer requests. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueFor } from '../api/access.ts';
import { Primary } from '../api/workers.ts';
import { MappaleError } from '../pipelines/errors.ts';
import type { Log } from '../pipelines/log.ts';
import { GRACE_MS, sayWhere, stopSignal, type Announcing } from './serving.ts';

/** Pause in milliseconds before a worker is replaced. The pause doubles with each successive worker that ended early, up to a maximum. */
const [PAUSE_MS, LONGEST_PAUSE_MS] = [250, 30_000];

/** Minimum lifetime of a worker in milliseconds. A worker with a shorter lifetime ended early. */
const LASTING_MS = 60_000;

/** Time in milliseconds that a stopping worker has to close its connections, after the time for its requests. */
const CLOSING_MS = 5_000;

interface WorkersOptions extends Announcing {
  readonly workers: number;
  /** Number of database connections of each worker. */
  readonly connections: number;
}

/** Exit code of a process, or the signal that ended it. */
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
 * Serves until a stop signal. If a worker ends during startup, the command ends with the exit code of that worker, because the next worker would fail too.
 * Workers that end later are replaced.
 * @throws MappaleError `WORKER_ENDED` if a worker ended during startup without an error code
 */
export async function serveByWorkers({ workers, connections, link, json }: WorkersOptions, log: Log): Promise<void> {
  const pool = new WorkerPool(new Primary(queueFor(connections), link), log);
  const stopped = stopSignal();
  const found = await Promise.race([pool.start(workers), pool.failed, stopped]);
  const failure = typeof found === 'object' ? found : null;
  if (found === 'serving') sayWhere(pool.address, log, { link, json });
  if (failure === null) log.info(`${await stopped}: ${pool.size} workers are finishing current requests`);
  await pool.stop();
  if (failure === null) return;
  if (failure.code === null || failure.code === 0) {
    throw new MappaleError('a worker ended during startup', { code: 'WORKER_ENDED', kind: 'bug', detail: nameOf(failure), hint: 'Check whether the machine ran out of memory.' });
  }
  process.exitCode = failure.code;
}

/** Worker processes that answer requests. A worker that ends after startup is replaced. */
class WorkerPool {
  readonly #primary: Primary;
  readonly #log: Log;
  readonly #alive = new Set<Started>();
  readonly #stopping = new AbortController();
  #state: 'starting' | 'serving' | 'stopping' = 'starting';
  #address = '';
  /** Number of successive workers that ended early. */
  #soonGone = 0;
  #fail: (how: Ended) => void = () => undefined;
  /** Resolves if a worker ends before all workers are ready. */
  readonly failed: Promise<Ended> = new Promise((resolve) => (this.#fail = resolve));

  constructor(primary: Primary, log: Log) {
    this.#primary = primary;
    this.#log = log;
  }

  get address(): string {
    return this.#address;
  }

  get size(): number {
    return this.#alive.size;
  }

  async start(workers: number): Promise<'serving'> {
    // The first worker starts alone, so an error is printed only once.
    await this.#startWorker();
    await Promise.all(Array.from({ length: workers - 1 }, () => this.#startWorker()));
    if (this.#state === 'starting') this.#state = 'serving';
    return 'serving';
  }

  /** Lets active workers finish their requests, and stops workers that are starting. Kills workers that are still running after `GRACE_MS + CLOSING_MS`. */
  async stop(): Promise<void> {
    this.#state = 'stopping';
    this.#stopping.abort();
    this.#primary.stop();
    for (const { worker, answers } of this.#alive) if (!answers) worker.process.kill('SIGTERM');
    const late = setTimeout(() => {
      for (const { worker } of this.#alive) worker.process.kill('SIGKILL');
    }, GRACE_MS + CLOSING_MS);
    await Promise.all([...this.#alive].map(({ ended }) => ended));
    clearTimeout(late);
  }

  /** Starts a worker. The promise resolves when the worker listens. */
  #startWorker(): Promise<void> {
    const worker = cluster.fork();
    const begun = performance.now();
    const ended = once(worker, 'exit').then(([code, signal]): Ended => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }));
    const started: Started = { worker, ended, answers: false };
    this.#alive.add(started);
    void ended.then((how) => this.#replace(started, how, performance.now() - begun));
    return new Promise((resolve) => this.#primary.open(worker, (where) => {
      this.#address = where;
      started.answers = true;
      resolve();
    }));
  }

  async #replace(started: Started, how: Ended, livedMs: number): Promise<void> {
    this.#alive.delete(started);
    if (this.#state === 'starting') this.#fail(how);
    if (this.#state !== 'serving') return;
    this.#primary.lost();
    this.#soonGone = livedMs < LASTING_MS ? this.#soonGone + 1 : 0;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** this.#soonGone);
    this.#log.warn(`worker ${started.worker.process.pid ?? 'without a number'} ended (${nameOf(how)}). A new worker starts in ${pause / 1000} s`);
    await sleep(pause, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    // A port that was chosen at random is released when the last worker ends. To get the same port, the next worker starts with this port as an option.
    if (this.#alive.size === 0) cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', new URL(this.#address).port] });
    if (!this.#stopping.signal.aborted) void this.#startWorker();
  }
}

function nameOf({ code, signal }: Ended): string {
  return signal ?? `exit code ${code ?? '?'}`;
}
