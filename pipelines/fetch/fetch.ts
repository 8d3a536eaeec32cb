/** Downloads the files of regions. Downloads from several publishers at the same time, but only one file at a time from each publisher. */
import { mkdir, readdir } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { CLOCK, type Clock } from '../clock.ts';
import { NO_PROXIES, type Proxies, type SourceSettings } from '../config.ts';
import { loadDownload, type Download, type RemoteFile } from '../contract/download.ts';
import type { Region } from '../contract/regions.ts';
import { chooseSources, type RegisteredSource } from '../contract/registry.ts';
import { MappaleError } from '../errors.ts';
import { freeBytes as freeBytesOf } from '../formats/disk.ts';
import { fileError } from '../formats/file-error.ts';
import { releaseLock, takeLock } from '../db/lock-file.ts';
import type { Log } from '../log.ts';
import { byteLine, byteText, secondsSince } from '../progress.ts';
import { inParallel } from '../parallel.ts';
import { retyped, withOption } from '../typed.ts';
import { Publisher, type Bounds } from './client.ts';
import { download, namedBy, settingOf, unwritable, type Downloaded, type Surroundings, type Wanted } from './download.ts';
import { writeAsked } from './kept.ts';
import { downloadPages, pagesOf } from './pages.ts';

export interface FetchOptions {
  readonly regions: readonly Region[];
  /** Data folder, which contains one folder per source, named by the source's id. */
  readonly folder: string;
  /** Ids of the sources to download; null for all sources except sources that are downloaded only if named. */
  readonly only: readonly string[] | null;
  /** True to report only which files would be downloaded. A dry run requests the first bytes of each file, but no pages of a file that is served as pages. */
  readonly dryRun: boolean;
  /** Returns the reason to skip a source for a region, or null to download the source's files. */
  readonly leave?: (source: string, download: Download, region: Region) => Promise<string | null>;
}

export interface FetchContext {
  readonly sources: readonly RegisteredSource[];
  readonly settings: (source: string) => SourceSettings;
  readonly log: Log;
  readonly clock?: Clock;
  /** Returns the number of free bytes on the disk of a path. Replaced in tests. */
  readonly freeBytes?: (path: string) => Promise<number>;
  /** Resolves host names. Replaced in tests. */
  readonly lookup?: LookupFunction;
  /** Proxies to use. If omitted, publishers are contacted directly. */
  readonly proxies?: Proxies;
}

export interface FileReport extends Omit<Downloaded, 'outcome'> {
  readonly outcome: Downloaded['outcome'] | 'failed';
  readonly error: MappaleError | null;
}

export interface SourceReport {
  readonly source: string;
  readonly license: string;
  readonly files: readonly FileReport[];
  /** Reason why no files of the source were requested; null if files were requested, or if the files can only be downloaded manually. */
  readonly left: string | null;
  /** Instructions for a manual download, the folder for the files, and the number of files in this folder; null if no manual download is needed. */
  readonly byHand: { readonly how: string; readonly folder: string; readonly there: number } | null;
}

export interface FetchReport {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly sources: readonly SourceReport[];
  readonly failures: readonly MappaleError[];
  readonly seconds: number;
}

/** Error codes after which no further files are requested from the same host, because those requests would also fail. */
const GIVES_UP: ReadonlySet<string> = new Set(['DOWNLOAD_UNREACHABLE', 'DOWNLOAD_CERTIFICATE', 'DOWNLOAD_BUSY', 'DOWNLOAD_SLOW', 'DOWNLOAD_LOGIN', 'DOWNLOAD_PROXY', 'DISK_FULL', 'FOLDER_UNWRITABLE']);

/** Files to request from one source. */
interface Task {
  readonly source: RegisteredSource;
  readonly folder: string;
  readonly settings: SourceSettings;
  /** Files to request, each listed once, even if several regions need the file. */
  readonly files: readonly Wanted[];
  /** Slugs of the regions that need these files. */
  readonly regions: readonly string[];
  readonly left: string | null;
  readonly byHand: string | null;
}

/**
 * Downloads all files that need no manual download, and returns instructions for the other files. After a failure, other downloads continue, and the report
 * contains the failure.
 * @throws MappaleError `SOURCE_UNKNOWN`, `CONFIG_UNKNOWN`, `FOLDER_UNWRITABLE` (exit 2), `FETCH_RUNNING` (exit 7)
 */
export async function fetchRegions(context: FetchContext, options: FetchOptions): Promise<FetchReport> {
  if (options.dryRun) return fetchAll(context, options);
  const lock = join(options.folder, '.fetch.lock');
  await takeFolder(options.folder, lock);
  try {
    return await fetchAll(context, options);
  } finally {
    await releaseLock(lock);
  }
}

