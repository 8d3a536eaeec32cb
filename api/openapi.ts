/** Generates the OpenAPI 3.1 document from the tables and schemas that the server and the tests use. */
import { z } from 'zod';
import { OPEN_QUOTA, PER_TOKEN } from './access.ts';
import * as answers from './answers.ts';
import { FEED_ENDPOINT } from './changes.ts';
import type { Described } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { asInstalled } from '../pipelines/typed.ts';
import { PROBLEM_TYPE } from './http.ts';
import { statusOf } from './service-status.ts';
import { ApiError, CHALLENGE, refusal, RETRY_AFTER_SECONDS, STATUS, type ErrorCode } from './errors.ts';
import { INDEXED, OPENAPI_MEDIA } from './ogc.ts';
import { TILES_ENDPOINT } from './tiles.ts';
import { descriptionOf, readBox, readParameters, requireInBounds } from './parameters.ts';

type Json = Readonly<Record<string, unknown>>;

/** Base path of all endpoints. */
export const BASE = '/api/v2';

/** Errors of every endpoint that needs a key. Every path returns 405 for methods that it does not support. */
const COMMON: readonly ErrorCode[] = [
  'INVALID_PARAMS', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'INSUFFICIENT_SCOPE', 'METHOD_NOT_ALLOWED', 'RATE_LIMITED', 'TOO_MANY_ATTEMPTS', 'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

function header(name: string, description: string, example: string | number): Json {
  return { [name]: { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example } };
}

const REQUEST_ID = header('X-Request-Id', 'Identifier of the request in the log', 'c5a1d1e6-6f0b-4f9e-9a55-0d8f1f1d2c3b');
/** Headers about the hourly limit of the client: a token, or a network for endpoints that need no key. */
function rateHeaders(client: 'token' | 'network'): Json {
  const limit = client === 'token'
    ? 'Maximum number of requests of the token per fixed hour. Present in every response to a request with a valid token'
    : 'Maximum number of requests of the client\'s network per fixed hour to endpoints that need no key. A token does not change this limit';
  return {
    ...header('X-RateLimit-Limit', limit, client === 'token' ? 1000 : OPEN_QUOTA),
    ...header('X-RateLimit-Remaining', 'Number of requests that remain in this hour', 997),
    ...header('X-RateLimit-Reset', 'End of this hour in seconds since 1970', 1764000000),
  };
}
const RETRY_AFTER = header('Retry-After', 'Seconds after which the client may send the request again', RETRY_AFTER_SECONDS);
const ETAG = header('ETag', 'Weak entity tag, which changes with each publication of the data', 'W/"3kq1mYI0u8m3yq3Qm6cS2g"');
const AUTHENTICATE = header('WWW-Authenticate', 'Authentication scheme', CHALLENGE);
const CACHE = header('Cache-Control', 'Caching: either a private cache that revalidates each use, or no caching', 'private, no-cache');
/** Additional content of a response that is also available as an HTML page. */
const PAGE: Json = { 'text/html': { schema: { type: 'string' } } };
const ALLOW = header('Allow', 'Allowed methods', 'GET');

/** Body of a `SERVICE_UNAVAILABLE` response from an overloaded server. The other example is for an unavailable database. */
const OVERLOADED = refusal.SERVICE_UNAVAILABLE('the server is overloaded', 'server_busy').toJSON();

/** Errors about the key. Endpoints without a key do not have these errors. */
const OF_KEYS: readonly ErrorCode[] = ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'INSUFFICIENT_SCOPE', 'TOO_MANY_ATTEMPTS'];

/** Runs `work`, which must fail, and returns its error as an example. */
function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('the example of an error did not fail');
}

/** Returns an example of an error response. */
function exampleOfError(code: ErrorCode, endpoint: Described): ApiError {
  const id = 1_400_000_000;
  switch (code) {
    case 'INVALID_PARAMS': return refusalOf(() => readParameters(endpoint.parameters, endpoint.refused));
    case 'OUT_OF_BOUNDS': return refusalOf(() => requireInBounds(48.8566, 2.3522));
    case 'FILTER_NOT_INDEXED': return refusal[code](INDEXED);
    case 'FILTER_TOO_SLOW': return refusal[code](2);
    case 'POLYGON_TOO_LARGE': return refusal[code](1_234_567);
    case 'BBOX_TOO_LARGE': return refusalOf(() => readBox([14.6, 41.5, 14.7, 41.6]));
    case 'INSUFFICIENT_SCOPE': return refusal[code](endpoint.scope ?? '');
    case 'API_KEY_REQUIRED': case 'INVALID_API_KEY': return refusal[code]();
    case 'NOT_FOUND': return endpoint.missing ?? refusal[code](id);
    case 'METHOD_NOT_ALLOWED': return refusal[code]('POST');
    case 'GONE': return endpoint.gone ?? refusal[code](id, [{ fid: id + 1, cadastral_reference: 'H833_001300.594' }]);
    case 'NO_HISTORY': return refusal[code]();
    case 'RATE_LIMITED': return refusal[code](1000, 1742);
    case 'TOO_MANY_ATTEMPTS': return refusal[code](612);
    case 'INTERNAL_ERROR': return refusal[code]('c5a1d1e6-6f0b-4f9e-9a55-0d8f1f1d2c3b');
    case 'SERVICE_UNAVAILABLE': return refusal[code]('the database is not available', 'database');
    case 'REQUEST_TIMEOUT': case 'HEADERS_TOO_LARGE': throw new Error(`${code} is not an error of a path`);
  }
}

