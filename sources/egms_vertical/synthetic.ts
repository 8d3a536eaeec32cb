/**
 * Writes synthetic tiles over the synthetic region: one zip per tile, a plain CSV, the east component of one tile, and a tile of an older release.
 * The cell's position and the seed determine every value.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cyclicItem, itemAt } from '../../pipelines/synthetic/items.ts';
import { laeaEurope } from '../../pipelines/synthetic/map-projection.ts';
import { boxOf, boxRing, clipped, inLaea, polygonsArea, type Box } from '../../pipelines/synthetic/plane-geometry.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticRegion, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { EDITIONS } from './schema.ts';

const RELEASE = '2020_2024_1';
const OLDER_RELEASE = '2018_2022_1';
/** Number of date columns of the release 2020–2024. */
const DATES = 303;
/** Number of cells above which a region has a shorter series. The reader skips the series, so a long series would only slow the tests. */
const CELLS_WITH_FULL_SERIES = 50_000;
const SHORT_SERIES = 24;
/** Number of additional cells on each side of the region's box, so that every parcel has neighbouring cells. */
const MARGIN = 20;
const CELLS_PER_TILE = 1_000;
/** Smallest overlap that counts. Smaller overlaps are rounding errors. */
const LEAST_OVERLAP_M2 = 0.01;

/** Layout of a release: the columns before the time series, and the values of the reference network in each line (empty if the release has none). */
interface Layout {
  readonly columns: string;
  readonly reference: string;
}
/** The newer release, which includes the velocity of the reference network. */
const LAYOUT: Layout = { columns: EDITIONS['2020–2024'].join(','), reference: '2.1,-0.7,-1.5,' };
const OLDER_LAYOUT: Layout = { columns: EDITIONS['2015–2023'].join(','), reference: '' };
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Velocities at and next to the limits of the classes. About one tenth of the measured cells have a velocity from this list. */
const BOUNDARY_VELOCITIES = [-2, -5, -10, -20, 2, 0, -1.9, -2.1, 2.1, 1.9];
const BOUNDARY_ACCELERATIONS = [0.1, -0.1, 0.11, -0.11, 0];

interface Cell {
  /** Velocity in mm/year, one decimal. */
  readonly velocity: number;
  /** Acceleration in mm/year², two decimals. */
  readonly acceleration: number;
}

