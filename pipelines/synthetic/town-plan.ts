/**
 * Plans a comune of the form `place`: a town with streets and small lots in the middle, and fields, tracks and a stream around the town. The comune has the
 * same cells as in the form `lattice`. A continuous mapping bends the lines between cells and shrinks the cells of the town. The mapping does not move the
 * border of the comune. Streets and the stream are strips along lines between cells.
 *
 * Positions are in cells from the south-western corner of the comune. A line has the number of the cell to the east or north of the line.
 */
import { CELL_X, CELL_Y, SHEET_ROWS } from './cell-size.ts';
import { hashKey, randomOf } from './random.ts';
import type { CellTown, Town } from './region.ts';

/** Width and height in metres of a cell whose lines are not yet bent, at latitude 42. */
const [CELL_WIDTH_M, CELL_HEIGHT_M] = [41.3, 44.4];
/** Distance between streets in cells: columns of a block, and rows of a block. */
const [BLOCK_COLUMNS, BLOCK_ROWS] = [6, 2];
/** Number of the first street line in each direction. No street is on the border of a sheet, because no multiple of 12 columns or 10 rows is a street line. */
const [FIRST_COLUMN, FIRST_ROW] = [3, 1];
/** Half of the width in metres of a main road, a street, a track and the stream. */
const HALF_M = { main: 5, street: 4, track: 2.2, stream: 3.2 } as const;
/** Maximum half-width of a strip, in cells. */
const MOST_OFFSET = 0.23;
/** Share by which distances shrink in the middle of the town. */
const SHRINK = 0.52;
/** Distance in metres from the comune's border over which the bends of the lines fade out. */
const STRAIGHT_M = 170;

type Strip = keyof typeof HALF_M;
export type Position = readonly [x: number, y: number];

interface Wave {
  readonly x: number;
  readonly y: number;
  readonly phase: number;
  readonly east: number;
  readonly north: number;
}

/** Returns a smooth step from 0 at the border to 1 at the distance `over`, with slope 0 at both ends. */
function taper(distance: number, over: number): number {
  const t = Math.min(1, Math.max(0, distance / over));
  return t * t * (3 - 2 * t);
}

/** Returns 1 in the middle and 0 at both ends of a range, with slope 0 at the middle and the ends. */
function bump(at: number, middle: number, end: number): number {
  const t = (at - middle) / ((at < middle ? 0 : end) - middle);
  return (1 - t * t) ** 2;
}

/** Returns half the width, in metres, of the wider of two strips. */
function widestM(one: Strip | null, other: Strip | null): number {
  return Math.max(one === null ? 0 : HALF_M[one], other === null ? 0 : HALF_M[other]);
}

export class TownPlan implements Town {
  readonly columns: number;
  readonly rows: number;
  readonly #key: string;
  /** Position of the middle of the town. */
  readonly centre: Position;
  /** Line of the main road from west to east, and line of the main road from south to north. */
  readonly #mainRow: number;
  readonly #mainColumn: number;
  readonly #stream: number;
  readonly #waves: readonly Wave[];
  readonly #lobes: readonly [number, number];

