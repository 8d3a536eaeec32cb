/**
 * Generates areas over the synthetic region, for which the true values of parcels are simple to compute. The edges of areas run through the middles of cells.
 * Borders of land parcels are at most about a quarter of a cell from the lines between cells. Therefore an area that intersects a cell also covers a part of
 * the land parcel with this cell. Coordinates are in cells from the region's south-west corner.
 */
import { CELL_LAT, CELL_LON } from './cell-size.ts';
import type { Projection } from './map-projection.ts';
import {
  boxRing, clipped, commonPart, isConvex, mapPoints, polygonsAreaM2, type Box, type MultiPolygon, type Point, type Polygon, type Ring,
} from './plane-geometry.ts';
import type { LonLat, SyntheticRegion, SyntheticComune, SyntheticParcel } from './region.ts';

/** Box in units of cells: west, south, east, north. The coordinates end in .5. */
export type CellBox = Box;
/** A ring in units of cells. */
export type CellRing = Ring;
/** Column and row of a cell in the region's grid. */
type Cell = readonly [column: number, row: number];

/** A part of an area with a single ring. `box` is the extent of the part, without the jags of the edges. */
interface Piece {
  readonly box: CellBox;
  readonly ring: CellRing;
}

export interface CellArea {
  /** Parts of the area, from which the true values are computed. */
  readonly pieces: readonly Piece[];
  /** Rings of the area's polygons, as written to the file. */
  readonly polygons: readonly (readonly CellRing[])[];
}

/** An area, to which a source adds attributes. */
interface CellZone {
  readonly area: CellArea;
}

/**
 * Returns a function that returns the zones of the block around a cell. A block is a square of `size` × `size` cells. The function generates and caches the
 * zones of a block when a cell of the block is first requested.
 */
export function zonesByBlock<Z extends CellZone>(
  size: number, zonesOf: (x: number, y: number) => readonly Z[],
): (cell: Cell) => readonly Z[] {
  const blocks = new Map<string, readonly Z[]>();
  return ([column, row]) => {
    const [x, y] = [column - (column % size), row - (row % size)];
    const key = `${x} ${y}`;
    const zones = blocks.get(key) ?? zonesOf(x, y);
    blocks.set(key, zones);
    return zones;
  };
}

export class CellGrid {
  readonly columns: number;
  readonly rows: number;
  readonly #west: number;
  readonly #south: number;
  readonly #region: SyntheticRegion;

