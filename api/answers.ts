/**
 * Zod schemas of the endpoints' responses, from which the OpenAPI document is generated. Tests check responses against these schemas. The server returns the
 * JSON text of the database without parsing it.
 */
import { z } from 'zod';
import {
  addressFacts, belfiore, COVERAGE_MEANING, coverageWord, FINDING_KINDS, geometry, kind, latitude, longitude, municipality, nullable, parcelFacts, whole,
} from '../pipelines/contract/schemas.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import { STATUS, type ErrorCode } from './errors.ts';

const matched = {
  match_type: z.enum(['number', 'number_without_exponent', 'nearest_number', 'street'])
    .describe('number: the exact house number; number_without_exponent: the same number with a different exponent or colour; nearest_number: the nearest number; street: only the street'),
  score: z.number().min(0).max(1)
    .describe('Similarity of the address to the query. If street and place match equally well, the score decreases in the order of the values of match_type'),
};

/** Members of a problem object (RFC 9457). */
const problem = {
  title: z.string().describe('Meaning of the HTTP status'),
  status: z.int().min(100).max(599).describe('HTTP status of the response'),
  detail: z.string().describe('Human-readable description'),
};

export const status = z.looseObject({ type: z.string().describe('urn:mappale:status:ok, or urn:mappale:error: and the error code'), ...problem })
  .meta({ id: 'Status', description: 'State of the service as a problem object (RFC 9457)' });

export const error = z.strictObject({
  type: z.string().regex(/^urn:mappale:error:[A-Z_]+$/).describe('urn:mappale:error: and the error code'),
  ...problem,
  error: z.enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]]).describe('Error code for programs'),
  message: z.string().describe('Human-readable description of the error and of accepted values'),
  details: z.record(z.string(), z.unknown()).optional().describe('Details for programs, such as parameter, allowed and retry_after_seconds'),
}).meta({ id: 'Error', description: 'Error response' });

export const health = z.strictObject({
  status: z.enum(['ok', 'unavailable']).describe('State of the service'),
  version: z.string().regex(/^\d+\.\d+\.\d+/).describe('Version of the program'),
  timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/).describe('Time of the check, UTC'),
  database: z.enum(['ok', 'read_only', 'unreachable']).describe('State of the database; read_only: it can be read, and the server counts requests in memory'),
  dataset: nullable(z.strictObject({
    published: z.boolean().describe('True if a region is published; false: the service works, but has no data yet'),
    regions: z.array(z.strictObject({
      code: whole.describe('ISTAT code, 1–20'),
      name: nullable(z.string(), 'Null: no ISTAT list of comuni is loaded'),
      published_at: z.string().describe('Time at which the publication became current, UTC'),
    })).describe('Published regions'),
    addresses: whole.min(0).describe('Number of published addresses'),
    parcels: whole.min(0).describe('Number of published parcels'),
  }), 'Published data; null: the database is not available'),
}).meta({ id: 'Health', description: 'State of the service, its database and the published data' });

/** Returns the names of the sections that state their coverage in the given place: in `meta.coverage`, or in the block of the section. */
function coveredIn(place: 'meta' | 'block'): string[] {
  return SECTIONS.filter(({ coverage }) => coverage === place).map(({ name }) => name);
}

const coverage = Object.fromEntries(coveredIn('meta').map((name) => [name, coverageWord.optional().describe(`Coverage of the section ${name}`)]));

/** @param meaning description, including the meaning of null */
const text = (meaning: string): z.ZodType<string | null> => nullable(z.string(), meaning);

export const licenses = z.array(z.strictObject({
  section: z.string().describe('Section with values from the source; *: show the attribution with every response'),
  source: z.string().describe('Title of the dataset'),
  holder: z.string().describe('Holder of the rights'),
  license: z.string().describe('Name of the licence'),
  url: z.string().describe("URL of the licence text, or of the dataset's page"),
  reference_period: text('Years, half-years or days of the values of this region; null: no value comes from the source, or the source states no date'),
  attribution: z.string().describe('Attribution text to show'),
})).describe('Attributions that must be shown with the data');

