/**
 * Reads VIIRS annual composites in HDF5 (VNP46A4, VJ146A4) with h5wasm, the HDF5 library as WebAssembly. A tile is 10° wide and high. The column and row in the
 * file's name determine the tile's position, because the file has no georeference that GDAL supports. Format: Black Marble User Guide 2.0 (NASA, 2024).
 */
import { Dataset, File, ready } from 'h5wasm/node';
import { inputError, type MappaleError } from '../errors.ts';
import type { Cells, Raster, SampleType } from './raster.ts';

/** Name of the dataset with the annual mean radiance of snow-free nights at all viewing angles. */
const DATASET = 'HDFEOS/GRIDS/VIIRS_Grid_DNB_2d/Data Fields/AllAngle_Composite_Snow_Free';
/** Matches the column and row of a tile in the file name. Column 0 starts at 180° W, and row 0 at 90° N. */
const PLACE = /(?:^|[._])h(\d{2})v(\d{2})(?=[._])/;
const TILE_DEGREES = 10;
const COLUMNS = 36;
const ROWS = 18;
/**
 * Maximum number of cells in a row or column. A row of a tile has 2,400 cells of 15″. A row with more than twice as many cells belongs to a different product.
 */
const MOST_CELLS_ACROSS = 6_000;
/** Number of rows in a block if the dataset has no chunks. */
const PLAIN_ROWS = 64;
/** Cell types by NumPy's type code, such as `<H`. The sign `<` means little-endian. */
const TYPES: Readonly<Record<string, SampleType>> = { '<H': 'uint16', '<h': 'int16', '<f': 'float32', '<d': 'float64' };
/** Scale and fill value for a file without these attributes, from the user guide. Collection 1 has integers, and collection 2 has floats. */
const INTEGERS = { scale: 0.1, noData: 65_535 };
const FLOATS = { scale: 1, noData: -999.9 };

/**
 * Opens a VIIRS tile. @param at name of the raster in messages @param name published name, with the tile's position
 * @throws input errors `RASTER_CONTENT`, `RASTER_DAMAGED`, `RASTER_PLACE`, `RASTER_SAMPLES`, `RASTER_TOO_LARGE`
 */
