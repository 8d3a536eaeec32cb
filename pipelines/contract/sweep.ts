/**
 * Definition of a raster sweep: `sweep.ts` in the folder of a `build.sql`. The program runs it at the line `-- sweep: sweep.ts`, between the statements above
 * and below. Shapes are read in the order of the rasters' blocks, and each shape becomes a row with the values computed from its cells.
 */
import type { Columns } from '../formats/copy.ts';

interface Swept {
  /**
   * View of the workspace: the rasters, with the columns of a layer of rasters and `model`. If rasters overlap, the smaller `model` has priority,
   * then the smaller name. A shape gets its cells from the first raster that has all of them, otherwise from the first that has any, and never from two.
   */
  readonly tiles: string;
  /** View of the workspace: `id int4`, `point geometry` and, for areas, `geom geometry`, in EPSG:4326. */
  readonly over: string;
  /**
   * Table that is made: `turn`, `id`, `model`, `cells` (with a value), `missing` (cells without), `unread` (a raster that is needed is not where it was, so
   * that nothing is known), and the columns of the sweep. Rasters on one grid are asked together, by turns; a shape that lacks cells has a row of each that
   * has some. For an explanation there is `<into>_run`: the runs of cells of a row of a raster, each with where it was read.
   */
  readonly into: string;
}

/** A row of a raster under a shape, with the rows above and below it. NaN means no data. */
export interface CellRows {
  readonly north: Float64Array;
  readonly here: Float64Array;
  readonly south: Float64Array;
  /** Metres; on a grid of degrees along the ellipsoid, at the latitude of the row. */
  readonly cellWidthM: number;
  readonly cellHeightM: number;
}

/** Gathers what is wanted of one shape after another. */
export interface Accumulator {
  /** Cells `first … end − 1` of the row lie in the shape; with a halo there is one more cell on each side, and the rows to the north and south. */
  add(rows: CellRows, first: number, end: number): void;
  /** The values of the shape, in the order of the columns. Then a new one begins. */
  take(): readonly (number | string | null)[];
}

/** Sweeps the cells with their centre inside an area, with half-open borders; if there is none, the cell that contains the area's point. */
export interface AreaSweep extends Swept {
  readonly columns: Columns;
  /** The cells around are asked for, too. */
  readonly halo: boolean;
  readonly accumulator: () => Accumulator;
}

/** The value at a point: of the cell that holds it, or between the four centres around it, as far as they have one. It is the column `value float8`. */
export interface PointSweep extends Swept {
  readonly sample: 'nearest' | 'bilinear';
}

export type Sweep = AreaSweep | PointSweep;

/**
 * As the database rounds `value::numeric` — of the decimal number of 15 digits, halves away from zero — which there takes as long as the sweep itself.
 * @param digits after the point
 */
export function rounded(value: number, digits: 1 | 2): number {
  const scale = digits === 1 ? 10 : 100;
  const scaled = Math.abs(value) * scale;
  const whole = Math.floor(scaled);
  // Near a half the product is not exact enough: its decimal digits decide.
  const up = Math.abs(scaled - whole - 0.5) < 1e-6 ? Number(`${Math.abs(value).toPrecision(15)}e${digits}`) - whole >= 0.5 : scaled - whole > 0.5;
  // Plus zero: there is no minus zero in the database.
  return (Math.sign(value) * (whole + (up ? 1 : 0))) / scale + 0;
}

/** @returns the sweeps of a file as they were given, checked by their type; they run in this order */
export function defineSweeps(...sweeps: readonly Sweep[]): readonly Sweep[] {
  return sweeps;
}