export const parcel = z.strictObject({
  fid: parcelFacts.fid,
  municipality,
  ...Object.fromEntries(SECTIONS.map(({ name, block }) => [name, name === 'basic' ? block : block.optional()])),
  meta: z.strictObject({
    sections_included: z.array(z.string()).describe('Sections of this response'),
    coverage: z.strictObject(coverage)
      .describe(`Coverage of each requested section by section name, except ${coveredIn('block').join(', ')}, whose block states the coverage by level. ${COVERAGE_MEANING}`),
    licenses,
    attribution_required: z.literal(true).describe('Always'),
    as_of: z.strictObject({
      date: z.iso.date().describe('The requested day. The record is as published at the end of the day, Europe/Rome'),
      publication: whole.describe("Internal number of the region's publication on the requested day. The endpoint /changes has different numbers"),
      in_force_since: z.iso.datetime().describe('Time at which the publication became current, UTC'),
    }).optional().describe('Only with as_of: the publication of the record'),
  }).describe('Parameters of the request, and attributions that must be shown'),
}).meta({ id: 'Parcel', description: 'fid, municipality and one block per requested section' });

function list(id: string, item: z.ZodType, order: string, meta: z.ZodRawShape): z.ZodType {
  return z.strictObject({
    data: z.array(item).describe(order),
    meta: z.strictObject({ ...meta, count: whole.min(0).describe('Number of elements in `data`') }).describe('Parameters of the request, and number of results'),
  }).meta({ id });
}

const point = z.strictObject({ lat: latitude, lng: longitude }).meta({ id: 'Point', description: 'A requested point' });

const locatedParcel = z.strictObject({
  point: point.optional(),
  ...parcelFacts,
  kind: kind.optional(),
  geometry: geometry.optional(),
}).meta({ id: 'LocatedParcel', description: 'point: only if several points were requested; kind and geometry: only with geometry=true' });

const locatedFeature = z.strictObject({
  type: z.literal('Feature').describe('GeoJSON'),
  id: whole.describe('fid'),
  geometry,
  properties: z.strictObject({ point: point.optional(), ...parcelFacts, kind }).describe('The parcel'),
}).meta({ id: 'LocatedFeature', description: 'The parcel as a GeoJSON feature' });

const counts = {
  limit: whole.describe('As in the request'),
  count: whole.min(0).describe('Number of parcels in this response'),
  truncated: z.boolean().describe('True if there are more parcels'),
};

const locatedMeta = z.union([
  z.strictObject({ mode: z.literal('point').describe('Response for one point'), lat: latitude, lng: longitude, ...counts }),
  z.strictObject({
    mode: z.literal('points').describe('Response for several points'),
    points: z.array(z.strictObject({ lat: latitude, lng: longitude, count: counts.count, truncated: counts.truncated }))
      .describe('The requested points, each with the number of its parcels'),
    ...counts,
  }),
  z.strictObject({
    mode: z.literal('bbox').describe('Response for a box'),
    bbox: z.array(z.number()).min(4).max(4).describe('minLng, minLat, maxLng and maxLat of the request'),
    after: nullable(whole, 'As in the request; null: the first page was requested'),
    ...counts,
  }),
  z.strictObject({
    mode: z.literal('polygon').describe('Response for a polygon'),
    polygon: z.string().describe('WKT with the corners of the request'),
    after: nullable(whole, 'As in the request; null: the first page was requested'),
    ...counts,
  }),
]).meta({ id: 'LocatedMeta', description: 'Parameters of the request, and number of results' });

export const located = z.union([
  z.strictObject({ data: z.array(locatedParcel).describe('For points, the smallest parcel first; for a box or polygon, sorted by fid'), meta: locatedMeta }),
  z.strictObject({
    type: z.literal('FeatureCollection').describe('GeoJSON, with format=geojson'),
    features: z.array(locatedFeature).describe('In the same order as `data`'),
    meta: locatedMeta,
  }),
]).meta({ id: 'LocatedParcels' });

const kin = z.strictObject({
  fid: whole.describe('Parcel identifier'),
  cadastral_reference: z.string().describe('National cadastral reference: of a parent before the publication, or of a child after the publication'),
  publication: whole.describe('Number of the publication or rollback, as in /changes'),
  kind: z.enum(['split', 'merge', 'renumbered', 'survey']).describe('split: one parcel became several, and at least one of these is new; merge: several parcels became one, and at least one of these is retired; '
    + 'renumbered: the parcel got a different fid or reference, with the same outline; survey: the parcel got a different outline'),
  share_of_parent: z.number().min(0).max(1).describe('Shared area divided by the area of the parent; 4 decimals'),
  share_of_child: z.number().min(0).max(1).describe('Shared area divided by the area of the child; 4 decimals'),
});

export const lineage = z.strictObject({
  data: z.strictObject({
    parents: z.array(kin).describe('Parents of the parcel, oldest publication first; a parcel that keeps its fid is its own parent'),
    children: z.array(kin).describe('Children of the parcel, oldest publication first'),
  }).describe('Lineage of the parcel'),
  meta: z.strictObject({
    fid: whole.describe('Parcel identifier'),
    kept_since: z.iso.date().describe('First day for which history is kept, Europe/Rome'),
  }).describe('The parcel'),
}).meta({ id: 'Lineage', description: 'Parents and children of a parcel' });

