/** Definition of a section: a block of a parcel's record, with its tables. The rest of a section is in the folder of its `section.ts`. */
import type { z } from 'zod';
import type { Relation } from './sql-files.ts';
import type { FieldGate } from './gate.ts';

/** Kinds of parcel: land, and the strips of road and water that are mapped like parcels. */
export const KINDS = ['land', 'road', 'water'] as const;
export type ParcelKind = (typeof KINDS)[number];

export interface Section {
  /** Name of its folder, and of its block in the record. */
  readonly name: string;
  /** Sections are in the record in the order of these numbers. */
  readonly position: number;
  readonly title: string;
  /** Answered block: an object, a list, or null. */
  readonly block: z.ZodType;
  /** Kinds of parcel for which the section exists. For other kinds the block is empty and its coverage is `not_applicable`. */
  readonly kinds: readonly ParcelKind[];
  /** Place of the coverage in the record: `meta.coverage`, or field by field in the block, which then exists for every kind of parcel. */
  readonly coverage: 'meta' | 'block';
  /** True if coverage differs within a comune. If omitted, coverage follows from the comune or from the found features. */
  readonly reaches?: 'points';
  /** True if the section contains names of comuni, so that the list of comuni is cited too. */
  readonly namesComuni?: true;
  /**
   * Tables whose rows belong to no single parcel, and that `api.followed_NAME` of `columns.sql` follows to parcels. A changed row of another such table may
   * change any parcel.
   */
  readonly follows?: readonly Relation[];
  /** Tables that its `build` files create. */
  readonly tables: Readonly<Record<Relation, Table>>;
  /** True if the section is in tables for which no sections were requested. */
  readonly usual?: true;
  /** True if shortened records have the section although no sections were requested. */
  readonly brief?: true;
  /** Columns of the block in a table: column name without the section's name → position of the value in the block. In the order of `columns.sql`. */
  readonly flat: Readonly<Record<string, FlatColumn>>;
}

/** A value of the block, in its answered form. */
export interface FlatColumn {
  readonly type: Column['type'];
  /**
   * Path in the block, with a dot before fields of objects and lists: `0.name` of the first element, `length` for the number of elements. Default: the column's
   * name.
   */
  readonly of?: string;
}

/** A published table with the rows of parcels, one partition per region. */
export interface Table {
  /** Meaning of a row, and of its absence. */
  readonly description: string;
  /** Columns of the primary key, `fid` first. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Column>>;
}

export interface Column {
  readonly type: 'int2' | 'int4' | 'int8' | 'float8' | 'text' | 'bool';
  readonly description: string;
  /** Unit of a number; absent for numbers without one. */
  readonly unit?: string;
  /** Meaning of null; if absent, the column is never null. */
  readonly null?: string;
  /** Gate of the column, or the reason why the column has no gate. */
  readonly gate?: FieldGate | string;
}

/** @returns the unchanged section, checked by the compiler */
export function defineSection(section: Section): Section {
  return section;
}

/** The key column of tables by parcel. */
export const FID: Column = { type: 'int4', description: 'Parcel identifier', gate: 'a key' };
