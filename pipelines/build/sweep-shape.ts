/**
 * Finds the grid cells whose centre is in an area. Uses scanlines and the even-odd rule over all rings. Areas are half-open: each cell belongs to only one of
 * two adjacent areas. If the common border passes through the centre of a cell, the cell belongs to the area on the east or south.
 */

import { viewOf } from '../formats/wkb.ts';
import type { Project } from './sweep-projection.ts';

/** North-western corner and cell size of a grid, in the units of the CRS. */
export interface CellGrid {
  readonly west: number;
  readonly north: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
}

const LITTLE_ENDIAN = 1;
const MULTI_POLYGON = 6;
/** Maximum number of crossings in a row for which insertion sort is used. */
const FEW = 24;

/**
 * Converts a distance from the grid's corner to a number of cells. A point on the border of two cells belongs to the cell on the east or south. A point less
 * than a billionth of a cell from a border is moved to the border. This removes rounding errors, for example of dividing degrees by a cell size of 1/240.
 */
export function inCells(distance: number, cell: number): number {
  const cells = distance / cell;
  const border = Math.round(cells);
  return Math.abs(cells - border) < 1e-9 ? border : cells;
}

/** Cells of the current shape. One object is reused for all shapes. Each row contains runs of cells `first … end − 1`. */
export class Shape {
  /** First and last row that may contain cells. No row contains cells if `lastRow` is less than `firstRow`. */
  firstRow = 0;
  lastRow = -1;
  /** First and last column of all cells. There are no cells if `lastColumn` is less than `firstColumn`. */
  firstColumn = 0;
  lastColumn = -1;
  /** For each row, the index in `bounds` at which the runs of the row begin. The runs end at the index of the next row. */
  runs = new Int32Array(64);
  /** First column and end column of each run, alternating. The end column is not part of the run. */
  bounds = new Int32Array(128);
  /** Coordinates of the vertices of all rings, in cells of the grid: `#xs` from the west, `#ys` from the north. */
  #xs = new Float64Array(256);
  #ys = new Float64Array(256);
  /** For each ring, the number of vertices up to the end of the ring. */
  #ends: number[] = [];
  #crossings = new Float64Array(128);
  readonly #corner = new Float64Array(2);

  /** Finds the cells of an area. @param wkb WKB of a polygon or multipolygon, little-endian, in degrees @param project projection into the CRS of the grid */
  area(wkb: Buffer, grid: CellGrid, project: Project): void {
    this.#read(wkb, grid, project);
    this.#cross();
  }

  /** Makes one cell the only cell of the shape. */
  cell(column: number, row: number): void {
    this.firstRow = this.lastRow = row;
    this.firstColumn = this.lastColumn = column;
    this.runs[0] = 0;
    this.runs[1] = 2;
    this.bounds[0] = column;
    this.bounds[1] = column + 1;
  }