/** Returns 32 pseudorandom bits for a cell and a purpose. */
function mix(seed: number, ix: number, iy: number, purpose: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(ix, 0xcc9e2d51) ^ Math.imul(iy, 0x1b873593) ^ Math.imul(purpose + 1, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Returns the motion of a cell, or null if the cell was not measured. Single cells and whole patches are not measured, as in woods. */
function cellAt(seed: number, ix: number, iy: number): Cell | null {
  if (mix(seed, ix, iy, 0) % 8 === 0) return null;
  if (mix(seed, Math.floor(ix / 5), Math.floor(iy / 5), 1) % 9 === 0) return null;
  const noise = mix(seed, ix, iy, 2) / 4_294_967_296 - 0.5;
  const pick = mix(seed, ix, iy, 3);
  const bowl = Math.max(0, Math.sin(ix / 11 + iy / 13)) ** 2;
  const velocity = pick % 10 === 0
    ? cyclicItem(BOUNDARY_VELOCITIES, pick >>> 8)
    : Math.round(10 * (-5 + 8 * Math.sin(ix / 6) * Math.cos(iy / 7) - 18 * bowl + noise)) / 10;
  const acceleration = pick % 7 === 0
    ? cyclicItem(BOUNDARY_ACCELERATIONS, pick >>> 12)
    : Math.round(100 * (0.35 * Math.sin(ix / 5 + 1) * Math.cos(iy / 4) + 0.1 * noise)) / 100;
  return { velocity, acceleration };
}

function pidOf(seed: number, ix: number, iy: number): string {
  let pid = '';
  // The first six base62 digits encode the position of the cell, so each identifier is unique. The last four digits are pseudorandom.
  let key = ix * 100_000 + iy;
  for (let i = 0; i < 6; i += 1) {
    pid += BASE62.charAt(key % 62);
    key = Math.floor(key / 62);
  }
  let tail = mix(seed, ix, iy, 4);
  for (let i = 0; i < 4; i += 1) {
    pid += BASE62.charAt(tail % 62);
    tail = Math.floor(tail / 62);
  }
  return pid;
}

/** Returns dates of acquisition, six days apart, as column names. */
function dateColumns(firstDay: string, count: number): string {
  const start = Date.parse(`${firstDay}T00:00:00Z`);
  return Array.from({ length: count }, (_, i) => new Date(start + i * 6 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')).join(',');
}

/** Returns 32 variants of the end of a line, which follows the acceleration. The reader skips these columns. */
function tails(dates: number, { reference }: Layout): string[] {
  return Array.from({ length: 32 }, (_, variant) => {
    const series = Array.from({ length: dates }, (_unused, i) => (Math.round(10 * (3 * Math.sin(i / 9 + variant) - i * 0.02 * variant)) / 10).toFixed(1));
    return `0.05,${(variant / 10).toFixed(1)},0.3,${reference}${series.join(',')}`;
  });
}

/** Returns the CSV line of the cell in a column and row of the grid. */
function line(seed: number, [ix, iy]: readonly [number, number], cell: Cell, tail: readonly string[], rmse = 1 + (mix(seed, ix, iy, 5) % 20) / 10): string {
  const height = (300 + (mix(seed, ix, iy, 6) % 5_000) / 10).toFixed(1);
  return `${pidOf(seed, ix, iy)},${ix * 100 + 50},${iy * 100 + 50},${height},${rmse.toFixed(1)},${cell.velocity.toFixed(1)},0.1,`
    + `${cell.acceleration.toFixed(2)},${cyclicItem(tail, mix(seed, ix, iy, 7))}\n`;
}

/** Returns the range of the written cells, with the margin: first column, first row, and the column and row after the last cell. */
function gridOf(region: SyntheticRegion): Box {
  const [west, south, east, north] = region.box;
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  // The edges of a box in degrees are curves in this CRS. The corners and midpoints of the edges give approximate bounds. The margin covers the error.
  for (const lon of [west, (west + east) / 2, east]) {
    for (const lat of [south, (south + north) / 2, north]) {
      const [x, y] = laeaEurope.forward([lon, lat]);
      x0 = Math.min(x0, x);
      x1 = Math.max(x1, x);
      y0 = Math.min(y0, y);
      y1 = Math.max(y1, y);
    }
  }
  return [Math.floor(x0 / 100) - MARGIN, Math.floor(y0 / 100) - MARGIN, Math.floor(x1 / 100) + MARGIN + 1, Math.floor(y1 / 100) + MARGIN + 1];
}

const tileName = (tx: number, ty: number, component: string, release: string): string =>
  `EGMS_L3_E${String(tx).padStart(2, '0')}N${String(ty).padStart(2, '0')}_100km_${component}_${release}`;

async function writeTile(folder: string, name: string, lines: Iterable<string>): Promise<void> {
  await writeZip(join(folder, `${name}.zip`), [
    [`${name}.csv`, lines],
    [`${name}.tiff`, 'II*\u0000 raster of the same cells, synthetic'],
    [`${name}.xml`, '<?xml version="1.0" encoding="UTF-8"?>\n<metadata>synthetic</metadata>\n'],
  ]);
}

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const { seed } = region;
  const [x0, y0, x1, y1] = gridOf(region);
  const dates = (x1 - x0) * (y1 - y0) > CELLS_WITH_FULL_SERIES ? SHORT_SERIES : DATES;
  const tail = tails(dates, LAYOUT);
  const header = `${LAYOUT.columns},${dateColumns('2020-01-03', dates)}\n`;

  function* rowsOf(tx: number, ty: number): Generator<string> {
    yield header;
    const fromX = Math.max(x0, tx * CELLS_PER_TILE);
    const toX = Math.min(x1, (tx + 1) * CELLS_PER_TILE);
    for (let iy = Math.max(y0, ty * CELLS_PER_TILE); iy < Math.min(y1, (ty + 1) * CELLS_PER_TILE); iy += 1) {
      let block = '';
      for (let ix = fromX; ix < toX; ix += 1) {
        const cell = cellAt(seed, ix, iy);
        if (cell === null) continue;
        block += line(seed, [ix, iy], cell, tail);
        // Some cells are repeated with a larger rmse and a different motion. The repeated row must never be chosen, in any order of rows.
        if (mix(seed, ix, iy, 8) % 500 === 0) block = line(seed, [ix, iy], { velocity: 99.9, acceleration: 9.99 }, tail, 9.9) + block;
      }
      if (block !== '') yield block;
    }
  }

  const tiles: [number, number][] = [];
  for (let ty = Math.floor(y0 / CELLS_PER_TILE); ty * CELLS_PER_TILE < y1; ty += 1) {
    for (let tx = Math.floor(x0 / CELLS_PER_TILE); tx * CELLS_PER_TILE < x1; tx += 1) tiles.push([tx, ty]);
  }
  for (const [tx, ty] of tiles) await writeTile(folder, tileName(tx, ty, 'U', RELEASE), rowsOf(tx, ty));

  const middle: readonly [number, number] = [Math.floor((x0 + x1) / 2), Math.floor((y0 + y1) / 2)];
  await writeLooseTile(region, folder, itemAt(tiles, tiles.length - 1), middle);

  // The data of the next files must not be served: the other component, and an older release with different motions.
  const [tx, ty] = itemAt(tiles, 0);
  const others = (ends: readonly string[]): string[] =>
    Array.from({ length: 20 }, (_, i) => line(seed, [middle[0] + i, middle[1]], { velocity: 55.5, acceleration: 5.55 }, ends));
  await writeTile(folder, tileName(tx, ty, 'E', RELEASE), [header, ...others(tail)]);
  const olderHeader = `${OLDER_LAYOUT.columns},${dateColumns('2018-01-03', dates)}\n`;
  await writeTile(folder, tileName(tx, ty, 'U', OLDER_RELEASE), [olderHeader, ...others(tails(dates, OLDER_LAYOUT))]);
}

/** Writes a tile outside the region as a plain CSV with two dates. The tile also contains up to three cells of the region, and rows that must be rejected. */
async function writeLooseTile(
  region: SyntheticRegion, folder: string, [lastX, lastY]: readonly [number, number], middle: readonly [number, number],
): Promise<void> {
  const { seed } = region;
  const [, , x1] = gridOf(region);
  const fewer = tails(2, LAYOUT);
  const repeated: string[] = [];
  for (let ix = middle[0]; ix < x1 && repeated.length < 3; ix += 1) {
    if (cellAt(seed, ix, middle[1]) !== null) repeated.push(line(seed, [ix, middle[1]], { velocity: -77.7, acceleration: 7.77 }, fewer, 9.5));
  }
  const beyond = (lastX + 1) * CELLS_PER_TILE;
  const good = Array.from({ length: 50 }, (_, i) => line(seed, [beyond + i, lastY * CELLS_PER_TILE], { velocity: -1, acceleration: 0 }, fewer));
  const bad = line(seed, [beyond + 60, lastY * CELLS_PER_TILE], { velocity: -1, acceleration: 0 }, fewer);
  const refused = [
    bad.replace(',-1.0,', ',nan,'),
    bad.replace(/^(\w{10},\d+)50,/, '$100,'),
  ];
  const loose = [`${LAYOUT.columns},${dateColumns('2020-01-03', 2)}\n`, ...repeated, ...good, ...refused];
  await pipeline(loose, createWriteStream(join(folder, `${tileName(lastX + 1, lastY, 'U', RELEASE)}.csv`)));
}

/**
 * Rounds to two decimals, with halves away from zero, like PostgreSQL's numeric. Uses only 13 significant digits, because the last digits of a double are
 * inexact.
 */
function round2(value: number): number {
  const hundredfold = Math.round(Number((Math.abs(value) * 100).toPrecision(13)));
  return hundredfold === 0 ? 0 : (Math.sign(value) * hundredfold) / 100;
}

/** Returns the classes of the section `subsidence` for the rounded mean velocity and the rounded mean acceleration. */
function classify(velocity: number, acceleration: number): Record<string, unknown> {
  const sinking = -velocity;
  const riskClass = sinking < 2 ? 1 : sinking < 5 ? 2 : sinking < 10 ? 3 : sinking < 20 ? 4 : 5;
  const direction = Math.abs(velocity) <= 2 ? 'stabile' : velocity < 0 ? 'subsidenza' : 'sollevamento';
  const away = velocity === 0 || Math.sign(acceleration) === Math.sign(velocity);
  return {
    risk_class: riskClass,
    risk_label: ['trascurabile', 'basso', 'medio', 'alto', 'elevato'][riskClass - 1],
    trend: Math.abs(acceleration) <= 0.1 ? 'stable' : away ? 'accelerating' : 'decelerating',
    direction,
  };
}

function truthOf(seed: number, parcel: SyntheticParcel): Record<string, unknown> | null {
  const polygons = inLaea(parcel.polygons);
  const [west, south, east, north] = boxOf(polygons);
  let area = 0;
  let velocity = 0;
  let acceleration = 0;
  let cells = 0;
  for (let iy = Math.floor(south / 100); iy <= Math.floor(north / 100); iy += 1) {
    for (let ix = Math.floor(west / 100); ix <= Math.floor(east / 100); ix += 1) {
      const cell = cellAt(seed, ix, iy);
      if (cell === null) continue;
      const cellBox: Box = [ix * 100, iy * 100, ix * 100 + 100, iy * 100 + 100];
      const isWhole = cellBox[0] <= west && cellBox[1] <= south && east <= cellBox[2] && north <= cellBox[3];
      const overlap = polygonsArea(isWhole ? polygons : clipped(polygons, boxRing(cellBox)));
      if (overlap < LEAST_OVERLAP_M2) continue;
      area += overlap;
      velocity += overlap * cell.velocity;
      acceleration += overlap * cell.acceleration;
      cells += 1;
    }
  }
  if (cells === 0) return null;
  const mean = round2(velocity / area);
  const change = round2(acceleration / area);
  return { velocity_mm_year: mean, acceleration_mm_year2: change, cells, ...classify(mean, change) };
}

const synthetic: Synthetic = {
  write,
  // Every tile that overlaps the region is written, so the coverage of every parcel is `mapped`.
  truth: (region) => (parcel) => ({ subsidence: truthOf(region.seed, parcel), coverage: { subsidence: 'mapped' } }),
};
export default synthetic;
