/** Writes the zip of a country as downloaded: the year, two months, and the irradiation. The cells are aligned to the grid of the whole earth. */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pointOnSurface } from '../../pipelines/synthetic/point-on-surface.ts';
import { writeGeoTiff } from '../../pipelines/synthetic/raster-writer.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

const FOLDER = 'Italy_GISdata_LTAym_YearlyMonthlyTotals_GlobalSolarAtlas-v2_GEOTIFF';
const CELL = 1 / 120;
/** Number of additional cells on each side of the region. */
const MARGIN = 3;

/** Returns the column from 180° W and the row from 90° N as decimal numbers. In the centre of a cell, both numbers end in .5. */
function place([lon, lat]: readonly [number, number]): readonly [number, number] {
  return [(lon + 180) / CELL, (90 - lat) / CELL];
}

/** Returns the yield in kWh/kWp per year as written to the file, from 1,080 to 1,520, so that all classes of the section `solar` occur. */
function value(seed: number, column: number, row: number): number {
  return Math.fround(1300 + 160 * Math.sin(column * 0.9 + seed) + 60 * Math.cos(row * 1.3 - seed));
}

function raster(region: SyntheticRegion, times: number): Parameters<typeof writeGeoTiff>[1] {
  const [west, south, east, north] = region.box;
  const [left, top] = place([west, north]).map((cell) => Math.floor(cell) - MARGIN) as [number, number];
  const [right, bottom] = place([east, south]).map((cell) => Math.ceil(cell) + MARGIN) as [number, number];
  return {
    epsg: 4326, width: right - left, height: bottom - top, west: -180 + left * CELL, north: 90 - top * CELL, cell: CELL, noData: 'nan',
    // The northernmost row is sea.
    row: (row) => Float32Array.from({ length: right - left }, (_, column) => (row === 0 ? NaN : times * value(region.seed, left + column, top + row))),
  };
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const temporary = mkdtempSync(join(tmpdir(), 'mappale-synthetic-'));
    try {
      const entries = ([['PVOUT.tif', 1], ['GHI.tif', 1.2], ['monthly/PVOUT_01.tif', 1 / 20], ['monthly/PVOUT_07.tif', 1 / 8]] as const).map(([name, times]): ZipEntry => {
        const path = join(temporary, name.replace('/', '-'));
        writeGeoTiff(path, raster(region, times));
        return [`${FOLDER}/${name}`, createReadStream(path), { modified: '2019-10-23' }];
      });
      await writeZip(join(folder, `${FOLDER}.zip`), [...entries, [`${FOLDER}/Readme.txt`, 'Photovoltaic electricity output, long-term average of yearly totals, kWh/kWp\n', { modified: '2019-10-23' }]]);
    } finally {
      rmSync(temporary, { recursive: true });
    }
  },

  // States the yield of every land parcel, although the section has a value only for parcels with a building.
  truth: (region) => (parcel) => {
    if (parcel.kind !== 'land') return {};
    const [x, y] = place(pointOnSurface(parcel.polygons)).map((cell) => cell - 0.5) as [number, number];
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const at = (dx: number, dy: number): number => value(region.seed, column + dx, row + dy);
    const between = (from: number, to: number, share: number): number => from * (1 - share) + to * share;
    const kwh = between(between(at(0, 0), at(1, 0), x - column), between(at(0, 1), at(1, 1), x - column), y - row);
    return { pvout_kwh_per_kwp: kwh };
  },
};

export default synthetic;
