/**
 * Finds the parents and children of a parcel, from the parcels before and after each publication. A parent is an earlier parcel that overlaps the given
 * parcel's later version. A child is a later parcel that overlaps the given parcel's earlier version.
 */
import { one, type Database } from '../db/index.ts';

/** A parent or child of a parcel, with the publication that changed one of the two parcels. */
export interface Kin {
  readonly fid: number;
  /** Cadastral reference of a parent before the publication, or of a child after the publication. */
  readonly cadastral_reference: string;
  /** Number of the publication in the changelog. Rollbacks also have numbers. */
  readonly publication: number;
  readonly kind: 'split' | 'merge' | 'renumbered' | 'survey';
  /** Area of the overlap divided by the area of the parent, rounded to 4 decimals. */
  readonly share_of_parent: number;
  readonly share_of_child: number;
}

export interface Lineage {
  /** Parents and children of the parcel, oldest publication first. */
  readonly data: { readonly parents: readonly Kin[]; readonly children: readonly Kin[] };
  readonly meta: {
    readonly fid: number;
    /** First day for which history is kept (YYYY-MM-DD, Italian time). */
    readonly kept_since: string;
  };
}

/** Reason why the lineage cannot be returned. */
export interface LineageRefusal {
  readonly refusal: 'never_kept' | 'not_there';
}

export const LINEAGE = 'select publication, refusal, answer from api.parcel_lineage($1)';

/** Returns the lineage of a parcel over all publications for which history is kept. @throws MappaleError (kind `database`) */
export async function parcelLineage(database: Database, fid: number): Promise<Lineage | LineageRefusal> {
  const { refusal, answer } = await one<{ refusal: LineageRefusal['refusal'] | null; answer: string }>(database, LINEAGE, [fid]);
  return refusal === null ? JSON.parse(answer) as Lineage : { refusal };
}
