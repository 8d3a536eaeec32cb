/**
 * Converts longitude and latitude to the CRS of a raster. In the database, this conversion would take most of a sweep's time. UTM coordinates are computed as
 * in PROJ, with Krüger's series in the third flattening. See Karney 2011, Transverse Mercator with an accuracy of a few nanometers, equations 7–11 and 35.
 */

/** Converts longitude and latitude in degrees, and writes easting and northing in metres (or longitude and latitude in degrees) into `out`. */
export type Project = (lon: number, lat: number, out: Float64Array) => void;

const RADIAN = Math.PI / 180;
/** Ellipsoid of WGS 84: semi-major axis in metres, flattening. */
const [A, F] = [6_378_137, 1 / 298.257223563];
const N = F / (2 - F);
const E = Math.sqrt(F * (2 - F));
const [K0, FALSE_EASTING] = [0.9996, 500_000];
/** Radius in metres of a circle as long as a complete meridian, multiplied by the scale factor. */
const RADIUS = (K0 * A / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64 + N ** 6 / 256);
const [A1, A2, A3, A4, A5] = [
  N / 2 - (2 / 3) * N ** 2 + (5 / 16) * N ** 3 + (41 / 180) * N ** 4 - (127 / 288) * N ** 5,
  (13 / 48) * N ** 2 - (3 / 5) * N ** 3 + (557 / 1440) * N ** 4 + (281 / 630) * N ** 5,
  (61 / 240) * N ** 3 - (103 / 140) * N ** 4 + (15_061 / 26_880) * N ** 5,
  (49_561 / 161_280) * N ** 4 - (179 / 168) * N ** 5,
  (34_729 / 80_640) * N ** 5,
];

/**
 * Returns the function that converts longitude and latitude to a CRS.
 * @param epsg EPSG code: 4326, or 32601–32660 for a northern UTM zone on WGS 84
 * @throws RangeError for any other code, because no source uses a different CRS for rasters
 */
export function projectionInto(epsg: number): Project {
  if (epsg === 4326) {
    return (lon, lat, out) => {
      out[0] = lon;
      out[1] = lat;
    };
  }
  const zone = epsg - 32_600;
  if (zone < 1 || zone > 60) throw new RangeError(`EPSG:${epsg}: expected EPSG:4326 or a northern zone of UTM (EPSG:32601–32660)`);
  const middle = 6 * zone - 183;
  return (lon, lat, out) => {
    const sin = Math.sin(lat * RADIAN);
    const from = (lon - middle) * RADIAN;
    const conformal = Math.sinh(Math.atanh(sin) - E * Math.atanh(E * sin));
    const xi = Math.atan2(conformal, Math.cos(from));
    const eta = Math.asinh(Math.sin(from) / Math.hypot(conformal, Math.cos(from)));
    // Computes the series Σ Aj sin 2j(ξ + iη) by Clenshaw's recurrence.
    const [s, c, sh, ch] = [Math.sin(2 * xi), Math.cos(2 * xi), Math.sinh(2 * eta), Math.cosh(2 * eta)];
    const [re, im] = [2 * c * ch, -2 * s * sh];
    const [b4, b4i] = [A4 + re * A5, im * A5];
    const [b3, b3i] = [A3 + re * b4 - im * b4i - A5, re * b4i + im * b4];
    const [b2, b2i] = [A2 + re * b3 - im * b3i - b4, re * b3i + im * b3 - b4i];
    const [b1, b1i] = [A1 + re * b2 - im * b2i - b3, re * b2i + im * b2 - b3i];
    out[0] = FALSE_EASTING + RADIUS * (eta + c * sh * b1 + s * ch * b1i);
    out[1] = RADIUS * (xi + s * ch * b1 - c * sh * b1i);
  };
}
