/** Tells, before a build, which stale tables are patched and which are built whole. */
import type { Relation } from '../contract/sql-files.ts';
import type { BuildJob } from './plan.ts';
import type { Product } from './products.ts';

/** A table is built whole if more than one parcel in this many changed, because replacing rows then saves no time. */
export const WORTHWHILE = 3;

/**
 * - `patch`: replaces the rows that changed. The table is built whole if more than one parcel in `WORTHWHILE` changed, or if a table that it reads is built
 *   whole after all.
 * - `compare`: keeps the published table if its inputs have the same rows. Otherwise the table is built whole, and kept if both tables are equal.
 * - `whole`: builds all rows.
 */
export type Way = 'patch' | 'compare' | 'whole';

/** A stale table and the way in which it is built. */
export interface StaleTable {
  readonly relation: Relation;
  /** Reason why the table is stale. */
  readonly why: string;
  readonly way: Way;
  /** Reason why the table is built whole; null for the other ways. */
  readonly whole: string | null;
}

/**
 * Returns the stale tables of a region, or of Italy.
 * @param options distributed: whether the tables of regions are on several nodes, where they are built whole. The tables of Italy are on one node
 */
export function staleTables({ region, products }: Pick<BuildJob, 'region' | 'products'>, { distributed }: { readonly distributed: boolean }): StaleTable[] {
  return products.flatMap((product) => {
    const { relation, stale } = product;
    if (stale === null) return [];
    const whole = reasonForWhole(product, distributed && region !== 0);
    return [{ relation, why: stale, way: whole !== null ? 'whole' : product.file.incremental?.by === 'content' ? 'compare' : 'patch', whole }];
  });
}

function reasonForWhole({ incremental, published, file, decisive }: Product, isOnNodes: boolean): string | null {
  if (published === null) return 'not published yet';
  if (isOnNodes) return 'the tables are on several nodes';
  if (incremental) return null;
  if (file.incremental === null) return 'each row may depend on all rows of the inputs';
  return `any row may depend on ${decisive.length === 0 ? 'the recorded inputs' : decisive.join(', ')}`;
}
