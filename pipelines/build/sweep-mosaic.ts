/**
 * Reads all rasters on one grid as one raster (a mosaic). A window may cross the edges of tiles. A cache of limited size bounds the memory, however large the
 * files are.
 */
import type { Raster } from '../formats/raster.ts';

/** Largest number of bytes of decoded blocks that are kept. */
const CACHE_BYTES = 128 * 1024 * 1024;
/** Number of bytes to read at once. A small block is read with the blocks to its south, which are needed next. A block is often a single row of cells. */
const AHEAD_BYTES = 512 * 1024;
/** Largest number of open files. Four tiles meet at a corner. While a raster in a zip is open, its unpacked copy may use disk space. */
const OPEN = 4;

/** A raster, with its properties as stored in the layer. */
export interface Tile {
  readonly model: number;
  readonly name: string;
  readonly releaseId: number;
  readonly memberId: number;
  readonly position: number;
  readonly epsg: number;
  readonly width: number;
  readonly height: number;
  /** North-western corner and cell size, in the units of the CRS. */
  readonly west: number;
  readonly north: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly blockWidth: number;
  readonly blockHeight: number;
  /** Opens the file; null if no file with the content of the loaded file was found. */
  readonly open: (() => Promise<Raster>) | null;
}

type Block = Float32Array | Float64Array;

/** A tile on the grid of its mosaic. */
interface Placed {
  readonly tile: Tile;
  /** Column and row of the tile's north-western cell in the mosaic. */
  readonly column: number;
  readonly row: number;
  /** Number of blocks in one row of the tile. */
  readonly across: number;
  /** Number of the tile's first block. Blocks are numbered across all tiles. */
  readonly firstBlock: number;
}

/** A cache of decoded blocks. The least recently used blocks are dropped first. Files are opened when a block is needed. */
export class Blocks {
  /** A requested block moves to the young half. When the young half is full, the old half is dropped, and the young half becomes the old half. */
  #young = new Map<number, Block>();
  #old = new Map<number, Block>();
  #youngBytes = 0;
  readonly #halfBytes: number;
  readonly #open = new Map<Tile, Raster>();
  #numbered = 0;
  /** Number of bytes that were read, for measurements. */
  bytesRead = 0;

  constructor(cacheBytes = CACHE_BYTES) {
    this.#halfBytes = cacheBytes / 2;
  }

  /** Reserves consecutive numbers for the blocks of a tile. @returns the first number */
  number(blocks: number): number {
    this.#numbered += blocks;
    return this.#numbered - blocks;
  }

  get(number: number): Block | undefined {
    const block = this.#young.get(number);
    if (block !== undefined) return block;
    const old = this.#old.get(number);
    if (old !== undefined) this.#keep(number, old);
    return old;
  }

