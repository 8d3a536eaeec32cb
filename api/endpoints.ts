/** Table of the endpoints, from which routes, the OpenAPI document and tests are generated. */
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { LINEAGE, type LineageRefusal } from '../pipelines/deliver/lineage.ts';
import * as answers from './answers.ts';
import { CHANGES_ENDPOINTS } from './changes.ts';
import { endpoint, type Answer, type Endpoint } from './endpoint.ts';
import { invalidParameter, refusal } from './errors.ts';
import { comuniNamed, search } from './geocoding.ts';
import { OGC_ENDPOINTS } from './ogc.ts';
import { everFid, notPublished, publishedFid, recordOf, recordThen } from './parcel-id.ts';
import {
  locateParameters, municipalityParameters, municipalityPath, neighbourParameters, noParameters, parcelParameters, parcelPath, parcelSearchParameters,
  provinceParameters, readPlace, requireInBounds, reverseParameters, searchParameters,
} from './parameters.ts';

/** @throws ApiError `INVALID_PARAMS`, `POLYGON_TOO_LARGE` */
async function locatePolygon(
  reader: Reader, wkt: string, { after, limit, form }: { readonly after: number; readonly limit: number; readonly form: string },
): Promise<Answer> {
  const { problem, area_m2, ...found } = await reader.call<Answer & { readonly problem: string | null; readonly area_m2: number }>(
    'select publication, answer, problem, area_m2 from api.locate_polygon($1, $2, $3, $4)', [wkt, after, limit, form],
  );
  if (problem !== null) throw invalidParameter('polygon', 'a ring that does not cross or touch itself', `is not valid: ${problem}`);
  if (found.answer === null) throw refusal.POLYGON_TOO_LARGE(area_m2);
  return found;
}

