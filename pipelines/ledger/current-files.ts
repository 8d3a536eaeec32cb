/**
 * Determines the current files. For each source, layer, series and comune (or tile), the current file is the newest loaded file, except forgotten files. A
 * complete file of a region replaces all older files of that region, and a complete file of Italy replaces all older files. An incomplete file replaces only
 * the places in the file, so incomplete files of different days add up. The functions are pure, so the result does not depend on the order in which files
 * arrived.
 */
import type { FilePart, LayerRows, SeriesPlace } from '../db/layers.ts';
import type { PlaceColumns, Source } from '../contract/source.ts';

/** Places that a file contains, in one layer and series. A place is a comune, or another unit for which a newer file can replace an older file. */
export interface FilePlaces {
  readonly layer: string;
  /** Half-year, year or kind of the rows. A newer file replaces only rows of the same series. `''` for a layer without series. */
  readonly series: string;
  /** Region that the structure of the file names for these places, such as an inner zip per region. */
  readonly region: number | null;
  /** Region that the rows suggest, used for comuni that are not in the list of comuni. */
  readonly likelyRegion: number | null;
  /** Date of the rows; null for rows without a date. */
  readonly dated: string | null;
  /** False for places that are in the file of a different comune by mistake. */
  readonly named: boolean;
  /** Codes of the places; `['']` if the layer has no places. */
  readonly places: readonly string[];
}

export interface LoadedFile {
  readonly fileId: number;
  readonly releaseId: number;
  readonly sourceId: string;
  readonly role: string;
  readonly vintage: string;
  readonly dated: string | null;
  readonly region: number | null;
  /** Region that a user assigned to the file. */
  readonly assigned: number | null;
  readonly complete: boolean;
  /** True for an export of a service that may be incomplete. Such an export supersedes no file, and all other files have priority. */
  readonly mayBeCut?: boolean;
  /** Tile or scenario that the file covers; null if the rows name the places. */
  readonly place: string | null;
  readonly name: string;
  readonly sha256: string;
  /** Digest of the source's version and SQL when the file was read; null if the file must be read again because of rejected records. */
  readonly reader: string | null;
  readonly present: boolean;
  readonly arrived: number;
  readonly forgotten: boolean;
  /** Earlier releases whose rows the file's release reuses without copying. */
  readonly refersTo: readonly number[];
  readonly held: readonly FilePlaces[];
}

/** A file that is current for a region and layer. */
export interface CurrentFile {
  readonly file: LoadedFile;
  /** Rank of the file; 1 is the newest file. */
  readonly rank: number;
  /** True if all rows of the file in this layer are current for the region. */
  readonly whole: boolean;
  /** Series and place of the file's current rows; empty if `whole`. */
  readonly places: readonly SeriesPlace[];
}

/** Two files of the same age that have different bytes for the same places. */
interface Tie {
  readonly layer: string;
  readonly files: readonly [LoadedFile, LoadedFile];
  readonly places: readonly SeriesPlace[];
}

/** Files of one series, and comuni of the region that are in these files. */
export interface Extent {
  readonly files: readonly LoadedFile[];
  readonly places: ReadonlySet<string>;
}

/** A complete file that supersedes other files of its series. */
export interface Replacement {
  readonly file: LoadedFile;
  /** Superseded files. */
  readonly before: readonly LoadedFile[];
  /** The superseded files, without files that are older than the newest superseded complete file. */
  readonly was: Extent;
  /** The files that are not superseded, including `file`. */
  readonly now: Extent;
}

export interface CurrentFiles {
  readonly files: readonly CurrentFile[];
  readonly ties: readonly Tie[];
  /** Comuni for which files of two regions have rows. The region in the list of comuni is used. */
  readonly elsewhere: readonly { readonly place: string; readonly region: number; readonly file: LoadedFile }[];
  readonly replaced: readonly Replacement[];
}

/** Region of each current comune, by cadastral code; empty if no list of comuni is loaded. */
export type Register = ReadonlyMap<string, number>;

export const NOTHING: CurrentFiles = { files: [], ties: [], elsewhere: [], replaced: [] };

/**
 * Returns the files that may be current, without forgotten files. If a source loaded the same bytes twice, only the later load counts, even if the file was
 * renamed, or if an earlier version recognised a different vintage or region.
 */
export function countable(files: readonly LoadedFile[]): LoadedFile[] {
  const seen = new Set<string>();
  const latest: LoadedFile[] = [];
  for (const file of [...files].sort((a, b) => b.fileId - a.fileId)) {
    const keys = [logicalKey(file), bytesKey(file)];
    if (keys.some((key) => seen.has(key))) continue;
    for (const key of keys) seen.add(key);
    latest.push(file);
  }
  return latest.reverse().filter(({ forgotten }) => !forgotten);
}