export const neighbours = z.strictObject({
  data: z.array(z.strictObject({
    ...parcelFacts, kind, shared_m: z.number().min(0.1).describe('Length in metres of the border of this parcel that is within 0.10 m of the neighbour'),
  }).meta({ id: 'Neighbour' })).describe('Longest shared border first, ties by fid'),
  meta: z.strictObject({ fid: whole.describe('The parcel'), count: counts.count, truncated: counts.truncated }).describe('The parcel, and number of results'),
}).meta({ id: 'Neighbours' });

export const searched = z.strictObject({
  data: z.array(locatedParcel).describe('Sorted by sheet, then label'),
  meta: z.strictObject({
    mode: z.literal('search').describe('Search by sheet and label'),
    comune: z.string().describe('As in the request'),
    foglio: nullable(z.string(), 'Sheet without leading zeros; null: any sheet'),
    label: nullable(z.string(), 'As in the request; null: any value'),
    sezione: nullable(z.string(), 'As in the request; null: any value'),
    ...counts,
  }).describe('Parameters of the request, and number of results'),
}).meta({ id: 'SearchedParcels' });

const unloadedComune = z.strictObject({
  municipality: z.string().describe('Name of the comune'),
  province: z.string().describe("Name of the comune's province"),
  region: nullable(z.string(), "Name of the comune's region; null: unknown"),
}).meta({ id: 'UnloadedComune', description: 'A comune that the query names and that has no loaded addresses' });

export const found = list('FoundAddresses', z.strictObject({ ...addressFacts, ...matched }).meta({ id: 'FoundAddress' }), 'Best match first', {
  query: z.string().describe('q as in the request'), city: nullable(z.string(), 'As in the request; null: the request has no city'),
  not_loaded: z.array(unloadedComune).optional().describe('Comuni that the query names and that have no loaded addresses; present only if `data` is empty'),
});

const nearAddress = z.strictObject({ ...addressFacts, distance_meters: z.number().min(0).describe('Distance on the ellipsoid in metres') }).meta({ id: 'NearAddress' });

export const near = list('NearAddresses', nearAddress, 'Nearest first, ties by address_id', {
  lat: latitude, lng: longitude, radius_m: whole.describe('As in the request'),
});

export const regions = list('Regions', z.strictObject({
  code: whole.describe('ISTAT code, 1–20'),
  name: nullable(z.string(), 'Name as published by Istat; null: no list of comuni is loaded, and no file has a name'),
  area_km2: nullable(z.number(), 'Area in square kilometres; null: no boundaries are loaded'),
}).meta({ id: 'Region' }), 'Sorted by code', {});

export const provinces = list('Provinces', z.strictObject({
  code: z.string().describe('ISTAT code, 3 digits'),
  name: z.string().describe('Name as published by Istat'),
  abbreviation: nullable(z.string(), 'Car plate code; null: Istat publishes no code'),
  region_code: whole.describe('ISTAT code of the region'),
}).meta({ id: 'Province' }), 'Sorted by code', {});

