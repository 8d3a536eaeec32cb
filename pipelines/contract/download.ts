/**
 * Defines the type of a source's downloads. Each source declares its downloads in its folder, in `download.ts` or `source.ts`, so that deleting the source's
 * folder also deletes the downloads.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { loadModule, moduleFile } from '../program.ts';
import type { Region } from './regions.ts';

/**
 * Publication cycle: every day, or the days of the year (`MM-DD`, UTC) on which a new file is expected. `watch` checks after each of these days, and then
 * weekly for some weeks.
 */
export type Cycle = 'daily' | readonly string[];

/** Cycle of files that the publisher issues each month, on a varying day in the first half of the month. */
export const MONTHLY: Cycle = Array.from({ length: 12 }, (_, month) => `${String(month + 1).padStart(2, '0')}-16`);

/** One edition of a file. */
export interface Edition {
  /** Part of the address after `base`, such as `MOLISE.zip`. */
  readonly path: string;
  /** Name in the data folder, which must match the source's `names`. */
  readonly name: string;
}

/** A table that the publisher serves as pages of CSV. */
export interface Pages {
  /** Column that identifies a record. If a record has several rows, the row with the most values is used. */
  readonly key: string;
  /** Maximum number of requested pages. */
  readonly most: number;
  /** Returns the part of the address after `base` for the page that begins after `offset` rows. */
  readonly path: (offset: number) => string;
}

export interface RemoteFile {
  /** Address without the file's path. `MAPPALE_<SOURCE>_URL` replaces this address. */
  readonly base: string;
  /** Editions to request, newest first. If the publisher returns status 404 or 410, the next edition is requested. */
  readonly editions: readonly [Edition, ...Edition[]];
  /** If set, `base` is a web page, and the file is the target of the first matching link on the page. The file is saved under the name in the link. */
  readonly link?: RegExp;
  /** If set, the file is assembled from pages. Such a file has a single edition, with an empty path. */
  readonly pages?: Pages;
  /** True if a missing file is not an error. For example, publishers offer no tiles that contain only sea. */
  readonly optional?: boolean;
}

/** Files that can be downloaded without an account. */
interface Downloadable {
  /** Returns the files of a region; empty if the publisher has none. */
  readonly files: (region: Region, today: Date) => readonly RemoteFile[];
  /** Size of the largest known file in bytes, or an estimate. A download is aborted at four times this size. */
  readonly largest: number;
}

interface NotDownloadable {
  readonly files?: undefined;
  readonly largest?: undefined;
}

export type Download = Instructions & (Downloadable | NotDownloadable);

interface Instructions {
  readonly cycle: Cycle;
  /**
   * Returns instructions for files that cannot be downloaded automatically: where to click and which files to save. Returns null if the region has no such
   * files.
   */
  readonly byHand?: (region: Region) => string | null;
  /**
   * Name of the query parameter for the publisher's access token, which `MAPPALE_<SOURCE>_TOKEN` contains. Without a token, the instructions of `byHand` are
   * printed.
   */
  readonly tokenParameter?: string;
  /** Headers to send with each request, for publishers that refuse requests without certain headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reason why the source is downloaded only if the user names the source, such as very large files, or a better source for the same data. */
  readonly onlyNamed?: string;
}

/** Request headers of a browser. Two servers of the Agenzia delle Entrate return 403 to other clients. */
export const BROWSER: Readonly<Record<string, string>> = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', accept: '*/*', 'accept-language': 'it-IT,it;q=0.9,en;q=0.8',
};

/** Returns a file whose address never changes. */
export function fixed(base: string, name: string, path: string = name): RemoteFile {
  return { base, editions: [{ path, name }] };
}

/** Loads the downloads of a source. @throws Error if the source declares no downloads, which is a bug */
export async function loadDownload(id: string): Promise<Download> {
  const file = `sources/${id}/download.ts`;
  if (existsSync(moduleFile(join(ROOT, file)))) return loadModule(file);
  const { download } = await loadModule<{ readonly download?: Download }>(`sources/${id}/source.ts`);
  if (download === undefined) throw new Error(`sources/${id}: expected download.ts, or download in source.ts`);
  return download;
}

/** Returns the last day on which the publisher may have issued a file. @returns midnight UTC, not after `now` */
export function lastIssue(cycle: Cycle, now: Date): Date {
  const today = now.toISOString().slice(0, 10);
  if (cycle === 'daily') return new Date(today);
  const year = now.getUTCFullYear();
  const days = [year - 1, year].flatMap((each) => cycle.map((day) => `${each}-${day}`)).filter((day) => day <= today).sort();
  return new Date(days.at(-1) ?? 0);
}

/** Returns the two latest years whose editions may exist, newest first. @param month month in which the edition of a year is expected, 1–12 */
export function yearsSince(today: Date, month: number): readonly [newest: number, before: number] {
  const year = today.getUTCMonth() + 1 >= month ? today.getUTCFullYear() : today.getUTCFullYear() - 1;
  return [year, year - 1];
}