/** Returns a key of a file's source, name and bytes, independent of the recognised vintage and region. */
export function bytesKey(file: Pick<LoadedFile, 'sourceId' | 'name' | 'sha256'>): string {
  return JSON.stringify([file.sourceId, file.name, file.sha256]);
}

/** Returns a key of a file's bytes and recognised properties, independent of the file's name. */
export function logicalKey(file: Pick<LoadedFile, 'sourceId' | 'role' | 'vintage' | 'dated' | 'region' | 'complete' | 'place' | 'sha256'>): string {
  return JSON.stringify([file.sourceId, file.role, file.vintage, file.dated, file.region, file.complete, file.place, file.sha256]);
}

/** Returns whether a file is complete, and is not an export that may be incomplete. */
function isWhole(file: LoadedFile): boolean {
  return file.complete && file.mayBeCut !== true;
}

/**
 * Returns 0 for a complete file of Italy, 1 for a complete file of a region, 2 for an incomplete file, and 3 for an incomplete file of one comune. If two files
 * have the same vintage and date, the file with the higher number has priority. Exports that may be incomplete are always last (`byAge`).
 */
function narrowness(file: LoadedFile): number {
  if (isWhole(file)) return file.region === null ? 0 : 1;
  const named = file.held.filter((held) => held.named && held.places.length > 0);
  const [first] = named[0]?.places ?? [];
  return first !== undefined && named.every(({ places }) => places.every((place) => place === first)) ? 3 : 2;
}

/**
 * Returns a comparison function that sorts files, newest first. @param keep `all` if files of all vintages are current; vintages are then not compared
 */
function newestFirst(keep: Keep): (a: Candidate, b: Candidate) => number {
  return (a, b) => Number(b.named) - Number(a.named) || byAge(a, b, keep) || Number(b.file.present) - Number(a.file.present)
    || b.file.arrived - a.file.arrived || (a.file.sha256 < b.file.sha256 ? -1 : a.file.sha256 > b.file.sha256 ? 1 : b.file.fileId - a.file.fileId);
}

/** Compares the age of two files, by vintage, date and extent. Exports that may be incomplete are last. 0 means equal age. */
function byAge(a: Candidate, b: Candidate, keep: Keep): number {
  const cut = ({ file }: Candidate): number => Number(file.mayBeCut ?? false);
  return cut(a) - cut(b) || (keep === 'all' ? 0 : descending(a.file.vintage, b.file.vintage)) || descending(a.dated, b.dated) || b.narrow - a.narrow;
}

/** Returns whether two different files are both in the data folders and have the same age. */
function rivals(a: Candidate, b: Candidate, keep: Keep): boolean {
  return a.file !== b.file && a.named === b.named && byAge(a, b, keep) === 0 && a.file.present && b.file.present;
}

function descending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

/** A file that may be current for a region, in one layer and series. */
interface Candidate {
  readonly file: LoadedFile;
  readonly series: string;
  readonly dated: string;
  readonly named: boolean;
  readonly narrow: number;
  readonly places: readonly string[];
}

type Keep = Source['manifest']['keep'];

/** Layer and region for which the caller needs the current files. */
interface Wanted {
  /** Region code, or 0 for Italy. */
  readonly region: number;
  /** Name of the layer without the schema. */
  readonly layer: string;
  readonly register: Register;
  /** Comuni with parcels in the region that the list of comuni assigns to another region; empty by default. */
  readonly kept?: ReadonlySet<string> | undefined;
}

/** Returns the current files of one source, layer and region. */
export function currentFiles(
  all: readonly LoadedFile[], { id, manifest }: Pick<Source, 'manifest'> & { readonly id: string }, { region, layer, register, kept = new Set() }: Wanted,
): CurrentFiles {
  const files = countable(all.filter(({ sourceId }) => sourceId === id));
  if (files.length === 0) return NOTHING;
  const question = { files, keep: manifest.keep, region, layer, register, kept };
  const found = resolve(question);
  // If the files of two regions have rows of a comune, the region in the list of comuni has priority.
  const strays = found.files.filter(({ file }) => file.region !== null || file.held.some((held) => held.region !== null))
    .flatMap(({ file, places, whole }) => (whole ? placesOf(file, question) : places).flatMap(({ place }) => {
      const listed = register.get(place);
      return region === 0 || listed === undefined || listed === region ? [] : [{ place, region: listed, file }];
    }));
  const elsewhere = strays.filter(({ place, region: listed }) => resolve({ ...question, region: listed }).owned.has(place));
  if (elsewhere.length === 0) return { ...found, elsewhere };
  return { ...resolve(question, new Set(elsewhere.map(({ place }) => place))), elsewhere };
}

