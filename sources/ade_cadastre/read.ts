/** Files, zips of files, zips of zips: each GML document becomes one member. */
import type { Readable } from 'node:stream';
import { inputError, type InputFile, type MemberSink, type Sink } from '../../pipelines/kit/source.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/kit/zip.ts';
import { GmlDocument } from './document.ts';
import { Refusal } from './strict.ts';

/** Italy's zip holds regions', those provinces', those comuni's. */
const DEPTH = 4;

/** Files that tools leave in zips; never the publisher's data. */
const LITTER = /(?:^|\/)(?:__MACOSX\/.*|\.DS_Store|Thumbs\.db|[^/]*\.gfs)$/i;

/** Cadastral code at the start of a file's name. The rest of the name is not reliable: apostrophes and accents are backticks. */
const FILE_BELFIORE = /^([A-Z]\d{3})_/;

/** @throws input errors of the zip, and those of `GmlDocument` */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  if (file.role === 'gml') {
    await readDocument({ path: '', name: file.name, at: file.name, verified: false, open: () => Promise.resolve(file.open()), progress: (bytes) => sink.progress(bytes) }, sink);
    return;
  }
  const archive = await file.zip();
  let done = 0;
  const advance = (bytes: number): void => {
    done += bytes;
    sink.progress(Math.round(done));
  };
  try {
    await readArchive(archive, '', 1, 1, sink, advance);
  } finally {
    await archive.close();
  }
}

/**
 * @param folder path of the archive inside the file, with `/`
 * @param share bytes of the outermost file for one byte of this archive
 * @param advance takes the bytes of the outermost file that are done
 */
async function readArchive(archive: ZipArchive, folder: string, depth: number, share: number, sink: Sink, advance: (bytes: number) => void): Promise<void> {
  // Sorted, so that the same entries in another order give the same rows: the first of two contradicting parcels is the one that stays.
  const entries = archive.entries.filter(({ path, isFolder }) => !isFolder && !LITTER.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of entries) {
    const path = folder + entry.path;
    if (/\.zip$/i.test(entry.path) && depth < DEPTH) {
      const inner = await archive.archive(entry.path);
      try {
        await readArchive(inner, `${path}/`, depth + 1, share * (entry.compressedSize / Math.max(1, entry.size)), sink, advance);
      } finally {
        await inner.close();
      }
    } else if (/\.gml$/i.test(entry.path)) await readEntry(archive, entry, path, entry.compressedSize * share, sink, advance);
    else {
      throw inputError('the zip holds something that is not known', {
        code: 'ENTRY_UNEXPECTED',
        at: `${archive.label}!${entry.path}`,
        detail: 'expected zips of provinces and comuni, and <code>_<NAME>_map.gml and _ple.gml inside of them',
        hint: 'Take the file out of the zip, or teach sources/ade_cadastre what it is.',
      });
    }
  }
}

/** @param weight bytes of the outermost file that the entry stands for */
async function readEntry(archive: ZipArchive, entry: ZipEntry, path: string, weight: number, sink: Sink, advance: (bytes: number) => void): Promise<void> {
  if (await sink.reuse({ path, crc32: entry.crc32, size: entry.size })) {
    advance(weight);
    return;
  }
  let before = 0;
  await readDocument({
    path,
    name: entry.path.split('/').at(-1)!,
    at: `${archive.label}!${entry.path}`,
    verified: true,
    entry,
    open: () => archive.stream(entry.path),
    progress: (bytes) => {
      advance(((bytes - before) / Math.max(1, entry.size)) * weight);
      before = bytes;
    },
  }, sink);
}

interface Input {
  readonly path: string;
  readonly name: string;
  /** How errors name it. */
  readonly at: string;
  /** True when a checksum says that these are the publisher's bytes. */
  readonly verified: boolean;
  readonly entry?: ZipEntry;
  open(): Promise<Readable>;
  /** @param bytes of the document, so far */
  progress(bytes: number): void;
}

