/**
 * Defines the types of raster sweeps, for `sweep.ts` in the folder of a `build.sql`. The sweep runs at the line `-- sweep: sweep.ts`, between the statements
 * above and below the line. Shapes are read in the order of the rasters' blocks. For each shape and grid of rasters, the sweep writes a row with values
 * computed from the shape's cells.
 */
import type { Columns } from '../formats/copy.ts';

interface Swept {
  /**
   * View in the workspace that lists the rasters, with the columns of a raster layer and `model`. If rasters overlap, the smaller `model` has priority, then
   * the smaller name. Cells from different grids are never combined. If a shape has rows for several grids, the SQL after the sweep chooses one row.
   */
  readonly tiles: string;
  /** View in the workspace that lists the shapes, with `id int4`, `point geometry` and, for areas, `geom geometry`, in EPSG:4326. */
  readonly over: string;
  /**
   * Table that the sweep creates, with `turn`, `id`, `model` and the columns of the sweep. `cells` is the number of cells with a value, and `missing` is the
   * number of cells without a value. `unread` is true if a needed raster is missing, so that the values are unknown. The rasters are read grid by grid, in one
   * pass per grid. For each shape, the table has a row for each grid that has some of the cells. The rows end at the first grid that has all cells or lacks a
   * raster. The sweep also creates the table `<into>_run`. For an explanation, this table contains the runs of cells in each raster row. Otherwise, this table
   * is empty.
   */
  readonly into: string;
}

/** Cell values of a raster row that crosses a shape, with the row above and the row below. NaN means no data. */
export interface CellRows {
  readonly north: Float64Array;
  readonly here: Float64Array;
  readonly south: Float64Array;
  /** Width of a cell in metres. On a grid in degrees, the width is measured along the ellipsoid at the latitude of the row. */
  readonly cellWidthM: number;
  readonly cellHeightM: number;
}

/** Accumulates the cells of one shape after another, and computes the values of each shape. */
export interface Accumulator {
  /**
   * Adds the cells `first … end − 1` of a row, which are in the shape. With a halo, `rows` also contains one more cell on each side and the rows to the north
   * and south.
   */
  add(rows: CellRows, first: number, end: number): void;
  /** Returns the values of the current shape, in the order of the columns, and starts a new shape. */
  take(): readonly (number | string | null)[];
}

/**
 * A sweep over areas. The cells of an area are those whose centre is in the area, with half-open borders. An area without such cells uses the cell that
 * contains the area's point.
 */
export interface AreaSweep extends Swept {
  readonly columns: Columns;
  /** True if the accumulator also needs the neighbouring cells. */
  readonly halo: boolean;
  readonly accumulator: () => Accumulator;
}

/**
 * A sweep over points. `nearest`: the value at a point is that of the cell containing the point. `bilinear`: the value is interpolated between the centres of
 * the four nearest cells. Cells without a value are ignored. The result is in the column `value float8`.
 */
export interface PointSweep extends Swept {
  readonly sample: 'nearest' | 'bilinear';
}

export type Sweep = AreaSweep | PointSweep;

/**
 * Rounds like `round(value::numeric, digits)` in the database: takes the decimal number with 15 significant digits, and rounds halves away from zero. Rounding
 * in the database would take as long as the whole sweep.
 * @param digits number of digits after the decimal point
 */
export function rounded(value: number, digits: 1 | 2): number {
  const scale = digits === 1 ? 10 : 100;
  const scaled = Math.abs(value) * scale;
  const whole = Math.floor(scaled);
  // Near a half, the binary product is not exact enough, so the decimal digits of the value decide.
  const up = Math.abs(scaled - whole - 0.5) < 1e-6 ? Number(`${Math.abs(value).toPrecision(15)}e${digits}`) - whole >= 0.5 : scaled - whole > 0.5;
  // Adding zero turns −0 into 0, because the database has no −0.
  return (Math.sign(value) * (whole + (up ? 1 : 0))) / scale + 0;
}

/** Returns the given sweeps unchanged, so that the compiler checks the types. Sweeps run in the given order. */
export function defineSweeps(...sweeps: readonly Sweep[]): readonly Sweep[] {
  return sweeps;
}
