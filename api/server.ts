/**
 * The read interface over HTTP. A thin server: it checks who asks and what, calls one function of the database, and passes the JSON on.
 * Checks go in this order: path, method, key, scope, rate, parameters, look-up.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import underPressure from '@fastify/under-pressure';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import type { Log } from '../pipelines/log.ts';
import { admit } from './access.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { ApiError, isTransient, unavailable } from './errors.ts';
import { BASE, document } from './openapi.ts';
import { pages } from './pages.ts';
import { readParameters } from './parameters.ts';

export interface ServerOptions {
  readonly reader: Reader;
  /** Of the program, for `/health` and the document. */
  readonly version: string;
  readonly log: Log;
  /** Proxies in front whose `X-Forwarded-For` is believed: addresses or networks; empty: none. */
  readonly trustedProxies?: readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Token that the request was admitted with; null: none was needed, or none admitted. */
    tokenId: number | null;
  }
}

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Builds the server; `listen` or `inject` it, `close` it in the end. The reader stays open. */
export async function buildServer({ reader, version, log, trustedProxies = [] }: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    exposeHeadRoutes: false,
    // Answered as this interface answers: a connection that asks while the server closes is served, and closed after it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => fail(error, request, reply as FastifyReply),
  });
  // Answers come as JSON text, and parameters are read by their schemas in the handlers.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('tokenId', null);

  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const told = toApiError(error);
    if (told.code === 'INTERNAL_ERROR' || told.code === 'SERVICE_UNAVAILABLE') log.warn(`${request.id}: ${describe(error)}`);
    const body = told.code === 'INTERNAL_ERROR' ? new ApiError(told.code, told.message, { request_id: request.id }) : told;
    // What is refused before any hook has run lacks the header of the others.
    return reply.code(told.status).headers({ 'access-control-allow-origin': '*', ...told.headers }).type('application/json; charset=utf-8').send(JSON.stringify(body));
  };
  app.setErrorHandler(fail);

  await app.register(cors, {
    origin: '*', methods: ['GET'], allowedHeaders: ['x-api-key', 'if-none-match'], exposedHeaders: [...RATE_HEADERS, 'Retry-After', 'ETag'], maxAge: 86_400, strictPreflight: false,
  });
  app.addHook('onRequest', async (request) => {
    // Before any body is read: path, then method.
    if (request.is404) throw strayed(request);
  });
  await app.register(compress, { threshold: 1024, encodings: ['gzip', 'identity'], zlibOptions: { level: constants.Z_BEST_SPEED } });
  await app.register(underPressure, {
    // The embedded database works in this very thread: there, a late event loop is only a question that takes its time.
    maxEventLoopDelay: reader.engine === 'pglite' ? 0 : 5000, pressureHandler: (_request, _reply, type, value) => {
      throw unavailable(`the server has too much to do (${type} ${Math.round(value ?? 0)})`);
    },
  });
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
  });
  app.addHook('onResponse', async (request, reply) => {
    // The query holds addresses of people, the headers hold keys: neither is logged.
    log.info(`${request.method} ${request.routeOptions.url ?? 'no such path'} ${reply.statusCode} ${reply.elapsedTime.toFixed(1)} ms`, {
      request: request.id, token: request.tokenId, bytes: Number(reply.getHeader('content-length') ?? 0),
    });
  });

  for (const endpoint of ENDPOINTS) serve(app, endpoint, reader);

  app.get(`${BASE}/health`, async (_request, reply) => {
    const about = { version, timestamp: new Date().toISOString() };
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-store');
    try {
      const { dataset } = await reader.call<{ dataset: string }>('select dataset from api.health()', []);
      return `${JSON.stringify({ status: 'ok', ...about, database: 'ok' }).slice(0, -1)},"dataset":${dataset}}`;
    } catch (error) {
      log.warn(`health: ${describe(error)}`);
      const { status, headers } = unavailable('');
      reply.code(status).headers(headers);
      return JSON.stringify({ status: 'unavailable', ...about, database: 'unreachable', dataset: null });
    }
  });

  const openapi = JSON.stringify(document(version));
  const tag = `W/"${digest(openapi)}"`;
  app.get(`${BASE}/openapi.json`, async (request, reply) => {
    reply.type('application/json; charset=utf-8').header('etag', tag).header('cache-control', 'no-cache');
    return matches(request.headers['if-none-match'], tag) ? reply.code(304).send() : openapi;
  });
  await app.register(pages);
  return app;
}

/** Paths that exist, for telling a wrong method from a wrong path. */
function strayed(request: FastifyRequest): ApiError {
  const path = request.url.split('?')[0]!;
  const known = request.server.findRoute({ method: 'GET', url: path }) ?? ENDPOINTS.some((endpoint) => new RegExp(`^${BASE}${endpoint.path.replace('{id}', '[^/]+')}$`).test(path));
  if (request.method !== 'GET' && known) return new ApiError('METHOD_NOT_ALLOWED', `${request.method} is not allowed; allowed: GET`, { allowed: ['GET'] }, { allow: 'GET' });
  return new ApiError('NOT_FOUND', 'there is no such path; the document of this interface is openapi.json', { base: BASE });
}

function serve(app: FastifyInstance, endpoint: Endpoint, reader: Reader): void {
  app.get(BASE + endpoint.path.replace('{id}', ':id(.+)'), {
    onRequest: async (request, reply) => {
      const caller = await admit(reader, request.headers['x-api-key'], endpoint.scope, request.ip);
      request.tokenId = caller.tokenId;
      reply.headers(caller.headers);
    },
  }, async (request, reply) => {
    const given = {
      path: readParameters(endpoint.pathParameters, request.params as Record<string, unknown>),
      query: readParameters(endpoint.parameters, request.query as Record<string, unknown>),
    };
    const { publication, answer } = await endpoint.lookup(reader, given);
    // The same question to the same publication has the same answer, whatever its bytes.
    const tag = `W/"${publication}.${digest(`${endpoint.path} ${JSON.stringify(given)}`)}"`;
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(answer);
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** `If-None-Match`, compared weakly. */
function matches(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.slice(2)));
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof MappaleError && error.kind === 'database' && isTransient(error.code)) return unavailable('the database does not answer now');
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  // Fastify refuses what is no URL, or too long a one, before it looks for a path.
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH' || statusCode === 414) return new ApiError('NOT_FOUND', 'there is no such path', { base: BASE });
  return new ApiError('INTERNAL_ERROR', 'something went wrong here; it was written down under the request_id');
}

function describe(error: unknown): string {
  return error instanceof MappaleError ? error.report() : error instanceof Error ? error.stack ?? error.message : String(error);
}
