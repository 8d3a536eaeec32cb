/**
 * Reads the properties of rasters, but stores no cell values. A raster is one record, with the position and properties of the raster's cells. The reader reads
 * all blocks of cells over Italy once, so that the load already refuses a damaged file.
 */
import { basename } from 'node:path';
import { z } from 'zod';
import { inputError, stagedColumns, type Columns, type InputFile, type Layer, type LayerColumns, type MappaleError, type Probe, type Recognition, type SharedColumns, type Sink } from '../contract/source.ts';
import { isRaster, openRaster, type Raster } from '../formats/raster.ts';
import { isZip } from '../formats/zip.ts';
import { ITALY, isInDegrees } from './italy.ts';
import { newestEntry } from './packaging.ts';
import { firstIssue, shown } from './refusal.ts';

/**
 * Returns the columns of a raster that the staging table `raw_tile` and the layer of each raster source share.
 * @param unit unit of the values, as text
 */
function tileColumns(unit: string) {
  return {
    name: ['text not null', 'Name of the raster as published, without its extension. Where rasters overlap, the first by name counts.'],
    epsg: ['int4 not null', 'EPSG number of the CRS of the cells.'],
    width: ['int4 not null', 'Number of cells from west to east.'],
    height: ['int4 not null', 'Number of cells from north to south.'],
    west: ['float8 not null', 'Western edge of the first column, in units of the CRS.'],
    north: ['float8 not null', 'Northern edge of the first row, in units of the CRS.'],
    cell_width: ['float8 not null', 'Width of a cell, in units of the CRS.'],
    cell_height: ['float8 not null', 'Height of a cell, in units of the CRS. Rows run from north to south.'],
    // The type is text, because the database does not allow −9999 as a value.
    no_data: ['text', 'Value that the file uses for no data; null if the file declares none, or NaN.'],
    sample_type: ['text not null', 'Type of the numbers in the file.'],
    block_width: ['int4 not null', 'Number of columns of the blocks in which the file is stored.'],
    block_height: ['int4 not null', 'Number of rows of the blocks in which the file is stored.'],
    cells: ['int8 not null', 'Number of cells with a value, in blocks that overlap Italy.'],
    min_value: ['float8', `Lowest value of the cells in blocks that overlap Italy, ${unit}; null if no cell has a value.`],
    max_value: ['float8', `Highest value of the cells in blocks that overlap Italy, ${unit}; null if no cell has a value.`],
  } as const satisfies SharedColumns;
}

/**
 * Returns the definition of the layer with the rasters of a source.
 * @param description description of the rasters without a full stop at the end
 * @param unit unit of the values, as text
 * @param columns further columns of a raster
 * @param grid `one` if the cells of all rasters belong to one grid
 */
export function tileLayer({ description, unit, columns = {}, grid }: {
  readonly description: string; readonly unit: string; readonly columns?: LayerColumns; readonly grid?: 'one';
}): Layer {
  return {
    description: `${description}. The cells stay in the file and are read when parcels are built.`,
    position: 'Always 1, because a file contains one raster.',
    columns: { ...tileColumns(unit), ...columns, geom: ['geometry(polygon, 4326) not null', 'Extent of the raster, EPSG:4326.'] },
    checks: { overlaps: [6, 35, 19, 47.5], ...(grid === undefined ? {} : { grid }) },
  };
}

/** Columns of the staging table `raw_tile`. */
export const TILE_COLUMNS: Columns = stagedColumns(tileColumns(''));

/** Schema of the columns of a raster. Each source restricts the schema to the source's product. */
export const TILE = z.strictObject({
  name: z.string(),
  epsg: z.int(),
  width: z.int(),
  height: z.int(),
  west: z.number(),
  north: z.number(),
  cell_width: z.number(),
  cell_height: z.number(),
  no_data: z.string().nullable(),
  sample_type: z.string(),
  block_width: z.int(),
  block_height: z.int(),
  cells: z.int().min(1, 'expected cells with a value'),
  min_value: z.number().nullable(),
  max_value: z.number().nullable(),
});
export type Tile = z.infer<typeof TILE>;

/** Returns a schema for a cell size, which accepts rounding errors. @param words cell size as text, such as `10 m` */
export function cellsOf(size: number, words: string): z.ZodNumber {
  return z.number().refine((found) => Math.abs(found / size - 1) < 1e-5, `expected cells of ${words}`);
}

/** Name and date of a raster, found by looking into a file. */
export interface RasterLook {
  /** Published name, without extension. */
  readonly name: string;
  /** Newest date of an entry in the zip that contains the raster; an empty object for a plain file or entries without dates. */
  readonly dated: Pick<Recognition, 'dated'>;
}

/**
 * Returns the rasters of a file or zip. A raster has a name that matches the pattern, and starts with the signature of a TIFF or HDF5 file.
 * @param pattern pattern of a raster's file name, without folders
 */
export async function lookAtRasters(probe: Probe, pattern: RegExp): Promise<RasterLook[]> {
  const { entries, name, head } = probe;
  if (entries === null) return pattern.test(name) && isRaster(head) ? [{ name: stemOf(name), dated: {} }] : [];
  const dated = newestEntry(entries);
  const looks: RasterLook[] = [];
  for (const path of rasterPaths(entries, pattern)) {
    if (isRaster(await probe.headOf(path))) looks.push({ name: stemOf(path), dated: dated === undefined ? {} : { dated } });
  }
  return looks;
}

function rasterPaths(entries: readonly { readonly path: string; readonly isFolder: boolean }[], pattern: Pick<RegExp, 'test'>): string[] {
  return entries.filter(({ path, isFolder }) => !isFolder && pattern.test(basename(path))).map(({ path }) => path);
}

