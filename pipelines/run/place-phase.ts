/** Runs the phase of a refresh that finds the region of each comune in the loaded files. */
import { PARCEL_LAYERS } from '../contract/sql-files.ts';
import { inputError } from '../errors.ts';
import { Inventory } from '../ledger/inventory.ts';
import { assignRegion, unplacedComuni } from '../ledger/places.ts';
import type { Refreshing } from './refreshing.ts';

/**
 * Reads the loaded files with the region of each comune. Comuni of an unknown region are assigned to the only region of the command. If the command has several
 * regions, these comuni are reported as failures.
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
