/** Finds the reason why a plan does not use a loaded file. */
import { regionName } from '../contract/regions.ts';
import type { Relation } from '../contract/sql-files.ts';
import { vintageText } from '../contract/vintage.ts';
import { countable, regionOf, type FilePlaces, type CurrentFile, type LoadedFile } from '../ledger/current-files.ts';
import type { Inventory } from '../ledger/inventory.ts';

/** Maximum number of regions that a message lists. */
const NAMED = 5;

/** Returns the reason why a plan does not use a file. @param planned regions in the plan, with 0 for Italy */
export function whyUnused(file: LoadedFile, inventory: Inventory, planned: readonly number[]): string {
  if (file.forgotten) return 'forgotten (to use the file again: mappale forget --undo)';
  if (file.held.every(({ places }) => places.length === 0)) return 'no row of the file could be used';
  if (!countable(inventory.files).includes(file)) return 'the same file was read again later';
  if (planned.length === 0) return 'no region is requested or published';
  const regions = new Set(file.held.flatMap((held) => held.places.map((place) => regionOf(file, held, place, inventory.register))));
  const known = [...regions].filter((region) => region !== null).sort((a, b) => a - b);
  // The tables of Italy use files of all regions. These tables may be in the plan even if the file's region is not.
  if (!regions.has(null) && known.every((region) => !planned.includes(region)) && !planned.includes(0)) return ofOtherRegions(known);
  for (const region of [...planned].sort((a, b) => b - a)) {
    for (const held of file.held) {
      const better = supersedes(file, held, region, inventory);
      if (better !== null) return `${better.file.name} (${vintageText(better.file.vintage)}) is used instead`;
    }
  }
  return known.length > 0 && known.every((region) => !planned.includes(region)) ? ofOtherRegions(known) : 'files of other regions contain the places of this file';
}

function ofOtherRegions(regions: readonly number[]): string {
  const names = regions.slice(0, NAMED).map(regionName).join(', ');
  return `belongs to ${names}${regions.length > NAMED ? ` and ${regions.length - NAMED} more regions` : ''}, which ${regions.length === 1 ? 'is' : 'are'} neither requested nor published`;
}

/**
 * Returns the current file that replaces a file for a region, or null. A current file replaces the file if both share a place, or if the current file is
 * complete and not limited to one tile or scenario.
 */
function supersedes(file: LoadedFile, held: FilePlaces, region: number, inventory: Inventory): CurrentFile | null {
  const mine = held.places.filter((place) => {
    const placeRegion = regionOf(file, held, place, inventory.register);
    return region === 0 || placeRegion === null || placeRegion === region;
  });
  if (mine.length === 0) return null;
  const { files } = inventory.current(region, `layer.${held.layer}` as Relation);
  const has = (place: string, other: CurrentFile): boolean => (other.whole
    ? other.file.held.some((each) => each.layer === held.layer && each.series === held.series && each.places.includes(place))
    : other.places.some((each) => each.series === held.series && each.place === place));
  return files.find((other) => mine.some((place) => has(place, other))) ?? files.find((other) => other.file.complete && other.file.place === null) ?? null;
}
