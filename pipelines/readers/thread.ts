/**
 * The far side of `threads.ts`: runs a source's reader in a thread and posts what it writes. The reader sees an ordinary sink; rows
 * are posted as finished COPY chunks, so that the other side has nothing to do per row but stamp the member on it.
 */
import { isMainThread, parentPort, type MessagePort } from 'node:worker_threads';
import { MappaleError, type ErrorFacts } from '../errors.ts';
import { RowWriter } from '../formats/copy.ts';
import type { Columns, MemberFacts, MemberSink, Reject, Sink } from '../contract/source.ts';

/** A thread stands still when it is this far ahead of what was taken from it. */
const AHEAD_KIB = 8 * 1024;

/** Rows are posted in chunks of this many: each one wakes the other side. */
const POSTED_BYTES = 262_144;

/** From the machine: one task. */
export interface Order<Task> {
  readonly task: Task;
  /** KiB that were taken of what the task posted. */
  readonly taken: Int32Array;
}

/** To the machine: what the reader did, in its order. */
export type Message =
  | { readonly kind: 'member'; readonly facts: MemberFacts }
  | { readonly kind: 'rows'; readonly table: string; readonly buffer: ArrayBuffer; readonly length: number; readonly progress: number }
  | { readonly kind: 'reject'; readonly reject: Omit<Reject, 'raw'> & { readonly raw: string | Uint8Array }; readonly progress: number }
  | { readonly kind: 'duplicate'; readonly position: number; readonly code: string }
  | { readonly kind: 'close'; readonly records: number }
  | { readonly kind: 'done' }
  /** `facts` of an error that the program foresees; another one as it is. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly facts: ErrorFacts | null };

/** What a message counts for in `Order.taken`. */
export function kibOf(message: Message): number {
  const bytes = message.kind === 'rows' ? message.buffer.byteLength : message.kind === 'reject' ? message.reject.raw.length : 0;
  return Math.ceil(bytes / 1024);
}

/**
 * Takes tasks, one after another, for as long as the thread lives.
 * @param read like `Source.read`, of one task
 */
export function serve<Task>(tables: Readonly<Record<string, Columns>>, read: (task: Task, sink: Pick<Sink, 'member'>, progress: (bytes: number) => void) => Promise<void>): void {
  if (isMainThread || parentPort === null) throw new Error('this module runs in a thread');
  const port = parentPort;
  port.on('message', ({ task, taken }: Order<Task>) => {
    const sink = new PostingSink(port, tables, taken);
    read(task, sink, (bytes) => (sink.bytes = bytes)).then(
      () => sink.post({ kind: 'done' }),
      (error: unknown) => sink.post(
        error instanceof MappaleError
          ? { kind: 'failed', error: error.message, facts: { code: error.code, kind: error.kind, at: error.at, detail: error.detail, hint: error.hint } }
          : { kind: 'failed', error, facts: null },
      ),
    );
  });
}

class PostingSink implements Pick<Sink, 'member'> {
  /** Bytes of the document that are done. */
  bytes = 0;
  readonly #port: MessagePort;
  readonly #tables: Readonly<Record<string, Columns>>;
  readonly #taken: Int32Array;
  #posted = 0;

  constructor(port: MessagePort, tables: Readonly<Record<string, Columns>>, taken: Int32Array) {
    this.#port = port;
    this.#tables = tables;
    this.#taken = taken;
  }

  post(message: Message, moved: readonly ArrayBuffer[] = []): void {
    // Counted first: a buffer that was moved has no length.
    this.#posted += kibOf(message);
    this.#port.postMessage(message, moved);
  }

  async member(facts: MemberFacts): Promise<MemberSink> {
    this.post({ kind: 'member', facts });
    const writers = new Map(Object.entries(this.#tables).map(([table, columns]) => [table, new RowWriter(columns, (chunk) => {
      const buffer = chunk.buffer as ArrayBuffer;
      this.post({ kind: 'rows', table, buffer, length: chunk.length, progress: this.bytes }, [buffer]);
    }, POSTED_BYTES)]));
    const writer = (table: string): RowWriter => {
      const found = writers.get(table);
      if (found === undefined) throw new Error(`unknown staging table ${table}`);
      return found;
    };
    return {
      // The machine's: it is stamped on the rows where they are taken.
      memberId: 0,
      writer,
      row: (table, position, values) => writer(table).row(position, values),
      reject: (reject) => {
        // A copy of its own: of a view the whole memory under it would be posted.
        const raw = typeof reject.raw === 'string' ? reject.raw : Uint8Array.from(reject.raw);
        this.post({ kind: 'reject', reject: { ...reject, raw }, progress: this.bytes });
      },
      duplicate: (position, code) => this.post({ kind: 'duplicate', position, code }),
      drain: () => {
        for (let taken = Atomics.load(this.#taken, 0); this.#posted - taken > AHEAD_KIB; taken = Atomics.load(this.#taken, 0)) Atomics.wait(this.#taken, 0, taken);
        return undefined;
      },
      close: async (records) => {
        for (const each of writers.values()) each.flush();
        this.post({ kind: 'close', records });
      },
    };
  }
}
