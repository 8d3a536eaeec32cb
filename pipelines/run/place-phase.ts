/** Finds the region of each comune in the loaded files, as a phase of a refresh. */
import { PARCEL_LAYERS } from '../contract/sql-files.ts';
import { inputError } from '../errors.ts';
import { Inventory } from '../ledger/inventory.ts';
import { assignRegion, unplacedComuni } from '../ledger/places.ts';
import type { Refreshing } from './refreshing.ts';

/**
 * Returns the inventory of loaded files, with the region of each comune. If the command names one region, comuni whose region is unknown are assigned to that
 * region. Otherwise these comuni are reported as failures.
 */
export async function placeComuni({ context: { database, sources }, run, options, trouble: { failures } }: Refreshing): Promise<Inventory> {
  const inventory = await Inventory.read(database, sources);
  const unplaced = unplacedComuni(inventory, PARCEL_LAYERS);
  if (unplaced.length === 0) return inventory;
  const [region, ...others] = options.regions ?? [];
  if (region !== undefined && others.length === 0) {
    await assignRegion(database, run.runId, unplaced.map(({ file }) => file.fileId), region);
    return Inventory.read(database, sources);
  }
  for (const { file, places } of unplaced) {
    failures.push(inputError('the region of a comune is unknown', {
      code: 'COMUNE_REGION_UNKNOWN', at: file.name, detail: `expected comuni of the ISTAT list, or a file of a region, found ${places.join(', ')}`,
      hint: 'Load the region of the comune by name: npx mappale load-region REGION --data FOLDER. Or load a list of comuni that contains the comune.',
    }));
  }
  return inventory;
}
