/** Tests that one client cannot use the whole capacity of the server. A fake database holds queries back until the test releases them. */
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildServer } from '../../api/server.ts';
import { FairQueue, type Release } from '../../api/fair-queue.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { SILENT } from '../../pipelines/log.ts';
import { BASE, VERSION } from './harness.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the fair queue', () => {
  it('serves clients in rotation, with a few requests of each client at a time', async () => {
    const queue = new FairQueue({ perCaller: 2, total: 3, patienceMs: 1_000 });
    const served: string[] = [];
    const releases: Release[] = [];
    for (const caller of ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'b', 'c']) {
      void queue.take(caller).then((release) => {
        served.push(caller);
        releases.push(release as Release);
      });
    }
    await settled();
    expect(served.join('')).toBe('aab');
    for (let at = 0; at < 9; at += 1) {
      releases[at]!();
      releases[at]!();
      await settled();
    }
    // Service in order of arrival would give aaaaabbcc. Here a late client does not wait for all requests of an earlier client.
    expect(served.join('')).toBe('aabcabcaa');
  });

  it('applies the limit of a client across all pools, and the limit of each pool', async () => {
    const queue = new FairQueue({ perCaller: 3, total: 2, patienceMs: 1_000 });
    const served: string[] = [];
    const releases: Release[] = [];
    for (const [caller, place] of [['a', 1], ['a', 1], ['a', 1], ['a', 2], ['a', 2], ['b', 1], ['b', 2]] as const) {
      void queue.take(caller, place).then((release) => {
        served.push(`${caller}${place}`);
        releases.push(release as Release);
      });
    }
    await settled();
    expect(served).toEqual(['a1', 'a1', 'a2', 'b2']);
    // A free place in the first pool goes to the client with fewer requests in progress. The second pool is full.
    releases[0]!();
    await settled();
    expect(served.slice(4)).toEqual(['b1']);
    // When the request of client b in the second pool ends, client a takes the free place, because only two of its requests are in progress.
    releases[3]!();
    await settled();
    expect(served.slice(5)).toEqual(['a2']);
  });

  it('refuses requests that waited too long, and still serves a later request from the same client', async () => {
    vi.useFakeTimers();
    const queue = new FairQueue({ perCaller: 1, total: 2, patienceMs: 2_000 });
    const [first, second, third] = [queue.take('a'), queue.take('b'), queue.take('c')];
    const again = queue.take('a');
    await vi.advanceTimersByTimeAsync(1_999);
    await vi.advanceTimersByTimeAsync(1);
    expect([await again, await third]).toEqual(['own', 'others']);
    (await first as Release)();
    (await second as Release)();
    expect(typeof await queue.take('c')).toBe('function');
  });
});

/** Returns a server with a fake database. Except for queries for the current publication, the database answers no query until the test calls `release`. */
async function held(): Promise<{
  app: FastifyInstance;
  begun: string[];
  counted: boolean[];
  release(): void;
  ask(key: string): Promise<LightMyRequestResponse>;
  tile(key: string): Promise<LightMyRequestResponse>;
}> {
  const begun: string[] = [];
  const counted: boolean[] = [];
  const waiting: (() => void)[] = [];
  let free = false;
  const reader: Reader = {
    engine: 'postgres',
    restricted: true,
    login: 'ordinary',
    parallel: 10,
    pools: () => [],
    onEach: async () => undefined,
    close: async () => undefined,
    call: (async (statement: string, parameters: readonly unknown[]) => {
      begun.push(String(parameters[0] ?? statement));
      // The fake database reports the current publication immediately.
      if (!free && !statement.includes('map_publication')) await new Promise<void>((resolve) => waiting.push(resolve));
      return { publication: '1', facts: null, drawings: null, answer: '{"data":[],"meta":{"count":0}}', dataset: '{}' };
    }) as unknown as Reader['call'],
    count: (async (_statement: string, [, , , counts]: readonly unknown[]) => {
      counted.push(counts as boolean);
      return { outcome: 'ADMITTED', token_id: 1, quota: 1000, remaining: 500, resets_at: 1, retry_after_seconds: null };
    }) as unknown as Reader['count'],
  };
  const app = await buildServer({ reader, version: VERSION, log: SILENT });
  await app.ready();
  return {
    app,
    begun,
    counted,
    release() {
      free = true;
      for (const go of waiting.splice(0)) go();
    },
    ask: (key) => app.inject({ method: 'GET', url: `${BASE}/admin/provinces?region=${key}`, headers: { 'x-api-key': `mpl_${key.padEnd(43, 'x')}` } }),
    tile: (key) => app.inject({ method: 'GET', url: `${BASE}/tiles/14/1/1?layer=parcels`, headers: { 'x-api-key': `mpl_${key.padEnd(43, 'x')}` } }),
  };
}