  constructor(region: SyntheticRegion) {
    this.#region = region;
    [this.#west, this.#south] = region.box;
    this.columns = Math.round((region.box[2] - region.box[0]) / CELL_LON);
    this.rows = Math.round((region.box[3] - region.box[1]) / CELL_LAT);
  }

  degrees(position: readonly [number, number]): LonLat {
    return this.#region.place(position);
  }

  /** Returns the column and row of a comune's south-western cell. A comune has at least 12 × 10 cells. */
  cornerOf(comune: SyntheticComune): [number, number] {
    return [Math.round((comune.box[0] - this.#west) / CELL_LON), Math.round((comune.box[1] - this.#south) / CELL_LAT)];
  }

  /** Returns the share of a parcel that the areas cover, 0–1, with 6 decimals. Intersects polygons in degrees, and measures areas in EPSG:3035. */
  shareOf(parcel: SyntheticParcel, areas: readonly CellArea[]): number {
    const cells = this.cellsOf(parcel);
    const near = areas.flatMap(({ pieces }) => piecesNear(pieces, cells));
    if (near.length === 0) return 0;
    if (near.some((piece) => containsAll(piece, cells))) return 1;
    // Clips piece by piece only if there is one area, because the pieces of several areas may overlap.
    const shapes = areas.length === 1 ? this.#shapesAt(cells, near).map(([ring]) => ring) : [];
    const common = shapes.length > 0 && shapes.every(isConvex)
      ? shapes.flatMap((shape) => clipped(parcel.polygons, shape)) : this.#commonPart(parcel, cells, near);
    return Math.round((1e6 * polygonsAreaM2(common)) / polygonsAreaM2(parcel.polygons)) / 1e6;
  }

  /** Returns the zones that intersect the cells of a parcel. For a road or water of the form `place`, returns the zones that intersect the parcel. */
  meeting<Z extends CellZone>(parcel: SyntheticParcel, zonesAt: (cell: Cell) => readonly Z[]): ReadonlySet<Z> {
    const cells = this.cellsOf(parcel);
    const met = new Set(cells.flatMap((cell) => zonesAt(cell).filter(({ area: { pieces } }) => pieces.some(({ box }) => boxMeets(box, cell)))));
    if (this.#region.form === 'lattice' || parcel.kind === 'land') return met;
    // A road or water of the form `place` fills only a strip of its cells.
    return new Set([...met].filter(({ area: { pieces } }) => {
      const near = piecesNear(pieces, cells);
      return near.some((piece) => containsAll(piece, cells)) || this.#commonPart(parcel, cells, near).length > 0;
    }));
  }

  /** Returns the part of a parcel that pieces cover. @param cells the cells of the parcel */
  #commonPart(parcel: SyntheticParcel, cells: readonly Cell[], pieces: readonly Piece[]): MultiPolygon {
    return commonPart(parcel.polygons, this.#shapesAt(cells, pieces));
  }

  /** Returns each piece as a polygon in degrees, exact only at the cells. In the form `place`, the edges of pieces are bent like the edges in files. */
  #shapesAt(cells: readonly Cell[], pieces: readonly Piece[]): [Ring][] {
    return pieces.map(({ ring }) => [
      nearCells(this.#region.form === 'lattice' ? ring : this.finely(ring), cells).map((point) => this.degrees(point)),
    ]);
  }

  /** Returns the polygons of an area in a projection. Additional corners keep the edges nearly straight in degrees. */
  drawn(area: CellArea, projection: Projection): Polygon[] {
    return mapPoints(area.polygons.map((rings) => rings.map((ring) => this.finely(ring))), (point) => projection.forward(this.degrees(point)));
  }

  /**
   * Returns a ring with a corner at least every half cell. In the form `place`, where edges are bent and lots are small, a corner is at least every quarter of
   * a cell. A long edge that is straight in degrees would be a curve in a projection.
   */
  finely(ring: CellRing): CellRing {
    const perCell = this.#region.form === 'lattice' ? 2 : 4;
    return ring.flatMap(([x, y], index) => {
      const [toX, toY] = ring[index + 1] ?? [x, y];
      const steps = Math.max(1, Math.ceil(perCell * Math.max(Math.abs(toX - x), Math.abs(toY - y))));
      return Array.from({ length: steps }, (_, step): Point => [x + ((toX - x) * step) / steps, y + ((toY - y) * step) / steps]);
    });
  }

  /** Returns the column and row of each cell of a parcel in the region's grid. */
  cellsOf(parcel: SyntheticParcel): [number, number][] {
    const x = Math.round((parcel.sheet.box[0] - this.#west) / CELL_LON);
    const y = Math.round((parcel.sheet.box[1] - this.#south) / CELL_LAT);
    return parcel.cells.map(([column, row]) => [x + column, y + row]);
  }
}

function piecesNear(pieces: readonly Piece[], cells: readonly Cell[]): Piece[] {
  return pieces.filter(({ box }) => cells.some((cell) => boxMeets(box, cell)));
}

function boxMeets([west, south, east, north]: CellBox, [column, row]: Cell): boolean {
  return west < column + 1 && column < east && south < row + 1 && row < north;
}

/**
 * Returns a ring that has the same edges at the given cells, but fewer corners elsewhere. Moves each corner that is more than one cell away to one cell from
 * the cells, and merges successive equal corners.
 */
function nearCells(ring: CellRing, cells: readonly Cell[]): CellRing {
  const [columns, rows] = [cells.map(([column]) => column), cells.map(([, row]) => row)];
  const [west, south, east, north] = [Math.min(...columns) - 1, Math.min(...rows) - 1, Math.max(...columns) + 2, Math.max(...rows) + 2];
  const near: Point[] = [];
  for (const [x, y] of ring) {
    const moved: Point = [Math.min(east, Math.max(west, x)), Math.min(north, Math.max(south, y))];
    const last = near.at(-1);
    if (last === undefined || last[0] !== moved[0] || last[1] !== moved[1]) near.push(moved);
  }
  return near;
}

/** Returns whether a piece contains cells with a margin of half a cell, in which the corners of parcels and of jagged edges may be. */
function containsAll({ box: [west, south, east, north] }: Piece, cells: readonly Cell[]): boolean {
  return cells.every(([column, row]) => west + 0.5 <= column && column + 1.5 <= east && south + 0.5 <= row && row + 1.5 <= north);
}

const boxPiece = (box: CellBox): Piece => ({ box, ring: boxRing(box) });

export function boxArea(...boxes: readonly CellBox[]): CellArea {
  return { pieces: boxes.map(boxPiece), polygons: boxes.map((box) => [boxRing(box)]) };
}

/**
 * Returns a box with jagged southern and northern edges. A jagged edge has `perCell` corners in each cell, at most a fifth of a cell from the straight edge.
 */
export function jaggedArea([west, south, east, north]: CellBox, perCell: number): CellArea {
  const between = (first: number, last: number): CellRing => {
    const jag = (i: number): number => (i % 2 === 0 ? 0 : i % 4 === 1 ? 0.2 : -0.2);
    const edge = (y: number): CellRing => Array.from({ length: last - first + 1 }, (_, i) => [west + (first + i) / perCell, y + jag(first + i)]);
    const ring = [...edge(south), ...[...edge(north)].reverse()];
    return [...ring, ...ring.slice(0, 1)];
  };
  const columns = Array.from({ length: Math.round(east - west) }, (_, i): Piece => (
    { box: [west + i, south, west + i + 1, north], ring: between(i * perCell, (i + 1) * perCell) }
  ));
  return { pieces: columns, polygons: [[between(0, columns.length * perCell)]] };
}

/** Returns a box with a hole away from the edges. The coordinates of the hole's edges end in .5. */
export function holedArea(outer: CellBox, hole: CellBox): CellArea {
  const [west, south, east, north] = outer;
  const [left, bottom, right, top] = hole;
  const around: readonly CellBox[] = [[west, south, east, bottom], [west, top, east, north], [west, bottom, left, top], [right, bottom, east, top]];
  return { pieces: around.map(boxPiece), polygons: [[boxRing(outer), [...boxRing(hole)].reverse()]] };
}

/**
 * Returns two squares of 2 × 2 cells that meet at a corner, as one ring that crosses itself at this corner. The ring is invalid. The true area is the area of
 * both squares.
 */
export function crossedArea(x: number, y: number): CellArea {
  return {
    pieces: [boxPiece([x, y, x + 2, y + 2]), boxPiece([x + 2, y + 2, x + 4, y + 4])],
    polygons: [[[[x, y], [x + 2, y], [x + 2, y + 4], [x + 4, y + 4], [x + 4, y + 2], [x, y + 2], [x, y]]]],
  };
}

/** Returns a box with a spike, as an invalid ring. A repair removes the spike, so the true area is the area of the box. */
export function spikedArea(box: CellBox, length: number): CellArea {
  const [west, south, east, north] = box;
  const middle = (south + north) / 2;
  const spike: CellRing = [[east, middle], [east + length, middle], [east, middle]];
  return { pieces: [boxPiece(box)], polygons: [[[[west, south], [east, south], ...spike, [east, north], [west, north], [west, south]]]] };
}
