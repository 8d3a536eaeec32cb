/**
 * Generates the ground of a synthetic region: hills with slopes up to 50°, plains with slopes below 1°, and level areas. The surface model, with trees and
 * roofs, differs from the ground model, so that tests detect whether one model is used in place of the other. Each model has the grid of the model's publisher.
 * The true values of a parcel are computed in TypeScript from the numbers in the files.
 */
import { utm32, type EastNorth } from './map-projection.ts';
import { boxOf, mapPoints, placeOf, type Box } from './plane-geometry.ts';
import { pointOnSurface } from './point-on-surface.ts';
import { hashKey, randomOf } from './random.ts';
import type { LonLat, SyntheticParcel, SyntheticRegion } from './region.ts';

/** Lengths and heights in metres of the waves that form the hills. The steepest slope of all waves combined is about 50°. */
const WAVES = [[950, 60], [430, 22], [190, 8], [70, 2]] as const;
/** Cell size of the ground model in metres, and of the surface model in degrees. */
export const GROUND_CELL_M = 10;
export const SURFACE_CELL_DEG = 1 / 3600;
/** Margins around a region in metres and in degrees, so that each cell of the region has neighbours. */
const MARGIN_M = 50;
const MARGIN_DEG = 0.001;

/**
 * Distances in degrees of longitude and latitude at which areas without data repeat in the ground model. About a quarter of the sheets intersect such an area.
 * The edges of the areas are between the cell centres of the surface model.
 */
const GAP_EVERY = [0.03, 0.02] as const;
/** Box of an area without data, in degrees from the south-western corner of the rectangle with the sides `GAP_EVERY`. */
const GAP: Box = [0.0083, 0.0059, 0.0167, 0.0121];

/** Elevation in metres by easting and northing in EPSG:32632. */
export type Relief = (point: EastNorth) => number;

function groundOf(seed: number): Relief {
  const random = randomOf(seed, 'relief');
  const waves = WAVES.map(([length, height]) => {
    const direction = random.next() * Math.PI;
    return { x: (2 * Math.PI * Math.cos(direction)) / length, y: (2 * Math.PI * Math.sin(direction)) / length, phase: random.next() * 2 * Math.PI, height };
  });
  const [a, b, c] = [random.next() * 6, random.next() * 6, random.next() * 6];
  return ([x, y]) => {
    const hilly = Math.min(1, Math.max(0, 0.6 + 1.6 * Math.sin((2 * Math.PI * x) / 1700 + a) * Math.sin((2 * Math.PI * y) / 1300 + b)));
    // The ground is level where the sine is negative.
    const plain = 2 * Math.max(0, Math.sin((2 * Math.PI * (x + y)) / 1100 + c));
    if (hilly === 0) return 300 + plain;
    const hills = waves.reduce((sum, wave) => sum + wave.height * Math.sin(wave.x * x + wave.y * y + wave.phase), 0);
    return 300 + plain + hilly * hilly * (100 + hills + 0.3 * roughness(seed, x, y));
  };
}

/** Returns a repeatable random roughness of the ground in a cell, between −1 and 1. */
function roughness(seed: number, x: number, y: number): number {
  return hashKey(`${seed} ${Math.floor(x / GROUND_CELL_M)} ${Math.floor(y / GROUND_CELL_M)}`) / 2 ** 31 - 1;
}

/** A published elevation model: cells by column and row of an unbounded grid. */
export interface Model {
  /** Columns and rows to write, counted from the grid's origin, without `end`. Row numbers increase from north to south. */
  readonly columns: readonly [first: number, end: number];
  readonly rows: readonly [first: number, end: number];
  /** Returns the elevation of a cell in metres, as in the file; NaN means no data. */
  readonly value: (column: number, row: number) => number;
  /** Returns the fractional column and row of a point, whose longitude and latitude are in degrees. The centre of a cell has the fraction 0.5. */
  readonly place: (point: LonLat) => readonly [number, number];
  /** Returns the width and height in metres of a cell in a row. */
  readonly cellMetres: (row: number) => readonly [number, number];
}

