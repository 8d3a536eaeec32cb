/**
 * Readers of parts of a file in threads of their own. Each part is read ahead, in any order; what it wrote is handed to the sink when
 * its turn comes, so that the sink sees what one thread would have shown it. How far a thread may be ahead is bounded in bytes.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { MappaleError } from '../errors.ts';
import type { MemberSink, Sink } from '../contract/source.ts';
import { kibOf, type Message, type Order } from './thread.ts';

/** Hands what a part holds to the sink, in its turn. @param progress takes the bytes of the part that are done */
export type Reading = (sink: Pick<Sink, 'member'>, progress: (bytes: number) => void) => Promise<void>;

/** One part: its order, and what came of it so far. */
class Part<Task> {
  readonly task: Task;
  /** How errors name it. */
  readonly at: string;
  readonly taken = new Int32Array(new SharedArrayBuffer(4));
  #messages: Message[] = [];
  #wake: () => void = () => undefined;

  constructor(task: Task, at: string) {
    this.task = task;
    this.at = at;
  }

  add(message: Message): void {
    this.#messages.push(message);
    this.#wake();
  }

  async replay(sink: Pick<Sink, 'member'>, progress: (bytes: number) => void): Promise<void> {
    let member: MemberSink | null = null;
    for (;;) {
      const messages = this.#messages;
      this.#messages = [];
      for (const message of messages) {
        switch (message.kind) {
          case 'member':
            member = await sink.member(message.facts);
            break;
          case 'rows':
            member!.writer(message.table).append(Buffer.from(message.buffer, 0, message.length));
            break;
          case 'reject': {
            const { raw } = message.reject;
            member!.reject({ ...message.reject, raw: typeof raw === 'string' ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.length) });
            break;
          }
          case 'duplicate':
            member!.duplicate(message.position, message.code);
            break;
          case 'close':
            await member!.close(message.records);
            break;
          case 'done':
            return;
          case 'failed':
            throw message.facts === null ? message.error : new MappaleError(String(message.error), message.facts);
        }
        if (message.kind !== 'rows' && message.kind !== 'reject') continue;
        progress(message.progress);
        const full = member!.drain();
        if (full !== undefined) await full;
        Atomics.add(this.taken, 0, kibOf(message));
        Atomics.notify(this.taken, 0);
      }
      if (this.#messages.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Threads that read parts of files. Close them. */
export class ReaderThreads<Task> {
  /** What each living thread works at. */
  readonly #threads = new Map<Worker, Part<Task> | null>();
  readonly #waiting: Part<Task>[] = [];
  /** Why the last thread that ended did so. */
  #reason = '';

  /** @param module calls `serve` of `thread.ts` */
  constructor(module: URL, count: number) {
    for (let i = 0; i < count; i += 1) {
      const thread = new Worker(new URL('./thread.mjs', import.meta.url), { workerData: { module: fileURLToPath(module) }, execArgv: [] });
      this.#threads.set(thread, null);
      thread.on('message', (message: Message) => {
        this.#threads.get(thread)?.add(message);
        if (message.kind !== 'done' && message.kind !== 'failed') return;
        this.#threads.set(thread, null);
        this.#assign();
      });
      thread.on('error', (error) => this.#ended(thread, error instanceof Error ? error.message : String(error)));
      thread.on('exit', (code) => this.#ended(thread, `exit code ${code}`));
    }
  }

  /** Has a part read, when a thread is free, in the order of the calls. @param at how errors name it */
  start(task: Task, at: string): Reading {
    const part = new Part(task, at);
    this.#waiting.push(part);
    this.#assign();
    return (sink, progress) => part.replay(sink, progress);
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
      thread.postMessage({ task: next.task, taken: next.taken } satisfies Order<Task>);
    }
    if (this.#threads.size === 0) for (const part of this.#waiting.splice(0)) this.#fail(part);
  }

  /** A thread that ended takes its part with it; the others go on, so that the error names the right one. */
  #ended(thread: Worker, reason: string): void {
    const part = this.#threads.get(thread);
    if (!this.#threads.delete(thread)) return;
    this.#reason = reason;
    if (part !== null && part !== undefined) this.#fail(part);
    this.#assign();
  }

  #fail(part: Part<Task>): void {
    part.add({
      kind: 'failed',
      error: 'a thread that reads files ended',
      facts: {
        code: 'THREAD_ENDED', kind: 'bug', at: part.at, detail: `expected it to read all that it was given, found: ${this.#reason}`,
        hint: 'Run the same command again, with more memory if there is any. If it fails again, please report it with the file.',
      },
    });
  }
}
