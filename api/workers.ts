/**
 * Connects the worker processes, which serve one port, with the primary process. The primary process starts the workers and keeps the shared state: the queues,
 * the counts of requests without a key or while the database is read-only, the browser session, and the sums of all metrics. Because of the shared queues, the
 * limits of a token apply across all workers, except the limits for tiles. Each worker keeps all other state separately. Unless the database is
 * read-only, the database counts requests with a key and bad keys. The entity tag of a response depends on the publication, so caches never mix publications.
 */
import cluster, { type Worker } from 'node:cluster';
import { Counter, Registry } from 'prom-client';
import { explanationQueue } from './access.ts';
import { bodyQueue } from './body.ts';
import { memoryCount, type Count, type Counted, type Counting } from './counts.ts';
import { addUp, lasting, type Figure } from './metrics.ts';
import type { Exchanged, SessionHour, SignIn, Use } from './sign-in.ts';
import type { Release, TakeSlot, Slot, FairQueue } from './fair-queue.ts';

/** State that all workers share. */
export interface Shared {
  readonly take: TakeSlot;
  /** Queue of explanations. */
  readonly takeExplanation: TakeSlot;
  /** Queue of requests with a body. */
  readonly takeBody: TakeSlot;
  /** Counts requests without a key. While the database is read-only, also counts requests with a key and bad keys. */
  readonly count: Count;
  /** @param registry metrics of this process @returns function that returns the metrics of all processes as text */
  figures(registry: Registry): () => Promise<string>;
}

/** Returns the shared state of a server without workers. */
export function alone(queue: FairQueue): Shared {
  const explanations = explanationQueue();
  const bodies = bodyQueue();
  return {
    take: (caller) => queue.take(caller),
    takeExplanation: (caller) => explanations.take(caller),
    takeBody: (caller) => bodies.take(caller),
    count: memoryCount(),
    figures: (registry) => () => registry.metrics(),
  };
}

type QueueName = 'requests' | 'explanations' | 'bodies';

/** Message from a worker to the primary process. */
type FromWorker =
  | { readonly tell: 'listening'; readonly address: string }
  | { readonly tell: 'released'; readonly id: number }
  | { readonly tell: 'figures'; readonly figures: readonly Figure[] }
  | { readonly ask: 'turn'; readonly id: number; readonly queue: QueueName; readonly caller: string }
  | { readonly ask: 'count'; readonly id: number; readonly counting: Counting }
  | { readonly ask: 'exchange'; readonly id: number; readonly secret: string }
  | { readonly ask: 'hour'; readonly id: number; readonly session: string; readonly use: Use }
  | { readonly ask: 'figures'; readonly id: number };

type ToWorker =
  | { readonly tell: 'stop' }
  | { readonly ask: 'figures' }
  | { readonly answer: FromPrimary; readonly id: number };

/** Answer from the primary process to a worker's question. Each kind of question has a different type of answer. */
type FromPrimary = true | string | Counted | Exchanged | SessionHour | null;

/** Question from a worker to the primary process, before the question gets a number. */
type Question = { ask: 'turn'; queue: QueueName; caller: string } | { ask: 'figures' } | { ask: 'count'; counting: Counting } | { ask: 'exchange'; secret: string } | { ask: 'hour'; session: string; use: Use };

export interface Link extends Shared {
  /** Sign-in that the primary process performs, because only this process has the link. */
  readonly signIn: SignIn;
  /** Resolves when the server must stop. */
  readonly stopped: Promise<string>;
  listening(address: string): void;
}

/** Creates the worker's side of the channel to the primary process. @param worker this process */
export function linkOf(worker: Worker): Link {
  let last = 0;
  let own: Registry | null = null;
  const answers = new Map<number, (answer: FromPrimary) => void>();
  // Errors are ignored, because a worker ends when its channel closes.
  const send = (message: FromWorker): void => void worker.send(message, () => undefined);
  const ask = (question: Question): Promise<{ id: number; answer: FromPrimary }> => new Promise((resolve) => {
    const id = last += 1;
    answers.set(id, (answer) => resolve({ id, answer }));
    send({ ...question, id });
  });
  const stopped = new Promise<string>((resolve) => {
    worker.on('message', (message: ToWorker) => {
      if ('answer' in message) {
        answers.get(message.id)?.(message.answer);
        answers.delete(message.id);
      } else if ('tell' in message) {
        resolve('asked to stop');
      } else {
        void (own?.getMetricsAsJSON() ?? Promise.resolve([])).then((figures) => send({ tell: 'figures', figures: figures.map((each) => ({ ...each, type: String(each.type) })) }));
      }
    });
  });
  const taking = (queue: QueueName): TakeSlot => async (caller) => {
    const { id, answer } = await ask({ ask: 'turn', queue, caller });
    if (answer !== true) return answer as 'own' | 'others';
    return () => send({ tell: 'released', id });
  };
  return {
    stopped,
    listening: (address) => send({ tell: 'listening', address }),
    signIn: {
      exchange: async (secret) => (await ask({ ask: 'exchange', secret })).answer as Exchanged,
      hour: async (session, use) => (await ask({ ask: 'hour', session, use })).answer as SessionHour | null,
    },
    take: taking('requests'),
    takeExplanation: taking('explanations'),
    takeBody: taking('bodies'),
    count: async (counting) => (await ask({ ask: 'count', counting })).answer as Counted,
    figures(registry) {
      own = registry;
      return async () => (await ask({ ask: 'figures' })).answer as string;
    },
  };
}