/** State that all downloads of one run share. */
interface Fetching {
  readonly context: FetchContext;
  readonly clock: Clock;
  readonly proxies: Proxies;
  readonly dryRun: boolean;
  readonly log: Log;
  readonly hide: (text: string) => string;
  readonly progress: Progress;
}

async function fetchAll(context: FetchContext, options: FetchOptions): Promise<FetchReport> {
  const startedAt = performance.now();
  const { clock = CLOCK, proxies = NO_PROXIES } = context;
  const tasks = await tasksOf(context, options, clock);
  const hide = hiding([...tasks.flatMap(({ settings: { token, login } }) => [token, login]), ...[proxies.http, proxies.https].flatMap(loginOf)]);
  const log = hidingLog(context.log, hide);
  const progress = new Progress(log, tasks.reduce((sum, { files }) => sum + files.length, 0));
  const fetching = { context, clock, proxies, dryRun: options.dryRun, log, hide, progress };
  // Uses one connection at a time per publisher, even if the publisher has several hosts. If a source has several holders, the first holder counts as the
  // publisher.
  const asking = tasks.filter(({ files }) => files.length > 0);
  const publishers = [...new Set(asking.map(({ source }) => publisherOf(source)))];
  const lanes = publishers.map((name) => asking.filter(({ source }) => publisherOf(source) === name));
  const done = (await inParallel(lanes.length, lanes, (lane) => fetchLane(fetching, lane))).flat();
  const reports = new Map(done.map(({ task, files }) => [task, files]));
  const sources = await Promise.all(tasks.map((task) => describeTask(task, reports.get(task) ?? [])));
  const failures = [...sources.flatMap(({ files }) => files.flatMap(({ error }) => error ?? [])), ...done.flatMap(({ failure }) => failure ?? [])];
  return { folder: options.folder, dryRun: options.dryRun, sources, seconds: secondsSince(startedAt), failures: [...new Set(failures)] };
}

/** Returns a log that hides secrets in all lines except progress lines, which contain no secrets. */
function hidingLog(log: Log, hide: (text: string) => string): Log {
  return {
    ...log,
    debug: (message, facts) => log.debug(hide(message), facts),
    info: (message, facts) => log.info(hide(message), facts),
    warn: (message, facts) => log.warn(hide(message), facts),
    progress: (message) => log.progress(message),
  };
}

interface Fetched {
  readonly task: Task;
  readonly files: readonly FileReport[];
  /** Error that occurred when the time of the request was recorded; null if there was none. */
  readonly failure: MappaleError | null;
}

/** Downloads the files of one publisher over one connection. */
async function fetchLane(fetching: Fetching, lane: readonly Task[]): Promise<Fetched[]> {
  const { context, clock, proxies, dryRun, log, hide } = fetching;
  const publisher = new Publisher(clock, log, hide, proxies, context.lookup);
  /** Hosts to which this run sends no further requests, with the error that is the reason. */
  const gaveUp = new Map<string, MappaleError>();
  const done: Fetched[] = [];
  try {
    for (const task of lane) {
      // The publisher may issue a file during the downloads. The next run must then ask again.
      const asked = new Date(clock.now());
      const files: FileReport[] = [];
      for (const wanted of task.files) files.push(await fetchFile(fetching, { task, wanted, publisher, gaveUp }));
      const isComplete = !dryRun && files.every(({ error }) => error === null);
      done.push({ task, files, failure: isComplete ? await remember(task, asked, hide) : null });
    }
    return done;
  } finally {
    await publisher.close();
  }
}

interface FileTask {
  readonly task: Task;
  readonly wanted: Task['files'][number];
  readonly publisher: Publisher;
  readonly gaveUp: Map<string, MappaleError>;
}

async function fetchFile({ context, clock, dryRun, log, hide, progress }: Fetching, { task, wanted, publisher, gaveUp }: FileTask): Promise<FileReport> {
  const { sources, freeBytes = freeBytesOf } = context;
  const { name } = wanted.file.editions[0];
  const subject = `${task.source.id} ${name}`;
  const host = new URL(wanted.base ?? wanted.file.base).host;
  const pages = pagesOf(wanted);
  const around: Surroundings = {
    publisher, clock, freeBytes, sources, hide, dryRun,
    progress: (have, total) => progress.now(subject, have, total),
    note: (message) => log.info(`${task.source.id} ${message}`),
  };
  const work = (): Promise<Downloaded> => (pages === null ? download(wanted, around) : downloadPages(wanted, pages, around));
  const report = await attempt({ name, folder: task.folder, hide }, gaveUp.get(host), work);
  if (report.error !== null && GIVES_UP.has(report.error.code)) gaveUp.set(host, report.error);
  progress.done(subject, report.bytes);
  if (report.outcome === 'new' || report.outcome === 'changed') {
    const { bytes, role, vintage, sha256 } = report;
    log.info(`${task.source.id} ${report.name}: ${byteText(bytes ?? 0)}, ${role ?? ''} ${vintage ?? ''}`, { source: task.source.id, file: report.name, bytes, sha256 });
  }
  return report;
}

