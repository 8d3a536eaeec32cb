/** Tests the cells of an area, the values of a mosaic of tiles, and the samples of a shape against simple implementations. */
import { describe, expect, it } from 'vitest';
import type { Raster } from '../../pipelines/formats/raster.ts';
import type { CellRows } from '../../pipelines/contract/sweep.ts';
import { Blocks, mosaicsOf, type Mosaic, type Tile } from '../../pipelines/build/sweep-mosaic.ts';
import { AreaSampler, PointSampler } from '../../pipelines/build/sweep-sample.ts';
import { projectionInto } from '../../pipelines/build/sweep-projection.ts';
import { inCells, Shape } from '../../pipelines/build/sweep-shape.ts';

type Ring = readonly (readonly [number, number])[];

/** Returns the little-endian WKB of a multipolygon, and closes its rings. */
function wkb(polygons: readonly (readonly Ring[])[]): Buffer {
  const parts: Buffer[] = [];
  const head = (type: number, count: number): void => {
    const bytes = Buffer.alloc(9);
    bytes[0] = 1;
    bytes.writeUInt32LE(type, 1);
    bytes.writeUInt32LE(count, 5);
    parts.push(bytes);
  };
  head(6, polygons.length);
  for (const rings of polygons) {
    head(3, rings.length);
    for (const ring of rings) {
      const closed = [...ring, ring[0]!];
      const bytes = Buffer.alloc(4 + closed.length * 16);
      bytes.writeUInt32LE(closed.length);
      closed.forEach(([x, y], index) => {
        bytes.writeDoubleLE(x, 4 + index * 16);
        bytes.writeDoubleLE(y, 12 + index * 16);
      });
      parts.push(bytes);
    }
  }
  return Buffer.concat(parts);
}

/** Returns a generator of pseudo-random numbers from 0 to below 1. The same seed gives the same numbers. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const GRID = { west: 1000, north: 5000, cellWidth: 10, cellHeight: 10 };

/** Returns the cells of a shape, each as `column row`. */
function cellsOf(shape: Shape): string[] {
  const found: string[] = [];
  for (let row = shape.firstRow; row <= shape.lastRow; row += 1) {
    for (let i = shape.runs[row - shape.firstRow]!; i < shape.runs[row - shape.firstRow + 1]!; i += 2) {
      for (let column = shape.bounds[i]!; column < shape.bounds[i + 1]!; column += 1) found.push(`${column} ${row}`);
    }
  }
  return found;
}

/** Returns whether a point is in polygons, by the even-odd rule. */
function holds(polygons: readonly (readonly Ring[])[], x: number, y: number): boolean {
  let inside = false;
  for (const ring of polygons.flat()) {
    ring.forEach(([ax, ay], index) => {
      const [bx, by] = ring[(index + 1) % ring.length]!;
      if ((ay > y) !== (by > y) && x < ax + ((y - ay) * (bx - ax)) / (by - ay)) inside = !inside;
    });
  }
  return inside;
}

function areaOf(polygons: readonly (readonly Ring[])[], shape = new Shape()): Shape {
  shape.area(wkb(polygons), GRID, projectionInto(4326));
  return shape;
}

/** Returns a ring around a centre, with corners sorted by angle. */
function star(next: () => number, x: number, y: number, radius: number, corners: number): Ring {
  return Array.from({ length: corners }, (_, i) => {
    const r = radius * (0.3 + 0.7 * next());
    const angle = (2 * Math.PI * (i + 0.8 * next())) / corners;
    return [x + r * Math.cos(angle), y + r * Math.sin(angle)] as const;
  });
}

