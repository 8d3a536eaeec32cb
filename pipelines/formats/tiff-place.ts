/** Determines the CRS of a GeoTIFF and the position of its cells. Format: OGC GeoTIFF 1.1 (19-008r4), clause 7 and annex C. */
import { epsgOfWkt } from './crs.ts';
import type { RasterGrid } from './raster.ts';
import type { Image } from './tiff-tags.ts';

const TAG = { pixelScale: 33_550, tiePoints: 33_922, transformation: 34_264, geoKeys: 34_735, geoDoubles: 34_736, geoText: 34_737 } as const;

/** GeoKey IDs. */
const KEY = {
  modelType: 1024, rasterType: 1025, citation: 1026, geographic: 2048, geographicCitation: 2049, datum: 2050, projected: 3072, projectedCitation: 3073,
  projection: 3074, method: 3075, linearUnit: 3076, originLongitude: 3080, originLatitude: 3081, falseEasting: 3082, falseNorthing: 3083, scale: 3092,
} as const;

const PROJECTED = 1;
const GEOGRAPHIC = 2;
/** Value of the key `rasterType` in a file whose coordinates refer to cell centres. */
const PIXEL_IS_POINT = 2;
const USER_DEFINED = 32_767;
const TRANSVERSE_MERCATOR = 1;
const METRE = 9001;
/** Base of the GeoTIFF codes of UTM projections without a datum. The code is the base plus the number of the northern zone. */
const UTM_NORTH = 16_000;
/** Base of the EPSG numbers of northern UTM zones, by the code of the geographic CRS or datum. The EPSG number is the base plus the zone. */
const UTM_OF_DATUM: Readonly<Record<number, number>> = { 4326: 32_600, 6326: 32_600, 4258: 25_800, 6258: 25_800 };

type Keys = ReadonlyMap<number, number | string>;

/** Returns the CRS and the transform of a raster. @throws input errors `RASTER_CRS`, `RASTER_PLACE`, `RASTER_ROTATED`, `RASTER_SOUTH_UP` */
export async function placeOf(image: Image): Promise<Pick<RasterGrid, 'epsg' | 'transform'>> {
  const keys = await keysOf(image);
  return { epsg: epsgOf(image, keys), transform: await transformOf(image, keys.get(KEY.rasterType) === PIXEL_IS_POINT ? 'point' : 'area') };
}

async function keysOf(image: Image): Promise<Keys> {
  const entries = await image.numbers(TAG.geoKeys) ?? [];
  const doubles = await image.numbers(TAG.geoDoubles) ?? [];
  const text = await image.text(TAG.geoText) ?? '';
  const keys = new Map<number, number | string>();
  for (let at = 4; at + 3 < entries.length; at += 4) {
    const [key = 0, location = 0, count = 0, value = 0] = entries.slice(at, at + 4);
    if (location === 0) keys.set(key, value);
    else if (location === TAG.geoDoubles) keys.set(key, doubles[value] ?? NaN);
    else if (location === TAG.geoText) keys.set(key, text.slice(value, value + count).replace(/\|$/, ''));
  }
  return keys;
}

function epsgOf(image: Image, keys: Keys): number {
  const model = keys.get(KEY.modelType);
  // Some programs describe a projection, but omit the model type.
  const isProjected = model === PROJECTED || (model !== GEOGRAPHIC && [KEY.projected, KEY.method].some((key) => keys.has(key)));
  const stated = keys.get(isProjected ? KEY.projected : KEY.geographic);
  const found = typeof stated === 'number' && Number.isInteger(stated) && stated > 0 && stated !== USER_DEFINED ? stated
    : isProjected ? utmOf(keys) ?? namedIn(keys, [KEY.projectedCitation, KEY.citation])
      : namedIn(keys, [KEY.geographicCitation, KEY.citation]);
  if (found !== null) return found;
  const names = [KEY.projectedCitation, KEY.geographicCitation, KEY.citation].flatMap((key) => keys.get(key) ?? []);
  throw image.file.refused('RASTER_CRS', 'the raster has no known CRS', 'a CRS with its EPSG number, or one of UTM by its parameters',
    keys.size === 0 ? 'none' : `an unknown CRS${names.length === 0 ? '' : `, called ${JSON.stringify(names[0])}`}`, 'If you know the CRS, write the CRS into the file: gdal_edit.py -a_srs EPSG:32632 FILE');
}

