/** Finds parents and children of a parcel: parcels before and after a publication that overlap the parcel. */
import { one, type Database } from '../db/index.ts';

/** A parcel before or after a publication that changed this parcel or another parcel at the same place. */
export interface Kin {
  readonly fid: number;
  /** Reference of a parent before the publication, or of a child after the publication. */
  readonly cadastral_reference: string;
  /** Number in the changelog. Rollbacks also have numbers. */
  readonly publication: number;
  readonly kind: 'split' | 'merge' | 'renumbered' | 'survey';
  /** Shared area divided by the area of the parent, 4 decimals. */
  readonly share_of_parent: number;
  readonly share_of_child: number;
}

export interface Lineage {
  /** Kin of the parcel, oldest publication first. */
  readonly data: { readonly parents: readonly Kin[]; readonly children: readonly Kin[] };
  readonly meta: {
    readonly fid: number;
    /** First day of kept history, YYYY-MM-DD in Italy. */
    readonly kept_since: string;
  };
}

/** Reason why there is no lineage. */
export interface LineageRefusal {
  readonly refusal: 'never_kept' | 'not_there';
}

export const LINEAGE = 'select publication, refusal, answer from api.parcel_lineage($1)';

/** Returns the lineage of a parcel in all kept publications. @throws MappaleError (kind `database`) */
export async function parcelLineage(database: Database, fid: number): Promise<Lineage | LineageRefusal> {
  const { refusal, answer } = await one<{ refusal: LineageRefusal['refusal'] | null; answer: string }>(database, LINEAGE, [fid]);
  return refusal === null ? JSON.parse(answer) as Lineage : { refusal };
}
