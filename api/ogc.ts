/**
 * Endpoints of OGC API - Features, Parts 1 to 3, below /ogc. The collections are the parcels and each section of the record. Tokens, limits and errors
 * are the same as for all other endpoints. docs/ogc-conformance.md lists the test of each requirement.
 */
import { z } from 'zod';
import { firstFid, REGIONS } from '../pipelines/contract/regions.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { CRS84, CRS_URIS, boxesOf, crsOf, placed, SMALL_BOX_DEGREES, type Crs } from './crs.ts';
import { FILTER_GEOMETRY, FILTER_PROPERTIES, parseFilter, type Condition, type Filter } from './cql2.ts';
import { endpoint, type Answer, type Endpoint } from './endpoint.ts';
import { invalidParameter, refusal } from './errors.ts';
import { FLATGEOBUF } from './flatgeobuf.ts';
import { collection, collections, conformance, featureCollection, featureProperties, GEOJSON_TYPE, landingPage, queryables, SCHEMA_TYPE, singleFeature } from './ogc-answers.ts';
import { collectionsPage, conformancePage, describedPage, queryablesPage } from './ogc-pages.ts';
import { collectionPath, descriptionOf, featureParameters, featurePath, itemsParameters, noParameters, queryableParameters } from './parameters.ts';

const OGC = '/ogc';