/** Input for finding the current files of one layer and region. */
interface Question {
  readonly files: readonly LoadedFile[];
  /** Whether all vintages of the source are current, or only the newest. */
  readonly keep: Keep;
  readonly region: number;
  readonly layer: string;
  readonly register: Register;
  readonly kept: ReadonlySet<string>;
}

function placesOf(file: LoadedFile, question: Question): SeriesPlace[] {
  return file.held.filter(({ layer }) => layer === question.layer)
    .flatMap((held) => held.places.filter((place) => belongs(file, held, place, question)).map((place) => ({ series: held.series, place })));
}

/**
 * Returns whether the rows of a place in a file belong to the region. All rows belong to Italy, and rows without a known region belong to every region. If a
 * comune moved to a different region, the rows also belong to the region that still has the comune's parcels. This does not apply if the file or the file's
 * structure names a region.
 */
function belongs(file: LoadedFile, held: FilePlaces, place: string, { region, register, kept }: Pick<Question, 'region' | 'register' | 'kept'>): boolean {
  const placeRegion = regionOf(file, held, place, register);
  const isPackaged = (held.region ?? file.region) !== null;
  return region === 0 || placeRegion === null || placeRegion === region || (!isPackaged && kept.has(place));
}

/** Returns the region of a place according to the file's structure, the list of comuni, the rows or the user, in this order. Null if no region is known. */
export function regionOf(file: LoadedFile, held: FilePlaces, place: string, register: Register): number | null {
  return held.region ?? file.region ?? register.get(place) ?? held.likelyRegion ?? file.assigned;
}

function resolve(question: Question, without: ReadonlySet<string> = new Set()): CurrentFiles & { readonly owned: ReadonlySet<string> } {
  const { keep, layer } = question;
  const candidates = candidatesOf(question, without);
  const order = newestFirst(keep);
  const owners = new Owners(layer, keep);
  const replaced: Replacement[] = [];
  for (const [, group] of groupBy(candidates, ({ series, file }) => `${series}\0${keep === 'all' && series === '' ? file.vintage : ''}`)) {
    const sorted = group.sort(order);
    const { remaining, replacement } = withoutSuperseded(sorted, keep);
    if (replacement !== null) replaced.push(replacement);
    for (const candidate of remaining) owners.claim(candidate);
    owners.endKind();
  }
  const ranked = candidates.filter(({ file }) => owners.kept.has(file)).sort(order).map(({ file }) => file);
  return {
    owned: owners.owned,
    ties: [...owners.ties.values()],
    replaced,
    elsewhere: [],
    files: [...new Set(ranked)].map((file, index) => {
      const places = owners.kept.get(file) ?? [];
      const whole = places.length === placeCount(file, layer);
      return { file, rank: index + 1, whole, places: whole ? [] : places };
    }),
  };
}

function placeCount(file: LoadedFile, layer: string): number {
  return file.held.reduce((sum, held) => sum + (held.layer === layer ? held.places.length : 0), 0);
}

/** Returns the files with rows of the region in the layer, with one candidate for each file and series. @param without places to leave out */
function candidatesOf(question: Question, without: ReadonlySet<string>): Candidate[] {
  return question.files.flatMap((file) => file.held.filter(({ layer }) => layer === question.layer).flatMap((held): Candidate[] => {
    const places = held.places.filter((place) => !without.has(place) && belongs(file, held, place, question));
    if (places.length === 0) return [];
    return [{ file, series: held.series, dated: held.dated ?? file.dated ?? '', named: held.named || isWhole(file), narrow: narrowness(file), places }];
  }));
}

/**
 * Removes the older files that a complete file supersedes, whatever places the older files have. A complete file of one tile or scenario removes no files here,
 * because `Owners` chooses the newest file of each place, tile or scenario. @param sorted files of one kind (see `Owners`), newest first @returns the remaining
 * files; `replacement` is null if no file is superseded
 */
function withoutSuperseded(
  sorted: readonly Candidate[], keep: Keep,
): { readonly remaining: readonly Candidate[]; readonly replacement: Replacement | null } {
  const whole = sorted.find(({ file }) => isWhole(file) && file.place === null);
  if (whole === undefined) return { remaining: sorted, replacement: null };
  const remaining = sorted.filter((each) => each.file === whole.file || byAge(each, whole, keep) < 0 || rivals(each, whole, keep));
  const before = sorted.filter((each) => !remaining.includes(each));
  const next = before.find(({ file }) => isWhole(file));
  if (before.length === 0) return { remaining, replacement: null };
  const was = before.filter((each) => next === undefined || each === next || byAge(each, next, keep) < 0);
  return { remaining, replacement: { file: whole.file, before: filesOf(before), was: extentOf(was), now: extentOf(remaining) } };
}

