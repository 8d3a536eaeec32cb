/** Defines the type of a section: a block of a parcel's record, with its tables. All other files of a section are next to its `section.ts`. */
import type { z } from 'zod';
import type { Relation } from './sql-files.ts';
import type { FieldGate } from './gate.ts';

/** Kinds of parcel: land, and the strips of road and water that are mapped like parcels. */
export const KINDS = ['land', 'road', 'water'] as const;
export type ParcelKind = (typeof KINDS)[number];

export interface Section {
  /** Name of the section's folder, and of the section's block in the record. */
  readonly name: string;
  /** Number that determines the order of the sections in the record. */
  readonly position: number;
  readonly title: string;
  /** Schema of the block in answers: an object, a list, or null. */
  readonly block: z.ZodType;
  /** Kinds of parcel for which the section exists. For other kinds the block is empty and its coverage is `not_applicable`. */
  readonly kinds: readonly ParcelKind[];
  /** Place of the coverage in the record: `meta.coverage`, or the block with a coverage for each field. The block then exists for every kind of parcel. */
  readonly coverage: 'meta' | 'block';
  /** True if coverage differs within a comune. If omitted, the comune or the found features determine the coverage. */
  readonly reaches?: 'points';
  /** True if the section contains names of comuni. The list of comuni is then also cited. */
  readonly namesComuni?: true;
  /**
   * Tables without a parcel in each row, for which `api.followed_NAME` in `columns.sql` finds the parcels of a row. A changed row of any other table without
   * parcels may change every parcel.
   */
  readonly follows?: readonly Relation[];
  /** Tables that the section's `build` files create. */
  readonly tables: Readonly<Record<Relation, Table>>;
  /** True if tables have the section by default, without an explicit request. */
  readonly usual?: true;
  /** True if shortened records have the section by default, without an explicit request. */
  readonly brief?: true;
  /** Columns of the section in exported tables, in the order of `columns.sql`. Maps the column name without the section's name to the path of the value. */
  readonly flat: Readonly<Record<string, FlatColumn>>;
}

/** A value of the block, in the form of the answers. */
export interface FlatColumn {
  readonly type: Column['type'];
  /**
   * Path in the block, with a dot before fields of objects and lists. `0.name` is a field of the first element, and `length` is the number of elements.
   * Default: the column's name.
   */
  readonly of?: string;
}

/** A published table with rows of parcels and one partition per region. */
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
  /** Gate of the column, or the reason why the column has no gate. */
  readonly gate?: FieldGate | string;
}

/** Returns the section unchanged. The compiler checks its type. */
export function defineSection(section: Section): Section {
  return section;
}

/** The key column of tables with one parcel per row. */
export const FID: Column = { type: 'int4', description: 'Parcel identifier', gate: 'a key' };