/** Maximum time in milliseconds to wait for the metrics of a busy worker. After this time, the metrics that the worker reported last are used. */
const FIGURES_MS = 1_000;

interface KnownWorker {
  readonly worker: Worker;
  readonly releases: Map<number, Release>;
  /** Last reported metrics. */
  figures: readonly Figure[];
  /** Called when the next metrics arrive. */
  arrived: () => void;
}

/** Primary process's side of the channels to the workers. */
export class Primary {
  readonly #queues: Readonly<Record<QueueName, FairQueue>>;
  readonly #signIn: SignIn | null;
  readonly #count = memoryCount();
  readonly #workers = new Map<number, KnownWorker>();
  readonly #own = new Registry();
  readonly #lost = new Counter({ name: 'mappale_workers_lost_total', help: 'Workers that ended unexpectedly.', registers: [this.#own] });
  /** Sums of the counters and histograms of workers that have ended. */
  #past: Promise<readonly Figure[]> = Promise.resolve([]);
  /** Collection of metrics in progress, which all callers share. */
  #gathering: Promise<string> | null = null;

  /** @param queue queue of requests, with separate slots for each worker @param signIn sign-in for all workers; null: browsers cannot sign in */
  constructor(queue: FairQueue, signIn: SignIn | null) {
    this.#queues = { requests: queue, explanations: explanationQueue(), bodies: bodyQueue() };
    this.#signIn = signIn;
  }

  /** @param listening called with the address when the worker accepts requests */
  open(worker: Worker, listening: (address: string) => void): void {
    const known: KnownWorker = { worker, releases: new Map(), figures: [], arrived: () => undefined };
    worker.on('message', (message: FromWorker) => {
      if ('ask' in message) {
        void this.#answer(known, message);
      } else if (message.tell === 'released') {
        known.releases.get(message.id)?.();
        known.releases.delete(message.id);
      } else if (message.tell === 'figures') {
        known.figures = message.figures;
        known.arrived();
      } else {
        this.#workers.set(worker.id, known);
        listening(message.address);
      }
    });
    // Releases the slots of the worker that ended. The metrics that the worker counted after its last report are lost.
    worker.once('exit', () => {
      this.#workers.delete(worker.id);
      for (const release of known.releases.values()) release();
      known.releases.clear();
      known.arrived();
      this.#past = this.#past.then(async (past) => (await addUp([past, lasting(known.figures)])).figures);
    });
  }

  lost(): void {
    this.#lost.inc();
  }

  stop(): void {
    for (const { worker } of this.#workers.values()) send(worker, { tell: 'stop' });
  }

  async #answer({ worker, releases }: KnownWorker, question: Extract<FromWorker, { ask: string }>): Promise<void> {
    const { id } = question;
    if (question.ask === 'figures') {
      send(worker, { id, answer: await (this.#gathering ??= this.#gather().finally(() => (this.#gathering = null))) });
      return;
    }
    if (question.ask === 'count') {
      send(worker, { id, answer: await this.#count(question.counting) });
      return;
    }
    if (question.ask !== 'turn') {
      const answer = question.ask === 'hour'
        ? await this.#signIn?.hour(question.session, question.use) ?? null
        : await this.#signIn?.exchange(question.secret) ?? { refused: 'unknown' };
      send(worker, { id, answer });
      return;
    }
    const slot: Slot = await this.#queues[question.queue].take(question.caller, question.queue === 'bodies' ? undefined : worker.id);
    if (typeof slot !== 'function') {
      send(worker, { id, answer: slot });
    } else if (worker.isDead()) {
      slot();
    } else {
      releases.set(id, slot);
      send(worker, { id, answer: true });
    }
  }

  async #gather(): Promise<string> {
    await Promise.all([...this.#workers.values()].map((known) => new Promise<void>((resolve) => {
      const late = setTimeout(resolve, FIGURES_MS);
      known.arrived = () => {
        clearTimeout(late);
        resolve();
      };
      send(known.worker, { ask: 'figures' });
    })));
    const { text } = await addUp([await this.#past, ...[...this.#workers.values()].map(({ figures }) => figures)]);
    return `${text}\n${await this.#own.metrics()}`;
  }
}

/** Sends a message to a worker, unless the worker is ending. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Returns the channel of this process to the primary process, or null if this process is not a worker. */
export function ownLink(): Link | null {
  return cluster.worker === undefined ? null : linkOf(cluster.worker);
}
