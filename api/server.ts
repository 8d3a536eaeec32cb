/**
 * Serves the read API over HTTP. The server checks the request, calls a function of the database and returns the JSON. Each group of paths is a plugin
 * in `plugins/`. The order of the checks is path, method, key, scope, rate, parameters, look-up.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import underPressure from '@fastify/under-pressure';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Log } from '../pipelines/log.ts';
import { admitter, openAdmitter, queueFor } from './access.ts';
import { trusting, type Trust } from './client-address.ts';
import type { BaseMap } from './base-map.ts';
import type { Catalog } from './catalog.ts';
import { ApiError, describeFailure, refusal, refusalOf } from './errors.ts';
import type { Explain } from './explain.ts';
import { commonHeaders, httpServer, PROBLEM_TYPE } from './http.ts';
import { serverMetrics, type ServerMetrics } from './metrics.ts';
import { BASE } from './openapi.ts';
import { pages } from './pages.ts';
import { catalog } from './plugins/catalog.ts';
import { document } from './plugins/document.ts';
import { endpoints } from './plugins/endpoints.ts';
import { enrich } from './plugins/enrich.ts';
import { feed } from './plugins/feed.ts';
import { health } from './plugins/health.ts';
import { map } from './plugins/map.ts';
import { metrics } from './plugins/metrics.ts';
import { tiles } from './plugins/tiles.ts';
import { WORTH_COMPRESSING } from './prepared.ts';
import { isForwarded, pathOf } from './request.ts';
import { patternOf } from './routes.ts';
import { publishedBy, type Service } from './service.ts';
import type { SignIn } from './sign-in.ts';
import { alone, type Shared } from './workers.ts';

/** Length of a pause of the event loop, in milliseconds, after which the server refuses requests. */
const LONGEST_STALL_MS = 5000;

export interface ServerOptions {
  readonly reader: Reader;
  /** Version of the program, for `/health` and the OpenAPI document. */
  readonly version: string;
  readonly log: Log;
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Addresses or networks that may read `/metrics`, in addition to this machine. */
  readonly metricsReaders?: readonly string[];
  /** Public https URL of the server, for the OpenAPI document. Default: unknown. */
  readonly publicUrl?: string | null;
  /** True: the server accepts uploads of tables. Default: false. */
  readonly enrich?: boolean;
  /** State shared with other workers. Default: there are no workers. */
  readonly shared?: Shared;
  /** Sign-in of browsers on this machine. Given only if no other machine can reach the server. */
  readonly signIn?: SignIn | null;
  /** Base map from another server. Absent: the map sends no request to other servers. */
  readonly baseMap?: BaseMap | null;
  /** Catalogue of exports and of the API. Absent: the server has no catalogue. */
  readonly catalog?: Catalog | null;
  /** Explains values to signed-in browsers. Absent: the map shows the command instead. */
  readonly explain?: Explain | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Number of the token with which the request was admitted, 0 for a session, or null. */
    tokenId: number | null;
  }
}

/**
 * Builds the server. The caller calls `listen` or `inject`, and finally `close`. Closing the server does not close the reader.
 * @throws MappaleError `PROXY_INVALID` (exit 2)
 */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { reader, version, log, shared = alone(queueFor(reader.parallel)), signIn = null } = options;
  const isTrustedProxy = trusting(options.trustedProxies ?? []);
  const figures = serverMetrics(reader);
  const counter = { reader, count: shared.count };
  const service: Service = {
    reader, version, log, metrics: figures, shared, counter, signIn,
    admit: admitter(counter, figures.waiting(shared.take), signIn), admitOpen: openAdmitter(shared.count, figures.waiting(shared.take)),
    published: publishedBy(reader),
  };
  const app = createApp({ log, metrics: figures, isTrustedProxy });
  figures.watch(app);
  checkRequests(app, log, isTrustedProxy);
  await registerCommon(app, options);
  logAnswers(app, log);
  await app.register(endpoints, service);
  await app.register(feed, service);
  await app.register(tiles, service);
  await app.register(map, { ...service, explain: options.explain ?? null, baseMap: options.baseMap ?? null });
  if (options.enrich === true) await app.register(enrich, service);
  if (options.catalog) await app.register(catalog, { ...service, catalog: options.catalog });
  await app.register(health, service);
  await app.register(metrics, { ...service, readers: options.metricsReaders ?? [], isTrustedProxy });
  await app.register(document, { version, publicUrl: options.publicUrl ?? null });
  await app.register(pages, { baseMap: options.baseMap ?? null });
  return app;
}

interface Surroundings {
  readonly log: Log;
  readonly metrics: ServerMetrics;
  readonly isTrustedProxy: Trust;
}

