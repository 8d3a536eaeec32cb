/** Starts local HTTP servers that serve files with the peculiarities of real publishers' servers. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Describes how a server serves a file. The default is a modern server without faults. */
export interface Manners {
  /** `null` means no ETag. */
  readonly etag?: string | null;
  readonly modified?: string | null;
  /** If false, a range request gets the whole file (200). */
  readonly ranges?: boolean;
  /** If false, `If-None-Match` and `If-Modified-Since` are ignored. */
  readonly conditional?: boolean;
  /** If false, `If-Range` is ignored. A range request then gets a range of the current file, even if the file has changed. */
  readonly ifRange?: boolean;
  /** Content-Length of a complete response (200). `null` means a chunked body without a length. */
  readonly length?: number | null;
  /** The connection ends after this many bytes of a body. A body that is not longer, such as that of a short range, is sent completely. */
  readonly cutAt?: number;
  /** The connection stays open until this function returns true. An earlier end would lose the data in the client's buffers. */
  readonly cutWhen?: () => boolean;
  readonly type?: string;
}

export interface Seen {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns a handler that serves bytes. Refuses any method other than GET with status 403, as most publishers refuse HEAD. */
export function served(body: Buffer, manners: Manners = {}): Handler {
  const { etag = '"1"', modified = 'Sun, 01 Mar 2026 08:00:00 GMT', ranges = true, conditional = true, ifRange = true, cutAt, type = 'application/octet-stream' } = manners;
  return ({ method, headers }, response) => {
    if (method !== 'GET') return void response.writeHead(403).end();
    const said = { etag, 'last-modified': modified };
    const about: Record<string, string | number> = { 'content-type': type };
    for (const [name, value] of Object.entries(said)) if (value !== null) about[name] = value;
    const { 'if-none-match': noneMatch, 'if-modified-since': since, 'if-range': ifIs, range } = headers;
    const isSame = noneMatch === undefined ? modified !== null && since === modified : noneMatch === etag;
    if (conditional && isSame) return void response.writeHead(304, about).end();
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    let [start, end, status] = [0, body.length, 200];
    if (ranges && from !== undefined && (!ifRange || ifIs === undefined || ifIs === etag || ifIs === modified)) {
      start = Number(from);
      end = to === '' || to === undefined ? body.length : Math.min(body.length, Number(to) + 1);
      if (start >= body.length) return void response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
      about['content-range'] = `bytes ${start}-${end - 1}/${body.length}`;
      status = 206;
    }
    const whole = body.subarray(start, end);
    const length = manners.length === undefined || status === 206 ? whole.length : manners.length;
    response.writeHead(status, length === null ? about : { ...about, 'content-length': length });
    const stops = cutAt !== undefined && whole.length > cutAt ? cutAt : whole.length;
    const isCut = stops < whole.length || (length !== null && length > whole.length);
    if (!isCut) return void response.end(whole);
    response.write(whole.subarray(0, stops));
    const timer = setInterval(() => {
      if (manners.cutWhen?.() === false) return;
      clearInterval(timer);
      response.socket?.end();
    }, 2);
  };
}

/** Returns a handler that passes each request to the next of several handlers. The last handler gets all further requests. */
export function inOrder(...handlers: readonly [Handler, ...Handler[]]): Handler {
  let next = 0;
  return (request, response) => {
    const handler = handlers[Math.min(next, handlers.length - 1)];
    next += 1;
    handler?.(request, response);
  };
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body: string = ''): Handler {
  return (_request, response) => void response.writeHead(code, headers).end(body);
}

export interface PublisherServer {
  /** `http://127.0.0.1:<port>`, or with `https` if the server has a certificate. */
  readonly url: string;
  readonly seen: Seen[];
  /** Handlers by path and query. `/path?*` serves a path with any query or without a query. Anything else gets 404. */
  readonly routes: Map<string, Handler>;
  close(): Promise<void>;
}

/** @param secure key and certificate in PEM, to serve HTTPS */
export async function startPublisher(secure?: { readonly key: string; readonly cert: string }): Promise<PublisherServer> {
  const seen: Seen[] = [];
  const routes = new Map<string, Handler>();
  const listener: RequestListener = (request, response) => {
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    request.resume();
    const url = request.url ?? '';
    (routes.get(url) ?? routes.get(`${url.split('?', 1)[0] ?? ''}?*`) ?? status(404))(request, response);
  };
  const server = secure === undefined ? createServer(listener) : createSecureServer(secure, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${secure === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, seen, routes,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