/** Returns a file name without folder and extension. */
function stemOf(path: string): string {
  return basename(path).replace(/\.(?:tiff?|h5|hdf5?)$/i, '');
}

/**
 * Reads a raster as one record. @param pattern pattern of the raster's file name. Exactly one entry of a zip must match @param schema schema of the columns,
 * whose messages state the expected values
 * @throws input errors of `openRaster`; `RASTER_MISSING`; `RASTER_OTHER`, or the code of the schema, for a different product; `RASTER_OTHER` for a raster
 * without values in Italy
 */
export async function readTile(file: InputFile, sink: Sink, pattern: Pick<RegExp, 'test'>, schema: z.ZodType<Tile>): Promise<void> {
  const facts = await factsOf(file, pattern);
  if (await sink.reuse(facts)) return;
  const at = facts.path === '' ? file.name : `${file.name}!${facts.path}`;
  const raster = await openRaster(file.path, facts.path);
  try {
    const member = await sink.member(facts);
    const tile = await tileOf(raster, stemOf(facts.path || file.name), (share) => sink.progress(share * file.size));
    // Refuses a raster in degrees without values in Italy. All blocks of a raster in metres are read, and the schema refuses a raster without values.
    if (tile.cells === 0 && isInDegrees(tile.epsg)) throw withoutItaly(raster, at);
    const checked = schema.safeParse(tile);
    if (!checked.success) {
      const { field, message, code } = firstIssue(checked.error);
      throw inputError('the content of the raster does not match its name', {
        code: code ?? 'RASTER_OTHER', at, detail: `${field}: ${message}, found ${shown(tile[field as keyof Tile])}`, hint: 'Compare the file with the download that npx mappale sources describes.',
      });
    }
    member.row('raw_tile', 1, Object.keys(TILE_COLUMNS).map((column) => checked.data[column as keyof Tile]));
    await member.close(1);
  } finally {
    await raster.close();
  }
}

function withoutItaly({ grid: { epsg, width, height, transform: [west, cellWidth, , north, , minusCellHeight] } }: Raster, at: string): MappaleError {
  const shown = (edge: number): string => String(Number(edge.toFixed(4)));
  const columns = `from ${shown(west)} to ${shown(west + width * cellWidth)} east`;
  const rows = `from ${shown(north + height * minusCellHeight)} to ${shown(north)} north`;
  return inputError('the raster has no values in Italy', {
    code: 'RASTER_OTHER', at, detail: `expected cells with a value in Italy, found none in a raster ${columns} and ${rows} (EPSG:${epsg})`,
    hint: 'Remove this file from the folder, or download the file that covers Italy.',
  });
}

async function factsOf(file: InputFile, pattern: Pick<RegExp, 'test'>): Promise<{ path: string; size: number; crc32?: number }> {
  if (!(await isZip(file.path))) return { path: '', size: file.size };
  const zip = await file.zip();
  try {
    const [path, ...others] = rasterPaths(zip.entries, pattern);
    if (path === undefined || others.length > 0) {
      throw inputError('the zip does not contain exactly one raster', {
        code: 'RASTER_MISSING', at: file.name, detail: `expected one, found ${path === undefined ? 'none' : [path, ...others].slice(0, 5).join(', ')}`,
        hint: 'Use the published zip with one raster, or extract the rasters.',
      });
    }
    const { size, crc32 } = zip.entry(path);
    return { path, size, crc32 };
  } finally {
    await zip.close();
  }
}

async function tileOf(raster: Raster, name: string, progress: (share: number) => void): Promise<Tile> {
  const { grid } = raster;
  const { epsg, width, height, transform: [west, cellWidth, , north, , minusCellHeight], blockWidth, blockHeight } = grid;
  const [across, down] = [Math.ceil(width / blockWidth), Math.ceil(height / blockHeight)];
  // Reads only the blocks over Italy of a raster in degrees, because Italy covers about a hundredth of a global raster.
  const within = (from: number, to: number, most: number): readonly [number, number] => [Math.max(0, Math.floor(from)), Math.min(most, Math.ceil(to))];
  const blockEast = blockWidth * cellWidth;
  const blockSouth = blockHeight * minusCellHeight;
  const [firstColumn, endColumn] = isInDegrees(epsg) ? within((ITALY.west - west) / blockEast, (ITALY.east - west) / blockEast, across) : [0, across];
  const [firstRow, endRow] = isInDegrees(epsg) ? within((ITALY.north - north) / blockSouth, (ITALY.south - north) / blockSouth, down) : [0, down];
  let [cells, least, most] = [0, Infinity, -Infinity];
  for (let row = firstRow; row < endRow; row += 1) {
    for (let column = firstColumn; column < endColumn; column += 1) {
      const block = await raster.readBlock(column, row);
      // Loops by index, because an iterator is several times slower for millions of cells.
      for (let i = 0; i < block.length; i += 1) {
        const value = block[i] ?? NaN;
        if (Number.isNaN(value)) continue;
        cells += 1;
        if (value < least) least = value;
        if (value > most) most = value;
      }
    }
    progress((row + 1 - firstRow) / (endRow - firstRow));
  }
  return {
    name, epsg, width, height, west, north, cell_width: cellWidth, cell_height: -minusCellHeight, no_data: grid.noData === null ? null : String(grid.noData),
    sample_type: grid.sampleType, block_width: blockWidth, block_height: blockHeight, cells,
    min_value: cells === 0 ? null : least, max_value: cells === 0 ? null : most,
  };
}
