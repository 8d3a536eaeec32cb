/**
 * Samples raster cells for shapes, one shape after another. For an area, samples the cells of its `Shape`. For a point, samples the cell that contains the
 * point, or the four cells with the nearest centres.
 */
import type { Accumulator, AreaSweep, CellRows, PointSweep } from '../contract/sweep.ts';
import type { Mosaic } from './sweep-mosaic.ts';
import type { Shape } from './sweep-shape.ts';

/** A run of consecutive cells: index of the tile in the mosaic, and row, first column and last column on the grid of the mosaic. */
type Run = readonly [tile: number, row: number, first: number, last: number];

/** Detail of a sample. `counts`: only the number of cells. `runs`: also the cells, as runs. */
export type Detail = 'counts' | 'runs';

interface Sample {
  /** Number of cells with a value. */
  readonly cells: number;
  readonly missing: number;
  readonly values: readonly (number | string | null)[];
  readonly runs: readonly Run[];
}

export interface Sampler {
  /**
   * Selects the tiles that a shape needs.
   * @param column column of the shape's point on the grid of the mosaic, as a decimal number
   * @param row row of the shape's point, as a decimal number
   * @returns false if the file of a tile is missing; `gather` must then not be called
   */
  look(shape: Shape, column: number, row: number): boolean;
  /** Samples the cells of a shape. @returns a promise if blocks must be read, otherwise undefined */
  gather(shape: Shape, column: number, row: number): Promise<void> | undefined;
  /** Returns the sample and begins a new sample. */
  take(): Sample;
}

/** Maximum number of raster rows in memory: the current row and, with a halo, the row above and the row below. */
const HELD = 3;

export class AreaSampler implements Sampler {
  readonly #mosaic: Mosaic;
  readonly #halo: number;
  readonly #accumulator: Accumulator;
  readonly #noted: Run[] | null;
  #lines: readonly [Float64Array, Float64Array, Float64Array] = [new Float64Array(64), new Float64Array(64), new Float64Array(64)];
  #origins: readonly Int32Array[] | null;
  /** For each line in `#lines`, the number of the raster row in the line; NaN for an empty line. */
  readonly #held = new Float64Array(HELD);
  readonly #rows: { -readonly [K in keyof CellRows]: CellRows[K] };
  #firstColumn = 0;
  #count = 0;
  #cells = 0;
  #missing = 0;

  constructor({ halo, accumulator }: AreaSweep, mosaic: Mosaic, detail: Detail) {
    this.#mosaic = mosaic;
    this.#halo = halo ? 1 : 0;
    this.#accumulator = accumulator();
    this.#noted = detail === 'runs' ? [] : null;
    this.#origins = detail === 'runs' ? this.#lines.map(({ length }) => new Int32Array(length)) : null;
    const [line] = this.#lines;
    this.#rows = { north: line, here: line, south: line, cellWidthM: mosaic.cellWidth, cellHeightM: mosaic.cellHeight };
  }

