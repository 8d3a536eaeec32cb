/**
 * Runs a source's reader in a thread. The reader in the thread uses a sink that posts rows as finished COPY chunks. The main thread passes the chunks to the
 * real sink in the same order, and sets the member id in each row.
 */
import { RowWriter } from '../formats/copy.ts';
import { serve, type Outbox } from '../formats/thread.ts';
import type { Columns, MemberFacts, MemberSink, Reject, Sink } from '../contract/source.ts';

/** Size in bytes at which a chunk of rows is posted. Chunks are large, because each chunk wakes the main thread. */
const POSTED_BYTES = 262_144;

/** An action of the reader, which the thread posts to the main thread. */
export type SinkMessage =
  | { readonly kind: 'member'; readonly facts: MemberFacts }
  | { readonly kind: 'rows'; readonly table: string; readonly buffer: ArrayBuffer; readonly length: number; readonly progress: number }
  | { readonly kind: 'reject'; readonly reject: Omit<Reject, 'raw'> & { readonly raw: string | Uint8Array }; readonly progress: number }
  | { readonly kind: 'duplicate'; readonly position: number; readonly code: string }
  | { readonly kind: 'added'; readonly column: string; readonly sample: string | undefined }
  | { readonly kind: 'close'; readonly records: number };

/** Reports the number of bytes of a document that the reader has processed. */
type Progress = (bytes: number) => void;

/** Runs a reader in a thread, for each task that the main thread sends. @param read reads the document of one task, like `Source.read` */
export function serveReader<Task>(
  tables: Readonly<Record<string, Columns>>, read: (task: Task, sink: Pick<Sink, 'member'>, progress: Progress) => Promise<void>,
): void {
  serve<Task, SinkMessage>((task, out) => {
    let done = 0;
    return read(task, { member: async (facts) => postingMember(facts, tables, out, () => done) }, (bytes) => (done = bytes));
  });
}

function postingMember(facts: MemberFacts, tables: Readonly<Record<string, Columns>>, out: Outbox<SinkMessage>, progress: () => number): MemberSink {
  out.post({ kind: 'member', facts });
  const writers = new Map(Object.entries(tables).map(([table, columns]) => [table, new RowWriter(columns, (chunk) => {
    const buffer = chunk.buffer as ArrayBuffer;
    out.post({ kind: 'rows', table, buffer, length: chunk.length, progress: progress() }, buffer.byteLength, [buffer]);
  }, POSTED_BYTES)]));
  const writer = (table: string): RowWriter => {
    const found = writers.get(table);
    if (found === undefined) throw new Error(`unknown staging table ${table}`);
    return found;
  };
  return {
    // The main thread sets the member id after receiving the rows.
    memberId: 0,
    writer,
    row: (table, position, values) => writer(table).row(position, values),
    reject: (reject) => {
      // Copies the bytes, because posting a view would copy the whole underlying buffer.
      const raw = typeof reject.raw === 'string' ? reject.raw : Uint8Array.from(reject.raw);
      out.post({ kind: 'reject', reject: { ...reject, raw }, progress: progress() }, raw.length);
    },
    duplicate: (position, code) => out.post({ kind: 'duplicate', position, code }),
    added: (column, sample) => out.post({ kind: 'added', column, sample }),
    drain: () => {
      out.wait();
      return undefined;
    },
    close: async (records) => {
      for (const each of writers.values()) each.flush();
      out.post({ kind: 'close', records });
    },
  };
}

/** Repeats on a sink the actions that a reader posted from a thread. */
export async function replay(messages: AsyncIterable<SinkMessage>, sink: Pick<Sink, 'member'>, progress: Progress): Promise<void> {
  let open: MemberSink | null = null;
  for await (const message of messages) {
    if (message.kind === 'member') {
      open = await sink.member(message.facts);
      continue;
    }
    if (open === null) throw new Error(`expected a member as the first message of a reader in a thread, found ${message.kind}`);
    switch (message.kind) {
      case 'rows':
        open.writer(message.table).append(Buffer.from(message.buffer, 0, message.length));
        break;
      case 'reject': {
        const { raw } = message.reject;
        open.reject({ ...message.reject, raw: typeof raw === 'string' ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.length) });
        break;
      }
      case 'duplicate':
        open.duplicate(message.position, message.code);
        continue;
      case 'added':
        open.added(message.column, message.sample);
        continue;
      case 'close':
        await open.close(message.records);
        continue;
    }
    progress(message.progress);
    const full = open.drain();
    if (full !== undefined) await full;
  }
}
