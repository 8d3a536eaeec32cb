/** Reads files, zips of files and zips of zips. Each GML document becomes one member. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path/posix';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { inputError, type InputFile, type MemberFacts, type Sink } from '../../pipelines/contract/source.ts';
import { Threads } from '../../pipelines/formats/threads.ts';
import { replay, type SinkMessage } from '../../pipelines/readers/threaded-sink.ts';
import type { ZipArchive } from '../../pipelines/formats/zip.ts';
import { readDocument, type Input } from './member.ts';

/** Depth of nested archives: Italy's zip contains zips of regions, which contain zips of provinces, which contain zips of comuni. */
const DEPTH = 4;

/** Files that tools add to zips. Such files never contain the publisher's data. */
const LITTER = /(?:^|\/)(?:__MACOSX\/|(?:\.DS_Store|Thumbs\.db|[^/]*\.gfs)$)/i;

/** Size below which a zip is read without threads, because it is read before a thread would have started. */
const THREADED_BYTES = 4 * 1024 * 1024;
/** Maximum number of threads. Two produce rows as fast as a COPY takes them; each needs some 70 MB. */
const MOST_THREADS = 2;
/** Number of documents per thread that are read or queued ahead of the current one. Comuni differ in size. */
const AHEAD = 3;

/** @throws input errors of the zip and of `readDocument` */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  // Leave one processor to this thread and the database.
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1));
  await readIn(file.size < THREADED_BYTES ? 0 : threads, file, sink);
}

/** @param threads that read documents ahead; with 0 the calling thread reads them. The sink receives the same rows in the same order. */
export async function readIn(threads: number, file: InputFile, sink: Sink): Promise<void> {
  if (file.role === 'gml') {
    await readDocument({ path: '', name: file.name, at: file.name, from: () => file.open() as AsyncIterable<Buffer> }, sink, (bytes) => sink.progress(bytes));
    return;
  }
  // Start the threads before the zip is opened: a province has to be inflated first, and the threads are ready by then.
  const pool = threads === 0 ? null : new Threads<Input, SinkMessage>(new URL('./thread.ts', import.meta.url), threads);
  let archive: ZipArchive | null = null;
  try {
    archive = await file.zip();
    await readArchive(archive, pool, threads * AHEAD, sink);
  } finally {
    await pool?.close();
    await archive?.close();
  }
}

/** Result of a step through the archives: a document, the end of an archive, or the reason why the walk cannot go on. */
type Step = Found | { readonly leave: ZipArchive } | { readonly failure: unknown };

interface Found {
  readonly input: Input;
  readonly facts: MemberFacts;
  /** Number of bytes of the outermost file that the document accounts for. */
  readonly weight: number;
}

/** @param ahead number of steps that may start early */
async function readArchive(outermost: ZipArchive, pool: Threads<Input, SinkMessage> | null, ahead: number, sink: Sink): Promise<void> {
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
      const begun = pool === null || sink.reusable?.(facts) === true ? null : pool.start(input, input.at);
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

/** Yields the steps through the nested archives. A failure is yielded in its place, so that every document before it is read first. */
async function* steps(outermost: ZipArchive): AsyncGenerator<Step, void, undefined> {
  try {
    yield* walk(outermost, '', 1, 1);
  } catch (failure) {
    yield { failure };
  }
}

/** Returns the region of an entry: in a zip of Italy, the outer folder of zips is a region. */
function regionOf(path: string, depth: number): { region?: number } {
  const region = depth === DEPTH ? findRegion(path.replace(/(\.zip)?\/.*$/is, '')) : undefined;
  return region === undefined ? {} : { region: region.code };
}

/**
 * @param folder path of the archive inside the file, with `/`
 * @param share number of bytes of the outermost file per byte of this archive
 */
async function* walk(archive: ZipArchive, folder: string, depth: number, share: number): AsyncGenerator<Step, void, undefined> {
  // Sorted, so that the order of entries does not matter: the first of two contradicting parcels is kept.
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
        hint: 'Use the zip as downloaded from the publisher. If it is unchanged, report the problem.',
      });
    }
  }
}
