/**
 * Provides metrics of the server for Prometheus. The label `route` is the template of a route, such as `/parcels/{id}`. Labels never contain a path, key
 * or address from a request.
 */
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Reader } from '../pipelines/db/reader.ts';
import { describeState, STATE_STATEMENT, type PublishedState } from '../pipelines/operate/metrics.ts';
import { TURNED_AWAY, type ApiError } from './errors.ts';
import { templateOf } from './routes.ts';
import type { TakeSlot } from './fair-queue.ts';

export const METRICS_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Upper limits of the histogram's buckets in seconds, from a cached record to the slowest query. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** A metric in the form in which workers send it to the primary process. */
export interface Figure {
  readonly type: string;
}

export interface ServerMetrics {
  readonly registry: Registry;
  /** Counts the requests of a server, and measures the time of each request. */
  watch(app: FastifyInstance): void;
  /** Counts a refusal by its reason. Errors without a reason (`turnedAway` is null) are not counted. */
  refused(error: ApiError): void;
  /** Counts a message that is not a valid HTTP request. */
  unreadable(error: ApiError): void;
  /** Wraps a queue and counts the requests that wait in the queue. */
  waiting(take: TakeSlot): TakeSlot;
}

/** Creates the metrics of one process. */
export function serverMetrics(reader: Reader): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: 'mappale_workers', help: 'Active server processes.', registers }).set(1);
  describePools(reader, registers);
  const { requests, watch } = watchRequests(registers);
  const waiting = new Gauge({ name: 'mappale_requests_waiting', help: 'Requests that wait in a queue for a free slot.', registers });
  const turnedAway = countRefusals(registers);
  return {
    registry,
    watch,
    refused: ({ turnedAway: reason }) => {
      if (reason !== null) turnedAway.inc({ reason });
    },
    unreadable: ({ status }) => requests.inc({ route: 'other', method: 'other', status: classOf(status) }),
    waiting: (take) => async (caller) => {
      waiting.inc();
      try {
        return await take(caller);
      } finally {
        waiting.dec();
      }
    },
  };
}

/** Adds metrics of the connection pools. The values are read when the metrics are requested. */
function describePools(reader: Reader, registers: Registry[]): void {
  const pools = [
    ['size', 'Open connections to the database.'], ['idle', 'Idle connections to the database.'], ['waiting', 'Queries that wait for a connection.'],
  ] as const;
  for (const [figure, help] of pools) {
    new Gauge({
      name: `mappale_pool_${figure}`, help, labelNames: ['pool'], registers,
      collect() {
        for (const pool of reader.pools()) this.set({ pool: pool.name }, pool[figure]);
      },
    });
  }
}

/** Counts requests by route, method and status, and measures the time of each request. */
function watchRequests(registers: Registry[]): { readonly requests: Counter<'route' | 'method' | 'status'>; readonly watch: (app: FastifyInstance) => void } {
  const requests = new Counter({
    name: 'mappale_requests_total',
    help: 'Finished requests by status class (2xx to 5xx), or gone if the client closed the connection before the server had produced the response.',
    labelNames: ['route', 'method', 'status'], registers,
  });
  const duration = new Histogram({
    name: 'mappale_request_duration_seconds', help: 'Time in seconds from the headers of a request to the end of the response.', labelNames: ['route'], buckets: BUCKETS, registers,
  });
  const inFlight = new Gauge({ name: 'mappale_requests_in_flight', help: 'Requests whose response is not complete yet.', registers });
  const templates = new Map<string, string>();
  const observe = (request: FastifyRequest, reply: FastifyReply): void => {
    const begun = performance.now();
    inFlight.inc();
    reply.raw.once('close', () => {
      inFlight.dec();
      const route = routeOf(request, templates);
      requests.inc({ route, method: methodOf(request), status: reply.raw.writableEnded ? classOf(reply.raw.statusCode) : 'gone' });
      duration.observe({ route }, (performance.now() - begun) / 1000);
    });
  };
  return { requests, watch: (app) => void app.addHook('onRequest', async (request, reply) => observe(request, reply)) };
}

function countRefusals(registers: Registry[]): Counter<'reason'> {
  const turnedAway = new Counter({
    name: 'mappale_turned_away_total', registers, labelNames: ['reason'],
    help: 'Requests refused with status 429 or 503. Reason quota: the hourly quota of the token or network is used up. Reason token_busy: other requests of the same token or network used all of its slots. '
      + 'Reason bad_keys: too many bad keys from one address. Reason server_busy: all slots of the server are in use. Reason event_loop: the process is overloaded. Reason database: the database is not available.',
  });
  for (const reason of TURNED_AWAY) turnedAway.inc({ reason }, 0);
  return turnedAway;
}

/** Returns the template of a route, or `other` if the path has no route. @param templates templates by route, so that each is built only once */
function routeOf({ is404, routeOptions: { url } }: FastifyRequest, templates: Map<string, string>): string {
  if (is404 || url === undefined || url === '*') return 'other';
  let template = templates.get(url);
  if (template === undefined) templates.set(url, template = templateOf(url));
  return template;
}

/** Returns the method of a request, or `other`. Most paths accept only `GET` and `OPTIONS`, so all other methods share one label. */
function methodOf({ method }: FastifyRequest): string {
  return method === 'GET' || method === 'OPTIONS' ? method : 'other';
}

function classOf(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}

/** Returns metrics of the published data and the availability of the database. Never fails. */
export async function databaseFigures(reader: Reader): Promise<string> {
  const registry = new Registry();
  const reachable = new Gauge({ name: 'mappale_database_reachable', help: '1 if the database answered, 0 if it did not.', registers: [registry] });
  try {
    const { state } = await reader.call<{ state: PublishedState }>(STATE_STATEMENT, []);
    reachable.set(1);
    return `${await registry.metrics()}\n${await describeState(state, 'now')}`;
  } catch {
    reachable.set(0);
    return registry.metrics();
  }
}

/** Adds up the metrics of several processes. @param figures metrics of each process, as JSON of its registry */
export async function addUp(figures: readonly (readonly Figure[])[]): Promise<{ text: string; figures: readonly Figure[] }> {
  const registry = AggregatorRegistry.aggregate(figures.map((each) => [...each]));
  return { text: await registry.metrics(), figures: (await registry.getMetricsAsJSON()).map((each) => ({ ...each, type: String(each.type) })) };
}

/** Returns the counters and histograms. The values of a process that ended must be kept, because the sums must never decrease. */
export function lasting(figures: readonly Figure[]): Figure[] {
  return figures.filter(({ type }) => type === 'counter' || type === 'histogram');
}
