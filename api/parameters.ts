/**
 * Schemas of the endpoints' parameters. Values are text and are parsed strictly. An invalid or out-of-range value is refused and never adjusted, except `limit`
 * of `itemsParameters`. Each schema's `description` is `purpose; allowed values`, for the OpenAPI document and for error messages.
 */
import { z } from 'zod';
import { BOUNDS, REGIONS } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { FILTER_BOUNDS, FILTER_LANGUAGES } from './cql2.ts';
import { CRS_URIS } from './crs.ts';
import { ApiError, invalidParameter } from './errors.ts';

/** Maximum width and height of a box, in degrees. */
const BOX_DEGREES = 0.05;

/** Maximum number of corners of a polygon. The first corner, which is repeated at the end, counts once. */
const CORNERS = 200;

/** WKT of a polygon with one ring. */
const POLYGON = /^\s*POLYGON\s*\(\s*\(([-\d.,\s]+)\)\s*\)\s*$/i;

/** Maximum number of points in a request. */
const POINTS = 10;

/** Largest int4, the type of fids. */
export const LARGEST_FID = 2_147_483_647;

/** A number in plain decimal notation. Exponents, hexadecimal, `NaN` and empty text are refused. */
const DECIMAL = /^-?\d{1,4}(\.\d{1,17})?$/;

/** Parses a whole number. */
export function whole(minimum: number, maximum: number, purpose: string): z.ZodType<number, string> {
  return z.string().regex(/^\d{1,10}$/).transform(Number).pipe(z.int().min(minimum).max(maximum)).describe(`${purpose}; a whole number, ${minimum}–${maximum}`);
}

/** Parses degrees. `requireInBounds` checks the limits, because a place outside Italy has a separate error code. */
function decimal(name: string, minimum: number, maximum: number): z.ZodType<number, string> {
  return z.string().regex(DECIMAL).transform(Number).pipe(z.number())
    .meta({ description: `${name}, EPSG:4326; degrees in decimal notation, ${minimum}–${maximum}`, minimum, maximum });
}

/** Matches a text with at least one visible character, that is, not only spaces, marks, control characters and joiners. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Parses a text without control characters. Names contain no control characters, and PostgreSQL cannot store the character NUL. */
function text(minimum: number, maximum: number, purpose: string): z.ZodType<string, string> {
  return z.string().regex(/^[^\u0000-\u001f\u007f-\u009f]*$/u).regex(VISIBLE).transform((value) => value.trim()).pipe(z.string().min(minimum).max(maximum))
    .describe(`${purpose}; ${minimum}–${maximum} characters without spaces around them`);
}

const DAY_IN_ITALY = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Rome', year: 'numeric', month: '2-digit', day: '2-digit' });

/** Returns the current day in Italy as YYYY-MM-DD. */
function todayInItaly(): string {
  return DAY_IN_ITALY.format(new Date());
}

const latitude = decimal('Latitude', BOUNDS.south, BOUNDS.north);
const longitude = decimal('Longitude', BOUNDS.west, BOUNDS.east);
const side = z.string().regex(DECIMAL).transform(Number).pipe(z.number());
/** Coordinate in degrees or metres. */
const corner = z.string().regex(/^-?\d{1,9}(\.\d{1,17})?$/).transform(Number).pipe(z.number());

export const searchParameters = z.strictObject({
  q: text(2, 200, 'Text of the address as usually written'),
  city: text(1, 100, 'Restricts the search to a comune; name in Italian or in the second language, a former name, or the 4-character cadastral code').optional(),
  limit: whole(1, 50, 'Maximum number of results').default(10),
});

export const reverseParameters = z.strictObject({
  lat: latitude,
  lng: longitude,
  radius: whole(1, 500, 'Radius around the point in metres').default(100),
  limit: whole(1, 20, 'Maximum number of results').default(5),
});

export const locateParameters = z.strictObject({
  lat: latitude.optional(),
  lng: longitude.optional(),
  // OpenAPI has no style for a list of pairs, so the document describes the parameter as text.
  points: z.string().regex(/^-?[0-9.]+,-?[0-9.]+(;-?[0-9.]+,-?[0-9.]+){0,9}$/).transform((value) => value.split(';').map((point) => point.split(',')))
    .pipe(z.array(z.tuple([side, side])).max(POINTS))
    .describe(`Several points; lat,lng of each in degrees, separated by semicolons, at most ${POINTS}`).optional(),
  bbox: z.string().transform((value) => value.split(',')).pipe(z.array(side).length(4)).describe(
    `A box; minLng,minLat,maxLng,maxLat in degrees, each side at most ${BOX_DEGREES}°. A box without width or height is a line or a point`,
  ).optional(),
  polygon: z.string().max(10_000).transform((value) => (POLYGON.exec(value)?.[1] ?? '').split(',').map((corner) => corner.trim().split(/\s+/)))
    .pipe(z.array(z.tuple([side, side])).min(4).max(CORNERS + 1).refine((ring) => String(ring[0]) === String(ring.at(-1))))
    .describe(`A polygon; WKT, POLYGON((lng lat, …)) in degrees, one closed ring of at most ${CORNERS} corners, at most 1 km²`).optional(),
  limit: whole(1, 200, 'Maximum number of parcels in the response, or per point if the request has several points').default(50),
  after: whole(0, LARGEST_FID, 'Starts after this fid, to get the next page of a truncated box or polygon').optional(),
  geometry: z.enum(['true', 'false']).transform((value) => value === 'true').pipe(z.boolean())
    .describe('true also returns the geometry and kind of each parcel; true or false').default(false),
  format: z.enum(['json', 'geojson']).describe('Format of the parcels; json, or geojson for a FeatureCollection with geometries').default('json'),
});