/** Returns the schemas that have an `id`, by `id`, in alphabetical order. Other schemas refer to these schemas. */
export function components(): Readonly<Record<string, Json>> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: (id) => `#/components/schemas/${id}` });
  const named = Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, id: _name, ...schema }]): [string, Json] => [id, schema]);
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reference(schema: z.ZodType): Json {
  return { $ref: `#/components/schemas/${String(schema.meta()?.id)}` };
}

function content(schema: Json, examples: Json = {}, type = 'application/json'): Json {
  return { [type]: { schema, ...examples } };
}

/** Returns the content of an error response. */
function problem(schema: Json, examples: Json): Json {
  return content(schema, examples, PROBLEM_TYPE.replace(/;.*/, ''));
}

const LARGEST_INT4 = 2_147_483_647;

/**
 * Adds the format of each number, which the Italian guidelines require. The format of an integer is `int32` if the limits of the integer allow it, otherwise
 * `int64`. The format of any other number is `double`.
 */
function withFormats(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFormats);
  if (typeof value !== 'object' || value === null) return value;
  const object = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withFormats(member)]));
  const { type, minimum, maximum } = object;
  if (type === 'number') return { ...object, format: 'double' };
  if (type !== 'integer') return object;
  const isSmall = typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -LARGEST_INT4 && maximum <= LARGEST_INT4;
  return { ...object, format: isSmall ? 'int32' : 'int64' };
}

/** Returns the schema of a parameter. A list of lists has the type `string`, because OpenAPI has no style for a list of lists. */
function parameterSchema(field: z.ZodType): Json {
  const value = z.toJSONSchema(field);
  const isListOfLists = (value.items as Json | undefined)?.['type'] === 'array';
  const { $schema: _schema, description: _description, ...schema } = isListOfLists ? z.toJSONSchema(field, { io: 'input' }) : value;
  return schema;
}

function parametersOf({ pathParameters, parameters, example, otherExamples }: Described): Json[] {
  const one = (place: 'path' | 'query', { shape }: z.ZodObject): Json[] => Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => {
    const schema = parameterSchema(field);
    const valueOf = (text: string | undefined): unknown => (schema['type'] === 'string' ? text : field.parse(text));
    return {
      name,
      in: place,
      required: !field.safeParse(undefined).success,
      description: descriptionOf(field),
      // Lists are separated by commas (style form, not exploded).
      ...(schema['type'] === 'array' ? { style: 'form', explode: false } : {}),
      schema,
      // Swagger UI must fill in only the parameters of the example query. `examples` are only suggestions.
      ...(name in example ? { example: valueOf(example[name]) } : { examples: { [name]: { value: valueOf(otherExamples[name]) } } }),
    };
  });
  return [...one('path', pathParameters), ...one('query', parameters)];
}

/** Returns the client whose requests are counted. */
function counted({ scope }: Described): 'token' | 'network' {
  return scope === null ? 'network' : 'token';
}

function errorResponses(codes: readonly ErrorCode[], endpoint: Described): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code]);
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, names]) => [String(status), {
    description: names.map((name) => `\`${name}\``).join(', '),
    headers: {
      ...REQUEST_ID, ...(status === 401 || status === 405 ? {} : rateHeaders(counted(endpoint))),
      ...([429, 503].includes(status) ? RETRY_AFTER : {}), ...(status === 401 ? AUTHENTICATE : {}), ...(status === 405 ? ALLOW : {}),
    },
    content: problem({ allOf: [reference(answers.error), { type: 'object', properties: { error: { description: 'Allowed values', enum: names } } }] }, {
      examples: {
        ...Object.fromEntries(names.map((name) => [name, { value: exampleOfError(name, endpoint).toJSON() }])),
        ...(names.includes('SERVICE_UNAVAILABLE') ? { overloaded: { value: OVERLOADED } } : {}),
      },
    }),
  }]));
}

