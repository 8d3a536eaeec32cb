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
   * Created table: `turn`, `id`, `model`, `cells` (with a value), `missing` (cells without), `unread` (a needed raster has moved, so the values are unknown),
   * and the columns of the sweep. Rasters on one grid are read together, grid by grid. A shape without all cells has a row for each raster with some of them.
   * An explanation also has `<into>_run` with the runs of cells in a raster row and their position.
   */
  readonly into: string;
}

/** A row of a raster under a shape, with the rows above and below it. NaN means no data. */
export interface CellRows {
  readonly north: Float64Array;
  readonly here: Float64Array;
  readonly south: Float64Array;
  /** Metres; on a grid in degrees measured along the ellipsoid, at the latitude of the row. */
  readonly cellWidthM: number;
  readonly cellHeightM: number;
}

/** Computes values of one shape after another. */
export interface Accumulator {
  /**
   * Adds the cells `first … end − 1` of a row in the shape. With a halo the row has one more cell on each side, and the rows to the north and south are
   * available.
   */
  add(rows: CellRows, first: number, end: number): void;
  /** Returns the values of the shape, in the order of the columns, and begins a new shape. */
  take(): readonly (number | string | null)[];
}

/** Sweeps the cells with their centre inside an area, with half-open borders; if there is none, the cell that contains the area's point. */
export interface AreaSweep extends Swept {
  readonly columns: Columns;
  /** True if neighbouring cells are needed, too. */
  readonly halo: boolean;
  readonly accumulator: () => Accumulator;
}

/**
 * Sweeps the value at a point: of the cell that contains it, or interpolated between the four centres around it that have a value. The value is in the column
 * `value float8`.
 */
export interface PointSweep extends Swept {
  readonly sample: 'nearest' | 'bilinear';
}

export type Sweep = AreaSweep | PointSweep;

/**
 * Rounds like `value::numeric` in the database: the decimal number of 15 digits, halves away from zero. Rounding in the database would take as long as the
 * whole sweep.
 * @param digits digits after the decimal point
 */
export function rounded(value: number, digits: 1 | 2): number {
  const scale = digits === 1 ? 10 : 100;
  const scaled = Math.abs(value) * scale;
  const whole = Math.floor(scaled);
  // Near a half the product is not exact enough, so its decimal digits are used.
  const up = Math.abs(scaled - whole - 0.5) < 1e-6 ? Number(`${Math.abs(value).toPrecision(15)}e${digits}`) - whole >= 0.5 : scaled - whole > 0.5;
  // Adding zero removes minus zero, which the database does not have.
  return (Math.sign(value) * (whole + (up ? 1 : 0))) / scale + 0;
}

/** Returns the given sweeps, which run in this order. The compiler checks their type here. */
export function defineSweeps(...sweeps: readonly Sweep[]): readonly Sweep[] {
  return sweeps;
}