  /** @param columns number of columns of cells in the comune @param rows number of rows of cells @param townRow row of sheets with the town, from the south */
  constructor(seed: number, belfiore: string, columns: number, rows: number, townRow: number) {
    this.columns = columns;
    this.rows = rows;
    this.#key = `place ${seed} ${belfiore}`;
    this.#mainRow = (townRow + 0.5) * SHEET_ROWS;
    this.centre = [columns / 2, this.#mainRow];
    this.#mainColumn = FIRST_COLUMN + BLOCK_COLUMNS * Math.round((columns / 2 - FIRST_COLUMN - 0.5) / BLOCK_COLUMNS);
    this.#stream = townRow > 0 ? (Math.floor(townRow / 2) + 0.5) * SHEET_ROWS : 1;
    const random = randomOf(seed, 'place', belfiore);
    // The gradient of all waves combined is below 0.5, so that the mapping stays injective.
    this.#waves = ([[1300, 30], [760, 16], [430, 9]] as const).map(([length, height]) => {
      const [direction, towards] = [random.next() * 2 * Math.PI, random.next() * 2 * Math.PI];
      return {
        x: (2 * Math.PI * Math.cos(direction)) / length, y: (2 * Math.PI * Math.sin(direction)) / length, phase: random.next() * 2 * Math.PI,
        east: height * Math.cos(towards), north: height * Math.sin(towards),
      };
    });
    this.#lobes = [random.next() * 2 * Math.PI, random.next() * 2 * Math.PI];
  }

  /** Maps a position to coordinate units (see `UNIT`) from the comune's south-western corner. */
  map([x, y]: Position): Position {
    const [width, height] = [this.columns * CELL_WIDTH_M, this.rows * CELL_HEIGHT_M];
    const [startX, startY] = [x * CELL_WIDTH_M, y * CELL_HEIGHT_M];
    const away = taper(Math.min(startX, width - startX), STRAIGHT_M) * taper(Math.min(startY, height - startY), STRAIGHT_M);
    let [east, north] = [startX, startY];
    for (const wave of this.#waves) {
      const sine = Math.sin(wave.x * startX + wave.y * startY + wave.phase) * away;
      east += wave.east * sine;
      north += wave.north * sine;
    }
    // The stream meanders. The meanders fade with the distance from the stream (to 37 % at 80 m), and within 90 m of the border.
    const off = (startY - this.#stream * CELL_HEIGHT_M) / 80;
    const bends = 15 * Math.sin((2 * Math.PI * startX) / 290) + 8 * Math.sin((2 * Math.PI * startX) / 170 + 1);
    north += bends * Math.exp(-off * off) * taper(Math.min(startX, width - startX), 90) * taper(Math.min(startY, height - startY), 90);
    const [middleX, middleY] = [this.centre[0] * CELL_WIDTH_M, this.centre[1] * CELL_HEIGHT_M];
    const shrink = SHRINK * bump(east, middleX, width) * bump(north, middleY, height);
    return [((east - shrink * (east - middleX)) * CELL_X) / CELL_WIDTH_M, ((north - shrink * (north - middleY)) * CELL_Y) / CELL_HEIGHT_M];
  }

  /** Returns whether a cell is in the town. The outline of the town has lobes, and houses follow the main roads. */
  isUrban(column: number, row: number): boolean {
    const [dx, dy] = [(column + 0.5 - this.centre[0]) / (this.columns / 4.6), (row + 0.5 - this.centre[1]) / (this.rows / 3.6)];
    const angle = Math.atan2(dy, dx);
    const reach = 1 + 0.16 * Math.sin(3 * angle + this.#lobes[0]) + 0.1 * Math.sin(5 * angle + this.#lobes[1]);
    const distance = Math.hypot(dx, dy) / reach;
    if (distance < 1) return true;
    const isAlong = row === this.#mainRow || row === this.#mainRow - 1 || column === this.#mainColumn || column === this.#mainColumn - 1;
    return isAlong && distance < 1.7 && this.#draw('ribbon', column, row) < 0.45;
  }

  /** Returns whether a cell is the square in the middle of the town. */
  isSquare(column: number, row: number): boolean {
    return column === this.#mainColumn && row === this.#mainRow;
  }

  /** Returns the strip within a column on the line between row − 1 and `row`; null if the line has no strip there. */
  alongRow(column: number, row: number): Strip | null {
    if (row <= 0 || row >= this.rows || (row - FIRST_ROW) % BLOCK_ROWS !== 0) return null;
    if (row === this.#stream) return 'stream';
    if (row === this.#mainRow) return 'main';
    if (this.isUrban(column, row - 1) || this.isUrban(column, row)) return 'street';
    // Tracks lead from one street line to the next.
    return this.#draw('track row', Math.floor((column - FIRST_COLUMN) / BLOCK_COLUMNS), row) < 0.12 ? 'track' : null;
  }

  /** Returns the strip within a row on the line between column − 1 and `column`; null if the line has no strip there. */
  alongColumn(column: number, row: number): Strip | null {
    if (column <= 0 || column >= this.columns || (column - FIRST_COLUMN) % BLOCK_COLUMNS !== 0) return null;
    if (column === this.#mainColumn) return 'main';
    if (this.isUrban(column - 1, row) || this.isUrban(column, row)) return 'street';
    return this.#draw('track column', column, row < this.#mainRow ? 0 : 1) < 0.45 ? 'track' : null;
  }

  /** Returns whether a cell is in the town, whether the cell is the square, and a street or track along the cell. Prefers streets to tracks. */
  townAt(column: number, row: number): CellTown {
    const sides = ([
      ['south', this.alongRow(column, row), row, column], ['north', this.alongRow(column, row + 1), row + 1, column],
      ['west', this.alongColumn(column, row), this.rows + column, row], ['east', this.alongColumn(column + 1, row), this.rows + column + 1, row],
    ] as const).filter(([, strip]) => strip !== null && strip !== 'stream');
    const [side, , street, along] = sides.find(([, strip]) => strip !== 'track') ?? sides[0] ?? [null, null, 0, 0];
    return { isUrban: this.isUrban(column, row), isSquare: this.isSquare(column, row), side, street, along };
  }

  /**
   * Returns the position where two lines cross, without the widths of strips. Crossings inside the comune are moved at random: least on strips, and most
   * outside the town.
   */
  crossing(column: number, row: number): Position {
    const { upright, level } = this.#stripsAt(column, row);
    const isOnStrip = [...upright, ...level].some((strip) => strip !== null);
    const isUrban = [column - 1, column].some((x) => [row - 1, row].some((y) => this.isUrban(x, y)));
    const range = isOnStrip ? 0.03 : isUrban ? 0.06 : 0.16;
    const moved = (line: number, end: number, axis: string): number => (
      line === 0 || line === end ? line : line + (2 * this.#draw(axis, column, row) - 1) * range
    );
    return [moved(column, this.columns, 'x'), moved(row, this.rows, 'y')];
  }

  /**
   * Returns half the width of the wider strip from south to north at a crossing, and half the width of the wider strip from west to east. The results are in
   * cells, at most `MOST_OFFSET`, and 0 without a strip.
   */
  offsets(column: number, row: number): Position {
    const { upright: [south, north], level: [west, east] } = this.#stripsAt(column, row);
    const [upright, level] = [widestM(south, north), widestM(west, east)];
    if (upright === 0 && level === 0) return [0, 0];
    const step = 0.01;
    const metres = (from: Position, to: Position): Position => {
      const [[x1, y1], [x2, y2]] = [this.map(from), this.map(to)];
      return [((x2 - x1) * CELL_WIDTH_M) / CELL_X / (2 * step), ((y2 - y1) * CELL_HEIGHT_M) / CELL_Y / (2 * step)];
    };
    const [eastward, northward] = [metres([column - step, row], [column + step, row]), metres([column, row - step], [column, row + step])];
    const area = eastward[0] * northward[1] - eastward[1] * northward[0];
    return [Math.min(MOST_OFFSET, (upright * Math.hypot(...northward)) / area), Math.min(MOST_OFFSET, (level * Math.hypot(...eastward)) / area)];
  }

  /** Returns the strips that meet at a crossing: to the south and north, and to the west and east. */
  #stripsAt(column: number, row: number): { readonly upright: readonly [Strip | null, Strip | null]; readonly level: readonly [Strip | null, Strip | null] } {
    return {
      upright: [this.alongColumn(column, row - 1), this.alongColumn(column, row)],
      level: [this.alongRow(column - 1, row), this.alongRow(column, row)],
    };
  }

  /** Returns a repeatable random number of a cell or line, from 0 to 1. */
  #draw(what: string, x: number, y: number): number {
    return hashKey(`${this.#key} ${what} ${x} ${y}`) / 2 ** 32;
  }
}