/** Returns the EPSG number of a UTM zone from the parameters of the projection; null for other projections. */
function utmOf(keys: Keys): number | null {
  const base = UTM_OF_DATUM[Number(keys.get(KEY.geographic))] ?? UTM_OF_DATUM[Number(keys.get(KEY.datum))];
  if (base === undefined || (keys.get(KEY.linearUnit) ?? METRE) !== METRE) return null;
  const projection = Number(keys.get(KEY.projection));
  if (projection > UTM_NORTH && projection <= UTM_NORTH + 60) return base + projection - UTM_NORTH;
  const zone = (Number(keys.get(KEY.originLongitude)) + 183) / 6;
  const isUtm = keys.get(KEY.method) === TRANSVERSE_MERCATOR && Number.isInteger(zone) && zone >= 1 && zone <= 60 && keys.get(KEY.originLatitude) === 0
    && keys.get(KEY.scale) === 0.9996 && keys.get(KEY.falseEasting) === 500_000 && keys.get(KEY.falseNorthing) === 0;
  return isUtm ? base + zone : null;
}

/**
 * Returns the EPSG number of a CRS that a citation contains as a name or as WKT, for files without codes. Examples of citations are
 * `PCS Name = WGS_1984_UTM_Zone_32N` and `ESRI PE String = PROJCS[…]`.
 */
function namedIn(keys: Keys, places: readonly number[]): number | null {
  for (const place of places) {
    const text = String(keys.get(place) ?? '');
    const wkt = wktIn(text);
    const names = text.split('|').map((part) => part.replace(/^[^=]*=/, '').trim()).filter((name) => name !== '');
    const found = wkt === undefined ? names.map((name) => epsgOfWkt(`CRS["${name.replaceAll('"', '')}"]`)).find((epsg) => epsg !== null) : epsgOfWkt(wkt);
    if (found != null) return found;
  }
  return null;
}

/** Returns the WKT of a CRS inside a citation, up to the last bracket. */
function wktIn(text: string): string | undefined {
  const start = text.search(/(?:PROJCS|GEOGCS)\[/);
  const end = text.lastIndexOf(']');
  return start === -1 || end < start ? undefined : text.slice(start, end + 1);
}

/** Returns the transform of a raster. @param cell `point` if positions refer to the centres of cells, `area` if positions refer to north-western corners */
async function transformOf(image: Image, cell: 'point' | 'area'): Promise<RasterGrid['transform']> {
  const { file } = image;
  const matrix = await image.numbers(TAG.transformation);
  const scale = await image.numbers(TAG.pixelScale);
  const tie = await image.numbers(TAG.tiePoints);
  let [west, across, rowRotation, north, columnRotation, down] = [NaN, NaN, 0, NaN, 0, NaN];
  if (scale !== null && tie !== null && tie.length >= 6) {
    const [sx = NaN, sy = NaN] = scale;
    const [i = NaN, j = NaN, , x = NaN, y = NaN] = tie;
    [west, across, north, down] = [x - i * sx, sx, y + j * sy, -sy];
  } else if (matrix !== null && matrix.length >= 8) {
    [across = NaN, rowRotation = NaN, , west = NaN, columnRotation = NaN, down = NaN, , north = NaN] = matrix;
  }
  const found = [west, across, rowRotation, north, columnRotation, down];
  if (!found.every(Number.isFinite) || across === 0 || (down === 0 && rowRotation === 0)) {
    const why = tie !== null && tie.length > 6 ? `${tie.length / 6} ground control points and no grid` : 'none';
    throw file.refused('RASTER_PLACE', 'the raster does not contain the position of its cells', 'the position of a corner and the size of a cell', why,
      'Use the published file. Image programs may omit the position when they save a file.');
  }
  if (rowRotation !== 0 || columnRotation !== 0 || across < 0) {
    throw file.refused('RASTER_ROTATED', 'the raster is rotated or sheared', 'columns that run east and rows that run south', `transform ${found.join(' ')}`,
      'Use the published file, or rotate the raster: gdalwarp OLD.tif NEW.tif');
  }
  if (down > 0) {
    throw file.refused('RASTER_SOUTH_UP', 'the first row of the raster is the southernmost', 'rows that run south', `transform ${found.join(' ')}`, 'Flip the raster: gdalwarp OLD.tif NEW.tif');
  }
  // A point is the centre of its cell. The transform refers to the cell's corner, half a cell away.
  const shift = cell === 'point' ? 0.5 : 0;
  return [west - shift * across, across, 0, north - shift * down, 0, down];
}
