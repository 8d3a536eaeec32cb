/**
 * Writes the Urban Atlas of the synthetic region: one file for every eighth comune, starting with the first (largest) comune. In the middle of a town, each
 * block is divided into six lots. Elsewhere, each block is one lot. The streets between the blocks are one polygon with a hole for each block.
 * The urban area has the boundary of the comune. The layer of the city is a part of the comune and is not read.
 */
import { join } from 'node:path';
import { boxArea, CellGrid, type CellArea, type CellBox, type CellRing } from '../../pipelines/synthetic/cell-zones.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { laeaEurope } from '../../pipelines/synthetic/map-projection.ts';
import { boxRing, mapPoints, polygonsArea, segmentsOf, type Point, type Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import type { SyntheticComune, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { type ShapefileField } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';

/** Size of a block in cells, including half of the streets around the block. */
const [BLOCK_COLUMNS, BLOCK_ROWS] = [6, 5];
/** Half the width of a street in cells. Streets are 8 to 9 m wide. */
const STREET = 0.1;
/** Width of the road along the border of a comune, in cells. */
const BORDER = 0.6;
/** Every eighth comune has a file. */
const TOWNS = 8;

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['11100', 'Continuous urban fabric (S.L. : > 80%)'],
  ['11210', 'Discontinuous dense urban fabric (S.L. : 50% -  80%)'],
  ['11220', 'Discontinuous medium density urban fabric (S.L. : 30% - 50%)'],
  ['11230', 'Discontinuous low density urban fabric (S.L. : 10% - 30%)'],
  ['11300', 'Isolated structures'],
  ['12100', 'Industrial, commercial, public, military and private units'],
  ['12220', 'Other roads and associated land'],
  ['14100', 'Green urban areas'],
  ['14200', 'Sports and leisure facilities'],
  ['21000', 'Arable land (annual crops)'],
  ['22000', 'Permanent crops (vineyards, fruit trees, olive groves)'],
  ['23000', 'Pastures'],
  ['31000', 'Forests'],
  ['50000', 'Water'],
]);

const TOWN: readonly string[] = ['11100', '11210', '11210', '12100', '11220', '14100', '11100'];
const COUNTRY: readonly string[] = ['21000', '22000', '11300', '23000', '31000', '21000', '11230', '14200', '50000'];

interface Lot {
  readonly code: string;
  readonly area: CellArea;
}

function isTown({ index }: SyntheticComune): boolean {
  return index % TOWNS === 0;
}

/** Returns the west, south, east and north edges of a comune in cells. */
function extentOf(grid: CellGrid, region: SyntheticRegion, comune: SyntheticComune): CellBox {
  const [west, south] = grid.cornerOf(comune);
  // The boxes of all comuni have the same size.
  const across = Math.round((region.box[2] - region.box[0]) / (comune.box[2] - comune.box[0]));
  const down = Math.round((region.box[3] - region.box[1]) / (comune.box[3] - comune.box[1]));
  return [west, south, west + grid.columns / across, south + grid.rows / down];
}

/** Returns the box of a block in cells. Along the comune's border, the block leaves space for a road. */
function blockBox([west, south, east, north]: CellBox, column: number, row: number): CellBox {
  const [x, y] = [west + column * BLOCK_COLUMNS + 0.5, south + row * BLOCK_ROWS + 0.5];
  return [x + STREET, y + STREET, Math.min(east - BORDER, x + BLOCK_COLUMNS - STREET), Math.min(north - BORDER, y + BLOCK_ROWS - STREET)];
}

/** The extent of a comune in cells, and the middle of its town in blocks. */
interface TownExtent {
  readonly extent: CellBox;
  readonly centre: Point;
  /** True if the region has the form `place`, in which edges are bent. */
  readonly isBent: boolean;
}

function blockCounts([west, south, east, north]: CellBox): Point {
  return [Math.ceil((east - west) / BLOCK_COLUMNS), Math.ceil((north - south) / BLOCK_ROWS)];
}

function townExtentOf(grid: CellGrid, region: SyntheticRegion, comune: SyntheticComune): TownExtent {
  const extent = extentOf(grid, region, comune);
  const [columns, rows] = blockCounts(extent);
  const town = region.townOf(comune);
  return { extent, isBent: town !== null, centre: town === null ? [columns / 2, rows / 2] : [town.centre[0] / BLOCK_COLUMNS, town.centre[1] / BLOCK_ROWS] };
}

