/** Determines the EPSG number of a file's CRS. */
/**
 * EPSG numbers by CRS name, for .prj files without an authority code. The names are from ESRI, GDAL and OGC programs. Keys are in lower case and have only
 * letters and digits.
 */
const CRS_BY_NAME: Readonly<Record<string, number>> = {
  gcswgs1984: 4326, wgs84: 4326, wgs1984: 4326, wgs84longitudelatitude: 4326, wgs84crs84: 4326,
  gcsetrs1989: 4258, etrs89: 4258, etrs1989: 4258,
  gcsrdn2008: 6706, rdn2008: 6706,
  gcseuropean1950: 4230, ed50: 4230, europeandatum1950: 4230,
  gcsmontemario: 4265, montemario: 4265,
  gcsigm1995: 4670, igm95: 4670,
  etrs1989laea: 3035, etrs89laea: 3035, etrs89laeaeurope: 3035, etrs89extendedlaeaeurope: 3035, etrs1989laeaeurope: 3035,
  wgs1984webmercatorauxiliarysphere: 3857, wgs84pseudomercator: 3857,
  montemarioitaly1: 3003, montemarioitalyzone1: 3003, montemarioitaly2: 3004, montemarioitalyzone2: 3004,
  rdn2008italyzoneen: 7794, rdn2008zone12en: 7795,
  rdn2008utmzone32nen: 7791, rdn2008utmzone33nen: 7792, rdn2008utmzone34nen: 7793,
  // ESRI's names of CRSs with northing first. See `epsgOfWkt`.
  rdn2008tm32: 7791, rdn2008tm33: 7792, rdn2008tm34: 7793, rdn2008italyzone: 7794, rdn2008zone12: 7795,
  etrs1989etrstm32: 25_832, etrs1989etrstm33: 25_833, etrs1989etrstm34: 25_834,
  igm1995utmzone32n: 3064, igm1995utmzone33n: 3065, igm95utmzone32n: 3064, igm95utmzone33n: 3065,
};
for (const zone of [32, 33, 34]) {
  Object.assign(CRS_BY_NAME, {
    [`wgs1984utmzone${zone}n`]: 32_600 + zone,
    [`wgs84utmzone${zone}n`]: 32_600 + zone,
    [`etrs1989utmzone${zone}n`]: 25_800 + zone,
    [`etrs89utmzone${zone}n`]: 25_800 + zone,
    [`ed1950utmzone${zone}n`]: 23_000 + zone,
    [`ed50utmzone${zone}n`]: 23_000 + zone,
    [`rdn2008utmzone${zone}n`]: 7759 + zone,
  });
}

/**
 * Returns the EPSG number of a CRS in WKT 1 (OGC or ESRI) or WKT 2. Uses the authority code at the root of the WKT, or otherwise the name. For a CRS with
 * northing first, returns the equivalent CRS with easting first, because files store easting first. For a 3D CRS, returns the equivalent 2D CRS. @returns null
 * if authority and name are unknown
 */
export function epsgOfWkt(wkt: string): number | null {
  const text = wkt.trim();
  const root = /(?:AUTHORITY|ID)\s*\[\s*"([A-Za-z]+)"\s*,\s*"?([A-Za-z0-9]+)"?\s*\]\s*\]$/.exec(text);
  const [authority = '', code = ''] = root?.slice(1) ?? [];
  if (authority.toUpperCase() === 'EPSG' && /^\d+$/.test(code)) return SAME_IN_XY[Number(code)] ?? Number(code);
  if (authority.toUpperCase() === 'OGC' && code === 'CRS84') return 4326;
  const name = /^[A-Za-z]+\s*\[\s*"([^"]*)"/.exec(text)?.[1];
  if (name === undefined) return null;
  return CRS_BY_NAME[name.toLowerCase().replace(/[^a-z0-9]/g, '')] ?? null;
}

/**
 * Returns the EPSG number of a CRS by its name in GeoJSON and OGC services: `urn:ogc:def:crs:EPSG::3035`, `urn:ogc:def:crs:OGC:1.3:CRS84`, `EPSG:3035`,
 * `http://www.opengis.net/def/crs/EPSG/0/3035`. @returns null if the CRS is unknown
 */
export function epsgOfName(name: string): number | null {
  const code = /(?:^|[:/])EPSG(?:[:/][\d.]*)?[:/](\d+)$/i.exec(name.trim())?.[1];
  if (code !== undefined) return SAME_IN_XY[Number(code)] ?? Number(code);
  return /(?:^|[:/])CRS:?84$/i.test(name.trim()) ? 4326 : null;
}

/** Maps EPSG codes to codes of CRSs with the same XY coordinates: RDN2008 with N-E order to E-N order, and geographic 3D to 2D. Only XY is read. */
const SAME_IN_XY: Readonly<Record<number, number>> = { 4979: 4326, 4937: 4258, 6705: 6706, 6707: 7791, 6708: 7792, 6709: 7793, 6875: 7794, 6876: 7795 };
