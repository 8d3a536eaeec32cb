/**
 * Determines the current files: for each source, layer, series and comune (or tile), the newest file that was loaded and not forgotten. A complete file of
 * a region or of Italy replaces all older files of that region. A part replaces only its own places, and parts of different days add up. The functions are
 * pure, so the result does not depend on the order in which files arrived.
 */
import type { FilePart, LayerRows, SeriesPlace } from '../db/catalog.ts';
import type { PlaceColumns, Source } from '../contract/source.ts';

/** Places of a file in one layer and series. */
export interface FilePlaces {
  readonly layer: string;
  /** Half-year, year or kind in which newer files replace older ones; `''` for a layer with one state. */
  readonly series: string;
  /** Region that the packaging inside the file says. */
  readonly region: number | null;
  /** Region that the rows say, for comuni that the list lacks. */
  readonly likelyRegion: number | null;
  /** Date of these rows where they have one of their own. */
  readonly dated: string | null;
  /** False for comuni that stand in another one's file by mistake. */
  readonly named: boolean;
  /** Codes; `['']` where the layer knows none. */
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
  /** Region that a person named for it. */
  readonly assigned: number | null;
  readonly complete: boolean;
  /** True: an export of a service that may lack features. It supersedes nothing, and every other file counts before it. */
  readonly mayBeCut?: boolean;
  /** Tile or scenario that the file is of; null: as its rows say. */
  readonly place: string | null;
  readonly name: string;
  readonly sha256: string;
  /** Digest of what read it: of two readings of the same bytes the later counts. */
  readonly reader: string;
  readonly present: boolean;
  readonly arrived: number;
  readonly forgotten: boolean;
  readonly held: readonly FilePlaces[];
}

/** A current file of a unit and layer, with its places. */
export interface CurrentFile {
  readonly file: LoadedFile;
  /** 1 is the newest. */
  readonly rank: number;
  /** True if all rows of the file in this layer are current for the unit. */
  readonly whole: boolean;
  /** Series and place of the current rows; empty if `whole`. */
  readonly places: readonly SeriesPlace[];
}

/** Two files of one age that say different things of the same places, as far as their bytes tell. */
export interface Tie {
  readonly layer: string;
  readonly files: readonly [LoadedFile, LoadedFile];
  readonly places: readonly SeriesPlace[];
}

/** A complete file that supersedes others (`before`) which together reached more comuni. */
interface Fewer {
  readonly file: LoadedFile;
  readonly before: readonly LoadedFile[];
  readonly was: number;
  readonly now: number;
  readonly lost: readonly string[];
}

export interface CurrentFiles {
  readonly files: readonly CurrentFile[];
  readonly ties: readonly Tie[];
  /** Comuni that lie in the files of two regions: left to the region where the list has them. */
  readonly elsewhere: readonly { readonly place: string; readonly region: number; readonly file: LoadedFile }[];
  readonly fewer: readonly Fewer[];
}

/** Region of each current comune, by cadastral code; empty if no list is loaded. */
export type Register = ReadonlyMap<string, number>;

const NOTHING: CurrentFiles = { files: [], ties: [], elsewhere: [], fewer: [] };

/**
 * Returns the files that count. If the same bytes were read twice, the later reading counts, even if an earlier version recognised another source. Forgotten
 * files do not count.
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

/** The same bytes under the same name, whatever they were read as. */
export function bytesKey(file: Pick<LoadedFile, 'sourceId' | 'name' | 'sha256'>): string {
  return JSON.stringify([file.sourceId, file.name, file.sha256]);
}

/** Key of a file: equal bytes that were recognised as the same. */
export function logicalKey(file: Pick<LoadedFile, 'sourceId' | 'role' | 'vintage' | 'dated' | 'region' | 'complete' | 'place' | 'sha256'>): string {
  return JSON.stringify([file.sourceId, file.role, file.vintage, file.dated, file.region, file.complete, file.place, file.sha256]);
}

/** Does a file supersede all older ones? */
function isWhole(file: LoadedFile): boolean {
  return file.complete && file.mayBeCut !== true;
}

/** How much of the country a file is packaged as: of files of one day the narrower goes before. */
function narrowness(file: LoadedFile): number {
  if (isWhole(file)) return file.region === null ? 0 : 1;
  const named = new Set(file.held.flatMap(({ named: is, places }) => (is ? places : [])));
  return named.size === 1 ? 3 : 2;
}

/** Sorts files of a kind, newest first: a total order. */
function newestFirst(series: boolean): (a: Candidate, b: Candidate) => number {
  return (a, b) => Number(b.named) - Number(a.named) || byAge(a, b, series) || Number(b.file.present) - Number(a.file.present)
    || b.file.arrived - a.file.arrived || (a.file.sha256 < b.file.sha256 ? -1 : a.file.sha256 > b.file.sha256 ? 1 : b.file.fileId - a.file.fileId);
}

