/** Serves the upload of a table. Only this path accepts a large body. */
import type { FastifyInstance } from 'fastify';
import { identifier } from '../access.ts';
import { receiver } from '../body.ts';
import { ENRICH_BODY, ENRICH_PATH, enrichTable } from '../enrich.ts';
import { BASE } from '../openapi.ts';
import { addressOf, admitted, credentialOf } from '../request.ts';
import type { Service } from '../service.ts';

export async function enrich(app: FastifyInstance, { admit, counter, signIn, shared }: Service): Promise<void> {
  const receive = receiver(identifier(counter, signIn), shared.takeBody);
  app.post(BASE + ENRICH_PATH, async (request, reply) => {
    const body = await receive(request.raw, { credential: credentialOf(request), scope: 'parcels:read', address: addressOf(request) }, ENRICH_BODY);
    const { links, text } = await admitted(admit, 'parcels:read', request, reply, (identified) => (
      enrichTable(counter, body, request.query as Record<string, unknown>, request.tokenId, identified)
    ));
    return reply.headers({ 'cache-control': 'no-store', link: [...links] }).type('text/csv; charset=utf-8').send(text);
  });
}