describe('the cells of an area', () => {
  it('have their centre in the area, for areas of any size, with holes, and with several parts', () => {
    const next = random(1);
    const shape = new Shape();
    let seen = 0;
    for (let round = 0; round < 120; round += 1) {
      const [x, y] = [1000 + 500 * next(), 5000 - 500 * next()];
      const radius = 3 + 150 * next() ** 3;
      const polygons = [
        [star(next, x, y, radius, 3 + Math.floor(40 * next())), star(next, x, y, radius * 0.25, 5)],
        ...(next() < 0.3 ? [[star(next, x + 400, y - 200, radius, 6)]] : []),
      ];
      areaOf(polygons, shape);
      const expected: string[] = [];
      for (let row = -20; row < 90; row += 1) {
        for (let column = -20; column < 110; column += 1) if (holds(polygons, 1000 + (column + 0.5) * 10, 5000 - (row + 0.5) * 10)) expected.push(`${column} ${row}`);
      }
      expect(cellsOf(shape)).toEqual(expected);
      seen += expected.length;
      const columns = expected.map((cell) => Number(cell.split(' ')[0]));
      if (columns.length > 0) expect([shape.firstColumn, shape.lastColumn]).toEqual([Math.min(...columns), Math.max(...columns)]);
      else expect(shape.lastColumn).toBeLessThan(shape.firstColumn);
    }
    expect(seen).toBeGreaterThan(5_000);
  });

  it('belong to exactly one of two neighbouring areas, even if the border passes through centres', () => {
    const next = random(7);
    for (let round = 0; round < 40; round += 1) {
      // The areas are adjacent quadrangles with corners on cell centres, on cell edges, or anywhere.
      const steps = 8;
      const corner = (i: number, j: number): [number, number] => {
        const isInside = i > 0 && j > 0 && i < steps && j < steps;
        const nudge = (): number => (isInside ? [0, 5, -5, 10, 17 * (next() - 0.5)][Math.floor(next() * 5)]! : 0);
        return [1000 + i * 55 + nudge(), 5000 - j * 55 + nudge()];
      };
      const corners = Array.from({ length: steps + 1 }, (_, i) => Array.from({ length: steps + 1 }, (__, j) => corner(i, j)));
      const counts = new Map<string, number>();
      for (let i = 0; i < steps; i += 1) {
        for (let j = 0; j < steps; j += 1) {
          const ring = [corners[i]![j]!, corners[i]![j + 1]!, corners[i + 1]![j + 1]!, corners[i + 1]![j]!];
          for (const cell of cellsOf(areaOf([[round % 2 === 0 ? ring : [...ring].reverse()]]))) counts.set(cell, (counts.get(cell) ?? 0) + 1);
        }
      }
      // The quadrangles form a square. Each side is 440 m or 44 cells long.
      expect(counts.size).toBe(44 * 44);
      expect([...counts.values()].every((count) => count === 1)).toBe(true);
    }
  });

  it('include their northern and western borders, in degrees and in metres', () => {
    // In a grid of 15″, 41.975° N is a border, but (50 − 41.975) / (10 / 2400) is computed as 1925.9999999999998.
    expect(Math.floor(inCells(50 - 41.975, 10 / 2400))).toBe(1926);
    for (let border = 1; border < 2400; border += 1) {
      const at = 50 - border / 240;
      expect(Math.floor(inCells(50 - at, 10 / 2400))).toBe(border);
      expect(Math.floor(inCells(50 - (at + 1e-9), 10 / 2400))).toBe(border - 1);
      expect(Math.floor(inCells(700_000 + border * 10 - 650_000, 10))).toBe(5000 + border);
    }
  });

  it('do not exist for a sliver between cell centres', () => {
    const shape = areaOf([[[[1006, 5000], [1009, 5000], [1009, 4900], [1006, 4900]]]]);
    expect(cellsOf(shape)).toEqual([]);
    expect(shape.lastColumn).toBeLessThan(shape.firstColumn);
  });
});

/** Returns the height of a cell of the mosaic, or NaN if no value is known. */
function height(column: number, row: number): number {
  return (column * 7919 + row * 104_729) % 101 === 0 ? NaN : Math.fround(Math.sin(column / 9) * 40 + Math.cos(row / 7) * 30 + ((column * 31 + row * 17) % 11));
}

interface Made {
  readonly tile: Tile;
  readonly blocks: { opened: number; closed: number; read: number };
}

