/**
 * Builds the vector tiles of the map's layers: comuni, roads and water, parcels, building outlines, house numbers, and one layer for each value that the map
 * draws from a section. The database returns rows, and this module encodes the tiles. PGlite cannot encode tiles, and PostgreSQL would not be much faster.
 */
import { firstFid } from '../contract/regions.ts';
import { KINDS, type ParcelKind, type Section } from '../contract/section.ts';
import type { MapLayer, RangeClass, ValueClass } from '../contract/section-map.ts';
import { drawingsOf, mapOf } from '../contract/section-maps.ts';
import { SECTIONS } from '../contract/sections.ts';
import { boxOfTile, unitDegrees, vectorTile, type TileFeature, type TileNumber, type TileValue } from '../formats/vector-tile.ts';
import { cellsOf, columnsOf, type Ask, type Cell, type OutputColumn } from './columns.ts';
import { publicationChanged } from './publication.ts';

/** Media type of a tile. */
export const TILE_TYPE = 'application/vnd.mapbox-vector-tile';

/**
 * Maximum number of parcels in a tile. If more parcels intersect a tile, the tile contains only the largest. At the lowest zoom with parcels, a tile of a town
 * has several thousand parcels.
 */
export const MOST_FEATURES = 10_000;

/** Maximum number of building outlines or house numbers in a tile. At the lowest zoom of these layers, a tile of a dense town has about a thousand features. */
export const MOST_DETAILS = 5_000;

/** First and last zoom of each layer. The map draws higher zooms from the tiles of the last zoom. */
const ZOOMS = { comuni: [8, 14], ground: [13, 16], parcels: [14, 16], footprints: [15, 16], house_numbers: [16, 16] } as const;

interface DrawnSection {
  readonly name: string;
  readonly layer: MapLayer;
}

interface TileLayer {
  readonly name: string;
  readonly title: string;
  readonly minzoom: number;
  readonly maxzoom: number;
  /** Kind of the layer's features. */
  readonly features: 'comune' | 'parcel' | 'footprint' | 'access';
  /** Kinds of parcel in the layer; empty for other features. */
  readonly kinds: readonly ParcelKind[];
  /** Section and style of the drawn value; null if the layer has only geometries. */
  readonly section: DrawnSection | null;
  /** Descriptions of the properties of the layer's features, by property. */
  readonly fields: Readonly<Record<string, string>>;
}

const PARCEL_FIELDS = { fid: 'Parcel identifier', kind: 'land, road or water' };

export const TILE_LAYERS: readonly TileLayer[] = [
  {
    name: 'comuni', title: 'Comuni', ...between(ZOOMS.comuni), features: 'comune', kinds: [], section: null,
    fields: {
      belfiore: 'Cadastral code; missing: unknown', name: 'Name', istat_code: 'ISTAT code as of the boundaries\' edition', region: 'ISTAT code of the region; missing: unknown',
    },
  },
  { name: 'ground', title: 'Roads and water', ...between(ZOOMS.ground), features: 'parcel', kinds: ['road', 'water'], section: null, fields: PARCEL_FIELDS },
  {
    name: 'parcels', title: 'Parcels', ...between(ZOOMS.parcels), features: 'parcel', kinds: KINDS, section: null,
    fields: { ...PARCEL_FIELDS, label: 'Label of the parcel on the map', area_m2: 'Area in whole square metres' },
  },
  {
    name: 'footprints', title: 'Building outlines', ...between(ZOOMS.footprints), features: 'footprint', kinds: [], section: null,
    fields: { source: 'Source of the outline' },
  },
  {
    name: 'house_numbers', title: 'House numbers', ...between(ZOOMS.house_numbers), features: 'access', kinds: [], section: null,
    fields: { street: 'Identifier of the street (progressivo nazionale)', name: 'Name of the street', number: 'Civico as text' },
  },
  ...SECTIONS.flatMap(layersOf),
];

function between([minzoom, maxzoom]: readonly [number, number]): Pick<TileLayer, 'minzoom' | 'maxzoom'> {
  return { minzoom, maxzoom };
}

