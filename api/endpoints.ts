/** The endpoints that need a key: one table from which the routes, the document and the tests are made. */
import type { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import { SECTIONS } from '../pipelines/sections.ts';
import * as answers from './answers.ts';
import type { ErrorCode } from './errors.ts';
import { ApiError } from './errors.ts';
import { search } from './geocoding.ts';
import {
  locateParameters, municipalityParameters, noParameters, parcelParameters, parcelPath, provinceParameters, readPlace, requireInBounds, reverseParameters, searchParameters,
} from './parameters.ts';

export const SCOPES = ['geocoding:read', 'admin_data:read', 'parcels:read'] as const;

export type Scope = (typeof SCOPES)[number];

/** What a function of the database answers. */
export interface Answer {
  /** The publications that the answer depends on. */
  readonly publication: string;
  /** JSON text; null: there is no such thing. */
  readonly answer: string | null;
}

export interface Endpoint {
  /** Below the base address; `{id}` is a path parameter. */
  readonly path: string;
  readonly operation: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  readonly pathParameters: z.ZodObject;
  readonly answer: z.ZodType;
  /** Errors that only this endpoint has. */
  readonly errors: readonly ErrorCode[];
  /** A query that can be tried. */
  readonly example: Readonly<Record<string, string>>;
  /** @param given path and query parameters, read @throws ApiError, MappaleError */
  readonly lookup: (reader: Reader, given: Given) => Promise<Answer>;
}

export interface Given {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** What is known of a parcel that is no longer published. */
interface Retired {
  readonly successor_fid: number | null;
}

/** Ties a look-up to the types that its schemas give. */
function endpoint<Q extends z.ZodObject, P extends z.ZodObject>(
  facts: Omit<Endpoint, 'parameters' | 'pathParameters' | 'lookup'> & {
    parameters: Q; pathParameters: P; lookup: (reader: Reader, query: z.output<Q>, path: z.output<P>) => Promise<Answer>;
  },
): Endpoint {
  return { ...facts, lookup: (reader, { query, path }) => facts.lookup(reader, query as z.output<Q>, path as z.output<P>) };
}

export const ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    path: '/geocode/search',
    operation: 'searchAddresses',
    scope: 'geocoding:read',
    summary: 'From an address to coordinates',
    description: 'Best match first. `match_type` says how close it is: `number`, `number_without_exponent`, `nearest_number` or `street`.',
    parameters: searchParameters,
    pathParameters: noParameters,
    answer: answers.found,
    errors: [],
    example: { q: 'Via Roma 5', city: 'Campobasso' },
    lookup: (reader, { q, city, limit }) => search(reader, q, city ?? null, limit),
  }),
  endpoint({
    path: '/geocode/reverse',
    operation: 'addressesNear',
    scope: 'geocoding:read',
    summary: 'From coordinates to addresses',
    description: 'Nearest first; `distance_meters` is true ground distance.',
    parameters: reverseParameters,
    pathParameters: noParameters,
    answer: answers.near,
    errors: ['OUT_OF_BOUNDS'],
    example: { lat: '41.5603', lng: '14.6627' },
    lookup: (reader, { lat, lng, radius, limit }) => {
      requireInBounds(lat, lng);
      return reader.call<Answer & Record<string, unknown>>('select publication, answer from api.reverse_answer($1, $2, $3, $4)', [lat, lng, radius, limit]);
    },
  }),
  endpoint({
    path: '/parcels/locate',
    operation: 'locateParcels',
    scope: 'parcels:read',
    summary: 'Parcels at a point or in a box',
    description: 'A point: the parcels that contain it, border included, smallest first. A box: the parcels that intersect it, by `fid`.',
    parameters: locateParameters,
    pathParameters: noParameters,
    answer: answers.located,
    errors: ['OUT_OF_BOUNDS', 'BBOX_TOO_LARGE'],
    example: { lat: '41.5603', lng: '14.6627' },
    lookup: (reader, query) => {
      const place = readPlace(query);
      return place.mode === 'point'
        ? reader.call<Answer & Record<string, unknown>>('select publication, answer from api.locate_point($1, $2, $3)', [place.lat, place.lng, query.limit])
        : reader.call<Answer & Record<string, unknown>>('select publication, answer from api.locate_box($1, $2, $3, $4, $5)', [...place.box, query.limit]);
    },
  }),
  endpoint({
    path: '/parcels/{id}',
    operation: 'getParcel',
    scope: 'parcels:read',
    summary: 'One parcel\'s record',
    description: 'The sections that `include` names; `basic`, `fid` and `municipality` are always there. A parcel that was published and no longer is answers 410 `GONE`; '
      + '`details.successor_fid` names the one in force that is drawn the same, null when there is none.',
    parameters: parcelParameters,
    pathParameters: parcelPath,
    answer: answers.parcel,
    errors: ['NOT_FOUND', 'GONE'],
    example: { include: 'basic,risk' },
    lookup: async (reader, { include }, { id }) => {
      const sections = SECTIONS.filter((section) => include === undefined || include.length === 0 || include.includes(section));
      const found = await reader.call<Answer & Record<string, unknown>>('select publication, answer from api.parcel_answer($1, $2)', [id, sections]);
      if (found.answer !== null) return found;
      const { retired } = await reader.call<{ retired: Retired | null }>('select retired_parcel as retired from api.retired_parcel($1)', [id]);
      if (retired === null) throw new ApiError('NOT_FOUND', `there is no parcel ${id}`, { id });
      const { successor_fid } = retired;
      // It may come back.
      throw new ApiError('GONE', `parcel ${id} is no longer published${successor_fid === null ? '' : `; its successor is ${successor_fid}`}`, { id, successor_fid }, { 'cache-control': 'private, no-cache' });
    },
  }),
  endpoint({
    path: '/admin/regions',
    operation: 'listRegions',
    scope: 'admin_data:read',
    summary: 'Regions',
    description: 'By ISTAT code.',
    parameters: noParameters,
    pathParameters: noParameters,
    answer: answers.regions,
    errors: [],
    example: {},
    lookup: (reader) => reader.call<Answer & Record<string, unknown>>('select publication, answer from api.admin_regions()', []),
  }),
  endpoint({
    path: '/admin/provinces',
    operation: 'listProvinces',
    scope: 'admin_data:read',
    summary: 'Provinces',
    description: 'By ISTAT code; names match without case and accents.',
    parameters: provinceParameters,
    pathParameters: noParameters,
    answer: answers.provinces,
    errors: [],
    example: { region: 'Molise' },
    lookup: (reader, { region }) => reader.call<Answer & Record<string, unknown>>('select publication, answer from api.admin_provinces($1)', [region ?? null]),
  }),
  endpoint({
    path: '/admin/municipalities',
    operation: 'listMunicipalities',
    scope: 'admin_data:read',
    summary: 'Comuni',
    description: 'By ISTAT code; names match without case and accents.',
    parameters: municipalityParameters,
    pathParameters: noParameters,
    answer: answers.municipalities,
    errors: [],
    example: { province: 'CB' },
    lookup: (reader, { province, region }) => reader.call<Answer & Record<string, unknown>>('select publication, answer from api.admin_municipalities($1, $2)', [province ?? null, region ?? null]),
  }),
];
