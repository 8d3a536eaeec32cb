/** Creates the HTTP server without its routes: connection timeouts, common headers, and responses to malformed requests. */
import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, refusal } from './errors.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Media type of error responses (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Headers that scripts of other origins may read. */
const EXPOSED_HEADERS = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id, Link, Content-Crs';

/** Request headers on which every response may depend. */
export const VARY = 'Accept-Encoding, X-Api-Key';

/**
 * Timeouts, and the interval between the checks of the timeouts, in milliseconds. Many proxies keep idle connections for a minute. The server keeps idle
 * connections slightly longer, so that no connection closes while a proxy sends a request.
 */
const TIMES = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000 } as const;

/** Maximum time without traffic on a connection in milliseconds. The limit also ends connections of clients that do not read the response. */
const SILENCE_MS = 120_000;

/** Maximum time in milliseconds from a request to the end of the response. This limit stops clients that read very slowly. */
export const ANSWER_MS = 300_000;

/** Maximum number of responses that wait in memory for slow clients. A response is at most about 1 MiB in size. */
const WAITING_ANSWERS = 256;

/** Interval in milliseconds at which waiting responses are counted. */
const COUNT_MS = 1_000;

/** Time in milliseconds for which the connection of a refused client stays open. If the connection closed earlier, the client could not read the refusal. */
const LINGER_MS = 1_000;

/** Returns the headers that every response has. @param requestId identifier of the request in the log */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS, 'x-content-type-options': 'nosniff',
    vary: VARY, 'x-request-id': requestId,
  };
}

interface AnswerLimits {
  /** Maximum time in milliseconds from a request to the end of the response. */
  readonly answerMs?: number;
  /** Maximum number of responses that wait in memory for slow clients. */
  readonly waitingAnswers?: number;
}

/** @param refused called for each error that this module sends */
export function httpServer(
  handler: RequestListener, refused: (requestId: string, error: ApiError, why: string) => void,
  { answerMs = ANSWER_MS, waitingAnswers = WAITING_ANSWERS }: AnswerLimits = {},
): Server {
  // The handler, not Node, refuses requests without the header Host.
  const server = createServer({ ...TIMES, requireHostHeader: false }, (request, response) => {
    const late = setTimeout(() => request.socket.destroy(), answerMs).unref();
    response.once('close', () => clearTimeout(late));
    if (!response.shouldKeepAlive) closeAfterBody(request, response);
    const problem = ambiguityOf(request);
    if (problem === null) handler(request, response);
    else refuse(request.socket, new ApiError('INVALID_PARAMS', problem), 'ambiguous headers');
  });
  server.setTimeout(SILENCE_MS);
  limitWaiting(server, waitingAnswers);
  const latest = new WeakMap<Duplex, ServerResponse>();
  const closing = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, error: ApiError, why: string): void => {
    if (closing.has(socket)) return;
    closing.add(socket);
    const answer = (): void => {
      if (!socket.writable) return void socket.destroy();
      const requestId = randomUUID();
      socket.end(answerTo(error, requestId));
      refused(requestId, error, why);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
    // The refusal must follow the response to the previous request on the connection.
    const before = latest.get(socket);
    if (before === undefined || before.writableFinished || before.destroyed) answer();
    else before.once('close', answer);
  };
  server.on('request', (request, response) => latest.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // No error is sent if the client closed the connection before the end of a body, or got a response before it sent the complete body. The connection is
    // destroyed, so that the handler does not wait for the rest of the body.
    const answer = latest.get(socket);
    const isBrokenOff = answer?.req.complete === false && (error.code === 'HPE_INVALID_EOF_STATE' || answer.writableFinished);
    if (error.code === 'ECONNRESET' || isBrokenOff) socket.destroy();
    else refuse(socket, malformed(error), error.code ?? error.message);
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    refuse(socket, refusal.METHOD_NOT_ALLOWED('CONNECT'), 'CONNECT');
  });
  // The server does not send `100 Continue`. Requests with the header Expect are handled like other requests.
  for (const event of ['checkContinue', 'checkExpectation'] as const) server.on(event, (request, response) => server.emit('request', request, response));
  return server;
}

/**
 * If the client does not want to keep the connection, closes it when both the response and the request body have ended. Node would close the connection
 * immediately after the response, and a client that is still sending could then not read the response.
 */
function closeAfterBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined && Number(request.headers['content-length'] ?? 0) === 0) return;
  response.shouldKeepAlive = true;
  response.once('finish', () => {
    if (request.complete) request.socket.end();
    else request.once('end', () => request.socket.end());
  });
}

/** If more responses wait than the limit allows, closes the connections with the oldest waiting responses. */
function limitWaiting(server: Server, most: number): void {
  const open = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  const counting = setInterval(() => {
    const waiting = [...open].filter((response) => response.writableLength > 0);
    for (const { socket } of waiting.slice(0, Math.max(0, waiting.length - most))) socket?.destroy();
  }, COUNT_MS).unref();
  server.once('close', () => clearInterval(counting));
}

/** Returns why a proxy may interpret the request's headers differently from this server, or null. */
function ambiguityOf({ headers, rawHeaders }: IncomingMessage): string | null {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) return `the header Host occurs ${hosts} times; allowed: once`;
  const coding = headers['transfer-encoding'];
  return coding === undefined || coding.trim().toLowerCase() === 'chunked' ? null : 'the header Transfer-Encoding is not supported; allowed: chunked';
}

function malformed({ code }: NodeJS.ErrnoException): ApiError {
  const [headers, all] = [TIMES.headersTimeout / 1000, TIMES.requestTimeout / 1000];
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', `the request did not arrive in time; allowed: ${headers} seconds for its headers, ${all} seconds for the complete request`);
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'path and headers are too long; allowed: 16 KiB');
    default:
      return new ApiError('INVALID_PARAMS', 'the request is not valid HTTP/1.1');
  }
}

function answerTo(error: ApiError, requestId: string): string {
  const body = JSON.stringify(error);
  const headers = {
    ...commonHeaders(requestId), 'cache-control': 'no-store', ...error.headers, 'content-type': PROBLEM_TYPE, 'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(), connection: 'close',
  };
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
