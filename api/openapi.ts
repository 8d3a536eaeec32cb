/** The interface as OpenAPI 3.1, from the same table and schemas that serve and test it. */
import { z } from 'zod';
import { PER_TOKEN } from './access.ts';
import * as answers from './answers.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { ApiError, notAllowed, RETRY_AFTER_SECONDS, STATUS, unavailable, type ErrorCode } from './errors.ts';
import { readBox, readParameters, requireInBounds } from './parameters.ts';

type Json = Readonly<Record<string, unknown>>;

/** Path that every endpoint is below. */
export const BASE = '/api/v2';

/** Errors that any endpoint with a key can answer. A path answers 405 to other methods. */
const COMMON: readonly ErrorCode[] = [
  'INVALID_PARAMS', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'INSUFFICIENT_SCOPE', 'METHOD_NOT_ALLOWED', 'RATE_LIMITED', 'TOO_MANY_ATTEMPTS', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE',
];

const REQUEST_ID: Json = { 'X-Request-Id': { description: 'Number of the request, as the log has it', schema: { type: 'string' }, example: 'c5a1d1e6-6f0b-4f9e-9a55-0d8f1f1d2c3b' } };
const RATE_HEADERS: Json = {
  'X-RateLimit-Limit': { description: 'Requests per token in a fixed hour; on every answer to a valid token', schema: { type: 'integer' }, example: 1000 },
  'X-RateLimit-Remaining': { description: 'Requests left in the hour', schema: { type: 'integer' }, example: 997 },
  'X-RateLimit-Reset': { description: 'End of the hour, seconds since 1970', schema: { type: 'integer' }, example: 1764000000 },
};
const RETRY_AFTER: Json = { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' }, example: RETRY_AFTER_SECONDS } };
const ETAG: Json = { ETag: { description: 'Weak; changes with the publication of the data', schema: { type: 'string' }, example: 'W/"3kq1mYI0u8m3yq3Qm6cS2g"' } };
const ALLOW: Json = { Allow: { description: 'Methods that are allowed', schema: { type: 'string' }, example: 'GET' } };

/** What refuses, asked to do so: an example that is what is answered. */
function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('an example of an error is none');
}

/** An error as it is answered. Those that the database decides are repeated here in its words, which a test compares. */
function exampleOfError(code: ErrorCode, endpoint: Endpoint): ApiError {
  const id = 1_400_000_000;
  switch (code) {
    case 'INVALID_PARAMS': return refusalOf(() => readParameters(endpoint.parameters, endpoint.refused));
    case 'OUT_OF_BOUNDS': return refusalOf(() => requireInBounds(48.8566, 2.3522));
    case 'BBOX_TOO_LARGE': return refusalOf(() => readBox([14.6, 41.5, 14.7, 41.6]));
    case 'API_KEY_REQUIRED': return new ApiError(code, 'the header x-api-key with a token is required');
    case 'INVALID_API_KEY': return new ApiError(code, 'the token in x-api-key is not known, has expired or was revoked');
    case 'INSUFFICIENT_SCOPE': return new ApiError(code, `the token does not have the scope ${endpoint.scope}`, { required_scope: endpoint.scope });
    case 'NOT_FOUND': return new ApiError(code, `there is no parcel ${id}`, { id });
    case 'METHOD_NOT_ALLOWED': return notAllowed('POST');
    case 'GONE': return new ApiError(code, `parcel ${id} is no longer published; its successor is ${id + 1}`, { id, successor_fid: id + 1 });
    case 'RATE_LIMITED': return new ApiError(code, 'more than 1000 requests in an hour; ask again in 1742 seconds', { retry_after_seconds: 1742, limit: 1000 });
    case 'TOO_MANY_ATTEMPTS': return new ApiError(code, 'too many bad tokens from this address; ask again in 612 seconds', { retry_after_seconds: 612 });
    case 'INTERNAL_ERROR': return new ApiError(code, 'something went wrong here; it was written down under the request_id', { request_id: 'c5a1d1e6-6f0b-4f9e-9a55-0d8f1f1d2c3b' });
    case 'SERVICE_UNAVAILABLE': return unavailable('the database does not answer now');
    case 'REQUEST_TIMEOUT': case 'HEADERS_TOO_LARGE': throw new Error(`${code} is no answer of a path`);
  }
}