interface More {
  readonly value?: typeof height;
  readonly block?: readonly [number, number];
  readonly model?: number;
  /** Shift of the tile to the east, in cells. */
  readonly shift?: number;
}

/** Returns an in-memory tile. Its north-west corner is the north-west corner of the given grid cell, moved by `shift`. */
function tileOf(name: string, column: number, row: number, width: number, rows: number, more: More = {}): Made {
  const [blockWidth, blockHeight] = more.block ?? [width, 1];
  const blocks = { opened: 0, closed: 0, read: 0 };
  const value = more.value ?? height;
  const { west, north, cellWidth, cellHeight } = GRID;
  const open = async (): Promise<Raster> => {
    blocks.opened += 1;
    return {
      grid: {
        epsg: 32632, width, height: rows, transform: [west + column * cellWidth, cellWidth, 0, north - row * cellHeight, 0, -cellHeight], noData: -9999,
        sampleType: 'float32', blockWidth, blockHeight,
      },
      async readBlock(bx, by) {
        blocks.read += 1;
        const block = new Float32Array(blockWidth * blockHeight).fill(NaN);
        for (let y = 0; y < blockHeight && by * blockHeight + y < rows; y += 1) {
          for (let x = 0; x < blockWidth && bx * blockWidth + x < width; x += 1) {
            block[y * blockWidth + x] = value(column + bx * blockWidth + x, row + by * blockHeight + y);
          }
        }
        return block;
      },
      async close() {
        blocks.closed += 1;
      },
    };
  };
  return {
    blocks,
    tile: {
      model: more.model ?? 1, name, releaseId: 1, memberId: 1, position: 1, epsg: 32632, width, height: rows,
      west: west + (column + (more.shift ?? 0)) * cellWidth, north: north - row * cellHeight, cellWidth, cellHeight, blockWidth, blockHeight, open,
    },
  };
}

/** Returns the values in a window of a mosaic, row by row. */
async function windowOf(mosaic: Mosaic, column: number, row: number, width: number, rows: number): Promise<number[][]> {
  mosaic.look(column, column + width - 1, row, row + rows - 1);
  const found: number[][] = [];
  const line = new Float64Array(width);
  for (let y = row; y < row + rows; y += 1) {
    await mosaic.row(y, column, width, line, null);
    found.push([...line]);
  }
  return found;
}

const whole = (column: number, row: number, width: number, rows: number, value: typeof height = height): number[][] =>
  Array.from({ length: rows }, (_, y) => Array.from({ length: width }, (__, x) => value(column + x, row + y)));

