/**
 * Several processes that answer at one address. What must hold of them together is kept by the process that started them: turns of callers, so that a token has
 * as many requests in work as with one process, and the sum of all figures. The rest is each worker's own: the hour of a token and bad keys are counted
 * in the database, and every answer says of which publication it is, so that nothing that is remembered can be of another.
 */
import cluster, { type Worker } from 'node:cluster';
import { Counter, Registry } from 'prom-client';
import { explanationQueue } from './access.ts';
import { bodyQueue } from './body.ts';
import { memoryCount, type Count, type Counted, type Counting } from './counts.ts';
import { addUp, lasting, type Figure } from './metrics.ts';
import type { Exchanged, SessionHour, SignIn, Use } from './sign-in.ts';
import type { Release, TakeSlot, Slot, FairQueue } from './fair-queue.ts';

/** What the servers of one address share. */
export interface Shared {
  readonly take: TakeSlot;
  /** The same of explanations, which have a queue of their own. */
  readonly takeExplanation: TakeSlot;
  /** The same of bodies that are read. */
  readonly takeBody: TakeSlot;
  /** Counts requests while the database takes no rows. */
  readonly count: Count;
  /** @param registry figures of this process @returns tells those of all as text */
  figures(registry: Registry): () => Promise<string>;
}

/** Of a server that is alone. */
export function alone(turns: FairQueue): Shared {
  const explanations = explanationQueue();
  const bodies = bodyQueue();
  return {
    take: (caller) => turns.take(caller),
    takeExplanation: (caller) => explanations.take(caller),
    takeBody: (caller) => bodies.take(caller),
    count: memoryCount(),
    figures: (registry) => () => registry.metrics(),
  };
}

type QueueName = 'requests' | 'explanations' | 'bodies';

/** What a worker tells or asks. */
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

/** An answer: what it is follows from the question. */
type FromPrimary = true | string | Counted | Exchanged | SessionHour | null;

/** A question before it has a number. */
type Question = { ask: 'turn'; queue: QueueName; caller: string } | { ask: 'figures' } | { ask: 'count'; counting: Counting } | { ask: 'exchange'; secret: string } | { ask: 'hour'; session: string; use: Use };

export interface Link extends Shared {
  /** By the process that started this one, which has the link. */
  readonly signIn: SignIn;
  /** Resolves when the server is to stop. */
  readonly stopped: Promise<string>;
  listening(address: string): void;
}

/** A worker's end. @param worker this process */
export function linkOf(worker: Worker): Link {
  let last = 0;
  let own: Registry | null = null;
  const answers = new Map<number, (answer: FromPrimary) => void>();
  // A channel that is gone ends this process, too.
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
        resolve('told to stop');
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

/** How long a worker that is busy may take to tell its figures; then those that it told before stand. */
const FIGURES_MS = 1_000;

interface KnownWorker {
  readonly worker: Worker;
  readonly releases: Map<number, Release>;
  /** As it told them last. */
  figures: readonly Figure[];
  /** Told when the next ones come. */
  told: () => void;
}

/** The end of the process that starts workers. */
export class Primary {
  readonly #turns: Readonly<Record<QueueName, FairQueue>>;
  readonly #signIn: SignIn | null;
  readonly #count = memoryCount();
  readonly #workers = new Map<number, KnownWorker>();
  readonly #own = new Registry();
  readonly #lost = new Counter({ name: 'mappale_workers_lost_total', help: 'Workers that ended without being told to.', registers: [this.#own] });
  /** What workers counted that are no more. */
  #past: Promise<readonly Figure[]> = Promise.resolve([]);
  /** Figures that are being gathered; whoever asks meanwhile has those. */
  #gathering: Promise<string> | null = null;

  /** @param turns of requests, of which each worker is a place @param signIn of all workers; null: no browser is signed in */
  constructor(turns: FairQueue, signIn: SignIn | null) {
    this.#turns = { requests: turns, explanations: explanationQueue(), bodies: bodyQueue() };
    this.#signIn = signIn;
  }

  /** @param listening told the address when the worker answers */
  open(worker: Worker, listening: (address: string) => void): void {
    const known: KnownWorker = { worker, releases: new Map(), figures: [], told: () => undefined };
    worker.on('message', (message: FromWorker) => {
      if ('ask' in message) {
        void this.#answer(known, message);
      } else if (message.tell === 'released') {
        known.releases.get(message.id)?.();
        known.releases.delete(message.id);
      } else if (message.tell === 'figures') {
        known.figures = message.figures;
        known.told();
      } else {
        this.#workers.set(worker.id, known);
        listening(message.address);
      }
    });
    // Its turns are given to others; what it counted since its figures were read is lost.
    worker.once('exit', () => {
      this.#workers.delete(worker.id);
      for (const release of known.releases.values()) release();
      known.releases.clear();
      known.told();
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
    const slot: Slot = await this.#turns[question.queue].take(question.caller, question.queue === 'bodies' ? undefined : worker.id);
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
      known.told = () => {
        clearTimeout(late);
        resolve();
      };
      send(known.worker, { ask: 'figures' });
    })));
    const { text } = await addUp([await this.#past, ...[...this.#workers.values()].map(({ figures }) => figures)]);
    return `${text}\n${await this.#own.metrics()}`;
  }
}

/** What no longer reaches a worker that ends needs no answer. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** The link of this process, where another one started it as a worker. */
export function ownLink(): Link | null {
  return cluster.worker === undefined ? null : linkOf(cluster.worker);
}