  async read({ tile, across, firstBlock }: Placed, number: number): Promise<Block> {
    const index = number - firstBlock;
    const raster = await this.#raster(tile);
    const column = index % across;
    const take = async (row: number): Promise<Block> => {
      const block = await raster.readBlock(column, row);
      this.bytesRead += block.byteLength;
      this.#keep(firstBlock + row * across + column, block);
      return block;
    };
    const first = Math.floor(index / across);
    const blockBytes = tile.blockWidth * tile.blockHeight * Float32Array.BYTES_PER_ELEMENT;
    const end = Math.min(Math.ceil(tile.height / tile.blockHeight), first + Math.min(AHEAD_BYTES, this.#halfBytes / 2) / blockBytes);
    const coming: Promise<Block>[] = [];
    for (let row = first + 1; row < end && this.get(firstBlock + row * across + column) === undefined; row += 1) coming.push(take(row));
    const [block] = await Promise.all([take(first), ...coming]);
    return block;
  }

  async close(): Promise<void> {
    this.#young.clear();
    this.#old.clear();
    for (const raster of this.#open.values()) await raster.close();
    this.#open.clear();
  }

  #keep(number: number, block: Block): void {
    if (this.#youngBytes + block.byteLength > this.#halfBytes && this.#youngBytes > 0) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(number, block);
    this.#youngBytes += block.byteLength;
  }

  async #raster(tile: Tile): Promise<Raster> {
    let raster = this.#open.get(tile);
    // Moves the file to the end, because the first file in the map is closed first.
    this.#open.delete(tile);
    if (raster === undefined) {
      if (tile.open === null) throw new Error(`raster ${tile.name} is needed, but its file is missing or has changed`);
      for (const [other, opened] of this.#open) {
        if (this.#open.size < OPEN) break;
        this.#open.delete(other);
        await opened.close();
      }
      raster = await tile.open();
    }
    this.#open.set(tile, raster);
    return raster;
  }
}

/** Tiles on one grid. Columns and rows are counted from the north-western corner of the first tile. */
export class Mosaic {
  readonly model: number;
  readonly epsg: number;
  readonly west: number;
  readonly north: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** Tiles, sorted by name. If tiles overlap, a cell has the value of the first tile with data in this cell. */
  readonly tiles: readonly Placed[];
  readonly #blocks: Blocks;
  /** Tiles that the last call of `look` selected. */
  #near: readonly Placed[] = [];
  /**
   * First and last column, first and last row of the only tile with cells in the last window. Null if several tiles have cells there, or if this tile overlaps
   * others.
   */
  #alone: readonly [number, number, number, number] | null = null;

  /** @param tiles the tiles whose cells coincide */
  constructor(tiles: readonly [Tile, ...Tile[]], blocks: Blocks) {
    const [first] = tiles;
    this.model = first.model;
    this.epsg = first.epsg;
    this.west = first.west;
    this.north = first.north;
    this.cellWidth = first.cellWidth;
    this.cellHeight = first.cellHeight;
    this.#blocks = blocks;
    this.tiles = tiles.map((tile) => {
      const across = Math.ceil(tile.width / tile.blockWidth);
      return {
        tile, across,
        column: Math.round((tile.west - this.west) / this.cellWidth),
        row: Math.round((this.north - tile.north) / this.cellHeight),
        firstBlock: blocks.number(across * Math.ceil(tile.height / tile.blockHeight)),
      };
    });
  }

  /** Returns the tiles that have cells in a window, sorted by name. */
  tilesIn(firstColumn: number, lastColumn: number, firstRow: number, lastRow: number): readonly Placed[] {
    return this.tiles.filter(({ column, row, tile: { width, height } }) =>
      column <= lastColumn && column + width > firstColumn && row <= lastRow && row + height > firstRow);
  }

  /** Selects the tiles for the following calls of `row`. @returns false if the file of a tile is missing */
  look(firstColumn: number, lastColumn: number, firstRow: number, lastRow: number): boolean {
    // Most shapes are in the same tile as the previous shape.
    const alone = this.#alone;
    if (alone === null || firstColumn < alone[0] || lastColumn > alone[1] || firstRow < alone[2] || lastRow > alone[3]) {
      this.#near = this.tilesIn(firstColumn, lastColumn, firstRow, lastRow);
      this.#alone = null;
      const [only] = this.#near;
      if (only !== undefined && this.#near.length === 1) {
        const ground = [only.column, only.column + only.tile.width - 1, only.row, only.row + only.tile.height - 1] as const;
        if (this.tilesIn(...ground).length === 1) this.#alone = ground;
      }
    }
    return this.#near.every(({ tile }) => tile.open !== null);
  }

  /**
   * Writes the values of consecutive cells of one row into an array; NaN for missing cells.
   * @param into array that receives the values
   * @param origin array that receives, for each cell with a value, the index of its tile in `tiles`; null if not needed
   * @returns a promise if blocks must be read first, otherwise undefined
   */
  row(row: number, firstColumn: number, count: number, into: Float64Array, origin: Int32Array | null): Promise<void> | undefined {
    const missing = this.#fill(row, firstColumn, count, into, origin, null);
    return missing === null ? undefined : this.#read(missing, row, firstColumn, count, into, origin);
  }

  async #read(
    first: readonly [Placed, number][], row: number, firstColumn: number, count: number, into: Float64Array, origin: Int32Array | null,
  ): Promise<void> {
    // Blocks are read one after another, so that no file is closed during a read. The blocks are kept in `held`, because the blocks of one row may exceed the
    // cache.
    const held = new Map<number, Block>();
    for (let missing: readonly [Placed, number][] | null = first; missing !== null; missing = this.#fill(row, firstColumn, count, into, origin, held)) {
      for (const [placed, number] of missing) held.set(number, await this.#blocks.read(placed, number));
    }
  }

  /** Fills in the cells. @returns the blocks that must be read first, or null if all cells are filled in */
  #fill(
    row: number, firstColumn: number, count: number, into: Float64Array, origin: Int32Array | null, held: ReadonlyMap<number, Block> | null,
  ): [Placed, number][] | null {
    const missing: [Placed, number][] = [];
    into.fill(NaN, 0, count);
    for (const placed of this.#near) {
      const { tile: { width, height, blockWidth, blockHeight }, across, firstBlock } = placed;
      const y = row - placed.row;
      const from = Math.max(firstColumn - placed.column, 0);
      const end = Math.min(firstColumn + count - placed.column, width);
      if (y < 0 || y >= height || from >= end) continue;
      const line = firstBlock + Math.floor(y / blockHeight) * across;
      const offset = (y % blockHeight) * blockWidth;
      const shift = placed.column - firstColumn;
      for (let x = from; x < end;) {
        const across = Math.floor(x / blockWidth);
        const number = line + across;
        const block = held?.get(number) ?? this.#blocks.get(number);
        const stop = Math.min(end, (across + 1) * blockWidth);
        if (block === undefined) missing.push([placed, number]);
        else {
          for (let at = offset + x - across * blockWidth, cell = x + shift; cell < stop + shift; at += 1, cell += 1) {
            if (Number.isNaN(into[cell]!) && !Number.isNaN(block[at]!)) {
              into[cell] = block[at]!;
              if (origin !== null) origin[cell] = this.tiles.indexOf(placed);
            }
          }
        }
        x = stop;
      }
    }
    return missing.length === 0 ? null : missing;
  }
}

/**
 * Returns whether two tiles have the same model and CRS, and their cells coincide. Allows a difference of a hundredth of a cell, because files contain rounded
 * corners.
 */
function isOnGridOf(first: Tile, tile: Tile): boolean {
  const sizes = [[tile.cellWidth / first.cellWidth, tile.width], [tile.cellHeight / first.cellHeight, tile.height]] as const;
  const corners = [(tile.west - first.west) / first.cellWidth, (first.north - tile.north) / first.cellHeight];
  return tile.model === first.model && tile.epsg === first.epsg
    && sizes.every(([ratio, cells]) => Math.abs(ratio - 1) * cells < 0.01)
    && corners.every((cells) => Math.abs(cells - Math.round(cells)) < 0.01);
}

/**
 * Groups tiles into mosaics. A mosaic consists of tiles with the same model and CRS whose cells coincide. The mosaics are read one after another.
 * @param tiles sorted by model and name
 */
export function mosaicsOf(tiles: readonly Tile[], blocks: Blocks): Mosaic[] {
  const groups: [Tile, ...Tile[]][] = [];
  for (const tile of tiles) {
    const group = groups.find(([first]) => isOnGridOf(first, tile));
    if (group === undefined) groups.push([tile]);
    else group.push(tile);
  }
  return groups.map((group) => new Mosaic(group, blocks));
}
