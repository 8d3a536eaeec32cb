/** Defines the type of a section: a block of a parcel's record, and the tables from which the block is built. All files of a section are in one folder. */
import type { z } from 'zod';
import type { Relation } from './sql-files.ts';
import { quantity, truth, type FieldGate } from './gate.ts';
import type { SectionMap } from './section-map.ts';

/** Kinds of parcel: land, and the strips of road and water that are mapped like parcels. */
export const KINDS = ['land', 'road', 'water'] as const;
export type ParcelKind = (typeof KINDS)[number];

export interface Section {
  /** Name of the section's folder, and of the section's block in the record. */
  readonly name: string;
  /** Number that determines the order of the sections in the record. */
  readonly position: number;
  readonly title: string;
  /** Schema of the block in API responses: an object, a list, or null. */
  readonly block: z.ZodType;
  /** Kinds of parcel to which the section applies. For other kinds, the block is empty and the coverage is `not_applicable`. */
  readonly kinds: readonly ParcelKind[];
  /**
   * Place of the coverage in the record. `meta`: in `meta.coverage`. `block`: in the block, with a coverage for each field; the block then exists for every
   * kind of parcel.
   */
  readonly coverage: 'meta' | 'block';
  /** Set if the coverage differs within a comune. If omitted, the comune or the found features determine the coverage. */
  readonly reaches?: 'points';
  /** Set if the section contains names of comuni. ISTAT's list of comuni is then also cited. */
  readonly namesComuni?: true;
  /**
   * Tables without a column `fid` for which `api.followed_NAME` in `record.sql` finds the parcels of a row. A changed row of any other table without `fid` may
   * change every parcel.
   */
  readonly follows?: readonly Relation[];
  /** Tables that the section's `build` files create. */
  readonly tables: Readonly<Record<Relation, Table>>;
  /** Set if exported tables contain the section by default. */
  readonly usual?: true;
  /** Set if shortened records contain the section by default. */
  readonly brief?: true;
  /** Columns of the section in exported tables, in the order of `api.columns_NAME`. Keys are column names without the section's name. */
  readonly flat: Readonly<Record<string, FlatColumn>>;
  /** Texts and drawings on the map, for a section without `map.ts`. A longer text is in `map.ts`, so that `section.ts` fits on one screen. */
  readonly map?: SectionMap;
}

/** A column of exported tables that contains a value of the block. */
export interface FlatColumn {
  readonly type: Column['type'];
  /**
   * Path of the value in the block, with dots between names. `0.name` is a field of a list's first element, and `length` is the number of elements. Default:
   * the column's name.
   */
  readonly of?: string;
}

/** A published table whose rows belong to parcels, with one partition per region. */
export interface Table {
  /** Meaning of a row, and meaning of a missing row. */
  readonly description: string;
  /** Columns of the primary key, `fid` first. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Column>>;
}

export interface Column {
  readonly type: 'int2' | 'int4' | 'int8' | 'float8' | 'text' | 'bool';
  readonly description: string;
  /** Unit of a number; absent for numbers without a unit. */
  readonly unit?: string;
  /** Meaning of null; if absent, the column is never null. */
  readonly null?: string;
  /** Quality-gate rule of the column, or the reason why the column has none. */
  readonly gate?: FieldGate | string;
}

/** Returns the section unchanged, so that the compiler checks the section's type. */
export function defineSection(section: Section): Section {
  return section;
}

/** Key column `fid` of tables whose rows belong to parcels. */
export const FID: Column = { type: 'int4', description: 'Parcel identifier', gate: 'a key' };

/** Columns of a point that `sql/steps/placement.sql` placed on a parcel. */
export const PLACED: Readonly<Record<'inside' | 'distance_m', Column>> = {
  inside: { type: 'bool', description: 'True: the point is in the parcel or on its border', gate: truth },
  distance_m: {
    type: 'float8',
    description: 'Geodesic distance from the parcel in metres, 2 decimals; 0 inside the parcel',
    unit: 'm', gate: quantity({ within: [0, 15], moves: { step: 3, why: 'half of the points are inside the parcel or a few centimetres away' } }),
  },
};
