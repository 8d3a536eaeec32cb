/** Performs one nightly run: downloads new releases that are due, refreshes the regions and returns a summary. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCK, type Clock } from '../clock.ts';
import { NO_PROXIES } from '../config.ts';
import { lastIssue, type Download } from '../contract/download.ts';
import { findRegion, type Region } from '../contract/regions.ts';
import { MappaleError } from '../errors.ts';
import { privateAddressOf } from '../fetch/address.ts';
import { postJson, reasonOf } from '../fetch/client.ts';
import { fetchRegions, type FetchContext, type FetchReport } from '../fetch/fetch.ts';
import { readAsked } from '../fetch/kept.ts';
import { withoutSamples, type FileWarning } from '../ledger/ledger.ts';
import { withRun } from '../ledger/runs.ts';
import { publications } from '../ledger/published.ts';
import { byteText, duration, secondsSince } from '../progress.ts';
import { VERSION } from '../program.ts';
import type { Context } from '../run/context.ts';
import type { LeftOut } from '../run/left-out.ts';
import { exitCodeOf, refresh, type RefreshReport } from '../run/refresh.ts';
import { writeMetrics, type Downloads } from './metrics.ts';
import { prune } from './prune.ts';

export interface WatchContext extends FetchContext {
  /** Opens the database only while `work` runs, so that the database is not locked during downloads. */
  readonly open: <T>(work: (context: Context) => Promise<T>) => Promise<T>;
}

export interface NightlyOptions {
  /** Regions to refresh; null for all published regions. */
  readonly regions: readonly Region[] | null;
  /** Data folders. Downloads are stored in the first folder. */
  readonly data: readonly [string, ...string[]];
  readonly parallel: number;
  /** Path of the Prometheus text file to write; null to write no file. */
  readonly metrics: string | null;
  /** URL that receives the summary as JSON; null to send no summary. */
  readonly webhook: string | null;
  /** True if the webhook's host name may resolve to a private IP address. */
  readonly webhookPrivate: boolean;
  /** Number of months to keep history and ledger; null to prune nothing. */
  readonly keep: number | null;
}

/** Summary of a nightly run, as JSON. */
export interface NightlyRun {
  readonly time: string;
  readonly regions: readonly string[];
  /** False if no publisher could be asked, for example because the data folder is not writable. */
  readonly publishers_reached: boolean;
  /** Sources whose publishers were asked, and sources whose next release is not yet due. */
  readonly asked: readonly string[];
  readonly not_due: readonly string[];
  readonly downloaded: { readonly files: number; readonly bytes: number };
  readonly loaded: number;
  /** Number of deleted partitions, releases and runs; null if nothing was pruned. */
  readonly pruned: { readonly partitions: number; readonly releases: number; readonly runs: number } | null;
  readonly published: readonly string[];
  readonly failures: readonly { readonly error: string; readonly message: string; readonly at?: string | undefined }[];
  /** Files that could not be used. The regions of these files were published without the files. */
  readonly left_out: readonly (Pick<LeftOut, 'source' | 'vintage' | 'files' | 'regions'> & { readonly error: string })[];
  /** Added columns and possibly incomplete exports, by file. The summary has no sample values, because the webhook receives the summary. */
  readonly warnings: readonly FileWarning[];
  readonly exit_code: number;
  readonly seconds: number;
}

/**
 * Downloads new releases that are due and refreshes the regions. The summary contains all failures and the most severe exit code. The refresh runs even if a
 * publisher does not answer or the download folder is not writable.
 */
export async function runNight(
  context: WatchContext, { regions, data, parallel, metrics, webhook, webhookPrivate, keep }: NightlyOptions,
): Promise<NightlyRun> {
  const startedAt = performance.now();
  const { log, clock = CLOCK } = context;
  const now = new Date(clock.now());
  const failures: MappaleError[] = [];
  const [folder] = data;
  const attempt: Attempt = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MappaleError)) throw error;
      failures.push(error);
      log.warn(error.describe());
      return null;
    }
  };
  const chosen = regions ?? await attempt(() => context.open(publishedRegions));
  const notDue = new Set<string>();
  const fetched = chosen === null ? null : await attempt(() => fetchDue(context, chosen, folder, now, notDue));
  for (const failure of fetched?.failures ?? []) log.warn(failure.describe());
  const downloads = fetched === null ? null : await downloadsOf(fetched, folder, chosen ?? []);
  let refreshed: RefreshReport | null = null;
  if (chosen !== null) {
    refreshed = await attempt(() => context.open((opened) => refresh(opened, { command: 'watch', data: fetched === null ? readable(data) : data, regions: regions?.map(({ code }) => code) ?? null, parallel, accept: null, force: false })));
  }
  const pruned = keep === null || refreshed === null ? null : await attempt(() => context.open((opened) => prunedTo(keep, opened)));
  failures.push(...refreshed?.failures ?? [], ...fetched?.failures ?? []);
  const exitCode = exitCodeOf({ failures, leftOut: refreshed?.leftOut ?? [] });
  const line: NightlyRun = {
    time: now.toISOString(), regions: (chosen ?? []).map(({ slug }) => slug),
    publishers_reached: fetched !== null,
    asked: fetched?.sources.filter(({ files }) => files.length > 0).map(({ source }) => source) ?? [], not_due: [...notDue].sort(),
    downloaded: sumOf(fetched), loaded: refreshed?.loaded.length ?? 0, pruned, published: refreshed?.units.map(({ name }) => name) ?? [],
    failures: failures.map(({ code, message, at }) => ({ error: code, message, at })),
    left_out: (refreshed?.leftOut ?? []).map(({ source, vintage, files, regions, failure }) => ({ source, vintage, files, regions, error: failure.code })),
    warnings: withoutSamples(refreshed?.warnings ?? []),
    exit_code: exitCode,
    seconds: Math.round(secondsSince(startedAt) * 10) / 10,
  };
  if (metrics !== null) await exportMetrics(context, attempt, (database) => writeMetrics(database, metrics, exitCode, downloads), metrics);
  if (webhook !== null) await notify({ url: webhook, mayBePrivate: webhookPrivate }, line, context);
  return line;
}

