/**
 * Zod schemas of the endpoints' answers. The OpenAPI document is generated from them, and tests check answers against them. The server
 * passes the database's JSON on without parsing it.
 */
import { z } from 'zod';
import { addressFacts, belfiore, COVERAGE_MEANING, coverageWord, geometry, kind, latitude, longitude, municipality, nullable, parcelFacts, whole } from '../pipelines/contract/schemas.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import { STATUS, type ErrorCode } from './errors.ts';

const matched = {
  match_type: z.enum(['number', 'number_without_exponent', 'nearest_number', 'street'])
    .describe('What of the question was found: the number itself, with another exponent or colour, the nearest one, or the street alone'),
  score: z.number().min(0).max(1).describe('How much of the question agrees, less where match_type is less'),
};

export const error = z.strictObject({
  error: z.enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]]).describe('Code, for programs'),
  message: z.string().describe('What is wrong and what would be right, for people'),
  details: z.record(z.string(), z.unknown()).optional().describe('The same for programs: parameter, allowed, retry_after_seconds …'),
}).meta({ id: 'Error', description: 'Why there is no other answer' });

export const health = z.strictObject({
  status: z.enum(['ok', 'unavailable']).describe('Of the service as a whole'),
  version: z.string().regex(/^\d+\.\d+\.\d+/).describe('Of the program'),
  timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/).describe('When this was found; UTC'),
  database: z.enum(['ok', 'read_only', 'unreachable']).describe('Whether it answers; read_only: it does, and the server counts requests in its own memory'),
  dataset: nullable(z.strictObject({
    published: z.boolean().describe('Whether a region is published; false: the service works, and has nothing to answer yet'),
    regions: z.array(z.strictObject({
      code: whole.describe('ISTAT code, 1–20'),
      name: nullable(z.string(), 'Null: no list of comuni is loaded'),
      published_at: z.string().describe('When its publication came into force; UTC'),
    })).describe('Regions that are published'),
    addresses: whole.min(0).describe('How many are published'),
    parcels: whole.min(0).describe('How many are published'),
  }), 'What is published; null: the database does not answer'),
}).meta({ id: 'Health', description: 'How the service is' });

/** Returns the sections whose coverage is in `meta.coverage`, or in their block. */
function coveredIn(place: 'meta' | 'block'): string[] {
  return SECTIONS.filter(({ coverage }) => coverage === place).map(({ name }) => name);
}

const coverage = Object.fromEntries(coveredIn('meta').map((name) => [name, coverageWord.optional().describe(`Of ${name}`)]));

/** @param meaning description, including the meaning of null */
const text = (meaning: string): z.ZodType<string | null> => nullable(z.string(), meaning);

export const licenses = z.array(z.strictObject({
  section: z.string().describe('Section whose values are from the source; *: always to be shown'),
  source: z.string().describe('Title of the dataset'),
  holder: z.string().describe('Whose it is'),
  license: z.string().describe('Name of the licence'),
  url: z.string().describe('Text of the licence, or where the dataset is published'),
  reference_period: text('Years, half-years or days that made the values of this region; null: none of its values come from the source, or it says no date'),
  attribution: z.string().describe('Words to be shown'),
})).describe('Attributions that must be shown with the data');

export const parcel = z.strictObject({
  fid: parcelFacts.fid,
  municipality,
  ...Object.fromEntries(SECTIONS.map(({ name, block }) => [name, name === 'basic' ? block : block.optional()])),
  meta: z.strictObject({
    sections_included: z.array(z.string()).describe('Sections of this answer'),
    coverage: z.strictObject(coverage)
      .describe(`Of each section that was asked for, but ${coveredIn('block').join(', ')}, which says it by level. ${COVERAGE_MEANING}`),
    licenses,
    attribution_required: z.literal(true).describe('Always'),
    as_of: z.strictObject({
      date: z.iso.date().describe('The day asked for; what was in force when it ended, Europe/Rome'),
      publication: whole.describe('Number of the publication of the region that was in force'),
      in_force_since: z.iso.datetime().describe('When that publication came into force; UTC'),
    }).optional().describe('With as_of only: what the record is of'),
  }).describe('What was asked, and what must be shown with it'),
}).meta({ id: 'Parcel', description: 'fid, municipality and one block per section that was asked for' });

