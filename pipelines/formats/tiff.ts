/**
 * Reads the blocks of the first image of a GeoTIFF or BigTIFF with one band, in either byte order. At most one block is in memory. Format: TIFF 6.0 (1992) with
 * its Technical Notes 1 and 3; OGC GeoTIFF 1.1 (19-008r4); GDAL's tags 42112 and 42113.
 */
import type { FileHandle } from 'node:fs/promises';
import type { Cells, Raster, RasterGrid, SampleType } from './raster.ts';
import { COMPRESSIONS, unpack } from './tiff-blocks.ts';
import { placeOf } from './tiff-place.ts';
import { Image, RasterFile, TiffReader, type Directory } from './tiff-tags.ts';

/** Numbers of the TIFF tags. */
const TAG = {
  subfileType: 254, width: 256, height: 257, bits: 258, compression: 259, fillOrder: 266, stripOffsets: 273, bands: 277, rowsPerStrip: 278,
  stripBytes: 279, predictor: 317, tileWidth: 322, tileHeight: 323, tileOffsets: 324, tileBytes: 325, sampleFormat: 339, metadata: 42_112, noData: 42_113,
} as const;

const MOST_IMAGES = 64;
/** Flag in the tag NewSubfileType that marks an image as a mask. */
const MASK = 4;
/** Maximum number of cells in a row or column. The finest published global grid (1″) has 1,296,000 columns. */
const MOST_CELLS_ACROSS = 4_000_000;
/** Maximum size of a decompressed block in bytes. A map of 50 km × 50 km with cells of 10 m and 4 bytes, stored as one strip, needs 100 MB. */
const MOST_BLOCK_BYTES = 256 * 1024 * 1024;
/** Maximum size in bytes of a block of uncompressed rows. A larger strip is read as several blocks of the same height, with at least one row each. */
const PLAIN_BLOCK_BYTES = 1_048_576;

const ARRAYS = {
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, float32: Float32Array,
  float64: Float64Array,
} as const;
/** Cell types, by SampleFormat and number of bits. */
const SAMPLES: Readonly<Record<string, SampleType>> = {
  '1/8': 'uint8', '1/16': 'uint16', '1/32': 'uint32', '2/8': 'int8', '2/16': 'int16', '2/32': 'int32', '3/32': 'float32', '3/64': 'float64',
};
/** Cell types with values that a 32-bit float cannot represent exactly. */
const WIDE: readonly SampleType[] = ['int32', 'uint32', 'float64'];

/**
 * Opens a TIFF. @param handle the handle of the file, which the raster closes @param at name of the raster in messages
 * @throws input errors `RASTER_BANDS`, `RASTER_COMPRESSION`, `RASTER_CRS`, `RASTER_DAMAGED`, `RASTER_MASK`, `RASTER_NO_DATA`, `RASTER_PLACE`, `RASTER_ROTATED`,
 * `RASTER_SAMPLES`, `RASTER_SCALE`, `RASTER_SOUTH_UP`, `RASTER_TOO_LARGE`
 */
export async function openTiff(handle: FileHandle, at: string): Promise<Raster> {
  const file = new RasterFile(handle, (await handle.stat()).size, at);
  const mark = (await file.bytes(0, 4, 'header')).toString('latin1');
  const reader = new TiffReader(file, { little: mark.startsWith('II'), big: mark.includes('+') });
  const directory = await reader.directory(await reader.firstDirectory());
  await refuseMask(reader, directory);
  const image = new Image(reader, directory);
  const [width, height] = [await image.whole(TAG.width, 0), await image.whole(TAG.height, 0)];
  if (!(width >= 1 && height >= 1 && width <= MOST_CELLS_ACROSS && height <= MOST_CELLS_ACROSS)) {
    throw file.refused('RASTER_TOO_LARGE', 'the raster has an impossible size', `1 to ${MOST_CELLS_ACROSS} columns and rows`, `${width} × ${height}`, 'Download the file again.');
  }
  const sampleType = await sampleTypeOf(image);
  const blocks = await blocksOf(image, reader, { width, height, sampleType });
  const scaling = await scalingOf(image);
  const noData = await noDataOf(image);
  const grid: RasterGrid = { ...await placeOf(image), width, height, noData, sampleType, blockWidth: blocks.width, blockHeight: blocks.height };
  const [across, down] = [Math.ceil(width / blocks.width), Math.ceil(height / blocks.height)];
  // Rounds the no-data value to the precision of the cells.
  const none = sampleType === 'float32' && noData !== null ? Math.fround(noData) : noData;
  const Held = scaling !== null || WIDE.includes(sampleType) ? Float64Array : Float32Array;
  return {
    grid,
    async readBlock(column, row): Promise<Cells> {
      if (!(column >= 0 && column < across && row >= 0 && row < down)) throw new RangeError(`no block ${column} ${row} of ${across} × ${down}`);
      const cells = new Held(blocks.width * blocks.height).fill(NaN);
      const rows = Math.min(blocks.height, height - row * blocks.height);
      const columns = Math.min(blocks.width, width - column * blocks.width);
      const bytes = await blocks.read(column, row, rows);
      if (bytes === null) return cells;
      const read = new ARRAYS[sampleType](bytes.buffer as ArrayBuffer, bytes.byteOffset, rows * blocks.width);
      for (let y = 0; y < rows; y += 1) {
        for (let i = y * blocks.width, end = i + columns; i < end; i += 1) {
          const value = read[i] ?? NaN;
          if (value === none || value === -9999 || !Number.isFinite(value)) continue;
          cells[i] = scaling === null ? value : value * scaling.scale + scaling.offset;
        }
      }
      return cells;
    },
    close: () => handle.close(),
  };
}

