/**
 * The read interface over HTTP. A thin server: it checks who asks and what, calls one function of the database, and passes the JSON on.
 * Checks go in this order: path, method, key, scope, rate, parameters, look-up.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import underPressure from '@fastify/under-pressure';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Log } from '../pipelines/log.ts';
import { admitter, EXPLANATIONS, identifier, TILES, tileQueueFor, queueFor, type Admit, type Caller, type Counter, type Credential, type Scope } from './access.ts';
import { receiver, type Receive } from './body.ts';
import { LOOPBACK, plainAddress, trusting } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { ENRICH_BODY, ENRICH_PATH, enrichTable } from './enrich.ts';
import { ApiError, describeFailure, invalidParameter, refusal, refusalOf } from './errors.ts';
import { EXPLAIN_PATH, explained, type Explain } from './explain.ts';
import { commonHeaders, httpServer, JSON_TYPE } from './http.ts';
import { databaseFigures, METRICS_TYPE, serverMetrics } from './metrics.ts';
import { OPENAPI_MEDIA } from './ogc.ts';
import { Overview, OVERVIEW_PATH } from './overview.ts';
import { BASE, document } from './openapi.ts';
import { pages } from './pages.ts';
import { noParameters, readParameters } from './parameters.ts';
import { patternOf, routeOf } from './routes.ts';
import { digest, matches, prepare, sendForm, sendPrepared, WORTH_COMPRESSING } from './prepared.ts';
import { lookUpTile, readTile, TILES_ENDPOINT } from './tiles.ts';
import { SUGGESTIONS_PATH, suggestions } from './suggestions.ts';
import { isLoopback, requireSession, serveSignIn, sessionOf, type SignIn } from './sign-in.ts';
import { TILE_TYPE } from '../pipelines/deliver/tiles.ts';
import { alone, type Shared } from './workers.ts';

export interface ServerOptions {
  readonly reader: Reader;
  /** Of the program, for `/health` and the document. */
  readonly version: string;
  readonly log: Log;
  /** Proxies in front whose `X-Forwarded-For` is believed: addresses or networks; empty: none. */
  readonly trustedProxies?: readonly string[];
  /** Who may read the figures, beside callers of this machine: addresses or networks. */
  readonly metricsReaders?: readonly string[];
  /** Whether tables are enriched, which is beside the contract; not given: no. */
  readonly enrich?: boolean;
  /** What it shares with the other workers; not given: there are none. */
  readonly shared?: Shared;
  /** How browsers of this machine are signed in; null or not given: they are not. Only for a server that nobody else can reach. */
  readonly signIn?: SignIn | null;
  /** What `mappale explain` does, for those browsers alone; null or not given: they are shown the command. */
  readonly explain?: Explain | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Token that the request was admitted with; null: none was needed, or none admitted. */
    tokenId: number | null;
  }
}

/** How long what `/health` and `/metrics` found is told again; milliseconds. */
const REMEMBERED_MS = 1_000;

/**
 * Builds the server; `listen` or `inject` it, `close` it in the end. The reader stays open.
 * @throws MappaleError `PROXY_INVALID` (exit 2)
 */
