/**
 * Figures of the server for Prometheus. Labels are words of ours: routes as they are written, never a path, a key or an address that came over the wire.
 */
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Reader } from '../pipelines/db/reader.ts';
import { describeState, STATE_STATEMENT, type PublishedState } from '../pipelines/operate/metrics.ts';
import { TURNED_AWAY, type ApiError } from './errors.ts';
import { templateOf } from './routes.ts';
import type { TakeSlot } from './fair-queue.ts';

export const METRICS_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Seconds: from a record that lies in memory to the longest question to the database. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** A figure as workers send it to the process that adds them up. */
export interface Figure {
  readonly type: string;
}

export interface ServerMetrics {
  readonly registry: Registry;
  /** Counts what comes in, how it is answered, and how long that takes. */
  watch(app: FastifyInstance): void;
  /** Counts a refusal, also of what never became a request. */
  refused(error: ApiError): void;
  unreadable(error: ApiError): void;
  /** The same turns, with those counted who wait for theirs. */
  waiting(take: TakeSlot): TakeSlot;
}

/** Of one process: each has its own. */
export function serverMetrics(reader: Reader): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'mappale_requests_total', help: 'Requests that ended, by how: 2xx–5xx, or gone: the caller left before there was an answer.',
    labelNames: ['route', 'method', 'status'], registers,
  });
  const duration = new Histogram({
    name: 'mappale_request_duration_seconds', help: 'From the headers of a request to the end of its answer.', labelNames: ['route'], buckets: BUCKETS, registers,
  });
  const inFlight = new Gauge({ name: 'mappale_requests_in_flight', help: 'Requests that came and are not answered yet.', registers });
  const waiting = new Gauge({ name: 'mappale_requests_waiting', help: 'Those of them that wait for the turn of their token.', registers });
  const turnedAway = new Counter({
    name: 'mappale_turned_away_total', registers, labelNames: ['reason'],
    help: 'Requests answered 429 or 503: quota: the hour of the token is used up; token_busy: its other requests took too long; bad_keys: too many of them from one address; '
      + 'server_busy: requests of others took too long; event_loop: the process is late; database: it does not answer.',
  });
  for (const reason of TURNED_AWAY) turnedAway.inc({ reason }, 0);
  new Gauge({ name: 'mappale_workers', help: 'Processes that answer.', registers }).set(1);
  const pools = [
    ['size', 'Connections to the database that are open.'], ['idle', 'Those of them that do nothing.'], ['waiting', 'Questions that wait for a connection.'],
  ] as const;
  for (const [figure, help] of pools) {
    new Gauge({
      name: `mappale_pool_${figure}`, help, labelNames: ['pool'], registers,
      collect() {
        for (const pool of reader.pools()) this.set({ pool: pool.name }, pool[figure]);
      },
    });
  }

  const observe = (request: FastifyRequest, reply: FastifyReply): void => {
    const begun = performance.now();
    inFlight.inc();
    reply.raw.once('close', () => {
      inFlight.dec();
      const route = routeOf(request);
      requests.inc({ route, method: methodOf(request), status: reply.raw.writableEnded ? classOf(reply.raw.statusCode) : 'gone' });
      duration.observe({ route }, (performance.now() - begun) / 1000);
    });
  };
  const refused = ({ turnedAway: reason }: ApiError): void => {
    if (reason !== null) turnedAway.inc({ reason });
  };
  return {
    registry,
    refused,
    watch: (app) => void app.addHook('onRequest', async (request, reply) => observe(request, reply)),
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

/** As it is written in the document; `other`: of no path, or of a method that no path takes. */
function routeOf({ is404, routeOptions: { url } }: FastifyRequest): string {
  return is404 || url === undefined || url === '*' ? 'other' : templateOf(url);
}

/** Parsers know some forty methods; here only one is served, and one asked before it. */
function methodOf({ method }: FastifyRequest): string {
  return method === 'GET' || method === 'OPTIONS' ? method : 'other';
}

function classOf(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}

/** What is published, and whether the database could say so: figures must be readable when it cannot. */
export async function databaseFigures(reader: Reader): Promise<string> {
  const registry = new Registry();
  const reachable = new Gauge({ name: 'mappale_database_reachable', help: 'Whether the database answered when this was asked for (1), or not (0).', registers: [registry] });
  try {
    const { state } = await reader.call<{ state: PublishedState }>(STATE_STATEMENT, []);
    reachable.set(1);
    return `${await registry.metrics()}\n${await describeState(state, true)}`;
  } catch {
    reachable.set(0);
    return registry.metrics();
  }
}

/** Those of several processes together. @param figures of each, as its registry gives them in JSON */
export async function addUp(figures: readonly (readonly Figure[])[]): Promise<{ text: string; figures: readonly Figure[] }> {
  const registry = AggregatorRegistry.aggregate(figures.map((each) => [...each]));
  return { text: await registry.metrics(), figures: (await registry.getMetricsAsJSON()).map((each) => ({ ...each, type: String(each.type) })) };
}

/** What counts on, so that the sum over all processes never falls when one of them ends. */
export function lasting(figures: readonly Figure[]): Figure[] {
  return figures.filter(({ type }) => type === 'counter' || type === 'histogram');
}
