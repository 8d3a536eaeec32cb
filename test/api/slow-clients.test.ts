/** Tests clients that read slowly, and idle clients. The server ends the connections of slow clients and answers other clients meanwhile. */
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { httpServer } from '../../api/http.ts';

/** A response body that is larger than the buffers of a loopback connection. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');
const SLOW_CLIENTS = 20;

let server: Server;
let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  server.closeAllConnections();
  server.close();
});

/** Starts a server with a large and a small page. @returns its port, and a function that counts the closed connections that had sent a request */
async function start(answerMs: number, waitingAnswers?: number): Promise<{ port: number; ended: () => number }> {
  let ended = 0;
  server = httpServer((request, response) => {
    request.socket.once('close', () => void (ended += 1));
    response.end(request.url === '/large' ? LARGE : 'small');
  }, () => undefined, { answerMs, ...(waitingAnswers === undefined ? {} : { waitingAnswers }) });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, ended: () => ended };
}

/** Opens a connection that requests the large page and reads 1 KiB every 20 ms. */
function readSlowly(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', highWaterMark: 1024 } as Parameters<typeof connect>[0] & object);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), 20).unref();
  });
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  return new Promise((resolve) => void socket.once('data', () => resolve(socket)));
}

const connections = (): Promise<number> => new Promise((resolve, reject) => {
  server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
});

it('the server ends a connection if the client keeps reading but does not finish within the time limit', async () => {
  const { port, ended } = await start(500);
  await Promise.all(Array.from({ length: SLOW_CLIENTS }, () => readSlowly(port)));
  await expect.poll(ended).toBe(SLOW_CLIENTS);
  await expect.poll(connections).toBe(0);
});

it('the server closes connections with unread responses if more responses are unread than the limit allows', async () => {
  const { port, ended } = await start(60_000, 5);
  const waiting = await Promise.all(Array.from({ length: SLOW_CLIENTS }, () => readSlowly(port)));
  await expect.poll(ended).toBe(SLOW_CLIENTS - 5);
  expect(waiting.filter(({ destroyed }) => !destroyed).length).toBeGreaterThanOrEqual(5);
  expect(await (await fetch(`http://127.0.0.1:${port}/small`)).text()).toBe('small');
});

it('the server answers other clients while slow clients read', async () => {
  const { port, ended } = await start(60_000);
  await Promise.all(Array.from({ length: SLOW_CLIENTS }, () => readSlowly(port)));
  const answers = await Promise.all(Array.from({ length: 10 }, async () => (await fetch(`http://127.0.0.1:${port}/small`)).text()));
  expect(answers).toEqual(answers.map(() => 'small'));
  expect(ended()).toBe(0);
});

it('the server keeps an idle connection open for longer than the time limit of a response', async () => {
  const { port } = await start(100);
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('data', (bytes) => void (received += bytes.toString('latin1')));
  socket.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => received).toMatch(/small$/);
  await new Promise((resolve) => void setTimeout(resolve, 300));
  received = '';
  socket.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => received).toMatch(/small$/);
});