/** Schemas that have an `id`, referred to by it. */
export function components(): Readonly<Record<string, Json>> {
  const registered = z.toJSONSchema(z.globalRegistry, { uri: (id) => `#/components/schemas/${id}`, target: 'draft-2020-12', unrepresentable: 'throw' }).schemas;
  return Object.fromEntries(Object.entries(registered).sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, { $schema: _schema, $id: _id, id: _name, ...schema }]) => [id, schema as Json]));
}

function reference(schema: z.ZodType): Json {
  return { $ref: `#/components/schemas/${String(z.globalRegistry.get(schema)!.id)}` };
}

/** How a parameter arrives: text that is read strictly, told as the values that it stands for. */
function parameterSchema(name: string, field: z.ZodType): Json {
  const { $schema: _schema, description: _description, ...schema } = z.toJSONSchema(field, { io: 'output' }) as Record<string, unknown>;
  if (schema['type'] === 'integer') return schema;
  // A list of pairs has no style of its own.
  if (name === 'points') return { type: 'string', pattern: '^-?[0-9.]+,-?[0-9.]+(;-?[0-9.]+,-?[0-9.]+){0,9}$' };
  // A list is separated by commas: style form, not exploded.
  return name === 'bbox' ? { ...schema, minItems: 4, maxItems: 4 } : schema;
}

function parametersOf(endpoint: Endpoint): Json[] {
  const one = (place: 'path' | 'query', schema: z.ZodObject): Json[] => Object.entries(schema.shape).map(([name, field]) => {
    const value = parameterSchema(name, field as z.ZodType);
    return {
      name,
      in: place,
      required: place === 'path' || !(field as z.ZodType).safeParse(undefined).success,
      description: descriptionOf(field as z.ZodType),
      ...(value['type'] === 'array' ? { style: 'form', explode: false } : {}),
      schema: value,
      // What does not go with the example that can be tried must not be filled in for it: `examples` are only offered.
      ...(endpoint.example[name] === undefined ? { examples: { [name]: { value: exampleOf(endpoint.otherExamples[name]!, value) } } } : { example: exampleOf(endpoint.example[name], value) }),
    };
  });
  return [...one('path', endpoint.pathParameters), ...one('query', endpoint.parameters)];
}

function exampleOf(text: string, schema: Json): unknown {
  switch (schema['type']) {
    case 'array': return text.split(',').map((value) => ((schema['items'] as Json)['type'] === 'number' ? Number(value) : value));
    case 'number': case 'integer': return Number(text);
    case 'boolean': return text === 'true';
    default: return text;
  }
}

function descriptionOf(field: z.ZodType): string {
  return field.description ?? descriptionOf((field as z.ZodOptional<z.ZodType>).def.innerType);
}

function errorResponses(codes: readonly ErrorCode[], endpoint: Endpoint): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code]);
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, names]) => [String(status), {
    description: names.map((name) => `\`${name}\``).join(', '),
    headers: { ...REQUEST_ID, ...(status === 401 || status === 405 ? {} : RATE_HEADERS), ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...(status === 405 ? ALLOW : {}) },
    content: {
      'application/json': {
        schema: { allOf: [reference(answers.error), { type: 'object', properties: { error: { description: 'One of these', enum: names } } }] },
        examples: Object.fromEntries(names.map((name) => [name, { value: exampleOfError(name, endpoint).toJSON() }])),
      },
    },
  }]));
}

