/**
 * Provides map projections (proj4js) and geodesics (GeographicLib). The synthetic region needs projections and geodesics to write files in the publishers'
 * CRSs, and to compute areas and distances independently of PostGIS. Both libraries are written in JavaScript and share no code with PROJ and GEOS. Unless a
 * comment states otherwise, arguments are in degrees and results in metres. Longitude precedes latitude, and easting precedes northing.
 */
import geographiclib from 'geographiclib-geodesic';
import proj4 from 'proj4';
import type { LonLat } from './region.ts';

/** Easting and northing in metres. */
export type EastNorth = readonly [number, number];

/** A map projection without a change of datum. The degrees refer to the projection's ellipsoid. */
export interface Projection {
  /** Projects a point in degrees. In Italy, the result differs from PROJ by at most 1e-8 m. */
  readonly forward: (point: LonLat) => EastNorth;
  /** Converts a projected point to degrees, with an accuracy of a millimetre. */
  readonly inverse: (point: EastNorth) => LonLat;
}

function projection(ellipsoid: string, parameters: string): Projection {
  const { forward, inverse } = proj4(`+proj=longlat +ellps=${ellipsoid}`, `${parameters} +ellps=${ellipsoid}`);
  return {
    forward: ([lon, lat]) => forward<[number, number]>([lon, lat]),
    inverse: ([east, north]) => inverse<[number, number]>([east, north]),
  };
}

/** EPSG:3035, ETRS89 / LAEA Europe, which preserves areas. */
export const laeaEurope: Projection = projection('GRS80', '+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000');
/** EPSG:32632, WGS 84 / UTM zone 32N. */
export const utm32: Projection = projection('WGS84', '+proj=utm +zone=32');

/** EPSG:7794, RDN2008 / Italy zone (E-N). */
export const italyZone: Projection = projection('GRS80', '+proj=tmerc +lat_0=0 +lon_0=12 +k=0.9985 +x_0=7000000 +y_0=0');
/** EPSG:25832, ETRS89 / UTM zone 32N. */
export const etrsUtm32: Projection = projection('GRS80', '+proj=utm +zone=32');

const toEd50 = proj4('+proj=longlat +datum=WGS84', '+proj=longlat +ellps=intl +towgs84=-87,-98,-121');

/**
 * Converts degrees of WGS 84 to degrees of ED50 and back, with EPSG:1133, "ED50 to WGS 84 (1)". The operation is a geocentric translation on the International
 * 1924 ellipsoid with an accuracy of 10 m. The numerical error is less than 1e-9 degrees.
 */
export const ed50 = {
  forward: ([lon, lat]: LonLat): LonLat => toEd50.forward<[number, number]>([lon, lat]),
  inverse: ([lon, lat]: LonLat): LonLat => toEd50.inverse<[number, number]>([lon, lat]),
};

/** Returns the length in metres of the geodesic between two points in ED50, on the ellipsoid of ED50. */
export function ed50Distance(from: LonLat, to: LonLat): number {
  const { s12 } = international.Inverse(from[1], from[0], to[1], to[0]);
  if (s12 === undefined) throw new RangeError(`no geodesic from ${from.join(' ')} to ${to.join(' ')}, expected coordinates in degrees`);
  return s12;
}

const international = new geographiclib.Geodesic.Geodesic(6_378_388, 1 / 297);

/** Semi-major axis in metres and flattening of GRS80. */
const [A, F] = [6_378_137, 1 / 298.257222101];
const ellipsoid = new geographiclib.Geodesic.Geodesic(A, F);
const RADIAN = Math.PI / 180;

export interface Geodesic {
  /** Length of the geodesic in metres. */
  readonly distance: number;
  /** Azimuth at the start point, in radians clockwise from north. */
  readonly azimuth: number;
}

/** Computes the geodesic between two points on GRS80, like PostGIS's `geography`. */
export function geodesic(from: LonLat, to: LonLat): Geodesic {
  const { s12, azi1 } = ellipsoid.Inverse(from[1], from[0], to[1], to[0]);
  if (s12 === undefined || azi1 === undefined) throw new RangeError(`no geodesic from ${from.join(' ')} to ${to.join(' ')}, expected coordinates in degrees`);
  return { distance: s12, azimuth: azi1 * RADIAN };
}

/** Returns the length in metres of the geodesic between two points on GRS80. */
export function geodesicDistance(from: LonLat, to: LonLat): number {
  return geodesic(from, to).distance;
}

/** Returns the Gaussian radius of curvature of GRS80 at a latitude, in metres. */
export function gaussianRadius(latitude: number): number {
  const e2 = F * (2 - F);
  return (A * Math.sqrt(1 - e2)) / (1 - e2 * Math.sin(latitude * RADIAN) ** 2);
}
