/** The HTTP server below the routes: how long connections may take, what every answer says, and answers to what never becomes a request. */
import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, refusal } from './errors.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** What pages of other origins may read. */
const EXPOSED_HEADERS = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id';

/** Milliseconds. Proxies keep an idle connection for a minute: ours stay a little longer, so that none ends on a question under way. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000 } as const;

/** Longest time in which nothing comes or goes on a connection, also of a caller who does not read the answer; milliseconds. */
const SILENCE_MS = 120_000;

/** Longest time from a request to the end of its answer. It ends the connection of a client that reads a few bytes at a time; milliseconds. */
const ANSWER_MS = 300_000;

/** How long a caller who was refused may go on sending, so that the refusal arrives; milliseconds. */
const LINGER_MS = 1_000;

/** Headers of every answer. @param requestId as the log has it */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS, 'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding, X-Api-Key', 'x-request-id': requestId,
  };
}

/**
 * @param handler of requests
 * @param refused told of each answer that was given here
 * @param answerMs longest time from a request to the end of its answer; milliseconds
 */
export function httpServer(handler: RequestListener, refused: (requestId: string, error: ApiError, why: string) => void, answerMs = ANSWER_MS): Server {
  // A request without Host is refused as all are, by the handler.
  const server = createServer({ ...TIMES, requireHostHeader: false }, (request, response) => {
    const late = setTimeout(() => request.socket.destroy(), answerMs).unref();
    response.once('close', () => clearTimeout(late));
    const problem = ambiguityOf(request);
    if (problem === null) handler(request, response);
    else refuse(request.socket, new ApiError('INVALID_PARAMS', problem), 'ambiguous headers');
  });
  server.setTimeout(SILENCE_MS);
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
    // Answers go out in the order of the questions.
    const before = latest.get(socket);
    if (before === undefined || before.writableFinished || before.destroyed) answer();
    else before.once('close', answer);
  };
  server.on('request', (request, response) => latest.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A client that closes in the middle of a body waits for no answer, and the handler must not wait for the rest.
    const isBrokenOff = error.code === 'HPE_INVALID_EOF_STATE' && latest.get(socket)?.req.complete === false;
    if (error.code === 'ECONNRESET' || isBrokenOff) socket.destroy();
    else refuse(socket, malformed(error), error.code ?? error.message);
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    refuse(socket, refusal.METHOD_NOT_ALLOWED('CONNECT'), 'CONNECT');
  });
  // Nobody is asked for a body: whatever is expected, the answer is that to the request.
  for (const event of ['checkContinue', 'checkExpectation'] as const) server.on(event, (request, response) => server.emit('request', request, response));
  return server;
}

/** Returns why proxies and this server may read the headers of a request differently, or null. */
function ambiguityOf({ headers, rawHeaders }: IncomingMessage): string | null {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) return `the header Host is there ${hosts} times; allowed: once`;
  const coding = headers['transfer-encoding'];
  return coding === undefined || coding.trim().toLowerCase() === 'chunked' ? null : 'the header Transfer-Encoding is not supported; allowed: chunked';
}

function malformed({ code }: NodeJS.ErrnoException): ApiError {
  const [headers, all] = [TIMES.headersTimeout / 1000, TIMES.requestTimeout / 1000];
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', `the request did not arrive in time; allowed: ${headers} seconds for its headers, ${all} for all of it`);
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'path and headers are too long; allowed: 16 KiB');
    default:
      return new ApiError('INVALID_PARAMS', 'this is no request of HTTP/1.1');
  }
}

function answerTo(error: ApiError, requestId: string): string {
  const body = JSON.stringify(error);
  const headers = {
    ...commonHeaders(requestId), 'cache-control': 'no-store', ...error.headers, 'content-type': JSON_TYPE, 'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(), connection: 'close',
  };
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