export const parcelSearchParameters = z.strictObject({
  comune: text(1, 100, 'The comune; name in Italian or in the second language, a former name, or the 4-character cadastral code'),
  foglio: z.string().regex(/^\d{1,4}$/).describe('Sheet; 1–4 digits').optional(),
  label: text(1, 40, 'Number of the parcel (particella) as on the map; .107/2 is a building parcel of a land register').optional(),
  sezione: z.string().regex(/^[A-Za-z]$/).describe('Letter of the sezione censuaria; one letter').optional(),
  limit: whole(1, 100, 'Maximum number of parcels').default(20),
});

/** Text for descriptions and errors that lists the accepted notations of a parcel id. */
export const PARCEL_ID_FORMS = `a fid, 0–${LARGEST_FID}, or a reference in upper or lower case, CCCCZFFFFAS.label with or without CadastralParcel.IT.AGE.PLA., IT.TN.<comune catastale>.label or IT.BZ.<comune catastale>.label`;

export const parcelPath = z.strictObject({
  id: z.string().regex(/^[^\s\p{C}]{1,100}$/u).describe(`The parcel by its fid or its national cadastral reference; ${PARCEL_ID_FORMS}. Encode a slash as %2F`),
});

export const neighbourParameters = z.strictObject({ limit: whole(1, 200, 'Maximum number of neighbours').default(50) });

export const parcelParameters = z.strictObject({
  include: z.string().transform((value) => (value.trim() === '' ? [] : value.split(',').map((name) => name.trim())))
    .pipe(z.array(z.enum(SECTION_NAMES)))
    .describe(`Sections of the record, in addition to basic; names separated by commas: ${SECTION_NAMES.join(', ')}; default: all`).optional(),
  // The year 0 is refused, because it does not exist in PostgreSQL's calendar.
  as_of: z.iso.date().refine((day) => day >= '0001' && day <= todayInItaly())
    .describe('Returns the record as published at the end of this day, Europe/Rome; a day, YYYY-MM-DD, not after today in Italy').optional(),
});

/** Text for errors that lists the accepted names and codes of a region. */
export const REGION_FORMS = `a region: ${REGIONS.map(({ slug }) => slug).join(', ')}, or its ISTAT code 1–20`;

export const changesParameters = z.strictObject({
  region: text(1, 100, 'Name or ISTAT code of a region'),
  since: z.string().regex(/^(\d{1,9}|\d{4}-\d\d-\d\d)$/).refine((since) => !since.includes('-') || (z.iso.date().safeParse(since).success && since >= '0001'))
    .describe('Returns only changes after this publication, or from this day on; the number of a publication, or a day, YYYY-MM-DD').optional(),
  cursor: z.string().regex(/^\d{1,9}(\.\d{1,10})?$/).refine((cursor) => Number(cursor.split('.')[1] ?? 0) <= LARGEST_FID)
    .describe('Start of the page; meta.cursor of the previous page; cannot be combined with since').optional(),
  limit: whole(1, 1_000, 'Maximum number of changes').default(200),
});

export const feedParameters = z.strictObject({ region: text(1, 100, 'Name or ISTAT code of a region').optional() });

export const publicationPath = z.strictObject({ publication: whole(1, 999_999_999, 'Number of a publication, rollback or withdrawal') });

export const municipalityPath = z.strictObject({
  code: z.string().regex(/^([A-Za-z]\d{3}|\d{6})$/).describe('Cadastral code (a letter and three digits) or ISTAT code (six digits) of the comune'),
});

export const noParameters = z.strictObject({});
export const provinceParameters = z.strictObject({ region: text(1, 100, 'Name or code of a region').optional() });
export const municipalityParameters = z.strictObject({
  province: text(1, 100, 'Name, code or car plate code of a province').optional(),
  region: text(1, 100, 'Name or code of a region').optional(),
});

