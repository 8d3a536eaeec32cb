/** Texts and drawings of a section on the map, in its `map.ts` and `italian.ts`. */

/** Groups of the map's list of layers. */
type LayerGroup = 'hazards' | 'value' | 'people' | 'land' | 'places';

/** A section on the map: its English texts, and the drawings of its values. */
export interface SectionMap {
  readonly panel: MapPanel;
  /** Drawing on the map; omitted if the map does not draw the section. */
  readonly layer?: MapLayer;
  /** Drawings of other values, by name of the layer, which begins with the section's name. */
  readonly otherLayers?: Readonly<Record<string, MapLayer>>;
}

/** English texts with which the map shows the block. */
export interface MapPanel {
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

/** First level of CORINE Land Cover, which the Urban Atlas shares. */
export const FIRST_LEVEL_OF_LAND: readonly ValueClass[] = [
  { value: '1', label: '1, artificial', color: '#d55e00' },
  { value: '2', label: '2, agricultural', color: '#f0e442' },
  { value: '3', label: '3, forest and semi-natural', color: '#009e73' },
  { value: '4', label: '4, wetlands', color: '#cc79a7' },
  { value: '5', label: '5, water', color: '#0072b2' },
];

export interface RangeClass {
  /** First value of the range, included; omitted for the lowest range. */
  readonly from?: number;
  /** Text in place of the numbers, if it is clearer. */
  readonly label?: string;
  readonly color: string;
}

/** @returns the unchanged definition, checked by the compiler */
export function defineMap(map: SectionMap): SectionMap {
  return map;
}

/** @returns the unchanged texts, checked by the compiler */
export function defineItalian(texts: Italian): Italian {
  return texts;
}
