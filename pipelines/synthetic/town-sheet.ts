/**
 * Groups the cells of a sheet of the form `place` into parcels, and draws the parcels. Each line between cells is doubled, so that a strip with a street or the
 * stream fits between the two lines. Without a strip, both lines are the same line. A corner that several parcels share has exactly the same coordinates in
 * each parcel.
 */
import type { ParcelKind } from '../contract/section.ts';
import { UNIT } from './cell-size.ts';
import { itemAt, valueOf } from './items.ts';
import { covers, nearestOnSegment, ringArea } from './plane-geometry.ts';
import type { LonLat, Random, SyntheticParcel, SyntheticPolygon } from './region.ts';
import type { Position, TownPlan } from './town-plan.ts';

/** Column and row of a cell in the comune. */
type Cell = readonly [column: number, row: number];

export interface TownParcel {
  readonly kind: ParcelKind;
  /** Cells that the parcel intersects. */
  readonly cells: readonly Cell[];
  readonly polygons: SyntheticParcel['polygons'];
}

/** Owner numbers of roads and of waters. Land parcels are numbered from 0. */
const [ROAD, WATER] = [-1, -2];
/** Minimum distance in coordinate units (about 0.2 m) between a straight edge and the middle point of the bent edge. Nearer middle points are left out. */
const MIDDLE_FROM = 200;

const keyOf = (x: number, y: number): number => x * 100_000 + y;
const NEIGHBOURS: readonly Cell[] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

export class TownSheet {
  readonly #plan: TownPlan;
  readonly #cells: readonly Cell[];
  readonly #west: number;
  readonly #south: number;
  readonly #has: ReadonlySet<number>;
  /** False if the strips would divide the sheet into more parcels than requested. */
  #hasStrips = true;
  readonly #points = new Map<number, readonly [cells: Position, units: Position]>();

  /** @param corner south-western corner of the comune in coordinate units @param cells cells of the sheet, sorted by row and column */
  constructor(plan: TownPlan, [west, south]: Position, cells: readonly Cell[]) {
    this.#plan = plan;
    this.#cells = cells;
    this.#west = west;
    this.#south = south;
    this.#has = new Set(cells.map(([column, row]) => keyOf(column, row)));
  }

