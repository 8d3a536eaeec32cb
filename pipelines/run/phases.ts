/** Loads files and builds Italy's tables, and completes a killed run. */
import { dropBuild } from '../build/join.ts';
import { plan, type Plan } from '../plan/plan.ts';
import { buildItaly } from './build-phase.ts';
import type { Context } from './context.ts';
import { loadReleases, recoverPublicationsAndLoads } from './load-phase.ts';
import { placeComuni } from './place-phase.ts';
import { readKnown, type Refreshing } from './refreshing.ts';

export { buildRegions } from './build-phase.ts';

/**
 * Loads new files, finds the regions of the comuni in the loaded files, and builds Italy's tables. Concurrent runs perform this step one after another.
 * @returns the regions to build, and the results of this step
 */
export async function loadAndPlan(refreshing: Refreshing, planned: Plan) {
  const { context, options, run } = refreshing;
  return run.shared(async () => {
    const { loaded, unused } = await loadReleases(refreshing, planned);
    const inventory = await placeComuni(refreshing);
    const { held, builds } = plan(await readKnown(context, inventory), null, options.regions);
    for (const each of held) context.log.info(each);
    const italy = await buildItaly(refreshing, builds.filter(({ region }) => region === 0), inventory);
    return { loaded, unused, held, inventory, italy, regions: builds.filter(({ region }) => region > 0) };
  });
}

/** Completes a killed run: counts the changes of publications, and removes all workspaces of loads and the workspaces of builds of the given regions. */
export async function recover(context: Pick<Context, 'database' | 'log'>, regions: readonly number[]): Promise<void> {
  await recoverPublicationsAndLoads(context);
  for (const region of regions) await dropBuild(context.database, region);
}