export async function buildServer({
  reader, version, log, trustedProxies = [], metricsReaders = [], enrich = false, shared = alone(queueFor(reader.parallel)), signIn = null, explain = null,
}: ServerOptions): Promise<FastifyInstance> {
  const trusts = trusting(trustedProxies);
  const isNamedReader = trusting(metricsReaders);
  const readsMetrics = trusting([...LOOPBACK, ...metricsReaders]);
  const metrics = serverMetrics(reader);
  const app = fastify({
    serverFactory: (handler) => httpServer(handler, (requestId, error, why) => {
      metrics.unreadable(error);
      log.info(`no request ${error.status}: ${why}`, { request: requestId });
    }),
    // What is no request was answered by then.
    clientErrorHandler: () => undefined,
    trustProxy: trusts,
    exposeHeadRoutes: false,
    // Answered as this interface answers: a connection that asks while the server closes is served, and closed after it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply as FastifyReply),
  });
  // Answers come as JSON text, and parameters are read by their schemas in the handlers.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('tokenId', null);

  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const publicationOf = toApiError(error, request.id);
    metrics.refused(publicationOf);
    if (publicationOf.status >= 500) log.warn(`${request.id}: ${describeFailure(error)}`);
    // What is refused before any hook has run lacks the headers of the others.
    reply.code(publicationOf.status).headers({ ...commonHeaders(request.id), ...closing(request), 'cache-control': 'no-store', ...publicationOf.headers });
    return reply.type(JSON_TYPE).send(JSON.stringify(publicationOf));
  };
  app.setErrorHandler(fail);

  const paths: { readonly path: RegExp; readonly allowed: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    if (url !== '*') paths.push({ path: patternOf(url), allowed: String(method) });
  });
  metrics.watch(app);
  let warned = false;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...commonHeaders(request.id), ...closing(request) });
    const peer = request.socket.remoteAddress;
    // Of a connection that is gone nothing is known.
    if (!warned && peer !== undefined && isForwarded(request) && !trusts(peer)) {
      warned = true;
      log.warn('a request came with X-Forwarded-For or Forwarded from an address that is not trusted, so the header counts for nothing. '
        + 'If it came through your proxy, all who ask through it count as one: npx mappale serve --trust-proxy ADDRESS, the one that the proxy connects from');
    }
    // Before any body is read: path, then method.
    const preflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (request.is404 || request.method === 'OPTIONS') {
      const known = paths.find(({ path }) => path.test(pathOf(request)));
      if (known === undefined) throw new ApiError('NOT_FOUND', 'there is no such path; the document of this interface is openapi.json', { base: BASE });
      if (!preflight) throw refusal.METHOD_NOT_ALLOWED(request.method, known.allowed);
    }
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) throw new ApiError('INVALID_PARAMS', 'the header Host is required');
  });
  await app.register(cors, {
    origin: '*', methods: enrich ? ['GET', 'POST'] : ['GET'], allowedHeaders: ['x-api-key', 'if-none-match', ...(enrich ? ['content-type'] : [])], maxAge: 86_400, strictPreflight: false,
  });
  await app.register(compress, {
    threshold: WORTH_COMPRESSING, encodings: ['gzip', 'identity'], zlibOptions: { level: constants.Z_BEST_SPEED }, globalDecompression: false,
  });
  await app.register(underPressure, {
    // The embedded database works in this very thread: there, a late event loop is only a question that takes its time.
    maxEventLoopDelay: reader.engine === 'pglite' ? 0 : 5000, pressureHandler: (_request, _reply, type, value) => {
      throw refusal.SERVICE_UNAVAILABLE(`the server has too much to do (${type} ${Math.round(value ?? 0)})`, 'event_loop');
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    // The query holds addresses of people, the headers hold keys: neither is logged.
    log.info(`${request.method} ${request.routeOptions.url ?? 'no such path'} ${reply.statusCode} ${reply.elapsedTime.toFixed(1)} ms`, {
      request: request.id, token: request.tokenId, bytes: Number(reply.getHeader('content-length') ?? 0),
    });
  });

  const counter: Counter = { reader, count: shared.count };
  const admit = admitter(counter, metrics.waiting(shared.take), signIn);
  for (const endpoint of ENDPOINTS) serve(app, endpoint, reader, admit, version);
  app.get(BASE + SUGGESTIONS_PATH, async (request, reply) => {
    const found = await admitted(admit, 'geocoding:read', request, reply, () => suggestions(reader, request.query as Record<string, unknown>));
    return reply.type(JSON_TYPE).header('cache-control', 'no-store').send(found);
  });
  if (enrich) serveEnrich(app, admit, receiver(identifier(counter, signIn), shared.takeBody), counter);
  if (signIn !== null) {
    serveSignIn(app, BASE, signIn, explain !== null);
    if (explain !== null) serveExplain(app, admitter(counter, metrics.waiting(shared.takeExplanation), signIn, EXPLANATIONS), signIn, explain);
  }
  const published = remembered(REMEMBERED_MS, () => currentPublication(reader));
  const tileQueue = tileQueueFor(reader.parallel);
  serveTiles(app, reader, admitter(counter, metrics.waiting((caller) => tileQueue.take(caller)), signIn, TILES), published, version);
  const overview = new Overview(reader);
  app.get(BASE + OVERVIEW_PATH, async (request, reply) => {
    const content = await overview.get(publicationOf(await published()), request.query as Record<string, unknown>);
    return sendPrepared(request, reply.type(JSON_TYPE).header('cache-control', 'no-cache'), content);
  });

  const health = remembered(REMEMBERED_MS, async () => {
    const about = { version, timestamp: new Date().toISOString() };
    try {
      const { dataset } = await reader.call<{ dataset: string }>('select dataset from api.health()', []);
      const { readOnly } = await reader.count<{ readOnly: boolean }>("select current_setting('transaction_read_only')::bool as \"readOnly\"", []).catch(() => ({ readOnly: true }));
      const body = JSON.stringify({ status: 'ok', ...about, database: readOnly ? 'read_only' : 'ok' });
      return { status: 200, headers: {}, content: await prepare(`${body.slice(0, -1)},"dataset":${dataset}}`) };
    } catch (error) {
      log.warn(`health: ${describeFailure(error)}`);
      const { status, headers } = refusal.SERVICE_UNAVAILABLE('', 'database');
      return { status, headers, content: await prepare(JSON.stringify({ status: 'unavailable', ...about, database: 'unreachable', dataset: null })) };
    }
  });
  app.get(`${BASE}/health`, async (request, reply) => {
    const { status, headers, content } = await health();
    return sendForm(request, reply.code(status).headers(headers).type(JSON_TYPE).header('cache-control', 'no-store'), content);
  });

  const ofAll = shared.figures(metrics.registry);
  const figures = remembered(REMEMBERED_MS, async () => `${await ofAll()}\n${await databaseFigures(reader)}`);
  app.get(`${BASE}/metrics`, async (request, reply) => {
    // A proxy on this machine that we do not know stands for whoever asked it.
    if (!readsMetrics(request.ip) || (isForwarded(request) && !trusts(request.socket.remoteAddress ?? ''))) throw refusal.METRICS_ELSEWHERE();
    // A page of another site may have a name that leads to this machine, so that its browser reads as this machine does.
    if (!isNamedReader(request.ip) && !isLoopback(request.hostname)) throw refusal.METRICS_ELSEWHERE();
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    return reply.type(METRICS_TYPE).header('cache-control', 'no-store').send(await figures());
  });

  const openapi = await prepare(JSON.stringify(document(version)));
  // The same under the type that clients of OGC ask for.
  app.get(`${BASE}/ogc/api`, async (request, reply) => {
    readParameters(noParameters, request.query as Record<string, unknown>);
    // Clients that know only 3.0 ask for it or for JSON, which it is (GDAL 3.6).
    const { accept = '*/*' } = request.headers;
    const type = accept.includes('application/json') && !accept.includes(OPENAPI_MEDIA) ? 'application/json; charset=utf-8' : OPENAPI_MEDIA;
    return sendPrepared(request, reply.type(type).header('vary', 'Accept, Accept-Encoding').header('cache-control', 'no-cache'), openapi);
  });
  app.get(`${BASE}/openapi.json`, async (request, reply) => sendPrepared(request, reply.type(JSON_TYPE).header('cache-control', 'no-cache'), openapi));
  await app.register(pages);
  return app;
}

