/**
 * Map projections in plain TypeScript, for writing files in the publishers' coordinate systems and for computing areas
 * and distances independently of PROJ. Degrees in, metres out; longitude before latitude, easting before northing.
 *
 * Transverse Mercator: Krüger's series to the sixth order in the third flattening (C. Karney, "Transverse Mercator with
 * an accuracy of a few nanometers", J. Geodesy 85, 2011, eq. 11, 12, 35, 36).
 * Lambert azimuthal equal area: IOGP Guidance Note 7-2, method 9820, oblique aspect.
 * Geodesic: T. Vincenty, Survey Review 23 (176), 1975.
 */
import type { LonLat } from './region.ts';

/** Easting, northing in metres. */
export type EastNorth = readonly [number, number];

export interface Ellipsoid {
  /** Semi-major axis, metres. */
  readonly a: number;
  /** Flattening. */
  readonly f: number;
}

export const GRS80: Ellipsoid = { a: 6_378_137, f: 1 / 298.257222101 };
export const WGS84: Ellipsoid = { a: 6_378_137, f: 1 / 298.257223563 };

export interface Projection {
  readonly srid: number;
  forward(point: LonLat): EastNorth;
  inverse(point: EastNorth): LonLat;
}

const RADIAN = Math.PI / 180;

export interface TransverseMercatorParameters {
  readonly srid: number;
  readonly ellipsoid: Ellipsoid;
  /** Central meridian, degrees. */
  readonly longitude: number;
  readonly scale: number;
  readonly falseEasting: number;
}

/** Transverse Mercator with the equator as origin and no false northing. Exact to a micrometre within 10° of the meridian. */
export function transverseMercator(parameters: TransverseMercatorParameters): Projection {
  const { srid, ellipsoid, longitude, scale, falseEasting } = parameters;
  const n = ellipsoid.f / (2 - ellipsoid.f);
  const n2 = n * n;
  const n3 = n2 * n;
  const n4 = n3 * n;
  const n5 = n4 * n;
  const n6 = n5 * n;
  const radius = (scale * ellipsoid.a / (1 + n)) * (1 + n2 / 4 + n4 / 64 + n6 / 256);
  const alpha = [
    n / 2 - 2 * n2 / 3 + 5 * n3 / 16 + 41 * n4 / 180 - 127 * n5 / 288 + 7891 * n6 / 37_800,
    13 * n2 / 48 - 3 * n3 / 5 + 557 * n4 / 1440 + 281 * n5 / 630 - 1_983_433 * n6 / 1_935_360,
    61 * n3 / 240 - 103 * n4 / 140 + 15_061 * n5 / 26_880 + 167_603 * n6 / 181_440,
    49_561 * n4 / 161_280 - 179 * n5 / 168 + 6_601_661 * n6 / 7_257_600,
    34_729 * n5 / 80_640 - 3_418_889 * n6 / 1_995_840,
    212_378_941 * n6 / 319_334_400,
  ];
  const beta = [
    n / 2 - 2 * n2 / 3 + 37 * n3 / 96 - n4 / 360 - 81 * n5 / 512 + 96_199 * n6 / 604_800,
    n2 / 48 + n3 / 15 - 437 * n4 / 1440 + 46 * n5 / 105 - 1_118_711 * n6 / 3_870_720,
    17 * n3 / 480 - 37 * n4 / 840 - 209 * n5 / 4480 + 5569 * n6 / 90_720,
    4397 * n4 / 161_280 - 11 * n5 / 504 - 830_251 * n6 / 7_257_600,
    4583 * n5 / 161_280 - 108_847 * n6 / 3_991_680,
    20_648_693 * n6 / 638_668_800,
  ];
  const eccentricity = Math.sqrt(ellipsoid.f * (2 - ellipsoid.f));
  return {
    srid,
    forward([lon, lat]) {
      const phi = lat * RADIAN;
      const lambda = (lon - longitude) * RADIAN;
      const tau = Math.tan(phi);
      const sigma = Math.sinh(eccentricity * Math.atanh(eccentricity * tau / Math.hypot(1, tau)));
      const conformal = tau * Math.hypot(1, sigma) - sigma * Math.hypot(1, tau);
      const xi = Math.atan2(conformal, Math.cos(lambda));
      const eta = Math.asinh(Math.sin(lambda) / Math.hypot(conformal, Math.cos(lambda)));
      let x = eta;
      let y = xi;
      for (let j = 1; j <= 6; j += 1) {
        x += alpha[j - 1]! * Math.cos(2 * j * xi) * Math.sinh(2 * j * eta);
        y += alpha[j - 1]! * Math.sin(2 * j * xi) * Math.cosh(2 * j * eta);
      }
      return [falseEasting + radius * x, radius * y];
    },
    inverse([east, north]) {
      const eta = (east - falseEasting) / radius;
      const xi = north / radius;
      let x = eta;
      let y = xi;
      for (let j = 1; j <= 6; j += 1) {
        x -= beta[j - 1]! * Math.cos(2 * j * xi) * Math.sinh(2 * j * eta);
        y -= beta[j - 1]! * Math.sin(2 * j * xi) * Math.cosh(2 * j * eta);
      }
      const conformal = Math.sin(y) / Math.hypot(Math.sinh(x), Math.cos(y));
      const lambda = Math.atan2(Math.sinh(x), Math.cos(y));
      let tau = conformal;
      // Newton's method on the tangent of the conformal latitude; three steps reach the last bit.
      for (let step = 0; step < 5; step += 1) {
        const sigma = Math.sinh(eccentricity * Math.atanh(eccentricity * tau / Math.hypot(1, tau)));
        const estimate = tau * Math.hypot(1, sigma) - sigma * Math.hypot(1, tau);
        const slope = (1 - eccentricity ** 2) * Math.hypot(1, estimate) * Math.hypot(1, tau) / (1 + (1 - eccentricity ** 2) * tau * tau);
        const change = (conformal - estimate) / slope;
        tau += change;
        if (Math.abs(change) < 1e-15) break;
      }
      return [longitude + lambda / RADIAN, Math.atan(tau) / RADIAN];
    },
  };
}