function createApp({ log, metrics: figures, isTrustedProxy }: Surroundings): FastifyInstance {
  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refused = toApiError(error, request.id);
    figures.refused(refused);
    if (refused.status >= 500) log.warn(`${request.id}: ${describeFailure(error)}`);
    // The common headers are set here, because a request may be refused before the hook that sets them has run.
    reply.code(refused.status).headers({ ...commonHeaders(request.id), 'cache-control': 'no-store', ...refused.headers });
    return reply.type(PROBLEM_TYPE).send(JSON.stringify(refused));
  };
  const app = fastify({
    serverFactory: (handler) => httpServer(handler, (requestId, error, why) => {
      figures.unreadable(error);
      log.info(`no request ${error.status}: ${why}`, { request: requestId });
    }),
    // `httpServer` has already answered malformed requests.
    clientErrorHandler: () => undefined,
    trustProxy: isTrustedProxy,
    exposeHeadRoutes: false,
    // While the server closes, it still answers a request on an open connection, and then closes that connection.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply as FastifyReply),
  });
  // Fastify parses no bodies. The handlers check parameters with their schemas.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('tokenId', null);
  app.setErrorHandler(fail);
  return app;
}

/** Checks path, method and the header Host before a body is read, and warns once about an untrusted proxy. */
function checkRequests(app: FastifyInstance, log: Log, isTrustedProxy: Trust): void {
  const paths: { readonly path: RegExp; readonly allowed: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    if (url !== '*') paths.push({ path: patternOf(url), allowed: String(method) });
  });
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request.id));
    // A closed connection has no peer address.
    const peer = request.socket.remoteAddress;
    if (!warned && peer !== undefined && isForwarded(request) && !isTrustedProxy(peer)) {
      warned = true;
      log.warn('a request with X-Forwarded-For or Forwarded came from an untrusted address, so the header is ignored. '
        + 'If the address is your proxy, all clients of the proxy count as one client. To count them separately, start the server with --trust-proxy ADDRESS, the address from which the proxy connects');
    }
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (request.is404 || request.method === 'OPTIONS') {
      const known = paths.find(({ path }) => path.test(pathOf(request)));
      if (known === undefined) throw new ApiError('NOT_FOUND', 'the path does not exist. openapi.json lists all paths', { base: BASE });
      if (!isPreflight) throw refusal.METHOD_NOT_ALLOWED(request.method, known.allowed);
    }
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) throw new ApiError('INVALID_PARAMS', 'the header Host is required');
  });
}

/** Registers cross-origin headers, compression and the load limit. */
async function registerCommon(app: FastifyInstance, { reader, enrich: takesTables = false }: ServerOptions): Promise<void> {
  await app.register(cors, {
    origin: '*', methods: takesTables ? ['GET', 'POST'] : ['GET'], allowedHeaders: ['x-api-key', 'if-none-match', ...(takesTables ? ['content-type'] : [])], maxAge: 86_400,
    strictPreflight: false,
  });
  await app.register(compress, {
    threshold: WORTH_COMPRESSING, encodings: ['gzip', 'identity'], zlibOptions: { level: constants.Z_BEST_SPEED }, globalDecompression: false,
  });
  await app.register(underPressure, {
    // The embedded database runs in this thread, so a slow query delays the event loop even if the server is not overloaded.
    maxEventLoopDelay: reader.engine === 'pglite' ? 0 : LONGEST_STALL_MS,
    // The plugin refuses requests after an interval in which the event loop never ran. With a shorter interval, a shorter pause would count as an overload.
    sampleInterval: LONGEST_STALL_MS,
    pressureHandler: () => {
      throw refusal.SERVICE_UNAVAILABLE('the server is overloaded', 'event_loop');
    },
  });
}

/** Logs each response without its query, because the query may contain addresses of people, and without headers, because these contain keys. */
function logAnswers(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', async (request, reply) => {
    log.info(`${request.method} ${request.routeOptions.url ?? 'no such path'} ${reply.statusCode} ${reply.elapsedTime.toFixed(1)} ms`, {
      request: request.id, token: request.tokenId, bytes: Number(reply.getHeader('content-length') ?? 0),
    });
  });
}

function toApiError(error: unknown, requestId: string): ApiError {
  const { code } = error as { code?: string };
  // Fastify refuses paths with an invalid percent-encoding before it looks for a route.
  if (code === 'FST_ERR_BAD_URL') {
    const problem = 'the path is not percent-encoded: it needs a percent sign and two hexadecimal digits for each byte of UTF-8';
    return new ApiError('INVALID_PARAMS', problem, { parameter: 'path', allowed: 'text in UTF-8, percent-encoded' });
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new ApiError('NOT_FOUND', 'the path does not exist', { base: BASE });
  return refusalOf(error, requestId);
}
