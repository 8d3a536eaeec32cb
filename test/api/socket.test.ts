/** Sends arbitrary bytes to the server. Every response must have the form and headers of the API. No request may cause a 500 or a logged warning. */
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STATUS, type ErrorCode } from '../../api/errors.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { BASE, emptyService, type Service } from './harness.ts';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Parses the responses in their order. An incomplete response at the end gets status 0. */
function readReplies(bytes: Buffer): Reply[] {
  const replies: Reply[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [line = '', ...fields] = bytes.subarray(at, end === -1 ? bytes.length : end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(line)?.[1] ?? 0);
    const headers = Object.fromEntries(fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]));
    const length = Number(headers['content-length'] ?? 0);
    const body = bytes.subarray(end + 4, end + 4 + length);
    replies.push(end === -1 || body.length < length ? { status: 0, headers, body: '' } : { status, headers, body: body.toString('utf8') });
    if (end === -1) break;
    at = end + 4 + length;
  }
  return replies;
}

/** Returns a message for each rule of the API that a response violates. */
function violations({ status, headers, body }: Reply): string[] {
  const missing = ['x-request-id', 'vary', 'x-content-type-options', 'access-control-allow-origin', 'access-control-expose-headers'].filter((name) => headers[name] === undefined).map((name) => `${status} without ${name}`);
  if (status < 400 && status !== 0) return missing;
  try {
    const { error, message } = JSON.parse(body) as { error: ErrorCode; message: string };
    return [...missing, ...(STATUS[error] === status && status < 500 && message.length > 5 ? [] : [`${status} is not ${error}`]), ...(headers['content-type'] === 'application/problem+json; charset=utf-8' ? [] : ['type'])];
  } catch {
    return [...missing, `${status} has no body of an error: ${body.slice(0, 80)}`];
  }
}

