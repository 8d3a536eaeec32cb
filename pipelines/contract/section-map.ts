/** Types of a section's texts and layers on the map. `map.ts` or `section.ts` in the section's folder defines these texts and layers. */

/** Groups of layers in the map's list of layers. */
type LayerGroup = 'hazards' | 'value' | 'people' | 'land' | 'places';

/** A section on the map: its texts and its layers. */
export interface SectionMap {
  readonly panel: MapPanel;
  /** Layer of the section on the map; omitted if the map does not draw the section. */
  readonly layer?: MapLayer;
  /** Further layers, by name. The names begin with the section's name. */
  readonly otherLayers?: Readonly<Record<string, MapLayer>>;
  /** Italian texts of the section. Without these texts, the map shows the English texts. */
  readonly italian?: Italian;
}

/** Texts of the section's block in the map's panel, in English. */
export interface MapPanel {
  /** Fields that the summary of the parcel shows, as paths in the block. */
  readonly summary?: readonly string[];
  /** Labels of fields, by name of the field. The columns of the list have no labels, because `list` contains their headings. */
  readonly words?: Readonly<Record<string, string>>;
  /** Texts shown for values that are words, by value. */
  readonly values?: Readonly<Record<string, string>>;
  /** Texts of publishers that `italian` translates. */
  readonly published?: readonly string[];
  /** Units of numbers, by name of the field. `share` is a fraction that is shown in per cent. Numbers without a unit are counts. */
  readonly units?: Readonly<Record<string, string>>;
  /** Names of fields with numeric codes, which are shown without thousands separators. */
  readonly codes?: readonly string[];
  /** For each field of the block, the field of `coverage` that explains a null. */
  readonly coverage?: Readonly<Record<string, string>>;
  /** Fields that are shown first. The other fields follow in the order of the block. */
  readonly first?: readonly string[];
  /** Table that shows the block's list. */
  readonly list?: {
    /** Field with the list; omitted if the block is the list. */
    readonly field?: string;
    readonly caption?: string;
    readonly latestFirst?: true;
    /** Sentence above the table. A field name in braces is replaced by the field's value in the first row. */
    readonly note?: string;
    /** Headings of the shown fields, by field. In the field name of a nested object, a dot separates object and field. */
    readonly columns: Readonly<Record<string, string>>;
  };
}

/** Italian texts of a section on the map. If an Italian text is missing, the map shows the English text. */
export interface Italian {
  readonly title: string;
  readonly words?: Readonly<Record<string, string>>;
  /** Italian units, keyed by the English unit. Contains only units that are words. */
  readonly units?: Readonly<Record<string, string>>;
  /** Italian texts of values that are words, by value. */
  readonly values?: Readonly<Record<string, string>>;
  /** Italian headings of the list's columns, by field. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly caption?: string;
  readonly note?: string;
  /** Italian texts of the layers on the map, keyed by the English text. */
  readonly legend?: Readonly<Record<string, string>>;
  /** Italian descriptions of the fields in `block`, keyed by the English description. */
  readonly fields?: Readonly<Record<string, string>>;
  /**
   * Italian texts of the view `evidence`, keyed by the English text. The texts are rules, values, units and names of fields. `{1}` is the first inserted value,
   * `{2}` the second.
   */
  readonly evidence?: Readonly<Record<string, string>>;
}

/**
 * A layer of the section on the map, which colours parcels by one value. People with colour blindness can distinguish the colours on light and dark
 * backgrounds. Most colours come from ColorBrewer, from viridis and inferno, or from the palette of Okabe and Ito.
 */
export interface MapLayer {
  /** Group in the map's list of layers. */
  readonly group: LayerGroup;
  /** Title of the layer, which names the drawn value. */
  readonly title: string;
  /** Column of `flat` with the drawn value. */
  readonly value: string;
  /** Column of `flat` with the coverage of the value. Default: the coverage in `meta.coverage`. */
  readonly coverage?: string;
  /** Unit of a number; absent for numbers without a unit. */
  readonly unit?: string;
  /** Classes with colours: the values of a category, or ranges of numbers in ascending order. Each range except the lowest names its lower bound. */
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

/** First-level classes of CORINE Land Cover, which the Urban Atlas also uses. */
export const FIRST_LEVEL_OF_LAND: readonly ValueClass[] = [
  { value: '1', label: '1, artificial', color: '#d55e00' },
  { value: '2', label: '2, agricultural', color: '#f0e442' },
  { value: '3', label: '3, forest and semi-natural', color: '#009e73' },
  { value: '4', label: '4, wetlands', color: '#cc79a7' },
  { value: '5', label: '5, water', color: '#0072b2' },
];

/** Italian texts of the evidence for points that `sql/steps/placement.sql` placed. */
export const PLACED_IN_ITALIAN: Readonly<Record<string, string>> = {
  'inside the parcel; located by the published coordinates, which are in the stated comune': 'nella particella; coordinate pubblicate, nel comune dichiarato',
  'inside the parcel; located by street and number': 'nella particella; per via e numero civico',
  'within 15 m, with no nearer land parcel in the comune; located by the published coordinates, which are in the stated comune':
    'entro 15 m, senza una particella di terreno del comune più vicina; coordinate pubblicate, nel comune dichiarato',
  'within 15 m, with no nearer land parcel in the comune; located by street and number':
    'entro 15 m, senza una particella di terreno del comune più vicina; per via e numero civico',
  'the only located access point of the comune with this street and number': 'unico accesso georeferenziato del comune con questa via e questo numero civico',
};

/** Italian texts of the evidence for the class with the largest area, which `sql/steps/largest.sql` found. */
export const LARGEST_IN_ITALIAN: Readonly<Record<string, string>> = {
  'area shared with the parcel; the class with the largest area is used, or the class with the smaller code if the areas rounded to 0.01 m² are equal':
    'superficie di sovrapposizione con la particella; vale la classe che ne ha di più, a parità entro 0,01 m² quella con il codice minore',
  'share of the parcel in polygons of the class; overlaps count once':
    'parte della particella in un poligono della classe; dove più poligoni si sovrappongono si conta una volta sola',
  'of the parcel': 'della particella',
};

export interface RangeClass {
  /** Lower bound of the range, inclusive; omitted for the lowest range. */
  readonly from?: number;
  /** Text to show instead of the numbers, if a text is clearer. */
  readonly label?: string;
  readonly color: string;
}

/** Returns the definition unchanged, so that the compiler checks the definition's type. */
export function defineMap(map: SectionMap): SectionMap {
  return map;
}
