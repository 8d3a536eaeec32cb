/** Runs the tasks of `threads.ts` in a thread. */
import { isMainThread, parentPort, type MessagePort } from 'node:worker_threads';
import { MappaleError, type ErrorFacts } from '../errors.ts';

/** Maximum size in KiB of unconsumed messages. `Outbox.wait` waits while the size is larger. */
const AHEAD_KIB = 8 * 1024;

/** Message to a thread, with one task. */
export interface Order<Task> {
  readonly task: Task;
  /** Total size in KiB of the task's messages that the consumer has consumed. */
  readonly taken: Int32Array;
}

/** A message from a thread. */
export type Posted<Message> =
  | { readonly kind: 'message'; readonly message: Message; readonly kib: number }
  | { readonly kind: 'done' }
  /** `facts` describes an expected error; null for any other error. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly facts: ErrorFacts | null };

/** Posts the results of a task to the main thread. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  readonly #taken: Int32Array;
  #postedKib = 0;

  constructor(port: MessagePort, taken: Int32Array) {
    this.#port = port;
    this.#taken = taken;
  }

  /** Posts one result. @param bytes size of the result, for the limit of unconsumed messages @param moved buffers to transfer instead of copying */
  post(message: Message, bytes: number = 0, moved: readonly ArrayBuffer[] = []): void {
    const kib = Math.ceil(bytes / 1024);
    this.#postedKib += kib;
    this.#port.postMessage({ kind: 'message', message, kib } satisfies Posted<Message>, moved);
  }

  /** Waits until the size of the unconsumed messages is within the limit. */
  wait(): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, 0);
      if (this.#postedKib - taken <= AHEAD_KIB) return;
      Atomics.wait(this.#taken, 0, taken);
    }
  }
}

/** Runs each task that the main thread sends, and posts the results. A module that runs in a thread calls this function once. */
export function serve<Task, Message>(work: (task: Task, out: Outbox<Message>) => Promise<void>): void {
  if (isMainThread || parentPort === null) throw new Error('this module must run in a thread');
  const port = parentPort;
  port.on('message', ({ task, taken }: Order<Task>) => {
    work(task, new Outbox(port, taken)).then(
      () => port.postMessage({ kind: 'done' } satisfies Posted<Message>),
      (error: unknown) => port.postMessage((error instanceof MappaleError
        ? { kind: 'failed', error: error.message, facts: Object.assign({}, error) }
        : { kind: 'failed', error, facts: null }) satisfies Posted<Message>),
    );
  });
}
