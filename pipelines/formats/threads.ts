/**
 * Runs tasks in threads, one task at a time in each thread. A thread may produce messages faster than the caller consumes the messages. A task that calls
 * `Outbox.wait` limits the size of the unconsumed messages. Idle threads do not keep the process alive.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { MappaleError } from '../errors.ts';
import { IS_COMPILED, moduleFile } from '../program.ts';
import type { Order, Posted } from './thread.ts';

/** A task and the results that the caller has not consumed. */
class Part<Task, Message> {
  readonly task: Task;
  /** Name of the task in errors. */
  readonly at: string;
  readonly taken = new Int32Array(new SharedArrayBuffer(4));
  readonly #posted: Posted<Message>[] = [];
  #wake: () => void = () => undefined;

  constructor(task: Task, at: string) {
    this.task = task;
    this.at = at;
  }

  add(posted: Posted<Message>): void {
    this.#posted.push(posted);
    this.#wake();
  }

  async *messages(): AsyncGenerator<Message, void, undefined> {
    for (;;) {
      for (const posted of this.#posted.splice(0)) {
        if (posted.kind === 'done') return;
        if (posted.kind === 'failed') throw posted.facts === null ? posted.error : new MappaleError(String(posted.error), posted.facts);
        yield posted.message;
        // A message counts as consumed when the next message is requested.
        Atomics.add(this.taken, 0, posted.kib);
        Atomics.notify(this.taken, 0);
      }
      if (this.#posted.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A pool of threads that run the same module. Without `close`, the threads end with the process. */
export class Threads<Task, Message> {
  /** Current task of each thread; null for an idle thread. */
  readonly #threads = new Map<Worker, Part<Task, Message> | null>();
  readonly #waiting: Part<Task, Message>[] = [];
  /** Reason for the most recent end of a thread. */
  #reason = '';

  /** @param module TypeScript module that calls `serve` of `thread.ts` */
  constructor(module: URL, count: number) {
    for (let i = 0; i < count; i += 1) {
      // A thread cannot run TypeScript before `thread.mjs` has loaded the compiler.
      const file = moduleFile(fileURLToPath(module));
      const thread = new Worker(IS_COMPILED ? file : new URL('./thread.mjs', import.meta.url), { workerData: { module: file }, execArgv: [] });
      thread.unref();
      this.#threads.set(thread, null);
      thread.on('message', (posted: Posted<Message>) => {
        this.#threads.get(thread)?.add(posted);
        if (posted.kind === 'message') return;
        this.#threads.set(thread, null);
        thread.unref();
        this.#assign();
      });
      thread.on('error', (error) => this.#ended(thread, error instanceof Error ? error.message : String(error)));
      thread.on('exit', (code) => this.#ended(thread, `exit code ${code}`));
    }
  }

  /**
   * Starts a task as soon as a thread is free. Waiting tasks start in the order of the calls.
   * @param at name of the task in errors
   * @returns the messages of the task. If the task fails, the iteration throws the task's error
   */
  start(task: Task, at: string): AsyncGenerator<Message, void, undefined> {
    const part = new Part<Task, Message>(task, at);
    this.#waiting.push(part);
    this.#assign();
    return part.messages();
  }

  async close(): Promise<void> {
    const threads = [...this.#threads.keys()];
    this.#threads.clear();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #assign(): void {
    for (const [thread, part] of this.#threads) {
      if (part !== null) continue;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#threads.set(thread, next);
      thread.ref();
      thread.postMessage({ task: next.task, taken: next.taken } satisfies Order<Task>);
    }
    if (this.#threads.size === 0) for (const part of this.#waiting.splice(0)) this.#fail(part);
  }

  /** Handles the end of a thread. Only the task of this thread fails, with an error that names the task. Other tasks continue. */
  #ended(thread: Worker, reason: string): void {
    const part = this.#threads.get(thread);
    if (!this.#threads.delete(thread)) return;
    this.#reason = reason;
    if (part !== null && part !== undefined) this.#fail(part);
    this.#assign();
  }

  #fail(part: Part<Task, Message>): void {
    part.add({
      kind: 'failed',
      error: 'a thread that reads files ended',
      facts: {
        code: 'THREAD_ENDED', kind: 'bug', at: part.at, detail: `expected the thread to finish its task, found: ${this.#reason}`,
        hint: 'Run the same command again, with more memory if possible. If the command fails again, report the error with the file.',
      },
    });
  }
}
