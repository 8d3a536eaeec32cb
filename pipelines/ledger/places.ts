/** Checks the comuni in the current files, and records decisions of users about comuni. */
import { digestOfPlaces } from '../db/comparing.ts';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { firstNames, inputError, MappaleError } from '../errors.ts';
import { group } from '../progress.ts';
import { firstFid, regionName } from '../contract/regions.ts';
import { placesOfLayer, sourceOfLayer, type RegisteredSource } from '../contract/registry.ts';
import { tableOf, type Relation } from '../contract/sql-files.ts';
import { vintageText } from '../contract/vintage.ts';
import { countable, currentPlaces, regionOf, type CurrentFiles, type LoadedFile } from './current-files.ts';
import type { Inventory } from './inventory.ts';
import type { Acceptance } from './ledger.ts';
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

/** A complete file with fewer comuni (`now`) than the superseded files (`was`). `missing` names the missing comuni. */
export interface FewerComuni {
  readonly relation: Relation;
  readonly file: string;
  readonly was: number;
  readonly now: number;
  readonly missing: string;
}

/**
 * Refuses a complete file that lacks more comuni of the superseded files than `mayLose` allows, unless a user accepts the file. Such a file is probably
 * truncated.
 * @returns the accepted files
 * @throws MappaleError `FEWER_COMUNI` (exit 5)
 */
export async function refuseFewer(
  database: Database, sources: readonly RegisteredSource[], region: number, layers: readonly CurrentLayer[], accept: Acceptance | null,
): Promise<FewerComuni[]> {
  const published = await database.query<{ id: number }>(ledger('published_files'), [region]);
  const known = new Set(published.map(({ id }) => id));
  const accepted: FewerComuni[] = [];
  for (const { relation, current } of layers) {
    const mayLose = placesOfLayer(sources, relation)?.mayLose ?? 0;
    for (const { file, before, was, now, lost } of current.fewer) {
      const least = was - Math.ceil(was * mayLose);
      if (now >= least) continue;
      // Accepts a file that a publication already uses. Also accepts a file if no publication uses the superseded files.
      if (known.has(file.fileId) || !before.some(({ fileId }) => known.has(fileId))) continue;
      const missing = firstNames(lost, NAMED);
      if (accept === null) {
        throw new MappaleError(`${regionName(region)}: a complete file has fewer comuni than the current file`, {
          code: 'FEWER_COMUNI', kind: 'checks', at: file.name, detail: `${tableOf(relation)}: expected at least ${least} comuni, found ${now}; missing: ${missing}`,
          hint: 'The published region is unchanged. Download the file again. If the change is real, run again with --accept "the reason".',
        });
      }
      accepted.push({ relation, file: file.name, was, now, missing });
    }
  }
  return accepted;
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