function layersOf({ name: section, title, kinds }: Section): TileLayer[] {
  return Object.entries(drawingsOf(section)).map(([name, layer]) => ({
    name, title: name === section ? title : layer.title, ...between(ZOOMS.parcels), features: 'parcel', kinds, section: { name: section, layer },
    fields: {
      fid: PARCEL_FIELDS.fid, value: layer.title, coverage: 'Coverage, if there is no value: mapped (none here), partial (not all maps cover the place), not_mapped or not_loaded',
    },
  }));
}

/** A vector tile, and the publications that it shows. */
export interface Tile {
  /** Text that identifies the publications from which the tile was built. */
  readonly publication: string;
  /** Bytes of the tile; null for an empty tile. */
  readonly bytes: Buffer | null;
}

type Drawn = { readonly publication: string; readonly facts: string | null; readonly drawings: Uint8Array | null; readonly values?: string | null };

/** Range that contains the fids of all regions. */
const ALL_FIDS = [0, 2_147_483_647] as const;

/** Builds the tile of one layer, with the features of all regions. @throws MappaleError (kind `database`) */
export async function tileOf(ask: Ask, layer: TileLayer, tile: TileNumber): Promise<Tile> {
  const { publication, facts, drawings, values } = await drawnFeatures(ask, layer, tile);
  if (facts === null || drawings === null) return { publication, bytes: null };
  return { publication, bytes: vectorTile(tile, layer.name, featuresOf(layer, facts, values ?? null), drawings, layer.features === 'access' ? 'points' : 'areas') };
}

function drawnFeatures(ask: Ask, { features, kinds, section }: TileLayer, tile: TileNumber): Promise<Drawn> {
  switch (features) {
    case 'comune':
      return drawnComuni(ask, tile, null);
    case 'footprint':
      return ask<Drawn>('select publication, facts, drawings from api.tile_footprints($1, $2)', [boxOfTile(tile), MOST_DETAILS]);
    case 'access':
      return ask<Drawn>('select publication, facts, drawings from api.tile_house_numbers($1, $2)', [boxOfTile(tile), MOST_DETAILS]);
    case 'parcel':
      return drawnParcels(ask, tile, kinds, section === null ? [] : [section.name], ALL_FIDS);
  }
}

function featuresOf({ name, features, section }: TileLayer, facts: string, values: string | null): TileFeature[] {
  switch (features) {
    case 'comune':
      return comuni(facts);
    case 'footprint':
      return (JSON.parse(facts) as [string][]).map(([source]) => ({ id: null, tags: { source } }));
    case 'access':
      return (JSON.parse(facts) as [number, string, string][]).map(([street, name, number]) => ({ id: null, tags: { street, name, number } }));
    case 'parcel':
      return section === null ? parcels(facts, name === 'parcels' ? 'all' : 'kind') : valued(facts, values, section);
  }
}

function drawnComuni(ask: Ask, tile: TileNumber, region: number | null): Promise<Drawn> {
  return ask<Drawn>('select publication, facts, drawings from api.tile_comuni($1, $2, $3)', [boxOfTile(tile), unitDegrees(tile.z), region]);
}

function drawnParcels(ask: Ask, tile: TileNumber, kinds: readonly string[], sections: readonly string[], range: readonly [number, number]): Promise<Drawn> {
  const parameters = [boxOfTile(tile), kinds, sections, range, MOST_FEATURES];
  return ask<Drawn>('select publication, facts, drawings, told as values from api.tile_parcels($1, $2, $3, $4, $5)', parameters);
}

/** First zoom with comuni, first zoom with parcels, and last zoom of an exported tile file. */
export const EXPORTED_ZOOMS = { comuni: ZOOMS.comuni[0], parcels: ZOOMS.parcels[0], last: ZOOMS.parcels[0] + 1 } as const;

/**
 * Returns the columns of parcels in exported tiles: fid, label and kind, and for each drawn section the value and the coverage. In a tile, a parcel has the
 * coverage of a section only if the parcel has no value of the section.
 */
