/**
 * Compares kinds of refreshes with the full load of a synthetic region: CPU time of Node and of the database server, WAL, and duration. Each refresh starts
 * from the publication of the previous refresh. After each refresh, the benchmark checks that the published tables show the change in the files.
 */
import { join } from 'node:path';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComune, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { changedTables, compareCosts, describeCost, type Cost, type TableNames } from './costs.ts';
import {
  movedParcels, newerAddresses, NEXT_HALF_YEAR, NEXT_TAX_YEAR, nextHalfYear, nextIssueOfTile, nextTaxYear, rewriteComuni, withSameValues,
} from './releases.ts';
import { ADDRESSES, changedRows, MOTIONS, PARCELS, rowsOf, type Rows } from './rows.ts';
import { watchServer } from './server-watch.ts';
import { inFolder, number, onFreshDatabase, runProgram, say, settle, thousands, type Bench, type Fresh } from './shared.ts';

const DEFAULT_SIZE = 200_000;
const MOST_COMUNI = 101;
/** Approximate minimum number of parcels in a comune, the number in one whole sheet. */
const LEAST_PARCELS = 100;
/** Moves one parcel in 100, which is 1 %. */
const ONE_PERCENT = 100;

interface Scene {
  readonly fresh: Fresh;
  readonly folder: string;
  readonly region: SyntheticRegion;
}

/** Checks the published tables after a refresh, and returns a description of the change. Throws an Error if the tables do not show the change. */
type Check = (database: Database) => Promise<string>;

interface Scenario {
  readonly name: string;
  /** Changes the files before the refresh. Returns the check to run after the refresh. */
  prepare(scene: Scene): Promise<Check>;
}

export const run: Bench = (databaseUrl, [parcels = DEFAULT_SIZE]) => inFolder((folder) => onFreshDatabase(databaseUrl, async (fresh) => {
  const comuni = Math.min(MOST_COMUNI, Math.max(5, Math.floor(parcels / LEAST_PARCELS)));
  const region = await writeSynthetic(await loadSources(), folder, { parcels, seed: 1, comuni, dense: false });
  await runProgram(['migrate'], { DATABASE_URL: fresh.url });
  say(`refresh: ${thousands(region.parcelCount)} parcels in ${region.comuni.length} comuni`);
  const scene = { fresh, folder, region };
  const load = await measure(LOAD, scene, null);
  const refreshes: Cost[] = [];
  for (const scenario of REFRESHES) refreshes.push(await measure(scenario, scene, load));
  return [{ bench: 'refresh', ...compareCosts(region.parcelCount, load, refreshes) }];
}));

/** Measures one refresh. @param load costs of the full load; null if the refresh is the full load */
async function measure({ name, prepare }: Scenario, scene: Scene, load: Cost | null): Promise<Cost> {
  const { fresh: { url, server, name: databaseName }, folder } = scene;
  const check = await prepare(scene);
  const before = await onDatabase(url, 'write', async (database) => {
    await settle(database);
    return publishedTables(database);
  });
  const { result, use } = await watchServer(server, databaseName, async () => {
    const startedAt = performance.now();
    const { cpuSeconds } = await runProgram(['refresh', '--data', folder, '--force'], { DATABASE_URL: url });
    return { cpuSeconds, seconds: (performance.now() - startedAt) / 1000 };
  });
  const { tables, change } = await onDatabase(url, 'write', async (database) => (
    { tables: changedTables(before, await publishedTables(database)), change: await check(database) }));
  const cost: Cost = { name, seconds: result.seconds, cpuSeconds: { node: result.cpuSeconds, server: use.cpuSeconds }, walBytes: use.walBytes, tables };
  say(`${describeCost(cost, load ?? cost)}; ${change}`);
  return cost;
}

async function publishedTables(database: Database): Promise<Map<string, TableNames>> {
  const tables = await database.query<{ key: string; partition: string; heldIn: string }>(`
    select p.unit_code || ' ' || t.relation as key, t.partition, coalesce(t.held_in, t.partition) as "heldIn"
    from ledger.publication_table t join ledger.publication p using (publication_id) where p.state = 'current'`);
  return new Map(tables.map(({ key, partition, heldIn }) => [key, { partition, heldIn }]));
}

// --- Checks ------------------------------------------------------------------------------------------------------------

/** Returns a check that compares rows before and after a refresh. @param expected number of changed rows; null for any number except 0 */
async function comparing({ fresh }: Scene, rows: Rows, expected: number | null): Promise<Check> {
  const before = await onDatabase(fresh.url, 'write', (database) => rowsOf(database, rows));
  return async (database) => {
    const changed = changedRows(before, await rowsOf(database, rows));
    if (expected === null ? changed === 0 : changed !== expected) throw new Error(`expected ${expected ?? 'at least 1'} changed ${rows.name}, found ${changed}`);
    return `${number(changed)} ${rows.name} changed`;
  };
}