/** Nobody reads a body: the connection that brought one ends with the answer. */
function closing({ headers }: FastifyRequest): Record<string, string> {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0 ? { connection: 'close' } : {};
}

function isForwarded({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
}

/** Path of a request as routes are written. */
function pathOf({ url }: FastifyRequest): string {
  const path = url.replace(/^https?:\/\/[^/]*/i, '').replace(/\?.*$/s, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** The last value, for a while; whoever asks while it is made waits for that one. @param make never fails */
function remembered<T>(forMs: number, make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  let until = Infinity;
  return () => {
    if (value === null || performance.now() >= until) {
      until = Infinity;
      value = make().finally(() => {
        until = performance.now() + forMs;
      });
    }
    return value;
  };
}

/** Host names and addresses with an optional port. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the origin of links in an answer, as the client or a trusted proxy names it. Links are relative to the server where that is no scheme or host: a
 * header must not put anything else into a link.
 */
function originOf({ protocol, host }: FastifyRequest): string {
  return /^https?$/.test(protocol) && HOST.test(host) ? `${protocol}://${host}` : '';
}

function credentialOf(request: FastifyRequest): Credential {
  return { key: request.headers['x-api-key'], session: sessionOf(request) };
}

/** @throws ApiError `REQUEST_TIMEOUT`: only a connection that is gone has no address */
function addressOf(request: FastifyRequest): string {
  const address = plainAddress(request.ip) ?? plainAddress(request.socket.remoteAddress);
  if (address === null) throw refusal.CALLER_GONE();
  return address;
}

/** Admits a request and does what it asks for. @param work is told how to tell the caller what is left of its hour */
async function admitted<T>(
  admit: Admit, scope: Scope, request: FastifyRequest, reply: FastifyReply, work: (identified: (caller: Caller) => void) => Promise<T>,
): Promise<T> {
  const identified = (caller: Caller): void => {
    request.tokenId = caller.tokenId;
    reply.headers(caller.headers);
  };
  return admit(credentialOf(request), scope, addressOf(request), () => request.socket.destroyed, identified, async () => {
    requireDecodable(request.url);
    return work(identified);
  });
}

function serve(app: FastifyInstance, endpoint: Endpoint, reader: Reader, admit: Admit, version: string): void {
  app.get(BASE + routeOf(endpoint.path), async (request, reply) => {
    const { answer, tag } = await admitted(admit, endpoint.scope, request, reply, async () => {
      const given = {
        path: readParameters(endpoint.pathParameters, request.params as Record<string, unknown>),
        query: readParameters(endpoint.parameters, request.query as Record<string, unknown>),
        base: originOf(request) + BASE,
      };
      const found = await endpoint.lookup(reader, given);
      return { answer: found.answer, tag: tagOf(version, found.publication, endpoint.path, given) };
    });
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
    return reply.type(endpoint.type ?? JSON_TYPE).send(answer);
  });
}

/** The same question to the same publication has the same answer, whatever its bytes. */
function tagOf(version: string, publication: string, path: string, given: unknown): string {
  return `W/"${digest(`${version} ${publication} ${path} ${JSON.stringify(given)}`)}"`;
}

/** @param published the publication in force, or why it is not known */
function serveTiles(app: FastifyInstance, reader: Reader, admit: Admit, published: () => Promise<Known>, version: string): void {
  app.get(BASE + routeOf(TILES_ENDPOINT.path), async (request, reply) => {
    const { status, tag, content } = await admitted(admit, TILES_ENDPOINT.scope, request, reply, async () => {
      const asked = readTile(request.params as Record<string, unknown>, request.query as Record<string, unknown>);
      const given = { ...asked.tile, layer: asked.layer.name };
      const known = tagOf(version, publicationOf(await published()), TILES_ENDPOINT.path, given);
      // A map asks again for all that it has: that costs nothing while nothing else is published.
      if (matches(request.headers['if-none-match'], known)) return { status: 304, tag: known, content: null };
      const { publication, bytes } = await lookUpTile(reader, asked);
      const tag = publication === null ? known : tagOf(version, publication, TILES_ENDPOINT.path, given);
      return bytes === null ? { status: 204, tag, content: null } : { status: 200, tag, content: await prepare(bytes, constants.Z_BEST_SPEED) };
    });
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    return content === null ? reply.code(status).send() : sendForm(request, reply.type(TILE_TYPE), content);
  });
}

/** A publication, or why none can be told: what is remembered never fails. */
type Known = { readonly publication: string } | { readonly error: unknown };

async function currentPublication(reader: Reader): Promise<Known> {
  try {
    return await reader.call<{ publication: string }>('select publication from api.map_publication()', []);
  } catch (error) {
    return { error };
  }
}

/** @throws MappaleError */
function publicationOf(known: Known): string {
  if ('error' in known) throw known.error;
  return known.publication;
}

/** Beside the contract, as all that the page asks for itself: where values come from, for whoever may type `mappale explain` on this machine. */
function serveExplain(app: FastifyInstance, admit: Admit, signIn: SignIn, explain: Explain): void {
  app.get(BASE + routeOf(EXPLAIN_PATH), async (request, reply) => {
    await requireSession(request, signIn);
    const found = await admitted(admit, 'parcels:read', request, reply, () => explained(explain, request.params as Record<string, unknown>));
    return reply.type(JSON_TYPE).header('cache-control', 'no-store').send(JSON.stringify(found));
  });
}

/** Serves the only path that takes a body. It is not part of the contract. */
function serveEnrich(app: FastifyInstance, admit: Admit, receive: Receive, counter: Counter): void {
  app.post(BASE + ENRICH_PATH, async (request, reply) => {
    const body = await receive(request.raw, [credentialOf(request), 'parcels:read', addressOf(request)], ENRICH_BODY);
    const { links, text } = await admitted(admit, 'parcels:read', request, reply, (identified) => (
      enrichTable(counter, body, request.query as Record<string, unknown>, request.tokenId, identified)
    ));
    return reply.headers({ 'cache-control': 'no-store', link: [...links] }).type('text/csv; charset=utf-8').send(text);
  });
}

/** @throws ApiError `INVALID_PARAMS` where a parameter is no text in UTF-8, which the reader of queries would take as it stands */
function requireDecodable(url: string): void {
  for (const pair of url.slice(url.indexOf('?') + 1).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const [name = ''] = pair.split('=');
      const shown = /^[\w.-]{1,40}$/.test(name) ? name : 'a parameter';
      throw invalidParameter(shown, 'text in UTF-8, percent-encoded: %C3%A0 for à, %25 for %', 'is not encoded as URLs are');
    }
  }
}

function toApiError(error: unknown, requestId: string): ApiError {
  const { code } = error as { code?: string };
  // Refused before a path is looked for.
  if (code === 'FST_ERR_BAD_URL') {
    const problem = 'the path is not encoded as URLs are: a percent sign and two hexadecimal digits for each byte of UTF-8';
    return new ApiError('INVALID_PARAMS', problem, { parameter: 'path', allowed: 'text in UTF-8, percent-encoded' });
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new ApiError('NOT_FOUND', 'there is no such path', { base: BASE });
  return refusalOf(error, requestId);
}
