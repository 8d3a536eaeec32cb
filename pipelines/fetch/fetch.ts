/** Files of regions: from many publishers at a time, from each one after another. */
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
import { releaseLock, takeLock } from '../lock-file.ts';
import type { Log } from '../log.ts';
import { byteLine, byteText, secondsSince } from '../progress.ts';
import { together } from '../together.ts';
import { retyped, withOption } from '../typed.ts';
import { Publisher, type Bounds } from './client.ts';
import { download, namedBy, settingOf, unwritable, type Downloaded, type Surroundings, type Wanted } from './download.ts';
import { writeAsked } from './kept.ts';
import { downloadPages, pagesOf } from './pages.ts';

export interface FetchOptions {
  readonly regions: readonly Region[];
  /** Data folder; each source has a folder of its id in it. */
  readonly folder: string;
  /** Ids; null: all, without those that are downloaded only when they are named. */
  readonly only: readonly string[] | null;
  /** Say what would be downloaded; only first bytes are asked for. */
  readonly dryRun: boolean;
  /** Leaves a source out for a region, with the reason; null: it is asked. */
  readonly leave?: (source: string, download: Download, region: Region) => Promise<string | null>;
}

export interface FetchContext {
  readonly sources: readonly RegisteredSource[];
  readonly settings: (source: string) => SourceSettings;
  readonly log: Log;
  readonly clock?: Clock;
  /** Free space where a path is. Tests give another. */
  readonly freeBytes?: (path: string) => Promise<number>;
  /** Resolves names of hosts. Tests give another. */
  readonly lookup?: LookupFunction;
  /** None: publishers are asked directly. */
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
  /** Why nothing was asked for; null: something was. */
  readonly left: string | null;
  /** What a person does, and where to put it; null: nothing. */
  readonly byHand: { readonly how: string; readonly folder: string; readonly there: number } | null;
}

export interface FetchReport {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly sources: readonly SourceReport[];
  readonly failures: readonly MappaleError[];
  readonly seconds: number;
}

/** After these the publisher is not asked for its other files: they would fail as well, and it is polite. */
const GIVES_UP: ReadonlySet<string> = new Set(['DOWNLOAD_UNREACHABLE', 'DOWNLOAD_CERTIFICATE', 'DOWNLOAD_BUSY', 'DOWNLOAD_SLOW', 'DOWNLOAD_LOGIN', 'DOWNLOAD_PROXY', 'DISK_FULL', 'FOLDER_UNWRITABLE']);

/** What is asked for of one source. */
interface Task {
  readonly source: RegisteredSource;
  readonly folder: string;
  readonly settings: SourceSettings;
  /** Each file once, though several regions need it. */
  readonly files: readonly Wanted[];
  /** Slugs of the regions whose files these are. */
  readonly regions: readonly string[];
  readonly left: string | null;
  readonly byHand: string | null;
}

/**
 * Downloads what may be downloaded without a person, and says of the rest what a person does. What fails is told, and the others go on.
 * @throws MappaleError `SOURCE_UNKNOWN`, `FOLDER_UNWRITABLE` (exit 2), `FETCH_RUNNING` (exit 7)
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

async function fetchAll(context: FetchContext, options: FetchOptions): Promise<FetchReport> {
  const startedAt = performance.now();
  const { sources, log: plainLog, clock = CLOCK, proxies = NO_PROXIES, freeBytes = freeBytesOf } = context;
  const tasks = await tasksOf(context, options, clock);
  const hide = hiding([...tasks.flatMap(({ settings: { token, login } }) => [token, login]), ...[proxies.http, proxies.https].flatMap(loginOf)]);
  const log: Log = {
    ...plainLog,
    debug: (message, facts) => plainLog.debug(hide(message), facts),
    info: (message, facts) => plainLog.info(hide(message), facts),
    warn: (message, facts) => plainLog.warn(hide(message), facts),
    progress: (message) => plainLog.progress(message),
  };
  const progress = new Progress(log, tasks.reduce((sum, { files }) => sum + files.length, 0));
  // A lane for each publisher: what one serves comes over one connection at a time, from whichever of its hosts. Of several holders the first one serves.
  const asking = tasks.filter(({ files }) => files.length > 0);
  const publishers = [...new Set(asking.map(({ source }) => publisherOf(source)))];
  const lanes = publishers.map((name) => asking.filter(({ source }) => publisherOf(source) === name));
  const reports = new Map<Task, FileReport[]>(tasks.map((task) => [task, []]));
  const failures: MappaleError[] = [];
  await together(lanes.length, lanes, async (lane) => {
    const publisher = new Publisher(clock, log, hide, proxies, context.lookup);
    const gaveUp = new Map<string, MappaleError>();
    try {
      for (const task of lane) {
        for (const wanted of task.files) {
          const { name } = wanted.file.editions[0];
          const host = new URL(wanted.base ?? wanted.file.base).host;
          const pages = pagesOf(wanted);
          const around: Surroundings = {
            publisher, clock, freeBytes, sources, hide, dryRun: options.dryRun,
            progress: (have, total) => progress.now(`${task.source.id} ${name}`, have, total),
            note: (message) => log.info(`${task.source.id} ${message}`),
          };
          const work = (): Promise<Downloaded> => (pages === null ? download(wanted, around) : downloadPages(wanted, pages, around));
          const report = await attempt({ name, folder: task.folder, hide }, gaveUp.get(host), work);
          if (report.error !== null && GIVES_UP.has(report.error.code)) gaveUp.set(host, report.error);
          progress.done(`${task.source.id} ${name}`, report.bytes);
          reports.get(task)?.push(report);
          if (report.outcome === 'new' || report.outcome === 'changed') {
            log.info(`${task.source.id} ${report.name}: ${byteText(report.bytes ?? 0)}, ${report.role ?? ''} ${report.vintage ?? ''}`, { source: task.source.id, file: report.name, bytes: report.bytes, sha256: report.sha256 });
          }
        }
        const complete = reports.get(task)?.every(({ error }) => error === null) === true;
        if (complete && !options.dryRun) {
          const failure = await remember(task, new Date(clock.now()), hide);
          if (failure !== null) failures.push(failure);
        }
      }
    } finally {
      await publisher.close();
    }
  });
  const made = await Promise.all(tasks.map(async (task): Promise<SourceReport> => ({
    source: task.source.id, license: task.source.manifest.attribution.license, files: reports.get(task) ?? [], left: task.left,
    byHand: task.byHand === null ? null : { how: task.byHand, folder: task.folder, there: (await readdir(task.folder).catch(() => [])).filter((name) => !name.startsWith('.')).length },
  })));
  return {
    folder: options.folder, dryRun: options.dryRun, sources: made, seconds: secondsSince(startedAt),
    failures: [...new Set([...made.flatMap(({ files }) => files.flatMap(({ error }) => error ?? [])), ...failures])],
  };
}

/** Notes that all files of a task's regions were asked for. @returns why that could not be written; null: it was */
async function remember({ folder, regions }: Task, at: Date, hide: (text: string) => string): Promise<MappaleError | null> {
  try {
    // Where the publisher has none of its files, nothing made the folder yet.
    await mkdir(folder, { recursive: true });
    for (const region of regions) await writeAsked(folder, region, at);
    return null;
  } catch (error) {
    return withContext(error, { name: folder, folder, hide });
  }
}

