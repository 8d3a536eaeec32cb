/** Coordinate reference systems of features, boxes and filters: OGC API - Features, Part 2. */

/** WGS 84 with longitude before latitude. */
export const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';

type Box = readonly [west: number, south: number, east: number, north: number];

export interface Crs {
  readonly uri: string;
  /** EPSG code. In EPSG:4326, the database stores longitude before latitude, as in CRS84. */
  readonly srid: number;
  /** `yx`: northing before easting, or latitude before longitude. */
  readonly axes: 'xy' | 'yx';
  readonly unit: 'degree' | 'metre';
  /** Number of decimals of a printed coordinate. */
  readonly digits: number;
  /** Box of accepted coordinates, x before y. The box contains all parcels, and coordinates in the box can be projected without errors. */
  readonly domain: Box;
}

const EARTH: Box = [-180, -90, 180, 90];

function epsg(code: number, facts: Omit<Crs, 'uri' | 'srid'>): Crs {
  return { uri: `http://www.opengis.net/def/crs/EPSG/0/${code}`, srid: code, ...facts };
}

const IN_CRS84: Crs = { uri: CRS84, srid: 4326, axes: 'xy', unit: 'degree', digits: 7, domain: EARTH };

/** Supported coordinate systems. The first is the default and the system of stored geometries. */
const SYSTEMS: readonly Crs[] = [
  IN_CRS84,
  epsg(3035, { axes: 'yx', unit: 'metre', digits: 3, domain: [3_000_000, 500_000, 6_000_000, 4_000_000] }),
  epsg(32632, { axes: 'xy', unit: 'metre', digits: 3, domain: [-200_000, 3_500_000, 2_000_000, 6_000_000] }),
  epsg(32633, { axes: 'xy', unit: 'metre', digits: 3, domain: [-700_000, 3_500_000, 1_500_000, 6_000_000] }),
  epsg(6706, { axes: 'yx', unit: 'degree', digits: 7, domain: EARTH }),
];

export const CRS_URIS: readonly string[] = SYSTEMS.map(({ uri }) => uri);

/** Returns the coordinate system that a URI identifies. The URI was checked with the other parameters of the request. Default: CRS84. */
export function crsOf(uri: string | undefined): Crs {
  return SYSTEMS.find((each) => each.uri === uri) ?? IN_CRS84;
}

/**
 * Maximum side length of a box for which a search uses the spatial index, by the unit of the coordinates. For a larger box, parcels are scanned in the order
 * of their fids.
 */
const SMALL_BOX = { degree: 0.05, metre: 3_500 } as const;

/** Maximum side length in degrees, see `SMALL_BOX`. */
export const SMALL_BOX_DEGREES = SMALL_BOX.degree;

interface Boxes {
  /** One or two boxes in a flat list, each as west, south, east, north. Null: everywhere. */
  readonly boxes: readonly number[] | null;
  readonly isSmall: boolean;
}

/**
 * Reads a box in the axis order of the box's coordinate system.
 * @param bbox 4 numbers, or 6 with heights; undefined: no restriction
 * @returns two boxes if the box crosses the antimeridian; null if the box has a wrong order or number of values, or degrees that do not exist on Earth
 */
export function boxesOf(bbox: readonly number[] | undefined, { axes, unit, domain }: Crs): Boxes | null {
  if (bbox === undefined) return { boxes: null, isSmall: false };
  if (bbox.length === 5) return null;
  const [a = NaN, b = NaN, c = NaN, d = NaN] = bbox.length === 4 ? bbox : [bbox[0], bbox[1], bbox[3], bbox[4]] as readonly number[];
  const [low = 0, high = 0] = bbox.length === 6 ? [bbox[2], bbox[5]] : [];
  const [west, south, east, north] = axes === 'xy' ? [a, b, c, d] : [b, a, d, c];
  const isSmall = Math.max(east - west, north - south) <= SMALL_BOX[unit];
  if (south > north || low > high) return null;
  if (unit === 'metre') return west > east ? null : { boxes: within([west, south, east, north], domain), isSmall };
  if (within([west, south, east, north], domain).join() !== [west, south, east, north].join()) return null;
  if (west > east) return { boxes: [west, south, 180, north, -180, south, east, north], isSmall: false };
  return { boxes: [west, south, east, north], isSmall };
}

/** Returns the part of a box that is in the area of accepted coordinates. A box outside the area becomes a part of the area's border. */
function within([west, south, east, north]: Box, [left, low, right, high]: Box): Box {
  const between = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);
  return [between(west, left, right), between(south, low, high), between(east, left, right), between(north, low, high)];
}

/** Returns nested coordinates with x before y, or null if a position is outside the area of accepted coordinates. Positions in CRS84 are not checked. */
export function placed(coordinates: unknown, crs: Crs): unknown {
  const { srid, axes, domain: [left, low, right, high] } = crs;
  const [first, second] = coordinates as readonly unknown[];
  if (typeof first !== 'number' || typeof second !== 'number') {
    const inner = (coordinates as readonly unknown[]).map((each) => placed(each, crs));
    return inner.includes(null) ? null : inner;
  }
  const [x, y] = axes === 'xy' ? [first, second] : [second, first];
  return srid !== IN_CRS84.srid && (x < left || x > right || y < low || y > high) ? null : [x, y];
}
