/**
 * Counts the parcels that a publication changed, and records how recent the publication's sources are. The history tables contain the changelog of single
 * parcels.
 */
import { firstFid } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import { isDistributed } from '../db/distributed.ts';
import { one, type Database } from '../db/index.ts';
import { statementsOf, type Part } from '../db/statements.ts';
import { changesOf, type ChangeLine, type ComparedParcels } from '../deliver/changes.ts';
import { MappaleError } from '../errors.ts';
import { uncountedSwaps } from '../ledger/published.ts';
import type { Log } from '../log.ts';
import { isDay } from '../readers/iso-date.ts';

const statement = statementsOf('changes');

/** Number of parcels that one query compares. */
const BATCH = 5_000;

/**
 * Largest number of parcels to compare after a publication. A comparison takes about 1 ms of CPU per parcel (measured). A new half-year of quotations may
 * change all parcels. Comparing all parcels would take longer than the load of the region.
 */
const MOST_COMPARED = 10_000;

/** A swap, with the publications before and after it. */
interface Swap extends Record<string, unknown> {
  /** ISTAT code of the region, or 0 for Italy. */
  readonly unit: number;
  /** New publication; null if the region was withdrawn. */
  readonly publication: number | null;
  /** Publication before the swap; null if nothing was published at that time. */
  readonly before: number | null;
}

/** A region, with its publications before and after a swap. */
interface Counted extends Pick<Swap, 'publication' | 'before'> {
  readonly swap: number;
  readonly region: number;
}

/** Numbers of changed parcels of a comune, by operation. */
type Counts = Record<ChangeLine['op'], number>;

/**
 * Counts, by comune, the parcels that the last publication, rollback or withdrawal changed, and records the last day that each source describes. Does nothing
 * in a distributed database, which has no history.
 * @param unit ISTAT code of the region, or 0 for Italy
 */
export async function countChanges(database: Database, unit: number): Promise<void> {
  if (await isDistributed(database)) return;
  await countSwap(database, (await one<{ swap: number }>(database, statement('last_swap'), [unit])).swap);
}

/** Counts the changes of swaps whose run ended before it counted them. Logs a warning if the changes cannot be counted. */
export async function countUncounted(database: Database, log: Pick<Log, 'warn'>): Promise<void> {
  for (const swap of await uncountedSwaps(database)) {
    await countSwap(database, swap).catch((error: unknown) => {
      if (!(error instanceof MappaleError)) throw error;
      // The counts are less important than the refresh that follows.
      log.warn(`the changed parcels of publication ${swap} are not counted: ${error.describe()}`);
    });
  }
}

async function countSwap(database: Database, swap: number): Promise<void> {
  const { unit, publication, before } = await one<Swap>(database, statement('swap'), [swap]);
  // A publication of the tables of Italy leaves the publications of the regions unchanged.
  const counted = unit > 0 ? [{ swap, publication, before, region: unit }]
    : (await database.query<{ region: number; publication: number }>(statement('regions'))).map((each) => ({ swap, before: each.publication, ...each }));
  for (const each of counted) await countIn(database, each);
  if (publication !== null) await addSources(database, swap, publication);
}

async function countIn(database: Database, { swap, region, publication, before }: Counted): Promise<void> {
  const parcels: Part = { sql: statement('parcels_by_comune') };
  const of = [swap, region, publication ?? before, firstFid(region), firstFid(region + 1)];
  if (publication === null || before === null) {
    await database.query(statement(publication === null ? 'count_removed' : 'count_added', { parcels }), of);
    return;
  }
  const counts = await countDifferences(database, swap, region);
  if (counts === null) return;
  const rows = [...counts.values()];
  await database.query(statement('count_changes', { parcels }), [
    ...of, [...counts.keys()], rows.map(({ add }) => add), rows.map(({ remove }) => remove), rows.map(({ change }) => change),
  ]);
}

/** Compares the parcels that a swap may have changed. @returns the counts of each comune with changes; null if there are too many parcels to compare */
async function countDifferences(database: Database, swap: number, region: number): Promise<ReadonlyMap<string, Counts> | null> {
  const counts = new Map<string, Counts>();
  const { fids } = await one<{ fids: readonly number[] }>(database, statement('touched'), [region, swap, firstFid(region) - 1, firstFid(region + 1)]);
  if (fids.length > MOST_COMPARED) return null;
  for (let start = 0; start < fids.length; start += BATCH) {
    for (const { comune, op } of await changesIn(database, { swap, region, fids: fids.slice(start, start + BATCH) })) {
      const code = comune ?? '';
      const of = counts.get(code) ?? { add: 0, remove: 0, change: 0 };
      counts.set(code, { ...of, [op]: of[op] + 1 });
    }
  }
  return counts;
}

/** Compares parcels. Geometries are compared first. A parcel with a changed geometry needs no comparison of its columns, which would take most of the time. */
async function changesIn(
  database: Database, { swap, region, fids }: { readonly swap: number; readonly region: number; readonly fids: readonly number[] },
): Promise<readonly Pick<ChangeLine, 'fid' | 'comune' | 'op'>[]> {
  const compare = async (some: readonly number[], sections: readonly string[]): Promise<ReturnType<typeof changesOf>> =>
    changesOf(some, await one<ComparedParcels>(database, statement('compared'), [region, some, sections, swap]));
  const redrawn = await compare(fids, []);
  const counted = new Set(redrawn.map(({ fid }) => fid));
  const others = fids.filter((fid) => !counted.has(fid));
  return others.length === 0 ? redrawn : [...redrawn, ...await compare(others, SECTION_NAMES)];
}

/** Records the sources of a publication. They are recorded after the counts, so that counts are complete if there are sources. */
async function addSources(database: Database, swap: number, publication: number): Promise<void> {
  const files = await database.query<{ source: string; vintages: readonly string[] }>(statement('files'), [publication]);
  await database.query(statement('add_sources'), [swap, files.map(({ source }) => source), files.map(({ vintages }) => cutOff(vintages))]);
}

/**
 * Returns the last day of the latest period in vintages such as `2025`, `2025_2`, `2025-06-30` or `20250630`. Returns null if no vintage names a period. A day
 * that does not exist, such as `20250631`, is ignored.
 */
export function cutOff(vintages: readonly string[]): string | null {
  return vintages.flatMap((vintage) => lastDay(vintage) ?? []).sort().at(-1) ?? null;
}

function lastDay(vintage: string): string | null {
  const day = /(?<!\d)((?:19|20)\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/.exec(vintage);
  if (day !== null) {
    const iso = day.slice(1).join('-');
    return isDay(iso) ? iso : null;
  }
  const [, halfOf, half] = /(?<!\d)((?:19|20)\d\d)_([12])$/.exec(vintage) ?? [];
  if (halfOf !== undefined) return `${halfOf}-${half === '1' ? '06-30' : '12-31'}`;
  const year = vintage.match(/(?<!\d)(?:19|20)\d\d(?!\d)/g)?.at(-1);
  return year === undefined ? null : `${year}-12-31`;
}
