/** Defines the zod schemas that several API responses share. */
import { z } from 'zod';
import { KINDS } from './section.ts';

/** Returns a nullable schema with a description. @param meaning description of the value, with the meaning of null */
export const nullable = <T>(schema: z.ZodType<T>, meaning: string): z.ZodType<T | null> => z.union([schema, z.null()]).describe(meaning);

export const whole = z.int();
/** Share of a whole, 0–1. */
export const share = z.number().min(0).max(1);
export const latitude = z.number().min(-90).max(90).describe('Degrees, EPSG:4326');
export const longitude = z.number().min(-180).max(180).describe('Degrees, EPSG:4326');
export const belfiore = z.string().regex(/^[A-Z]\d{3}$/).describe('Cadastral code of the comune: a letter and three digits');
/** Half-year as the API returns it, such as `2025_1`. */
export const semester = z.string().regex(/^\d{4}_[12]$/);
export const source = z.string().describe('Sources of the values in the block, with the period of each source');
export const euroPerM2 = nullable(z.number().min(0), 'Euro per square metre; null: not quoted');
export const euroPerM2Month = nullable(z.number().min(0), 'Euro per square metre and month; null: not quoted');

export const municipality = z.strictObject({
  code: belfiore,
  name: nullable(z.string(), 'Name of the comune; null: the comune no longer exists'),
  province: nullable(z.string(), 'Name of the province; null: the comune no longer exists'),
  region: nullable(z.string(), 'Name of the region; null: the comune no longer exists'),
}).meta({ id: 'Municipality', description: 'Comune' });

const centroid = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Centroid', description: 'A point inside the parcel, 7 decimals' });

const position = z.array(z.number()).min(2).max(2).describe('Longitude, latitude');
const ring = z.array(position).min(4);
export const geometry = z.union([
  z.strictObject({ type: z.literal('Polygon').describe('One polygon'), coordinates: z.array(ring).min(1).describe('Rings of the polygon: first the outer ring, then the holes') }),
  z.strictObject({ type: z.literal('MultiPolygon').describe('Several polygons'), coordinates: z.array(z.array(ring).min(1)).min(1).describe('Polygons, each as a list of rings: first the outer ring, then the holes') }),
]).meta({ id: 'Geometry', description: 'GeoJSON of RFC 7946: longitude, latitude, 7 decimals, outer rings counter-clockwise' });

export const kind = z.enum(KINDS).describe('Land, or a strip of road or water that is mapped like a parcel');

/**
 * Coverage of a section at a parcel, which explains why the section may be empty. Sections that report coverage per field have other values.
 */
export const coverageWord = z.enum(['mapped', 'not_mapped', 'not_loaded', 'not_applicable']);
export const COVERAGE_MEANING = 'mapped: empty means none here; not_mapped: the loaded files do not cover this place; not_loaded: no files are loaded; '
  + 'not_applicable: the section does not exist for this kind of parcel';

/** Fields that API responses contain for every parcel. */
export const parcelFacts = {
  fid: whole.describe('Identifier, stable across reloads'),
  gml_id: z.string().describe('Published identifier of the feature (gml:id); for parcels of a land register, the cadastral reference'),
  label: z.string().describe('Number of the parcel (particella). In a land register, the number of a building parcel begins with a dot'),
  cadastral_reference: z.string().describe('National cadastral reference: CCCCZFFFFAS.label; in the land registers of Trentino-Alto Adige IT.TN.<comune catastale>.label or IT.BZ.…'),
  municipality,
  area_m2: z.number().min(0).describe('Area of the parcel on the ground, not in the map projection'),
  centroid,
};

/** Fields that API responses contain for every address (access point). */
export const addressFacts = {
  address_id: whole.describe('PROGRESSIVO_ACCESSO of ANNCSU'),
  street_name: z.string().describe('Name of the street in title case'),
  street_number: z.string().describe('Civico with its exponent: 12/A, 12 ROSSO, KM 3+200, SNC; empty: none'),
  locality: z.string().describe('Name of the locality in title case; empty: unknown'),
  municipality_code: belfiore,
  municipality_name: nullable(z.string(), 'Italian name of the comune; null: neither the list of comuni nor a loaded file has the name'),
  province: nullable(z.string(), 'Name of the province; null: the comune is not in the list of comuni'),
  region: nullable(z.string(), 'Name of the region; null: unknown'),
  latitude,
  longitude,
  formatted_address: z.string().describe('Street and number, then the locality (or the comune, if there is none) and the province'),
};

/** Kinds of findings about addresses, in the order in which reports list the kinds. */
export const FINDING_KINDS = ['outside', 'same_point', 'grid_10m', 'no_numbers', 'out_of_order', 'moved', 'new', 'missing'] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];