  look({ firstColumn, lastColumn, firstRow, lastRow }: Shape): boolean {
    this.#held.fill(NaN);
    this.#firstColumn = firstColumn - this.#halo;
    this.#count = lastColumn + this.#halo - this.#firstColumn + 1;
    if (this.#count > this.#lines[0].length) {
      const length = this.#count * 2;
      this.#lines = [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
      if (this.#origins !== null) this.#origins = this.#lines.map(() => new Int32Array(length));
    }
    return this.#mosaic.look(this.#firstColumn, lastColumn + this.#halo, firstRow - this.#halo, lastRow + this.#halo);
  }

  gather(shape: Shape): Promise<void> | undefined {
    for (let row = shape.firstRow; row <= shape.lastRow; row += 1) {
      const pending = this.#hold(shape, row);
      if (pending !== undefined) return this.#gatherSlowly(shape, row, pending);
      this.#add(shape, row);
    }
    return undefined;
  }

  async #gatherSlowly(shape: Shape, first: number, reading: Promise<void>): Promise<void> {
    await reading;
    for (let row = first; row <= shape.lastRow; row += 1) {
      for (let pending = this.#hold(shape, row); pending !== undefined; pending = this.#hold(shape, row)) await pending;
      this.#add(shape, row);
    }
  }

  take(): Sample {
    const sample = { cells: this.#cells, missing: this.#missing, values: this.#accumulator.take(), runs: this.#noted?.splice(0) ?? [] };
    this.#cells = this.#missing = 0;
    return sample;
  }

  /** Reads the current row and, with a halo, the rows above and below. @returns a promise if blocks must be read; call again when the promise is fulfilled */
  #hold({ firstRow, runs }: Shape, row: number): Promise<void> | undefined {
    // Skips rows without cells, because parts of one area may be far from each other.
    if (runs[row - firstRow] === runs[row - firstRow + 1]) return undefined;
    for (let near = row - this.#halo; near <= row + this.#halo; near += 1) {
      const slot = slotOf(near);
      if (this.#held[slot] === near) continue;
      const pending = this.#mosaic.row(near, this.#firstColumn, this.#count, this.#line(near), this.#origins?.[slot] ?? null);
      if (pending !== undefined) return pending.then(() => void (this.#held[slot] = near));
      this.#held[slot] = near;
    }
    return undefined;
  }

  #line(row: number): Float64Array {
    const slot = slotOf(row);
    return this.#lines[slot === 0 ? 0 : slot === 1 ? 1 : 2];
  }

  #add({ firstRow, runs, bounds }: Shape, row: number): void {
    const from = runs[row - firstRow]!;
    const end = runs[row - firstRow + 1]!;
    if (from === end) return;
    const rows = this.#rows;
    const here = rows.here = this.#line(row);
    if (this.#halo > 0) {
      rows.north = this.#line(row - 1);
      rows.south = this.#line(row + 1);
    }
    if (this.#mosaic.epsg === DEGREES) measure(rows, this.#mosaic, row);
    for (let i = from; i < end; i += 2) {
      const first = bounds[i]! - this.#firstColumn;
      const stop = bounds[i + 1]! - this.#firstColumn;
      if (first >= stop) continue;
      for (let cell = first; cell < stop; cell += 1) {
        if (Number.isNaN(here[cell]!)) this.#missing += 1;
        else this.#cells += 1;
      }
      this.#accumulator.add(rows, first, stop);
      this.#note(row, first, stop, here);
    }
  }

  /** Records the runs of cells with a value. Each run is in one tile. */
  #note(row: number, first: number, stop: number, here: Float64Array): void {
    const origin = this.#origins?.[slotOf(row)];
    if (origin === undefined) return;
    for (let cell = first; cell < stop; cell += 1) {
      if (Number.isNaN(here[cell]!)) continue;
      const start = cell;
      while (cell + 1 < stop && !Number.isNaN(here[cell + 1]!) && origin[cell + 1] === origin[start]) cell += 1;
      this.#noted?.push([origin[start]!, row, start + this.#firstColumn, cell + this.#firstColumn]);
    }
  }
}

export class PointSampler implements Sampler {
  readonly #mosaic: Mosaic;
  /** Number of cells along each axis. 1: takes the value of the cell that contains the point. 2: interpolates between the centres of four cells. */
  readonly #side: 1 | 2;
  readonly #line = new Float64Array(2);
  readonly #origin = new Int32Array(2);
  #sum = 0;
  #weight = 0;
  #cells = 0;
  #missing = 0;
  readonly #noted: Run[] | null;

  constructor({ sample }: PointSweep, mosaic: Mosaic, detail: Detail) {
    this.#mosaic = mosaic;
    this.#noted = detail === 'runs' ? [] : null;
    this.#side = sample === 'nearest' ? 1 : 2;
  }

  look(_shape: Shape, column: number, row: number): boolean {
    const [west, north] = [this.#first(column), this.#first(row)];
    return this.#mosaic.look(west, west + this.#side - 1, north, north + this.#side - 1);
  }

  gather(_shape: Shape, column: number, row: number): Promise<void> | undefined {
    for (let line = 0; line < this.#side; line += 1) {
      const pending = this.#mosaic.row(this.#first(row) + line, this.#first(column), this.#side, this.#line, this.#noted === null ? null : this.#origin);
      if (pending !== undefined) return this.#gatherSlowly(column, row, line, pending);
      this.#add(column, row, line);
    }
    return undefined;
  }

  async #gatherSlowly(column: number, row: number, first: number, reading: Promise<void>): Promise<void> {
    await reading;
    this.#add(column, row, first);
    for (let line = first + 1; line < this.#side; line += 1) {
      await this.#mosaic.row(this.#first(row) + line, this.#first(column), this.#side, this.#line, this.#noted === null ? null : this.#origin);
      this.#add(column, row, line);
    }
  }

  take(): Sample {
    const value = this.#weight > 0 ? this.#sum / this.#weight : null;
    const sample = { cells: this.#cells, missing: this.#missing, values: [value], runs: this.#noted?.splice(0) ?? [] };
    this.#sum = this.#weight = this.#cells = this.#missing = 0;
    return sample;
  }

  /** Returns the column (or row) of the first cell to use. @param position column (or row) of the point, as a decimal number */
  #first(position: number): number {
    return this.#side === 1 ? Math.floor(position) : Math.floor(position - 0.5);
  }

  #add(column: number, row: number, line: number): void {
    for (let i = 0; i < this.#side; i += 1) {
      const weight = this.#share(column, i) * this.#share(row, line);
      if (weight === 0) continue;
      const value = this.#line[i]!;
      if (Number.isNaN(value)) {
        this.#missing += 1;
        continue;
      }
      this.#cells += 1;
      this.#sum += weight * value;
      this.#weight += weight;
      const at = this.#first(column) + i;
      this.#noted?.push([this.#origin[i]!, this.#first(row) + line, at, at]);
    }
  }

  /** Returns the weight of the first (0) or second (1) cell along one axis. */
  #share(position: number, further: number): number {
    if (this.#side === 1) return 1;
    const beyond = position - 0.5 - this.#first(position);
    return further === 0 ? 1 - beyond : beyond;
  }
}

function slotOf(row: number): number {
  return ((row % HELD) + HELD) % HELD;
}

/** EPSG code of rasters whose cells are in degrees. */
const DEGREES = 4326;
/** Ellipsoid of WGS 84: semi-major axis in metres, square of the eccentricity. */
const [A, E2] = [6_378_137, 0.00669437999014];
const RADIAN = Math.PI / 180;

/**
 * Computes the size of a row's cells on the ellipsoid, in metres, and stores the size in `rows`. The height follows from the curvature of the meridian, and the
 * width from the circle of latitude.
 */
function measure(rows: { cellWidthM: number; cellHeightM: number }, { north, cellWidth, cellHeight }: Mosaic, row: number): void {
  const latitude = (north - (row + 0.5) * cellHeight) * RADIAN;
  const w2 = 1 - E2 * Math.sin(latitude) ** 2;
  rows.cellHeightM = cellHeight * RADIAN * A * (1 - E2) / (w2 * Math.sqrt(w2));
  rows.cellWidthM = cellWidth * RADIAN * A * Math.cos(latitude) / Math.sqrt(w2);
}
