/** Serves the OpenAPI document without a key, including at the path for OGC API - Features. */
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE, VARY } from '../http.ts';
import { OPENAPI_MEDIA } from '../ogc.ts';
import { BASE, document as openapi } from '../openapi.ts';
import { noParameters, readParameters } from '../parameters.ts';
import { prepare, sendPrepared } from '../prepared.ts';

export async function document(app: FastifyInstance, { version, publicUrl }: { readonly version: string; readonly publicUrl: string | null }): Promise<void> {
  const content = await prepare(JSON.stringify(openapi(version, publicUrl)));
  app.get(`${BASE}/openapi.json`, async (request, reply) => sendPrepared(request, reply.type(JSON_TYPE).header('cache-control', 'no-cache'), content));
  app.get(`${BASE}/ogc/api`, async (request, reply) => {
    readParameters(noParameters, request.query as Record<string, unknown>);
    // Sends plain JSON to clients that accept JSON but not the media type of OpenAPI 3.1. An example is GDAL 3.6, which supports only OpenAPI 3.0.
    const { accept = '*/*' } = request.headers;
    const type = accept.includes('application/json') && !accept.includes(OPENAPI_MEDIA) ? 'application/json; charset=utf-8' : OPENAPI_MEDIA;
    return sendPrepared(request, reply.type(type).header('vary', `${VARY}, Accept`).header('cache-control', 'no-cache'), content);
  });
}