/** Runs a step of the nightly run and records a failure. @returns null if the step failed */
type Attempt = <T>(work: () => Promise<T>) => Promise<T | null>;

/** Downloads the sources that are due. @param notDue set to which the function adds the other sources */
function fetchDue(context: WatchContext, regions: readonly Region[], folder: string, now: Date, notDue: Set<string>): Promise<FetchReport> {
  return fetchRegions(context, {
    regions, folder, only: null, dryRun: false,
    leave: async (source, { cycle }, region) => {
      const why = await whyNotDue(join(folder, source), cycle, region, now);
      if (why !== null) notDue.add(source);
      return why;
    },
  });
}

/**
 * Writes the metrics. If the database does not answer, leaves out the metrics of the database. A failure to write only prints a warning, because a monitoring
 * system detects old metrics.
 */
async function exportMetrics(
  context: WatchContext, attempt: Attempt, write: (database: Context['database'] | null) => Promise<void>, path: string,
): Promise<void> {
  const written = async (database: Context['database'] | null): Promise<true> => {
    await write(database).catch((error: unknown) => context.log.warn(`the metrics could not be written to ${path}: ${reasonOf(error)}`));
    return true;
  };
  if (await attempt(() => context.open(({ database }) => written(database))) === null) await written(null);
}

/** Returns the data folders. Leaves out the download folder if the folder does not exist and there are other data folders. */
function readable([first, ...others]: NightlyOptions['data']): string[] {
  return others.length > 0 && !existsSync(first) ? others : [first, ...others];
}

/** Deletes the same data as `mappale prune --keep`. @returns the numbers of deleted partitions, releases and runs */
export async function prunedTo(keep: number, { database, sources, config }: Context): Promise<NightlyRun['pruned']> {
  const facts = { command: 'prune', arguments: { keep }, version: VERSION, host: config.host };
  const { partitions, releases, runs } = await withRun(database, facts, () => prune(database, sources, { keep }));
  return { partitions: partitions.length, releases: releases.length, runs };
}

/** @throws MappaleError `REGION_MISSING` (exit 2) */
async function publishedRegions({ database }: Context): Promise<Region[]> {
  const found = [...(await publications(database)).keys()].flatMap((region) => (region === 0 ? [] : findRegion(region) ?? []));
  if (found.length > 0) return found;
  throw new MappaleError('no region is published yet, so the regions are unknown', {
    code: 'REGION_MISSING', kind: 'usage', detail: 'expected published regions or region names, found none', hint: 'Name the regions.', fix: 'npx mappale watch molise puglia --data FOLDER',
  });
}

/**
 * Number of days after an expected release during which nightly runs ask the publisher again, every 7 days. Publishers are often late. A request for an
 * unchanged file transfers 128 bytes.
 */
const LATE_DAYS = 35;
const AGAIN_DAYS = 7;

/**
 * Returns the number of UTC calendar days between two times. The time of day has no effect, so a nightly run may start a second earlier than the night before.
 */
function daysBetween(from: Date, to: Date): number {
  const dayOf = (moment: Date): number => Math.floor(moment.getTime() / 86_400_000);
  return dayOf(to) - dayOf(from);
}

/**
 * Returns the reason why a source is not due according to the publisher's release cycle, or null if the source is due.
 * @param folder folder of the source's downloads
 */
async function whyNotDue(folder: string, cycle: Download['cycle'], { slug }: Region, now: Date): Promise<string | null> {
  const asked = await readAsked(folder, slug);
  const issued = lastIssue(cycle, now);
  // A time in the future comes from a clock that was wrong. Without a new request, the source would not be due until that time.
  if (asked === null || asked < issued || daysBetween(now, asked) > 0) return null;
  if (cycle !== 'daily' && daysBetween(issued, now) <= LATE_DAYS && daysBetween(asked, now) >= AGAIN_DAYS) return null;
  return `not due: asked on ${asked.toISOString().slice(0, 10)}, issued ${cycle === 'daily' ? 'daily' : `on ${cycle.join(', ')}`}`;
}