export function drawnColumns(sections: readonly string[]): readonly OutputColumn[] {
  const names = new Set(['fid', 'label', 'kind', ...drawnNames(sections).flatMap(({ value, coverage }) => [value, coverage])]);
  return columnsOf(['basic', ...sections]).filter(({ name }) => names.has(name));
}

/** Returns the given sections, without sections that the map does not draw. */
function drawnSections(sections: readonly string[]): DrawnSection[] {
  return SECTIONS.flatMap(({ name }) => {
    const { layer } = mapOf(name);
    return layer === undefined || !sections.includes(name) ? [] : [{ name, layer }];
  });
}

function drawnNames(sections: readonly string[]): readonly { readonly value: string; readonly coverage: string }[] {
  return drawnSections(sections).map(({ name, layer }) => ({ value: `${name}_${layer.value}`, coverage: `${name}_${layer.coverage ?? 'coverage'}` }));
}

/**
 * Returns a tile of one region, which contains the comuni and, at zooms with parcels, the parcels with the drawn values.
 * @throws MappaleError (kind `database`), `PUBLICATION_CHANGED` if the comuni and the parcels are from different publications
 */
export async function regionTile(ask: Ask, region: number, sections: readonly string[], tile: TileNumber): Promise<Tile> {
  const outlines = await drawnComuni(ask, tile, region);
  const parts: Buffer[] = [];
  if (outlines.facts !== null && outlines.drawings !== null) parts.push(vectorTile(tile, 'comuni', comuni(outlines.facts), outlines.drawings));
  if (tile.z >= EXPORTED_ZOOMS.parcels) {
    const drawn = drawnSections(sections).map(({ name }) => name);
    const { publication, facts, drawings, values } = await drawnParcels(ask, tile, KINDS, drawn, [firstFid(region), firstFid(region + 1)]);
    if (publication !== outlines.publication) throw publicationChanged();
    if (facts !== null && drawings !== null) {
      const columns = columnsOf(drawn).map(({ name }) => name);
      const places = drawnNames(drawn).map(({ value, coverage }) => ({ value, at: columns.indexOf(value), coverage, coverageAt: columns.indexOf(coverage) }));
      const cells = cellsOf(values ?? null, drawn);
      const [fids, labels, kinds] = JSON.parse(facts) as ParcelFacts;
      const features = fids.map((fid, index): TileFeature => {
        const tags: Record<string, TileValue> = { fid, label: labels[index] ?? '', kind: kinds[index] ?? '' };
        for (const { value, at, coverage, coverageAt } of places) {
          const [drawn, covered] = [cells.get(fid)?.[at] ?? null, cells.get(fid)?.[coverageAt] ?? null];
          if (drawn !== null) tags[value] = drawn;
          else if (covered !== null) tags[coverage] = covered;
        }
        return { id: fid, tags };
      });
      parts.push(vectorTile(tile, 'parcels', features, drawings));
    }
  }
  // The concatenation of encoded layers is a valid tile.
  return { publication: outlines.publication, bytes: parts.length === 0 ? null : Buffer.concat(parts) };
}

function comuni(facts: string): TileFeature[] {
  return (JSON.parse(facts) as [string | null, string, string, number | null][]).map(([belfiore, name, code, region]) => ({
    id: null, tags: { ...(belfiore === null ? {} : { belfiore }), name, istat_code: code, ...(region === null ? {} : { region }) },
  }));
}

/** Facts about the parcels of a tile. All arrays have one element per parcel. */
type ParcelFacts = readonly [fids: readonly number[], labels: readonly string[], kinds: readonly string[], areas: readonly number[]];

function parcels(facts: string, tags: 'all' | 'kind'): TileFeature[] {
  const [fids, labels, kinds, areas] = JSON.parse(facts) as ParcelFacts;
  return fids.map((fid, index): TileFeature => {
    const kind = kinds[index] ?? '';
    return { id: fid, tags: tags === 'all' ? { fid, label: labels[index] ?? '', area_m2: areas[index] ?? 0, kind } : { fid, kind } };
  });
}

