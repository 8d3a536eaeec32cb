/** Tests that an upload that stops half-way blocks neither other requests of its token nor the server, and that unusable uploads are refused. */
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { BODY_MS, bodyQueue } from '../../api/body.ts';
import { ENRICH_BODY, ENRICH_PATH } from '../../api/enrich.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, emptyService, type Service } from './harness.ts';

describeDatabase('uploads:', (engine) => {
  let service: Service;
  let port = 0;
  const open: Socket[] = [];
  beforeAll(async () => {
    service = await emptyService(engine, { enrich: true });
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    port = (service.app.server.address() as AddressInfo).port;
  });
  afterEach(() => {
    vi.restoreAllMocks();
    for (const socket of open.splice(0)) socket.destroy();
  });
  afterAll(() => service?.close());

  const head = (key: string | null, ...fields: string[]): string => [
    `POST ${BASE}${ENRICH_PATH} HTTP/1.1`, 'Host: x', 'Content-Type: text/csv', ...(key === null ? [] : [`x-api-key: ${key}`]), ...fields, '', '',
  ].join('\r\n');
  /** Sends bytes on a new connection. */
  const send = async (bytes: string): Promise<Socket> => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => resolve(socket)));
    socket.on('error', () => undefined);
    open.push(socket);
  });
  /** Returns the status of the first response on a connection. */
  const statusOf = async (socket: Socket): Promise<number> => new Promise((resolve) => {
    socket.once('data', (part) => resolve(Number(part.toString('latin1').slice(9, 12))));
    socket.once('close', () => resolve(0));
    if (socket.destroyed) resolve(0);
  });
  const broken = (key: string): Promise<Socket> => send(`${head(key, 'Content-Length: 1000')}fid\n1`);
  const whole = async (key: string): Promise<number> => statusOf(await send(`${head(key, 'Content-Length: 6')}fid\n1\n`));
  /** Repeats a request until its status is not 429, and returns the status. */
  const settled = async (ask: () => Promise<number>): Promise<number> => {
    let status = 429;
    await expect.poll(async () => (status = await ask())).not.toBe(429);
    return status;
  };
  /** Starts three uploads that never end, and waits until the server refuses a further upload of the token. */
  const threeBroken = async (key: string): Promise<Socket[]> => {
    const sockets = await Promise.all([broken(key), broken(key), broken(key)]);
    await expect.poll(() => whole(key)).toBe(429);
    return sockets;
  };

  it('an upload that never ends does not block other requests of its token', async () => {
    const key = await service.token();
    await threeBroken(key);
    const answers = await Promise.all(Array.from({ length: 3 }, () => service.ask('/admin/regions', { key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('an upload is refused while three uploads of the same token are in progress, and an upload of another token is accepted', async () => {
    await threeBroken(await service.token());
    expect(await whole(await service.token())).toBe(200);
  });

  it('an upload frees its place in the queue when the connection closes', async () => {
    const key = await service.token();
    for (const socket of await threeBroken(key)) socket.destroy();
    expect(await settled(() => whole(key))).toBe(200);
    expect(service.warned).toEqual([]);
  });

  it('a compressed upload is refused with 400, and an upload with the encoding identity is accepted', async () => {
    const key = await service.token();
    expect(await statusOf(await send(`${head(key, 'Content-Encoding: gzip', 'Content-Length: 6')}fid\n1\n`))).toBe(400);
    expect(await statusOf(await send(`${head(key, 'Content-Encoding: identity', 'Content-Length: 6')}fid\n1\n`))).toBe(200);
  });

  it('an upload that takes too long gets 408 and is not counted against the hourly limit', async () => {
    const key = await service.token();
    const timer = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void, ms?: number) => timer(work, ms === BODY_MS ? 20 : ms));
    const socket = await broken(key);
    expect(await statusOf(socket)).toBe(408);
    vi.restoreAllMocks();
    const { headers } = await service.ask('/admin/regions', { key });
    expect(headers['x-ratelimit-remaining']).toBe('999');
  });

  it('an upload without a key is refused before its body arrives', async () => {
    expect(await statusOf(await send(head(null, 'Content-Length: 1000')))).toBe(401);
  });

  it('an upload without the required scope is refused before its body arrives', async () => {
    expect(await statusOf(await send(head(await service.token(['admin_data:read']), 'Content-Length: 1000')))).toBe(403);
  });

  it('an upload with too large a Content-Length is refused before its key is checked', async () => {
    expect(await statusOf(await send(head(null, `Content-Length: ${ENRICH_BODY.mostBytes + 1}`)))).toBe(400);
  });

  it('an upload with too many bytes in chunks is refused', async () => {
    const socket = await send(head(await service.token(), 'Transfer-Encoding: chunked'));
    const piece = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const status = statusOf(socket);
    for (let sent = 0; sent <= ENRICH_BODY.mostBytes; sent += 65_536) socket.write(piece);
    expect(await status).toBe(400);
  });

  it.each(['keep-alive', 'close'])('a client that reads only after it has sent a large body gets every refusal (Connection: %s)', async (connection) => {
    const key = await service.token();
    const refused = async (to: string, bytes: number): Promise<number> =>
      statusOf(await send(`${to.replace('\r\n\r\n', '\r\n')}Connection: ${connection}\r\nContent-Length: ${bytes}\r\n\r\n${'a'.repeat(bytes)}`));
    const most = ENRICH_BODY.mostBytes;
    const statuses = [await refused(head(key), 4 * most), await refused(head(null), most), await refused(head(await service.token(['admin_data:read'])), most)];
    for (const path of ['/nothing', '/health']) statuses.push(await refused(head(key).replace(ENRICH_PATH, path), 4 * most));
    expect(statuses).toEqual([400, 401, 403, 404, 405]);
  });
});

describe('the queue of request bodies', () => {
  it('refuses a further body while 64 bodies, counted over all tokens, are in progress', async () => {
    const queue = bodyQueue();
    const taken = await Promise.all(Array.from({ length: 64 }, (_, index) => queue.take(`token ${Math.floor(index / 3)}`)));
    expect(taken.every((release) => typeof release === 'function')).toBe(true);
    expect(await queue.take('another')).toBe('others');
    if (typeof taken[0] === 'function') taken[0]();
    expect(typeof await queue.take('another')).toBe('function');
  });
});
