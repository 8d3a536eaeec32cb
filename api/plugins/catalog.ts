/** Serves the catalogue below `/catalog`, which needs no key. Requests count against the limit of the client's network. */
import type { FastifyInstance } from 'fastify';
import type { Catalog } from '../catalog.ts';
import { ApiError } from '../errors.ts';
import { BASE } from '../openapi.ts';
import { noParameters, readParameters } from '../parameters.ts';
import { digest, matches } from '../prepared.ts';
import { admittedOpenly, originOf } from '../request.ts';
import type { Service } from '../service.ts';

/** Paths below /catalog. Collections and items of STAC are in a folder for each region. */
const PATHS = ['dcat.ttl', 'dcat.jsonld', 'stac/catalog.json', 'stac/:region/:file'] as const;

export async function catalog(app: FastifyInstance, { admitOpen, catalog: read }: Service & { readonly catalog: Catalog }): Promise<void> {
  for (const path of PATHS) {
    app.get(`${BASE}/catalog/${path}`, async (request, reply) => {
      const found = await admittedOpenly(admitOpen, request, reply, async () => {
        readParameters(noParameters, request.query as Record<string, unknown>);
        const named = Object.entries(request.params as Record<string, string>).reduce<string>((text, [name, value]) => text.replace(`:${name}`, () => value), path);
        const document = (await read(originOf(request) + BASE)).get(named);
        if (document === undefined) throw new ApiError('NOT_FOUND', 'the catalogue has no such document; /catalog/stac/catalog.json links to all documents', { path: named.slice(0, 200) });
        return document;
      });
      const tag = `W/"${digest(found.text)}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
      return reply.type(found.type).send(found.text);
    });
  }
}