function filesOf(candidates: readonly Candidate[]): LoadedFile[] {
  return [...new Set(candidates.map(({ file }) => file))];
}

function extentOf(candidates: readonly Candidate[]): Extent {
  return { files: filesOf(candidates), places: new Set(candidates.flatMap(({ places }) => places)) };
}

/** Key of a place or tile for which only one file of a kind is current. In a layer without places, files of different tiles and incomplete files add up. */
type Claim = `place ${string}` | `tile ${string}` | 'whole' | `part ${number}`;

function claimOf(place: string, file: LoadedFile): Claim {
  if (place !== '') return `place ${place}`;
  if (file.place !== null) return `tile ${file.place}`;
  return isWhole(file) ? 'whole' : `part ${file.fileId}`;
}

/**
 * Assigns each place to the first file that claims the place, separately for each kind of file. Files of one kind have the same series. If files of all
 * vintages are current, files without a series are of one kind only if they have the same vintage.
 */
class Owners {
  readonly kept = new Map<LoadedFile, SeriesPlace[]>();
  readonly ties = new Map<string, Tie & { places: SeriesPlace[] }>();
  readonly owned = new Set<string>();
  readonly #layer: string;
  readonly #keep: Keep;
  /** Owner of each claim among the files of the current kind. */
  #owners = new Map<Claim, Candidate>();

  constructor(layer: string, keep: Keep) {
    this.#layer = layer;
    this.#keep = keep;
  }

  /** Claims the places of a file. Call with the files of one kind, newest first. */
  claim(candidate: Candidate): void {
    for (const place of candidate.places) {
      const claim = claimOf(place, candidate.file);
      const first = this.#owners.get(claim);
      if (first === undefined) {
        this.#owners.set(claim, candidate);
        this.owned.add(place);
        const mine = this.kept.get(candidate.file) ?? [];
        mine.push({ series: candidate.series, place });
        this.kept.set(candidate.file, mine);
      } else if (rivals(first, candidate, this.#keep)) {
        const pair = `${first.file.fileId} ${candidate.file.fileId}`;
        const tie = this.ties.get(pair) ?? { layer: this.#layer, files: [first.file, candidate.file] as const, places: [] };
        tie.places.push({ series: candidate.series, place });
        this.ties.set(pair, tie);
      }
    }
  }

  /** Forgets the claims before the files of the next kind. */
  endKind(): void {
    this.#owners = new Map();
  }
}

/** Returns the places of a layer's current files. */
export function currentPlaces({ files }: CurrentFiles, layer: string): string[] {
  return files.flatMap(({ file: { held }, whole, places }) =>
    (whole ? held.filter((each) => each.layer === layer).flatMap((each) => each.places) : places.map(({ place }) => place)));
}

/** Ranks the files of a workspace. Rank 1 is the newest file of a source and role. */
export function rankFiles(files: readonly LoadedFile[]): { fileId: number; rank: number; vintage: string }[] {
  const order = newestFirst('newest');
  const candidate = (file: LoadedFile): Candidate => ({ file, series: '', dated: file.dated ?? '', named: true, narrow: narrowness(file), places: [] });
  return [...groupBy(files, ({ sourceId, role }) => `${sourceId} ${role}`).values()].flatMap((group) => group.map(candidate).sort(order)
    .map(({ file: { fileId, vintage } }, index) => ({ fileId, rank: index + 1, vintage })));
}

/** Selects the current rows of a layer, as complete releases, complete files, and some places of files. */
export function currentRows({ files }: CurrentFiles, all: readonly LoadedFile[], layer: string, columns: PlaceColumns | null): LayerRows {
  const loaded = groupBy(all.filter(({ held }) => held.some((each) => each.layer === layer)), ({ releaseId }) => String(releaseId));
  const byRelease = groupBy(files, ({ file }) => String(file.releaseId));
  const releases: number[] = [];
  const whole: LayerRows['files'][number][] = [];
  const parts: FilePart[] = [];
  for (const [releaseId, mine] of byRelease) {
    const isOwn = mine.every(({ file }) => file.refersTo.length === 0);
    if (isOwn && mine.every((each) => each.whole) && mine.length === loaded.get(releaseId)?.length) {
      releases.push(Number(releaseId));
      continue;
    }
    for (const { file: { fileId, refersTo }, whole: isWhole, places } of mine) {
      const releaseIds = [Number(releaseId), ...refersTo];
      if (isWhole) whole.push({ fileId, releaseIds });
      else parts.push({ fileId, releaseIds, places });
    }
  }
  return { releases, files: whole, parts, columns };
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const found = groups.get(key(item));
    if (found === undefined) groups.set(key(item), [item]);
    else found.push(item);
  }
  return groups;
}