describe('a mosaic', () => {
  it('has no seams between tiles, whatever the sizes of blocks and cache', async () => {
    const tiles = [
      tileOf('a', 0, 0, 40, 30, { block: [16, 16] }), tileOf('b', 40, 0, 35, 30),
      tileOf('c', 0, 30, 40, 25, { block: [40, 25] }), tileOf('d', 40, 30, 35, 25, { block: [7, 3] }),
    ];
    for (const bytes of [0, 500, 1e6]) {
      const blocks = new Blocks(bytes);
      const [mosaic, ...others] = mosaicsOf(tiles.map(({ tile }) => tile), blocks);
      expect(others).toEqual([]);
      expect(await windowOf(mosaic!, 0, 0, 75, 55)).toEqual(whole(0, 0, 75, 55));
      const next = random(3);
      for (let round = 0; round < 100; round += 1) {
        const [column, row] = [Math.floor(next() * 70), Math.floor(next() * 50)];
        const [width, rows] = [1 + Math.floor(next() * (75 - column)), 1 + Math.floor(next() * (55 - row))];
        expect(await windowOf(mosaic!, column, row, width, rows)).toEqual(whole(column, row, width, rows));
      }
      await blocks.close();
    }
    for (const { blocks: { opened, closed } } of tiles) expect(closed).toBe(opened);
  });

  it('has no values beyond its tiles or in the place of a missing tile', async () => {
    const [mosaic] = mosaicsOf([tileOf('a', 0, 0, 10, 10).tile, tileOf('c', 20, 0, 10, 10).tile], new Blocks());
    const isThere = (column: number, row: number): boolean => row >= 0 && row < 10 && ((column >= 0 && column < 10) || (column >= 20 && column < 30));
    const there = (column: number, row: number): number => (isThere(column, row) ? height(column, row) : NaN);
    expect(await windowOf(mosaic!, -3, -2, 36, 14)).toEqual(whole(-3, -2, 36, 14, there));
  });

  it('takes each cell from the first tile, in order of name, that has data for the cell', async () => {
    const holes = (column: number, row: number): number => ((column + row) % 3 === 0 ? NaN : 1000);
    const [mosaic] = mosaicsOf([tileOf('a', 5, 0, 20, 10, { value: holes }).tile, tileOf('b', 0, 0, 15, 10).tile], new Blocks());
    // The mosaic counts columns from its first tile, which begins at column 5 of the grid.
    const expected = (column: number, row: number): number => {
      const first = column >= 5 ? holes(column, row) : NaN;
      return Number.isNaN(first) && column < 15 ? height(column, row) : first;
    };
    expect(await windowOf(mosaic!, -5, 0, 25, 10)).toEqual(whole(0, 0, 25, 10, expected));
  });

  it('has one grid and one model, so tiles with a different grid or model form separate mosaics', () => {
    const tiles = [
      tileOf('a', 0, 0, 10, 10), tileOf('b', 10, 0, 10, 10, { shift: 0.3 }), tileOf('c', 20, 0, 10, 10, { shift: 1e-7 }), tileOf('d', 30, 0, 10, 10, { model: 2 }),
    ];
    const mosaics = mosaicsOf(tiles.map(({ tile }) => tile), new Blocks());
    expect(mosaics.map((mosaic) => mosaic.tiles.map(({ tile: { name } }) => name))).toEqual([['a', 'c'], ['b'], ['d']]);
  });

  it('keeps only four files open, and reads no block again while the block is cached', async () => {
    const tiles = Array.from({ length: 12 }, (_, i) => tileOf(`t${String(i).padStart(2, '0')}`, i * 10, 0, 10, 10, { block: [10, 5] }));
    const blocks = new Blocks();
    const [mosaic] = mosaicsOf(tiles.map(({ tile }) => tile), blocks);
    for (let round = 0; round < 3; round += 1) expect(await windowOf(mosaic!, 0, 0, 120, 10)).toEqual(whole(0, 0, 120, 10));
    expect(tiles.map(({ blocks: { read } }) => read)).toEqual(tiles.map(() => 2));
    expect(tiles.filter(({ blocks: { opened, closed } }) => opened > closed).length).toBe(4);
    await blocks.close();
  });
});

/** Records the received cells with their neighbours. */
class Noted {
  readonly seen: string[] = [];

  add({ north, here, south }: CellRows, first: number, end: number): void {
    for (let i = first; i < end; i += 1) this.seen.push([north, here, south].flatMap((row) => [row[i - 1], row[i], row[i + 1]]).join(' '));
  }

  take(): [] {
    return [];
  }
}

