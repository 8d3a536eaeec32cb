/**
 * Serves the endpoints of the table `ENDPOINTS`. Each endpoint checks the request, calls one function of the database and passes its JSON
 * on.
 */
import type { FastifyInstance } from 'fastify';
import type { Endpoint } from '../endpoint.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { JSON_TYPE } from '../http.ts';
import { BASE } from '../openapi.ts';
import { readParameters } from '../parameters.ts';
import { matches } from '../prepared.ts';
import { admitted, originOf, tagOf } from '../request.ts';
import { routeOf } from '../routes.ts';
import type { Service } from '../service.ts';

export async function endpoints(app: FastifyInstance, service: Service): Promise<void> {
  for (const endpoint of ENDPOINTS) serve(app, endpoint, service);
}

function serve(app: FastifyInstance, endpoint: Endpoint, { reader, admit, version }: Service): void {
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
