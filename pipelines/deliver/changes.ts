/**
 * Reads the changelog of a region: the parcels that each publication added, removed or changed, with their new values by export column. Former values come from
 * the history tables.
 */
import { firstFid } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import { cellsOf, columnsOf, type Ask, type Cell } from './columns.ts';

/** GeoJSON geometry in EPSG:4326, longitude before latitude. */
interface Geometry {
  readonly type: string;
  readonly coordinates: unknown;
}

/** A parcel that a publication added, removed or changed. */
export interface ChangeLine {
  /** Number of the publication in the changelog. Rollbacks and withdrawals also have numbers. */
  readonly publication: number;
  /** Time of the publication in UTC. */
  readonly published_at: string;
  readonly op: 'add' | 'remove' | 'change';
  readonly fid: number;
  readonly cadastral_reference: string;
  /** Cadastral code. Null for a land-register parcel that disappeared because the parcel's region was withdrawn. */
  readonly comune: string | null;
  /**
   * New values by export column, and `geometry`. An added parcel has all values, a changed parcel only the values that differ, and a removed parcel has no
   * values.
   */
  readonly columns: Readonly<Record<string, Cell | Geometry>>;
}

/**
 * Position in the changelog: after a parcel of a publication, after a whole publication (`fid` null), or at the start of a day (YYYY-MM-DD, Italian time).
 */
export type ChangesFrom = { readonly publication: number; readonly fid: number | null } | { readonly day: string };

/** Reason why changes cannot be listed. */
export interface ChangesRefusal {
  readonly reason: 'never_kept' | 'not_published' | 'not_kept' | 'unknown';
  /** First day from which all changes are kept. Set only for `not_kept`. */
  readonly kept_since?: string;
  readonly kept_after?: number;
}

interface ChangesBatch {
  /** Text that identifies the publications on which the batch depends. */
  readonly tag: string;
  /** Lines of the changelog, sorted by publication and fid. */
  readonly lines: readonly ChangeLine[];
  /** Position after this batch; null at the end of the changelog. */
  readonly next: { readonly publication: number; readonly fid: number | null } | null;
  /** Number of the last publication to read: the newest publication, or the last publication up to `until`. */
  readonly last: number;
}

type ParcelState = readonly [fid: number, reference: string, comune: string | null, geometry: string | null];

/** States of parcels before and after a publication, with cells as `past.columns_at` returns them. */
export type ComparedParcels = Readonly<{
  parcels_before: readonly ParcelState[] | null; cells_before: string | null; parcels_after: readonly ParcelState[] | null; cells_after: string | null;
}>;

type Found = ComparedParcels & Readonly<{
  publication: string; refusal: ChangesRefusal | null; last: number; swap: number | null; happened_at: string | null; fids: readonly number[] | null;
}>;

const COLUMNS = columnsOf(SECTION_NAMES).map(({ name }) => name);

/** State of a parcel before or after a publication. */
interface State {
  readonly reference: string;
  readonly comune: string | null;
  readonly geometry: string | null;
  readonly cells: readonly Cell[];
}

/** Selection of the parcels to read. */
interface Wanted {
  readonly region: number;
  readonly from: ChangesFrom;
  /** Number of the last publication to read; null to read up to the newest. */
  readonly until: number | null;
  /** Maximum number of parcels to compare. */
  readonly most: number;
}

/**
 * Compares the next parcels that a publication may have changed. A batch may contain no changes although more batches follow.
 * @throws MappaleError (kind `database`)
 */
export async function changesBatch(ask: Ask, { region, from, until, most }: Wanted): Promise<ChangesBatch | ChangesRefusal> {
  const place = 'day' in from ? [null, null, from.day] : [from.publication, from.fid, null];
  const found = await ask<Found>(
    `select publication, refusal, last, swap, happened_at, fids, parcels_before, cells_before, parcels_after, cells_after
     from api.changed_parcels($1, $2, $3, $4, $5, $6, $7, $8)`,
    [region, [firstFid(region), firstFid(region + 1)], ...place, until, most, SECTION_NAMES],
  );
  if (found.refusal !== null) return found.refusal;
  const { publication: tag, last, swap, happened_at: publishedAt, fids } = found;
  if (swap === null || fids === null || publishedAt === null) return { tag, last, lines: [], next: null };
  const lines = changesOf(fids, found).map((change) => ({ publication: swap, published_at: publishedAt, ...change }));
  return { tag, last, lines, next: { publication: swap, fid: fids.length < most ? null : fids.at(-1) ?? null } };
}

/** A changelog line without number and time of the publication. */
type Change = Omit<ChangeLine, 'publication' | 'published_at'>;

/** Returns the changes of the compared parcels. Omits parcels that did not change. */
export function changesOf(fids: readonly number[], { parcels_before, cells_before, parcels_after, cells_after }: ComparedParcels): Change[] {
  const before = statesOf(parcels_before, cells_before);
  const after = statesOf(parcels_after, cells_after);
  return fids.flatMap((fid) => {
    const change = changeOf(fid, before.get(fid), after.get(fid));
    return change === null ? [] : [change];
  });
}

function statesOf(parcels: readonly ParcelState[] | null, answer: string | null): ReadonlyMap<number, State> {
  const cells = cellsOf(answer, SECTION_NAMES);
  return new Map((parcels ?? []).map(([fid, reference, comune, geometry]) => [fid, { reference, comune, geometry, cells: cells.get(fid) ?? [] }]));
}

function changeOf(fid: number, before: State | undefined, after: State | undefined): Change | null {
  if (after === undefined) return before === undefined ? null : { op: 'remove', fid, cadastral_reference: before.reference, comune: before.comune, columns: {} };
  const changed = COLUMNS.flatMap((name, index): [string, Cell | Geometry][] => {
    const value = after.cells[index] ?? null;
    return before !== undefined && (before.cells[index] ?? null) === value ? [] : [[name, value]];
  });
  if (after.geometry !== null && before?.geometry !== after.geometry) changed.push(['geometry', JSON.parse(after.geometry) as Geometry]);
  const columns = Object.fromEntries(changed);
  if (before !== undefined && Object.keys(columns).length === 0) return null;
  return { op: before === undefined ? 'add' : 'change', fid, cadastral_reference: after.reference, comune: after.comune, columns };
}

/**
 * Yields all lines after a position, in batches.
 * @returns the number of the last publication
 * @throws the error that `refuse` returns; MappaleError (kind `database`)
 */
export async function* changesAfter(
  ask: Ask, wanted: Wanted, refuse: (refusal: ChangesRefusal) => Error,
): AsyncGenerator<readonly ChangeLine[], number, undefined> {
  let { from, until } = wanted;
  for (;;) {
    const batch = await changesBatch(ask, { ...wanted, from, until });
    if ('reason' in batch) throw refuse(batch);
    yield batch.lines;
    // Omits publications that become current after the first batch was read. The next call returns these publications.
    until ??= batch.last;
    if (batch.next === null) return batch.last;
    from = batch.next;
  }
}
