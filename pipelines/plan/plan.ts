/** Plans a refresh: the files to read, the regions to build, and the reasons. The plan depends only on the arguments, not on a database, file or clock. */
import { whyChanged, type Facts } from '../contract/fingerprint.ts';
import { regionName, regionSlug } from '../contract/regions.ts';
import { sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { sha256, tableOf, type Relation } from '../contract/sql-files.ts';
import { releaseOf, type Located, type LocatedFile, type Survey } from '../contract/survey.ts';
import { mayBeExport } from '../readers/cut-export.ts';
import { bytesKey, logicalKey, type LoadedFile } from '../ledger/current-files.ts';
import { vintageText } from '../contract/vintage.ts';
import type { Hold } from '../ledger/hold.ts';
import { COMUNI, PUBLISHABLE, type Inventory } from '../ledger/inventory.ts';
import type { Release } from '../ledger/ledger.ts';
import type { PublishedTable } from '../ledger/published.ts';
import { planProducts, productsDigest, type Product } from './products.ts';
import { whyUnused } from './unused.ts';

/** Facts on which a plan depends. */
export interface Known {
  readonly sources: readonly RegisteredSource[];
  /** Versions of the database engine and the engine's libraries, which affect built values. */
  readonly engine: Facts;
  /** Loaded files. */
  readonly inventory: Inventory;
  readonly holds: ReadonlyMap<number, Hold>;
  /** Tables of the current publications, by region code (0 for Italy). */
  readonly published: ReadonlyMap<number, ReadonlyMap<Relation, PublishedTable>>;
}

/** A recognised file that will not be used, with the reason. */
export interface UnusedFile {
  readonly path: string;
  readonly source: string;
  readonly reason: string;
}

/** A file that is still in use, but is no longer in the data folders. */
export interface LeftFile {
  readonly name: string;
  readonly source: string;
  readonly vintage: string;
}

/** Files to read as one release. */
export interface LoadJob {
  readonly located: Located;
  /** Fingerprint of the files' bytes, of their recognised properties and of the reader. */
  readonly fingerprint: string;
  readonly why: string;
}

/** A build of a region, or of Italy. A build without stale products does nothing. */
export interface BuildJob {
  readonly region: number;
  readonly products: readonly Product[];
  /** Tables of the region's current publication. */
  readonly published: ReadonlyMap<Relation, PublishedTable>;
  /** Layers without a current file for the region. */
  readonly missing: readonly Relation[];
}

export interface Plan {
  readonly loads: readonly LoadJob[];
  /** Builds: Italy first, then the regions. A table that depends on a release to load counts as stale. */
  readonly builds: readonly BuildJob[];
  /** Descriptions of the regions (or Italy) that a user pinned, withdrew or rolled back, with user and reason. */
  readonly held: readonly string[];
  readonly unused: readonly UnusedFile[];
  readonly left: readonly LeftFile[];
  /** Ids of the loaded files that are in the data folders. */
  readonly present: readonly number[];
  /** Ids of the files in `present` that were absent before. */
  readonly came: readonly number[];
  /** Number of loaded files that were in the data folders before, but no longer are. */
  readonly gone: number;
}

/**
 * Returns the plan of a refresh.
 * @param survey survey of the data folders, or null to plan without data folders
 * @param regions regions to refresh, or null for all published regions and all regions with parcels or addresses
 */
export function plan(known: Known, survey: Survey | null, regions: readonly number[] | null): Plan {
  const { sources, inventory: before } = known;
  const releases = survey?.releases ?? [];
  const here = new Set(releases.flatMap(({ source, files }) => files.map((file) => keyOf(source, file))));
  const isHere = (file: LoadedFile): boolean => (survey === null ? file.present : here.has(logicalKey(file)));
  const came = before.files.filter((file) => isHere(file) && !file.present).map(({ fileId }) => fileId);
  const thisRun = next(before.files.map(({ arrived }) => arrived));
  const inventory = before.with(before.files.map((file) => ({ ...file, present: isHere(file), arrived: came.includes(file.fileId) ? thisRun : file.arrived })));
  const loads: LoadJob[] = [];
  const unused: UnusedFile[] = [];
  /** Files in the data folders that were already loaded. */
  const again: { readonly path: string; readonly loaded: LoadedFile }[] = [];
  for (const located of releases) {
    const { source } = located;
    const fresh: LocatedFile[] = [];
    for (const file of located.files) {
      const found = whyNotRead(source, file, inventory, releases, regions);
      if (found === null) fresh.push(file);
      else if (typeof found === 'string') unused.push({ path: file.path, source: source.id, reason: found });
      else again.push({ path: file.path, loaded: found });
    }
    if (fresh.length === 0) continue;
    loads.push(loadJob(releaseOf(located, fresh), whyRead(source, fresh, inventory)));
  }
  const coming = comingFiles(loads, inventory, thisRun);
  const then = inventory.with([...inventory.files, ...coming.files], coming.releases);
  const builds: BuildJob[] = [];
  const planned: number[] = [];
  const held: string[] = [];
  for (const region of [0, ...(regions ?? regionsToBuild(known, then, loads))]) {
    if (region === 0 && then.current(0, COMUNI).files.length === 0) continue;
    planned.push(region);
    const published = known.published.get(region) ?? new Map<Relation, PublishedTable>();
    const products = planProducts(region, sources, then, published, known.engine);
    const hold = holdOn(known.holds.get(region), products);
    if (hold !== null) held.push(hold);
    else builds.push({ region, products, published, missing: [...new Set(products.flatMap(({ missing }) => missing))] });
  }
  const used = new Set(planned.flatMap((region) => then.used(region).map(({ fileId }) => fileId)));
  for (const { path, loaded } of again) if (!used.has(loaded.fileId)) unused.push({ path, source: loaded.sourceId, reason: whyUnused(loaded, then, planned) });
  return {
    loads, builds, held,
    unused: unused.sort((a, b) => (a.path < b.path ? -1 : 1)),
    left: inventory.files.filter((file) => used.has(file.fileId) && !file.present).map(({ name, sourceId, vintage }) => ({ name, source: sourceId, vintage })),
    present: inventory.files.filter(({ present }) => present).map(({ fileId }) => fileId),
    came,
    gone: before.files.filter((file) => file.present && !isHere(file)).length,
  };
}

/** Returns whether a plan reads and builds nothing. */
export function isDone({ loads, builds }: Plan): boolean {
  return loads.length === 0 && builds.every(({ products }) => staleOf(products).length === 0);
}

/** Returns the stale tables among a region's products, with reasons. */
export function staleOf(products: readonly Product[]): { readonly relation: Relation; readonly why: string }[] {
  return products.flatMap(({ relation, stale }) => (stale === null ? [] : [{ relation, why: stale }]));
}

function loadJob(located: Located, why: string): LoadJob {
  return { located, fingerprint: fingerprintOf(located), why };
}

/** Returns a job without the files in `left`, or null if no file remains. */
export function withoutFiles({ located, why }: LoadJob, left: readonly LocatedFile[]): LoadJob | null {
  const files = located.files.filter((file) => !left.includes(file));
  return files.length === 0 ? null : loadJob(releaseOf(located, files), why);
}

/** Returns the fingerprint of a release, from the files' bytes, their recognised properties and the reader. */
function fingerprintOf({ source, files }: Located): string {
  return sha256([source.reader, ...files.map((file) => keyOf(source, file)).sort()].join('\n'));
}

/** Returns the properties of a located file in the form that the ledger uses for loaded files. */
function knownOf({ id, reader }: RegisteredSource, { name, sha256: digest, recognition }: LocatedFile): Parameters<typeof logicalKey>[0] & Pick<LoadedFile, 'name' | 'reader'> {
  const { role, vintage, dated = null, region, complete, place = null } = recognition;
  return { sourceId: id, role, vintage, dated, region, complete, place, name, sha256: digest, reader };
}

function keyOf(source: RegisteredSource, file: LocatedFile): string {
  return logicalKey(knownOf(source, file));
}

/**
 * Returns whether a loaded file is the same as a located file. The sources and bytes must be equal, and also the recognised properties or the names. With equal
 * names, the properties may differ, because an earlier version may have recognised other properties.
 */
function isSame(source: RegisteredSource, file: LocatedFile, loaded: LoadedFile): boolean {
  return loaded.sourceId === source.id && (logicalKey(loaded) === keyOf(source, file) || bytesKey(loaded) === bytesKey(knownOf(source, file)));
}

/** Returns the loaded file with the same content as a located file, or the reason for skipping the located file. Null if the file must be read. */
function whyNotRead(
  source: RegisteredSource, file: LocatedFile, inventory: Inventory, releases: readonly Located[], regions: readonly number[] | null,
): LoadedFile | string | null {
  const key = keyOf(source, file);
  const { region, vintage, dated = '', role, place } = file.recognition;
  const loaded = inventory.files.find((each) => each.reader === source.reader && logicalKey(each) === key)
    ?? inventory.files.find((each) => each.forgotten && isSame(source, file, each));
  if (loaded !== undefined) return loaded;
  if (regions !== null && region !== null && !regions.includes(region)) return `belongs to ${regionName(region)}, which was not requested`;
  if (source.manifest.keep === 'all' || place !== undefined) return null;
  const hasAll = ({ name, recognition: other }: LocatedFile): boolean => name !== file.name && !mayBeExport(name) && other.role === role && other.complete
    && other.place === undefined && (other.region === null || other.region === region);
  const newer = releases.filter((release) => release.source.id === source.id).flatMap(({ files }) => files).filter(hasAll)
    .find(({ recognition: other }) => other.vintage > vintage || (other.vintage === vintage && (other.dated ?? '') > dated));
  return newer === undefined ? null : `${newer.name} is newer (${vintageText(newer.recognition.vintage)}) and contains all places of this file`;
}

/** Returns the reason for reading files: the files are new, or something has changed since the same bytes were last read. */
function whyRead(source: RegisteredSource, files: readonly LocatedFile[], inventory: Inventory): string {
  const before = inventory.files.filter((each) => files.some((file) => isSame(source, file, each))).at(-1);
  if (before === undefined) return 'not loaded yet';
  if (before.reader === null) return 'rejected records will be read again';
  return whyChanged(inventory.releases.get(before.releaseId)?.inputs ?? null, source.facts) ?? 'the reader changed';
}

/** Returns the largest number plus 1, or 1 if there are no numbers. */
function next(numbers: Iterable<number>): number {
  let last = 0;
  for (const each of numbers) last = Math.max(last, each);
  return last + 1;
}

/**
 * Returns the files to read in the form of loaded files. The files have no places, because the places are unknown before reading.
 * @param arrived number of this run
 */
function comingFiles(loads: readonly LoadJob[], inventory: Inventory, arrived: number): { files: LoadedFile[]; releases: Release[] } {
  const firstRelease = next(inventory.releases.keys());
  const firstFile = next(inventory.files.map(({ fileId }) => fileId));
  const nothing = { records: null, rows: null, rejects: null, duplicates: null, layers: null, inputs: null } as const;
  const releases = loads.map(({ located: { source, vintage, region, complete }, fingerprint }, index): Release =>
    ({ releaseId: firstRelease + index, sourceId: source.id, vintage, region, complete, state: 'loaded', fingerprint, ...nothing }));
  const files = loads.flatMap(({ located: { source, files: own } }, index) => own.map((file) => ({
    ...knownOf(source, file), releaseId: firstRelease + index, assigned: null, present: true, arrived, forgotten: false, refersTo: [],
    held: source.layer.writes.map((layer) => ({ layer: tableOf(layer), series: '', region: null, likelyRegion: null, dated: null, named: true, places: [''] })),
  })));
  return { files: files.map((file, index) => ({ ...file, fileId: firstFile + index })), releases };
}

/** Returns the published regions, the regions with loaded parcels or addresses, and the regions of new files of parcels or addresses. */
function regionsToBuild({ sources, published }: Known, inventory: Inventory, loads: readonly LoadJob[]): number[] {
  const readers = new Set(PUBLISHABLE.map((relation) => sourceOfLayer(sources, relation)?.id));
  const found = loads.flatMap(({ located: { source, region } }) => (readers.has(source.id) && region !== null ? [region] : []));
  return [...new Set([...[...published.keys()].filter((region) => region > 0), ...inventory.regionsOf(PUBLISHABLE), ...found])].sort((a, b) => a - b);
}

/** Describes a hold, with the command that ends the hold. */
export function heldText({ kind, region, heldBy, heldAt, reason }: Hold): string {
  const [name, unpin] = [regionName(region), `npx mappale unpin ${regionSlug(region)}`];
  const who = `by ${heldBy} on ${heldAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`;
  if (kind === 'pinned') return `${name} is pinned ${who} (${unpin})`;
  if (kind === 'withdrawn') return `${name} was withdrawn ${who} (${unpin})`;
  return `${name} was rolled back ${who}. The region stays unchanged until its files change (or ${unpin})`;
}

/** Returns the reason why a hold keeps a region unchanged. Null without a hold, or if the inputs have changed since the region was rolled back. */
function holdOn(hold: Hold | undefined, products: readonly Product[]): string | null {
  if (hold === undefined) return null;
  return hold.kind !== 'rolled_back' || hold.fingerprint === productsDigest(products) ? heldText(hold) : null;
}