export const CONFORMS_TO: readonly string[] = [
  ...['core', 'geojson'].map((name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`),
  'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs',
  ...['queryables', 'filter', 'features-filter'].map((name) => `http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/${name}`),
  ...['basic-cql2', 'advanced-comparison-operators', 'basic-spatial-functions', 'basic-spatial-functions-plus', 'cql2-text', 'cql2-json'].map((name) => `http://www.opengis.net/spec/cql2/1.0/conf/${name}`),
];

const QUERYABLES_REL = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';

/** Media types of links, without charset. */
const [JSON_MEDIA, GEOJSON_MEDIA, SCHEMA_MEDIA] = ['application/json', ...[GEOJSON_TYPE, SCHEMA_TYPE].map((type) => type.replace(/;.*/, ''))] as [string, string, string];

export const OPENAPI_MEDIA = 'application/vnd.oai.openapi+json;version=3.1';

interface Link {
  readonly href: string;
  readonly rel: string;
  readonly type?: string;
  readonly title?: string;
}

interface Collection {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Section of the record. Null: the collection of parcels. */
  readonly section: string | null;
}

export const COLLECTIONS: readonly Collection[] = [
  { id: 'parcels', title: 'Parcels', description: 'Names and outlines of cadastral parcels, including roads and waters', section: null },
  ...SECTIONS.filter(({ name }) => name !== 'basic').map(({ name, title }) => ({
    id: name, title, description: `All parcels with the section ${name} of the record and its coverage`, section: name,
  })),
];

/** @throws ApiError `NOT_FOUND` */
function collectionOf(id: string): Collection {
  const found = COLLECTIONS.find((each) => each.id === id);
  if (found === undefined) throw refusal.NO_FEATURE(id, null);
  return found;
}

/** Schema of each queryable property, by name. */
const queryableFields: Readonly<Record<keyof typeof FILTER_PROPERTIES, z.ZodType>> = {
  ...queryableParameters, sheet: featureProperties.shape.sheet, label: featureProperties.shape.label, area_m2: featureProperties.shape.area_m2,
};

function describeCollection({ id, title, description }: Collection, base: string, extent: readonly number[] | null): Readonly<Record<string, unknown>> {
  const at = `${base}${OGC}/collections/${id}`;
  const links: readonly Link[] = [
    { href: at, rel: 'self', type: JSON_MEDIA, title },
    { href: `${at}/items`, rel: 'items', type: GEOJSON_MEDIA, title: `${title} as GeoJSON` },
    { href: `${at}/items?f=${FLATGEOBUF.name}`, rel: 'items', type: FLATGEOBUF.type, title: `${title} as FlatGeobuf` },
    { href: `${at}/queryables`, rel: QUERYABLES_REL, type: SCHEMA_MEDIA, title: 'Queryable properties' },
  ];
  return {
    id, title, description, links,
    ...(extent === null ? {} : { extent: { spatial: { bbox: [extent], crs: CRS84 } } }),
    itemType: 'feature',
    crs: CRS_URIS,
    storageCrs: CRS84,
  };
}

async function extentOf(reader: Reader): Promise<{ publication: string; extent: readonly number[] | null }> {
  return reader.call<{ publication: string; extent: readonly number[] | null }>('select publication, extent from api.features_extent()', []);
}

/** Returns an answer that does not depend on a publication. */
function fixed(value: unknown): Promise<Answer> {
  return Promise.resolve({ publication: '', answer: JSON.stringify(value) });
}

/**
 * Parses a cursor. A cursor is a fid. If the request filters by comune, the cursor is `REFERENCE~FID`, because the pages of a comune are sorted by cadastral
 * reference. If a small box selects the parcels, the cursor is always a fid.
 */
function readCursor(after: string | undefined): { reference: string; fid: number } {
  if (after === undefined) return { reference: '', fid: -1 };
  const at = after.lastIndexOf('~');
  return { reference: after.slice(0, Math.max(at, 0)), fid: Number(after.slice(at + 1)) };
}

/** Returns the given parameters as a query string. Undefined values are omitted. */
function queryOf(values: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
}

/** @throws ApiError `INVALID_PARAMS` */
function requestedBoxes(bbox: readonly number[] | undefined, crs: Crs): Exclude<ReturnType<typeof boxesOf>, null> {
  const found = boxesOf(bbox, crs);
  if (found === null) throw invalidParameter('bbox', descriptionOf(itemsParameters.shape.bbox).replace(/^.*?; /, ''), 'is not a box on Earth');
  return found;
}

/** Result of `api.features`. */
type Page = {
  readonly publication: string;
  /** Reason why a geometry of the filter is invalid. Null: all geometries are valid. */
  readonly problem: string | null;
  readonly features: string;
  readonly returned: number;
  readonly next_reference: string | null;
  readonly next: number | null;
  readonly licenses: string;
};

/** Maximum time in milliseconds for a page with a filter. */
const FILTER_MS = 2_000;

/** Error code of a statement that the database cancelled (SQLSTATE 57014). */
const CANCELLED = 'SQL_57014';

/** Conditions for which the database has an index. */
export const INDEXED = ["municipality_code = '…'", "cadastral_reference = '…'", `s_intersects(${FILTER_GEOMETRY}, …)`, 'the parameter bbox'] as const;

/** Returns the conditions that every matching feature must meet. */
function required({ where }: Filter): readonly Condition[] {
  const open = (condition: Condition): readonly Condition[] => (condition.op === 'and' ? condition.args.flatMap(open) : [condition]);
  return open(where);
}

/** Returns the value that a property must equal to meet a filter, or undefined if the filter requires no value. @throws ApiError `INVALID_PARAMS` */
function requiredValue(filter: Filter | null, property: 'municipality_code' | 'cadastral_reference'): string | undefined {
  if (filter === null) return undefined;
  const found = required(filter).find((each) => each.op === '=' && each.property === property);
  if (found?.op !== '=') return undefined;
  const value = String(found.value);
  if (property === 'municipality_code' && !/^[A-Z]\d{3}$/.test(value)) throw invalidParameter('filter', 'a capital letter and three digits', 'compares municipality_code with a text that is not a cadastral code');
  return value;
}

/** Returns the filter in the format that `api.features` reads. @throws ApiError `INVALID_PARAMS` */
function filterParameter(filter: Filter | null, crs: Crs): object | undefined {
  if (filter === null) return undefined;
  const { where, conditions } = filter;
  const shapes = filter.shapes.map(({ type, coordinates }) => ({ type, coordinates: placed(coordinates, crs) }));
  if (shapes.some(({ coordinates }) => coordinates === null)) {
    throw invalidParameter('filter', `x ${crs.domain[0]}–${crs.domain[2]}, y ${crs.domain[1]}–${crs.domain[3]}`, 'has a position outside the area of filter-crs');
  }
  const box = required(filter).find((each) => each.op === 's_intersects');
  return { where, shapes, srid: crs.srid, conditions, box: box?.op === 's_intersects' ? box.shape : null, small: SMALL_BOX_DEGREES };
}

/**
 * Returns the coordinate system of a response in the format that `api.features` and `api.feature` read, or undefined for CRS84. FlatGeobuf always has x before
 * y.
 */
function answerCrs({ srid, axes, digits }: Crs, format?: string): object | undefined {
  return srid === crsOf(CRS84).srid ? undefined : { srid, digits, swap: axes === 'yx' && format !== FLATGEOBUF.name };
}

function contentCrs({ uri }: Crs): Readonly<Record<string, string>> {
  return { 'content-crs': `<${uri}>` };
}

/** Reads a page from the database. A page with a filter may take at most 2 seconds. @throws ApiError `FILTER_TOO_SLOW` */
async function readPage(reader: Reader, parameters: readonly unknown[], filter: Filter | null): Promise<Page> {
  const statement = 'select publication, problem, features, returned, next_reference, next, licenses from api.features($1, $2, $3, $4, $5, $6, $7, $8, $9)';
  try {
    return await reader.call<Page>(statement, parameters, filter === null ? {} : { longestMs: FILTER_MS });
  } catch (error) {
    if (filter !== null && error instanceof MappaleError && error.code === CANCELLED) throw refusal.FILTER_TOO_SLOW(FILTER_MS / 1000);
    throw error;
  }
}

const FIRSTS = [...REGIONS.map(({ code }) => firstFid(code)), firstFid(REGIONS.length + 1)];

async function items(
  reader: Reader, query: z.output<typeof itemsParameters>, { collectionId }: z.output<typeof collectionPath>, base: string,
): Promise<Answer> {
  const { id, title, section } = collectionOf(collectionId);
  const { limit, after, bbox, region_code: region, kind } = query;
  const filter = query.filter === undefined ? null : parseFilter(query.filter, query['filter-lang'] ?? 'cql2-text');
  const municipality_code = query.municipality_code ?? requiredValue(filter, 'municipality_code');
  const cadastral_reference = query.cadastral_reference ?? requiredValue(filter, 'cadastral_reference');
  const crs = crsOf(query.crs);
  const boxCrs = crsOf(query['bbox-crs']);
  const { boxes, isSmall } = requestedBoxes(bbox, boxCrs);
  const isIndexed = filter === null || (municipality_code ?? cadastral_reference ?? bbox) !== undefined || required(filter).some(({ op }) => op === 's_intersects');
  if (!isIndexed) throw refusal.FILTER_NOT_INDEXED(INDEXED);
  const cursor = readCursor(after);
  const range = region === undefined ? [FIRSTS[0], FIRSTS.at(-1)] : [firstFid(region), firstFid(region + 1)];
  const asked = {
    municipality_code, cadastral_reference, kind, filter: filterParameter(filter, crsOf(query['filter-crs'])), box_srid: boxCrs.srid, crs: answerCrs(crs, query.f),
  };
  const page = await readPage(reader, [section, boxes, isSmall, FIRSTS, range, JSON.stringify(asked), cursor.reference, cursor.fid, limit], filter);
  if (page.problem !== null) throw invalidParameter('filter', 'geometries that do not cross or touch themselves', `has a geometry that is not valid: ${page.problem}`);
  const at = `${base}${OGC}/collections/${id}`;
  const media = query.f === FLATGEOBUF.name ? FLATGEOBUF.type : GEOJSON_MEDIA;
  const next = page.next === null ? [] : [{
    href: `${at}/items?${queryOf({ ...query, after: page.next_reference === null ? page.next : `${page.next_reference}~${page.next}` })}`,
    rel: 'next', type: media, title: 'Next page',
  }];
  const links: readonly Link[] = [
    { href: `${at}/items?${queryOf(query)}`, rel: 'self', type: media, title: 'This page' },
    ...next,
    { href: at, rel: 'collection', type: JSON_MEDIA, title },
  ];
  return {
    publication: page.publication,
    headers: contentCrs(crs),
    answer: `{"type":"FeatureCollection","features":[${page.features}],"numberReturned":${page.returned},"links":${JSON.stringify(links)},"licenses":${page.licenses}}`,
  };
}

async function item(
  reader: Reader, query: z.output<typeof featureParameters>, { collectionId, featureId }: z.output<typeof featurePath>, base: string,
): Promise<Answer> {
  const { id, title, section } = collectionOf(collectionId);
  if (!/^(0|[1-9]\d{0,9})$/.test(featureId) || Number(featureId) >= (FIRSTS.at(-1) ?? 0)) throw refusal.NO_FEATURE(id, featureId);
  const crs = crsOf(query.crs);
  const other = answerCrs(crs);
  const { publication, feature, licenses } = await reader.call<{ publication: string; feature: string | null; licenses: string }>(
    'select publication, feature, licenses from api.feature($1, $2, $3)', [Number(featureId), section, other === undefined ? null : JSON.stringify(other)],
  );
  if (feature === null) throw refusal.NO_FEATURE(id, featureId);
  const at = `${base}${OGC}/collections/${id}`;
  const links: readonly Link[] = [
    { href: `${at}/items/${featureId}${query.crs === undefined ? '' : `?${queryOf(query)}`}`, rel: 'self', type: GEOJSON_MEDIA, title: 'This feature' },
    { href: at, rel: 'collection', type: JSON_MEDIA, title },
  ];
  return { publication, headers: contentCrs(crs), answer: `${feature.slice(0, -1)},"links":${JSON.stringify(links)},"licenses":${licenses}}` };
}

const OPEN = { scope: null } as const;
const COMMON = { scope: 'parcels:read' } as const;
const CRS_HEADER = { 'Content-Crs': { description: 'Coordinate system of the response', example: `<${CRS84}>` } };
const NO_COLLECTION = { errors: ['NOT_FOUND'] as const, missing: refusal.NO_FEATURE('roads', null) };

export const OGC_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    ...OPEN,
    path: OGC,
    operation: 'getLandingPage',
    page: describedPage,
    summary: 'Get the landing page',
    description: 'Returns links to this document, the conformance classes and the collections.',
    parameters: noParameters,
    answer: landingPage,
    refused: { f: 'json' },
    lookup: (_reader, _query, _path, base) => fixed({
      title: 'mappale: Italian cadastral parcels',
      description: 'Parcels, and the sections of their records, as OGC API - Features. Show the attributions in licenses with the data.',
      links: [
        { href: `${base}${OGC}`, rel: 'self', type: JSON_MEDIA, title: 'This document' },
        { href: `${base}${OGC}/api`, rel: 'service-desc', type: OPENAPI_MEDIA, title: 'The complete API as an OpenAPI document' },
        { href: `${base}/docs`, rel: 'service-doc', type: 'text/html', title: 'Interactive documentation of the API' },
        { href: `${base}${OGC}/conformance`, rel: 'conformance', type: JSON_MEDIA, title: 'Conformance classes' },
        { href: `${base}${OGC}/collections`, rel: 'data', type: JSON_MEDIA, title: 'Collections' },
      ],
    }),
  }),
  endpoint({
    ...OPEN,
    path: `${OGC}/conformance`,
    operation: 'getConformanceClasses',
    page: conformancePage,
    summary: 'Conformance classes',
    description: 'Lists the conformance classes: core and GeoJSON of OGC API - Features, Part 1, coordinate systems of Part 2, and filters of Part 3 in CQL2.',
    parameters: noParameters,
    answer: conformance,
    refused: { f: 'json' },
    lookup: () => fixed({ conformsTo: CONFORMS_TO }),
  }),
  endpoint({
    ...OPEN,
    path: `${OGC}/collections`,
    operation: 'getCollections',
    page: collectionsPage,
    summary: 'Collections',
    description: 'Lists the collection of parcels and one collection for each section of the record.',
    parameters: noParameters,
    answer: collections,
    refused: { f: 'json' },
    lookup: async (reader, _query, _path, base) => {
      const { publication, extent } = await extentOf(reader);
      const links: readonly Link[] = [{ href: `${base}${OGC}/collections`, rel: 'self', type: JSON_MEDIA, title: 'This document' }];
      return { publication, answer: JSON.stringify({ links, collections: COLLECTIONS.map((each) => describeCollection(each, base, extent)) }) };
    },
  }),
  endpoint({
    ...OPEN, ...NO_COLLECTION,
    path: `${OGC}/collections/{collectionId}`,
    operation: 'getCollection',
    page: describedPage,
    summary: 'Get a collection',
    description: 'Returns the description, spatial extent and links of a collection.',
    parameters: noParameters,
    pathParameters: collectionPath,
    answer: collection,
    example: { collectionId: 'parcels' },
    refused: { f: 'json' },
    lookup: async (reader, _query, { collectionId }, base) => {
      const found = collectionOf(collectionId);
      const { publication, extent } = await extentOf(reader);
      return { publication, answer: JSON.stringify(describeCollection(found, base, extent)) };
    },
  }),
  endpoint({
    ...OPEN, ...NO_COLLECTION,
    path: `${OGC}/collections/{collectionId}/queryables`,
    operation: 'getQueryables',
    page: queryablesPage,
    summary: 'Get the queryable properties of a collection',
    description: 'Returns a JSON Schema of the properties that a filter may name. Some of these properties are also parameters of `items`. Such a parameter of `items` selects features with an equal value.',
    parameters: noParameters,
    pathParameters: collectionPath,
    answer: queryables,
    type: SCHEMA_TYPE,
    example: { collectionId: 'parcels' },
    refused: { f: 'json' },
    lookup: (_reader, _query, { collectionId }, base) => {
      const { id, title } = collectionOf(collectionId);
      const properties: Record<string, unknown> = {};
      for (const name of Object.keys(FILTER_PROPERTIES) as (keyof typeof FILTER_PROPERTIES)[]) {
        const { $schema: _schema, ...schema } = z.toJSONSchema(queryableFields[name]);
        properties[name] = schema;
      }
      properties[FILTER_GEOMETRY] = { format: 'geometry-multipolygon', description: 'Outline of the parcel, for s_intersects', 'x-ogc-role': 'primary-geometry' };
      return fixed({
        $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `${base}${OGC}/collections/${id}/queryables`, type: 'object', title,
        properties, additionalProperties: false,
      });
    },
  }),
  endpoint({
    ...COMMON, ...NO_COLLECTION,
    errors: ['NOT_FOUND', 'FILTER_NOT_INDEXED', 'FILTER_TOO_SLOW'],
    path: `${OGC}/collections/{collectionId}/items`,
    operation: 'getFeatures',
    summary: 'Get features of a collection',
    description: 'Returns one page as GeoJSON or FlatGeobuf, by default in longitude and latitude of WGS 84. GeoJSON coordinates have the axis order of `crs`. '
      + 'FlatGeobuf coordinates have x before y. The links of a FlatGeobuf page are in the header Link. Link `next` points to the next page and is present on all pages but the last. '
      + 'A page ends after `limit` features or 1 MiB, whichever comes first, but never before the first feature. '
      + 'For each page, the server scans a limited number of parcels. If few of these parcels match, a page that has a next page may have fewer features than `limit`, or no feature. '
      + 'Parcels have no time property, so `datetime` matches all parcels. '
      + 'A filter needs an indexed condition, combined with the other conditions by `and`. A filter without an indexed condition fails with 400 `FILTER_NOT_INDEXED`. For each page, the server tests at most 20,000 conditions. '
      + 'A page whose filter takes longer than 2 seconds fails with 400 `FILTER_TOO_SLOW`.',
    parameters: itemsParameters,
    pathParameters: collectionPath,
    answer: featureCollection,
    type: GEOJSON_TYPE,
    binary: FLATGEOBUF,
    headers: CRS_HEADER,
    example: { collectionId: 'parcels', limit: '10' },
    otherExamples: {
      bbox: '14.66,41.56,14.67,41.57', datetime: '2026-01-01T00:00:00Z/..', after: '1400000000', region_code: '14', municipality_code: 'H501',
      cadastral_reference: 'H833_001300.594', kind: 'land',
      filter: "municipality_code = 'H501' and area_m2 > 1000", 'filter-lang': 'cql2-text', 'filter-crs': CRS84, crs: CRS84, 'bbox-crs': CRS84, f: 'fgb',
    },
    refused: { limit: '0' },
    lookup: items,
  }),
  endpoint({
    ...COMMON, ...NO_COLLECTION,
    path: `${OGC}/collections/{collectionId}/items/{featureId}`,
    operation: 'getFeature',
    summary: 'Get a feature',
    description: 'Returns the feature with the given `fid`.',
    parameters: featureParameters,
    pathParameters: featurePath,
    answer: singleFeature,
    type: GEOJSON_TYPE,
    headers: CRS_HEADER,
    example: { collectionId: 'parcels', featureId: '1400000000' },
    otherExamples: { crs: CRS84 },
    refused: { f: 'json' },
    lookup: item,
  }),
];
