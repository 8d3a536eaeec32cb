/** Finds files and releases that are left out of regions, with the reason and the affected sections. */
import { firstFid, regionsInName, regionName } from '../contract/regions.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { SECTIONS } from '../contract/sections.ts';
import { schemaOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import type { BrokenEntry, Located, LocatedFile } from '../contract/survey.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import type { FaultyFile, MappaleError } from '../errors.ts';
import { mayWithhold, type Inventory } from '../ledger/inventory.ts';
import { productFiles } from '../plan/products.ts';

const operate = statementsOf('operate');

/** Number of parcels per region in which to look for empty sections. A few parcels are sufficient, because a section is loaded for all parcels or for none. */
const LOOKED_AT = 3;

/** A file or release that could not be used, but does not prevent the publication of a region. */
export interface Omission {
  readonly source: RegisteredSource;
  /** Vintage; null if the file was not recognised. */
  readonly vintage: string | null;
  /** Region of the release; null for a national release, or if the region is unknown. */
  readonly region: number | null;
  /** Names of the files. */
  readonly files: readonly string[];
  readonly failure: MappaleError;
}

/**
 * State of a section in a published region.
 *
 * - `not_loaded`: no release of the section's sources is loaded.
 * - `kept`: the section still uses other files of the source, with the given vintages.
 * - `without`: the section is published without the source, from other sources.
 */
interface AffectedSection {
  readonly section: string;
  readonly state: 'not_loaded' | 'kept' | 'without';
  readonly vintages: readonly string[];
}

/** An omission in the form in which a refresh reports it, with the affected regions and sections. */
export interface LeftOut extends Omit<Omission, 'source' | 'region'> {
  readonly source: string;
  readonly regions: readonly { readonly unit: number; readonly name: string; readonly sections: readonly AffectedSection[] }[];
}

/** An omission in the form that the ledger stores, with the code and message of the failure. */
export interface NotedLeftOut extends Omit<LeftOut, 'failure'> {
  readonly failure: { readonly error: string; readonly message: string };
}

/** Returns whether a failed release is left out, so that regions are published without the release. Otherwise the regions keep their current publications. */
function isLeftOut(source: RegisteredSource, { kind }: MappaleError): boolean {
  return !mayWithhold(source) && (kind === 'input' || kind === 'rejects');
}

type NamedEntry = BrokenEntry & { readonly name: string };

/** Returns an omission for each broken entry of the survey that can be left out (see `isLeftOut`). Ignores entries of unknown sources. */
export function omittedEntries(broken: readonly NamedEntry[], sources: readonly RegisteredSource[]): Omission[] {
  return broken.flatMap(({ name, error }) => {
    const source = sources.find(({ id }) => id === error.source);
    return source === undefined || !isLeftOut(source, error) ? [] : [{ source, vintage: null, region: null, files: [name], failure: error }];
  });
}

/** A file or release that prevents the publication of regions. */
export interface Withholding {
  readonly source: RegisteredSource;
  /** Region; null for all regions. */
  readonly region: number | null;
  /** Source and name of the file, or source and vintage of the release, for messages. */
  readonly label: string;
}

/**
 * Returns the broken entries that prevent the publication of regions. The region comes from the file name. Without a region in the name, a file of a reference
 * source prevents all publications. Any other file prevents the publication if the run has only one region. In a run with several or all regions, such a file
 * is only reported.
 * @param asked regions of the run, or null for all
 */
export function withholdingEntries(broken: readonly NamedEntry[], sources: readonly RegisteredSource[], asked: readonly number[] | null): Withholding[] {
  return broken.flatMap(({ name, error }) => {
    const source = sources.find(({ id }) => id === error.source);
    if (source === undefined || !mayWithhold(source)) return [];
    const named = regionsInName(name).map(({ code }) => code);
    const known: readonly (number | null)[] = named.length > 0 ? named : source.manifest.reference === true ? [null] : asked?.length === 1 ? asked : [];
    return known.map((region) => ({ source, region, label: `${source.id} ${name}` }));
  });
}

/**
 * Returns the omission for a failed release, with the files that the omission leaves out: the faulty files, or all files if the failure names none.
 * @returns null if the failure prevents the publication of the release's regions
 */
export function omissionOf(
  { source, vintage, region, files }: Located, failure: MappaleError,
): { readonly omission: Omission; readonly unread: readonly LocatedFile[] } | null {
  if (!isLeftOut(source, failure)) return null;
  const faulty = files.filter((file) => failure.files.some(({ name, sha256 }) => name === file.name && sha256 === file.sha256));
  const unread = faulty.length === 0 ? files : faulty;
  return { omission: { source, vintage, region, files: unread.map(({ name }) => name), failure }, unread };
}

/**
 * Returns the omission of the loaded files that made a build fail, such as an unreadable raster or contradicting files. If only some of these files are
 * published, the published files stay in use.
 * @param published ids of the files of the region's publication
 * @returns null if the failure prevents the publication of the region
 */
export function omissionInBuild(
  failure: MappaleError, region: number, inventory: Inventory, published: ReadonlySet<number>, sources: readonly RegisteredSource[],
): (Omission & { readonly fileIds: readonly number[] }) | null {
  // Identifies a single faulty file by the bytes, because the file may have been renamed.
  const isFaulty = (file: FaultyFile): boolean => (
    failure.files.some(({ name, sha256 }) => sha256 === file.sha256 && (failure.files.length === 1 || name === file.name))
  );
  const faulty = inventory.files.filter(isFaulty);
  const source = sources.find(({ id }) => id === faulty[0]?.sourceId);
  if (source === undefined || !isLeftOut(source, failure)) return null;
  const newer = faulty.filter(({ fileId }) => !published.has(fileId));
  const left = newer.length === 0 ? faulty : newer;
  const files = [...new Set(left.map(({ name }) => name))];
  return { source, vintage: left[0]?.vintage ?? null, region, files, failure, fileIds: left.map(({ fileId }) => fileId) };
}

/** Returns a text that is equal for two reports if both leave out the same files of a region, with the same error codes and the same affected sections. */
export function sameLeftOut(all: readonly (LeftOut | NotedLeftOut)[], region: number): string {
  return JSON.stringify(all.flatMap(({ source, files, failure, regions }) => {
    const sections = regions.find((each) => each.unit === region)?.sections;
    const code = 'error' in failure ? failure.error : failure.code;
    return sections === undefined ? [] : [[source, files, code, sections.map(({ section, state, vintages }) => [section, state, vintages])]];
  }));
}

/** Adds the affected sections in the published regions of this run to each omission. */
export async function leftOutOf(
  database: Database, omissions: readonly Omission[], regions: readonly number[], inventory: Inventory,
): Promise<LeftOut[]> {
  const layersOf = new Map(regions.map((region) => [region, layersOfSections(region)]));
  const empty = new Map<number, ReadonlySet<string>>();
  for (const region of regions) empty.set(region, await emptySections(database, region));
  return omissions.map(({ source, region, ...omission }) => ({
    ...omission,
    source: source.id,
    regions: regions.filter((each) => region === null || region === each).map((each) => ({
      unit: each, name: regionName(each), sections: affected(source, layersOf.get(each) ?? new Map(), inventory, each, empty.get(each) ?? new Set()),
    })),
  }));
}

/** Returns the omissions that the ledger stores for the last completed run of each region, by region. */
export async function leftOutByRegion(database: Database): Promise<Map<number, readonly NotedLeftOut[]>> {
  const rows = await database.query<{ region: number; leftOut: readonly NotedLeftOut[] }>(operate('left_out'));
  return new Map(rows.map(({ region, leftOut }) => [region, leftOut]));
}

function affected(
  source: RegisteredSource, layersOf: ReadonlyMap<string, ReadonlySet<Relation>>, inventory: Inventory, region: number, empty: ReadonlySet<string>,
): AffectedSection[] {
  return [...layersOf].flatMap(([section, layers]) => {
    const own = source.layer.writes.filter((layer) => layers.has(layer));
    if (own.length === 0) return [];
    const vintages = [...new Set(own.flatMap((layer) => inventory.current(region, layer).files.map(({ file }) => file.vintage)))].sort();
    return [{ section, state: empty.has(section) ? 'not_loaded' : vintages.length > 0 ? 'kept' : 'without', vintages }] as const;
  });
}

/** Returns, by section, the layers from which the section's tables are built, directly or through other tables. Leaves out layers of parcels. */
function layersOfSections(region: number): Map<string, Set<Relation>> {
  const files = productFiles(region);
  const layersOf = (relation: Relation, found: Set<Relation>, seen: Set<SqlFile>): Set<Relation> => {
    const file = files.find(({ writes }) => writes[0] === relation);
    if (file === undefined || relation === 'core.parcel' || seen.has(file)) return found;
    seen.add(file);
    for (const read of file.reads) {
      if (schemaOf(read) === 'layer') found.add(read);
      else layersOf(read, found, seen);
    }
    return found;
  };
  return new Map(SECTIONS.map(({ name, tables }) => {
    const found = new Set<Relation>();
    const seen = new Set<SqlFile>();
    for (const relation of Object.keys(tables)) layersOf(relation as Relation, found, seen);
    return [name, found];
  }));
}

/** Returns the sections that are `not_loaded` in the records of a few land parcels of a region; empty if the region has no land parcels. */
async function emptySections(database: Database, region: number): Promise<Set<string>> {
  // Finds the fids with a separate query, because a distributed database cannot join a record with its parcel.
  const parcels = await database.query<{ fid: number }>(operate('some_land_parcels'), [firstFid(region), firstFid(region + 1), LOOKED_AT]);
  const rows = await database.query<{ section: string }>(operate('not_loaded'), [parcels.map(({ fid }) => fid), SECTIONS.map(({ name }) => name)]);
  return new Set(rows.map(({ section }) => section));
}
