/** Defines the zod schemas that several answers share. */
import { z } from 'zod';
import { KINDS } from './section.ts';

/** Returns a nullable schema with a description. @param meaning the meaning of the value and of null */
export const nullable = <T>(schema: z.ZodType<T>, meaning: string): z.ZodType<T | null> => z.union([schema, z.null()]).describe(meaning);

export const whole = z.int();
/** Share of a whole, 0–1. */
export const share = z.number().min(0).max(1);
export const latitude = z.number().min(-90).max(90).describe('Degrees, EPSG:4326');
export const longitude = z.number().min(-180).max(180).describe('Degrees, EPSG:4326');
export const belfiore = z.string().regex(/^[A-Z]\d{3}$/).describe('Cadastral code of the comune: a letter and three digits');
/** Half-year in answers: `2025_1`. */
export const semester = z.string().regex(/^\d{4}_[12]$/);
export const source = z.string().describe('Sources of the block, with their periods');
export const euroPerM2 = nullable(z.number().min(0), 'Euro per square metre; null: not quoted');
export const euroPerM2Month = nullable(z.number().min(0), 'Euro per square metre and month; null: not quoted');

export const municipality = z.strictObject({
  code: belfiore,
  name: nullable(z.string(), 'Name; null: the comune no longer exists'),
  province: nullable(z.string(), 'Name of the province; null: as name'),
  region: nullable(z.string(), 'Name of the region; null: as name'),
}).meta({ id: 'Municipality', description: 'Comune' });

const centroid = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Centroid', description: 'A point inside the parcel, 7 decimals' });

const position = z.array(z.number()).min(2).max(2).describe('Longitude, latitude');
const ring = z.array(position).min(4);
export const geometry = z.union([
  z.strictObject({ type: z.literal('Polygon').describe('One polygon'), coordinates: z.array(ring).min(1).describe('Rings: the outer one, then holes') }),
  z.strictObject({ type: z.literal('MultiPolygon').describe('Several polygons'), coordinates: z.array(z.array(ring).min(1)).min(1).describe('Polygons, each of rings: the outer one, then holes') }),
]).meta({ id: 'Geometry', description: 'GeoJSON of RFC 7946: longitude, latitude, 7 decimals, outer rings counter-clockwise' });

export const kind = z.enum(KINDS).describe('Land, or a strip of road or water that is mapped like a parcel');

/**
 * Values for the coverage of a section at a parcel. Each value explains why a section may be empty. Sections that report coverage per field have other values.
 */
export const coverageWord = z.enum(['mapped', 'not_mapped', 'not_loaded', 'not_applicable']);
export const COVERAGE_MEANING = 'mapped: empty means none here; not_mapped: the loaded files do not cover this place; not_loaded: no files are loaded; '
  + 'not_applicable: the section is not made for this kind of parcel';

/** Fields that every answer has for a parcel. */
export const parcelFacts = {
  fid: whole.describe('Identifier, stable across reloads'),
  gml_id: z.string().describe('Identifier of the feature as published (gml:id); in a land register the reference'),
  label: z.string().describe('Number of the parcel (particella). In a land register the number of a building parcel begins with a dot'),
  cadastral_reference: z.string().describe('CCCCZFFFFAS.label; in the land registers of Trentino-Alto Adige IT.TN.<comune catastale>.label or IT.BZ.…'),
  municipality,
  area_m2: z.number().min(0).describe('True ground area'),
  centroid,
};

/** Fields that every answer has for an access point. */
export const addressFacts = {
  address_id: whole.describe('PROGRESSIVO_ACCESSO of ANNCSU'),
  street_name: z.string().describe('In title case'),
  street_number: z.string().describe('Civico with its exponent: 12/A, 12 ROSSO, KM 3+200, SNC; empty: none'),
  locality: z.string().describe('In title case; empty: unknown'),
  municipality_code: belfiore,
  municipality_name: nullable(z.string(), 'In Italian; null: the list of comuni lacks it, and no file names it'),
  province: nullable(z.string(), 'Name of the province; null: the list of comuni lacks the comune'),
  region: nullable(z.string(), 'Name of the region; null: not known'),
  latitude,
  longitude,
  formatted_address: z.string().describe('Street and number, with the locality or otherwise the comune, and the province'),
};

/** Kinds of findings about addresses, in the order in which they are listed. */
export const FINDING_KINDS = ['outside', 'same_point', 'grid_10m', 'no_numbers', 'out_of_order', 'moved', 'new', 'missing'] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];
