/** Types of the texts and drawings of a section on the map, which `map.ts` and `italian.ts` of the section define. */

/** Groups in the map's list of layers. */
type LayerGroup = 'hazards' | 'value' | 'people' | 'land' | 'places';

/** A section on the map: the English texts, and the drawings of values. */
export interface SectionMap {
  readonly panel: MapPanel;
  /** Drawing on the map; omitted if the map does not draw the section. */
  readonly layer?: MapLayer;
  /** Drawings of other values, by name of the layer. The names begin with the section's name. */
  readonly otherLayers?: Readonly<Record<string, MapLayer>>;
}

/** English texts of the section's block on the map. */
export interface MapPanel {
  /** Fields for the summary of the parcel, by path in the block. */
  readonly summary?: readonly string[];
  /** Labels of all fields except columns of the list, by name of the field. */
  readonly words?: Readonly<Record<string, string>>;
  /** Texts for values that are words. */
  readonly values?: Readonly<Record<string, string>>;
  /** Publishers' texts that have an Italian translation. */
  readonly published?: readonly string[];
  /** Units of numbers, by name of the field. `share` is a fraction that is shown in per cent. Numbers without a unit are counts. */
  readonly units?: Readonly<Record<string, string>>;
  /** Names of fields with numeric codes, which are shown without number format. */
  readonly codes?: readonly string[];
  /** Field of `coverage` that explains why a field of the block is null, by name of the field. */
  readonly coverage?: Readonly<Record<string, string>>;
  /** Fields that are shown first. The other fields follow in the order of the block. */
  readonly first?: readonly string[];
  /** Table for a block that is a list or contains a list. */
  readonly list?: {
    /** Field with the list; omitted if the block is the list. */
    readonly field?: string;
    readonly caption?: string;
    readonly latestFirst?: true;
    /** Sentence above the table, with fields of its first row in braces. */
    readonly note?: string;
    /** Shown fields with their headings. A dot separates the name of a nested object from its field. */
    readonly columns: Readonly<Record<string, string>>;
  };
}

/** Italian texts of a section on the map, from the section's `italian.ts`. If an Italian text is missing, the map shows the English text. */
export interface Italian {
  readonly title: string;
  readonly words?: Readonly<Record<string, string>>;
  /** English unit → Italian unit, for units that are words. */
  readonly units?: Readonly<Record<string, string>>;
  /** Translations of values that are words. */
  readonly values?: Readonly<Record<string, string>>;
  /** Headings of the list's columns, and the sentence above the list. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly caption?: string;
  readonly note?: string;
  /** English text of `layer` → Italian text. */
  readonly legend?: Readonly<Record<string, string>>;
  /** English description of a field in `block` → Italian description. */
  readonly fields?: Readonly<Record<string, string>>;
  /**
   * English text of `explain.sql` → Italian text: rules, and values, units and fields that are words. `{1}` is the first inserted value, `{2}` the second.
   */
  readonly evidence?: Readonly<Record<string, string>>;
}

/**
 * A drawing of the section on the map: parcels in colours by one value. People with colour blindness can distinguish the colours, on light and dark
 * backgrounds. The colours come from ColorBrewer, and from viridis for neutral scales.
 */
export interface MapLayer {
  /** Group in the map's list of layers. */
  readonly group: LayerGroup;
  /** Title of the drawn value. */
  readonly title: string;
  /** Column of `flat` with the value. */
  readonly value: string;
  /** Column of `flat` with the coverage, as in `meta.coverage`. Default: `meta.coverage`. */
  readonly coverage?: string;
  /** Unit of a number; absent for numbers without a unit. */
  readonly unit?: string;
  /** Values of a category, or number ranges with their first values, in ascending order. The first range has no first value. */
  readonly classes: readonly ValueClass[] | readonly RangeClass[];
  /** Text for parcels with coverage but without a value. */
  readonly none: string;
}

export interface ValueClass {
  readonly value: string | boolean;
  readonly label: string;
  /** `#rrggbb` */
  readonly color: string;
}

/** Classes of the first level of CORINE Land Cover, which the Urban Atlas also uses. */
export const FIRST_LEVEL_OF_LAND: readonly ValueClass[] = [
  { value: '1', label: '1, artificial', color: '#d55e00' },
  { value: '2', label: '2, agricultural', color: '#f0e442' },
  { value: '3', label: '3, forest and semi-natural', color: '#009e73' },
  { value: '4', label: '4, wetlands', color: '#cc79a7' },
  { value: '5', label: '5, water', color: '#0072b2' },
];

export interface RangeClass {
  /** First value of the range, inclusive; omitted for the lowest range. */
  readonly from?: number;
  /** Text that is shown instead of the numbers, if a text is clearer. */
  readonly label?: string;
  readonly color: string;
}

/** Returns the definition unchanged. The compiler checks its type. */
export function defineMap(map: SectionMap): SectionMap {
  return map;
}

/** Returns the texts unchanged. The compiler checks their type. */
export function defineItalian(texts: Italian): Italian {
  return texts;
}
