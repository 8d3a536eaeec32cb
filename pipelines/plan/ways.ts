/** Determines, before a build, which stale tables are patched and which are built whole. */
import type { Relation } from '../contract/sql-files.ts';
import type { BuildJob } from './plan.ts';
import type { Product } from './products.ts';

/**
 * Largest share of changed parcels for which tables are patched. If more parcels changed, tables are built whole. Up to about this share, a patch takes less
 * CPU time than a whole build (`npm run bench -- threshold`, results in docs/decisions/0018-changed-rows-in-place.md).
 */
export const MOST_CHANGED = 0.2;

/**
 * Method with which a build updates a stale table.
 *
 * - `patch`: replaces the rows that changed. If more parcels than the share `MOST_CHANGED` changed, the table is built whole. The same applies if one of the
 *   table's inputs is built whole.
 * - `compare`: keeps the published table if the table's inputs have the same rows. Otherwise builds all rows, and keeps the published table if the new table is
 *   equal to the published table.
 * - `whole`: builds all rows.
 */
export type Way = 'patch' | 'compare' | 'whole';

/** A stale table, and the method with which the build updates the table. */
export interface StaleTable {
  readonly relation: Relation;
  /** Reason why the table is stale. */
  readonly why: string;
  readonly way: Way;
  /** Reason why all rows are built; null if `way` is not `whole`. */
  readonly whole: string | null;
}

/**
 * Returns the stale tables of a region, or of Italy.
 * @param options distributed: true if the tables of regions are on several nodes, where tables are built whole. The tables of Italy are on one node
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