/** Returns a check of a number in the published tables. @param sql query with the column `value` */
function showing(sql: string, expected: number, name: string): Check {
  return async (database) => {
    const { value } = await one<{ value: number | null }>(database, sql);
    if (value !== expected) throw new Error(`expected ${name} ${expected}, found ${value ?? 'none'}`);
    return `${name} ${number(value)}`;
  };
}

const PUBLICATIONS = 'select count(*)::float8 as value from ledger.publication';
const LAST_RELEASE = 'select max(release_id)::float8 as value from ledger.release';

/** Returns a check that the refresh loaded a new release of the parcels, and read the documents of all given comuni again. @param comuni cadastral codes */
async function readAgain(scene: Scene, comuni: ReadonlySet<string>): Promise<Check> {
  const before = await valueOf(scene, LAST_RELEASE);
  return async (database) => {
    const { value } = await one<{ value: number }>(database, `
      select count(*)::float8 as value from ledger.member m join ledger.release r using (release_id)
      where r.source_id = 'ade_cadastre' and r.release_id > $1 and m.taken_from is null and substring(m.path from '([A-Z]\\d{3})_[^/]*_ple.gml$') = any ($2)`, [before, [...comuni]]);
    if (value !== comuni.size) throw new Error(`expected ${comuni.size} documents that were read again, found ${value}`);
    return `${number(value)} documents read again`;
  };
}

async function valueOf({ fresh }: Scene, sql: string): Promise<number> {
  return onDatabase(fresh.url, 'write', async (database) => (await one<{ value: number }>(database, sql)).value);
}

// --- Scenarios ---------------------------------------------------------------------------------------------------------

const LOAD: Scenario = {
  name: 'full load',
  // The file of parcels also contains one valid parcel outside the region.
  prepare: async ({ region }) => showing('select count(*)::float8 as value from core.parcel', region.parcelCount + 1, 'parcels'),
};

/**
 * Returns a scenario in which the publisher issues the parcel documents of some comuni again.
 * @param of returns the comuni whose documents are issued again
 * @param every one parcel in `every` parcels moves; null if no parcel moves
 */
function reissued(name: string, of: (region: SyntheticRegion) => readonly SyntheticComune[], every: number | null): Scenario {
  return {
    name,
    async prepare(scene) {
      const chosen = new Set(of(scene.region).map(({ belfiore }) => belfiore));
      const [{ belfiore: largest }] = scene.region.comuni;
      let count = 0;
      await rewriteComuni(join(scene.folder, 'MOLISE.zip'), chosen, (gml, comune) => {
        // No parcel of the largest comune moves. The document of this comune repeats some parcels, which are rejected if only one copy moves.
        const { gml: edited, moved } = movedParcels(gml, (position) => every !== null && comune !== largest && position % every === 0);
        count += moved;
        return withSameValues(edited);
      });
      if (every !== null && count === 0) throw new Error(`${name}: expected parcels to move, found none`);
      const parcels = await comparing(scene, PARCELS, count);
      const documents = await readAgain(scene, chosen);
      return async (database) => `${await parcels(database)}, ${await documents(database)}`;
    },
  };
}

/** Returns a function that selects the comune `offset` places after the middle of the list. */
function middle(offset: number) {
  return ({ comuni }: SyntheticRegion): SyntheticComune[] => comuni.slice((comuni.length >> 1) + offset).slice(0, 1);
}

const REFRESHES: readonly Scenario[] = [
  { name: 'nothing to do', prepare: async (scene) => showing(PUBLICATIONS, await valueOf(scene, PUBLICATIONS), 'publications so far:') },
  reissued('one comune, same values', middle(0), null),
  reissued('one comune, 1 % of its parcels moved', middle(1), ONE_PERCENT),
  reissued('one comune, all its parcels moved', middle(2), 1),
  reissued('all comuni, 1 % of the parcels moved', ({ comuni }) => comuni, ONE_PERCENT),
  {
    name: 'OMI, a new half-year',
    prepare: async ({ folder }) => showing(
      `select max(purchase_max_eur_m2)::float8 as value from core.quotation where half_year = ${NEXT_HALF_YEAR}`, await nextHalfYear(folder), 'highest new price'),
  },
  {
    name: 'MEF, a new year',
    prepare: async ({ folder }) => showing(
      `select sum(total_income_eur)::float8 as value from core.declared_income where tax_year = ${NEXT_TAX_YEAR} and cap is null`, await nextTaxYear(folder), 'sum of the new incomes'),
  },
  { name: 'ANNCSU, 0.5 % of the addresses changed', prepare: async (scene) => comparing(scene, ADDRESSES, await newerAddresses(scene.folder)) },
  {
    name: 'EGMS, one tile changed',
    async prepare(scene) {
      await nextIssueOfTile(scene.folder);
      return comparing(scene, MOTIONS, null);
    },
  },
];
