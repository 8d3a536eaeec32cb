/** Determines whether a file is complete, and the date of a file. Uses file names, names of zip entries and metadata, never the amount of data. */
import { basename } from 'node:path';
import type { Probe } from '../contract/source.ts';
import type { ZipEntry } from '../formats/zip.ts';
import { isDay } from './iso-date.ts';

/** Date that zip entries have if the zip program recorded no date. */
const NO_DAY = '1980-01-01';

/** Matches the extension of a packed file, which some programs keep in the name of the zip. */
const PACKED = /\.(?:shp|gpkg|geojson|json|gdb|kml|gml|csv|txt|xlsx|xml|tiff?|h5)$/i;

/** Returns the file name without folders, extension and marks of a copy: `MOLISE (1).zip` → `MOLISE`, `X.gpkg.zip` → `X`. */
export function stemOf(path: string): string {
  const name = basename(path);
  const stem = withoutCopy(name.replace(/\.[^.]*$/, ''));
  return /\.zip$/i.test(name) ? withoutCopy(stem.replace(PACKED, '')) : stem;
}

function withoutCopy(stem: string): string {
  return stem.replace(/(?: ?\(\d+\)| - Cop(?:y|ia)(?: ?\(\d+\))?)$/, '');
}

/** Matches a day in a file name, year first or day first. */
const DAYS = [
  /(?<!\d)(?<year>20\d\d)[-_.]?(?<month>0[1-9]|1[0-2])[-_.]?(?<day>0[1-9]|[12]\d|3[01])(?!\d)/,
  /(?<!\d)(?<day>0[1-9]|[12]\d|3[01])[-_.]?(?<month>0[1-9]|1[0-2])[-_.]?(?<year>20\d\d)(?!\d)/,
];

/**
 * Returns the day or year in a file name, or null: `2025-03-01` for `…_2025-03-01`, `…_20250301`, `…_01-03-2025` and `…_01032025`, and `2025` for `…_2025`.
 */
export function dayOrYearOf(name: string): string | null {
  const days = DAYS.map((pattern) => pattern.exec(name)?.groups).map((found) => [found?.['year'], found?.['month'], found?.['day']].join('-'));
  return days.find(isDay) ?? /(?<!\d)(20\d\d)(?!\d)/.exec(name)?.[1] ?? null;
}

/** Patterns for the names of a publisher's files. The name shows whether a file is complete. */
export interface WholeName {
  /** Matches the name of a complete file, after `stemOf`. */
  readonly whole: RegExp;
  /**
   * Matches names of complete files and of incomplete files, after `stemOf`. For example, `Mosaicatura_ISPRA_2024_…_molise` is the name of an incomplete file.
   */
  readonly stated: RegExp;
}

/**
 * Returns whether names show that a file is complete. @param names name of the file, followed by names of entries in the zip. The first name that matches a
 * pattern determines the result
 */
export function isWhole(names: readonly string[], { whole, stated }: WholeName): boolean {
  const speaking = names.map(stemOf).find((stem) => stated.test(stem) || whole.test(stem));
  return speaking !== undefined && whole.test(speaking);
}

/** Returns the newest date of the files in a zip; undefined if the entries have no dates. @param entries null for a plain file, which has no such date */
export function newestEntry(entries: readonly ZipEntry[] | null): string | undefined {
  const newest = (entries ?? []).reduce((day, { modified, isFolder }) => (!isFolder && modified > day ? modified : day), NO_DAY);
  return newest === NO_DAY ? undefined : newest;
}

/**
 * Returns the time of the last change in a workbook's properties (`2025-03-14T09:26:53Z`). Without such a time, returns the newest date of the workbook's zip
 * entries. @param inner path of the workbook in the zip; empty if the file is the workbook
 */
export async function workbookDate(probe: Probe, inner: string = ''): Promise<string | undefined> {
  const entries = inner === '' ? probe.entries ?? [] : await probe.entriesOf(inner);
  if (!entries.some(({ path }) => path === 'docProps/core.xml')) return newestEntry(entries);
  const properties = (await probe.headOf(`${inner === '' ? '' : `${inner}/`}docProps/core.xml`)).toString('utf8');
  return /<dcterms:modified[^<>]*>\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z?)\s*</.exec(properties)?.[1] ?? newestEntry(entries);
}
