/**
 * Reads rasters without GDAL, block by block: a GeoTIFF (`tiff.ts`) or a VIIRS tile in HDF5 (`viirs-hdf5.ts`), plain or inside a zip. The reader refuses a
 * raster whose position is ambiguous, with an error that names the raster.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inputError } from '../errors.ts';
import { openTiff } from './tiff.ts';
import { ZipArchive } from './zip.ts';

export type SampleType = 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'float32' | 'float64';

export interface RasterGrid {
  /** EPSG number of the CRS. The first coordinate of `transform` is easting or longitude. */
  readonly epsg: number;
  /** Number of cells from west to east. */
  readonly width: number;
  /** Number of cells from north to south. */
  readonly height: number;
  /** Transform in GDAL's form, for corners of cells: west, width of a cell, 0, north, 0, negative height of a cell. The first row is the northernmost. */
  readonly transform: readonly [west: number, cellWidth: number, rowRotation: 0, north: number, columnRotation: 0, minusCellHeight: number];
  /** Value that means no data; null if the file defines no such value. */
  readonly noData: number | null;
  readonly sampleType: SampleType;
  /** Size of the file's blocks in cells. A block is a tile or a strip of rows. */
  readonly blockWidth: number;
  readonly blockHeight: number;
}

export type Cells = Float32Array | Float64Array;

/** An open raster. The caller must close the raster, because the raster may be in a temporary file. */
export interface Raster {
  readonly grid: RasterGrid;
  /**
   * Reads a block. @returns all cells of the block, row by row from the north-west. NaN for a cell that is outside the raster, or whose value is the no-data
   * value, −9999 or not finite
   * @throws input error `RASTER_DAMAGED`
   */
  readBlock(column: number, row: number): Promise<Cells>;
  close(): Promise<void>;
}

const TIFF_MARKS = ['49492a00', '4d4d002a', '49492b00', '4d4d002b'];
const HDF5_MARK = '894844460d0a1a0a';

/** Returns whether a file with these first bytes is a TIFF or HDF5 file. */
export function isRaster(head: Buffer): boolean {
  const mark = head.toString('hex', 0, 8);
  return mark === HDF5_MARK || TIFF_MARKS.some((each) => mark.startsWith(each));
}

/**
 * Opens a raster.
 * @param path path of the raster or of the zip
 * @param member path inside the zip, or empty for a plain raster. The raster keeps the member in a temporary file until `close`
 * @throws input errors `RASTER_*` with the reason, errors of `ZipArchive`; MappaleError `TEMP_FULL` (exit 2)
 */
export async function openRaster(path: string, member: string = ''): Promise<Raster> {
  if (member === '') return openPlain(path, basename(path), basename(path));
  const folder = await mkdtemp(join(tmpdir(), 'mappale-raster-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    // Uses a short name, because the member's name may be too long for this file system.
    const spooled = join(folder, 'member');
    const zip = await ZipArchive.open(path);
    try {
      await zip.spool(member, spooled);
    } finally {
      await zip.close();
    }
    const raster = await openPlain(spooled, `${basename(path)}!${member}`, basename(member));
    return { grid: raster.grid, readBlock: (column, row) => raster.readBlock(column, row), close: () => raster.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Opens a raster that is not in a zip. @param at name of the raster in messages @param name published file name, which contains the position of a VIIRS tile
 */
async function openPlain(path: string, at: string, name: string): Promise<Raster> {
  const handle = await open(path, 'r');
  let opened = false;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    const mark = buffer.toString('hex', 0, bytesRead);
    if (TIFF_MARKS.some((each) => mark.startsWith(each))) {
      const raster = await openTiff(handle, at);
      opened = true;
      return raster;
    }
    if (mark !== HDF5_MARK) {
      throw inputError('the file is not a raster', {
        code: 'RASTER_FORM', at, detail: `expected a TIFF or HDF5, found ${mark === '' ? 'an empty file' : `first bytes ${mark}`}`,
        hint: 'Download the file again. A login page or an error page may have been saved with the name of the file.',
      });
    }
    // Imports the HDF5 library only here, because the library is large and most runs read no HDF5 file.
    const { openViirs } = await import('./viirs-hdf5.ts');
    return await openViirs(path, at, name);
  } finally {
    if (!opened) await handle.close();
  }
}