/** Refuses a raster with a mask, because a mask may exclude cells that have values. @throws input error `RASTER_MASK` */
async function refuseMask(reader: TiffReader, first: Directory): Promise<void> {
  const seen = new Set<number>();
  for (let { next } = first; next !== 0 && !seen.has(next) && seen.size < MOST_IMAGES;) {
    seen.add(next);
    const directory = await reader.directory(next);
    if (((await new Image(reader, directory).whole(TAG.subfileType, 0)) & MASK) !== 0) {
      throw reader.file.refused('RASTER_MASK', 'the raster has a mask', 'a no-data value', 'an internal mask',
        'Write the mask into the cells: gdalwarp -dstnodata -9999 OLD.tif NEW.tif');
    }
    ({ next } = directory);
  }
}

async function sampleTypeOf(image: Image): Promise<SampleType> {
  const bands = await image.whole(TAG.bands, 1);
  if (bands !== 1) {
    throw image.file.refused('RASTER_BANDS', 'the raster has several bands', 'one band', String(bands), 'Extract the correct band: gdal_translate -b 1 OLD.tif NEW.tif');
  }
  const [format, bits] = [await image.whole(TAG.sampleFormat, 1), await image.whole(TAG.bits, 1)];
  const type = SAMPLES[`${format}/${bits}`];
  if (type === undefined || await image.whole(TAG.fillOrder, 1) !== 1) {
    const kind = ['sample format 0', 'unsigned integers', 'integers', 'floats'][format] ?? `sample format ${format}`;
    throw image.file.refused('RASTER_SAMPLES', 'the raster has cells of an unsupported type', 'integers of 8, 16 or 32 bits, or floats of 32 or 64 bits', `${bits} bits of ${kind}`,
      'Convert the raster: gdal_translate -ot Float32 OLD.tif NEW.tif');
  }
  return type;
}

interface Blocks {
  readonly width: number;
  readonly height: number;
  /** Reads the bytes of a block. @returns the decompressed rows in the machine's byte order; null if the block was never written */
  read(column: number, row: number, rows: number): Promise<Buffer | null>;
}