function sumOf(report: FetchReport | null): NightlyRun['downloaded'] {
  const came = report?.sources.flatMap(({ files }) => files).filter(({ outcome }) => outcome === 'new' || outcome === 'changed') ?? [];
  return { files: came.length, bytes: came.reduce((sum, { received }) => sum + received, 0) };
}

/**
 * Returns the download statistics of the sources that this run requested, or skipped with a reason. For example, a source is skipped if the source is not due.
 */
async function downloadsOf(report: FetchReport, folder: string, regions: readonly Region[]): Promise<Downloads> {
  const made = report.sources.filter(({ files, left }) => files.length > 0 || left !== null).map(async ({ source, files }) => {
    const days = await Promise.all(regions.map(({ slug }) => readAsked(join(folder, source), slug)));
    const known = days.flatMap((day) => (day === null ? [] : day.getTime() / 1000));
    const failed = files.filter(({ error }) => error !== null).length;
    return { source, asked: known.length === 0 ? null : Math.max(...known), failed, bytes: files.reduce((sum, { received }) => sum + received, 0) };
  });
  return Promise.all(made);
}

/** Pauses in seconds before the program calls a failed webhook again. */
const AGAIN = [5, 30] as const;

interface Webhook {
  readonly url: string;
  readonly mayBePrivate: boolean;
}

/** Sends the summary to the webhook. Never prints the URL, because webhook URLs of chat services are secrets. */
async function notify({ url, mayBePrivate }: Webhook, line: NightlyRun, { log, proxies = NO_PROXIES, clock = CLOCK, lookup }: WatchContext): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await postJson({ url, mayBePrivate }, line, proxies, lookup);
      return;
    } catch (error) {
      const inner = privateAddressOf(error);
      const seconds = inner === null ? AGAIN[tries] : undefined;
      if (seconds === undefined) {
        const found = inner === null ? reasonOf(error) : `expected a public address, found ${inner.message}. If the host is yours, add --webhook-private`;
        log.warn(`the webhook did not accept the summary: ${found.replaceAll(url, '…')}`);
        return;
      }
      await clock.wait(seconds);
    }
  }
}

/** Returns the summary as one line of text. */
export function describeNight(line: NightlyRun): string {
  const { time, regions, publishers_reached, asked, not_due, downloaded, loaded, published, failures, left_out: leftOut, warnings, exit_code, seconds } = line;
  const parts = [
    !publishers_reached ? 'no request to a publisher' : asked.length === 0 ? 'no publisher is due' : `asked ${asked.length} of ${asked.length + not_due.length} sources`,
    downloaded.files === 0 ? 'nothing new' : `${downloaded.files} files downloaded (${byteText(downloaded.bytes)})`,
    published.length === 0 ? (loaded === 0 ? 'nothing to publish' : `${loaded} releases loaded, nothing published`) : `published ${published.join(', ')}`,
    ...(failures.length === 0 ? [] : [`${failures.length} failed: ${[...new Set(failures.map(({ error }) => error))].join(', ')}`]),
    ...(leftOut.length === 0 ? [] : [`left out ${leftOut.map(describeLeft).join(', ')}`]),
    ...(warnings.length === 0 ? [] : [warnings.map(({ code, file, columns }) => [`${code} ${file}`, ...(columns.length === 0 ? [] : [columns.join(' ')])].join(': ')).join(', ')]),
    duration(seconds), `exit ${exit_code}`,
  ];
  return `${time.slice(0, 16).replace('T', ' ')}Z ${regions.join(', ')}${regions.length === 0 ? '' : ': '}${parts.join('; ')}`;
}

/** Describes files that could not be used: the names, the source and the affected sections. */
function describeLeft({ source, files, regions }: NightlyRun['left_out'][number]): string {
  const sections = [...new Set(regions.flatMap((region) => region.sections.map(({ section }) => section)))];
  return `${files.join(' ')} (${source}${sections.length === 0 ? '' : `: ${sections.join(' ')}`})`;
}

/** Waits until a wall clock time, or until the signal is aborted. Reads the wall clock once a minute, because timers stop while a machine sleeps. */
export async function sleepUntil(moment: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  for (let left = moment - clock.now(); left > 0 && signal?.aborted !== true; left = moment - clock.now()) {
    await Promise.race([clock.wait(Math.min(left / 1000, 60)), aborted]);
  }
}

/** Returns the time until the next occurrence of a time of day, in milliseconds. @param at local time of day, such as `02:15` */
export function untilNext(at: string, now: Date): number {
  const [hour, minute] = at.split(':').map(Number);
  // Sets the time of each day separately. In the night when summer time begins, 02:15 is 03:15, which must not become the time of the next day.
  const on = (day: number): number => new Date(now.getFullYear(), now.getMonth(), day, hour ?? 0, minute ?? 0).getTime();
  const today = on(now.getDate());
  return (today > now.getTime() ? today : on(now.getDate() + 1)) - now.getTime();
}
