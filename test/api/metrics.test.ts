/** Tests the metrics for Prometheus: their values, the absence of private data, and the access to the metrics. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TURNED_AWAY } from '../../api/errors.ts';
import { buildServer } from '../../api/server.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { SILENT } from '../../pipelines/log.ts';
import { writeMetrics } from '../../pipelines/operate/metrics.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, DOCUMENT, regionService, VERSION } from './harness.ts';

/** Parses metrics. Returns the values, keyed by the name of the metric with its labels. */
function figuresOf(text: string): ReadonlyMap<string, number> {
  return new Map(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const read = (app: FastifyInstance, from = '127.0.0.1', headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; text: string; type: string }> => (
  app.inject({ method: 'GET', url: `${BASE}/metrics`, remoteAddress: from, headers }).then(({ statusCode, payload, headers: given }) => ({ status: statusCode, text: payload, type: String(given['content-type']) }))
);

describeDatabase('the metrics of a server', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  beforeAll(async () => {
    service = await regionService(engine);
    // The harness loaded the region with a different command, so the test records the run as a refresh.
    await service.database.query("update ledger.run set command = 'refresh'");
    const key = await service.token(['parcels:read']);
    const [row] = await service.database.query<{ fid: number }>('select min(fid) as fid from core.parcel');
    for (const path of [`/parcels/${row!.fid}`, '/parcels/1', '/secret-path?q=secret-query', '/geocode/search?q=secret-query']) await service.ask(path, { key });
    await service.ask('/parcels/1', { key: 'mpl_secret-key' });
    await service.ask('/parcels/1', { key, method: 'PROPFIND' });
  });
  afterAll(() => service?.close());

  it('count requests by path template, method and status class, and measure their time', async () => {
    const { status, text, type } = await read(service.app);
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const figures = figuresOf(text);
    const counted = [...figures].filter(([name]) => name.startsWith('mappale_requests_total')).map(([name, value]) => `${name.slice('mappale_requests_total'.length)} ${value}`).sort();
    expect(counted).toEqual([
      '{route="/api/v2/geocode/search",method="GET",status="4xx"} 1', '{route="/api/v2/parcels/{id}",method="GET",status="2xx"} 1', '{route="/api/v2/parcels/{id}",method="GET",status="4xx"} 2',
      '{route="other",method="GET",status="4xx"} 1', '{route="other",method="other",status="4xx"} 1',
    ]);
    expect(figures.get('mappale_request_duration_seconds_count{route="/api/v2/parcels/{id}"}')).toBe(3);
    expect(text).toMatch(/^# HELP mappale_requests_total .* gone if the client closed the connection before the server had produced the response\.$/m);
    expect(figures.get('mappale_requests_in_flight')).toBe(1);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'mappale_requests_waiting', 'mappale_workers']) expect([name, figures.has(name)]).toEqual([name, true]);
    for (const reason of TURNED_AWAY) expect([reason, figures.get(`mappale_turned_away_total{reason="${reason}"}`)]).toEqual([reason, 0]);
    if (engine.name === 'postgres') expect(figures.get('mappale_pool_size{pool="answers"}')).toBeGreaterThan(0);
  });

  it('never contain text from requests', async () => {
    expect((await read(service.app)).text).not.toMatch(/secret|mpl_|PROPFIND|192\.0\.2/);
  });

  it('include the published state, under the same names as the metrics file that a refresh writes', async () => {
    const served = figuresOf((await read(service.app)).text);
    const folder = await mkdtemp(join(tmpdir(), 'mappale-metrics-'));
    try {
      await writeMetrics(service.database, join(folder, 'state.prom'), 5);
      const written = figuresOf(await readFile(join(folder, 'state.prom'), 'utf8'));
      const [{ parcels } = { parcels: 0 }] = await service.database.query<{ parcels: number }>('select count(*) as parcels from core.parcel');
      expect([served.get('mappale_parcels{region="molise"}'), served.get('mappale_records{source="ade_cadastre"}')! > 0]).toEqual([parcels, true]);
      expect([served.get('mappale_last_run_exit_code'), written.get('mappale_last_run_exit_code')]).toEqual([0, 5]);
      // The metrics of the last run differ, and sizes may change between the two reads.
      const others = [...written].filter(([name]) => !/^mappale_(?:last_run|database_bytes|previous_bytes)/.test(name));
      expect(others.filter(([name, value]) => served.get(name) !== value)).toEqual([]);
      expect(others.length).toBeGreaterThan(5);
      expect(served.get('mappale_last_success_timestamp_seconds{region="molise"}')).toBeGreaterThan(1.7e9);
      expect(served.get('mappale_region_held{region="molise"}')).toBe(0);
      expect(served.get('mappale_database_bytes')).toBeGreaterThan(served.get('mappale_previous_bytes')!);
      // The file contains no ages, because an age in a file becomes outdated.
      expect([served.has('mappale_published_age_seconds{region="molise"}'), written.has('mappale_published_age_seconds{region="molise"}')]).toEqual([true, false]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('are described in the OpenAPI document, and GET /metrics redirects to their path', async () => {
    expect(DOCUMENT.paths['/metrics']!.get.security).toEqual([]);
    const { statusCode, headers } = await service.app.inject({ method: 'GET', url: '/metrics' });
    expect([statusCode, headers['location']]).toEqual([302, `${BASE}/metrics`]);
    expect((await service.ask('/metrics', { method: 'POST' })).status).toBe(405);
  });
});

describe('access to the metrics', () => {
  const answering: Reader = {
    engine: 'postgres', restricted: true, login: 'ordinary', parallel: 10, pools: () => [], onEach: async () => undefined, close: async () => undefined,
    call: async () => Promise.reject(new MappaleError('gone', { code: 'SQL_ECONNREFUSED', kind: 'database' })),
    count: async () => Promise.reject(new MappaleError('gone', { code: 'SQL_ECONNREFUSED', kind: 'database' })),
  };

  it('is allowed only from this machine and from configured networks, and never through an unknown proxy', async () => {
    const app = await buildServer({ reader: answering, version: VERSION, log: SILENT, trustedProxies: ['10.0.0.1'], metricsReaders: ['172.16.0.0/12'] });
    for (const [from, headers, status] of [
      ['127.0.0.1', {}, 200], ['::1', {}, 200], ['::ffff:127.0.0.1', {}, 200], ['172.17.0.3', {}, 200], ['192.0.2.1', {}, 404], ['10.0.0.1', {}, 404], ['127.0.0.1', { 'x-forwarded-for': '192.0.2.1' }, 404],
      ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, 404], ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, 404], ['10.0.0.1', { 'x-forwarded-for': '192.0.2.1' }, 404], ['10.0.0.1', { 'x-forwarded-for': '172.17.0.3' }, 200],
    ] as const) expect([from, headers, (await read(app, from, headers)).status]).toEqual([from, headers, status]);
    await app.close();
  });

  it('is denied to a web page under a foreign host name that resolves to this machine, unless the address of this machine is configured', async () => {
    const statusOf = async (app: FastifyInstance, host: string): Promise<number> => (await read(app, '127.0.0.1', { host })).status;
    const app = await buildServer({ reader: answering, version: VERSION, log: SILENT });
    for (const [host, status] of [['localhost:8080', 200], ['127.0.0.1', 200], ['[::1]:8080', 200], ['rebound.example', 404], ['localhost.example:8080', 404]] as const) {
      expect([host, await statusOf(app, host)]).toEqual([host, status]);
    }
    const { headers } = await app.inject({ method: 'GET', url: `${BASE}/metrics` });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    await app.close();
    const named = await buildServer({ reader: answering, version: VERSION, log: SILENT, metricsReaders: ['127.0.0.1'] });
    expect(await statusOf(named, 'mappale.example')).toBe(200);
    await named.close();
  });

  it('works without the database, and reports that the database is unreachable', async () => {
    const app = await buildServer({ reader: answering, version: VERSION, log: SILENT });
    await app.inject({ method: 'GET', url: `${BASE}/admin/regions`, headers: { 'x-api-key': `mpl_${'a'.repeat(43)}` } });
    const figures = figuresOf((await read(app)).text);
    expect([figures.get('mappale_database_reachable'), figures.get('mappale_turned_away_total{reason="database"}'), figures.has('mappale_last_run_exit_code')]).toEqual([0, 1, false]);
    await app.close();
  });
});