function isCentral({ extent, centre: [middleColumn, middleRow] }: TownExtent, column: number, row: number): boolean {
  const [columns, rows] = blockCounts(extent);
  return Math.abs(column + 0.5 - middleColumn) <= columns / 4 && Math.abs(row + 0.5 - middleRow) <= rows / 4;
}

/** Returns the lines between the six lots of a block: two lines between columns, and one line between rows. */
function lotLines([west, south]: CellBox): readonly [left: number, right: number, middle: number] {
  return [west + 1.9, west + 3.9, south + 1.9];
}

/** Returns the ring of a block. In the form `place`, edges are bent, so the ring of a central block also has the corners of the lots. */
function blockRing(town: TownExtent, column: number, row: number): CellRing {
  const box = blockBox(town.extent, column, row);
  if (!town.isBent || !isCentral(town, column, row)) return boxRing(box);
  const [west, south, east, north] = box;
  const [left, right, middle] = lotLines(box);
  return [
    [west, south], [left, south], [right, south], [east, south], [east, middle],
    [east, north], [right, north], [left, north], [west, north], [west, middle], [west, south],
  ];
}

/** Returns the lots of the block in a column and row of the comune. A block in the middle of the town has six lots, and any other block has one lot. */
function lots(town: TownExtent, column: number, row: number): Lot[] {
  const box = blockBox(town.extent, column, row);
  const [west, south, east, north] = box;
  if (!isCentral(town, column, row)) return [{ code: cyclicItem(COUNTRY, column + 4 * row), area: boxArea(box) }];
  const [left, right, middle] = lotLines(box);
  const parts: readonly CellBox[] = [
    [west, south, left, middle], [left, south, right, middle], [right, south, east, middle],
    [west, middle, left, north], [left, middle, right, north], [right, middle, east, north],
  ];
  return parts.map((part, index) => ({ code: cyclicItem(TOWN, column + 2 * row + 3 * index), area: boxArea(part) }));
}

function* blocksOf(extent: CellBox): Generator<readonly [column: number, row: number]> {
  const [west, south, east, north] = extent;
  for (let row = 0; row * BLOCK_ROWS < north - south; row += 1) for (let column = 0; column * BLOCK_COLUMNS < east - west; column += 1) yield [column, row];
}

/** A polygon of the land use, in EPSG:3035. */
interface Row {
  readonly code: string;
  readonly class: string;
  readonly polygon: Polygon;
}

function* rows(grid: CellGrid, town: TownExtent): Generator<Row> {
  const { extent } = town;
  const drawn = (code: string, rings: readonly CellRing[]): Row => ({ code, class: CLASSES.get(code) ?? '', polygon: onMap(grid, rings) });
  const blocks = [...blocksOf(extent)];
  yield drawn('12220', [boxRing(extent), ...blocks.map(([column, row]) => [...blockRing(town, column, row)].reverse())]);
  for (const [column, row] of blocks) for (const { code, area } of lots(town, column, row)) yield drawn(code, area.polygons.flat());
  // A polygon at sea without an image.
  const [west, , , north] = extent;
  yield { code: '92000', class: 'No data (Missing imagery)', polygon: onMap(grid, [boxRing([west, north + 200, west + 2, north + 202])]) };
}

function onMap(grid: CellGrid, rings: readonly CellRing[]): Polygon {
  return mapPoints([rings.map((ring) => grid.finely(ring))], (point) => laeaEurope.forward(grid.degrees(point)))[0] ?? [];
}

const FIELDS: readonly (ShapefileField & { readonly package: 'string' | 'integer' | 'real' })[] = [
  { name: 'country', type: 'text', length: 50, package: 'string' },
  { name: 'fua_name', type: 'text', length: 150, package: 'string' },
  { name: 'fua_code', type: 'text', length: 8, package: 'string' },
  { name: 'code_2018', type: 'text', length: 7, package: 'string' },
  { name: 'class_2018', type: 'text', length: 150, package: 'string' },
  { name: 'prod_date', type: 'text', length: 7, package: 'string' },
  { name: 'identifier', type: 'text', length: 30, package: 'string' },
  { name: 'perimeter', type: 'real', length: 19, decimals: 6, package: 'real' },
  { name: 'area', type: 'real', length: 19, decimals: 6, package: 'real' },
  { name: 'comment', type: 'text', length: 150, package: 'string' },
  { name: 'Pop2018', type: 'integer', length: 9, package: 'integer' },
];
/** Fields of the boundary layer and of the city layer. */
const AREA_FIELDS = FIELDS.slice(0, 3);

