/** Tests the raster reader on rasters of different formats, including rasters that GDAL wrote, and on damaged rasters. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { writeArrayBuffer } from 'geotiff';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { openRaster, type RasterGrid } from '../../pipelines/formats/raster.ts';
import { unpackLzw } from '../../pipelines/formats/tiff-blocks.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeGeoTiff, type RasterToWrite } from '../../pipelines/synthetic/raster-writer.ts';
import { writeViirs } from '../../pipelines/synthetic/viirs-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { testEnvironment } from '../harness/environment.ts';

const [WIDTH, HEIGHT] = [45, 37];
const HOLES = new Set([0, 7, WIDTH + 3, WIDTH * HEIGHT - 1]);

/** Returns the height of a cell of a hilly surface on which all heights differ. */
function hill(index: number): number {
  return Math.fround(700 + 300 * Math.sin(index / 11) + (index % 13) * 1.37);
}

let folder: string;
const path = (name: string): string => join(folder, name);

const base: RasterToWrite = {
  epsg: 32632, width: WIDTH, height: HEIGHT, west: 900_000, north: 4_650_370, cell: 10, noData: '-9999',
  row: (y) => Float32Array.from({ length: WIDTH }, (_, x) => (HOLES.has(y * WIDTH + x) ? -9999 : hill(y * WIDTH + x))),
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mappale-raster-test-'));
  writeGeoTiff(path('base.tif'), base);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function whole(file: string, member?: string): Promise<{ grid: RasterGrid; cells: number[] }> {
  const raster = await openRaster(file, member);
  try {
    const { grid } = raster;
    const cells = new Array<number>(grid.width * grid.height);
    for (let by = 0; by * grid.blockHeight < grid.height; by += 1) {
      for (let bx = 0; bx * grid.blockWidth < grid.width; bx += 1) {
        const block = await raster.readBlock(bx, by);
        expect(block).toHaveLength(grid.blockWidth * grid.blockHeight);
        block.forEach((value, index) => {
          const [x, y] = [bx * grid.blockWidth + (index % grid.blockWidth), by * grid.blockHeight + Math.floor(index / grid.blockWidth)];
          if (x < grid.width && y < grid.height) cells[y * grid.width + x] = value;
          else expect(value).toBeNaN();
        });
      }
    }
    return { grid, cells };
  } finally {
    await raster.close();
  }
}

async function refusal(file: string, member?: string): Promise<string> {
  const error = await whole(file, member).then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(MappaleError);
  const { code, kind, at, detail, hint } = error as MappaleError;
  expect(kind).toBe('input');
  expect(at).toBeTruthy();
  expect(detail).toMatch(/^expected .+, found /);
  expect(hint).toMatch(/^[A-Z].*[^ ]$/);
  return code;
}

const expected = Array.from({ length: WIDTH * HEIGHT }, (_, index) => (HOLES.has(index) ? NaN : hill(index)));

function hasGdal(): boolean {
  try {
    execFileSync('gdal_translate', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Writes a copy of `base.tif` with changed bytes. @returns the path of the copy */
function patch(name: string, change: (bytes: Buffer) => void): string {
  const bytes = readFileSync(path('base.tif'));
  change(bytes);
  writeFileSync(path(name), bytes);
  return path(name);
}

/** Sets the value of a tag in the directory of a plain TIFF of `writeGeoTiff`. */
function setTag(bytes: Buffer, tag: number, value: number): void {
  const count = bytes.readUInt16LE(8);
  for (let at = 10; at < 10 + count * 12; at += 12) {
    if (bytes.readUInt16LE(at) !== tag) continue;
    if (bytes.readUInt16LE(at + 2) === 3) bytes.writeUInt16LE(value, at + 8);
    else bytes.writeUInt32LE(value, at + 8);
    return;
  }
  throw new Error(`no tag ${tag}`);
}

/** Replaces a tag with an unknown tag. */
function dropTag(bytes: Buffer, tag: number): void {
  const count = bytes.readUInt16LE(8);
  for (let at = 10; at < 10 + count * 12; at += 12) if (bytes.readUInt16LE(at) === tag) bytes.writeUInt16LE(65_000, at);
}

describe('a raster', () => {
  it('returns its cells, and no value for a cell without data', async () => {
    const { grid, cells } = await whole(path('base.tif'));
    expect(grid).toEqual({ epsg: 32632, width: WIDTH, height: HEIGHT, transform: [900_000, 10, 0, 4_650_370, 0, -10], noData: -9999, sampleType: 'float32', blockWidth: WIDTH, blockHeight: 1 });
    expect(cells).toEqual(expected);
  });

  it('returns the same cells from compressed tiles, even if the tiles extend beyond the raster', async () => {
    writeGeoTiff(path('tiles.tif'), { ...base, tile: 16 });
    const { grid, cells } = await whole(path('tiles.tif'));
    expect([grid.blockWidth, grid.blockHeight]).toEqual([16, 16]);
    expect(cells).toEqual(expected);
  });

  it('begins half a cell further to the north-west if its coordinates refer to cell centres', async () => {
    writeGeoTiff(path('point.tif'), { ...base, epsg: 4326, west: 14, north: 42, cell: 1 / 3600, isPoint: true });
    const { grid } = await whole(path('point.tif'));
    expect(grid.transform).toEqual([14 - 0.5 / 3600, 1 / 3600, 0, 42 + 0.5 / 3600, 0, -1 / 3600]);
  });

  test.each(['nan', '-nan', 'NaN', '1.#QNAN'])('with the no-data value %s has no value in NaN, infinite and −9999 cells', async (noData) => {
    writeGeoTiff(path('nan.tif'), { ...base, noData, row: (y) => base.row(y).map((value, x) => (x === 5 ? NaN : x === 6 ? Infinity : value)) });
    const { grid, cells } = await whole(path('nan.tif'));
    expect(grid.noData).toBeNull();
    expect(cells).toEqual(expected.map((value, index) => (index % WIDTH === 5 || index % WIDTH === 6 ? NaN : value)));
  });

  it('rounds the no-data value to the type of the cells, and is rejected if the value is not a number', async () => {
    writeGeoTiff(path('low.tif'), { ...base, noData: '-3.4028234663852886e+38', row: (y) => base.row(y).map((value) => (value === -9999 ? -3.4028234663852886e38 : value)) });
    expect((await whole(path('low.tif'))).cells).toEqual(expected);
    writeGeoTiff(path('low.tif'), { ...base, noData: '-3.4e+38', row: (y) => base.row(y).map((value) => (value === -9999 ? -3.4e38 : value)) });
    expect((await whole(path('low.tif'))).cells).toEqual(expected);
    writeGeoTiff(path('low.tif'), { ...base, noData: 'minus nine' });
    expect(await refusal(path('low.tif'))).toBe('RASTER_NO_DATA');
  });

  it('is read in big-endian byte order with a single strip', async () => {
    const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, index) => (HOLES.has(index) ? -9999 : hill(index)));
    const written = writeArrayBuffer(values, {
      width: WIDTH, height: HEIGHT, SampleFormat: [3], BitsPerSample: [32], ModelPixelScale: [10, 10, 0], ModelTiepoint: [0, 0, 0, 900_000, 4_650_370, 0],
      GTModelTypeGeoKey: 1, GTRasterTypeGeoKey: 1, ProjectedCSTypeGeoKey: 32632, GDAL_NODATA: '-9999',
    });
    writeFileSync(path('peer.tif'), Buffer.from(written));
    const { grid, cells } = await whole(path('peer.tif'));
    expect(readFileSync(path('peer.tif')).toString('latin1', 0, 2)).toBe('MM');
    expect(grid).toMatchObject({ epsg: 32632, transform: [900_000, 10, 0, 4_650_370, 0, -10], noData: -9999 });
    expect(cells).toEqual(expected);
  });

  it('is read from a zip without leaving a temporary file', async () => {
    const scratch = join(folder, 'scratch');
    mkdirSync(scratch);
    vi.stubEnv('TMPDIR', scratch);
    onTestFinished(() => void vi.unstubAllEnvs());
    await writeZip(path('tile.zip'), [['w/tile.tif', readFileSync(path('base.tif'))], ['w/readme.txt', 'text']]);
    expect((await whole(path('tile.zip'), 'w/tile.tif')).cells).toEqual(expected);
    expect(await refusal(path('tile.zip'), 'w/readme.txt')).toBe('RASTER_FORM');
    await expect(openRaster(path('tile.zip'), 'w/other.tif')).rejects.toMatchObject({ code: 'ZIP_ENTRY_MISSING' });
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('has no value in a block that was never written', async () => {
    const file = patch('sparse.tif', (bytes) => {
      const field = (tag: number): number => {
        for (let at = 10; ; at += 12) if (bytes.readUInt16LE(at) === tag) return bytes.readUInt32LE(at + 8);
      };
      bytes.writeUInt32LE(0, field(273) + 4 * 3);
      bytes.writeUInt32LE(0, field(279) + 4 * 3);
    });
    expect((await whole(file)).cells).toEqual(expected.map((value, index) => (Math.floor(index / WIDTH) === 3 ? NaN : value)));
  });
});

describe('the raster reader rejects', () => {
  test.each<[string, string, (bytes: Buffer) => void]>([
    ['a raster of several bands', 'RASTER_BANDS', (bytes) => setTag(bytes, 277, 3)],
    ['a raster of half floats', 'RASTER_SAMPLES', (bytes) => setTag(bytes, 258, 16)],
    ['a raster of complex numbers', 'RASTER_SAMPLES', (bytes) => setTag(bytes, 339, 6)],
    ['a raster with JPEG compression', 'RASTER_COMPRESSION', (bytes) => setTag(bytes, 259, 7)],
    ['a raster without a CRS', 'RASTER_CRS', (bytes) => dropTag(bytes, 34_735)],
    ['a raster without a position', 'RASTER_PLACE', (bytes) => dropTag(bytes, 33_922)],
    ['a raster with a thousand million columns', 'RASTER_TOO_LARGE', (bytes) => setTag(bytes, 256, 1_000_000_000)],
    ['a raster without rows', 'RASTER_TOO_LARGE', (bytes) => setTag(bytes, 257, 0)],
    ['a raster with more rows than strips', 'RASTER_DAMAGED', (bytes) => setTag(bytes, 257, 4_000_000)],
    ['a raster with a directory beyond its end', 'RASTER_DAMAGED', (bytes) => bytes.writeUInt32LE(0xffff_fff0, 4)],
    ['a raster with more columns than the strips have', 'RASTER_DAMAGED', (bytes) => setTag(bytes, 256, WIDTH + 1)],
    ['a file that is not a raster', 'RASTER_FORM', (bytes) => bytes.write('<html>', 'latin1')],
  ])('%s', async (name, code, change) => {
    expect(await refusal(patch(`${name.replaceAll(' ', '-')}.tif`, change))).toBe(code);
  });

  it.each([0, 2, 3, 12, 14, 255])('or ignores any tag that declares four thousand million values of type %i', async (type) => {
    const tags = readFileSync(path('base.tif')).readUInt16LE(8);
    for (let tag = 0; tag < tags; tag += 1) {
      const file = patch('claims.tif', (bytes) => {
        bytes.writeUInt16LE(type, 10 + 12 * tag + 2);
        bytes.writeUInt32LE(0xffff_ffff, 10 + 12 * tag + 4);
      });
      const error = await whole(file).then(() => null, (reason: unknown) => reason);
      if (error !== null) expect(error, `tag ${tag}`).toMatchObject({ kind: 'input' });
    }
  });

  it('or ignores any tag with a 32-bit float as its value', async () => {
    const { seed } = testEnvironment();
    const random = randomOf('float tags', seed);
    const tags = readFileSync(path('base.tif')).readUInt16LE(8);
    const sizes = [256, 257, 258, 259, 277, 278, 339];
    for (let tag = 0; tag < tags; tag += 1) {
      const value = random.pick([0.5, -1, NaN, 1e30, random.next() * 1_000]);
      let number = 0;
      const file = patch('made_float_tag.tif', (bytes) => {
        number = bytes.readUInt16LE(10 + 12 * tag);
        bytes.writeUInt16LE(11, 10 + 12 * tag + 2);
        bytes.writeUInt32LE(1, 10 + 12 * tag + 4);
        bytes.writeFloatLE(value, 10 + 12 * tag + 8);
      });
      const error = await whole(file).then(() => null, (reason: unknown) => reason);
      const note = `tag ${number} of ${value}, seed ${seed}`;
      if (sizes.includes(number)) expect(error, note).toMatchObject({ code: 'RASTER_DAMAGED' });
      else if (error !== null) expect(error, note).toMatchObject({ kind: 'input' });
    }
  });

  it('a truncated file and an empty file', async () => {
    writeFileSync(path('cut.tif'), readFileSync(path('base.tif')));
    truncateSync(path('cut.tif'), 4000);
    expect(await refusal(path('cut.tif'))).toBe('RASTER_DAMAGED');
    writeFileSync(path('empty.tif'), '');
    expect(await refusal(path('empty.tif'))).toBe('RASTER_FORM');
  });

  it('a raster whose chain of directories returns to the first directory if this directory is a mask, but not if this directory is an image', async () => {
    const circle = (type: number): string => patch(`circle-${type}.tif`, (bytes) => {
      const count = bytes.readUInt16LE(8);
      bytes.writeUInt32LE(8, 10 + count * 12);
      // Replaces the tag PlanarConfiguration (284) with the tag NewSubfileType (254), whose value 4 declares a mask.
      for (let at = 10; at < 10 + count * 12; at += 12) if (bytes.readUInt16LE(at) === 284) bytes.writeUInt16LE(254, at);
      setTag(bytes, 254, type);
    });
    expect((await whole(circle(0))).cells).toEqual(expected);
    expect(await refusal(circle(4))).toBe('RASTER_MASK');
  });
});

describe.skipIf(!hasGdal())('a raster written by gdal_translate', () => {
  const gdal = (name: string, ...options: string[]): string => {
    execFileSync('gdal_translate', ['-q', ...options, path('base.tif'), path(name)], { stdio: 'pipe' });
    return path(name);
  };
  const options = (...pairs: string[]): string[] => pairs.flatMap((pair) => ['-co', pair]);

  test.each<[string, string[]]>([
    ['LZW', options('COMPRESS=LZW')],
    ['LZW, predictor 2', options('COMPRESS=LZW', 'PREDICTOR=2')],
    ['LZW, predictor 3, tiles', options('COMPRESS=LZW', 'PREDICTOR=3', 'TILED=YES', 'BLOCKXSIZE=16', 'BLOCKYSIZE=32')],
    ['DEFLATE', options('COMPRESS=DEFLATE')],
    ['DEFLATE, predictor 2', options('COMPRESS=DEFLATE', 'PREDICTOR=2', 'BLOCKYSIZE=5')],
    ['DEFLATE, predictor 3', options('COMPRESS=DEFLATE', 'PREDICTOR=3')],
    ['big-endian', options('ENDIANNESS=BIG')],
    ['big-endian, LZW, predictor 2', options('ENDIANNESS=BIG', 'COMPRESS=LZW', 'PREDICTOR=2', 'TILED=YES', 'BLOCKXSIZE=32', 'BLOCKYSIZE=16')],
    ['BigTIFF', options('BIGTIFF=YES', 'COMPRESS=DEFLATE', 'PREDICTOR=3')],
    ['BigTIFF, big-endian', options('BIGTIFF=YES', 'ENDIANNESS=BIG', 'TILED=YES', 'BLOCKXSIZE=16', 'BLOCKYSIZE=16')],
    ['all rows in one strip', options('BLOCKYSIZE=37')],
    ['Float64, predictor 3', ['-ot', 'Float64', ...options('COMPRESS=LZW', 'PREDICTOR=3')]],
    ['Float64, predictor 2, big-endian', ['-ot', 'Float64', ...options('COMPRESS=DEFLATE', 'PREDICTOR=2', 'ENDIANNESS=BIG')]],
    ['a COG with overviews', ['-of', 'COG', ...options('COMPRESS=LZW', 'BLOCKSIZE=128', 'OVERVIEW_COUNT=1')]],
  ])('as %s has the same cells', async (name, how) => {
    const { grid, cells } = await whole(gdal(`${name.replace(/\W+/g, '-')}.tif`, ...how));
    expect(grid).toMatchObject({ epsg: 32632, width: WIDTH, height: HEIGHT, transform: [900_000, 10, 0, 4_650_370, 0, -10], noData: -9999 });
    expect(cells).toEqual(expected);
  });

  test.each(['Int16', 'UInt16', 'Int32', 'UInt32'])('as %s has values rounded to whole numbers', async (type) => {
    for (const endian of ['LITTLE', 'BIG']) {
      const none = type.startsWith('U') ? '0' : '-9999';
      const file = gdal(`${type}-${endian}.tif`, '-ot', type, '-a_nodata', none, ...options('COMPRESS=LZW', 'PREDICTOR=2', `ENDIANNESS=${endian}`));
      const { grid, cells } = await whole(file);
      expect(grid.sampleType).toBe(type.toLowerCase());
      expect(cells).toEqual(expected.map((value) => (Number.isNaN(value) ? value : Math.round(value))));
    }
  });

  it('returns scaled values if it has a scale', async () => {
    const file = gdal('scaled.tif', '-ot', 'Int16', '-a_scale', '0.5', '-a_offset', '100');
    expect((await whole(file)).cells).toEqual(expected.map((value) => Math.round(value) * 0.5 + 100));
  });

  it('is rejected with a specific error code if its transform, mask, control points, compression or number of bands is not supported', async () => {
    const vrt = (name: string, transform: string): string => {
      gdal(`${name}.vrt`, '-of', 'VRT');
      const text = readFileSync(path(`${name}.vrt`), 'utf8').replace(/<GeoTransform>[^<]*</, `<GeoTransform>${transform}<`);
      writeFileSync(path(`${name}.vrt`), text);
      execFileSync('gdal_translate', ['-q', path(`${name}.vrt`), path(`${name}.tif`)], { stdio: 'pipe' });
      return path(`${name}.tif`);
    };
    expect(await refusal(vrt('rotated', '900000, 9.8, 1.7, 4650370, 1.7, -9.8'))).toBe('RASTER_ROTATED');
    expect(await refusal(vrt('sheared', '900000, 10, 2, 4650370, 0, -10'))).toBe('RASTER_ROTATED');
    expect(await refusal(vrt('south-up', '900000, 10, 0, 4650000, 0, 10'))).toBe('RASTER_SOUTH_UP');
    expect(await refusal(gdal('masked.tif', '-mask', '1', '--config', 'GDAL_TIFF_INTERNAL_MASK', 'YES'))).toBe('RASTER_MASK');
    expect(await refusal(gdal('points.tif', '-a_srs', 'EPSG:32632', '-gcp', '0', '0', '900000', '4650370', '-gcp', '45', '0', '900450', '4650370', '-gcp', '0', '37', '900000', '4650000'))).toBe('RASTER_PLACE');
    expect(await refusal(gdal('zstd.tif', '-ot', 'Byte', ...options('COMPRESS=PACKBITS')))).toBe('RASTER_COMPRESSION');
    expect(await refusal(gdal('big3.tif', ...options('COMPRESS=LZW', 'PREDICTOR=3', 'ENDIANNESS=BIG')))).toBe('RASTER_COMPRESSION');
    expect(await refusal(gdal('bands.tif', '-b', '1', '-b', '1'))).toBe('RASTER_BANDS');
  });

  test.each<[string, number]>([
    ['+proj=utm +zone=32 +datum=WGS84', 32632],
    ['+proj=tmerc +lat_0=0 +lon_0=9 +k=0.9996 +x_0=500000 +y_0=0 +datum=WGS84 +units=m', 32632],
    ['+proj=utm +zone=33 +ellps=GRS80 +towgs84=0,0,0', 0],
    ['EPSG:25833', 25833],
    ['EPSG:3035', 3035],
    ['+proj=longlat +datum=WGS84', 4326],
    ['+proj=tmerc +lat_0=0 +lon_0=9.5 +k=0.9996 +x_0=500000 +y_0=0 +datum=WGS84 +units=m', 0],
  ])('is positioned in the CRS %s, or rejected if the CRS is unknown', async (crs, epsg) => {
    for (const keys of ['STANDARD', 'ESRI_PE']) {
      const file = gdal('crs.tif', '-a_srs', crs, '-co', `GEOTIFF_KEYS_FLAVOR=${keys}`);
      if (epsg === 0) expect(await refusal(file)).toBe('RASTER_CRS');
      else expect((await whole(file)).grid.epsg).toBe(epsg);
    }
  });
});

describe('a tile of VIIRS', () => {
  const [rows, columns] = [60, 60];
  const value = (index: number): number => (index % 7 === 0 ? 65_535 : index % 900);

  const lights = Uint16Array.from({ length: rows * columns }, (_, index) => value(index));

  it('takes its position from its name, and scales radiance', async () => {
    writeViirs(path('VNP46A4.A2023001.h19v04.001.2024045000000.h5'), { rows, columns, cells: lights });
    const { grid, cells } = await whole(path('VNP46A4.A2023001.h19v04.001.2024045000000.h5'));
    expect(grid).toMatchObject({ epsg: 4326, width: 60, height: 60, transform: [10, 10 / 60, 0, 50, 0, -10 / 60], noData: 65_535, sampleType: 'uint16' });
    expect(cells).toEqual(Array.from({ length: rows * columns }, (_, index) => (value(index) === 65_535 ? NaN : value(index) * 0.1)));
  });

  it('has no value in fill cells of collection 2, for any type of the fill attribute', async () => {
    const random = randomOf('viirs fill', testEnvironment().seed);
    // A 32-bit float cannot represent −999.9 exactly. A fill value that is text or a 64-bit float therefore differs from a 32-bit cell by 2e-5.
    const radiances = Array.from({ length: rows * columns }, () => (random.below(5) === 0 ? -999.9 : random.below(20_000) / 10));
    for (const Cells of [Float32Array, Float64Array]) {
      for (const fillType of ['<f', '<d', 'text', null] as const) {
        writeViirs(path('VJ146A4.A2025001.h18v04.002.2026045000000.h5'), { rows, columns, cells: Cells.from(radiances), fillType });
        const { grid, cells } = await whole(path('VJ146A4.A2025001.h18v04.002.2026045000000.h5'));
        expect(grid, String(fillType)).toMatchObject({ noData: -999.9, transform: [0, 10 / 60, 0, 50, 0, -10 / 60] });
        const stored = (radiance: number): number => (Cells === Float32Array ? Math.fround(radiance) : radiance);
        expect(cells, String(fillType)).toEqual(radiances.map((radiance) => (radiance === -999.9 ? NaN : stored(radiance))));
      }
    }
  });

  it('is rejected if the file name has no position or the file is a different product', async () => {
    writeViirs(path('renamed.h5'), { rows, columns, cells: lights });
    expect(await refusal(path('renamed.h5'))).toBe('RASTER_PLACE');
    writeViirs(path('VNP46A4.A2023001.h19v04.h5'), { rows, columns, cells: lights, dataset: 'NearNadir_Composite_Snow_Free' });
    expect(await refusal(path('VNP46A4.A2023001.h19v04.h5'))).toBe('RASTER_CONTENT');
  });
});

describe('a damaged raster', () => {
  const runs = testEnvironment().mutations;

  it('with damage in header, tables or blocks returns cells or an input error', async () => {
    writeGeoTiff(path('sane-tiles.tif'), { ...base, tile: 16 });
    writeViirs(path('sane.h19v04.h5'), { rows: 60, columns: 60, cells: Uint16Array.from({ length: 3600 }, (_, index) => index % 500) });
    const originals = [path('base.tif'), path('sane-tiles.tif'), path('sane.h19v04.h5')].map((file) => readFileSync(file));
    const before = process.memoryUsage().rss;
    await fc.assert(fc.asyncProperty(
      fc.nat(2),
      fc.array(fc.tuple(fc.nat(2000), fc.constantFrom(0, 1, 2, 4, 8, 16, 127, 128, 255)), { minLength: 1, maxLength: 4 }),
      fc.option(fc.nat(6000), { freq: 4 }),
      async (which, changes, end) => {
        const bytes = Buffer.from(originals[which]!.subarray(0, end ?? undefined));
        for (const [at, to] of changes) if (at < bytes.length) bytes[at] = to;
        const file = path(which === 2 ? 'mutated.h19v04.h5' : 'mutated.tif');
        writeFileSync(file, bytes);
        const error = await whole(file).then(() => null, (reason: unknown) => reason);
        if (error !== null) expect(error).toMatchObject({ kind: 'input' });
      },
    ), { numRuns: runs, seed: testEnvironment().seed });
    expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000);
  });

  it('with damaged LZW codes unpacks to at most the requested number of bytes, or causes an error', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(1000), (bytes, most) => {
      try {
        expect(unpackLzw(Buffer.from(bytes), most).length).toBeLessThanOrEqual(most);
      } catch (error) {
        expect((error as Error).message).toMatch(/before its definition/);
      }
    }), { numRuns: 300, seed: testEnvironment().seed });
  });

  it('with a block that unpacks to 50 MB is rejected', async () => {
    writeGeoTiff(path('bomb.tif'), { ...base, tile: 16 });
    const { deflateSync } = await import('node:zlib');
    const bytes = readFileSync(path('bomb.tif'));
    const bomb = deflateSync(Buffer.alloc(50_000_000));
    const field = (tag: number): number => {
      for (let at = 10; ; at += 12) if (bytes.readUInt16LE(at) === tag) return bytes.readUInt32LE(at + 8);
    };
    bytes.writeUInt32LE(bytes.length, field(324));
    bytes.writeUInt32LE(bomb.length, field(325));
    const file = openSync(path('bomb.tif'), 'w');
    writeSync(file, Buffer.concat([bytes, bomb]));
    closeSync(file);
    expect(await refusal(path('bomb.tif'))).toBe('RASTER_DAMAGED');
  });
});
