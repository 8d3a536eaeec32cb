/**
 * Serves the endpoints of the table `ENDPOINTS`. Each endpoint checks the request and returns JSON, usually from a database function. The response is the
 * JSON, or an HTML page or a binary format derived from the JSON.
 */
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Answer, Endpoint, Given } from '../endpoint.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { JSON_TYPE, VARY } from '../http.ts';
import { GEOJSON_TYPE } from '../ogc-answers.ts';
import { PAGE_HEADERS } from '../ogc-pages.ts';
import { BASE } from '../openapi.ts';
import { readParameters } from '../parameters.ts';
import { matches } from '../prepared.ts';
import { admitted, admittedOpenly, originOf, tagOf } from '../request.ts';
import { routeOf } from '../routes.ts';
import type { Service } from '../service.ts';

export async function endpoints(app: FastifyInstance, service: Service): Promise<void> {
  for (const endpoint of ENDPOINTS) serve(app, endpoint, service);
}

/** Media types of endpoints that also have an HTML page. Clients that accept every type get JSON. */
const TYPES = ['application/json', 'text/html'];
const GEOJSON_MEDIA = GEOJSON_TYPE.replace(/;.*/, '');
const HTML_TYPE = 'text/html; charset=utf-8';

/** Returns true if a client prefers HTML to JSON. */
function wantsPage({ page }: Endpoint, { headers }: FastifyRequest): boolean {
  return page !== undefined && negotiate(headers.accept ?? '*/*', TYPES) === 'text/html';
}

/** Returns the query with the parameter `f` if the header Accept asks for the binary format and the query names no format. */
function queryOf({ binary }: Endpoint, { query, headers }: FastifyRequest): Record<string, unknown> {
  const raw = query as Record<string, unknown>;
  if (binary === undefined || raw['f'] !== undefined) return raw;
  return negotiate(headers.accept ?? '*/*', [...TYPES.slice(0, 1), GEOJSON_MEDIA, binary.type]) === binary.type ? { ...raw, f: binary.name } : raw;
}

function serve(app: FastifyInstance, endpoint: Endpoint, { reader, admit, admitOpen, version }: Service): void {
  const { scope, page, binary } = endpoint;
  app.get(BASE + routeOf(endpoint.path), async (request, reply) => {
    const isPage = wantsPage(endpoint, request);
    const work = async (): Promise<Answer & { readonly tag: string; readonly query: Given['query'] }> => {
      const given = {
        path: readParameters(endpoint.pathParameters, request.params as Record<string, unknown>),
        query: readParameters(endpoint.parameters, queryOf(endpoint, request)),
        base: originOf(request) + BASE,
      };
      const found = await endpoint.lookup(reader, given);
      return { ...found, query: given.query, tag: tagOf(version, found.publication, endpoint.path, isPage ? { ...given, isPage } : given) };
    };
    const { answer, headers = {}, tag, query } = await (
      scope === null ? admittedOpenly(admitOpen, request, reply, work) : admitted(admit, scope, request, reply, work)
    );
    reply.header('etag', tag).header('cache-control', 'private, no-cache').headers(headers);
    if (page !== undefined || binary !== undefined) reply.header('vary', `${VARY}, Accept`);
    if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
    if (isPage && page !== undefined) return reply.type(HTML_TYPE).headers(PAGE_HEADERS).send(page(answer ?? 'null'));
    if (query['f'] !== binary?.name || binary === undefined) return reply.type(endpoint.type ?? JSON_TYPE).send(answer);
    const { body, link } = await binary.encode(answer ?? 'null', query);
    return reply.type(binary.type).header('link', link).send(body);
  });
}