const coverageState = z.enum(['mapped', 'none', 'partial', 'not_mapped', 'not_loaded', 'not_applicable']).describe(
  'mapped: the loaded files cover the comune; none: the files cover the comune and have no feature there; partial: the files cover only parts of the comune, or some maps are missing; not_mapped: the loaded files do not cover the comune; not_loaded: no file is loaded; '
  + 'not_applicable: the section does not exist for any of the checked parcels',
);
const measured = nullable(z.number(), 'Null: the field is not a quantity, or no row of the comune has a value');
const countedOrNull = nullable(whole.min(0), 'Null: not counted');
export const municipalityQuality = z.strictObject({
  municipality: z.strictObject({
    code: belfiore, name: text('Null: unknown'), province: text('Name of the province; null: unknown'), region: text('Name of the region; null: unknown'),
  }).describe('The comune'),
  istat_code: text('ISTAT code, 6 digits; null: the comune is not in the list of comuni'),
  region_code: whole.describe('ISTAT code of the region'),
  published_at: z.string().describe("Time of the region's current publication, UTC"),
  coverage: z.strictObject({
    parcels_asked: whole.min(0).describe('Number of checked land parcels: the outermost parcels of the comune in eight directions, and four random parcels'),
    sections: z.array(z.strictObject({
      section: z.string().describe('Section of the record'),
      map: text('Name of the map, if the section has several maps with a coverage each; null: the coverage of the complete section'),
      state: coverageState,
      rows: nullable(whole.min(0), 'Number of rows of the section, or of values of the map, in the comune; null: not counted'),
      answers: z.record(z.string(), whole.min(1)).describe('Number of checked parcels by coverage: mapped, partial, not_mapped, not_loaded, not_applicable'),
    })).describe('In the order of the record'),
  }).describe('Coverage of the comune by section'),
  files: z.array(z.strictObject({
    source: z.string().describe('Source, as listed by mappale sources'),
    file: z.string().describe('Name of the file'),
    vintage: z.string().describe('Vintage; the text order of the vintages of a source is their order in time'),
    dated: text('Value in the file that distinguishes files of one vintage, such as a day or an issue number; null: the file has no such value'),
    layers: z.array(z.string()).describe('Layers that the file was loaded into'),
    names_comune: z.boolean().describe('True: the file names the comune; false: the file does not distinguish comuni'),
  })).describe('Current files that cover the comune, newest first in each source. If a layer has several current files, values come from the newest file that names the comune'),
  figures: z.array(z.strictObject({
    table: z.string().describe('Published table'),
    slice: text('Property that the counted rows share, such as the half-year; null: all rows of the table'),
    rows: whole.min(0).describe('Number of rows in the comune'),
    rows_province: countedOrNull,
    fields: z.record(z.string(), z.strictObject({
      values: whole.min(0).describe('Number of rows with a value, or with the value true for a boolean column'),
      median: measured,
      p95: measured,
      values_province: countedOrNull,
      median_province: measured,
      p95_province: measured,
    })).describe('Statistics of the comune and of its province, by column'),
  })).describe('Statistics measured by the quality gate'),
  rejects: z.array(z.strictObject({
    source: z.string().describe('Source'),
    code: z.string().describe('Stable code of the reason'),
    records: whole.min(1).describe('Number of rejected records'),
    examples: z.array(z.strictObject({
      file: z.string().describe('Name of the file'),
      member: text('Path inside the file; null: the file itself'),
      position: whole.min(0).describe('Line, byte offset or feature number of the record'),
      message: z.string().describe('expected … found …'),
    })).describe('At most three examples'),
  })).describe('Rejected records that contain a code of the comune in the file name, the member name or the record. Other rejected records cannot be assigned to a comune'),
  address_register: z.strictObject({
    addresses: nullable(whole.min(0), 'Published addresses; null: no file of addresses is loaded for the comune'),
    compared_with: nullable(
      z.strictObject({
        file: z.string().describe('Name of the file'),
        vintage: z.string().describe('Vintage; the text order of the vintages of a source is their order in time'),
      }),
      'The earlier file of addresses; null: the database has no earlier file, so the numbers of `moved`, `new` and `missing` are unknown',
    ),
    findings: z.array(z.strictObject({
      kind: z.enum(FINDING_KINDS).describe(
        'outside: addresses outside the boundary of the comune; same_point: two or more different numbers with the same point; grid_10m: at least 20 addresses with UTM coordinates that are multiples of 10 m; '
        + 'no_numbers: a street without any number; out_of_order: 500 m or more from the previous and the next number on the same side of the street, which are at most 200 m apart; '
        + 'moved: more than 20 m from the point in the earlier file; new: not in the earlier file; missing: only in the earlier file',
      ),
      from_m: nullable(z.number(), 'Lower limit of the distance class in metres; null: this kind is not counted by distance'),
      below_m: nullable(z.number(), 'Upper limit of the distance class in metres; null: no limit, or this kind is not counted by distance'),
      count: nullable(whole.min(0), 'Number of findings; null: unknown, because a needed file or boundary is not loaded, or the comune has more than 100,000 addresses'),
    })).describe('Number of findings by kind; kind outside also by distance from the boundary of the comune'),
  }).describe('Possible errors in the published addresses of the comune. `mappale findings` lists each finding'),
  meta: z.strictObject({ licenses, attribution_required: z.literal(true).describe('Always') }).describe('Attributions that must be shown'),
}).meta({ id: 'MunicipalityQuality', description: 'The quality report of a comune' });

export const municipalities = list('Municipalities', z.strictObject({
  code: belfiore,
  istat_code: nullable(z.string().regex(/^\d{6}$/), 'Province and comune; null: the comune is not in the list of comuni'),
  name: nullable(z.string(), 'Italian name; null: no list of comuni is loaded, and no file has a name of the comune'),
  province: nullable(z.string(), 'Name of the province; null: the comune is not in the list of comuni'),
  region: nullable(z.string(), 'Name of the region; null: unknown'),
}).meta({ id: 'MunicipalityEntry' }), 'Sorted by ISTAT code; comuni without a code last', {});
