/** Checks whether coordinates are in Italy. All sources use these functions, and therefore refuse the same positions with the same messages. */
import { viewOf, walkWkb } from '../formats/wkb.ts';
import { isNoData } from './no-data.ts';
import type { Refusal } from './refusal.ts';

/** Bounding box of Italy with all islands, in degrees (EPSG:4326). */
export const ITALY = { west: 6, south: 35, east: 19, north: 47.5 } as const;

/** EPSG numbers of the geographic CRSs (in degrees) that publishers use. */
const DEGREES: ReadonlySet<number> = new Set([4326, 4258, 4230, 4265, 4670, 6706, 9067]);

export function isInDegrees(srid: number): boolean {
  return DEGREES.has(srid);
}

/** Returns whether a position is in the bounding box of Italy. @param margin accepted distance from the box, in degrees */
function holds(lon: number, lat: number, margin: number): boolean {
  return lon >= ITALY.west - margin && lon <= ITALY.east + margin && lat >= ITALY.south - margin && lat <= ITALY.north + margin;
}

/**
 * Returns the reason for refusing a position outside Italy's bounding box, or null for a position inside. The reason states whether the coordinates seem to be
 * swapped or in metres. A position with NaN is outside. @param margin accepted distance from the box, in degrees
 */
export function outsideItaly(lon: number, lat: number, margin: number = 0): Refusal | null {
  if (holds(lon, lat, margin)) return null;
  const box = `longitude ${ITALY.west - margin} to ${ITALY.east + margin} and latitude ${ITALY.south - margin} to ${ITALY.north + margin}`;
  const expected = `expected ${box}, found ${lon} and ${lat}`;
  if (holds(lat, lon, margin)) return { code: 'coordinates_swapped', message: `${expected}: swapped?` };
  return { code: 'outside_italy', message: Math.abs(lon) > METRES || Math.abs(lat) > METRES ? `${expected}: metres?` : expected };
}

/** Threshold between degrees and metres. The absolute value of a coordinate in degrees is always smaller. Coordinates of Italy in metres are always larger. */
const METRES = 1000;

/**
 * Returns whether coordinates in metres may be in Italy. For EPSG:3035, compares easting and northing with a range around Italy. For all other CRSs, compares
 * only the northing, which is the distance from the equator.
 */
function holdsMetres(srid: number, x: number, y: number): boolean {
  return srid === 3035 ? x >= 3.9e6 && x <= 5.3e6 && y >= 1.3e6 && y <= 2.9e6 : y >= 3.8e6 && y <= 6.1e6;
}

/**
 * Returns the reason for refusing an EWKB geometry whose CRS is in metres, or null. Refuses coordinates in degrees and swapped axes. Checks only the first
 * position.
 */
export function metresMisplaced(ewkb: Buffer): Refusal | null {
  const srid = ewkb.readUInt32LE(5);
  const at = walkWkb(ewkb, (first) => first);
  if (at === null) return null;
  const [x, y] = [ewkb.readDoubleLE(at), ewkb.readDoubleLE(at + 8)];
  const expected = `expected metres, as the file's reference system has them, found ${x} and ${y}`;
  if (Math.abs(x) <= METRES && Math.abs(y) <= METRES) return { code: 'coordinates_in_degrees', message: `${expected}: degrees?` };
  return !holdsMetres(srid, x, y) && holdsMetres(srid, y, x) ? { code: 'coordinates_swapped', message: `${expected}: swapped?` } : null;
}

/**
 * Returns the reason for refusing an EWKB geometry with a coordinate that is infinite or means "no value"; null for any other geometry. Geometries that
 * `geometryOutsideItaly` checks do not need this check, because that function also refuses such coordinates.
 */
export function noDataAmong(ewkb: Buffer): Refusal | null {
  const view = viewOf(ewkb);
  return walkWkb(ewkb, (at) => {
    const [x, y] = [view.getFloat64(at, true), view.getFloat64(at + 8, true)];
    // Calls `isNoData` only for negative numbers, because the function is slow and maps have millions of vertices.
    const hasNone = !Number.isFinite(x) || !Number.isFinite(y) || (x < 0 && isNoData(x)) || (y < 0 && isNoData(y));
    return hasNone ? { code: 'coordinates_no_data', message: `expected coordinates, found ${x} and ${y}` } : null;
  });
}

/** Bounding box of `ITALY` in EPSG:3035, rounded outwards to 5 km. */
const ITALY_LAEA = { west: 3_950_000, south: 1_325_000, east: 5_150_000, north: 2_755_000 } as const;

/**
 * Determines whether a geometry of a map of Europe may be in Italy. @param ewkb geometry in degrees or EPSG:3035. A geometry in a different CRS is only checked
 * with `metresMisplaced`
 * @returns null if the geometry's bounding box intersects Italy's, `outside` if not, or the reason for refusing the geometry
 */
export function placeInEurope(ewkb: Buffer): 'outside' | Refusal | null {
  const srid = ewkb.readUInt32LE(5);
  const italy = isInDegrees(srid) ? ITALY : srid === 3035 ? ITALY_LAEA : null;
  if (italy === null) return metresMisplaced(ewkb);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const view = viewOf(ewkb);
  walkWkb(ewkb, (at) => {
    const [x, y] = [view.getFloat64(at, true), view.getFloat64(at + 8, true)];
    [west, south, east, north] = [Math.min(west, x), Math.min(south, y), Math.max(east, x), Math.max(north, y)];
    return null;
  });
  if (west <= italy.east && east >= italy.west && south <= italy.north && north >= italy.south) return null;
  const found = `found ${west} to ${east} and ${south} to ${north}`;
  if (italy === ITALY_LAEA && Math.max(-west, east, -south, north) <= METRES) {
    return { code: 'coordinates_in_degrees', message: `expected metres, as the file's reference system has them, ${found}: degrees?` };
  }
  const swapped = south <= italy.east && north >= italy.west && west <= italy.north && east >= italy.south;
  return swapped ? { code: 'coordinates_swapped', message: `expected easting before northing and longitude before latitude, ${found}: swapped?` } : 'outside';
}

/**
 * Returns the reason for refusing an EWKB geometry in degrees, or null. The reason names the first position outside Italy. The EWKB must be a little-endian
 * simple feature in XY.
 */
export function geometryOutsideItaly(ewkb: Buffer): Refusal | null {
  const view = viewOf(ewkb);
  return walkWkb(ewkb, (at) => outsideItaly(view.getFloat64(at, true), view.getFloat64(at + 8, true)));
}
