/** Reads files, zips of files and zips of zips. Each GML document becomes one member. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path/posix';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { inputError, type InputFile, type MemberFacts, type Sink } from '../../pipelines/contract/source.ts';
import { Threads } from '../../pipelines/formats/threads.ts';
import { replay, type SinkMessage } from '../../pipelines/readers/threaded-sink.ts';
import type { ZipArchive } from '../../pipelines/formats/zip.ts';
import { readDocument, type Input } from './member.ts';

/** Maximum depth of nested archives: Italy's zip contains zips of regions. A region's zip contains zips of provinces, which contain zips of comuni. */
const DEPTH = 4;

/** Names of files that GDAL adds next to a GML. These files never contain the publisher's data. */
const LITTER = /\.gfs$/i;

/** Minimum size of a zip that is read with threads. Reading a smaller zip takes less time than starting a thread. */
const THREADED_BYTES = 4 * 1024 * 1024;
/** Number of compressed bytes that must be read before threads start. A refresh with few changed documents of a zip therefore starts no thread. */
const UNTHREADED_BYTES = 1024 * 1024;
/** Maximum number of threads. Two threads produce rows as fast as COPY accepts rows. Each thread needs about 70 MB. */
const MOST_THREADS = 2;
/** Number of documents per thread that are read or queued ahead of the current document. Comuni differ in size, so threads read ahead. */
const AHEAD = 3;

/** @throws input errors of the zip and of `readDocument` */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  // Leaves one processor to this thread and the database.
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1));
  await readIn(file.size < THREADED_BYTES ? 0 : threads, file, sink, UNTHREADED_BYTES);
}

/**
 * Reads a file with a number of threads.
 * @param threads number of threads that read documents ahead; with 0 the calling thread reads the documents. The sink receives the same rows in the same order
 *   with any number of threads.
 * @param unthreadedBytes number of compressed bytes of documents that the calling thread reads before threads start
 */
export async function readIn(threads: number, file: InputFile, sink: Sink, unthreadedBytes = 0): Promise<void> {
  if (file.role === 'gml') {
    await readDocument({ path: '', name: file.name, at: file.name, from: () => file.open() as AsyncIterable<Buffer> }, sink, (bytes) => sink.progress(bytes));
    return;
  }
  const lanes = new Lanes(threads, unthreadedBytes);
  let archive: ZipArchive | null = null;
  try {
    archive = await file.zip();
    await readArchive(archive, lanes, threads * AHEAD, sink);
  } finally {
    await lanes.close();
    await archive?.close();
  }
}

/** Threads that start only when the compressed size of the documents to read reaches `unthreadedBytes`. */
class Lanes {
  readonly #count: number;
  #unthreadedBytes: number;
  #pool: Threads<Input, SinkMessage> | null = null;

  constructor(count: number, unthreadedBytes: number) {
    this.#count = count;
    this.#unthreadedBytes = unthreadedBytes;
  }

  /** Starts to read a document in a thread. Returns null if the calling thread must read the document. @param weight number of compressed bytes */
  begin(input: Input, weight: number): AsyncGenerator<SinkMessage, void, undefined> | null {
    this.#unthreadedBytes -= weight;
    if (this.#count === 0 || this.#unthreadedBytes > 0) return null;
    this.#pool ??= new Threads(new URL('./thread.ts', import.meta.url), this.#count);
    return this.#pool.start(input, input.at);
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}

/** One step through the archives: a document, the end of an archive, or an error after which no further step follows. */
type Step = Found | { readonly leave: ZipArchive } | { readonly failure: unknown };

interface Found {
  readonly input: Input;
  readonly facts: MemberFacts;
  /** Number of bytes of the outermost file that the document occupies. */
  readonly weight: number;
}

/** @param ahead number of steps that may start before the current step ends */
async function readArchive(outermost: ZipArchive, lanes: Lanes, ahead: number, sink: Sink): Promise<void> {
  let done = 0;
  const begunSteps: (() => Promise<void>)[] = [];
  for await (const step of steps(outermost)) {
    if ('failure' in step) {
      begunSteps.push(async () => {
        throw step.failure;
      });
    } else if ('leave' in step) begunSteps.push(() => step.leave.close());
    else {
      const { input, facts, weight } = step;
      const begun = sink.reusable?.(facts) === true ? null : lanes.begin(input, weight);
      begunSteps.push(async () => {
        const progress = (bytes: number): void => sink.progress(Math.round(done + (bytes / Math.max(1, facts.size ?? 0)) * weight));
        if (!(await sink.reuse(facts))) await (begun === null ? readDocument(input, sink, progress) : replay(begun, sink, progress));
        done += weight;
        sink.progress(Math.round(done));
      });
    }
    while (begunSteps.length > ahead) await begunSteps.shift()?.();
  }
  for (const step of begunSteps) await step();
}

/** Yields the steps through the nested archives. An error is yielded at its position, so that every earlier document is read first. */
async function* steps(outermost: ZipArchive): AsyncGenerator<Step, void, undefined> {
  try {
    yield* walk(outermost, '', 1, 1);
  } catch (failure) {
    yield { failure };
  }
}

/**
 * Returns the region of an entry in the zip of Italy, from the first part of the path, which names the zip of a region. Returns an empty object for other zips.
 */
function regionOf(path: string, depth: number): { region?: number } {
  const region = depth === DEPTH ? findRegion(path.replace(/(\.zip)?\/.*$/is, '')) : undefined;
  return region === undefined ? {} : { region: region.code };
}

/**
 * @param folder path of the archive inside the file, with a final `/`; empty for the outermost archive
 * @param share number of bytes of the outermost file per byte of this archive
 */
async function* walk(archive: ZipArchive, folder: string, depth: number, share: number): AsyncGenerator<Step, void, undefined> {
  // The order of entries in the zip must have no effect, because the first of two contradicting parcels is kept.
  const entries = archive.entries.filter(({ path, isFolder }) => !isFolder && !LITTER.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of entries) {
    const path = folder + entry.path;
    if (/\.zip$/i.test(entry.path) && depth < DEPTH) {
      const inner = await archive.archive(entry.path);
      yield* walk(inner, `${path}/`, depth + 1, share * (entry.compressedSize / Math.max(1, entry.size)));
      // The archive stays open until its last document is read.
      yield { leave: inner };
    } else if (/\.gml$/i.test(entry.path)) {
      const from = await archive.extent(entry.path);
      yield {
        input: { path, name: basename(entry.path), at: from.at, from },
        facts: { path, crc32: entry.crc32, size: entry.size, ...regionOf(path, depth) },
        weight: entry.compressedSize * share,
      };
    } else {
      throw inputError('the zip contains an unknown file', {
        code: 'ENTRY_UNEXPECTED',
        at: `${archive.label}!${entry.path}`,
        detail: 'expected zips of provinces and comuni, and <code>_<NAME>_map.gml and _ple.gml inside them',
        hint: 'Use the zip as downloaded from the publisher. If the zip is unchanged, report the problem.',
      });
    }
  }
}
