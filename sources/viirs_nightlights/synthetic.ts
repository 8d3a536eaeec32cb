/**
 * Writes the tiles of 10° of the region in the format of collection 2. Only cells in and near the region have values. The tiles of the previous year belong to
 * collection 1. These tiles have different values and must not be served.
 */
import { join } from 'node:path';
import { pointOnSurface } from '../../pipelines/synthetic/point-on-surface.ts';
import { hashKey } from '../../pipelines/synthetic/random.ts';
import { round } from '../../pipelines/synthetic/relief.ts';
import type { LonLat, SyntheticComune } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { VIIRS_FILL, writeViirs } from '../../pipelines/synthetic/viirs-writer.ts';

const YEAR = 2023;
/** Number of cells along each side of a tile. */
const TILE = 2400;
/** Number of cells per degree. */
const PER_DEGREE = 240;
/** Radiance of all cells in the region in the tiles of collection 1, in tenths of nW cm⁻² sr⁻¹. */
const OLDER_LIGHT = 7777;
/** Value of a cell without data in the tiles of collection 1. */
const OLDER_NONE = 65_535;
/** Lowest value above 0 of collection 2, nW cm⁻² sr⁻¹. */
const LEAST = 0.5;
/** Number of cells by which the written area extends beyond the region on each side. */
const MARGIN = 5;

/** Returns the column and the row of the cell at a position. Columns are counted from 180° W, and rows from 90° N. */
function cellAt([lon, lat]: LonLat): readonly [number, number] {
  return [Math.floor((lon + 180) * PER_DEGREE), Math.floor((90 - lat) * PER_DEGREE)];
}

/** Returns the radiance in nW cm⁻² sr⁻¹ with one decimal, as a 32-bit float, from darkness to city lights. Returns null for a cell without a value. */
function radiance(seed: number, column: number, row: number): number | null {
  const hash = hashKey(`light ${seed} ${column} ${row}`);
  if (hash % 23 === 0) return null;
  const value = Math.floor(10 ** ((hash % 1000) / 333) - 1) / 10;
  return value < LEAST ? 0 : Math.fround(value);
}

/** Returns the average radiance of the cells whose centres are in the comune, or null if no such cell has a value. */
function meanOf(seed: number, { box: [west, south, east, north] }: SyntheticComune): number | null {
  const values: number[] = [];
  const [left, top] = cellAt([west, north]);
  const [right, bottom] = cellAt([east, south]);
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      const [lon, lat] = [(column + 0.5) / PER_DEGREE - 180, 90 - (row + 0.5) / PER_DEGREE];
      const value = radiance(seed, column, row);
      if (value !== null && lon > west && lon < east && lat > south && lat < north) values.push(value);
    }
  }
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function classOf(printed: number): string {
  return printed < 0.5 ? 'dark' : printed < 5 ? 'dim' : printed < 20 ? 'medium' : printed < 60 ? 'bright' : 'very_bright';
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const [west, south, east, north] = region.box;
    const [left, top] = cellAt([west, north]).map((cell) => cell - MARGIN) as [number, number];
    const [right, bottom] = cellAt([east, south]).map((cell) => cell + MARGIN) as [number, number];
    for (const year of [YEAR, YEAR - 1]) {
      for (let v = Math.floor(top / TILE); v * TILE <= bottom; v += 1) {
        for (let h = Math.floor(left / TILE); h * TILE <= right; h += 1) {
          const isOlder = year !== YEAR;
          const name = `VNP46A4.A${year}001.h${String(h).padStart(2, '0')}v${String(v).padStart(2, '0')}.00${isOlder ? 1 : 2}.${year + 1}045030000.h5`;
          const cells = isOlder ? new Uint16Array(TILE * TILE).fill(OLDER_NONE) : new Float32Array(TILE * TILE).fill(VIIRS_FILL);
          for (let row = Math.max(top, v * TILE); row <= Math.min(bottom, v * TILE + TILE - 1); row += 1) {
            for (let column = Math.max(left, h * TILE); column <= Math.min(right, h * TILE + TILE - 1); column += 1) {
              cells[(row - v * TILE) * TILE + column - h * TILE] = isOlder ? OLDER_LIGHT : radiance(region.seed, column, row) ?? VIIRS_FILL;
            }
          }
          writeViirs(join(folder, name), { rows: TILE, columns: TILE, cells });
        }
      }
    }
  },

  truth(region) {
    const means = new Map(region.comuni.map((comune) => [comune, meanOf(region.seed, comune)]));
    return (parcel) => {
      if (parcel.kind !== 'land') return {};
      const coverage = { nightlights: 'mapped' };
      const value = radiance(region.seed, ...cellAt(pointOnSurface(parcel.polygons)));
      if (value === null) return { nightlights: { available: false }, coverage };
      const mean = means.get(parcel.comune) ?? null;
      const printed = round(value, 2);
      return {
        nightlights: {
          available: true, ntl_parcel: printed, ntl_mean_comune: mean === null ? null : round(mean, 2),
          ntl_ratio: mean === null || mean === 0 ? null : round(value / mean, 2), ntl_class: classOf(printed), ntl_year: YEAR,
        },
        coverage,
      };
    };
  },
};

export default synthetic;