/** Cut exports last; then by what the files say of themselves: vintage, the date inside, then the narrower packaging. 0: as new as one another. */
function byAge(a: Candidate, b: Candidate, series: boolean): number {
  const cut = ({ file }: Candidate): number => Number(file.mayBeCut ?? false);
  return cut(a) - cut(b) || (series ? 0 : descending(a.file.vintage, b.file.vintage)) || descending(a.dated, b.dated) || b.narrow - a.narrow;
}

/** Returns whether two files in the data folders cannot be ordered by date. */
function rivals(a: Candidate, b: Candidate, series: boolean): boolean {
  return a.file !== b.file && a.named === b.named && byAge(a, b, series) === 0 && a.file.present && b.file.present;
}

function descending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

/** One file in one layer and series, for a unit. */
interface Candidate {
  readonly file: LoadedFile;
  readonly series: string;
  readonly dated: string;
  readonly named: boolean;
  readonly narrow: number;
  readonly places: readonly string[];
}

/**
 * @param unit region code, or 0 for Italy
 * @param layer without its schema
 * @param kept comuni whose parcels the unit has, although the list has them in another region
 */
export function currentFiles(
  all: readonly LoadedFile[], { id, manifest }: Pick<Source, 'manifest'> & { readonly id: string }, unit: number, layer: string, register: Register,
  kept: ReadonlySet<string> = new Set(),
): CurrentFiles {
  const files = countable(all).filter(({ sourceId }) => sourceId === id);
  if (files.length === 0) return NOTHING;
  const question = { files, isSeries: manifest.keep === 'all', unit, layer, register, kept };
  const found = resolve(question);
  // The region where the list has a comune goes before the one in whose file it stands, too.
  const strays = found.files.filter(({ file }) => file.region !== null || file.held.some(({ region }) => region !== null))
    .flatMap(({ file, places, whole }) => (whole ? placesOf(file, question) : places).flatMap(({ place }) => {
      const listed = register.get(place);
      return unit === 0 || listed === undefined || listed === unit ? [] : [{ place, region: listed, file }];
    }));
  const elsewhere = strays.filter(({ place, region }) => resolve({ ...question, unit: region }).owned.has(place));
  if (elsewhere.length === 0) return { ...found, elsewhere };
  return { ...resolve(question, new Set(elsewhere.map(({ place }) => place))), elsewhere };
}

/** Input for finding the current files of one layer and unit. */
interface Question {
  readonly files: readonly LoadedFile[];
  /** The source keeps all vintages. */
  readonly isSeries: boolean;
  readonly unit: number;
  readonly layer: string;
  readonly register: Register;
  readonly kept: ReadonlySet<string>;
}

function placesOf(file: LoadedFile, question: Question): SeriesPlace[] {
  return file.held.filter(({ layer }) => layer === question.layer)
    .flatMap((held) => held.places.filter((place) => belongs(file, held, place, question)).map((place) => ({ series: held.series, place })));
}

/** Whether the rows of a place in a file are the unit's. Rows of a comune that moved are also the unit's if it still has the parcels. */
function belongs(file: LoadedFile, held: FilePlaces, place: string, { unit, register, kept }: Pick<Question, 'unit' | 'register' | 'kept'>): boolean {
  const region = regionOf(file, held, place, register);
  const isPackaged = (held.region ?? file.region) !== null;
  return unit === 0 || region === null || region === unit || (!isPackaged && kept.has(place));
}

/** The region that packaging says; else where the list has the comune; else as the rows, or a person, say. Null: it is of no region, or of all. */
export function regionOf(file: LoadedFile, held: FilePlaces, place: string, register: Register): number | null {
  return held.region ?? file.region ?? register.get(place) ?? held.likelyRegion ?? file.assigned;
}