/** Path parameters that accept any text. An unknown value returns 404. */
export const collectionPath = z.strictObject({ collectionId: z.string().describe('Name of a collection; one of the list of collections') });
export const featurePath = z.strictObject({ ...collectionPath.shape, featureId: z.string().describe('Identifier of a feature; the fid') });

/** Maximum number of features per page. */
const FEATURES = 1_000;

/** Pattern of a date and time according to RFC 3339. */
const MOMENT = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)`;

/** Properties that a filter of features may name, and that are also parameters. */
export const queryableParameters = {
  region_code: whole(1, 20, 'Region by its ISTAT code').optional(),
  municipality_code: z.string().regex(/^[A-Za-z]\d{3}$/).transform((code) => code.toUpperCase()).pipe(z.string())
    .describe('Comune by its cadastral code; a letter and three digits').optional(),
  cadastral_reference: text(1, 60, 'National cadastral reference, CCCCZFFFFAS.label').optional(),
  kind: z.enum(['land', 'road', 'water']).describe('Kind of parcel; land, road or water').optional(),
};

/** Parses the URI of a coordinate reference system. */
function crs(purpose: string): z.ZodType<string | undefined> {
  return z.enum(CRS_URIS).meta({ description: `${purpose}; ${CRS_URIS.join(', ')}; default: the first`, format: 'uri' }).optional();
}

const FEATURE_FORMATS = ['json', 'fgb'] as const;

export const featureParameters = z.strictObject({ crs: crs('Coordinate system of the response') });

export const itemsParameters = z.strictObject({
  // The standard requires reducing a larger limit to the maximum.
  limit: z.string().regex(/^0*[1-9]\d{0,20}$/).transform((digits) => Math.min(Number(digits), FEATURES)).pipe(z.int())
    .meta({ description: `Maximum number of features of a page; a whole number from 1 on, reduced to ${FEATURES} if larger`, minimum: 1, maximum: FEATURES }).default(100),
  bbox: z.string().transform((value) => value.split(',')).pipe(z.array(corner).min(4).max(6))
    .describe('Returns only features that intersect the box; west,south,east,north in degrees, or with heights west,south,low,east,north,high; with bbox-crs, in the axis order and unit of that coordinate system').optional(),
  'bbox-crs': crs('Coordinate system of bbox'),
  ...featureParameters.shape,
  f: z.enum(FEATURE_FORMATS).describe('Format of the response, which overrides the header Accept; json or fgb (FlatGeobuf)').optional(),
  datetime: z.string().regex(new RegExp(`^(${MOMENT}|(\\.\\.)?/${MOMENT}|${MOMENT}/((\\.\\.)?|${MOMENT}))$`)).refine(isInTime)
    .describe('Moment or interval; according to RFC 3339, 2026-01-01T00:00:00Z, 2026-01-01T00:00:00Z/.. or ../2026-01-01T00:00:00Z').optional(),
  // The database adds 1 to the fid, so the largest fid is not valid.
  after: z.string().regex(/^(?:[^\u0000-\u001f\u007f-\u009f~]{1,60}~)?\d{1,10}$/).refine((cursor) => Number(cursor.slice(cursor.lastIndexOf('~') + 1)) < LARGEST_FID)
    .describe('Start of the page; the value in the link next of the previous page').optional(),
  filter: z.string().min(1).max(FILTER_BOUNDS.bytes).describe(
    `Returns only features that meet the conditions. At least one condition must be indexed; CQL2 on the queryables, at most ${FILTER_BOUNDS.conditions} conditions in ${FILTER_BOUNDS.depth} levels`,
  ).optional(),
  'filter-lang': z.enum(FILTER_LANGUAGES).describe(`Language of the filter; ${FILTER_LANGUAGES.join(' or ')}; default: cql2-text`).optional(),
  'filter-crs': crs('Coordinate system of geometries in the filter'),
  ...queryableParameters,
});

/** Returns true if all days of a time or interval exist and the interval does not end before its start. */
function isInTime(text: string): boolean {
  const moments = text.split('/').filter((part) => part.length > 2);
  // `Date` does not accept leap seconds.
  const [from = 0, to = from] = moments.map((moment) => Date.parse(moment.toUpperCase().replace(':60', ':59')));
  return moments.every((moment) => z.iso.date().safeParse(moment.slice(0, 10)).success) && from <= to;
}

/**
 * Reads parameters.
 * @param raw values as text, by name; a repeated parameter is an array
 * @throws ApiError `INVALID_PARAMS` with the parameter and its allowed values
 */
export function readParameters<S extends z.ZodObject>(schema: S, raw: Readonly<Record<string, unknown>>): z.output<S> {
  for (const [name, value] of Object.entries(raw)) {
    const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
    if (field === undefined) {
      const known = Object.keys(schema.shape);
      throw invalidParameter(shown(name), known.length === 0 ? 'no parameters' : known.join(', '), 'is not a parameter of this path');
    }
    if (Array.isArray(value)) throw invalidParameter(name, `once; ${allowedOf(field)}`, 'is given more than once');
  }
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const [name = ''] = result.error.issues.map(({ path }) => String(path[0]));
  throw invalidParameter(name, allowedOf(schema.shape[name] as z.ZodType), raw[name] === undefined ? 'is required' : 'is not valid');
}

/** Returns the description of a field. The field may be optional or have a default. */
export function descriptionOf(field: z.ZodType): string {
  return field.description ?? (field instanceof z.ZodOptional || field instanceof z.ZodDefault ? descriptionOf(field.def.innerType as z.ZodType) : '');
}

function allowedOf(field: z.ZodType): string {
  return descriptionOf(field).replace(/^.*?; /, '');
}

/** Returns a parameter name from a request, shortened and without unprintable characters. */
function shown(name: string): string {
  return name.replace(/[^\w.-]/gu, '?').slice(0, 40) || 'a parameter without a name';
}

/** @throws ApiError `OUT_OF_BOUNDS` */
export function requireInBounds(lat: number, lng: number): void {
  if (lat < BOUNDS.south || lat > BOUNDS.north || lng < BOUNDS.west || lng > BOUNDS.east) {
    const allowed = `latitude ${BOUNDS.south}–${BOUNDS.north}, longitude ${BOUNDS.west}–${BOUNDS.east}`;
    const details = { lat: [BOUNDS.south, BOUNDS.north], lng: [BOUNDS.west, BOUNDS.east] };
    throw new ApiError('OUT_OF_BOUNDS', `the place is not in Italy; allowed: ${allowed}`, details);
  }
}

type Point = readonly [lat: number, lng: number];
type Box = readonly [west: number, south: number, east: number, north: number];

/** `wkt` is a polygon with one closed ring, EPSG:4326, longitude latitude. */
type Place = { readonly point: Point } | { readonly points: readonly Point[] } | { readonly box: Box } | { readonly wkt: string };

/**
 * Returns the requested place, which is exactly one of a point, several points, a box or a polygon.
 * @throws ApiError `INVALID_PARAMS`, `OUT_OF_BOUNDS`, `BBOX_TOO_LARGE`
 */
export function readPlace(query: z.output<typeof locateParameters>): Place {
  const { lat, lng, points, bbox, polygon, after } = query;
  const allowed = 'exactly one of lat and lng, points, bbox, and polygon';
  const given = Object.entries({ 'lat and lng': lat ?? lng, points, bbox, polygon }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const [first, last] = [given[0] ?? '', given.at(-1) ?? ''];
  if (given.length > 1) throw invalidParameter(last, allowed, `cannot be combined with ${first}`);
  if (after !== undefined && bbox === undefined && polygon === undefined) {
    throw invalidParameter('after', 'a request with bbox or polygon', 'cannot be used without bbox or polygon');
  }
  if (bbox !== undefined) return { box: readBox(bbox) };
  if (polygon !== undefined) {
    for (const [west, south] of polygon) requireInBounds(south, west);
    return { wkt: `POLYGON((${polygon.map((corner) => corner.join(' ')).join(', ')}))` };
  }
  if (points !== undefined) {
    for (const point of points) requireInBounds(...point);
    return { points };
  }
  if (lat === undefined) throw invalidParameter('lat', allowed, lng === undefined ? 'is required' : 'is required with lng');
  if (lng === undefined) throw invalidParameter('lng', allowed, 'is required with lat');
  requireInBounds(lat, lng);
  return { point: [lat, lng] };
}

/** @param bbox west, south, east, north, degrees @throws ApiError `INVALID_PARAMS`, `OUT_OF_BOUNDS`, `BBOX_TOO_LARGE` */
export function readBox(bbox: readonly number[]): Box {
  const [west = NaN, south = NaN, east = NaN, north = NaN] = bbox;
  if (west > east || south > north) throw invalidParameter('bbox', 'minLng,minLat,maxLng,maxLat', 'must have the south-western corner before the north-eastern corner');
  requireInBounds(south, west);
  requireInBounds(north, east);
  // The comparison allows for rounding errors, because in floating point 7.55 − 7.5 is slightly more than 0.05.
  if (east - west > BOX_DEGREES + 1e-9 || north - south > BOX_DEGREES + 1e-9) {
    const [width, height] = [east - west, north - south].map((degrees) => Math.round(degrees * 1e7) / 1e7);
    const problem = `bbox is too large; allowed: at most ${BOX_DEGREES} degrees on each side`;
    throw new ApiError('BBOX_TOO_LARGE', problem, { max_degrees: BOX_DEGREES, width, height });
  }
  return [west, south, east, north];
}
