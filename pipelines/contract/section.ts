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
  /** Tables that its `build` files create. */
  readonly tables: Readonly<Record<Relation, Table>>;
  /** True if the section is in tables for which no sections were requested. */
  readonly usual?: true;
  /** Columns of the block in a table: column name without the section's name → position of the value in the block. In the order of `columns.sql`. */
  readonly flat: Readonly<Record<string, FlatColumn>>;
  readonly map: MapPanel;
  /** Drawing on the map; omitted if the map does not draw the section. */
  readonly layer?: MapLayer;
  /** Drawings of other values, by name of the layer, which begins with the section's name. */
  readonly otherLayers?: Readonly<Record<string, MapLayer>>;
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

/** Groups of the map's list of layers. */
type LayerGroup = 'hazards' | 'value' | 'people' | 'land' | 'places';

/** English texts with which the map shows the block. */
interface MapPanel {
  /** Fields for the summary of the parcel, by path in the block. */
  readonly summary?: readonly string[];
  /** Labels by name of field, of every field except columns of the list. */
  readonly words?: Readonly<Record<string, string>>;
  /** Texts of values that are words. */
  readonly values?: Readonly<Record<string, string>>;
  /** Texts of publishers that have an Italian translation. */
  readonly published?: readonly string[];
  /** Units of numbers by name of field. `share`: a part of one, shown in per cent. Numbers without a unit are counts. */
  readonly units?: Readonly<Record<string, string>>;
  /** Numbers that are codes, shown as they are. */
  readonly codes?: readonly string[];
  /** Coverage in the block that explains why a field is null: name of field → field of `coverage`. */
  readonly coverage?: Readonly<Record<string, string>>;
  /** Fields to show first; the others follow in their order. */
  readonly first?: readonly string[];
  /** For blocks that are a list or contain one. */
  readonly list?: {
    /** Field with the list; omitted if the block is the list. */
    readonly field?: string;
    readonly caption?: string;
    readonly latestFirst?: true;
    /** Sentence above the table, with fields of its first row in braces. */
    readonly note?: string;
    /** Shown fields with their headings. A dot precedes the field of a nested object. */
    readonly columns: Readonly<Record<string, string>>;
  };
}

/** Italian texts of a section on the map, from its `italian.ts`. The map shows the English text where one is missing. */
export interface Italian {
  readonly title: string;
  readonly words?: Readonly<Record<string, string>>;
  /** English unit → Italian, of units that are words. */
  readonly units?: Readonly<Record<string, string>>;
  /** Translations of values that are words. */
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
}

/**
 * How the map draws the section: parcels coloured by one value. Colours are distinguishable with colour blindness, on light and dark ground: ColorBrewer, and
 * viridis for neutral scales.
 */
export interface MapLayer {
  /** Group in the map's list of layers. */
  readonly group: LayerGroup;
  /** Title of the drawn value. */
  readonly title: string;
  /** Column of `flat` that has the value. */
  readonly value: string;
  /** Column of `flat` with the coverage in the values of `meta.coverage`. Default: `meta.coverage` itself. */
  readonly coverage?: string;
  /** Unit of a number; absent for numbers without one. */
  readonly unit?: string;
  /** Values of a category, or the starts of number ranges, smallest first; the first range has no start. */
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
  /** First value of the range, included; omitted for the lowest range. */
  readonly from?: number;
  /** Text in place of the numbers, if it is clearer. */
  readonly label?: string;
  readonly color: string;
}

/** @returns the unchanged section, checked by the compiler */
export function defineSection(section: Section): Section {
  return section;
}

/** @returns the unchanged texts, checked by the compiler */
export function defineItalian(texts: Italian): Italian {
  return texts;
}

/** The key column of tables by parcel. */
export const FID: Column = { type: 'int4', description: 'Parcel identifier', gate: 'a key' };