  #read(wkb: Buffer, { west, north, cellWidth, cellHeight }: CellGrid, project: Project): void {
    const corner = this.#corner;
    const view = viewOf(wkb);
    const type = wkb.readUInt32LE(1);
    if (wkb[0] !== LITTLE_ENDIAN || (type !== MULTI_POLYGON && type !== 3)) throw new Error(`expected the WKB of an area, found type ${type}`);
    this.#ends.length = 0;
    let at = type === MULTI_POLYGON ? 9 : 0;
    let n = 0;
    for (let polygons = type === MULTI_POLYGON ? wkb.readUInt32LE(5) : 1; polygons > 0; polygons -= 1) {
      let rings = wkb.readUInt32LE(at + 5);
      for (at += 9; rings > 0; rings -= 1) {
        const corners = wkb.readUInt32LE(at);
        at += 4;
        if (n + corners > this.#xs.length) {
          this.#xs = grown(this.#xs, n + corners);
          this.#ys = grown(this.#ys, n + corners);
        }
        for (let end = n + corners; n < end; n += 1, at += 16) {
          project(view.getFloat64(at, true), view.getFloat64(at + 8, true), corner);
          this.#xs[n] = (corner[0]! - west) / cellWidth;
          this.#ys[n] = (north - corner[1]!) / cellHeight;
        }
        this.#ends.push(n);
      }
    }
  }

  #cross(): void {
    const [xs, ys] = [this.#xs, this.#ys];
    const corners = this.#ends.at(-1) ?? 0;
    let [top, bottom] = [Infinity, -Infinity];
    for (let i = 0; i < corners; i += 1) {
      const y = ys[i]!;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    const first = this.firstRow = Math.ceil(top - 0.5);
    const rows = Math.max(0, Math.ceil(bottom - 0.5) - first);
    this.lastRow = first + rows - 1;
    this.firstColumn = Infinity;
    this.lastColumn = -Infinity;
    if (this.runs.length < rows + 1) this.runs = new Int32Array(rows * 2);
    const { runs } = this;
    runs.fill(0, 0, rows + 1);
    // First counts the edges that cross the middle of each row, then computes the positions of the crossings.
    let crossings = 0;
    this.#edges((a, b) => {
      const end = Math.ceil(ys[b]! - 0.5) - first;
      for (let row = Math.ceil(ys[a]! - 0.5) - first; row < end; row += 1, crossings += 1) runs[row + 1]! += 1;
    });
    for (let row = 0; row < rows; row += 1) runs[row + 1]! += runs[row]!;
    if (crossings > this.#crossings.length) {
      this.#crossings = new Float64Array(crossings * 2);
      this.bounds = new Int32Array(crossings * 2);
    }
    const [found, bounds] = [this.#crossings, this.bounds];
    // Writes each crossing at the row's start index and then increases the start index. The start indexes are restored at the end.
    this.#edges((a, b) => {
      const [ax, ay] = [xs[a]!, ys[a]!];
      const slope = (xs[b]! - ax) / (ys[b]! - ay);
      const end = Math.ceil(ys[b]! - 0.5) - first;
      for (let row = Math.ceil(ay - 0.5) - first; row < end; row += 1) {
        found[runs[row]!] = ax + (first + row + 0.5 - ay) * slope;
        runs[row]! += 1;
      }
    });
    runs.copyWithin(1, 0, rows);
    runs[0] = 0;
    for (let row = 0; row < rows; row += 1) {
      const [from, end] = [runs[row]!, runs[row + 1]!];
      sort(found, from, end);
      for (let i = from; i + 1 < end; i += 2) {
        const [west, east] = [Math.ceil(found[i]! - 0.5), Math.ceil(found[i + 1]! - 0.5)];
        bounds[i] = west;
        bounds[i + 1] = east;
        if (west >= east) continue;
        if (west < this.firstColumn) this.firstColumn = west;
        if (east - 1 > this.lastColumn) this.lastColumn = east - 1;
      }
    }
  }

  /** Visits the edges that are not horizontal. Each edge starts at its northern vertex, so that two areas compute the same crossings for a common edge. */
  #edges(each: (a: number, b: number) => void): void {
    const ys = this.#ys;
    let start = 0;
    for (const end of this.#ends) {
      for (let i = start; i + 1 < end; i += 1) {
        if (ys[i]! < ys[i + 1]!) each(i, i + 1);
        else if (ys[i]! > ys[i + 1]!) each(i + 1, i);
      }
      start = end;
    }
  }
}

function grown(array: Float64Array, needed: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(needed, array.length * 2));
  larger.set(array);
  return larger;
}

function sort(values: Float64Array, from: number, end: number): void {
  if (end - from > FEW) values.subarray(from, end).sort();
  else {
    for (let i = from + 1; i < end; i += 1) {
      const value = values[i]!;
      let at = i;
      for (; at > from && values[at - 1]! > value; at -= 1) values[at] = values[at - 1]!;
      values[at] = value;
    }
  }
}
