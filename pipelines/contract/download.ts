/** How the files of a source come to this machine: by `sources/<id>/download.ts`, so that dropping the folder drops the download. */
import { loadModule } from '../program.ts';
import type { Region } from './regions.ts';

/**
 * When a publisher issues: every day, or on days of the year (`MM-DD`, UTC) from which on something newer may be there. `watch` asks after
 * each of them, and for some weeks once a week.
 */
export type Cycle = 'daily' | readonly string[];

/** For what is issued in each month, on a day that varies within its first half. */
export const MONTHLY: Cycle = Array.from({ length: 12 }, (_, month) => `${String(month + 1).padStart(2, '0')}-16`);

/** One edition of a file. */
export interface Edition {
  /** The file's own part of the address, behind `base`: `MOLISE.zip`. */
  readonly path: string;
  /** Its name in the data folder; one that the source's `names` know. */
  readonly name: string;
}

/** How a publisher gives one table in pages of CSV. */
export interface Pages {
  /** Column that identifies a record. Several rows of one record become one: the row with the most values. */
  readonly key: string;
  /** Most pages that are asked for. */
  readonly most: number;
  /** @returns the part of the address behind `base` of the page that begins after `offset` rows */
  readonly path: (offset: number) => string;
}

export interface RemoteFile {
  /** Address without the file's part. `MAPPALE_<SOURCE>_URL` replaces it. */
  readonly base: string;
  /** The newest first: where the publisher has none (404) the next one is asked for. */
  readonly editions: readonly [Edition, ...Edition[]];
  /** `base` is a page, and the file is what its first link leads to that looks so; its name is that of the link. */
  readonly link?: RegExp;
  /** The file is put together from pages. Its editions have one element, whose path is empty. */
  readonly pages?: Pages;
  /** One of a grid, which the publisher may not have: a tile of nothing but sea. */
  readonly optional?: boolean;
}

/** Files that need no account. */
interface Downloadable {
  /** Returns the files of a region; empty if the publisher has none. */
  readonly files: (region: Region, today: Date) => readonly RemoteFile[];
  /** Size of the largest known file in bytes, or an estimate. A download ends at four times this size. */
  readonly largest: number;
}

interface NotDownloadable {
  readonly files?: undefined;
  readonly largest?: undefined;
}

export type Download = Instructions & (Downloadable | NotDownloadable);

interface Instructions {
  readonly cycle: Cycle;
  /** Returns instructions for the other files: where to click and what to save; null if there are none for the region. */
  readonly byHand?: (region: Region) => string | null;
  /** The publisher wants a token, as this parameter of the query; it is taken from `MAPPALE_<SOURCE>_TOKEN`. Without it `byHand` is said. */
  readonly tokenParameter?: string;
  /** Sent with each request, where the publisher turns away programs that do not. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why it is downloaded only when it is named: what it would cost, and that others have it better. */
  readonly onlyNamed?: string;
}

/** Headers of a browser. Two publishers answer 403 to other clients. */
export const BROWSER: Readonly<Record<string, string>> = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', accept: '*/*', 'accept-language': 'it-IT,it;q=0.9,en;q=0.8',
};

/** One file under one address for good. */
export function fixed(base: string, name: string, path: string = name): RemoteFile {
  return { base, editions: [{ path, name }] };
}

/** Loads the downloads of a source. */
export function loadDownload(id: string): Promise<Download> {
  return loadModule(`sources/${id}/download.ts`);
}

/** The last day on which the publisher may have issued something. @returns midnight UTC, not after `now` */
export function lastIssue(cycle: Cycle, now: Date): Date {
  const today = now.toISOString().slice(0, 10);
  if (cycle === 'daily') return new Date(today);
  const year = now.getUTCFullYear();
  const days = [year - 1, year].flatMap((each) => cycle.map((day) => `${each}-${day}`)).filter((day) => day <= today).sort();
  return new Date(days.at(-1) ?? 0);
}

/** @param month of the year, 1–12, from which on the edition of a year is expected @returns years, the newest first */
export function yearsSince(today: Date, month: number): readonly [newest: number, before: number] {
  const year = today.getUTCMonth() + 1 >= month ? today.getUTCFullYear() : today.getUTCFullYear() - 1;
  return [year, year - 1];
}
