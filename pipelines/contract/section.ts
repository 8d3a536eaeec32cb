/** Definition of a section: a block of a parcel's record, with its tables. The rest of a section is SQL in the folder of its `section.ts`. */
import type { z } from 'zod';
import type { Relation } from './sql-files.ts';
import type { FieldGate } from './gate.ts';

/** Kinds of parcel: land, and the strips of road and water that are mapped like parcels. */
export const KINDS = ['land', 'road', 'water'] as const;
export type ParcelKind = (typeof KINDS)[number];

export interface Section {
  /** Name of its folder, and of its block in the record. */
  readonly name: string;
  /** Sections stand in the record in the order of these numbers. */
  readonly position: number;
  readonly title: string;
  /** Answered block: an object, a list, or null. */
  readonly block: z.ZodType;
  /** Kinds of parcel that the section is made for. For the others the block is empty and its coverage is `not_applicable`. */
  readonly kinds: readonly ParcelKind[];
  /** Where the record says whether its sources reach the place: in `meta.coverage`, or field by field in the block, which then is made for every kind. */
  readonly coverage: 'meta' | 'block';
  /** Its files reach single places, so that coverage differs within a comune; not given: it is that of the comune, or what was found says it. */
  readonly reaches?: 'points';
  /** It says names of comuni: their list is cited with it. */
  readonly namesComuni?: true;
  /** The tables that its `build` files make. */
  readonly tables: Readonly<Record<Relation, Table>>;
  /** True if the section is in tables for which no sections were requested. */
  readonly usual?: true;
  /** The block in one row of a table: name of the column, without the section's → where its value stands. In the order in which `columns.sql` gives them. */
  readonly flat: Readonly<Record<string, FlatColumn>>;
  readonly map: MapPanel;
  /** How the map draws it; not given: not at all. */
  readonly layer?: MapLayer;
}

/** A value of the block, in its answered form. */
export interface FlatColumn {
  readonly type: Column['type'];
  /** Path in the block, a dot leading into objects and lists: `0.name` of the first element, `length` how many there are; not given: the column's name. */
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
  /** Gate of the column, or the reason for having none. */
  readonly gate?: FieldGate | string;
}

/** How the map's page tells the block. Fields that say enough by their names need nothing. */
interface MapPanel {
  /** Italian texts of the map. English texts are used for missing ones. */
  readonly italian?: {
    readonly title: string;
    readonly words?: Readonly<Record<string, string>>;
    /** Words for values that are words. */
    readonly values?: Readonly<Record<string, string>>;
    /** Headings of the list's columns, and the sentence above it. */
    readonly columns?: Readonly<Record<string, string>>;
    readonly caption?: string;
    readonly note?: string;
    /** English text of `layer` → Italian. */
    readonly legend?: Readonly<Record<string, string>>;
    /** English description of a field in `block` → Italian. */
    readonly fields?: Readonly<Record<string, string>>;
    /**
     * English text of `explain.sql` (rules, and values, units and fields that are words) → Italian. `{1}` is the first inserted value, `{2}` the
     * second.
     */
    readonly evidence?: Readonly<Record<string, string>>;
  };
  /** Words for names of fields. */
  readonly words?: Readonly<Record<string, string>>;
  readonly units?: Readonly<Record<string, string>>;
  /** Numbers that are names: shown digit by digit. */
  readonly codes?: readonly string[];
  /** Fields to show first; the others follow in their order. */
  readonly first?: readonly string[];
  /** Where the block is a list, or has one in a field. */
  readonly list?: {
    /** The list's field; without it the block is the list. */
    readonly field?: string;
    readonly caption?: string;
    readonly latestFirst?: true;
    /** Sentence above the table, with fields of its first row in braces. */
    readonly note?: string;
    /** Fields shown, a dot leading into objects, each with its heading. */
    readonly columns: Readonly<Record<string, string>>;
  };
}

/**
 * How the map draws the section: parcels coloured by one value. Colours keep apart for people who see some of them alike (ColorBrewer, and viridis for what has
 * no bad end), on light and on dark ground.
 */
export interface MapLayer {
  /** Title of the drawn value. */
  readonly title: string;
  /** Column of `flat` that has the value. */
  readonly value: string;
  /** Column of `flat` that says what covers the place, in the words of `meta.coverage`; not given: `meta.coverage` itself. */
  readonly coverage?: string;
  /** Unit of a number; absent for numbers without one. */
  readonly unit?: string;
  /** Values of a category one by one, or where ranges of a number begin, smallest first; the first range has no beginning. */
  readonly classes: readonly ValueClass[] | readonly RangeClass[];
  /** Text for a covered place without a value. */
  readonly none: string;
}

export interface ValueClass {
  readonly value: string | boolean;
  readonly label: string;
  /** `#rrggbb` */
  readonly color: string;
}

export interface RangeClass {
  /** Included; not given: whatever is less than the next one's. */
  readonly from?: number;
  /** Where words say more than the numbers. */
  readonly label?: string;
  readonly color: string;
}

/** @returns the unchanged section, checked by its type */
export function defineSection(section: Section): Section {
  return section;
}

/** The key of tables that are kept by parcel. */
export const FID: Column = { type: 'int4', description: 'Parcel identifier', gate: 'a key' };