export interface LaeaParameters {
  readonly srid: number;
  readonly ellipsoid: Ellipsoid;
  readonly longitude: number;
  readonly latitude: number;
  readonly falseEasting: number;
  readonly falseNorthing: number;
}

/** Lambert azimuthal equal area, oblique. */
export function lambertAzimuthalEqualArea(parameters: LaeaParameters): Projection {
  const { srid, ellipsoid: { a, f }, longitude, latitude, falseEasting, falseNorthing } = parameters;
  const e2 = f * (2 - f);
  const e = Math.sqrt(e2);
  const authalic = (sine: number): number =>
    (1 - e2) * (sine / (1 - e2 * sine * sine) - Math.log((1 - e * sine) / (1 + e * sine)) / (2 * e));
  const pole = authalic(1);
  const originSine = Math.sin(latitude * RADIAN);
  const beta0 = Math.asin(authalic(originSine) / pole);
  const rq = a * Math.sqrt(pole / 2);
  const d = a * Math.cos(latitude * RADIAN) / (Math.sqrt(1 - e2 * originSine * originSine) * rq * Math.cos(beta0));
  return {
    srid,
    forward([lon, lat]) {
      const beta = Math.asin(authalic(Math.sin(lat * RADIAN)) / pole);
      const lambda = (lon - longitude) * RADIAN;
      const b = rq * Math.sqrt(2 / (1 + Math.sin(beta0) * Math.sin(beta) + Math.cos(beta0) * Math.cos(beta) * Math.cos(lambda)));
      return [
        falseEasting + b * d * Math.cos(beta) * Math.sin(lambda),
        falseNorthing + (b / d) * (Math.cos(beta0) * Math.sin(beta) - Math.sin(beta0) * Math.cos(beta) * Math.cos(lambda)),
      ];
    },
    inverse([east, north]) {
      const x = (east - falseEasting) / d;
      const y = d * (north - falseNorthing);
      const rho = Math.hypot(x, y);
      if (rho === 0) return [longitude, latitude];
      const c = 2 * Math.asin(rho / (2 * rq));
      const q = pole * (Math.cos(c) * Math.sin(beta0) + y * Math.sin(c) * Math.cos(beta0) / rho);
      let phi = Math.asin(q / pole);
      // Newton's method on the authalic function itself: exact, where the published series is not.
      for (let step = 0; step < 8; step += 1) {
        const sine = Math.sin(phi);
        const change = (q - authalic(sine)) * (1 - e2 * sine * sine) ** 2 / (2 * (1 - e2) * Math.cos(phi));
        phi += change;
        if (Math.abs(change) < 1e-15) break;
      }
      const lambda = Math.atan2(x * Math.sin(c), rho * Math.cos(beta0) * Math.cos(c) - y * Math.sin(beta0) * Math.sin(c));
      return [longitude + lambda / RADIAN, phi / RADIAN];
    },
  };
}

