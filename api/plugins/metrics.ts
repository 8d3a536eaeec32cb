/** Serves `/metrics`, without a key, to this machine and to the addresses of `--metrics-from`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LOOPBACK, trusting, type Trust } from '../client-address.ts';
import { refusal } from '../errors.ts';
import { databaseFigures, METRICS_TYPE } from '../metrics.ts';
import { BASE } from '../openapi.ts';
import { remember } from '../remember.ts';
import { isForwarded } from '../request.ts';
import { REMEMBERED_MS, type Service } from '../service.ts';
import { isLoopback } from '../sign-in.ts';

interface MetricsReaders {
  /** Addresses and networks of `--metrics-from`. */
  readonly readers: readonly string[];
  readonly isTrustedProxy: Trust;
}

/** @throws MappaleError `PROXY_INVALID` (exit 2) */
export async function metrics(app: FastifyInstance, service: Service & MetricsReaders): Promise<void> {
  const { reader, shared, metrics: { registry }, readers, isTrustedProxy } = service;
  const isNamed = trusting(readers);
  const isAllowed = trusting([...LOOPBACK, ...readers]);
  const mayRead = (request: FastifyRequest): boolean => {
    // A request that an unknown proxy forwarded is refused, because the client's address is not known.
    if (!isAllowed(request.ip) || (isForwarded(request) && !isTrustedProxy(request.socket.remoteAddress ?? ''))) return false;
    // Checks the host name. Otherwise, a web page whose host name resolves to this machine could read the metrics (DNS rebinding).
    return isNamed(request.ip) || isLoopback(request.hostname);
  };
  const ofWorkers = shared.figures(registry);
  const text = remember(REMEMBERED_MS, async () => `${await ofWorkers()}\n${await databaseFigures(reader)}`);
  app.get(`${BASE}/metrics`, async (request, reply) => {
    if (!mayRead(request)) throw refusal.METRICS_ELSEWHERE();
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    return reply.type(METRICS_TYPE).header('cache-control', 'no-store').send(await text());
  });
}