function list(id: string, item: z.ZodType, order: string, meta: z.ZodRawShape): z.ZodType {
  return z.strictObject({
    data: z.array(item).describe(order),
    meta: z.strictObject({ ...meta, count: whole.min(0).describe('Elements of data') }).describe('What was asked, and how much was found'),
  }).meta({ id });
}

const point = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Point', description: 'One of the points that were asked for' });

const locatedParcel = z.strictObject({
  point: point.optional(),
  ...parcelFacts,
  kind: kind.optional(),
  geometry: geometry.optional(),
}).meta({ id: 'LocatedParcel', description: 'point: only where several were asked for; kind and geometry: only with geometry=true' });

const locatedFeature = z.strictObject({
  type: z.literal('Feature').describe('GeoJSON'),
  id: whole.describe('fid'),
  geometry,
  properties: z.strictObject({ point: point.optional(), ...parcelFacts, kind }).describe('The parcel'),
}).meta({ id: 'LocatedFeature', description: 'The parcel as GeoJSON' });

const counts = {
  limit: whole.describe('As asked for'),
  count: whole.min(0).describe('Parcels in this answer'),
  truncated: z.boolean().describe('Whether there are more'),
};

const locatedMeta = z.union([
  z.strictObject({ mode: z.literal('point').describe('A point was asked for'), lat: latitude, lng: longitude, ...counts }),
  z.strictObject({
    mode: z.literal('points').describe('Several points were asked for'),
    points: z.array(z.strictObject({ lat: latitude, lng: longitude, count: counts.count, truncated: counts.truncated }))
      .describe('As asked for, each with what was found there'),
    ...counts,
  }),
  z.strictObject({
    mode: z.literal('bbox').describe('A box was asked for'),
    bbox: z.array(z.number()).min(4).max(4).describe('minLng, minLat, maxLng, maxLat as asked for'),
    after: nullable(whole, 'As asked for; null: from the first parcel on'),
    ...counts,
  }),
]).meta({ id: 'LocatedMeta', description: 'What was asked, and how much was found' });

export const located = z.union([
  z.strictObject({ data: z.array(locatedParcel).describe('Smallest first; of a box, by fid'), meta: locatedMeta }),
  z.strictObject({
    type: z.literal('FeatureCollection').describe('GeoJSON, with format=geojson'),
    features: z.array(locatedFeature).describe('In the order of data'),
    meta: locatedMeta,
  }),
]).meta({ id: 'LocatedParcels' });

export const searched = z.strictObject({
  data: z.array(locatedParcel).describe('By sheet, then label'),
  meta: z.strictObject({
    mode: z.literal('search').describe('A search by sheet and label'),
    comune: z.string().describe('As asked for'),
    foglio: nullable(z.string(), 'Sheet without leading zeros; null: any'),
    label: nullable(z.string(), 'As asked for; null: any'),
    sezione: nullable(z.string(), 'As asked for; null: any'),
    ...counts,
  }).describe('What was asked, and how much was found'),
}).meta({ id: 'SearchedParcels' });

const unloadedComune = z.strictObject({
  municipality: z.string().describe('Name of the comune'),
  province: z.string().describe('Name of its province'),
  region: nullable(z.string(), 'Name of its region; null: unknown'),
}).meta({ id: 'UnloadedComune', description: 'A comune that the query names and that has no loaded address' });

export const found = list('FoundAddresses', z.strictObject({ ...addressFacts, ...matched }).meta({ id: 'FoundAddress' }), 'Best match first', {
  query: z.string().describe('q as asked for'), city: nullable(z.string(), 'As asked for; null: none was given'),
  not_loaded: z.array(unloadedComune).optional().describe('Only where `data` is empty: comuni that the query names and that have no loaded address'),
});

const nearAddress = z.strictObject({ ...addressFacts, distance_meters: z.number().min(0).describe('True ground distance') }).meta({ id: 'NearAddress' });

export const near = list('NearAddresses', nearAddress, 'Nearest first, ties by address_id', {
  lat: latitude, lng: longitude, radius_m: whole.describe('As asked for'),
});

export const regions = list('Regions', z.strictObject({
  code: whole.describe('ISTAT code, 1–20'),
  name: nullable(z.string(), 'As Istat writes it; null: no list of comuni is loaded, and no file names it'),
  area_km2: nullable(z.number(), 'Square kilometres; null: no boundaries are loaded'),
}).meta({ id: 'Region' }), 'By code', {});