async function describeTask({ source, left, byHand, folder }: Task, files: readonly FileReport[]): Promise<SourceReport> {
  const there = async (): Promise<number> => (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.')).length;
  return {
    source: source.id, license: source.manifest.attribution.license, files, left,
    byHand: byHand === null ? null : { how: byHand, folder, there: await there() },
  };
}

/** Records the time when the requests for all files of the regions began. @returns the error if the record cannot be written, otherwise null */
async function remember({ folder, regions }: Task, at: Date, hide: (text: string) => string): Promise<MappaleError | null> {
  try {
    // Creates the folder, which no download has created if the publisher has none of the files.
    await mkdir(folder, { recursive: true });
    for (const region of regions) await writeAsked(folder, region, at);
    return null;
  } catch (error) {
    return withContext(error, { name: folder, folder, hide });
  }
}

/** Returns the secrets in a proxy address: `user:password` as written, and the decoded password. Returns an empty list if there is no password. */
function loginOf(address: string | null): string[] {
  if (address === null) return [];
  const { username, password } = new URL(address);
  return password === '' ? [] : [`${username}:${password}`, decodeURIComponent(password)];
}

/**
 * Returns a function that masks secrets in a text. Also finds encoded secrets, because server responses may repeat the address of the request.
 */
function hiding(secrets: readonly (string | null)[]): (text: string) => string {
  const written = (character: string): string => {
    const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
    return `(?:${[plain, bytes, ...({ ' ': ['\\+'], '/': ['\\\\+/'], '&': ['&amp;'] }[character] ?? [])].join('|')})`;
  };
  const patterns = secrets.flatMap((secret) => (secret === null || secret === '' ? [] : [secret, Buffer.from(secret).toString('base64')])).sort((a, b) => b.length - a.length)
    .map((secret) => new RegExp(Array.from(secret, written).join(''), 'giu'));
  return (text) => patterns.reduce((shown, pattern) => shown.replace(pattern, '<secret>'), text);
}

async function tasksOf({ sources, settings }: FetchContext, { regions, folder, only, leave }: FetchOptions, clock: Clock): Promise<Task[]> {
  const asked = chooseSources(sources, only);
  const tasks = await Promise.all(asked.map(async (source): Promise<Task> => {
    const declared = await loadDownload(source.id);
    const own = settings(source.id);
    const into = join(folder, source.id);
    const reasons: string[] = [];
    const wanted = new Map<string, Wanted>();
    const slugs: string[] = [];
    const token = declared.tokenParameter === undefined || own.token === null ? null : { parameter: declared.tokenParameter, value: own.token };
    const needsToken = declared.tokenParameter !== undefined && token === null;
    for (const region of regions) {
      const files = needsToken ? [] : declared.files?.(region, new Date(clock.now())) ?? [];
      if (files.length === 0) continue;
      const why = declared.onlyNamed !== undefined && only === null ? `downloaded only if named with --sources: ${declared.onlyNamed}` : await leave?.(source.id, declared, region) ?? null;
      if (why !== null) reasons.push(why);
      else {
        slugs.push(region.slug);
        const headers = { ...declared.headers, ...(own.login === null ? {} : { authorization: `Basic ${Buffer.from(own.login).toString('base64')}` }) };
        for (const file of files) {
          const bounds = boundsOf(file, own.url, declared.largest);
          wanted.set(file.editions[0].name, { source, file, folder: into, base: own.url, token, headers, bounds });
        }
      }
    }
    refuseOneForMany(own.url, [...wanted.values()]);
    // Reports that the publisher has no files only if the user named the source.
    const nothing = only === null || needsToken || declared.files === undefined ? null : `the publisher has no files of ${regions.map(({ name }) => name).join(', ')}`;
    // With a token, no manual download is necessary.
    const hand = token === null ? regions.map((region) => declared.byHand?.(region) ?? null).find((how) => how !== null) ?? null : null;
    return {
      source, folder: into, settings: own, files: [...wanted.values()], regions: slugs, left: wanted.size > 0 ? null : reasons[0] ?? nothing, byHand: hand,
    };
  }));
  return tasks.filter(({ files, left, byHand }) => files.length > 0 || left !== null || byHand !== null);
}

/** Maximum size of a download, as a multiple of the size of the largest known file. */
const GROWTH = 4;

function boundsOf({ base }: RemoteFile, own: string | null, largest: number = 0): Bounds {
  return { most: GROWTH * largest, named: own === null ? null : new URL(own).hostname, shown: new URL(own ?? base).host };
}

function publisherOf({ manifest }: RegisteredSource): string | undefined {
  return manifest.attribution.holder.split(';')[0];
}

/** Refuses a setting with the address of one file if several files are needed. @throws MappaleError `CONFIG_UNKNOWN` (exit 2) */
function refuseOneForMany(base: string | null, wanted: readonly Wanted[]): void {
  const [first] = wanted;
  if (base === null || first === undefined || wanted.length < 2) return;
  const name = namedBy(base, first.file);
  if (name === null) return;
  throw new MappaleError(`${settingOf(first, 'URL')} is the address of one file`, {
    code: 'CONFIG_UNKNOWN', kind: 'usage', at: settingOf(first, 'URL'), detail: `expected the address of the folder of ${wanted.length} files, ${wanted.slice(0, 3).map(({ file }) => file.editions[0].name).join(', ')}${wanted.length > 3 ? ', …' : ''}, found ${name}`,
    hint: 'Remove the file name from the address.', fix: `export ${settingOf(first, 'URL')}=${base.slice(0, base.length - name.length)}`,
  });
}

/** Details for the error of a failed download. */
interface ErrorContext {
  /** Name of the file. */
  readonly name: string;
  readonly folder: string;
  readonly hide: (text: string) => string;
}

/**
 * Runs a download and returns the report of the file. The report of a failed download contains the error. @param before earlier error of this host; if given,
 * the download does not run, and the report contains this error
 */
async function attempt(where: ErrorContext, before: MappaleError | undefined, work: () => Promise<Downloaded>): Promise<FileReport> {
  try {
    if (before !== undefined) throw before;
    return { ...await work(), error: null };
  } catch (error) {
    const known = before ?? withContext(error, where);
    return { outcome: 'failed', name: where.name, url: known.at ?? '', bytes: null, received: 0, sha256: null, role: null, vintage: null, error: known };
  }
}

/** Converts a failure to a `MappaleError`, and removes secrets from the error's texts. @throws any other error (a bug) unchanged */
function withContext(error: unknown, { name, folder, hide }: ErrorContext): MappaleError {
  const known = error instanceof MappaleError ? error : unwritable(error, folder) ?? fileError(error, name);
  if (known === null) throw error;
  const { code, kind, data, cause } = known;
  const [at, detail, hint, fix] = [known.at, known.detail, known.hint, known.fix].map((text) => (text === undefined ? undefined : hide(text)));
  return new MappaleError(hide(known.message), { code, kind, at, detail, hint, fix, data, cause });
}

/** @throws MappaleError `FOLDER_UNWRITABLE` (exit 2), `FETCH_RUNNING` (exit 7) */
async function takeFolder(folder: string, lock: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await takeLock(lock, (found) => new MappaleError('another program is downloading into this folder', {
      code: 'FETCH_RUNNING', kind: 'locked', at: folder, detail: found, hint: 'Wait until the other program ends, or use another folder.', fix: retyped(withOption('--data', 'OTHER_FOLDER'), 'npx mappale fetch REGION --data OTHER_FOLDER'),
    }));
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    throw unwritable(error, folder) ?? error;
  }
}