async function readDocument(input: Input, sink: Sink): Promise<void> {
  const document = new GmlDocument({ at: input.at });
  const lines = new Lines(() => input.open());
  const stream = await input.open();
  let member: MemberSink | null = null;
  let bytes = 0;
  const openMember = (before: string, after: string): Promise<MemberSink> => sink.member({
    path: input.path,
    ...(input.entry === undefined ? {} : { crc32: input.entry.crc32, size: input.entry.size }),
    envelope: { before, after },
  });
  const report = async (target: MemberSink): Promise<void> => {
    for (const problem of document.problems.splice(0)) {
      const start = await lines.at(problem.position);
      const line = start.line + problem.place.line - 1;
      const column = problem.place.line === 1 ? start.column + problem.place.column - 1 : problem.place.column;
      target.reject({ position: problem.position, code: problem.code, message: `${problem.message} (line ${line}, column ${column})`, raw: problem.raw });
    }
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      document.push(chunk);
      bytes += chunk.length;
      input.progress(bytes);
      if (document.root === null) continue;
      if (member === null) {
        // Around a single record the counts of the header would be wrong.
        const before = document.root.text.replace(/\b(numberMatched|numberReturned)=(["'])\d+\2/g, '$1=$2unknown$2');
        member = await openMember(before, `</${document.root.name}>`);
        document.open({ parcels: member.writer('raw_parcel'), sheets: member.writer('raw_sheet'), fileBelfiore: FILE_BELFIORE.exec(input.name)?.[1] ?? null });
      }
      document.process();
      if (document.problems.length > 0) await report(member);
      await member.drain();
    }
    document.finish();
    if (document.truncated) {
      if (!input.verified) throw truncated(input.at);
      document.report('document_truncated', `expected the root's end tag, found the end of the document after ${document.members} members`);
    }
    const { numberMatched, numberReturned } = document.root!;
    if (input.verified && numberMatched !== null && numberReturned !== null && numberMatched !== numberReturned) {
      document.report('count_contradicts_header', `expected all features, found ${numberReturned} of ${numberMatched} as numberReturned and numberMatched say`);
    }
    await report(member!);
    await member!.close(document.records);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The prologue itself: no root, so no members. In the publisher's zip it costs its comune only.
    if (!input.verified) {
      throw error.code === 'document_truncated' ? truncated(input.at) : inputError('the document is not well-formed', {
        code: 'XML_MALFORMED', at: `${input.at}:${error.place.line}`, detail: `${error.message} (column ${error.place.column})`, hint: 'Download the file again.',
      });
    }
    const target = await openMember('', '');
    target.reject({ position: 0, code: error.code, message: `${error.message} (line ${error.place.line}, column ${error.place.column})`, raw: '' });
    await target.close(1);
  } finally {
    stream.destroy();
    lines.close();
  }
}

function truncated(at: string): Error {
  return inputError('the document ends too early', {
    code: 'GML_TRUNCATED', at, detail: 'expected the end tag of the root element, found the end of the file', hint: 'The download was probably cut short. Download the file again.',
  });
}

/**
 * Lines and columns of byte offsets, which only problems need: a second reader follows behind the first one as far as it is
 * asked, so that a document without problems pays nothing.
 */
class Lines {
  readonly #open: () => Promise<Readable>;
  #stream: Readable | null = null;
  #chunks: AsyncIterator<Buffer> | null = null;
  #chunk: Buffer = Buffer.alloc(0);
  /** Offset of the chunk's first byte. */
  #offset = 0;
  /** Bytes of the chunk that were counted. */
  #counted = 0;
  #line = 1;
  /** Offset of the line's first byte. */
  #lineStart = 0;

  constructor(open: () => Promise<Readable>) {
    this.#open = open;
  }

  /** Line and column (in bytes) from 1. Offsets must not fall, except to 0. */
  async at(offset: number): Promise<{ line: number; column: number }> {
    if (offset === 0) return { line: 1, column: 1 };
    if (this.#chunks === null) {
      this.#stream = await this.#open();
      this.#chunks = (this.#stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    }
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

  close(): void {
    this.#stream?.destroy();
  }
}