function valued(facts: string, sectionRows: string | null, { name, layer }: DrawnSection): TileFeature[] {
  const columns = columnsOf([name]).map((column) => column.name);
  const [value, coverage] = [layer.value, layer.coverage ?? 'coverage'].map((column) => columns.indexOf(`${name}_${column}`)) as [number, number];
  const cells = cellsOf(sectionRows, [name]);
  const [fids] = JSON.parse(facts) as ParcelFacts;
  return fids.map((fid) => {
    const row: readonly Cell[] = cells.get(fid) ?? [];
    // A missing coverage value means that the section is not loaded at this place.
    const drawn = row[value] ?? null;
    return { id: fid, tags: { fid, ...(drawn === null ? { coverage: row[coverage] ?? 'not_loaded' } : { value: drawn }) } };
  });
}

/** A class in the legend of a map layer. */
interface LegendClass {
  readonly value?: string | boolean;
  /** Lower bound, inclusive; null if the class has no lower bound. */
  readonly from?: number | null;
  /** Upper bound, exclusive; null if the class has no upper bound. */
  readonly to?: number | null;
  readonly label: string;
  readonly color: string;
}

/** Description of a layer in the map's legend. */
export interface Legend {
  readonly name: string;
  readonly title: string;
  readonly kind: 'outline' | 'parcel' | 'footprint' | 'access' | 'category' | 'number';
  /** Name of the drawn section; null for a layer without a section. */
  readonly section: string | null;
  readonly group: MapLayer['group'] | null;
  readonly minzoom: number;
  readonly maxzoom: number;
  readonly fields: Readonly<Record<string, string>>;
  /** Title of the drawn value, without unit; null for a layer without a section. */
  readonly value: string | null;
  /** Unit of the drawn value; null for a layer without a section or unit. */
  readonly unit: string | null;
  readonly classes: readonly LegendClass[];
  readonly none: Readonly<Record<'label' | 'color', string>> | null;
  readonly not_mapped: Readonly<Record<'label' | 'color', string>> | null;
  /** Kinds of parcel that do not have the section. The layer contains no parcels of these kinds. */
  readonly not_applicable: readonly ParcelKind[];
}

const NUMBER = new Intl.NumberFormat('en');

/** Colours for parcels without a value and for parcels that are not mapped. White makes values stand out, and no class uses this grey. */
const [NONE, NOT_MAPPED] = ['#ffffff', '#6b6b6b'];

export const LEGENDS: readonly Legend[] = TILE_LAYERS.map(({ name, title, minzoom, maxzoom, features, kinds, section, fields }) => {
  const common = { name, title, minzoom, maxzoom, fields };
  if (section === null) return { ...common, kind: features === 'comune' ? 'outline' : features, section: null, group: null, value: null, unit: null, classes: [], none: null, not_mapped: null, not_applicable: [] };
  const { layer } = section;
  const isCategory = layer.classes.some((each) => 'value' in each);
  return {
    ...common, kind: isCategory ? 'category' : 'number', section: section.name, group: layer.group, value: layer.title, unit: layer.unit ?? null,
    classes: isCategory ? (layer.classes as readonly ValueClass[]) : ranges(layer.classes),
    none: { label: layer.none, color: NONE }, not_mapped: { label: 'Not mapped: the loaded files do not cover this place', color: NOT_MAPPED },
    not_applicable: KINDS.filter((kind) => !kinds.includes(kind)),
  };
});

function ranges(classes: readonly RangeClass[]): LegendClass[] {
  return classes.map(({ from = null, label, color }, index) => {
    const to = classes[index + 1]?.from ?? null;
    const shown = from === null ? `under ${NUMBER.format(to ?? 0)}` : to === null ? `${NUMBER.format(from)} or more` : `${NUMBER.format(from)} to ${NUMBER.format(to)}`;
    return { from, to, label: label ?? shown, color };
  });
}