/** EPSG:3035, ETRS89 / LAEA Europe: areas are true areas. */
export const laeaEurope: Projection = lambertAzimuthalEqualArea({
  srid: 3035, ellipsoid: GRS80, longitude: 10, latitude: 52, falseEasting: 4_321_000, falseNorthing: 3_210_000,
});
/** EPSG:32632, WGS 84 / UTM zone 32N. */
export const utm32: Projection = transverseMercator({ srid: 32_632, ellipsoid: WGS84, longitude: 9, scale: 0.9996, falseEasting: 500_000 });
/** EPSG:32633, WGS 84 / UTM zone 33N. */
export const utm33: Projection = transverseMercator({ srid: 32_633, ellipsoid: WGS84, longitude: 15, scale: 0.9996, falseEasting: 500_000 });
/** EPSG:7794, RDN2008 / Italy zone (E-N). */
export const italyZone: Projection = transverseMercator({ srid: 7794, ellipsoid: GRS80, longitude: 12, scale: 0.9985, falseEasting: 7_000_000 });

export interface Geodesic {
  /** Metres. */
  readonly distance: number;
  /** At the start, radians clockwise from north; 0 where the points are one. */
  readonly azimuth: number;
}

/**
 * The geodesic between two points on GRS80, to 0.1 mm: the same line as PostGIS's `geography` measures.
 * @throws RangeError for nearly antipodal points, where the method does not converge
 */
export function geodesic(from: LonLat, to: LonLat): Geodesic {
  const { a, f } = GRS80;
  const b = a * (1 - f);
  const l = (to[0] - from[0]) * RADIAN;
  const u1 = Math.atan((1 - f) * Math.tan(from[1] * RADIAN));
  const u2 = Math.atan((1 - f) * Math.tan(to[1] * RADIAN));
  let lambda = l;
  for (let step = 0; step < 200; step += 1) {
    const sinSigma = Math.hypot(Math.cos(u2) * Math.sin(lambda), Math.cos(u1) * Math.sin(u2) - Math.sin(u1) * Math.cos(u2) * Math.cos(lambda));
    if (sinSigma === 0) return { distance: 0, azimuth: 0 };
    const cosSigma = Math.sin(u1) * Math.sin(u2) + Math.cos(u1) * Math.cos(u2) * Math.cos(lambda);
    const sigma = Math.atan2(sinSigma, cosSigma);
    const sinAlpha = Math.cos(u1) * Math.cos(u2) * Math.sin(lambda) / sinSigma;
    const cos2Alpha = 1 - sinAlpha * sinAlpha;
    const cos2m = cos2Alpha === 0 ? 0 : cosSigma - 2 * Math.sin(u1) * Math.sin(u2) / cos2Alpha;
    const c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha));
    const before = lambda;
    lambda = l + (1 - c) * f * sinAlpha * (sigma + c * sinSigma * (cos2m + c * cosSigma * (2 * cos2m * cos2m - 1)));
    if (Math.abs(lambda - before) < 1e-14) {
      const u = cos2Alpha * (a * a - b * b) / (b * b);
      const k = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
      const m = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
      const delta = m * sinSigma * (cos2m + m / 4 * (cosSigma * (2 * cos2m * cos2m - 1) - m / 6 * cos2m * (4 * sinSigma * sinSigma - 3) * (4 * cos2m * cos2m - 3)));
      const azimuth = Math.atan2(Math.cos(u2) * Math.sin(lambda), Math.cos(u1) * Math.sin(u2) - Math.sin(u1) * Math.cos(u2) * Math.cos(lambda));
      return { distance: b * k * (sigma - delta), azimuth };
    }
  }
  throw new RangeError(`no geodesic from ${from.join(' ')} to ${to.join(' ')}: the points are nearly antipodal`);
}

/** Length of the geodesic in metres. @throws RangeError for nearly antipodal points */
export function geodesicDistance(from: LonLat, to: LonLat): number {
  return geodesic(from, to).distance;
}

/** Gaussian radius of curvature of GRS80 at a latitude, metres. */
export function gaussianRadius(latitude: number): number {
  const { a, f } = GRS80;
  const e2 = f * (2 - f);
  return (a * Math.sqrt(1 - e2)) / (1 - e2 * Math.sin(latitude * RADIAN) ** 2);
}