describe('the samples of a shape', () => {
  it('contain the shape\'s cells with all neighbours, including those in other tiles, and count the cells without a value', async () => {
    const next = random(5);
    const blocks = new Blocks(2000);
    const tiles = [
      tileOf('a', 0, 0, 60, 50, { block: [16, 16] }), tileOf('b', 60, 0, 60, 50), tileOf('c', 0, 50, 60, 50), tileOf('d', 60, 50, 60, 50, { block: [9, 9] }),
    ];
    const [mosaic] = mosaicsOf(tiles.map(({ tile }) => tile), blocks);
    const known = (column: number, row: number): number => (column < 0 || row < 0 || column > 119 || row > 99 ? NaN : height(column, row));
    const noted = new Noted();
    const sampler = new AreaSampler({ tiles: '', over: '', into: '', columns: {}, halo: true, accumulator: () => noted }, mosaic!, 'runs');
    const shape = new Shape();
    for (let round = 0; round < 200; round += 1) {
      const anywhere = (): [number, number] => [1000 + 1200 * next(), 5000 - 1000 * next()];
      areaOf([[star(next, ...anywhere(), 10 + 300 * next() ** 2, 12)], [star(next, ...anywhere(), 15, 5)]], shape);
      const cells = cellsOf(shape).map((cell) => cell.split(' ').map(Number) as [number, number]);
      noted.seen.length = 0;
      if (cells.length === 0) continue;
      expect(sampler.look(shape)).toBe(true);
      await sampler.gather(shape);
      const sample = sampler.take();
      expect(noted.seen).toEqual(cells.map(([column, row]) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => known(column + x, row + y))).join(' ')));
      const withValue = cells.filter(([column, row]) => !Number.isNaN(known(column, row)));
      expect([sample.cells, sample.missing]).toEqual([withValue.length, cells.length - withValue.length]);
      // The runs must list exactly the cells with a value, each in the tile that contains the cell.
      expect(sample.runs.flatMap(([tile, row, first, last]) => Array.from({ length: last - first + 1 }, (_, i) => `${tile} ${first + i} ${row}`)))
        .toEqual(withValue.map(([column, row]) => `${(column > 59 ? 1 : 0) + (row > 49 ? 2 : 0)} ${column} ${row}`));
    }
  });

  it('are missing if the file of a required raster is missing, even if only neighbouring cells need the raster', () => {
    const gone = { ...tileOf('b', 10, 0, 10, 10).tile, open: null };
    const [mosaic] = mosaicsOf([tileOf('a', 0, 0, 10, 10).tile, gone], new Blocks());
    const shape = new Shape();
    const look = (halo: boolean, column: number): boolean => {
      shape.cell(column, 5);
      return new AreaSampler({ tiles: '', over: '', into: '', columns: {}, halo, accumulator: () => new Noted() }, mosaic!, 'counts').look(shape);
    };
    expect([look(true, 8), look(true, 9), look(false, 9), look(false, 10)]).toEqual([true, false, true, false]);
  });

  it('are the value of the cell for a point, or an interpolation between the four nearest cell centres', async () => {
    const plane = (column: number, row: number): number => (column === 3 && row === 3 ? NaN : 10 * column - 4 * row);
    const [mosaic] = mosaicsOf([tileOf('a', 0, 0, 4, 8, { value: plane }).tile, tileOf('b', 4, 0, 4, 8, { value: plane }).tile], new Blocks());
    const at = async (sample: 'nearest' | 'bilinear', column: number, row: number): Promise<unknown> => {
      const sampler = new PointSampler({ tiles: '', over: '', into: '', sample }, mosaic!, 'counts');
      sampler.look(new Shape(), column, row);
      await sampler.gather(new Shape(), column, row);
      const { values: [value], missing } = sampler.take();
      return [value, missing];
    };
    expect(await at('nearest', 5.99, 2)).toEqual([42, 0]);
    expect(await at('nearest', 3.5, 3.5)).toEqual([null, 1]);
    // Interpolation of a plane returns the plane, even between two tiles.
    expect(await at('bilinear', 4.25, 1.75)).toEqual([10 * 3.75 - 4 * 1.25, 0]);
    expect(await at('bilinear', 4.5, 1.5)).toEqual([36, 0]);
    // If one centre has no value, the remaining three are used.
    const [[value, missing]] = [await at('bilinear', 3.75, 3.75) as [number, number]];
    expect(missing).toBe(1);
    expect(value).toBeCloseTo((plane(4, 3) * 0.25 * 0.75 + plane(3, 4) * 0.75 * 0.25 + plane(4, 4) * 0.25 * 0.25) / (1 - 0.75 * 0.75), 10);
    expect(await at('bilinear', 0.2, 0.2)).toEqual([0, 3]);
  });
});
