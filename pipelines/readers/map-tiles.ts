/** Finds the tiles of a publisher's grid that a region needs. */
import proj4 from 'proj4';
import type { Box } from '../contract/regions.ts';

/** Units of tile numbers: degrees, or metres of a CRS. */
const MAPS = {
  4326: null,
  3035: '+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80',
  32632: '+proj=utm +zone=32 +ellps=WGS84',
} as const;

/** Distance in degrees between the checked points of a region's box. About 5 km, much less than the size of a tile. */
const STEP = 0.05;

/**
 * Returns the tiles of a region's box. @param srid SRID of the grid @param size the size of a tile, in the units of the grid @returns south-western corners of
 * the tiles that intersect the box, as numbers of tiles from the grid's origin. Tiles are sorted from south to north and from west to east
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

/** Yields both ends and the steps between the ends. */
function steps(from: number, to: number): number[] {
  const count = Math.ceil((to - from) / STEP);
  return Array.from({ length: count + 1 }, (_, index) => from + ((to - from) * index) / count);
}
