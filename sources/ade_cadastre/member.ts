/** Reads one GML document into one member, with its rows and its rejects. Each reject has a line and a column. */
import { inputError, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import { inflated, type EntryExtent } from '../../pipelines/formats/zip.ts';
import { GmlDocument } from './document.ts';
import { featureColumns } from './feature-columns.ts';
import { Refusal } from './strict.ts';

/** Cadastral code at the start of a file's name. The rest of the name is unreliable, because it has backticks in place of apostrophes and accents. */
const FILE_BELFIORE = /^([A-Z]\d{3})_/;

export interface Input {
  /** Path inside the file, or `''` if the document is the file itself. */
  readonly path: string;
  readonly name: string;
  /** Name of the document in errors. */
  readonly at: string;
  /**
   * Source of the bytes: a function that opens a plain file, or an entry of a zip. The checksum of an entry verifies the publisher's bytes, and any thread can
   * read the entry.
   */
  readonly from: EntryExtent | (() => AsyncIterable<Buffer>);
}

/**
 * Reads one document into one member.
 * @param progress receives the number of processed bytes of the document
 * @throws input errors of the zip and of `GmlDocument`. `XML_MALFORMED` if the prologue is malformed. `GML_TRUNCATED` if the document ends too early
 */
export async function readDocument(input: Input, sink: Pick<Sink, 'member'>, progress: (bytes: number) => void): Promise<void> {
  const { from } = input;
  const entry = typeof from === 'function' ? null : from;
  const origin = entry === null ? 'file' : 'entry';
  const open = typeof from === 'function' ? from : (): AsyncIterable<Buffer> => inflated(from);
  const document = new GmlDocument({ at: input.at });
  const lines = new Lines(open);
  let member: MemberSink | null = null;
  let bytes = 0;
  const openMember = (before: string, after: string): Promise<MemberSink> => sink.member({
    path: input.path,
    ...(entry === null ? {} : { crc32: entry.crc32, size: entry.size }),
    envelope: { before, after },
  });
  try {
    for await (const chunk of open()) {
      document.push(chunk);
      bytes += chunk.length;
      progress(bytes);
      if (document.root === null) continue;
      if (member === null) {
        // Replaces the counts in the header with `unknown`, because the envelope is later used to wrap a single record.
        const before = document.root.text.replace(/\b(numberMatched|numberReturned)=(["'])\d+\2/g, '$1=$2unknown$2');
        member = await openMember(before, `</${document.root.name}>`);
        document.open({ parcels: member.writer('raw_parcel'), sheets: member.writer('raw_sheet'), fileBelfiore: FILE_BELFIORE.exec(input.name)?.[1] ?? null, columns: featureColumns(member, input.at) });
      }
      document.process();
      if (document.problems.length > 0) await report(document, lines, member);
      const full = member.drain();
      if (full !== undefined) await full;
    }
    document.finish();
    if (document.truncated || document.root === null || member === null) throw truncated(input.at, origin);
    const { numberMatched, numberReturned } = document.root;
    if (origin === 'entry' && numberMatched !== null && numberReturned !== null && numberMatched !== numberReturned) {
      document.report('count_contradicts_header', `expected all features, found ${numberReturned} of ${numberMatched} as numberReturned and numberMatched say`);
    }
    await report(document, lines, member);
    await member.close(document.records);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The prologue is broken, so no member can be read. The number of lost parcels is unknown, so the document never becomes a single reject.
    if (error.code === 'document_truncated') throw truncated(input.at, origin);
    throw inputError('the document is not well-formed', {
      code: 'XML_MALFORMED', at: `${input.at}:${error.place.line}`, detail: `${error.message} (column ${error.place.column})`, hint: again(origin),
    });
  } finally {
    await lines.close();
  }
}

/** Writes a reject for each problem of the document, with line and column, and empties the list of problems. */
async function report(document: GmlDocument, lines: Lines, member: MemberSink): Promise<void> {
  for (const problem of document.problems.splice(0)) {
    const start = await lines.at(problem.position);
    const line = start.line + problem.place.line - 1;
    const column = problem.place.line === 1 ? start.column + problem.place.column - 1 : problem.place.column;
    member.reject({ position: problem.position, code: problem.code, message: `${problem.message} (line ${line}, column ${column})`, raw: problem.raw });
  }
}

/** Origin of a document: an entry of a zip, whose checksum verifies the publisher's bytes, or a plain file, which has no checksum. */
type Origin = 'entry' | 'file';

function truncated(at: string, origin: Origin): Error {
  return inputError('the document ends too early', {
    code: 'GML_TRUNCATED', at, detail: 'expected the end tag of the root element, found the end of the file', hint: again(origin),
  });
}

function again(origin: Origin): string {
  return origin === 'entry' ? 'The document was already broken when the zip was created. Remove the document from the zip to load the other documents, or wait for the publisher\'s next release.' : 'The download was probably cut short. Download the file again.';
}

/**
 * Finds the line and column of a byte offset. Only problems need a line and a column. A second reader reads the document again, but only up to the
 * last problem. A document without problems is therefore read once.
 */
class Lines {
  readonly #open: () => AsyncIterable<Buffer>;
  #chunks: AsyncIterator<Buffer> | null = null;
  #chunk: Buffer = Buffer.alloc(0);
  /** Offset of the chunk's first byte. */
  #offset = 0;
  /** Number of bytes of the chunk that were searched for line feeds. */
  #counted = 0;
  #line = 1;
  /** Offset of the line's first byte. */
  #lineStart = 0;

  constructor(open: () => AsyncIterable<Buffer>) {
    this.#open = open;
  }

  /**
   * Returns the line and the column of an offset. Lines and columns start at 1, and the column counts bytes. Offsets must not decrease between calls,
   * except to 0.
   */
  async at(offset: number): Promise<{ line: number; column: number }> {
    if (offset === 0) return { line: 1, column: 1 };
    this.#chunks ??= this.#open()[Symbol.asyncIterator]();
    while (this.#offset + this.#counted < offset) {
      if (this.#counted === this.#chunk.length) {
        const next = await this.#chunks.next();
        if (next.done === true) break;
        this.#offset += this.#chunk.length;
        this.#chunk = next.value;
        this.#counted = 0;
      }
      const until = Math.min(this.#chunk.length, offset - this.#offset);
      for (let at = this.#chunk.indexOf(0x0a, this.#counted); at >= 0 && at < until; at = this.#chunk.indexOf(0x0a, at + 1)) {
        this.#line += 1;
        this.#lineStart = this.#offset + at + 1;
      }
      this.#counted = until;
    }
    return { line: this.#line, column: offset - this.#lineStart + 1 };
  }

  async close(): Promise<void> {
    await this.#chunks?.return?.();
  }
}
