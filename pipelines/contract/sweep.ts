/**
 * Defines the types of raster sweeps, for `sweep.ts` in the folder of a `build.sql`. The sweep runs at the line `-- sweep: sweep.ts`, between the statements
 * above and below the line. Shapes are read in the order of the rasters' blocks. Each shape becomes a row with values that are computed from its cells.
 */
import type { Columns } from '../formats/copy.ts';

interface Swept {
  /**
   * View of the workspace with the rasters: the columns of a layer of rasters, and `model`. If rasters overlap, the smaller `model` has priority, then the
   * smaller name. All cells of a shape come from one raster: the first raster with all cells, otherwise the first raster with any cell.
   */
  readonly tiles: string;
  /** View of the workspace with the shapes: `id int4`, `point geometry` and, for areas, `geom geometry`, in EPSG:4326. */
  readonly over: string;
  /**
   * Table that the sweep creates, with `turn`, `id`, `model` and the columns of the sweep. `cells` is the number of cells with a value, and `missing` the
   * number without a value. `unread` is true if a needed raster is missing, so that the values are unknown. Rasters on one grid are read together, grid by
   * grid. A shape without all cells has a row for each raster with some of the cells. An explanation also has the table `<into>_run` with the runs of cells in
   * a raster row and their position.
   */
  readonly into: string;
}

/** A row of a raster under a shape, with the row above and the row below. NaN means no data. */
export interface CellRows {
  readonly north: Float64Array;
  readonly here: Float64Array;
  readonly south: Float64Array;
  /** Width of a cell in metres. On a grid in degrees, the width is measured along the ellipsoid at the latitude of the row. */
  readonly cellWidthM: number;
  readonly cellHeightM: number;
}

/** An accumulator that computes the values of one shape after another. */
export interface Accumulator {
  /**
   * Adds the cells `first … end − 1` of a row in the shape. With a halo, the row has one more cell on each side and the rows to the north and south.
   */
  add(rows: CellRows, first: number, end: number): void;
  /** Returns the values of the shape, in the order of the columns, and begins a new shape. */
  take(): readonly (number | string | null)[];
}

/** A sweep of the cells with their centre inside an area, with half-open borders. If there is no such cell, the cell that contains the area's point is used. */
export interface AreaSweep extends Swept {
  readonly columns: Columns;
  /** True if the neighbouring cells are also needed. */
  readonly halo: boolean;
  readonly accumulator: () => Accumulator;
}

/**
 * A sweep of the values at points. The value is that of the cell that contains the point, or is interpolated between the four nearest centres with a value. The
 * result is in the column `value float8`.
 */
export interface PointSweep extends Swept {
  readonly sample: 'nearest' | 'bilinear';
}

export type Sweep = AreaSweep | PointSweep;

/**
 * Rounds like `value::numeric` in the database: the decimal number with 15 digits, halves away from zero. Rounding in the database takes as long as the whole
 * sweep.
 * @param digits the digits after the decimal point
 */
export function rounded(value: number, digits: 1 | 2): number {
  const scale = digits === 1 ? 10 : 100;
  const scaled = Math.abs(value) * scale;
  const whole = Math.floor(scaled);
  // Near a half, the product is not exact enough, so the decimal digits of the value are used.
  const up = Math.abs(scaled - whole - 0.5) < 1e-6 ? Number(`${Math.abs(value).toPrecision(15)}e${digits}`) - whole >= 0.5 : scaled - whole > 0.5;
  // Adding zero removes minus zero, which the database does not have.
  return (Math.sign(value) * (whole + (up ? 1 : 0))) / scale + 0;
}

/** Returns the given sweeps unchanged. The compiler checks their type. Sweeps run in the given order. */
export function defineSweeps(...sweeps: readonly Sweep[]): readonly Sweep[] {
  return sweeps;
}