const END = `GET ${BASE}/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

describeDatabase('the socket', (engine) => {
  let service: Service;
  let port = 0;
  let key: string;
  beforeAll(async () => {
    service = await emptyService(engine, { trustedProxies: ['127.0.0.1'] });
    key = await service.token();
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    port = (service.app.server.address() as AddressInfo).port;
  });
  afterAll(() => service?.close());

  /** Sends bytes, and reads until the connection is closed. @param then `wait` until the server closes it, or `reset` it after sending */
  const say = (bytes: string | Buffer, then: 'wait' | 'reset' = 'wait'): Promise<Reply[]> => new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      if (then === 'reset') socket.write(bytes, () => socket.resetAndDestroy());
      else socket.write(bytes);
    });
    socket.on('data', (part) => parts.push(part));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(readReplies(Buffer.concat(parts))));
  });
  const get = (path: string, ...fields: readonly string[]): string => `GET ${BASE}${path} HTTP/1.1\r\n${['Host: x', ...fields].map((field) => `${field}\r\n`).join('')}\r\n`;
  const keyed = (path: string, ...fields: readonly string[]): string => get(path, `x-api-key: ${key}`, ...fields);
  /** Sends bytes, checks all responses and the log, and returns the first response. */
  const first = async (bytes: string): Promise<Reply> => {
    const replies = await say(bytes);
    expect(replies.flatMap(violations), bytes.slice(0, 200)).toEqual([]);
    expect(service.warned).toEqual([]);
    return replies[0]!;
  };

  it.each<readonly [name: string, bytes: () => string, status: number]>([
    ['a body in an unknown encoding', () => keyed('/admin/regions', 'Content-Encoding: foo', 'Content-Length: 1', 'Connection: close') + 'x', 200],
    ['a Content-Encoding header without a body', () => get('/nothing', 'Content-Encoding: foo', 'Connection: close'), 404],
    ['a body with a wrong method', () => `POST ${BASE}/health HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"a":`, 405],
    ['a chunked body with a wrong method', () => `PUT ${BASE}/parcels/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`, 405],
    ['a malformed chunked body', () => `PUT ${BASE}/parcels/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n`, 405],
    ['an unknown Expect header', () => get('/health', 'Expect: foo', 'Connection: close'), 200],
    ['Expect: 100-continue', () => `POST ${BASE}/health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`, 405],
    ['a request for a tunnel', () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 405],
    ['an upgrade to a different protocol', () => get('/health', 'Connection: upgrade, close', 'Upgrade: websocket'), 200],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['text that is not a request', () => 'hello\r\n\r\n', 400],
    ['a TLS handshake', () => '\u0016\u0003\u0001\u0002\u0000\u0001', 400],
    ['a request without Host', () => `GET ${BASE}/health HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
    ['HTTP/1.0 without Host', () => `GET ${BASE}/health HTTP/1.0\r\n\r\n`, 200],
    ['headers of 20 KiB', () => get('/health', `X-Long: ${'a'.repeat(20_000)}`), 431],
    ['a path of 20 KiB', () => get(`/${'a'.repeat(20_000)}`), 431],
    ['two Content-Length headers', () => get('/health', 'Content-Length: 1', 'Content-Length: 2'), 400],
    ['both Content-Length and chunks', () => get('/health', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
    ['two different Host headers', () => get('/health', 'Host: y'), 400],
    ['the same Host twice', () => get('/health', 'Host: x'), 400],
    ['an unknown transfer encoding', () => get('/health', 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n', 400],
    ['a header without a name', () => get('/health', ': x'), 400],
    ['a path with a different host', () => `GET http://example.org${BASE}/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 200],
    ['a broken escape in the path', () => keyed('/parcels/%zz', 'Connection: close'), 400],
    ['a path that is not UTF-8', () => keyed('/parcels/%ff', 'Connection: close'), 400],
    ['a broken escape in a parameter', () => keyed('/geocode/search?q=Via%2', 'Connection: close'), 400],
    ['a parameter that is not UTF-8', () => keyed('/geocode/search?q=Citt%E0', 'Connection: close'), 400],
    ['a broken escape without a key', () => get('/geocode/search?q=%zz', 'Connection: close'), 401],
    ['a route pattern as the path', () => `POST ${BASE}/:id(+ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 404],
    ['OPTIONS for the whole server', () => 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
    ['OPTIONS for an unknown path', () => `OPTIONS ${BASE}/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 404],
    ['a preflight for an unknown path', () => `OPTIONS ${BASE}/nothing HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\nConnection: close\r\n\r\n`, 404],
    ['a preflight', () => `OPTIONS ${BASE}/health HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\nConnection: close\r\n\r\n`, 204],
    ['OPTIONS without a preflight', () => `OPTIONS ${BASE}/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 405],
    ['the method QUERY', () => `QUERY ${BASE}/parcels/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 405],
    ['two keys', () => keyed('/admin/regions', `x-api-key: ${key}`, 'Connection: close'), 401],
  ])('answers %s', async (_name, bytes, status) => {
    expect((await first(bytes())).status).toBe(status);
  });

  it.each(['203.0.113.7:4711', '[2001:db8::7]:4711', '[2001:db8::7]', 'fe80::1%eth0', '::ffff:203.0.113.7', 'unknown', '_hidden', '"203.0.113.7"', '203.0.113.7, rubbish', '999.1.1.1', ',,,', '\u00ff', "' or 1=1"])(
    'reads X-Forwarded-For %j from a trusted proxy as an address, or ignores the header', async (forwarded) => {
      expect((await first(keyed('/admin/regions', `X-Forwarded-For: ${forwarded}`, 'Connection: close'))).status).toBe(200);
      expect((await first(get('/admin/regions', 'x-api-key: bad', `X-Forwarded-For: ${forwarded}`, 'Connection: close'))).status).toBe(401);
    },
  );

  it.each([
    ['https', 'maps.example', 'https://maps.example'], ['https', 'maps.example:8443', 'https://maps.example:8443'], ['https', '[2001:db8::7]:1', 'https://[2001:db8::7]:1'],
    ['javascript', 'maps.example', ''], ['https', 'maps.example/"><script>', ''], ['https', 'a b', ''], ['https', 'user@evil.example', ''], ['', 'maps.example?x', ''],
  ])('writes X-Forwarded-Proto %j and X-Forwarded-Host %j into links only as scheme and host', async (protocol, host, origin) => {
    const { body } = await first(keyed('/ogc', 'X-Forwarded-For: 203.0.113.7', `X-Forwarded-Proto: ${protocol}`, `X-Forwarded-Host: ${host}`, 'Connection: close'));
    const links = (JSON.parse(body) as { links: { href: string }[] }).links.map(({ href }) => href);
    expect(links.filter((href) => !href.startsWith(`${origin}${BASE}/`))).toEqual([]);
  });

  it.each(['%C2%80', '%C2%9B31m', 'Via%C2%85Roma'])('refuses the control character in q=%s', async (q) => {
    expect((await first(keyed(`/geocode/search?q=Via%20Roma${q}`, 'Connection: close'))).status).toBe(400);
  });

  it('discards a body that the path does not read, and then answers the next request of the connection', async () => {
    const body = get('/admin/regions').repeat(5_000);
    for (const sent of [`Content-Length: ${body.length}\r\n\r\n${body}`, `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`]) {
      const replies = await say(`POST ${BASE}/health HTTP/1.1\r\nHost: x\r\n${sent}${END}`);
      expect([replies.map(({ status }) => status), replies.flatMap(violations)]).toEqual([[405, 200], []]);
    }
  });

  it('closes the connection without a second response if a refused body never ends', async () => {
    const { server } = service.app;
    const { headersTimeout, requestTimeout } = server;
    Object.assign(server, { headersTimeout: 1_000, requestTimeout: 1_000 });
    try {
      const replies = await say(`POST ${BASE}/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`);
      expect(replies.map(({ status }) => status)).toEqual([405]);
    } finally {
      Object.assign(server, { headersTimeout, requestTimeout });
    }
  });

  it('answers the requests before an invalid request, then refuses the invalid request and closes the connection', async () => {
    const replies = await say(`${keyed('/admin/regions')}${get('/health')}rubbish\r\n\r\n`);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(replies.flatMap(violations)).toEqual([]);
  });

  it('returns 408 and closes the connection if a client sends nothing or an incomplete request', async () => {
    const { server } = service.app;
    expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout, server.timeout].every((limit) => limit > 0 && limit <= 120_000)).toBe(true);
    const { headersTimeout } = server;
    server.headersTimeout = 1;
    try {
      const [silent, slow] = await Promise.all([say(''), say(`GET ${BASE}/health HTTP/1.1\r\nHost:`)]);
      for (const [late] of [silent, slow]) expect([late!.status, violations(late!)]).toEqual([408, []]);
    } finally {
      server.headersTimeout = headersTimeout;
    }
  });

  it('tolerates clients that disconnect at once', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, index) => say(index % 3 === 0 ? keyed('/geocode/search?q=Via%20Roma') : index % 3 === 1 ? get('/admin/regions', 'x-api-key: bad') : keyed('/parcels/1', 'X-Forwarded-For: 1.2.3.4'), 'reset')));
    expect((await first(END)).status).toBe(200);
  });

  it('returns a different request ID in every response', async () => {
    const replies = (await Promise.all([say(END + END), say(END), say('rubbish\r\n\r\n')])).flat();
    expect(new Set(replies.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
  });

  it('survives a thousand mutilated requests', async () => {
    const random = randomOf('socket', 1);
    const words = [
      '\0', '\r\n', '\n', '\r', ' ', '\t', ':', '%', '%zz', '%00', '?', '&', '=', '/', '..', '#', ';', ',', '\u00ff', '\u00c3', 'HTTP/1.1', 'HTTP/0.9', '99999999999999999999', '-1', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n', 'Content-Encoding: br\r\n', 'Expect: 100-continue\r\n', 'Host: y\r\n', 'X-Forwarded-For: [::]:1\r\n', 'Forwarded: for=_x\r\n', 'If-None-Match: *\r\n', 'If-None-Match: "\r\n',
      'Accept-Encoding: gzip;q=9, *;q=0\r\n', 'Accept-Encoding: identity;q=0\r\n', 'Connection: upgrade\r\n', 'Upgrade: h2c\r\n', 'Range: bytes=0-1\r\n', 'Access-Control-Request-Method: GET\r\n', 'Origin: null\r\n', '0\r\n\r\n', '__proto__=1', 'q=', 'lat=', 'bbox=1,2,3,4',
    ];
    const paths = ['/geocode/search?q=Via%20Roma%205&city=A001', '/geocode/reverse?lat=41&lng=14', '/parcels/locate?bbox=14,41,14.01,41.01', '/parcels/1400000000?include=basic,risk', '/admin/provinces?region=Molise', '/health', '/openapi.json', '/docs', '/nothing'];
    const methods = ['GET', 'GET', 'GET', 'OPTIONS', 'POST', 'DELETE', 'TRACE'];
    const mutilated = Array.from({ length: 1_000 }, () => {
      let text = `${random.pick(methods)} ${BASE}${random.pick(paths)} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nAccept-Encoding: identity\r\n\r\n`;
      for (let count = 1 + random.below(3); count > 0; count -= 1) {
        const at = random.below(text.length + 1);
        const until = Math.min(text.length, at + random.below(13));
        text = [
          text.slice(0, at) + random.pick(words) + text.slice(at),
          text.slice(0, at) + text.slice(until),
          text.slice(0, until) + text.slice(at),
          text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1),
        ][random.below(4)]!;
      }
      return text;
    });
    const statuses = new Map<number, number>();
    const wrong: string[] = [];
    let next = 0;
    await Promise.all(Array.from({ length: 16 }, async () => {
      while (next < mutilated.length) {
        const text = mutilated[next++]!;
        // The added request completes or ends the mutilated request if the server still waits for bytes.
        const replies = await say(Buffer.from(`${text}\r\n\r\n${END}`, 'latin1'));
        if (replies.length === 0) wrong.push(`${JSON.stringify(text)}: no answer`);
        for (const reply of replies) {
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          for (const violation of violations(reply)) wrong.push(`${JSON.stringify(text)}: ${violation}`);
        }
      }
    }));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(service.warned).toEqual([]);
    expect([200, 400, 401, 404, 405].filter((status) => !statuses.has(status))).toEqual([]);
    expect((await first(END)).status).toBe(200);
  });
});

describeDatabase('blank text', (engine) => {
  let service: Service;
  beforeAll(async () => {
    service = await emptyService(engine);
  });
  afterAll(() => service?.close());

  it.each([['spaces', '%20%20%20'], ['tabs', '%09%09'], ['NUL', '%00%00'], ['zero width', '%E2%80%8B%E2%80%8B%E2%80%8B'], ['byte order marks', '%EF%BB%BF%EF%BB%BF'], ['soft hyphens', '%C2%AD%C2%AD'], ['C1 controls', '%C2%85%C2%90'], ['combining marks', '%CC%81%CC%81'],
    ['line separators', '%E2%80%A8%E2%80%A9'], ['Hangul fillers', '%E3%85%A4%E3%85%A4'], ['private characters', '%EE%80%80%EE%80%81'], ['variation selectors', '%EF%B8%8F%EF%B8%8F']])(
    'is refused if the text consists of %s', async (_name, encoded) => {
      const key = await service.token();
      for (const path of [`/geocode/search?q=${encoded}`, `/geocode/search?q=Via%20Roma&city=${encoded}`, `/admin/provinces?region=${encoded}`]) {
        const { status, body } = await service.ask(path, { key });
        expect([path, status, body!['error']]).toEqual([path, 400, 'INVALID_PARAMS']);
      }
    },
  );
});
