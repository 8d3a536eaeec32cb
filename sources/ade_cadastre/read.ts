/** Files, zips of files, zips of zips: each GML document becomes one member. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path/posix';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { inputError, type InputFile, type MemberFacts, type Sink } from '../../pipelines/contract/source.ts';
import { Threads } from '../../pipelines/formats/threads.ts';
import { replay, type SinkMessage } from '../../pipelines/readers/threaded-sink.ts';
import type { ZipArchive } from '../../pipelines/formats/zip.ts';
import { readDocument, type Input } from './member.ts';

/** Italy's zip holds regions', those provinces', those comuni's. */
const DEPTH = 4;

/** Files that tools leave in zips; never the publisher's data. */
const LITTER = /(?:^|\/)(?:__MACOSX\/|(?:\.DS_Store|Thumbs\.db|[^/]*\.gfs)$)/i;

/** A smaller zip is read before a thread would have started. */
const THREADED_BYTES = 4 * 1024 * 1024;
/** Two make rows as fast as a COPY takes them; each needs some 70 MB. */
const MOST_THREADS = 2;
/** Documents that are read, or wait to be, ahead of the one whose rows are taken, for each thread: comuni differ in size. */
const AHEAD = 3;

/** @throws input errors of the zip, and those of `readDocument` */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  // One processor is left to this thread and the database.
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1));
  await readIn(file.size < THREADED_BYTES ? 0 : threads, file, sink);
}

/** @param threads that read documents ahead; 0: this one reads them. The sink is given the same, in the same order. */
export async function readIn(threads: number, file: InputFile, sink: Sink): Promise<void> {
  if (file.role === 'gml') {
    await readDocument({ path: '', name: file.name, at: file.name, from: () => file.open() as AsyncIterable<Buffer> }, sink, (bytes) => sink.progress(bytes));
    return;
  }
  // Started before the zip is opened: a province has to be inflated first, and they are ready by then.
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

/** What the walk through the archives came to: a document, the end of an archive, or why it cannot go on. */
type Step = Found | { readonly leave: ZipArchive } | { readonly failure: unknown };

interface Found {
  readonly input: Input;
  readonly facts: MemberFacts;
  /** Bytes of the outermost file that it stands for. */
  readonly weight: number;
}

/** @param ahead steps that may be begun before their turn */
async function readArchive(outermost: ZipArchive, pool: Threads<Input, SinkMessage> | null, ahead: number, sink: Sink): Promise<void> {
  let done = 0;
  const turns: (() => Promise<void>)[] = [];
  for await (const step of steps(outermost)) {
    if ('failure' in step) {
      turns.push(async () => {
        throw step.failure;
      });
    } else if ('leave' in step) turns.push(() => step.leave.close());
    else {
      const { input, facts, weight } = step;
      const begun = pool === null || sink.reusable?.(facts) === true ? null : pool.start(input, input.at);
      turns.push(async () => {
        const progress = (bytes: number): void => sink.progress(Math.round(done + (bytes / Math.max(1, facts.size ?? 0)) * weight));
        if (!(await sink.reuse(facts))) await (begun === null ? readDocument(input, sink, progress) : replay(begun, sink, progress));
        done += weight;
        sink.progress(Math.round(done));
      });
    }
    while (turns.length > ahead) await turns.shift()?.();
  }
  for (const turn of turns) await turn();
}

/** The walk; a failure has its turn too, so that everything before it is read first, however far ahead the walk was. */
async function* steps(outermost: ZipArchive): AsyncGenerator<Step, void, undefined> {
  try {
    yield* walk(outermost, '', 1, 1);
  } catch (failure) {
    yield { failure };
  }
}

/** In a zip of Italy the outer folder of zips is a region's. */
function regionOf(path: string, depth: number): { region?: number } {
  const region = depth === DEPTH ? findRegion(path.replace(/(\.zip)?\/.*$/is, '')) : undefined;
  return region === undefined ? {} : { region: region.code };
}

/**
 * @param folder path of the archive inside the file, with `/`
 * @param share bytes of the outermost file for one byte of this archive
 */
async function* walk(archive: ZipArchive, folder: string, depth: number, share: number): AsyncGenerator<Step, void, undefined> {
  // Sorted, so that the same entries in another order give the same rows: the first of two contradicting parcels is the one that stays.
  const entries = archive.entries.filter(({ path, isFolder }) => !isFolder && !LITTER.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of entries) {
    const path = folder + entry.path;
    if (/\.zip$/i.test(entry.path) && depth < DEPTH) {
      const inner = await archive.archive(entry.path);
      yield* walk(inner, `${path}/`, depth + 1, share * (entry.compressedSize / Math.max(1, entry.size)));
      // It stays open until its last document is read.
      yield { leave: inner };
    } else if (/\.gml$/i.test(entry.path)) {
      const from = await archive.extent(entry.path);
      yield {
        input: { path, name: basename(entry.path), at: from.at, from },
        facts: { path, crc32: entry.crc32, size: entry.size, ...regionOf(path, depth) },
        weight: entry.compressedSize * share,
      };
    } else {
      throw inputError('the zip holds something that is not known', {
        code: 'ENTRY_UNEXPECTED',
        at: `${archive.label}!${entry.path}`,
        detail: 'expected zips of provinces and comuni, and <code>_<NAME>_map.gml and _ple.gml inside of them',
        hint: 'Give the zip as it was downloaded. If it is, report it.',
      });
    }
  }
}
