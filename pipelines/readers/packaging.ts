/**
 * Determines from a file's packaging whether the publisher calls the file complete, and the date of the file. Uses names and content, never the amount of data.
 */
import { basename } from 'node:path';
import type { Probe } from '../contract/source.ts';
import type { ZipEntry } from '../formats/zip.ts';

/** Date of zip entries without a recorded date. */
const NO_DAY = '1980-01-01';

/** Matches the extension of a file that some programs keep in the name of its zip. */
const PACKED = /\.(?:shp|gpkg|geojson|json|gdb|kml|gml|csv|txt|xlsx|xml|tiff?|h5)$/i;

/** Returns the file name without folders, extension, and marks of a second copy: `MOLISE (1).zip` → `MOLISE`, `X.gpkg.zip` → `X`. */
export function stemOf(path: string): string {
  const name = basename(path);
  const stem = withoutCopy(name.replace(/\.[^.]*$/, ''));
  return /\.zip$/i.test(name) ? withoutCopy(stem.replace(PACKED, '')) : stem;
}

function withoutCopy(stem: string): string {
  return stem.replace(/(?: ?\(\d+\)| - Cop(?:y|ia)(?: ?\(\d+\))?)$/, '');
}

/** Patterns for the names of a publisher's complete files, and for names that contain the extent of a file. */
export interface WholeName {
  /** Name of a complete file, matched with `stemOf`. */
  readonly whole: RegExp;
  /** Names of complete files and parts. The name `Mosaicatura_ISPRA_2024_…_molise` shows that the file is a part. */
  readonly stated: RegExp;
}

/**
 * Returns whether names show that a file is complete. @param names name of the file, followed by names of entries in the zip. The first conclusive name is used
 */
export function isWhole(names: readonly string[], { whole, stated }: WholeName): boolean {
  const speaking = names.map(stemOf).find((stem) => stated.test(stem) || whole.test(stem));
  return speaking !== undefined && whole.test(speaking);
}

/** Returns the newest day of a zip's entries; undefined for a plain file, or without dates. */
export function newestEntry(entries: readonly ZipEntry[] | null): string | undefined {
  const newest = (entries ?? []).reduce((day, { modified, isFolder }) => (!isFolder && modified > day ? modified : day), NO_DAY);
  return newest === NO_DAY ? undefined : newest;
}

/** Returns the time of saving in a workbook's properties (`2025-03-14T09:26:53Z`), or otherwise the newest day of its entries. */
export async function workbookDate(probe: Probe, inner: string = ''): Promise<string | undefined> {
  const entries = inner === '' ? probe.entries ?? [] : await probe.entriesOf(inner);
  if (!entries.some(({ path }) => path === 'docProps/core.xml')) return newestEntry(entries);
  const properties = (await probe.headOf(`${inner === '' ? '' : `${inner}/`}docProps/core.xml`)).toString('utf8');
  return /<dcterms:modified[^<>]*>\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z?)\s*</.exec(properties)?.[1] ?? newestEntry(entries);
}
