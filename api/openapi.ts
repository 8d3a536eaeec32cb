/** The interface as OpenAPI 3.1, from the same table and schemas that serve and test it. */
import { z } from 'zod';
import { PER_TOKEN } from './access.ts';
import * as answers from './answers.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { STATUS, type ErrorCode } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;

/** Path that every endpoint is below. */
export const BASE = '/api/v2';

/** Errors that any endpoint with a key can answer. */
const COMMON: readonly ErrorCode[] = [
  'INVALID_PARAMS', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'INSUFFICIENT_SCOPE', 'RATE_LIMITED', 'TOO_MANY_ATTEMPTS', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE',
];

const RATE_HEADERS: Json = {
  'X-RateLimit-Limit': { description: 'Requests per token in a fixed hour', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in the hour', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'End of the hour, seconds since 1970', schema: { type: 'integer' } },
};
const RETRY_AFTER: Json = { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } };
const ETAG: Json = { ETag: { description: 'Weak; changes with the publication of the data', schema: { type: 'string' } } };

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
      ...(endpoint.example[name] === undefined ? {} : { example: exampleOf(endpoint.example[name], value) }),
    };
  });
  return [...one('path', endpoint.pathParameters), ...one('query', endpoint.parameters)];
}

function exampleOf(text: string, schema: Json): unknown {
  if (schema['type'] === 'array') return text.split(',');
  return schema['type'] === 'number' || schema['type'] === 'integer' ? Number(text) : text;
}

function descriptionOf(field: z.ZodType): string {
  return field.description ?? descriptionOf((field as z.ZodOptional<z.ZodType>).def.innerType);
}

function errorResponses(codes: readonly ErrorCode[], rated: boolean): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code]);
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, names]) => [String(status), {
    description: names.map((name) => `\`${name}\``).join(', '),
    headers: { ...(rated && status !== 401 ? RATE_HEADERS : {}), ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...(status === 405 ? { Allow: { schema: { type: 'string' } } } : {}) },
    content: { 'application/json': { schema: { allOf: [reference(answers.error), { type: 'object', properties: { error: { enum: names } } }] } } },
  }]));
}

function operation(endpoint: Endpoint): Json {
  return {
    operationId: endpoint.operation,
    summary: endpoint.summary,
    description: `${endpoint.description} Scope: \`${endpoint.scope}\`.`,
    tags: [endpoint.path.split('/')[1]!],
    security: [{ key: [] }],
    parameters: parametersOf(endpoint),
    responses: {
      200: { description: 'Found; a list may be empty', headers: { ...RATE_HEADERS, ...ETAG }, content: { 'application/json': { schema: reference(endpoint.answer) } } },
      304: { description: 'What If-None-Match names is still current', headers: { ...RATE_HEADERS, ...ETAG } },
      ...errorResponses([...COMMON, ...endpoint.errors], true),
    },
  };
}

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
          operationId: 'getHealth', summary: 'Whether the service works, and what is published', tags: ['service'], security: [], parameters: [],
          responses: {
            200: { description: 'It works', content: { 'application/json': { schema: reference(answers.health) } } },
            503: { description: 'The database does not answer', headers: RETRY_AFTER, content: { 'application/json': { schema: { anyOf: [reference(answers.health), reference(answers.error)] } } } },
          },
        },
      },
      '/openapi.json': {
        get: {
          operationId: 'getDocument', summary: 'This document', tags: ['service'], security: [], parameters: [],
          responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } } },
        },
      },
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A token: mappale token create' } },
      schemas: components(),
    },
  };
}