describe('map tiles', () => {
  it('use at most five of ten connections, wait behind other requests, get 429 if 64 tiles of the token wait, and are not counted as requests', async () => {
    const { app, begun, counted, release, ask, tile } = await held();
    const tiles = Array.from({ length: 5 + 64 + 3 }, () => tile('map'));
    await expect.poll(() => begun.filter((each) => each !== 'select publication from api.map_publication()').length).toBe(5);
    const question = ask('map');
    await expect.poll(() => begun.at(-1)).toBe('map');
    const refused = (await Promise.all(tiles.slice(-3))).map(({ statusCode, headers, payload }) => [statusCode, headers['retry-after'], (JSON.parse(payload) as { details: unknown }).details]);
    expect(refused).toEqual(Array.from({ length: 3 }, () => [429, '1', { retry_after_seconds: 1, limit: 8 }]));
    // A tile of another client waits and is then served.
    const other = tile('other');
    release();
    expect((await Promise.all([...tiles.slice(0, -3), question, other])).filter(({ statusCode }) => ![200, 204].includes(statusCode))).toEqual([]);
    expect(counted.filter((each) => each).length).toBe(1);
    await app.close();
  });
});

describe('a token with many requests at once', () => {
  it('has at most three requests in progress at a time, and another token is served meanwhile', async () => {
    const { app, begun, release, ask } = await held();
    const greedy = Array.from({ length: 60 }, () => ask('greedy'));
    await expect.poll(() => begun.length).toBe(3);
    const modest = ask('modest');
    await expect.poll(() => begun).toEqual(['greedy', 'greedy', 'greedy', 'modest']);
    release();
    expect((await Promise.all([...greedy, modest])).filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
    expect(begun.length).toBe(61);
    await app.close();
  });

  it('gets 429 with Retry-After 1 after two seconds in the queue, and the refusal is not counted', async () => {
    const { app, begun, counted, release, ask } = await held();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const asked = Array.from({ length: 5 }, () => ask('greedy'));
    while (begun.length < 3) await settled();
    await vi.advanceTimersByTimeAsync(2_000);
    const refused = await Promise.all(asked.slice(3));
    vi.useRealTimers();
    for (const { statusCode, headers, body } of refused) {
      expect([statusCode, headers['retry-after'], headers['x-ratelimit-remaining'], JSON.parse(body)]).toMatchObject([429, '1', '500', { error: 'RATE_LIMITED', details: { retry_after_seconds: 1, limit: 3 } }]);
    }
    expect(counted).toEqual([true, true, true, false, false]);
    release();
    expect((await Promise.all(asked.slice(0, 3))).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    await app.close();
  });
});

describe('a server whose event loop did not run', () => {
  it.each([[2_000, 200], [10_000, 503]])('for %i ms returns %i', async (stalledMs, status) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { app, release, ask } = await held();
    release();
    // No real time passes, so the event loop never runs between two measurements of its delay, as during a pause of the process.
    vi.advanceTimersByTime(stalledMs);
    vi.useRealTimers();
    const { statusCode } = await ask('patient');
    expect(statusCode).toBe(status);
    await app.close();
  });
});

describe('a client that disconnects while it waits', () => {
  it('leaves the queue, and its request is neither run nor counted against the limit', async () => {
    const { app, begun, counted, release } = await held();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const key = `mpl_${'x'.repeat(43)}`;
    const sockets = await Promise.all(Array.from({ length: 8 }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(`GET ${BASE}/admin/regions HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`);
      return socket;
    }));
    await expect.poll(() => begun.length).toBe(3);
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(() => promisify(app.server.getConnections.bind(app.server))()).toBe(0);
    release();
    await app.close();
    await settled();
    expect([begun.length, counted.length]).toEqual([3, 3]);
  });
});

describe('requests without a key', () => {
  it('cause at most one database query per second for /health, for any number of clients', async () => {
    const { app, begun, release } = await held();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const ask = (): Promise<number> => app.inject({ method: 'GET', url: `${BASE}/health` }).then(({ statusCode }) => statusCode);
    const crowd = Array.from({ length: 40 }, ask);
    await expect.poll(() => begun.length).toBe(1);
    release();
    expect(new Set(await Promise.all(crowd))).toEqual(new Set([200]));
    clock.mockReturnValue(1_999);
    await ask();
    expect(begun.length).toBe(1);
    clock.mockReturnValue(2_001);
    await ask();
    expect(begun.length).toBe(2);
    await app.close();
  });

  it('get static files that are compressed once, not for each client', async () => {
    const { app } = await held();
    const packers = (['gzip', 'gzipSync', 'createGzip'] as const).map((name) => vi.spyOn(zlib, name));
    for (const path of ['/docs/swagger-ui.js', '/docs/swagger-ui.css', '/map/maplibre-gl.mjs', '/openapi.json']) {
      const [packed, plain, none] = await Promise.all(['gzip, br', undefined, 'gzip;q=0'].map((encoding) => app.inject({ method: 'GET', url: BASE + path, headers: encoding === undefined ? {} : { 'accept-encoding': encoding } })));
      expect([path, packed!.headers['content-encoding'], plain!.headers['content-encoding'], none!.headers['content-encoding']]).toEqual([path, 'gzip', undefined, undefined]);
      expect(zlib.gunzipSync(packed!.rawPayload).equals(plain!.rawPayload), path).toBe(true);
      const again = await app.inject({ method: 'GET', url: BASE + path, headers: { 'accept-encoding': 'gzip', 'if-none-match': String(plain!.headers['etag']) } });
      expect([path, again.statusCode, again.payload]).toEqual([path, 304, '']);
    }
    expect(packers.map((packer) => packer.mock.calls.length)).toEqual([0, 0, 0]);
    await app.close();
  });
});