function resolve(question: Question, without: ReadonlySet<string> = new Set()): CurrentFiles & { readonly owned: ReadonlySet<string> } {
  const { files, isSeries, layer } = question;
  const candidates: Candidate[] = [];
  const total = new Map<number, number>();
  for (const file of files) {
    for (const held of file.held) {
      if (held.layer !== layer) continue;
      total.set(file.fileId, (total.get(file.fileId) ?? 0) + held.places.length);
      const places = held.places.filter((place) => !without.has(place) && belongs(file, held, place, question));
      if (places.length === 0) continue;
      candidates.push({ file, series: held.series, dated: held.dated ?? file.dated ?? '', named: held.named || isWhole(file), narrow: narrowness(file), places });
    }
  }
  const order = newestFirst(isSeries);
  const kept = new Map<LoadedFile, SeriesPlace[]>();
  const ties = new Map<string, Tie & { places: SeriesPlace[] }>();
  const fewer: Fewer[] = [];
  const owned = new Set<string>();
  for (const [, group] of groupBy(candidates, ({ series, file }) => `${series}\0${isSeries && series === '' ? file.vintage : ''}`)) {
    const sorted = group.sort(order);
    // Complete files supersede all older ones of their kind, whatever these reached; those of one tile or scenario, the older ones of it.
    const last = sorted.findIndex(({ file }) => isWhole(file) && file.place === null);
    const whole = sorted[last];
    const stands = (each: Candidate, than: Candidate): boolean => each.file === than.file || byAge(each, than, isSeries) < 0 || rivals(each, than, isSeries);
    const standing = sorted.filter((each) => whole === undefined || stands(each, whole));
    if (whole !== undefined) {
      const reached = new Set(standing.flatMap(({ places }) => places));
      const before = sorted.filter((each) => !standing.includes(each));
      const next = before.find(({ file }) => isWhole(file));
      const was = new Set(before.filter((each) => next === undefined || each === next || byAge(each, next, isSeries) < 0).flatMap(({ places }) => places));
      const lost = [...was].filter((place) => !reached.has(place)).sort();
      const superseded = [...new Set(before.map(({ file }) => file))];
      if (was.size > reached.size) fewer.push({ file: whole.file, before: superseded, was: was.size, now: reached.size, lost });
    }
    const owner = new Map<string, Candidate>();
    for (const candidate of standing) {
      for (const place of candidate.places) {
        // Where a layer knows no places, files of other tiles and parts of other days add up.
        const { fileId, place: tile } = candidate.file;
        const key = place !== '' ? place : tile !== null ? `\0${tile}` : isWhole(candidate.file) ? '\0' : `\0\0${fileId}`;
        const first = owner.get(key);
        if (first === undefined) {
          owner.set(key, candidate);
          owned.add(place);
          const mine = kept.get(candidate.file) ?? [];
          mine.push({ series: candidate.series, place });
          kept.set(candidate.file, mine);
        } else if (rivals(first, candidate, isSeries)) {
          const pair = `${first.file.fileId} ${candidate.file.fileId}`;
          const tie = ties.get(pair) ?? { layer, files: [first.file, candidate.file] as const, places: [] };
          tie.places.push({ series: candidate.series, place });
          ties.set(pair, tie);
        }
      }
    }
  }
  const ranked = candidates.filter(({ file }) => kept.has(file)).sort(order).map(({ file }) => file);
  return {
    owned,
    ties: [...ties.values()],
    fewer,
    elsewhere: [],
    files: [...new Set(ranked)].map((file, index) => {
      const places = kept.get(file) ?? [];
      const whole = places.length === total.get(file.fileId);
      return { file, rank: index + 1, whole, places: whole ? [] : places };
    }),
  };
}

/** Returns the places of a layer's current files. */
export function currentPlaces({ files }: CurrentFiles, layer: string): string[] {
  return files.flatMap(({ file: { held }, whole, places }) =>
    (whole ? held.filter((each) => each.layer === layer).flatMap((each) => each.places) : places.map(({ place }) => place)));
}

/** Files of a workspace with their ranks: 1 is the newest of its source and kind. */
export function rankFiles(files: readonly LoadedFile[]): { fileId: number; rank: number; vintage: string }[] {
  const order = newestFirst(false);
  const candidate = (file: LoadedFile): Candidate => ({ file, series: '', dated: file.dated ?? '', named: true, narrow: narrowness(file), places: [] });
  return [...groupBy(files, ({ sourceId, role }) => `${sourceId} ${role}`).values()].flatMap((group) => group.map(candidate).sort(order)
    .map(({ file: { fileId, vintage } }, index) => ({ fileId, rank: index + 1, vintage })));
}

/** Returns the current rows of a layer, by release. */
export function currentRows({ files }: CurrentFiles, all: readonly LoadedFile[], layer: string, columns: PlaceColumns | null): LayerRows {
  const loaded = groupBy(all.filter(({ held }) => held.some((each) => each.layer === layer)), ({ releaseId }) => String(releaseId));
  const byRelease = groupBy(files, ({ file }) => String(file.releaseId));
  const releases: number[] = [];
  const whole: { fileId: number; releaseId: number }[] = [];
  const parts: FilePart[] = [];
  for (const [releaseId, mine] of byRelease) {
    if (mine.every((each) => each.whole) && mine.length === loaded.get(releaseId)?.length) {
      releases.push(Number(releaseId));
      continue;
    }
    for (const { file: { fileId }, whole: isWhole, places } of mine) {
      if (isWhole) whole.push({ fileId, releaseId: Number(releaseId) });
      else parts.push({ fileId, releaseId: Number(releaseId), places });
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