/** Prints one progress line for all parallel downloads. */
class Progress {
  readonly #log: Log;
  readonly #files: number;
  readonly #startedAt = performance.now();
  readonly #coming = new Map<string, { have: number; from: number; total: number | null }>();
  #done = 0;
  #bytes = 0;

  constructor(log: Log, files: number) {
    this.#log = log;
    this.#files = files;
  }

  now(name: string, have: number, total: number | null): void {
    const before = this.#coming.get(name);
    this.#coming.set(name, { have, from: before === undefined || have < before.from ? have : before.from, total });
    this.#say();
  }

  done(name: string, bytes: number | null): void {
    const came = this.#coming.get(name);
    this.#coming.delete(name);
    this.#done += 1;
    this.#bytes += came === undefined ? 0 : (bytes ?? came.have) - came.from;
    this.#say();
  }

  #say(): void {
    const coming = [...this.#coming.values()];
    const sum = (of: (each: (typeof coming)[number]) => number): number => coming.reduce((total, each) => total + of(each), 0);
    this.#log.progress(byteLine({
      files: this.#done, of: this.#files, have: sum(({ have }) => have),
      total: coming.some(({ total }) => total === null) ? null : sum(({ total }) => total ?? 0),
      came: this.#bytes + sum(({ have, from }) => have - from), elapsedMs: performance.now() - this.#startedAt, names: [...this.#coming.keys()],
    }));
  }
}
