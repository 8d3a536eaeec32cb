/** The far side of `threads.ts`: what runs in a thread. */
import { isMainThread, parentPort, type MessagePort } from 'node:worker_threads';
import { MappaleError, type ErrorFacts } from '../errors.ts';

/** A thread stands still when it is this far ahead of what was taken from it. */
const AHEAD_KIB = 8 * 1024;

/** To a thread: one task. */
export interface Order<Task> {
  readonly task: Task;
  /** KiB that were taken of what the task posted. */
  readonly taken: Int32Array;
}

/** From a thread, in its order. */
export type Posted<Message> =
  | { readonly kind: 'message'; readonly message: Message; readonly kib: number }
  | { readonly kind: 'done' }
  /** `facts` of an error that the program foresees; another one as it is. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly facts: ErrorFacts | null };

/** Where a task leaves what it makes. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  readonly #taken: Int32Array;
  #postedKib = 0;

  constructor(port: MessagePort, taken: Int32Array) {
    this.#port = port;
    this.#taken = taken;
  }

  /** @param bytes what the message counts for in how far the thread is ahead. @param moved memory that goes over instead of a copy */
  post(message: Message, bytes: number = 0, moved: readonly ArrayBuffer[] = []): void {
    const kib = Math.ceil(bytes / 1024);
    this.#postedKib += kib;
    this.#port.postMessage({ kind: 'message', message, kib } satisfies Posted<Message>, moved);
  }

  /** Stands still while too much of what was posted has not been taken. */
  wait(): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, 0);
      if (this.#postedKib - taken <= AHEAD_KIB) return;
      Atomics.wait(this.#taken, 0, taken);
    }
  }
}

/** Takes tasks, one after another, for as long as the thread lives. */
export function serve<Task, Message>(work: (task: Task, out: Outbox<Message>) => Promise<void>): void {
  if (isMainThread || parentPort === null) throw new Error('this module runs in a thread');
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
