/** Finds the tiles of a publisher's grid that cover a region. */
import proj4 from 'proj4';
import type { Box } from '../contract/regions.ts';

/** Definitions for proj4 of the CRSs of the publishers' grids, by SRID. Null for degrees, which need no conversion. */
const MAPS = {
  4326: null,
  3035: '+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80',
  32632: '+proj=utm +zone=32 +ellps=WGS84',
} as const;

/**
 * Largest distance in degrees between the points of a region's box that are converted to the grid's CRS. The distance is about 5 km, much less than the size of
 * a tile.
 */
const STEP = 0.05;

/**
 * Returns the tiles that intersect a region's box, sorted from south to north and from west to east. @param srid SRID of the grid @param size the size of a
 * tile, in units of the CRS @returns the column and row of each tile, counted from the grid's origin
 */
export function tilesOf({ west, south, east, north }: Box, srid: keyof typeof MAPS, size: number): { readonly east: number; readonly north: number }[] {
  const map = MAPS[srid];
  const forward = map === null ? (point: [number, number]): [number, number] => point : proj4('+proj=longlat +ellps=GRS80', map).forward<[number, number]>;
  const found = new Map<string, { readonly east: number; readonly north: number }>();
  for (const lat of steps(south, north)) {
    for (const lon of steps(west, east)) {
      const [x, y] = forward([lon, lat]);
      const tile = { east: Math.floor(x / size), north: Math.floor(y / size) };
      found.set(`${tile.east} ${tile.north}`, tile);
    }
  }
  return [...found.values()].sort((a, b) => a.north - b.north || a.east - b.east);
}

/** Returns evenly spaced numbers from `from` to `to`, at most `STEP` apart. Includes both ends. */
function steps(from: number, to: number): number[] {
  const count = Math.max(1, Math.ceil((to - from) / STEP));
  return Array.from({ length: count + 1 }, (_, index) => from + ((to - from) * index) / count);
}