/** Returns the ground model in cells of 10 m in EPSG:32632. Column 0 begins at easting 0, and row 0 at northing 0. */
export function groundModel(region: SyntheticRegion): Model {
  const relief = groundOf(region.seed);
  const [west, south, east, north] = boxOf([[densified(region.box).map(utm32.forward)]]);
  const rowOf = (northing: number): number => -northing / GROUND_CELL_M;
  return {
    columns: [Math.floor((west - MARGIN_M) / GROUND_CELL_M), Math.ceil((east + MARGIN_M) / GROUND_CELL_M)],
    rows: [Math.floor(rowOf(north + MARGIN_M)), Math.ceil(rowOf(south - MARGIN_M))],
    value(column, row) {
      const centre: EastNorth = [(column + 0.5) * GROUND_CELL_M, -(row + 0.5) * GROUND_CELL_M];
      return isGap(region, utm32.inverse(centre)) ? NaN : Math.fround(relief(centre));
    },
    place(point) {
      const [x, y] = utm32.forward(point);
      return [x / GROUND_CELL_M, rowOf(y)];
    },
    cellMetres: () => [GROUND_CELL_M, GROUND_CELL_M],
  };
}

/** Returns the surface model in cells of 1″ with centres at whole seconds. The centre of column 0 is at 0° E, and the centre of row 0 at 0° N. */
export function surfaceModel(region: SyntheticRegion): Model {
  const relief = groundOf(region.seed);
  const [west, south, east, north] = region.box;
  const place = ([lon, lat]: LonLat): readonly [number, number] => [lon / SURFACE_CELL_DEG + 0.5, -lat / SURFACE_CELL_DEG + 0.5];
  const [left, top] = place([west - MARGIN_DEG, north + MARGIN_DEG]);
  const [right, bottom] = place([east + MARGIN_DEG, south - MARGIN_DEG]);
  return {
    columns: [Math.floor(left), Math.ceil(right)],
    rows: [Math.floor(top), Math.ceil(bottom)],
    value(column, row) {
      const ground = relief(utm32.forward([column * SURFACE_CELL_DEG, -row * SURFACE_CELL_DEG]));
      return Math.fround(ground + (hashKey(`surface ${region.seed} ${column} ${row}`) % 1500) / 100);
    },
    place,
    cellMetres: (row) => secondMetres(-row * SURFACE_CELL_DEG),
  };
}

/** Returns the lengths in metres of 1″ of longitude and of 1″ of latitude on WGS 84, at a latitude in degrees. */
function secondMetres(latitude: number): readonly [number, number] {
  const [a, e2] = [6_378_137, 0.006_694_379_990_141_317];
  const [phi, second] = [(latitude * Math.PI) / 180, (SURFACE_CELL_DEG * Math.PI) / 180];
  const w2 = 1 - e2 * Math.sin(phi) ** 2;
  return [(second * a * Math.cos(phi)) / Math.sqrt(w2), (second * a * (1 - e2)) / w2 ** 1.5];
}

function isGap(region: SyntheticRegion, [lon, lat]: LonLat): boolean {
  const [west, , , north] = region.box;
  const x = (lon - west) % GAP_EVERY[0];
  const y = GAP_EVERY[1] - ((north - lat) % GAP_EVERY[1]);
  return lon > west && lat < north && x > GAP[0] && x < GAP[2] && y > GAP[1] && y < GAP[3];
}

/** Returns points on the edges of a box, at least every hundredth of a degree. */
function densified([west, south, east, north]: Box): LonLat[] {
  const corners: readonly LonLat[] = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  return corners.slice(1).flatMap((to, index) => {
    const [x, y] = corners[index] ?? to;
    const steps = Math.ceil(Math.max(Math.abs(to[0] - x), Math.abs(to[1] - y)) / 0.01);
    return Array.from({ length: steps + 1 }, (_, step): LonLat => [x + ((to[0] - x) * step) / steps, y + ((to[1] - y) * step) / steps]);
  });
}

// --- values of a parcel --------------------------------------------------------------------------------------

const OCTANTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

export interface Terrain {
  readonly elevation_min: number;
  readonly elevation_max: number;
  readonly elevation_mean: number;
  readonly elevation_std: number;
  readonly slope_mean: number | null;
  readonly slope_max: number | null;
  readonly ruggedness_index: number | null;
  readonly tri_mean: number | null;
  readonly aspect_predominant: string | null;
  readonly cells: number;
}