/** Returns the 200 response of an endpoint in all its formats. */
function foundResponse(endpoint: Described): Json {
  const { answer, type, page, binary, headers = {} } = endpoint;
  const others = Object.fromEntries(Object.entries(headers).map(([name, { description, example }]) => [name, { description, schema: { type: 'string' }, example }]));
  return {
    description: 'Found. The list may be empty',
    headers: { ...REQUEST_ID, ...rateHeaders(counted(endpoint)), ...ETAG, ...CACHE, ...others },
    content: {
      ...content(reference(answer), {}, type?.replace(/;.*/, '')), ...(page === undefined ? {} : PAGE),
      ...(binary === undefined ? {} : content({ type: 'string', format: 'binary' }, {}, binary.type)),
    },
  };
}

function operation(endpoint: Described): Json {
  return {
    operationId: endpoint.operation,
    summary: endpoint.summary,
    description: `${endpoint.description} ${endpoint.scope === null ? `Needs no key. An IPv4 address or an IPv6 /64 network may send at most ${OPEN_QUOTA} requests per hour without a key` : `Scope: \`${endpoint.scope}\``}.`,
    tags: endpoint.path.split('/').slice(1, 2),
    security: endpoint.scope === null ? [] : [{ key: [endpoint.scope] }],
    parameters: parametersOf(endpoint),
    responses: {
      200: foundResponse(endpoint),
      ...(endpoint.nothing === undefined ? {} : {
        204: { description: endpoint.nothing, headers: { ...REQUEST_ID, ...rateHeaders(counted(endpoint)), ...ETAG, ...CACHE } },
      }),
      304: { description: 'The version in If-None-Match is still current', headers: { ...REQUEST_ID, ...rateHeaders(counted(endpoint)), ...ETAG } },
      ...errorResponses([...COMMON.filter((code) => endpoint.scope !== null || !OF_KEYS.includes(code)), ...endpoint.errors], endpoint),
    },
  };
}

/** Returns the description of a path that needs no key. */
function keyless(operationId: string, summary: string, description: string, responses: Json): Json {
  const otherMethods = {
    description: '`METHOD_NOT_ALLOWED`', headers: { ...REQUEST_ID, ...ALLOW },
    content: problem(reference(answers.error), { example: refusal.METHOD_NOT_ALLOWED('POST').toJSON() }),
  };
  return { get: { operationId, summary, description, tags: ['service'], security: [], parameters: [], responses: { ...responses, 405: otherMethods } } };
}

/** Returns the general description of the API. */
function information(version: string): Json {
  return {
    title: 'mappale: Italian addresses and cadastral parcels',
    version,
    description: 'Read-only. The data comes from public bodies, and each block of a record names the source of its values. Show the attributions in `meta.licenses` with the data. '
      + 'Risk data is official data, assigned to parcels for analysis and screening, without evidentiary value. '
      + 'Requests with a method other than GET get 405 `METHOD_NOT_ALLOWED`. Requests for unknown paths get 404 `NOT_FOUND`. '
      + `The server processes at most ${PER_TOKEN} requests of a token at a time. Further requests wait up to 2 seconds. `
      + 'A request that waits longer gets 429 `RATE_LIMITED` with `Retry-After: 1`, and does not count against the hourly limit. '
      + 'A request that is not valid HTTP gets 400 `INVALID_PARAMS`, a late request gets 408 `REQUEST_TIMEOUT`, and a request with too long headers gets 431 `HEADERS_TOO_LARGE`. '
      + 'Every response has `X-Request-Id`, the identifier of the request in the log.',
    'x-summary': 'Italian addresses and cadastral parcels with their official data',
    contact: { name: 'Operator of this server' },
    license: { name: 'EUPL-1.2', identifier: 'EUPL-1.2' },
  };
}

/** Operation, summary and media type of each document of the catalogue, by path. */
const CATALOG_TYPES = {
  'dcat.ttl': ['getCatalogTurtle', 'Get the catalogue as DCAT-AP_IT in Turtle', 'text/turtle'],
  'dcat.jsonld': ['getCatalogJsonLd', 'Get the catalogue as DCAT-AP_IT in JSON-LD', 'application/ld+json'],
  'stac/catalog.json': ['getStacCatalog', 'Get the catalogue of exports as STAC', 'application/json'],
} as const;

/** Returns the paths about the service, the catalogue and the OpenAPI document. These paths need no key. */
function servicePaths(version: string): Json {
  return {
    '/health': keyless('getHealth', 'Get the state of the service and its publications', 'Needs no key. The response is at most one second old.', {
      200: { description: 'The service works', headers: { ...REQUEST_ID, ...CACHE }, content: content(reference(answers.health)) },
      503: {
        // If the database is not available, the body has the format of a 200 response and is not a problem object. Only an overloaded server sends a problem
        // object.
        'x-noqa': true, description: 'The database is not available', headers: { ...REQUEST_ID, ...RETRY_AFTER },
        content: content({ anyOf: [reference(answers.health), reference(answers.error)] }, {
          examples: {
            unavailable: { value: { status: 'unavailable', version, timestamp: '2026-01-31T12:00:00.000Z', database: 'unreachable', dataset: null } },
            SERVICE_UNAVAILABLE: { value: OVERLOADED },
          },
        }),
      },
    }),
    '/status': keyless('serviceStatus', 'Get the state of the service as a problem object', 'Needs no key. The response is at most one second old.', {
      200: { description: 'The service works', headers: { ...REQUEST_ID, ...CACHE }, content: problem(reference(answers.status), { example: statusOf(200) }) },
      503: { description: 'The database is not available', headers: { ...REQUEST_ID, ...RETRY_AFTER }, content: problem(reference(answers.status), { example: statusOf(503) }) },
    }),
    '/metrics': keyless('getMetrics', 'Get metrics of the service for Prometheus', 'Only clients on the server machine and at the addresses that the operator '
    + 'named (`mappale serve --metrics-from`) may read the metrics. Needs no key, because metrics must be available while the database is down.', {
      200: { description: 'Text format 0.0.4 with the metrics of all workers', headers: { ...REQUEST_ID, ...CACHE }, content: { 'text/plain': { schema: { type: 'string' } } } },
      404: {
        description: '`NOT_FOUND` for all other clients', headers: REQUEST_ID,
        content: problem(reference(answers.error), { example: refusal.METRICS_ELSEWHERE().toJSON() }),
      },
    }),
    ...Object.fromEntries(Object.entries(CATALOG_TYPES).map(([path, [name, summary, type]]) => [`/catalog/${path}`, keyless(
      name, summary, `Lists the available exports and this API. Needs no key. An IPv4 address or an IPv6 /64 network may send at most ${OPEN_QUOTA} requests per hour without a key.`, {
        200: { description: 'The document', headers: { ...REQUEST_ID, ...rateHeaders('network'), ...ETAG, ...CACHE }, content: { [type]: { schema: { type: type.includes('json') ? 'object' : 'string' } } } },
        304: { description: 'The version in If-None-Match is still current', headers: { ...REQUEST_ID, ...rateHeaders('network'), ...ETAG } },
      },
    )])),
    '/ogc/api': keyless('getOgcDocument', 'Get this document, for clients of OGC API - Features', 'Needs no key.', {
      200: { description: 'OpenAPI 3.1', headers: { ...REQUEST_ID, ...ETAG, ...CACHE }, content: { [OPENAPI_MEDIA]: { schema: { type: 'object' } } } },
      304: { description: 'The version in If-None-Match is still current', headers: { ...REQUEST_ID, ...ETAG } },
    }),
    '/openapi.json': keyless('getDocument', 'Get this document', 'Needs no key.', {
      200: { description: 'OpenAPI 3.1', headers: { ...REQUEST_ID, ...ETAG, ...CACHE }, content: content({ type: 'object' }) },
      304: { description: 'The version in If-None-Match is still current', headers: { ...REQUEST_ID, ...ETAG } },
    }),
  };
}

/** Returns the servers of the document. Without a public URL, only the server that sent the document is listed. */
function serversOf(publicUrl: string | null): Json[] {
  const own = { url: BASE, description: 'The server that sent this document', 'x-sandbox': true };
  return publicUrl === null ? [own] : [{ url: publicUrl + BASE, description: 'Public address' }, own];
}

/**
 * Builds the OpenAPI document.
 * @param version version of the program
 * @param publicUrl public https URL of the server, without a trailing slash; null: unknown
 */
export function document(version: string, publicUrl: string | null = null): Json {
  return withFormats({
    openapi: '3.1.0',
    info: information(version),
    servers: serversOf(publicUrl),
    tags: [
      { name: 'geocode', description: 'Addresses' },
      { name: 'parcels', description: 'Cadastral parcels' },
      { name: 'changes', description: 'Changes of parcels by publication' },
      { name: 'admin', description: 'Regions, provinces, comuni' },
      { name: 'tiles', description: 'Map tiles of parcels' },
      { name: 'ogc', description: 'Parcels as OGC API - Features; base path /ogc' },
      { name: 'service', description: 'State of the service' },
    ],
    paths: {
      ...Object.fromEntries([...ENDPOINTS, FEED_ENDPOINT, TILES_ENDPOINT].map((endpoint) => [endpoint.path, { get: operation(endpoint) }])),
      ...servicePaths(version),
    },
    components: {
      securitySchemes: {
        key: {
          type: 'apiKey', in: 'header', name: 'x-api-key',
          description: asInstalled('A token from npx mappale token create. The roles are the scopes of the token: geocoding:read, parcels:read, admin_data:read'),
        },
      },
      schemas: components(),
    },
  }) as Json;
}
