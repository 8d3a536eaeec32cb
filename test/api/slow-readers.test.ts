/** Tests that a client that reads or sends byte by byte blocks neither a slot (one of the token's simultaneous requests) nor a database connection. */
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { BODY_MS } from '../../api/body.ts';
import { ENRICH_PATH } from '../../api/enrich.ts';
import { ANSWER_MS } from '../../api/http.ts';
import { buildServer } from '../../api/server.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, regionService, VERSION } from './harness.ts';

const CLIENTS = 6;
/** Number of requests that a client sends at once. In total, the responses are larger than the buffers of a loopback connection. */
const REQUESTS = 30;

describeDatabase('a slow client', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let app: Awaited<ReturnType<typeof buildServer>>;
  let port = 0;
  let key: string;
  let tile: string;
  let sockets: Socket[] = [];
  /** Replaces the time limits of a response and of a request body, so that the tests need not wait. */
  const bounds = (answerMs: number, bodyMs: number): void => {
    const timer = globalThis.setTimeout;
    const instead = new Map([[ANSWER_MS, answerMs], [BODY_MS, bodyMs]]);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void, ms?: number) => timer(work, instead.get(ms ?? 0) ?? ms));
  };

  beforeAll(async () => {
    service = await regionService(engine, 120, 17, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_boundaries', 'ispra_flood'] });
    await service.database.query('update core.parcel set geom = st_segmentize(geom, 5e-7)');
    const [{ x, y }] = await service.database.query<{ x: number; y: number }>(
      `select floor((st_x(p.point) + 180) / 360 * 2 ^ 15)::int4 as x,
         floor((0.5 - ln(tan(pi() / 4 + radians(st_y(p.point)) / 2)) / (2 * pi())) * 2 ^ 15)::int4 as y
       from core.parcel p order by p.fid limit 1`,
    ) as [{ x: number; y: number }];
    tile = `/tiles/15/${x}/${y}?layer=parcels`;
    app = await buildServer({ reader: service.reader, version: VERSION, log: SILENT, enrich: true });
    await app.listen({ port: 0, host: '127.0.0.1' });
    port = (app.server.address() as AddressInfo).port;
    key = await service.token();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    for (const socket of sockets) socket.destroy();
    sockets = [];
  });
  afterAll(async () => {
    await app?.close();
    await service?.close();
  });

  const send = (bytes: string): Promise<Socket> => new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', highWaterMark: 1 } as Parameters<typeof connect>[0] & object, () => socket.write(bytes, () => resolve(socket)));
    socket.on('error', () => undefined);
    sockets.push(socket);
  });
  /** Requests a path many times on one connection, and reads the responses at one byte per second. */
  const readSlowly = async (path: string): Promise<Socket> => {
    const socket = await send(`GET ${BASE}${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`.repeat(REQUESTS));
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.on('data', () => {
        socket.pause();
        setTimeout(() => socket.resume(), 1000).unref();
        resolve();
      });
    });
    return socket;
  };
  const connections = (): Promise<number> => new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
  const ask = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${BASE}${path}`, { headers: { 'x-api-key': key, connection: 'close' } })).status;
  /** On PostgreSQL, waits until no other session of the database runs a query or keeps a transaction open. */
  const idle = async (): Promise<void> => {
    if (engine.name !== 'postgres') return;
    await expect.poll(() => service.database.query(
      "select state, query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state is distinct from 'idle' and backend_type = 'client backend'",
    )).toEqual([]);
  };

  it.each(['OGC items', 'tiles'])('holds no slot and no connection to the database while it reads %s', async (what) => {
    const path = what === 'tiles' ? tile : '/ogc/collections/parcels/items?limit=1000';
    await Promise.all(Array.from({ length: CLIENTS }, () => readSlowly(path)));
    await idle();
    // The token has fewer slots than there are slow responses.
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/admin/regions')));
    expect(answers).toEqual(answers.map(() => 200));
    expect(await ask(tile)).toBe(200);
  });

  it('loses its connection and all pending responses if it reads OGC items for longer than the time limit', async () => {
    bounds(1000, BODY_MS);
    await Promise.all(Array.from({ length: CLIENTS }, () => readSlowly('/ogc/collections/parcels/items?limit=1000')));
    await expect.poll(connections).toBe(0);
    await idle();
    expect(await ask('/admin/regions')).toBe(200);
  });

  it('gets 408 and frees its slot if it sends its body byte by byte for longer than the time limit', async () => {
    bounds(ANSWER_MS, 300);
    const uploads = await Promise.all(Array.from({ length: 3 }, async () => {
      const socket = await send(`POST ${BASE}${ENRICH_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nx-api-key: ${key}\r\nContent-Length: 1000\r\n\r\n`);
      const sending = setInterval(() => socket.write('1'), 50);
      socket.once('close', () => clearInterval(sending));
      return new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (bytes) => {
          text += bytes.toString('latin1');
          if (text.length >= 12) resolve(text.slice(9, 12));
        });
      });
    }));
    expect(uploads).toEqual(['408', '408', '408']);
    const whole = await send(`POST ${BASE}${ENRICH_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nx-api-key: ${key}\r\nContent-Length: 6\r\n\r\nfid\n1\n`);
    const status = await new Promise<string>((resolve) => {
      let text = '';
      whole.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (text.length >= 12) resolve(text.slice(9, 12));
      });
    });
    expect(status).toBe('200');
  });
});