export const ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    path: '/geocode/search',
    operation: 'searchAddresses',
    scope: 'geocoding:read',
    summary: 'Search addresses',
    description: 'Returns the addresses that match best first, only from the named place. `match_type` is `number`, `number_without_exponent`, '
      + '`nearest_number` or `street`. If street and place match equally well, `score` decreases in this order. '
      + 'If `q` and `city` name different comuni, the query is refused. '
      + 'If `q` names two comuni, the first is used if the second name is that of the region or (current or former) province of the first. Otherwise the second comune is used if the first name is '
      + 'a locality of its addresses. Otherwise the result is empty. `meta.not_loaded` lists comuni that the query names and that have no loaded addresses.',
    parameters: searchParameters,
    answer: answers.found,
    example: { q: 'Via Roma 5', city: 'Campobasso' },
    otherExamples: { limit: '5' },
    refused: { q: 'Via Roma 5', limit: '51' },
    lookup: (reader, { q, city, limit }) => search(reader, q, city ?? null, limit),
  }),
  endpoint({
    path: '/geocode/reverse',
    operation: 'addressesNear',
    scope: 'geocoding:read',
    summary: 'Find addresses near a point',
    description: 'Returns the addresses within `radius` metres, nearest first. `distance_meters` is the distance on the ellipsoid.',
    parameters: reverseParameters,
    answer: answers.near,
    errors: ['OUT_OF_BOUNDS'],
    example: { lat: '41.5603', lng: '14.6627' },
    otherExamples: { radius: '200', limit: '10' },
    refused: { lat: '41.5603', lng: '14.6627', radius: '501' },
    lookup: (reader, { lat, lng, radius, limit }) => {
      requireInBounds(lat, lng);
      return reader.call<Answer>('select publication, answer from api.reverse_answer($1, $2, $3, $4)', [lat, lng, radius, limit]);
    },
  }),
  endpoint({
    path: '/parcels/locate',
    operation: 'locateParcels',
    scope: 'parcels:read',
    summary: 'Find parcels at points, in a box or in a polygon',
    description: 'For a point, returns the parcels that contain or touch the point, smallest first. For several points, returns the parcels of each point, each with the number of the point in `point`. '
      + 'For a box or polygon, returns the parcels that intersect the area, sorted by `fid`. To get the next page, send the last `fid` as `after`. '
      + 'Borders have a tolerance of 1e-7°. A corner that is copied from a returned geometry (7 decimals) therefore finds all adjacent parcels.',
    parameters: locateParameters,
    answer: answers.located,
    errors: ['OUT_OF_BOUNDS', 'BBOX_TOO_LARGE', 'POLYGON_TOO_LARGE'],
    example: { lat: '41.5603', lng: '14.6627' },
    otherExamples: {
      points: '41.5603,14.6627;41.5611,14.6640', bbox: '14.66,41.56,14.67,41.57',
      polygon: 'POLYGON((14.66 41.56, 14.665 41.56, 14.66 41.565, 14.66 41.56))', limit: '100', after: '1400000000', geometry: 'true', format: 'geojson',
    },
    refused: { bbox: '14.66,41.56,14.67' },
    lookup: (reader, query) => {
      const place = readPlace(query);
      const { limit, after = -1 } = query;
      const form = query.format === 'geojson' ? 'feature' : query.geometry ? 'geometry' : 'parcel';
      if ('point' in place) return reader.call<Answer>('select publication, answer from api.locate_point($1, $2, $3, $4)', [...place.point, limit, form]);
      if ('wkt' in place) return locatePolygon(reader, place.wkt, { after, limit, form });
      if ('box' in place) {
        return reader.call<Answer>('select publication, answer from api.locate_box($1, $2, $3, $4, $5, $6, $7)', [...place.box, after, limit, form]);
      }
      return reader.call<Answer>('select publication, answer from api.locate_points($1, $2, $3, $4)', [
        place.points.map(([lat]) => lat), place.points.map(([, lng]) => lng), limit, form,
      ]);
    },
  }),
  endpoint({
    path: '/parcels/search',
    operation: 'searchParcels',
    scope: 'parcels:read',
    summary: 'Find parcels by comune, sheet and number',
    description: 'At least one of `foglio` and `label` is required. Results are sorted by sheet, then label. `comune` is resolved like `city` in an address search. '
      + 'In Trentino-Alto Adige, where land registers have no sheets, `comune` may also be a comune catastale. In a land register, the `label` of a building parcel begins with a dot.',
    parameters: parcelSearchParameters,
    answer: answers.searched,
    example: { comune: 'Campobasso', foglio: '12', label: '594' },
    otherExamples: { sezione: 'A', limit: '50' },
    refused: { comune: 'Campobasso', foglio: '12345' },
    lookup: async (reader, { comune, foglio, label, sezione, limit }) => {
      if ((foglio ?? label) === undefined) throw invalidParameter('foglio', 'at least one of foglio and label', 'is required without label');
      const asked = { mode: 'search', comune, foglio: foglio?.replace(/^0+(?=.)/, '') ?? null, label: label ?? null, sezione: sezione ?? null };
      return reader.call<Answer>('select publication, answer from api.search_parcels($1, $2, $3, $4, $5, $6)', [
        await comuniNamed(reader, comune), JSON.stringify(asked), foglio?.padStart(4, '0') ?? null, label ?? null, sezione?.toUpperCase() ?? null, limit,
      ]);
    },
  }),
  endpoint({
    path: '/parcels/{id}',
    operation: 'getParcel',
    scope: 'parcels:read',
    summary: 'Get the record of a parcel',
    description: 'Returns the sections in `include`. `basic`, `fid` and `municipality` are always returned. '
      + '`id` is the fid or the national cadastral reference. With `as_of`, a reference names the parcel that had the reference on the requested day. '
      + 'The endpoint returns 410 `GONE` if the parcel is no longer published, or if the reference belonged only to such parcels. '
      + '`details.successors` lists the fids and references of the published parcels with the same outline. `details.successor_fid` is the fid of the successor if there is exactly one, otherwise null. '
      + 'With `as_of`, returns the record as published at the end of the given day, in the format of this version. Refreshes and rollbacks after that day do not change the record. '
      + '`meta.as_of` names the publication. If no record is kept for the day, the endpoint returns 404 with the first day for which records are kept. '
      + 'If the parcel was no longer published on the day, the endpoint returns 410. While a region is withdrawn, the endpoint returns 404 for all records of the region.',
    parameters: parcelParameters,
    pathParameters: parcelPath,
    answer: answers.parcel,
    errors: ['NOT_FOUND', 'GONE'],
    missing: refusal.NOT_FOUND(1_400_000_000),
    example: { id: '1400000000', include: SECTION_NAMES.slice(0, 2).join(',') },
    otherExamples: { as_of: '2026-01-31' },
    refused: { include: 'basic,rsk' },
    lookup: (reader, { include, as_of: day }, { id }) => {
      const sections = SECTION_NAMES.filter((section) => include === undefined || include.length === 0 || include.includes(section));
      return day === undefined ? recordOf(reader, id, sections) : recordThen(reader, id, sections, day);
    },
  }),
  endpoint({
    path: '/parcels/{id}/neighbours',
    operation: 'getNeighbours',
    scope: 'parcels:read',
    summary: 'List the parcels that share a border with a parcel',
    description: 'Returns the parcels within 0.10 m of the border of the parcel, with the longest shared border first. '
      + '`shared_m` is the length of the shared border in metres, at least 0.10 m. The result includes parcels of roads and waters.',
    parameters: neighbourParameters,
    pathParameters: parcelPath,
    answer: answers.neighbours,
    errors: ['NOT_FOUND', 'GONE'],
    missing: refusal.NOT_FOUND(1_400_000_000),
    example: { id: '1400000000' },
    otherExamples: { limit: '10' },
    refused: { limit: '201' },
    lookup: async (reader, { limit }, { id }) => {
      const fid = await publishedFid(reader, id);
      const found = await reader.call<Answer>('select publication, answer from api.parcel_neighbours($1, $2)', [fid, limit]);
      if (found.answer === null) throw await notPublished(reader, fid);
      return found;
    },
  }),
  endpoint({
    path: '/parcels/{id}/lineage',
    operation: 'getParcelLineage',
    scope: 'parcels:read',
    summary: 'List the parents and children of a parcel',
    description: 'Returns the parents and children of a parcel in all kept publications, with the shares of their areas. Retired parcels have a lineage, too. '
      + 'A parent and its child share at least 1 m² and 1 % of either parcel. Rollbacks are publications, too. On a database on several nodes, which keeps no history, the endpoint returns 501.',
    parameters: noParameters,
    pathParameters: parcelPath,
    answer: answers.lineage,
    errors: ['NOT_FOUND', 'NO_HISTORY'],
    example: { id: '1400000000' },
    refused: { limit: '1' },
    lookup: async (reader, _query, { id }) => {
      const fid = await everFid(reader, id);
      const { refusal: refused, ...found } = await reader.call<Answer & Partial<LineageRefusal>>(LINEAGE, [fid]);
      if (refused === 'never_kept') throw refusal.NO_HISTORY();
      if (refused === 'not_there') throw refusal.NOT_FOUND(fid);
      return found;
    },
  }),
  endpoint({
    path: '/admin/regions',
    operation: 'listRegions',
    scope: 'admin_data:read',
    summary: 'Regions',
    description: 'Sorted by ISTAT code.',
    parameters: noParameters,
    answer: answers.regions,
    refused: { region: 'Molise' },
    lookup: (reader) => reader.call<Answer>('select publication, answer from api.admin_regions()', []),
  }),
  endpoint({
    path: '/admin/provinces',
    operation: 'listProvinces',
    scope: 'admin_data:read',
    summary: 'Provinces',
    description: 'Sorted by ISTAT code. Names match regardless of case and accents.',
    parameters: provinceParameters,
    answer: answers.provinces,
    example: { region: 'Molise' },
    refused: { region: '' },
    lookup: (reader, { region }) => reader.call<Answer>('select publication, answer from api.admin_provinces($1)', [region ?? null]),
  }),
  endpoint({
    path: '/admin/municipalities',
    operation: 'listMunicipalities',
    scope: 'admin_data:read',
    summary: 'Comuni',
    description: 'Sorted by ISTAT code. Names match regardless of case and accents.',
    parameters: municipalityParameters,
    answer: answers.municipalities,
    example: { province: 'CB' },
    otherExamples: { region: 'Molise' },
    refused: { province: '' },
    lookup: (reader, { province, region }) => reader.call<Answer>(
      'select publication, answer from api.admin_municipalities($1, $2)', [province ?? null, region ?? null],
    ),
  }),
  endpoint({
    path: '/admin/municipalities/{code}/quality',
    operation: 'getMunicipalityQuality',
    scope: 'admin_data:read',
    summary: 'Get the quality report of a comune',
    description: 'Returns the coverage of each section, the used files, the statistics of the quality gate compared with the province, and the rejected records. '
      + '`none` means that the loaded files cover the comune and have no feature there. `not_mapped` means that no loaded file covers the comune. '
      + '`not_applicable` means that the section does not exist for any of the checked parcels.',
    parameters: noParameters,
    pathParameters: municipalityPath,
    answer: answers.municipalityQuality,
    errors: ['NOT_FOUND'],
    missing: refusal.NO_COMUNE('H501'),
    example: { code: 'H501' },
    refused: { region: 'Molise' },
    lookup: async (reader, _query, { code }) => {
      const found = await reader.call<Answer>('select publication, answer from api.municipality_quality($1)', [code]);
      if (found.answer === null) throw refusal.NO_COMUNE(code);
      return found;
    },
  }),
  ...CHANGES_ENDPOINTS,
  ...OGC_ENDPOINTS,
];
