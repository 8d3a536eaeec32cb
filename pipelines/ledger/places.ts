/** Checks the comuni in the current files, and records decisions of users about comuni. */
import { digestOfPlaces, pointsByPlace, type PointsOfPlace } from '../db/comparing.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { firstNames, inputError, MappaleError } from '../errors.ts';
import { group } from '../progress.ts';
import { firstFid, regionName } from '../contract/regions.ts';
import { placesOfLayer, sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import type { PointColumns } from '../contract/source.ts';
import { tableOf, type Relation } from '../contract/sql-files.ts';
import { vintageText } from '../contract/vintage.ts';
import { countable, currentPlaces, regionOf, type CurrentFiles, type LoadedFile, type Replacement } from './current-files.ts';
import type { Inventory } from './inventory.ts';
import type { Acceptance } from './ledger.ts';
import { lossesOf, type Loss } from './lost-points.ts';
import { fence } from './runs.ts';

const ledger = statementsOf('ledger');

export interface CurrentLayer {
  readonly relation: Relation;
  readonly current: CurrentFiles;
}

/** Maximum number of comuni that a message lists. */
const NAMED = 20;

/** Refuses two files of the same age with different content. @throws MappaleError `FILES_CONTRADICT` (exit 3) with the names of both files */
export async function refuseTies(database: Database, sources: readonly RegisteredSource[], layers: readonly CurrentLayer[]): Promise<void> {
  for (const { relation, current } of layers) {
    for (const { files: [a, b], places } of current.ties) {
      const columns = placesOfLayer(sources, relation);
      if (columns !== null) {
        const [first, second] = await Promise.all([a, b].map((file) => digestOfPlaces(database, relation, file, columns, places)));
        if (first === second) continue;
      }
      throw inputError('two files of the same age contradict each other', {
        code: 'FILES_CONTRADICT', at: `${a.name}, ${b.name}`, files: [a, b],
        detail: `expected one file, or two files with the same content, found two files of ${a.sourceId} ${vintageText(a.vintage)}${a.dated === null ? '' : ` dated ${a.dated}`}${describePlaces(places.map(({ place }) => place))}`,
        hint: 'Keep the correct file in the data folder, and remove the other file.',
      });
    }
  }
}

function describePlaces(places: readonly string[]): string {
  const named = [...new Set(places)].filter((place) => place !== '').sort();
  return named.length === 0 ? '' : ` that differ in ${firstNames(named, NAMED)}`;
}

/** A complete file with fewer comuni or points (`now`) than the superseded files (`was`). */
export interface Fewer {
  readonly relation: Relation;
  readonly file: string;
  readonly figure: Loss['figure'];
  readonly was: number;
  readonly now: number;
  /** Smallest value of `now` that needs no acceptance. */
  readonly least: number;
  /** Names of the comuni concerned, in a list of points with the number of points before and after. */
  readonly comuni: string;
}

/**
 * Refuses a complete file that lacks comuni of the superseded files, or, in a list of points, too many comuni or points (`lossesOf`), unless a user accepts the
 * file. Such a file is probably truncated. Only comuni of the region count. In a list of points, comuni whose region the list does not state also count.
 * @returns the accepted files
 * @throws MappaleError `FEWER_COMUNI`, `FEWER_POINTS` (exit 5)
 */
export async function refuseFewer(
  database: Database, sources: readonly RegisteredSource[], region: number, layers: readonly CurrentLayer[], accept: Acceptance | null,
): Promise<Fewer[]> {
  const published = await database.query<{ id: number }>(ledger('published_files'), [region]);
  const known = new Set(published.map(({ id }) => id));
  const accepted: Fewer[] = [];
  for (const { relation, current } of layers) {
    for (const replacement of current.replaced) {
      const { file, before } = replacement;
      // Accepts a file that a publication already uses. Also accepts a file if no publication uses the superseded files.
      if (known.has(file.fileId) || !before.some(({ fileId }) => known.has(fileId))) continue;
      const columns = placesOfLayer(sources, relation);
      const point = columns?.point;
      const losses = columns === null || point === undefined ? lostComuni(replacement)
        : await lostPoints(database, relation, { ...columns, point }, { region, replacement });
      for (const { comuni, ...counts } of losses) {
        const loss = { relation, file: file.name, ...counts, comuni: firstNames(comuni, NAMED) };
        if (accept === null) throw fewerError(region, loss);
        accepted.push(loss);
      }
    }
  }
  return accepted;
}

/** A loss, with the comuni concerned as text. */
type NamedLoss = Omit<Loss, 'places'> & { readonly comuni: readonly string[] };

/** Returns the loss of a file that may not lack any comune. */
function lostComuni({ was, now }: Replacement): NamedLoss[] {
  if (now.places.size >= was.places.size) return [];
  const comuni = [...was.places].filter((place) => !now.places.has(place)).sort();
  return [{ figure: 'comuni', was: was.places.size, now: now.places.size, least: was.places.size, comuni }];
}

/** Returns the losses of a list of points in a region. */
async function lostPoints(
  database: Database, relation: Relation, columns: Parameters<typeof pointsByPlace>[2],
  { region, replacement: { was, now } }: { readonly region: number; readonly replacement: Replacement },
): Promise<NamedLoss[]> {
  const counted = (await pointsByPlace(database, relation, columns, { was: was.files, now: now.files }))
    .filter(({ place, region: stated }) => place !== '' && (was.places.has(place) || now.places.has(place)) && (stated ?? region) === region);
  return lossesOf(counted).map(({ places, ...loss }) => ({ ...loss, comuni: places.map((place) => describePoints(place, columns.point)) }));
}

/** Returns the name of a comune and the number of its points, such as `CB AGNONE (21 points, now 0)`. */
function describePoints({ place, region, was, now }: PointsOfPlace, { region: column, istatCode }: PointColumns): string {
  const isUnknown = region === null && (column ?? istatCode) !== undefined;
  return `${place} (${was} ${was === 1 ? 'point' : 'points'}, now ${now}${isUnknown ? ', region not stated' : ''})`;
}

function fewerError(region: number, { relation, file, figure, now, least, comuni }: Fewer): MappaleError {
  const [code, words] = figure === 'comuni' ? ['FEWER_COMUNI', 'missing'] : ['FEWER_POINTS', 'in'];
  return new MappaleError(`${regionName(region)}: a complete file has fewer ${figure} than the current file`, {
    code, kind: 'checks', at: file, detail: `${tableOf(relation)}: expected at least ${least} ${figure}, found ${now}; ${words}: ${comuni}`,
    hint: 'The published region is unchanged. Download the file again. If the change is real, run again with --accept "the reason".',
  });
}

/**
 * Returns files with comuni whose region is unknown. Neither the structure of the file, nor the list of comuni, nor the rows, nor a user determines the region.
 */
export function unplacedComuni(inventory: Inventory, relations: readonly Relation[]): { file: LoadedFile; places: string[] }[] {
  const layers = new Set(relations.map(tableOf));
  return countable(inventory.files).flatMap((file) => {
    const places = file.held.filter((held) => layers.has(held.layer)).flatMap((held) => held.places.filter((place) => place !== '' && regionOf(file, held, place, inventory.register) === null));
    return places.length === 0 ? [] : [{ file, places: [...new Set(places)].sort() }];
  });
}

/** Records the region that a user assigns to files. */
export async function assignRegion(database: Database, runId: number, fileIds: readonly number[], region: number): Promise<void> {
  await database.transaction(async (session) => {
    await fence(session, runId);
    await session.query(ledger('assign_region'), [[...fileIds], region]);
  });
}

/**
 * Returns notes about the comuni of a region. One note reports that no list of comuni is loaded. Other notes report comuni that the list does not contain or
 * assigns to a different region, and comuni whose rows are also in a file of a different region. The notes contain only names, codes and counts.
 */
export async function unlistedComuni(
  database: Database, sources: readonly RegisteredSource[], inventory: Inventory, { region, name }: { readonly region: number; readonly name: string },
  relations: readonly Relation[],
): Promise<string[]> {
  const notes: string[] = [];
  if (inventory.register.size === 0) notes.push(`${name}: without the list of comuni (${sourceOfLayer(sources, 'layer.comune_code')?.id ?? 'none is known'}) the names of comuni come from the files, and the ISTAT codes are unknown`);
  const rows = await database.query<{ comune: string; name: string | null; parcels: number; addresses: number }>(
    ledger('found_in_comuni'), [region, strange(inventory, region, relations), firstFid(region), firstFid(region + 1)],
  );
  for (const { comune, name: called, parcels, addresses } of inventory.register.size === 0 ? [] : rows) {
    const listed = inventory.register.get(comune);
    const what = [parcels > 0 ? `${group(parcels)} parcels` : '', addresses > 0 ? `${group(addresses)} addresses` : ''].filter((part) => part !== '').join(' and ');
    notes.push(`${name}: ${comune}${called === null ? '' : ` ${called}`} (${what}) is ${listed === undefined ? 'not in the list of comuni' : `a comune of another region (${listed}) in the list`}. The comune is published here because of its file`);
  }
  for (const relation of relations) {
    for (const { place, region: listedRegion, file } of inventory.current(region, relation).elsewhere) {
      notes.push(`${name}: ${place} in ${file.name} belongs to region ${listedRegion}, according to the list and another file`);
    }
  }
  return notes;
}

/** Returns the comuni in a region's current files that the list of comuni does not assign to the region. */
function strange(inventory: Inventory, region: number, relations: readonly Relation[]): string[] {
  const found = new Set<string>();
  for (const relation of relations) {
    for (const place of currentPlaces(inventory.current(region, relation), tableOf(relation))) if (place !== '' && inventory.register.get(place) !== region) found.add(place);
  }
  return [...found].sort();
}
