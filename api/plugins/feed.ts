/** Serves the Atom feed of publications. */
import type { FastifyInstance } from 'fastify';
import { FEED_ENDPOINT, publicationFeed } from '../changes.ts';
import { BASE } from '../openapi.ts';
import { feedParameters, readParameters } from '../parameters.ts';
import { matches } from '../prepared.ts';
import { admittedOpenly, originOf, tagOf } from '../request.ts';
import type { Service } from '../service.ts';

export async function feed(app: FastifyInstance, { reader, admitOpen, version }: Service): Promise<void> {
  app.get(BASE + FEED_ENDPOINT.path, async (request, reply) => {
    const { tag, text } = await admittedOpenly(admitOpen, request, reply, async () => {
      const query = readParameters(feedParameters, request.query as Record<string, unknown>);
      const base = originOf(request) + BASE;
      const found = await publicationFeed(reader, query, base);
      return { text: found.text, tag: tagOf(version, found.publication, FEED_ENDPOINT.path, { ...query, base }) };
    });
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
    return reply.type(FEED_ENDPOINT.type ?? '').send(text);
  });
}