interface Layer {
  readonly name: string;
  readonly fields: typeof FIELDS;
  readonly features: () => Iterable<{ readonly values: readonly (string | number | null)[]; readonly polygon: Polygon }>;
}

function layersOf(region: SyntheticRegion, comune: SyntheticComune): { readonly stem: string; readonly layers: readonly Layer[] } {
  const grid = new CellGrid(region);
  const town = townExtentOf(grid, region, comune);
  const { extent } = town;
  const [west, south, east, north] = extent;
  const code = `IT${String((900 + comune.index / TOWNS) % 1000).padStart(3, '0')}L3`;
  const name = comune.italianName.normalize('NFD').replace(/[^A-Za-z]+/g, '_').toUpperCase();
  const about = ['IT', comune.italianName, code];
  const stem = `${code}_${name}_UA2018`;
  const part = (suffix: string, box: CellBox): Layer => ({
    name: `${stem}_${suffix}`, fields: AREA_FIELDS, features: () => [{ values: about, polygon: onMap(grid, [boxRing(box)]) }],
  });
  return {
    stem,
    layers: [
      {
        name: stem, fields: FIELDS,
        features: function* () {
          let number = 0;
          for (const { code: found, class: label, polygon } of rows(grid, town)) {
            number += 1;
            let perimeter = 0;
            for (const ring of polygon) for (const [[x1, y1], [x2, y2]] of segmentsOf(ring)) perimeter += Math.hypot(x2 - x1, y2 - y1);
            const area = polygonsArea([polygon]);
            yield {
              values: [...about, found, label, '2020-01', `${number}-${code}`, millionths(perimeter), millionths(area), null, found.startsWith('11') ? Math.round(area / 200) : 0],
              polygon,
            };
          }
        },
      },
      part('Boundary', extent),
      part('UrbanCore', [west, south, (west + east) / 2, (south + north) / 2]),
    ],
  };
}

function millionths(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

const synthetic: Synthetic = {
  async write(region, folder) {
    for (const comune of region.comuni.filter(isTown)) {
      const { stem, layers } = layersOf(region, comune);
      const name = `${stem}_v013`;
      await writeGeoPackage(join(folder, `${name}.gpkg`), layers.map(({ name: layer, fields, features }) => ({
        name: layer, srid: 3035, geometry: 'MultiPolygon' as const,
        fields: fields.map((field) => ({ name: field.name, type: field.package })),
        features: (function* () {
          for (const { values, polygon } of features()) yield { values, geometry: { type: 'MultiPolygon', coordinates: [polygon] } };
        })(),
      })));
    }
  },

  truth(region) {
    const grid = new CellGrid(region);
    const towns = new Map(region.comuni.filter(isTown).map((comune) => [comune.index, townExtentOf(grid, region, comune)]));
    return (parcel) => {
      const town = towns.get(parcel.comune.index);
      const coverage = { land_use: town !== undefined ? 'mapped' : 'not_mapped' };
      if (town === undefined || parcel.kind !== 'land') return { land_use: null, coverage };
      const [west, south] = town.extent;
      const blocks = new Map(grid.cellsOf(parcel).flatMap(([x, y]) => [0, -1].flatMap((dx) => [0, -1].map((dy) => {
        const block = [Math.max(0, Math.floor((x - west + dx) / BLOCK_COLUMNS)), Math.max(0, Math.floor((y - south + dy) / BLOCK_ROWS))] as const;
        return [block.join(' '), block] as const;
      }))));
      const shares = new Map<string, number>();
      let built = 0;
      for (const [column, row] of blocks.values()) {
        for (const { code, area } of lots(town, column, row)) {
          const share = grid.shareOf(parcel, [area]);
          if (share > 0) shares.set(code, (shares.get(code) ?? 0) + share);
          built += share;
        }
      }
      shares.set('12220', 1 - built);
      const [[code, share] = ['12220', 1] as const] = [...shares].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
      return {
        land_use: { code, class: CLASSES.get(code), level1: code.slice(0, 1), level2: code.slice(0, 2), share: Math.round(1e6 * share) / 1e6 },
        coverage,
      };
    };
  },
};

export default synthetic;