  /** Returns the ring around the sheet, counter-clockwise. */
  outline(): readonly LonLat[] {
    const whole = new Map([...this.#owners(() => 0).keys()].map((key) => [key, 0]));
    return this.#draw(whole, 0)[0][0];
  }

  /** Returns `count` parcels, sorted by row and column of each parcel's first cell. @throws RangeError if the cells cannot form this number of parcels */
  parcels(count: number, random: Random): TownParcel[] {
    let special = [...this.#stripCells()].filter(([, cells]) => cells.length > 0);
    let numbers = this.#group(count - special.length, random);
    if (numbers === null) {
      this.#hasStrips = false;
      special = [];
      numbers = this.#group(count, random);
      if (numbers === null) throw new RangeError(`expected cells that form ${count} parcels, found ${this.#cells.length} cells`);
    }
    const found = numbers;
    const owners = this.#owners((column, row) => (this.#isSquare(column, row) ? ROAD : valueOf(found, keyOf(column, row))));
    const land = new Map<number, Cell[]>();
    for (const [column, row] of this.#cells) {
      const number = found.get(keyOf(column, row));
      if (number !== undefined) land.set(number, [...(land.get(number) ?? []), [column, row]]);
    }
    const drawn = [...land].map(([number, cells]): TownParcel => ({ kind: 'land', cells, polygons: this.#draw(owners, number) }));
    for (const [owner, cells] of special) drawn.push({ kind: owner === ROAD ? 'road' : 'water', cells, polygons: this.#draw(owners, owner) });
    const first = ({ cells }: TownParcel): number => Math.min(...cells.map(([column, row]) => keyOf(row, column)));
    return drawn.sort((a, b) => first(a) - first(b) || a.kind.localeCompare(b.kind));
  }

  #isSquare(column: number, row: number): boolean {
    return this.#hasStrips && this.#plan.isSquare(column, row);
  }

  #isIn(column: number, row: number): boolean {
    return this.#has.has(keyOf(column, row));
  }

  /** Returns the owner of the strip between a cell and the cell to the west; null without a strip. */
  #upright(column: number, row: number): number | null {
    return !this.#hasStrips || this.#plan.alongColumn(column, row) === null ? null : ROAD;
  }

  /** Returns the owner of the strip between a cell and the cell to the south; null without a strip. */
  #level(column: number, row: number): number | null {
    const strip = this.#plan.alongRow(column, row);
    return !this.#hasStrips || strip === null ? null : strip === 'stream' ? WATER : ROAD;
  }

  /** Returns the cells next to the strips of the sheet and the square, by owner. */
  #stripCells(): ReadonlyMap<number, Cell[]> {
    const found = new Map<number, Map<number, Cell>>([[ROAD, new Map()], [WATER, new Map()]]);
    const add = (owner: number | null, ...cells: readonly Cell[]): void => {
      if (owner !== null && cells.every((cell) => this.#isIn(...cell))) for (const cell of cells) valueOf(found, owner).set(keyOf(cell[1], cell[0]), cell);
    };
    for (const [column, row] of this.#cells) {
      add(this.#upright(column, row), [column - 1, row], [column, row]);
      add(this.#level(column, row), [column, row - 1], [column, row]);
      if (this.#isSquare(column, row)) add(ROAD, [column, row]);
    }
    return new Map([...found].map(([owner, cells]) => [owner, [...cells].sort(([a], [b]) => a - b).map(([, cell]) => cell)]));
  }

  /**
   * Groups all cells except the square into `count` land parcels. Parcels outside the town are larger.
   * @returns number of the parcel, by cell; null if the cells cannot form `count` parcels
   */
  #group(count: number, random: Random): ReadonlyMap<number, number> | null {
    if (count < 1) return null;
    const cells = this.#cells.filter(([column, row]) => !this.#isSquare(column, row));
    const merging = new Merging(cells, (a, b) => this.#isDivided(a, b));
    const country = cells.filter(([column, row]) => !this.#plan.isUrban(column, row));
    const most = Math.max(7, Math.ceil((2.5 * cells.length) / count));
    for (let attempt = 0; attempt < 40 * cells.length && merging.count > count; attempt += 1) {
      if (country.length === 0) break;
      const seed = random.pick(country);
      const wanted = Math.min(2 + random.below(most - 1), 1 + merging.count - count);
      for (let step = 0; step < 4 * wanted && merging.sizeOf(seed) < wanted; step += 1) {
        const [column, row] = random.pick(merging.group(seed));
        const [dx, dy] = random.pick(NEIGHBOURS);
        const next: Cell = [column + dx, row + dy];
        if (!this.#plan.isUrban(...next)) merging.merge([column, row], next, wanted);
      }
    }
    // If the land around the town is too small, also merges cells in the town: single cells first, then larger groups.
    for (const limit of [2, 4, 8, cells.length, cells.length]) {
      for (const cell of cells) for (const [dx, dy] of NEIGHBOURS) if (merging.count > count) merging.merge(cell, [cell[0] + dx, cell[1] + dy], limit);
    }
    return merging.count === count ? merging.numbers() : null;
  }

  /** Returns whether a street or the stream is between two neighbouring cells. */
  #isDivided([x1, y1]: Cell, [x2, y2]: Cell): boolean {
    return (x1 === x2 ? this.#level(x1, Math.max(y1, y2)) : this.#upright(Math.max(x1, x2), y1)) !== null;
  }

  /**
   * Returns the owners of cells and of the strips between cells. A cell has the position (2 × column + 1, 2 × row + 1). A strip without a street or stream
   * belongs to the parcel to the west or south.
   */
  #owners(ownerOf: (column: number, row: number) => number): ReadonlyMap<number, number> {
    const owners = new Map<number, number>();
    for (const [column, row] of this.#cells) {
      const [x, y, own] = [2 * column + 1, 2 * row + 1, ownerOf(column, row)];
      owners.set(keyOf(x, y), own);
      const [hasWest, hasSouth] = [this.#isIn(column - 1, row), this.#isIn(column, row - 1)];
      if (hasWest) owners.set(keyOf(x - 1, y), this.#upright(column, row) ?? ownerOf(column - 1, row));
      if (hasSouth) owners.set(keyOf(x, y - 1), this.#level(column, row) ?? ownerOf(column, row - 1));
      if (!hasWest || !hasSouth || !this.#isIn(column - 1, row - 1)) continue;
      const around = [this.#upright(column, row), this.#upright(column, row - 1), this.#level(column, row), this.#level(column - 1, row)];
      owners.set(keyOf(x - 1, y - 1), around.includes(ROAD) ? ROAD : around.includes(WATER) ? WATER : ownerOf(column - 1, row - 1));
    }
    return owners;
  }

  /** Returns a corner in cells and in coordinate units. Corners 2n and 2n + 1 of an axis are on both sides of line n. */
  #point(x: number, y: number): readonly [cells: Position, units: Position] {
    const key = keyOf(x, y);
    const known = this.#points.get(key);
    if (known !== undefined) return known;
    const [column, row] = [Math.floor(x / 2), Math.floor(y / 2)];
    const [[east, north], [offX, offY]] = [this.#plan.crossing(column, row), this.#plan.offsets(column, row)];
    const cells: Position = [east + (x % 2 === 0 ? -offX : offX), north + (y % 2 === 0 ? -offY : offY)];
    const point = [cells, this.#units(cells)] as const;
    this.#points.set(key, point);
    return point;
  }

  #units(cells: Position): Position {
    const [east, north] = this.#plan.map(cells);
    return [this.#west + Math.round(east), this.#south + Math.round(north)];
  }

  /** Returns the polygons of an owner: counter-clockwise outer rings, and clockwise holes. */
  #draw(owners: ReadonlyMap<number, number>, owner: number): SyntheticParcel['polygons'] {
    const edges = new Map<number, (readonly [x: number, y: number])[]>();
    const add = (x1: number, y1: number, x2: number, y2: number): void => void edges.set(keyOf(x1, y1), [...(edges.get(keyOf(x1, y1)) ?? []), [x2, y2]]);
    for (const [key, found] of owners) {
      if (found !== owner) continue;
      const [x, y] = [Math.floor(key / 100_000), key % 100_000];
      if (owners.get(keyOf(x, y - 1)) !== owner) add(x, y, x + 1, y);
      if (owners.get(keyOf(x + 1, y)) !== owner) add(x + 1, y, x + 1, y + 1);
      if (owners.get(keyOf(x, y + 1)) !== owner) add(x + 1, y + 1, x, y + 1);
      if (owners.get(keyOf(x - 1, y)) !== owner) add(x, y + 1, x, y);
    }
    const outers: (readonly LonLat[])[] = [];
    const holes: (readonly LonLat[])[] = [];
    for (const start of edges.keys()) {
      while ((edges.get(start)?.length ?? 0) > 0) {
        const ring = this.#ring([Math.floor(start / 100_000), start % 100_000], edges);
        const area = ringArea(ring);
        if (area > 0) outers.push(inDegrees(ring));
        else if (area < 0) holes.push(inDegrees(ring));
      }
    }
    const [first, ...others] = outers.map((outer): SyntheticPolygon => [outer, ...holes.filter((hole) => isHoleOf(hole, outer, outers))]);
    if (first === undefined) throw new RangeError('expected cells with an outline, found none');
    return [first, ...others];
  }

  /**
   * Removes the edges of one ring from `edges`, and returns the ring in coordinate units. If a line has no strip, the points on the two sides of the line are
   * the same corner.
   */
  #ring(start: readonly [x: number, y: number], edges: Map<number, (readonly [x: number, y: number])[]>): Position[] {
    const ring: Position[] = [];
    let [x, y] = start;
    do {
      const next = edges.get(keyOf(x, y))?.pop();
      if (next === undefined) throw new RangeError('expected a closed ring, found an end');
      const [[from, here], [to, there]] = [this.#point(x, y), this.#point(...next)];
      for (const point of [here, this.#units([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2])]) {
        const isMiddle = point !== here;
        const last = ring.at(-1);
        if (isMiddle && distance(point, nearestOnSegment(point, here, there)) < MIDDLE_FROM) continue;
        if (last?.[0] !== point[0] || last[1] !== point[1]) ring.push(point);
      }
      [x, y] = next;
    } while (x !== start[0] || y !== start[1]);
    const [first, last] = [itemAt(ring, 0), itemAt(ring, ring.length - 1)];
    if (first[0] !== last[0] || first[1] !== last[1]) ring.push(first);
    return ring;
  }
}

/** Merges cells into groups that are connected. No two cells of a group touch only at a corner. */
class Merging {
  readonly #groups: Map<number, Cell[]>;
  readonly #isDivided: (a: Cell, b: Cell) => boolean;
  count: number;

  constructor(cells: readonly Cell[], isDivided: (a: Cell, b: Cell) => boolean) {
    this.#groups = new Map(cells.map((cell) => [keyOf(...cell), [cell]]));
    this.#isDivided = isDivided;
    this.count = cells.length;
  }

  group(cell: Cell): readonly Cell[] {
    return valueOf(this.#groups, keyOf(...cell));
  }

  sizeOf(cell: Cell): number {
    return this.group(cell).length;
  }

  /**
   * Merges the groups of two neighbouring cells. Does nothing if a cell is the square or is not in the sheet, or if a strip divides the cells. Also does
   * nothing if the merged group would have more than `most` cells, or two cells that touch only at a corner.
   */
  merge(a: Cell, b: Cell, most: number): void {
    const [one, other] = [this.#groups.get(keyOf(...a)), this.#groups.get(keyOf(...b))];
    if (one === undefined || other === undefined || one === other || one.length + other.length > most || this.#isDivided(a, b)) return;
    const both = [...one, ...other];
    if (both.some((cell) => this.#touches(cell, both))) return;
    for (const cell of both) this.#groups.set(keyOf(...cell), both);
    this.count -= 1;
  }

  /** Returns whether another cell of a group touches a cell only at a corner. */
  #touches([x, y]: Cell, group: readonly Cell[]): boolean {
    const has = (column: number, row: number): boolean => group.some(([c, r]) => c === column && r === row);
    return [-1, 1].some((dx) => [-1, 1].some((dy) => has(x + dx, y + dy) && !has(x + dx, y) && !has(x, y + dy)));
  }

  numbers(): ReadonlyMap<number, number> {
    const order = [...new Set(this.#groups.values())];
    const numbers = new Map(order.map((group, index) => [group, index] as const));
    return new Map([...this.#groups].map(([key, group]) => [key, valueOf(numbers, group)]));
  }
}

function inDegrees(ring: readonly Position[]): readonly LonLat[] {
  return ring.map(([x, y]) => [x / UNIT, y / UNIT]);
}

function distance([x1, y1]: Position, [x2, y2]: Position): number {
  return Math.hypot(x2 - x1, y2 - y1);
}

/** Returns whether the smallest outer ring around a hole is `outer`. */
function isHoleOf(hole: readonly LonLat[], outer: readonly LonLat[], outers: readonly (readonly LonLat[])[]): boolean {
  const around = outers.filter((each) => hole.every((point) => covers([[each]], point)));
  const extent = (ring: readonly LonLat[]): number => Math.abs(ringArea(ring));
  return around.length > 0 && around.reduce((least, each) => (extent(each) < extent(least) ? each : least)) === outer;
}