export async function openViirs(path: string, at: string, name: string): Promise<Raster> {
  const refused: Refuse = (code, message, expected, found, hint) => inputError(message, { code, at, detail: `expected ${expected}, found ${found}`, hint });
  const [column, row] = tileIn(name, refused);
  // Without this call, the library prints errors instead of throwing exceptions.
  (await ready).activate_throwing_error_handler();
  const file = unlessDamaged(at, () => new File(path, 'r'));
  const close = async (): Promise<void> => void unlessDamaged(at, () => file.close());
  try {
    const dataset = unlessDamaged(at, () => file.get(DATASET));
    if (!(dataset instanceof Dataset)) {
      throw refused('RASTER_CONTENT', 'the HDF5 file is a different product', `the dataset ${DATASET}`, 'none', 'Download VNP46A4 or VJ146A4, the annual composite.');
    }
    const layout = layoutOf(unlessDamaged(at, () => factsOf(dataset)), refused);
    const { width, height, noData, sampleType, blockWidth, blockHeight } = layout;
    const [west, north] = [column * TILE_DEGREES - 180, 90 - row * TILE_DEGREES];
    return {
      grid: {
        epsg: 4326, width, height, transform: [west, TILE_DEGREES / width, 0, north, 0, -TILE_DEGREES / height], noData, sampleType, blockWidth, blockHeight,
      },
      readBlock: blockReader(dataset, layout, at),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the error for an unusable file. */
type Refuse = (code: string, message: string, expected: string, found: string, hint: string) => MappaleError;

/** Calls `read`. @throws input error `RASTER_DAMAGED` if the HDF5 library throws an error */
function unlessDamaged<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw inputError('the raster is damaged', {
      code: 'RASTER_DAMAGED', at, detail: `expected an HDF5 that can be read, found: ${reasonOf(error)}`,
      hint: 'The download was probably cut short. Download the file again and compare its size with the publisher\'s.', cause: error,
    });
  }
}

/** Returns the column and row of a tile from the file name. @throws input error `RASTER_PLACE` */
function tileIn(name: string, refused: Refuse): readonly [column: number, row: number] {
  const [, column = NaN, row = NaN] = (PLACE.exec(name) ?? []).map(Number);
  if (column < COLUMNS && row < ROWS) return [column, row];
  throw refused('RASTER_PLACE', 'the name does not contain the tile\'s position', 'column and row of the tile, as in h19v04', JSON.stringify(name), 'Use the published name of the file.');
}

/** Size of a dataset and of its blocks in cells, with the cell type, scale and fill value. */
interface Layout extends Pick<Raster['grid'], 'width' | 'height' | 'sampleType' | 'blockWidth' | 'blockHeight'> {
  readonly scale: number;
  readonly noData: number;
}

/** @throws input errors `RASTER_SAMPLES`, `RASTER_TOO_LARGE` */
function layoutOf({ shape, chunks, dtype, scale, noData }: Facts, refused: Refuse): Layout {
  const sampleType = typeof dtype === 'string' ? TYPES[dtype] : undefined;
  if (sampleType === undefined) {
    throw refused('RASTER_SAMPLES', 'the raster has cells of an unsupported type', Object.values(TYPES).join(', '), JSON.stringify(dtype), 'Download VNP46A4 or VJ146A4, the annual composite.');
  }
  const [height = 0, width = 0] = shape;
  const [blockHeight = 0, blockWidth = 0] = chunks ?? [Math.min(PLAIN_ROWS, height), width];
  if (shape.length !== 2 || ![height, width, blockHeight, blockWidth].every((cells) => cells >= 1 && cells <= MOST_CELLS_ACROSS)) {
    throw refused('RASTER_TOO_LARGE', 'the raster has an impossible size', `1 to ${MOST_CELLS_ACROSS} columns and rows`, `${shape.join(' × ')} in blocks of ${blockHeight} × ${blockWidth}`, 'Download the file again.');
  }
  return { width, height, sampleType, blockWidth, blockHeight, scale, noData };
}

/** Returns the function that reads one block of a dataset. */
function blockReader(dataset: Dataset, { width, height, sampleType, blockWidth, blockHeight, scale, noData }: Layout, at: string): Raster['readBlock'] {
  const Held = scale !== 1 || sampleType === 'float64' ? Float64Array : Float32Array;
  // Compares fill value and cells as 32-bit floats, because the fill value may have more digits than the cells.
  const [declared, usual] = [Math.fround(noData), Math.fround(sampleType.startsWith('float') ? FLOATS.noData : noData)];
  return async (bx, by): Promise<Cells> => {
    const cells = new Held(blockWidth * blockHeight).fill(NaN);
    const [x, y] = [bx * blockWidth, by * blockHeight];
    const [columns, rows] = [Math.min(blockWidth, width - x), Math.min(blockHeight, height - y)];
    const read = unlessDamaged(at, () => dataset.slice([[y, y + rows], [x, x + columns]])) as ArrayLike<number>;
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const value = read[row * columns + column] ?? NaN;
        const rounded = Math.fround(value);
        if (rounded !== declared && rounded !== usual && rounded !== -9999 && Number.isFinite(value)) cells[row * blockWidth + column] = value * scale;
      }
    }
    return cells;
  };
}

interface Facts {
  readonly shape: readonly number[];
  /** Size of the HDF5 chunks in cells; null if the dataset has no chunks. */
  readonly chunks: readonly number[] | null;
  readonly dtype: unknown;
  readonly scale: number;
  readonly noData: number;
}

function factsOf(dataset: Dataset): Facts {
  const { shape, chunks } = dataset.metadata;
  const { dtype } = dataset;
  const stated = dtype === '<H' || dtype === '<h' ? INTEGERS : FLOATS;
  /** Returns an attribute as a number; null if missing or not a number. Rounds to 7 digits, because the 32-bit float 0.1 is read as 0.10000000149. */
  const number = (name: string): number | null => {
    const value = name in dataset.attrs ? dataset.get_attribute(name, false) : null;
    const found = typeof value === 'object' && value !== null ? (value as ArrayLike<unknown>)[0] : value;
    const read = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
    return typeof read === 'number' && Number.isFinite(read) ? Number(read.toPrecision(7)) : null;
  };
  return {
    shape: shape ?? [], chunks, dtype, scale: number('scale_factor') || stated.scale, noData: number('_FillValue') ?? stated.noData,
  };
}

/** Returns the library's most specific error message on one line. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n');
  const innermost = lines.filter((line) => /^\s*#\d+:/.test(line)).at(-1) ?? lines[0] ?? '';
  return innermost.replace(/^\s*#\d+:.*?\(\): /, '').trim();
}