/** `user:password` of an address, and the password alone. */
function loginOf(address: string | null): string[] {
  if (address === null) return [];
  const { username, password } = new URL(address);
  return password === '' ? [] : [`${username}:${password}`, decodeURIComponent(password)];
}

/**
 * Secrets are hidden in whatever writing they come back: servers put what they were asked into their answers, as it was, as part of an address or of a page.
 * @returns what puts something else in their places
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
      const why = declared.onlyNamed !== undefined && only === null ? `only when it is named: ${declared.onlyNamed}` : await leave?.(source.id, declared, region) ?? null;
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
    // Who names a source wants to know why nothing comes.
    const nothing = only === null || needsToken || declared.files === undefined ? null : `its publisher has nothing of ${regions.map(({ name }) => name).join(', ')}`;
    // Who gave a token has done what a person does.
    const hand = token === null ? regions.map((region) => declared.byHand?.(region) ?? null).find((how) => how !== null) ?? null : null;
    return {
      source, folder: into, settings: own, files: [...wanted.values()], regions: slugs, left: wanted.size > 0 ? null : reasons[0] ?? nothing, byHand: hand,
    };
  }));
  return tasks.filter(({ files, left, byHand }) => files.length > 0 || left !== null || byHand !== null);
}

/** A download ends at so many times the size of the largest known file. */
const GROWTH = 4;

function boundsOf({ base }: RemoteFile, own: string | null, largest: number = 0): Bounds {
  return { most: GROWTH * largest, named: own === null ? null : new URL(own).hostname, shown: new URL(own ?? base).host };
}

function publisherOf({ manifest }: RegisteredSource): string | undefined {
  return manifest.attribution.holder.split(';')[0];
}

/** @throws MappaleError `CONFIG_UNKNOWN` (exit 2) */
function refuseOneForMany(base: string | null, wanted: readonly Wanted[]): void {
  const [first] = wanted;
  if (base === null || first === undefined || wanted.length < 2) return;
  const name = namedBy(base, first.file);
  if (name === null) return;
  throw new MappaleError(`${settingOf(first, 'URL')} is the address of one file`, {
    code: 'CONFIG_UNKNOWN', kind: 'usage', at: settingOf(first, 'URL'), detail: `expected the place of ${wanted.length} files, ${wanted.slice(0, 3).map(({ file }) => file.editions[0].name).join(', ')}${wanted.length > 3 ? ', …' : ''}, found ${name}`,
    hint: 'Leave the file\'s own part out.', fix: `export ${settingOf(first, 'URL')}=${base.slice(0, base.length - name.length)}`,
  });
}

/** Where a failure is told. */
interface ErrorContext {
  /** Of the file. */
  readonly name: string;
  readonly folder: string;
  readonly hide: (text: string) => string;
}

/** @param before why this publisher is not asked any more */
async function attempt(where: ErrorContext, before: MappaleError | undefined, work: () => Promise<Downloaded>): Promise<FileReport> {
  try {
    if (before !== undefined) throw before;
    return { ...await work(), error: null };
  } catch (error) {
    const known = before ?? withContext(error, where);
    return { outcome: 'failed', name: where.name, url: known.at ?? '', bytes: null, received: 0, sha256: null, role: null, vintage: null, error: known };
  }
}

/** A failure in words, without secrets: also what a source says of a file may hold some. @throws what is a bug */
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
    await takeLock(lock, (found) => new MappaleError('another program downloads into this folder', {
      code: 'FETCH_RUNNING', kind: 'locked', at: folder, detail: found, hint: 'Wait until it ends, or name another folder.', fix: retyped(withOption('--data', 'OTHER_FOLDER'), 'npx mappale fetch REGION --data OTHER_FOLDER'),
    }));
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    throw unwritable(error, folder) ?? error;
  }
}

/** One line for all that comes at a time. */
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
