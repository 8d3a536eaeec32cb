/**
 * Compares patching tables with rebuilding whole tables, for different shares of changed parcels: `npm run bench -- threshold [PARCELS]`. For each share, the
 * files of a synthetic region change twice: some parcels move, then the same parcels move back. The first refresh patches all tables that can be patched.
 * The second refresh rebuilds these tables completely. `MOST_CHANGED` in `pipelines/plan/ways.ts` is set from the results.
 */
import { join } from 'node:path';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { SILENT } from '../../pipelines/log.ts';
import { withContext } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { cpuFigures, cpuOf, type Cost } from './costs.ts';
import { ofSteps, rounded, stepOf, type Measurement } from './history.ts';
import { movedParcels, rewriteComuni } from './releases.ts';
import { changedRows, PARCELS, rowsOf } from './rows.ts';
import { watchServer } from './server-watch.ts';
import { inFolder, megabytes, number, onFreshDatabase, say, settle, thousands, type Bench, type Fresh } from './shared.ts';

const SIZE = 20_000;
const COMUNI = 50;
/** Shares of changed parcels, in percent. */
const SHARES = [1, 5, 10, 20, 30, 50, 80];
const ACCEPTED = { who: 'benchmark', why: 'the benchmark moves many parcels' };

type Way = 'patch' | 'whole';

type Measured = Pick<Cost, 'seconds' | 'cpuSeconds' | 'walBytes'>;

/** Costs of the two refreshes of one share. */
interface Pair extends Readonly<Record<Way, Measured>> {
  /** Number of changed parcels. */
  readonly changed: number;
}

export const run: Bench = (databaseUrl, [parcels = SIZE]) => inFolder((folder) => onFreshDatabase(databaseUrl, async (fresh) => {
  const region = await writeSynthetic(await loadSources(), folder, { parcels, seed: 1, comuni: COMUNI, dense: false });
  say(`threshold: ${thousands(region.parcelCount)} parcels in ${region.comuni.length} comuni`);
  await refreshed(fresh.url, folder, 'whole');
  const pairs: Pair[] = [];
  for (const share of SHARES) {
    const { changed: there, cost: patch } = await measure(fresh, folder, 'patch', () => move(folder, region, share, 1));
    const { changed: back, cost: whole } = await measure(fresh, folder, 'whole', () => move(folder, region, share, -1));
    if (there !== back) throw new Error(`expected ${there} parcels to move back, found ${back}`);
    pairs.push({ changed: there, patch, whole });
    say(`  ${share} % of the parcels: CPU ${number(cpuOf(patch), 1)} s patched, ${number(cpuOf(whole), 1)} s whole`);
  }
  say(textTable(
    pairs.map(({ changed, patch, whole }) => [`${number((changed / region.parcelCount) * 100, 1)} %`, ...[patch, whole].flatMap(cellsOf)]),
    ['changed', ...(['patched', 'whole'] as const).flatMap((way) => [`${way}: CPU`, 'Node', 'server', 'WAL', 'duration'])],
  ));
  return [{ bench: 'threshold', ...measurementOf(region.parcelCount, pairs) }];
}));

/**
 * Moves a share of all parcels, in all comuni except the largest. The document of the largest comune repeats some parcels, which are rejected if only one copy
 * moves.
 * @param share share of all parcels, in percent
 * @returns the number of moved parcels
 */
async function move(folder: string, { comuni: [largest, ...others] }: SyntheticRegion, share: number, direction: 1 | -1): Promise<number> {
  if (largest === undefined) throw new Error('expected a region with comuni, found none');
  const total = others.reduce((sum, { parcelCount }) => sum + parcelCount, largest.parcelCount);
  const wanted = (share / 100) * (total / (total - largest.parcelCount));
  let count = 0;
  await rewriteComuni(join(folder, 'MOLISE.zip'), new Set(others.map(({ belfiore }) => belfiore)), (gml) => {
    // A parcel moves if the rounded number of moved parcels grows at its position. The moved parcels are therefore spread evenly over the document.
    const { gml: edited, moved } = movedParcels(gml, (position) => Math.floor((position + 1) * wanted) > Math.floor(position * wanted), direction);
    count += moved;
    return edited;
  });
  if (count === 0) throw new Error(`${share} %: expected parcels to move, found none`);
  return count;
}

/** Changes the files, and measures the refresh. @returns the number of changed parcels and the costs */
async function measure(
  { url, name, server }: Fresh, folder: string, way: Way, change: () => Promise<number>,
): Promise<{ readonly changed: number; readonly cost: Measured }> {
  const moved = await change();
  const before = await onDatabase(url, 'write', async (database) => {
    await settle(database);
    return rowsOf(database, PARCELS);
  });
  const { result, use } = await watchServer(server, name, async () => {
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
    await refreshed(url, folder, way);
    const { user, system } = process.cpuUsage(cpu);
    return { seconds: (performance.now() - startedAt) / 1000, node: (user + system) / 1e6 };
  });
  const { after, isPatched } = await onDatabase(url, 'write', async (database) => (
    { after: await rowsOf(database, PARCELS), isPatched: await parcelsArePatched(database) }));
  const changed = changedRows(before, after);
  if (changed !== moved) throw new Error(`expected ${moved} changed parcels, found ${changed}`);
  if (isPatched !== (way === 'patch')) throw new Error(`expected the parcels to be ${way === 'patch' ? 'patched' : 'built whole'}`);
  return { changed, cost: { seconds: result.seconds, cpuSeconds: { node: result.node, server: use.cpuSeconds }, walBytes: use.walBytes } };
}

async function refreshed(databaseUrl: string, folder: string, way: Way): Promise<void> {
  const { failures, units } = await withContext({ access: 'write', databaseUrl, log: SILENT }, (context) => (
    refresh(context, { command: 'bench', data: [folder], regions: null, parallel: 2, accept: ACCEPTED, force: true, mostChanged: way === 'patch' ? 1 : 0 })));
  if (failures[0] !== undefined) throw failures[0];
  if (units.length === 0) throw new Error('expected a publication, found none');
}

/** Returns whether the current publication of the region replaced single parcels. */
async function parcelsArePatched(database: Database): Promise<boolean> {
  const { patched } = await one<{ patched: boolean }>(database, `
    select coalesce(t.held_in, t.partition) <> t.partition as patched
    from ledger.publication_table t join ledger.publication p using (publication_id)
    where p.state = 'current' and t.relation = 'core.parcel'`);
  return patched;
}

// --- Results -----------------------------------------------------------------------------------------------------------

function cellsOf(cost: Measured): string[] {
  const { seconds, cpuSeconds: { node, server }, walBytes } = cost;
  return [`${number(cpuOf(cost), 1)} s`, `${number(node, 1)} s`, `${number(server, 1)} s`, megabytes(walBytes), `${number(seconds, 1)} s`];
}

function measurementOf(size: number, pairs: readonly Pair[]): Measurement {
  const costs = pairs.flatMap((pair) => (['patch', 'whole'] as const).map((way) => ({ name: `${rounded((pair.changed / size) * 100)} % changed, ${way}`, cost: pair[way] })));
  const figures = costs.flatMap(({ name, cost }) => [...cpuFigures(name, cost), [`${name}: WAL, bytes`, cost.walBytes] as const]);
  return ofSteps(size, costs.map(({ name, cost }) => stepOf(name, cost.seconds, null)), Object.fromEntries(figures));
}