/** Returns the true elevations, slopes, aspect and ruggedness of a parcel; null if a cell of the parcel has no value in the model. */
export function reliefOf(model: Model, { polygons }: Pick<SyntheticParcel, 'polygons'>): Terrain | null {
  const cells = cellsOf(model, polygons);
  const elevations = cells.map(([column, row]) => model.value(column, row));
  if (elevations.some(Number.isNaN)) return null;
  const shapes = cells.flatMap(([column, row]) => shapeOf(model, column, row) ?? []);
  const mean = meanOf(elevations);
  return {
    elevation_min: round(Math.min(...elevations), 1), elevation_max: round(Math.max(...elevations), 1), elevation_mean: round(mean, 1),
    elevation_std: round(Math.sqrt(meanOf(elevations.map((elevation) => (elevation - mean) ** 2))), 1),
    ...(shapes.length === 0 ? { slope_mean: null, slope_max: null, ruggedness_index: null, tri_mean: null, aspect_predominant: null } : {
      slope_mean: round(meanOf(shapes.map(({ slope }) => slope)), 1), slope_max: round(Math.max(...shapes.map(({ slope }) => slope)), 1),
      ruggedness_index: round(meanOf(shapes.map(({ riley }) => riley)), 2), tri_mean: round(meanOf(shapes.map(({ wilson }) => wilson)), 2),
      aspect_predominant: predominant(shapes),
    }),
    cells: cells.length,
  };
}

/** Returns the cells whose centre is inside the polygons. If no centre is inside, returns the cell of the representative point. */
function cellsOf(model: Model, polygons: SyntheticParcel['polygons']): (readonly [number, number])[] {
  const placed = mapPoints(polygons, model.place);
  const [west, south, east, north] = boxOf(placed);
  const cells: (readonly [number, number])[] = [];
  for (let row = Math.floor(south); row <= north; row += 1) {
    for (let column = Math.floor(west); column <= east; column += 1) {
      if (placeOf([column + 0.5, row + 0.5], placed) === 'inside') cells.push([column, row]);
    }
  }
  if (cells.length > 0) return cells;
  const [x, y] = model.place(pointOnSurface(polygons));
  return [[Math.floor(x), Math.floor(y)]];
}

interface Shape {
  /** Slope in degrees. */
  readonly slope: number;
  /** Direction of the steepest descent, in degrees clockwise from the grid's north; null on level ground. */
  readonly aspect: number | null;
  /** Terrain ruggedness index (Riley) in metres. */
  readonly riley: number;
  readonly wilson: number;
}

/** Returns slope, aspect and ruggedness at a cell, computed from a block of 3 × 3 cells; null if one of these cells has no value. */
function shapeOf(model: Model, column: number, row: number): Shape | null {
  const at = (dx: number, dy: number): number => model.value(column + dx, row + dy);
  const around = [[-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]].map(([dx = 0, dy = 0]) => at(dx, dy));
  const middle = at(0, 0);
  if (around.some(Number.isNaN)) return null;
  const [nw = 0, n = 0, ne = 0, w = 0, e = 0, sw = 0, s = 0, se = 0] = around;
  const [width, height] = model.cellMetres(row);
  // Computes the rise per metre to the east and to the north (Horn 1981).
  const east = (ne + 2 * e + se - nw - 2 * w - sw) / (8 * width);
  const north = (nw + 2 * n + ne - sw - 2 * s - se) / (8 * height);
  const differences = around.map((value) => value - middle);
  return {
    slope: (Math.atan(Math.hypot(east, north)) * 180) / Math.PI,
    aspect: east === 0 && north === 0 ? null : ((Math.atan2(-east, -north) * 180) / Math.PI + 360) % 360,
    riley: Math.sqrt(differences.reduce((sum, difference) => sum + difference ** 2, 0)),
    wilson: meanOf(differences.map(Math.abs)),
  };
}

function predominant(shapes: readonly Shape[]): string {
  const steep = shapes.filter(({ slope }) => slope >= 1);
  if ((shapes.length - steep.length) * 2 > shapes.length) return 'flat';
  const counts = OCTANTS.map((_, octant) => steep.filter(({ aspect }) => aspect !== null && Math.floor((aspect + 22.5) / 45) % 8 === octant).length);
  return OCTANTS[counts.indexOf(Math.max(...counts))] ?? 'flat';
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Rounds a number to a number of decimals, with halves away from zero, like PostgreSQL's numeric. First reduces the number to 13 significant digits, which
 * removes the errors of floating-point arithmetic.
 */
export function round(value: number, digits: number): number {
  const times = 10 ** digits;
  const whole = Math.round(Number((Math.abs(value) * times).toPrecision(13)));
  return whole === 0 ? 0 : (Math.sign(value) * whole) / times;
}
