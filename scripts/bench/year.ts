/**
 * Measures whether nightly refreshes become slower, and whether the database grows, over many nights: `npm run bench -- year [NIGHTS [PARCELS]]`. Each night
 * moves 1 % of the parcels of a synthetic region, in a different comune than in the previous night. Then the program refreshes and prunes in the same way as
 * `mappale watch --keep 1`. At the end, the sizes are compared with a full load of the final files into an empty database.
 */
import { join } from 'node:path';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { SILENT } from '../../pipelines/log.ts';
import { prunedTo } from '../../pipelines/operate/watch.ts';
import { withContext } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { daysGoBy, refuseUnknownMoments } from '../nights/days.ts';
import { cpuOf, slopeOf } from './costs.ts';
import { databaseState, figuresOfState, SCHEMAS, type DatabaseState } from './database-state.ts';
import { ofSteps, rounded, stepOf, type Measurement } from './history.ts';
import { moveOf, movedParcels, rewriteComuni } from './releases.ts';
import { changedRows, PARCELS, rowsOf } from './rows.ts';
import { watchServer } from './server-watch.ts';
import { inFolder, median, megabytes, number, onFreshDatabase, percent, say, thousands, type Bench, type Fresh } from './shared.ts';

const NIGHTS = 365;
const SIZE = 20_000;
/** Months of history that `prune` keeps. */
const KEEP = 1;
/** Number of nights at the start and at the end that are compared. */
const WINDOW = 30;

interface Night {
  readonly seconds: number;
  readonly cpuSeconds: { readonly node: number; readonly server: number | null };
}

interface Year {
  readonly parcels: number;
  readonly nights: readonly Night[];
  readonly start: DatabaseState;
  readonly end: DatabaseState;
}

export const run: Bench = (databaseUrl, [nights = NIGHTS, parcels = SIZE]) => inFolder(async (folder) => {
  const region = await writeSynthetic(await loadSources(), folder, { parcels, seed: 1, dense: false });
  say(`year: ${nights} nights, ${thousands(region.parcelCount)} parcels in ${region.comuni.length} comuni`);
  const year = await onFreshDatabase(databaseUrl, (fresh) => nightsOf(fresh, folder, region, nights));
  const freshLoad = await onFreshDatabase(databaseUrl, async ({ url }) => {
    await refreshAndPrune(url, folder);
    return onDatabase(url, 'write', databaseState);
  });
  describe(year, freshLoad);
  return [{ bench: 'year', ...measurementOf(year, freshLoad) }];
});

/** Loads the region and runs the nights. */
async function nightsOf(fresh: Fresh, folder: string, region: SyntheticRegion, count: number): Promise<Year> {
  const { url } = fresh;
  await refreshAndPrune(url, folder);
  const { start, first } = await onDatabase(url, 'write', async (database) => {
    await refuseUnknownMoments(database);
    return { start: await databaseState(database), first: await rowsOf(database, PARCELS) };
  });
  let before: ReadonlyMap<string, string | null> = first;
  const nights: Night[] = [];
  for (let night = 0; night < count; night += 1) {
    const moved = await moveParcels(folder, region, night);
    await onDatabase(url, 'write', (database) => daysGoBy(database, 1));
    nights.push(await measure(fresh, folder));
    const after = await onDatabase(url, 'write', (database) => rowsOf(database, PARCELS));
    const changed = changedRows(before, after);
    if (changed !== moved || moved === 0) throw new Error(`night ${night + 1}: expected ${moved} changed parcels, found ${changed}`);
    before = after;
    if ((night + 1) % WINDOW === 0) say(`  night ${night + 1}: median of ${WINDOW} nights: ${describeNights(nights.slice(-WINDOW))}`);
  }
  return { parcels: region.parcelCount, nights, start, end: await onDatabase(url, 'write', databaseState) };
}

/** Moves the parcels of one night. @returns the number of moved parcels */
async function moveParcels(folder: string, { comuni, parcelCount }: SyntheticRegion, night: number): Promise<number> {
  const { comune, isMoved, direction } = moveOf(night, comuni, Math.max(1, Math.round(parcelCount / 100)));
  let count = 0;
  await rewriteComuni(join(folder, 'MOLISE.zip'), new Set([comune]), (gml) => {
    const { gml: edited, moved } = movedParcels(gml, isMoved, direction);
    count += moved;
    return edited;
  });
  return count;
}

async function measure({ url, name, server }: Fresh, folder: string): Promise<Night> {
  const { result, use } = await watchServer(server, name, async () => {
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
    await refreshAndPrune(url, folder);
    const { user, system } = process.cpuUsage(cpu);
    return { seconds: (performance.now() - startedAt) / 1000, node: (user + system) / 1e6 };
  });
  return { seconds: result.seconds, cpuSeconds: { node: result.node, server: use.cpuSeconds } };
}