function operation(endpoint: Endpoint): Json {
  return {
    operationId: endpoint.operation,
    summary: endpoint.summary,
    description: `${endpoint.description} Scope: \`${endpoint.scope}\`.`,
    tags: [endpoint.path.split('/')[1]!],
    security: [{ key: [endpoint.scope] }],
    parameters: parametersOf(endpoint),
    responses: {
      200: { description: 'Found; a list may be empty', headers: { ...REQUEST_ID, ...RATE_HEADERS, ...ETAG }, content: { 'application/json': { schema: reference(endpoint.answer) } } },
      304: { description: 'What If-None-Match names is still current', headers: { ...REQUEST_ID, ...RATE_HEADERS, ...ETAG } },
      ...errorResponses([...COMMON, ...endpoint.errors], endpoint),
    },
  };
}

/** 405 of the paths without a key. */
const OTHER_METHODS: Json = {
  description: '`METHOD_NOT_ALLOWED`',
  headers: { ...REQUEST_ID, ...ALLOW },
  content: { 'application/json': { schema: reference(answers.error), example: notAllowed('POST').toJSON() } },
};

/** @param version of the program */
export function document(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'mappale: Italian addresses and cadastral parcels',
      version,
      description: 'Read-only. Data of public bodies, each block with its source; attributions in `meta.licenses` must be shown with the data. '
        + 'Risk data is official data at parcel level for analysis and screening and has no evidentiary value. '
        + 'Every path answers methods other than GET with 405 `METHOD_NOT_ALLOWED`; other paths are 404 `NOT_FOUND`. '
        + `At most ${PER_TOKEN} requests of a token are worked on at a time; the others wait up to 2 seconds for their turn, then they are 429 \`RATE_LIMITED\` with \`Retry-After: 1\`, which the hour does not count. `
        + 'What is no request of HTTP, late or too long is 400 `INVALID_PARAMS`, 408 `REQUEST_TIMEOUT` or 431 `HEADERS_TOO_LARGE`. Every answer has `X-Request-Id`, the number under which it was logged.',
      license: { name: 'EUPL-1.2', identifier: 'EUPL-1.2' },
    },
    servers: [{ url: BASE }],
    tags: [
      { name: 'geocode', description: 'Addresses' },
      { name: 'parcels', description: 'Cadastral parcels' },
      { name: 'admin', description: 'Regions, provinces, comuni' },
      { name: 'service', description: 'The service itself' },
    ],
    paths: {
      ...Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, { get: operation(endpoint) }])),
      '/health': {
        get: {
          operationId: 'getHealth', summary: 'Whether the service works, and what is published', description: 'Needs no key. What it says is at most a second old.', tags: ['service'], security: [], parameters: [],
          responses: {
            200: { description: 'It works', headers: REQUEST_ID, content: { 'application/json': { schema: reference(answers.health) } } },
            405: OTHER_METHODS,
            503: {
              description: 'The database does not answer', headers: { ...REQUEST_ID, ...RETRY_AFTER },
              content: {
                'application/json': {
                  schema: { anyOf: [reference(answers.health), reference(answers.error)] },
                  examples: {
                    unavailable: { value: { status: 'unavailable', version, timestamp: '2026-01-31T12:00:00.000Z', database: 'unreachable', dataset: null } },
                    SERVICE_UNAVAILABLE: { value: unavailable('the server has too much to do').toJSON() },
                  },
                },
              },
            },
          },
        },
      },
      '/openapi.json': {
        get: {
          operationId: 'getDocument', summary: 'This document', description: 'Needs no key.', tags: ['service'], security: [], parameters: [],
          responses: {
            200: { description: 'OpenAPI 3.1', headers: { ...REQUEST_ID, ...ETAG }, content: { 'application/json': { schema: { type: 'object' } } } },
            304: { description: 'What If-None-Match names is still current', headers: { ...REQUEST_ID, ...ETAG } },
            405: OTHER_METHODS,
          },
        },
      },
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A token: mappale token create. Roles are its scopes: geocoding:read, parcels:read, admin_data:read' } },
      schemas: components(),
    },
  };
}