export const provinces = list('Provinces', z.strictObject({
  code: z.string().describe('ISTAT code, 3 digits'),
  name: z.string().describe('As Istat writes it'),
  abbreviation: nullable(z.string(), 'Car plate code; null: none published'),
  region_code: whole.describe('ISTAT code of the region'),
}).meta({ id: 'Province' }), 'By code', {});

const coverageState = z.enum(['mapped', 'none', 'partial', 'not_mapped', 'not_loaded', 'not_applicable']).describe(
  'mapped; none: mapped, and nothing is there; partial: parts of the comune, or some of the maps; not_mapped: the files loaded do not reach it; not_loaded: there are none; '
  + 'not_applicable: the section is made for none of the parcels asked',
);
const measured = nullable(z.number(), 'Null: the field is no quantity, or has no value there');
const countedOrNull = nullable(whole.min(0), 'Null: it was not counted');
export const municipalityQuality = z.strictObject({
  municipality: z.strictObject({
    code: belfiore, name: text('Null: not known'), province: text('Name of the province; null: as name'), region: text('Name of the region; null: as name'),
  }).describe('The comune'),
  istat_code: text('ISTAT code, 6 digits; null: the list of comuni lacks it'),
  region_code: whole.describe('ISTAT code of the region'),
  published_at: z.string().describe('When the region in force was published; UTC'),
  coverage: z.strictObject({
    parcels_asked: whole.min(0).describe('Land parcels whose records were asked: the outermost of the comune on eight sides, and four drawn by lot'),
    sections: z.array(z.strictObject({
      section: z.string().describe('Section of the record'),
      map: text('Map of a section that says map by map what covers a place; null: the section as a whole'),
      state: coverageState,
      rows: nullable(whole.min(0), 'Rows of the section, or values of the map, in the comune; null: not counted'),
      answers: z.record(z.string(), whole.min(1)).describe('Parcels asked, by what their records say: mapped, partial, not_mapped, not_loaded, not_applicable'),
    })).describe('In the order of a record'),
  }).describe('What covers the comune'),
  files: z.array(z.strictObject({
    source: z.string().describe('Source, as mappale sources lists it'),
    file: z.string().describe('Name of the file'),
    vintage: z.string().describe('Vintage, sorts as text'),
    dated: text('Date inside the file; null: it has none'),
    layers: z.array(z.string()).describe('What was made of it'),
    names_comune: z.boolean().describe('True: it names the comune; false: it does not tell comuni apart'),
  })).describe('Files in force that speak for it, newest first in each source; of several of one layer the newest that names it decides'),
  figures: z.array(z.strictObject({
    table: z.string().describe('Published table'),
    slice: text('What its rows have in common, such as their half-year; null: nothing'),
    rows: whole.min(0).describe('Rows of the comune'),
    rows_province: countedOrNull,
    fields: z.record(z.string(), z.strictObject({
      values: whole.min(0).describe('Rows with a value, or in which it is true'),
      median: measured,
      p95: measured,
      values_province: countedOrNull,
      median_province: measured,
      p95_province: measured,
    })).describe('By column: of the comune, and of its province'),
  })).describe('What the quality gate measured'),
  rejects: z.array(z.strictObject({
    source: z.string().describe('Source'),
    code: z.string().describe('Stable reason'),
    records: whole.min(1).describe('How many'),
    examples: z.array(z.strictObject({
      file: z.string().describe('Name of the file'),
      member: text('Path inside the file; null: the file itself'),
      position: whole.min(0).describe('Line, byte offset or feature number'),
      message: z.string().describe('expected … found …'),
    })).describe('At most three'),
  })).describe('Records refused of which file, member or bytes name the comune by its codes; others cannot be told'),
  meta: z.strictObject({ licenses, attribution_required: z.literal(true).describe('Always') }).describe('What must be shown with it'),
}).meta({ id: 'MunicipalityQuality', description: 'The quality passport of a comune' });

export const municipalities = list('Municipalities', z.strictObject({
  code: belfiore,
  istat_code: nullable(z.string().regex(/^\d{6}$/), 'Province and comune; null: the list of comuni lacks it'),
  name: nullable(z.string(), 'In Italian; null: the list lacks it, and no file names it'),
  province: nullable(z.string(), 'Name of the province; null: the list of comuni lacks it'),
  region: nullable(z.string(), 'Name of the region; null: not known'),
}).meta({ id: 'MunicipalityEntry' }), 'By ISTAT code, those without one last', {});
