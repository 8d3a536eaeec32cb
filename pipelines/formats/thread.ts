/** Runs the tasks of `threads.ts` in a thread. */
import { isMainThread, parentPort, type MessagePort } from 'node:worker_threads';
import { MappaleError, type ErrorFacts } from '../errors.ts';

/** Size in KiB of unconsumed messages at which a thread waits. */
const AHEAD_KIB = 8 * 1024;

/** Message to a thread, with one task. */
export interface Order<Task> {
  readonly task: Task;
  /** Size in KiB of the task's messages that were consumed. */
  readonly taken: Int32Array;
}

/** Messages from a thread, in their order. */
export type Posted<Message> =
  | { readonly kind: 'message'; readonly message: Message; readonly kib: number }
  | { readonly kind: 'done' }
  /** `facts` of an error that the program foresees; another one as it is. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly facts: ErrorFacts | null };

/** An outbox, which posts the results of a task. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  readonly #taken: Int32Array;
  #postedKib = 0;

  constructor(port: MessagePort, taken: Int32Array) {
    this.#port = port;
    this.#taken = taken;
  }

  /** @param bytes size of the message, for the limit @param moved memory that is transferred and not copied */
  post(message: Message, bytes: number = 0, moved: readonly ArrayBuffer[] = []): void {
    const kib = Math.ceil(bytes / 1024);
    this.#postedKib += kib;
    this.#port.postMessage({ kind: 'message', message, kib } satisfies Posted<Message>, moved);
  }

  /** Waits while too many bytes of messages are unconsumed. */
  wait(): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, 0);
      if (this.#postedKib - taken <= AHEAD_KIB) return;
      Atomics.wait(this.#taken, 0, taken);
    }
  }
}

/** Runs tasks one after another until the thread ends. */
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