async function blocksOf(
  image: Image, { little }: Pick<TiffReader, 'little'>, { width, height, sampleType }: Pick<RasterGrid, 'width' | 'height' | 'sampleType'>,
): Promise<Blocks> {
  const { file } = image;
  const sampleBytes = ARRAYS[sampleType].BYTES_PER_ELEMENT;
  const tiled = image.has(TAG.tileOffsets);
  const blockWidth = tiled ? await image.whole(TAG.tileWidth, 0) : width;
  const stored = tiled ? await image.whole(TAG.tileHeight, 0) : Math.min(height, await image.whole(TAG.rowsPerStrip, height));
  const code = await image.whole(TAG.compression, 1);
  const compression = COMPRESSIONS[code];
  const predictor = compression === 'none' ? 1 : await image.whole(TAG.predictor, 1);
  if (compression === undefined || ![1, 2, 3].includes(predictor) || (predictor === 3 && !sampleType.startsWith('float'))) {
    throw file.refused('RASTER_COMPRESSION', 'the raster has an unsupported compression', 'none, LZW or DEFLATE, with predictor 1, 2, or 3 of floats',
      `number ${code}, predictor ${predictor}`, 'Recompress the raster: gdal_translate -co COMPRESS=DEFLATE OLD.tif NEW.tif');
  }
  if (predictor === 3 && !little) {
    throw file.refused('RASTER_COMPRESSION', 'the values of the raster are ambiguous', 'floats with predictor 3 in a little-endian file', 'a big-endian file, in which libtiff 4.5 reads other numbers than libtiff wrote',
      'Recompress the original: gdal_translate -co COMPRESS=DEFLATE OLD.tif NEW.tif');
  }
  const rowBytes = blockWidth * sampleBytes;
  const blockHeight = compression === 'none' && !tiled ? divisor(stored, Math.floor(PLAIN_BLOCK_BYTES / rowBytes)) : stored;
  if (!(blockWidth >= 1 && stored >= 1 && rowBytes * blockHeight <= MOST_BLOCK_BYTES)) {
    throw file.refused('RASTER_TOO_LARGE', 'the raster has blocks of an impossible size', `1 to ${MOST_BLOCK_BYTES} bytes`, `${blockWidth} × ${stored} cells`,
      'Write the raster in smaller blocks: gdal_translate -co TILED=YES OLD.tif NEW.tif');
  }
  const across = Math.ceil(width / blockWidth);
  const count = across * Math.ceil(height / stored);
  const offsets = await image.table(tiled ? TAG.tileOffsets : TAG.stripOffsets, count);
  const sizes = await image.table(tiled ? TAG.tileBytes : TAG.stripBytes, count);
  const parts = stored / blockHeight;
  return {
    width: blockWidth, height: blockHeight,
    async read(column, row, rows) {
      const index = Math.floor(row / parts) * across + column;
      const [offset = 0, size = 0] = [offsets[index], sizes[index]];
      if (offset === 0 && size === 0) return null;
      const before = (row % parts) * blockHeight * rowBytes;
      const least = (tiled ? blockHeight : rows) * rowBytes;
      const packed = compression === 'none' ? least : size;
      // Compressed data is rarely larger than decompressed data, so a much larger size means damage.
      if ((compression === 'none' && before + least > size) || packed > 2 * rowBytes * blockHeight + 65_536) throw file.damaged(`a block of ${least} bytes`, `${size} bytes`);
      const bytes = await file.bytes(offset + before, packed, 'block');
      return unpack(bytes, { compression, predictor, little, sampleBytes, width: blockWidth, least, most: rowBytes * blockHeight }).catch((error: unknown) => {
        throw file.damaged(`a block of ${least} bytes at byte ${offset}`, error instanceof Error ? error.message : String(error), error);
      });
    },
  };
}

/** Returns the largest divisor of a number that does not exceed a limit. */
function divisor(of: number, most: number): number {
  let found = Math.max(1, Math.min(of, most));
  while (of % found !== 0) found -= 1;
  return found;
}

/** Returns scale and offset from GDAL's metadata of a band; null if the values need no scaling. @throws input error `RASTER_SCALE` */
async function scalingOf(image: Image): Promise<{ readonly scale: number; readonly offset: number } | null> {
  const text = await image.text(TAG.metadata) ?? '';
  const item = (role: string): string | undefined => [...text.matchAll(/<Item ([^<>]*)>([^<]*)<\/Item>/g)].find(([, attributes = '']) => attributes.includes(`role="${role}"`))?.[2];
  const [scale, offset] = [item('scale'), item('offset')];
  if (scale === undefined && offset === undefined) return null;
  const found = { scale: Number(scale ?? 1), offset: Number(offset ?? 0) };
  if (Number.isFinite(found.scale) && Number.isFinite(found.offset) && found.scale !== 0) return found.scale === 1 && found.offset === 0 ? null : found;
  throw image.file.refused('RASTER_SCALE', 'the raster\'s scale is not a number', 'a scale and an offset', JSON.stringify([scale, offset]), 'Write unscaled values: gdal_translate -unscale OLD.tif NEW.tif');
}

/**
 * Returns the no-data value. Returns null if the file defines none, or if the value is NaN or infinite, because such cells never have a value.
 * @throws input error `RASTER_NO_DATA`
 */
async function noDataOf(image: Image): Promise<number | null> {
  const text = (await image.text(TAG.noData))?.trim() ?? '';
  if (text === '' || /^[+-]?nan(?:\(\w*\))?$|^-?1[.,]#/i.test(text)) return null;
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return null;
  const value = Number(text);
  if (!Number.isNaN(value)) return value;
  throw image.file.refused('RASTER_NO_DATA', 'the raster\'s no-data value is not a number', 'a number or nan', JSON.stringify(text.slice(0, 40)), 'Correct the value: gdal_edit.py -a_nodata -9999 FILE');
}
