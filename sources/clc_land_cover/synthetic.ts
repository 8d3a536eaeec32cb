/**
 * Writes the synthetic region's land cover in the form of the map of Europe: polygons without gaps or overlaps. In the form `lattice`, the polygons are drawn
 * across comuni. The matrix of the landscape (arable land or forest) consists of a few polygons with tens of thousands of corners. Each block of patches is a
 * hole in the matrix, and some patches contain a hole with another class. In the form `place`, each comune is a hole in the matrix and has its own polygons.
 * The file also contains polygons elsewhere in Europe, which must be skipped, and one polygon of an unknown class.
 */
import { join } from 'node:path';
import { boxArea, CellGrid, jaggedArea, zonesByBlock, type CellArea, type CellBox, type CellRing } from '../../pipelines/synthetic/cell-zones.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { laeaEurope } from '../../pipelines/synthetic/map-projection.ts';
import { boxRing, mapPoints, polygonsArea, type Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import type { SyntheticComune, SyntheticRegion, Town } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { CLASSES } from './schema.ts';

const NAME = 'U2018_CLC2018_V2020_20u1';
/**
 * Side in cells of a square block with four patches, and number of corners per cell along a patch's edge. In Italy, an average polygon has about 240 ha. A
 * block of 80 × 80 cells has 1,160 ha, and a block of a dense region has 290 ha.
 */
const DENSE = { block: 40, cornersPerCell: 4 };
const USUAL = { block: 80, cornersPerCell: 2 };
type Density = typeof DENSE;
const densityOf = ({ dense }: SyntheticRegion): Density => (dense ? DENSE : USUAL);
/** Number of blocks per polygon of the matrix, in each direction. */
const MATRIX = 16;
/** Number of cells by which the matrix extends beyond the region: on each side in the form `place`, to the west and south in the form `lattice`. */
const MARGIN = 30;

/** A polygon: an area and its holes. */
interface Zone {
  readonly code: string;
  readonly area: CellArea;
  readonly holes: readonly CellArea[];
}

const MATRICES: readonly string[] = ['211', '311', '231', '323'];
const BANDS: readonly string[] = ['243', '242', '223', '311', '112', '221', '324', '313', '121', '321', '211', '512'];
const VILLAGES: readonly string[] = ['112', '131', '142', '111', '333'];

/** Returns the patches of the block whose south-west cell is (x, y): three bands, and a village inside the middle band. */
function patches({ block, cornersPerCell }: Density, x: number, y: number): Zone[] {
  const nth = x / block + 5 * (y / block);
  const band = (south: number, north: number): CellArea => jaggedArea([x + 4.5, y + south, x + 36.5, y + north], cornersPerCell);
  const village = boxArea([x + 10.5, y + 17.5, x + 24.5, y + 26.5]);
  return [
    { code: cyclicItem(BANDS, nth), area: band(4.5, 14.5), holes: [] },
    { code: cyclicItem(BANDS, nth + 1), area: band(14.5, 29.5), holes: [village] },
    { code: cyclicItem(VILLAGES, nth), area: village, holes: [] },
    { code: cyclicItem(BANDS, nth + 2), area: band(29.5, 36.5), holes: [] },
  ];
}

/** Returns the union of the patches of a block. This union is a hole in the matrix. */
function gap({ cornersPerCell }: Density, x: number, y: number): CellArea {
  return jaggedArea([x + 4.5, y + 4.5, x + 36.5, y + 36.5], cornersPerCell);
}

/** Returns the polygon of the matrix whose south-west cell is (x, y). */
function matrix(density: Density, grid: CellGrid, x: number, y: number): Zone {
  const { block } = density;
  const size = MATRIX * block;
  // Inside the region, the borders of the matrix polygons run through the middle of cells. The matrix encloses the region.
  const box: CellBox = [x === 0 ? -MARGIN : x + 0.5, y === 0 ? -MARGIN : y + 0.5, x + size + 0.5, y + size + 0.5];
  const holes: CellArea[] = [];
  for (let row = y; row < Math.min(y + size, grid.rows); row += block) {
    for (let column = x; column < Math.min(x + size, grid.columns); column += block) holes.push(gap(density, column, row));
  }
  return { code: cyclicItem(MATRICES, x / size + 2 * (y / size)), area: boxArea(box), holes };
}

/** Zones of a comune's land cover in a region of the form `place`, and the union of these zones. */
interface Landscape {
  readonly zones: readonly Zone[];
  readonly gap: CellArea;
}

const [ORCHARDS, FIELDS, WOODS]: readonly (readonly string[])[] = [['223', '221', '222'], ['211', '243'], ['311', '231', '312']];

/** Returns the landscape of a comune: the town with its centre, orchards around the town, and fields and a wood to the south. */
function landscapeOf({ cornersPerCell }: Density, grid: CellGrid, comune: SyntheticComune, town: Town): Landscape {
  const [x, y] = grid.cornerOf(comune);
  const { columns, rows: height, centre: [middle, row] } = town;
  const [halfWidth, halfHeight] = [Math.max(2, Math.round(columns / 4.6)), Math.max(2, Math.round(height / 3.6) - 1)];
  const around = (left: number, below: number): CellArea => boxArea([
    x + middle - left + 0.5, y + row - below + 0.5, x + middle + left - 0.5, y + Math.min(row + below, height - 1) - 0.5,
  ]);
  const [built, core] = [around(halfWidth, halfHeight), around(Math.floor(halfWidth / 2), Math.floor(halfHeight / 2))];
  const band = (south: number, north: number): CellArea => jaggedArea([x + 1.5, y + south, x + columns - 1.5, y + north], cornersPerCell);
  const wood = Math.floor(height * 0.22) + 0.5;
  const orchard = Math.max(wood, row - halfHeight - 1.5);
  const code = (codes: readonly string[] = []): string => cyclicItem(codes, comune.index);
  return {
    zones: [
      { code: code(WOODS), area: band(1.5, wood), holes: [] },
      ...(orchard > wood ? [{ code: code(FIELDS), area: band(wood, orchard), holes: [] }] : []),
      { code: code(ORCHARDS), area: band(orchard, height - 0.5), holes: [built] },
      { code: '112', area: built, holes: [core] },
      { code: '111', area: core, holes: [] },
    ],
    gap: band(1.5, height - 0.5),
  };
}

/** Returns the landscapes of a region of the form `place`, by comune, and the matrix around them; null in the form `lattice`. */
function landscapesOf(region: SyntheticRegion): { readonly matrix: Zone; readonly byComune: ReadonlyMap<number, Landscape> } | null {
  const grid = new CellGrid(region);
  const byComune = new Map<number, Landscape>();
  for (const comune of region.comuni) {
    const town = region.townOf(comune);
    if (town === null) return null;
    byComune.set(comune.index, landscapeOf(densityOf(region), grid, comune, town));
  }
  const area = boxArea([-MARGIN, -MARGIN, grid.columns + MARGIN, grid.rows + MARGIN]);
  return { matrix: { code: '243', area, holes: [...byComune.values()].map(({ gap: hole }) => hole) }, byComune };
}

interface Row {
  readonly code: string;
  readonly polygons: readonly Polygon[];
}

function* rows(region: SyntheticRegion): Generator<Row> {
  const grid = new CellGrid(region);
  const density = densityOf(region);
  const { block } = density;
  const size = MATRIX * block;
  const drawn = ({ code, area, holes }: Zone): Row => {
    const fine = ({ polygons }: CellArea): CellRing[] => polygons.flat().map((ring) => grid.finely(ring));
    const rings = [...fine(area), ...holes.flatMap(fine).map((ring) => [...ring].reverse())];
    return { code, polygons: mapPoints([rings], (point) => laeaEurope.forward(grid.degrees(point))) };
  };
  const landscapes = landscapesOf(region);
  if (landscapes !== null) {
    yield drawn(landscapes.matrix);
    for (const { zones } of landscapes.byComune.values()) yield* zones.map(drawn);
  } else {
    for (let y = 0; y < grid.rows; y += size) for (let x = 0; x < grid.columns; x += size) yield drawn(matrix(density, grid, x, y));
    for (let y = 0; y < grid.rows; y += block) for (let x = 0; x < grid.columns; x += block) yield* patches(density, x, y).map(drawn);
  }
  // Polygons in Andalusia, Lapland and Iceland, and a polygon of class 990. The raster's legend has this class, but the map must not contain it.
  for (const [code, x, y] of [['223', 3_000_000, 1_700_000], ['412', 4_900_000, 5_000_000], ['322', 2_900_000, 4_990_000], ['990', 4_650_000, 2_050_000]] as const) {
    yield { code, polygons: [[boxRing([x, y, x + 700, y + 900])]] };
  }
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const features = function* () {
      let number = 1_600_000;
      for (const { code, polygons } of rows(region)) {
        number += 1;
        yield { values: [code, null, hectares(polygons), `EU_${number}`], polygons };
      }
    };
    await writeGeoPackage(join(folder, `${NAME}.gpkg`), [{
      name: NAME, srid: 3035, geometry: 'MultiPolygon',
      fields: [{ name: 'Code_18', type: 'string' }, { name: 'Remark', type: 'string' }, { name: 'Area_Ha', type: 'real' }, { name: 'ID', type: 'string' }],
      features: (function* () {
        for (const { values, polygons } of features()) yield { values, geometry: { type: 'MultiPolygon', coordinates: polygons } };
      })(),
    }]);
  },

  truth(region) {
    const grid = new CellGrid(region);
    const density = densityOf(region);
    const { block } = density;
    const patchesAt = zonesByBlock(block, (x, y) => patches(density, x, y));
    const matrixAt = zonesByBlock(MATRIX * block, (x, y) => [matrix(density, grid, x, y)]);
    // The border of a polygon of the matrix crosses its first cells. A part of these cells is therefore in the previous polygon.
    const near = ([column, row]: readonly [number, number]): Zone[] => (
      [...patchesAt([column, row]), ...[column, Math.max(0, column - 1)].flatMap((x) => [row, Math.max(0, row - 1)].flatMap((y) => matrixAt([x, y])))]
    );
    const landscapes = landscapesOf(region);
    return (parcel) => {
      const own = landscapes === null ? null : [landscapes.matrix, ...landscapes.byComune.get(parcel.comune.index)?.zones ?? []];
      const coverage = { land_cover: 'mapped' };
      if (parcel.kind !== 'land') return { land_cover: null, coverage };
      const shares = new Map<string, number>();
      for (const { code, area, holes } of grid.meeting(parcel, own === null ? near : () => own)) {
        shares.set(code, (shares.get(code) ?? 0) + grid.shareOf(parcel, [area]) - grid.shareOf(parcel, holes));
      }
      const [found] = [...shares].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
      if (found === undefined) return { land_cover: null, coverage };
      const [code, share] = found;
      return {
        land_cover: {
          code, class: code.slice(0, 1), subclass: code.slice(0, 2), description: CLASSES.get(code), share: Math.round(1e6 * Math.min(1, share)) / 1e6,
        },
        coverage,
      };
    };
  },
};

/** Returns an area in hectares with six decimals, as published. */
function hectares(polygons: readonly Polygon[]): number {
  return Math.round(polygonsArea(polygons) * 100) / 1e6;
}

export default synthetic;
