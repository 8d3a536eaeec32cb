/** Serves vector tiles of the map. Tile requests wait in a separate queue, so other requests do not wait behind them. */
import { constants } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { TILE_TYPE } from '../../pipelines/deliver/tiles.ts';
import { admitter, TILES, tileQueueFor } from '../access.ts';
import { BASE } from '../openapi.ts';
import { matches, prepare, sendForm } from '../prepared.ts';
import { admitted, tagOf } from '../request.ts';
import { routeOf } from '../routes.ts';
import type { Service } from '../service.ts';
import { lookUpTile, readTile, TILES_ENDPOINT, TILES_SCOPE } from '../tiles.ts';

export async function tiles(app: FastifyInstance, { reader, counter, metrics, signIn, published, version }: Service): Promise<void> {
  const queue = tileQueueFor(reader.parallel);
  const admit = admitter(counter, metrics.waiting((caller) => queue.take(caller)), signIn, TILES);
  app.get(BASE + routeOf(TILES_ENDPOINT.path), async (request, reply) => {
    const { status, tag, content } = await admitted(admit, TILES_SCOPE, request, reply, async () => {
      const asked = readTile(request.params as Record<string, unknown>, request.query as Record<string, unknown>);
      const given = { ...asked.tile, layer: asked.layer.name };
      const known = tagOf(version, await published(), TILES_ENDPOINT.path, given);
      // If the client already has the tile of the current publication, the database is not queried for its content.
      if (matches(request.headers['if-none-match'], known)) return { status: 304, tag: known, content: null };
      const { publication, bytes } = await lookUpTile(reader, asked);
      const tag = publication === null ? known : tagOf(version, publication, TILES_ENDPOINT.path, given);
      return bytes === null ? { status: 204, tag, content: null } : { status: 200, tag, content: await prepare(bytes, constants.Z_BEST_SPEED) };
    });
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    return content === null ? reply.code(status).send() : sendForm(request, reply.type(TILE_TYPE), content);
  });
}