/** Refreshes and prunes like a nightly run of `watch`, without the downloads. */
async function refreshAndPrune(databaseUrl: string, folder: string): Promise<void> {
  const options = { access: 'write', databaseUrl, log: SILENT } as const;
  const { failures, units } = await withContext(options, (context) => refresh(context, { command: 'watch', data: [folder], regions: null, parallel: 2, accept: null, force: true }));
  if (failures[0] !== undefined) throw failures[0];
  if (units.length === 0) throw new Error('expected a publication, found none');
  await withContext(options, (context) => prunedTo(KEEP, context));
}

// --- Results -----------------------------------------------------------------------------------------------------------

/** Returns the medians of some nights in seconds. */
function mediansOf(nights: readonly Night[]): { readonly seconds: number; readonly node: number; readonly server: number | null } {
  const server = nights.flatMap(({ cpuSeconds }) => cpuSeconds.server ?? []);
  return {
    seconds: median(nights.map(({ seconds }) => seconds)), node: median(nights.map(({ cpuSeconds }) => cpuSeconds.node)),
    server: server.length < nights.length ? null : median(server),
  };
}

function describeNights(nights: readonly Night[]): string {
  const { seconds, node, server } = mediansOf(nights);
  return `${number(seconds, 2)} s, CPU of Node ${number(node, 2)} s, CPU of the server ${number(server, 2)} s`;
}

/** Returns the growth of the CPU time per 100 nights, in seconds; null if the CPU time of the server is not readable. */
function cpuSlope(nights: readonly Night[]): number | null {
  const cpu = nights.flatMap((night) => cpuOf(night) ?? []);
  return cpu.length < nights.length ? null : slopeOf(cpu) * 100;
}

/** Returns a size in percent of another size; null if the other size is 0. */
function ratioOf(part: number, whole: number): string | null {
  return whole === 0 ? null : percent(part, whole);
}

function describe({ nights, start, end }: Year, freshLoad: DatabaseState): void {
  say(`  first ${Math.min(WINDOW, nights.length)} nights: ${describeNights(nights.slice(0, WINDOW))}`);
  say(`  last ${Math.min(WINDOW, nights.length)} nights: ${describeNights(nights.slice(-WINDOW))}`);
  say(`  growth per 100 nights: ${number(slopeOf(nights.map(({ seconds }) => seconds)) * 100, 2)} s, CPU ${number(cpuSlope(nights), 2)} s`);
  const states = [start, end, freshLoad];
  say(textTable(
    SCHEMAS.flatMap((schema) => (['tables', 'indexes'] as const).map((kind) => [
      `${schema}, ${kind}`, ...states.map(({ sizes }) => megabytes(sizes[schema]?.[kind] ?? 0)), ratioOf(end.sizes[schema]?.[kind] ?? 0, freshLoad.sizes[schema]?.[kind] ?? 0),
    ])),
    ['size', 'start', 'end', 'fresh load', 'end / fresh load'],
  ));
  say(textTable([
    ['relations', ...states.map(({ relations }) => relations)], ['dead rows', ...states.map(({ deadRows }) => deadRows)],
    ['live rows', ...states.map(({ liveRows }) => liveRows)], ['age of the oldest transaction', start.oldestTransaction, end.oldestTransaction, null],
    ['autovacuum runs', ...states.map(({ autovacuums }) => autovacuums)],
  ], ['', 'start', 'end', 'fresh load']));
}

function measurementOf({ parcels, nights, start, end }: Year, freshLoad: DatabaseState): Measurement {
  const parts = [['first nights', nights.slice(0, WINDOW)], ['last nights', nights.slice(-WINDOW)]] as const;
  const medians = parts.flatMap(([name, some]) => {
    const { node, server } = mediansOf(some);
    return [[`${name}: median CPU of Node, s`, rounded(node)], [`${name}: median CPU of the server, s`, server === null ? null : rounded(server)]] as const;
  });
  const cpu = cpuSlope(nights);
  return ofSteps(parcels, parts.map(([name, some]) => stepOf(name, mediansOf(some).seconds, null)), {
    nights: nights.length, ...Object.fromEntries(medians),
    'growth per 100 nights, s': rounded(slopeOf(nights.map(({ seconds }) => seconds)) * 100), 'growth of the CPU per 100 nights, s': cpu === null ? null : rounded(cpu),
    ...figuresOfState('start', start), ...figuresOfState('end', end), ...figuresOfState('fresh load', freshLoad),
  });
}
