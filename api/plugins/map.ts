/** Serves the paths that only the map page requests. */
import type { FastifyInstance } from 'fastify';
import { admitter, EXPLANATIONS } from '../access.ts';
import type { BaseMap } from '../base-map.ts';
import { EXPLAIN_PATH, explained, type Explain } from '../explain.ts';
import { JSON_TYPE } from '../http.ts';
import { BASE } from '../openapi.ts';
import { Overview, OVERVIEW_PATH } from '../overview.ts';
import { sendPrepared } from '../prepared.ts';
import { admitted } from '../request.ts';
import { routeOf } from '../routes.ts';
import type { Service } from '../service.ts';
import { requireSession, serveSignIn, type SignIn } from '../sign-in.ts';
import { SUGGESTIONS_PATH, suggestions } from '../suggestions.ts';

export async function map(app: FastifyInstance, service: Service & { readonly explain: Explain | null; readonly baseMap: BaseMap | null }): Promise<void> {
  const { reader, admit, published, signIn, explain, baseMap } = service;
  app.get(BASE + SUGGESTIONS_PATH, async (request, reply) => {
    const found = await admitted(admit, 'geocoding:read', request, reply, () => suggestions(reader, request.query as Record<string, unknown>));
    return reply.type(JSON_TYPE).header('cache-control', 'no-store').send(found);
  });
  const overview = new Overview(reader, baseMap);
  app.get(BASE + OVERVIEW_PATH, async (request, reply) => {
    const content = await overview.get(await published(), request.query as Record<string, unknown>);
    return sendPrepared(request, reply.type(JSON_TYPE).header('cache-control', 'no-cache'), content);
  });
  if (signIn === null) return;
  serveSignIn(app, { base: BASE, signIn, explains: explain !== null });
  if (explain !== null) serveExplain(app, service, signIn, explain);
}

/** Serves explanations of values to browsers that were signed in on this machine. */
function serveExplain(app: FastifyInstance, { reader, counter, metrics, shared }: Service, signIn: SignIn, explain: Explain): void {
  const admit = admitter(counter, metrics.waiting(shared.takeExplanation), signIn, EXPLANATIONS);
  app.get(BASE + routeOf(EXPLAIN_PATH), async (request, reply) => {
    await requireSession(request, signIn);
    const found = await admitted(admit, 'parcels:read', request, reply, () => explained(reader, explain, request.params as Record<string, unknown>));
    return reply.type(JSON_TYPE).header('cache-control', 'no-store').send(JSON.stringify(found));
  });
}
