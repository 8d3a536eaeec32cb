/** Tests the tools of the Model Context Protocol with the official client, over standard input and output and over HTTP. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';
import { REGIONS } from '../harness/loaded-region.ts';
import { regionService } from './harness.ts';

type Json = Record<string, unknown>;
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };
type Called = { readonly isError: boolean; readonly value: Json };

const TOOLS = ['search', 'locate', 'parcel', 'explain', 'coverage'];

/** Runs on PostgreSQL only, because several processes read the same database. PGlite allows only one process. */
describeEngines('the Model Context Protocol', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let parcel: { fid: number; reference: string; lat: number; lng: number };
  let environment: Record<string, string>;
  let server: ChildProcess;
  let address: string;
  /** Text that the server wrote to standard error. */
  let logged = '';
  const clients: Client[] = [];

  /** Sends an arbitrary HTTP request, without an MCP client. */
  const ask = (path: string, { body, ...options }: RequestOptions & { readonly body?: string } = {}): Promise<Answer> => new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    request({ hostname, port, path, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)).on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    }).on('error', reject).end(body);
  });
  const overStdio = async (): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    clients.push(client);
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], cwd: ROOT, env: environment, stderr: 'ignore' }));
    return client;
  };
  const overHttp = async (headers: Record<string, string>): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    clients.push(client);
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
    return client;
  };
  const call = async (client: Client, name: string, arguments_: Json): Promise<Called> => {
    const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: arguments_ });
    const [{ type, text }, ...more] = content as [{ type: string; text: string }];
    expect([type, more]).toEqual(['text', []]);
    if (structuredContent !== undefined) expect(text).toContain('answer_as');
    return { isError: isError === true, value: (structuredContent ?? (text.startsWith('{') ? JSON.parse(text) : { text })) as Json };
  };

  beforeAll(async () => {
    service = await regionService(engine, ...REGIONS.floods);
    [parcel] = await service.database.query<{ fid: number; reference: string; lat: number; lng: number }>(
      "select fid, reference, round(st_y(point)::numeric, 7)::float8 as lat, round(st_x(point)::numeric, 7)::float8 as lng from core.parcel where kind = 'land' order by fid limit 1",
    ) as [typeof parcel];
    environment = { DATABASE_URL: service.url };
    server = spawn(process.execPath, [PROGRAM, 'mcp', '--http', '--port', '0'], { cwd: ROOT, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    server.stderr!.setEncoding('utf8').on('data', (text: string) => (logged += text));
    [address] = await once(createInterface(server.stdout!), 'line') as [string];
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    if (server?.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await service?.close();
  });

  it('answers all requests that were sent before the pipe closed, except cancelled requests', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'mcp'], { cwd: ROOT, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const explain = (id: number): Json => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'explain', arguments: { id: parcel.fid, section: 'basic' } } });
    child.stdin.end([
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1.0.0' } } },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      explain(2), explain(3), { jsonrpc: '2.0', id: 4, method: 'no/such' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } },
    ].map((message) => `${JSON.stringify(message)}\n`).join(''));
    const answers: Json[] = [];
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) answers.push(JSON.parse(next.value) as Json);
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 4]);
    expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: { structuredContent: { fid: parcel.fid, section: 'basic' } } });
  });

  it('answers a client of an earlier protocol version with text', async () => {
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'pipe', version: '1.0.0' } } };
    const ask_ = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'parcel', arguments: { id: parcel.fid } } };
    const child = spawn(process.execPath, [PROGRAM, 'mcp'], { cwd: ROOT, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.end([initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, ask_].map((message) => `${JSON.stringify(message)}\n`).join(''));
    const answers: Json[] = [];
    for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line) as Json);
    const { result } = answers.find(({ id }) => id === 2) as { result: { content: [{ text: string }] } };
    expect(result).not.toHaveProperty('structuredContent');
    expect(JSON.parse(result.content[0].text)).toMatchObject({ fid: parcel.fid });
  });

  describe.each([
    { way: 'over standard input and output', open: overStdio },
    { way: 'over HTTP with a token', open: async () => overHttp({ 'x-api-key': await service.token() }) },
  ])('$way', ({ open }) => {
    let client: Client;
    beforeAll(async () => {
      client = await open();
    });

    it('lists read-only tools, each with a description and arguments', async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(TOOLS);
      for (const { description, inputSchema, annotations } of tools) {
        expect([description!.length > 40, Object.keys(inputSchema.properties!).length > 0, annotations!.readOnlyHint]).toEqual([true, true, true]);
      }
    });

    it('returns the same data as the REST API, with licences', async () => {
      const key = await service.token();
      const api = async (path: string): Promise<Json> => (await service.ask(path, { key })).body as Json;
      const [street] = await service.database.query<{ text: string }>("select s.name || ' ' || a.number as text from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id where a.number is not null and a.geom is not null order by a.address_id limit 1");
      const { value: found } = await call(client, 'search', { q: street!.text, limit: 3 });
      expect(found).toMatchObject(await api(`/geocode/search?q=${encodeURIComponent(street!.text)}&limit=3`));
      expect((found['data'] as Json[]).length).toBeGreaterThan(0);
      const { value: located } = await call(client, 'locate', { lat: parcel.lat, lng: parcel.lng });
      expect(located).toMatchObject(await api(`/parcels/locate?lat=${parcel.lat}&lng=${parcel.lng}`));
      const { value: record } = await call(client, 'parcel', { id: `IT.AGE.PLA.${parcel.reference}`, sections: ['risk'], detail: 'full' });
      const stated = await api(`/parcels/${parcel.fid}?include=risk`);
      expect([record['fid'], record['basic'], record['risk'], record['licenses']]).toEqual([parcel.fid, stated['basic'], stated['risk'], (stated['meta'] as Json)['licenses']]);
      const { value: full } = await call(client, 'parcel', { id: parcel.fid, detail: 'full' });
      const { meta, ...all } = await api(`/parcels/${parcel.fid}`);
      expect(full).toMatchObject(all);
      expect((full['meta'] as Json)['coverage']).toEqual((meta as Json)['coverage']);
      const { value: explained } = await call(client, 'explain', { id: parcel.fid, section: 'basic' });
      expect(explained).toMatchObject({ fid: parcel.fid, section: 'basic', reproduced: true });
      expect((explained['evidence'] as Json[]).map(({ source }) => source)).toContain('ade_cadastre');
      const { value: covered } = await call(client, 'coverage', { comune: 'Z001' });
      expect(covered['coverage']).toEqual((await api('/admin/municipalities/Z001/quality'))['coverage']);
      for (const [name, value] of Object.entries({ found, located, record, explained, covered })) {
        const licenses = value['licenses'] as Json[];
        expect([name, licenses.length > 0 && licenses.every(({ attribution, license }) => String(attribution) !== '' && String(license) !== '')]).toEqual([name, true]);
      }
      expect((found['licenses'] as Json[]).flatMap(({ sections }) => sections)).toContain('address');
    });

    it('returns an error if a request cannot be answered, and answers later requests', async () => {
      for (const [name, arguments_, code] of [
        ['parcel', { id: 'H501_000100.1' }, 'NOT_FOUND'], ['parcel', { id: 'Z001\0' }, 'NOT_FOUND'], ['locate', { lat: 41.9 }, 'INVALID_PARAMS'], ['locate', { bbox: [14, 41, 15, 42] }, 'BBOX_TOO_LARGE'],
        ['search', { q: 'x' }, 'INVALID_PARAMS'], ['coverage', { comune: 'Atlantide' }, 'COMUNE_UNKNOWN'], ['explain', { id: '100000000', section: 'basic' }, 'NOT_FOUND'],
      ] as const) {
        const { isError, value } = await call(client, name, arguments_);
        expect([name, isError, value['error']]).toEqual([name, true, code]);
      }
      expect((await call(client, 'explain', { id: String(parcel.fid), section: 'nothing' })).isError).toBe(true);
      // If an unknown argument such as `comune` were ignored, the result could be for a different place.
      for (const { name } of (await client.listTools()).tools) {
        const { isError, value } = await call(client, name, { q: 'Via Roma', lat: parcel.lat, lng: parcel.lng, id: parcel.fid, section: 'basic', comune: 'Z001', nothing: 1 });
        expect([name, isError, String(value['text'])]).toEqual([name, true, expect.stringContaining('nothing')]);
      }
      expect((await call(client, 'locate', { lat: parcel.lat, lng: parcel.lng })).isError).toBe(false);
    });

    it('sends an answer only once, structured by default and as text on request', async () => {
      const arguments_ = { id: parcel.fid, section: 'basic' };
      const once = await client.callTool({ name: 'explain', arguments: arguments_ });
      expect(once.structuredContent).toMatchObject({ fid: parcel.fid });
      expect(JSON.stringify(once.content)).not.toContain(String(parcel.fid));
      const asText = await client.callTool({ name: 'explain', arguments: { ...arguments_, answer_as: 'text' } });
      expect(asText).not.toHaveProperty('structuredContent');
      expect(JSON.parse((asText.content as [{ text: string }])[0].text)).toEqual(once.structuredContent);
    });

    it('offers the data dictionary of each section as a resource', async () => {
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(SECTION_NAMES.map((name) => `mappale://dictionary/${name}`));
      const { contents: [risk] } = await client.readResource({ uri: 'mappale://dictionary/risk' });
      const { fields } = JSON.parse((risk as { text: string }).text) as { fields: Record<string, Json> };
      expect(fields['flood_level']).toEqual({ description: expect.stringContaining('Most severe class'), values: expect.objectContaining({ P3: 'P3, high' }) });
      expect(fields['coverage.flood']).toBeDefined();
      expect(fields['pga']).toMatchObject({ unit: 'g' });
    });

    it('declares only capabilities that the server has', () => {
      expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false }, resources: { listChanged: false } });
    });
  });

  it('requires over HTTP a token with the scope of the tool, counts each message against the rate limit, and refuses malformed requests', async () => {
    await expect(overHttp({})).rejects.toThrow(/API_KEY_REQUIRED/);
    await expect(overHttp({ 'x-api-key': `mpl_${'A'.repeat(43)}` })).rejects.toThrow(/INVALID_API_KEY/);
    const client = await overHttp({ authorization: `Bearer ${await service.token(['parcels:read'])}` });
    expect((await call(client, 'locate', { lat: parcel.lat, lng: parcel.lng })).isError).toBe(false);
    await expect(client.callTool({ name: 'search', arguments: { q: 'Via Roma' } })).rejects.toThrow(/INSUFFICIENT_SCOPE/);
    const key = await service.token();
    const post = (body: string): Promise<Response> =>
      fetch(address, { method: 'POST', body, headers: { 'x-api-key': key, 'content-type': 'application/json', accept: 'application/json, text/event-stream' } });
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const refused = await fetch(address, { method: 'POST', body: ping, headers: { authorization: `Bearer mpl_${'A'.repeat(43)}` } });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="mappale", error="invalid_token", ApiKey realm="mappale", header="x-api-key"']);
    const [first, second] = [await post(ping), await post(ping)];
    expect([first.status, Number(first.headers.get('x-ratelimit-remaining')) - Number(second.headers.get('x-ratelimit-remaining'))]).toEqual([200, 1]);
    for (const body of ['', '{', '[]', `"${'a'.repeat(2_000_000)}"`]) expect((await post(body)).status).toBe(400);
    expect((await fetch(address)).status).toBe(405);
    for (const path of ['/other', '//', '/%', '/mcp/']) expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  it('refuses a message without a token over HTTP before it reads the body, and logs no error if the client disconnects', async () => {
    const { hostname, port } = new URL(address);
    const before = logged.length;
    const head = (key: string): string => `POST /mcp HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`;
    const refused = await Promise.all(Array.from({ length: 50 }, () => new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(head('')));
      socket.once('data', (part) => {
        resolve(part.toString('latin1').slice(9, 12));
        socket.destroy();
      });
    })));
    expect(new Set(refused)).toEqual(new Set(['401']));
    const key = `x-api-key: ${await service.token()}\r\n`;
    const leaving = connect(Number(port), hostname, () => leaving.write(head(key), () => leaving.destroy()));
    await once(leaving, 'close');
    expect((await ask('/mcp', { method: 'POST', body: '{', headers: { 'x-api-key': await service.token() } })).status).toBe(400);
    expect(logged.slice(before)).not.toMatch(/Error|at .*\.ts:/);
  });

  it('accepts requests over HTTP from any program, but from web pages only if they are on this machine', async () => {
    const [key, { host, port }] = [await service.token(), new URL(address)];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const from = (origin: string | undefined, to = host): Promise<Answer> => ask('/mcp', {
      method: 'POST', body, headers: {
        'x-api-key': key, 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: to, ...(origin === undefined ? {} : { origin }),
      },
    });
    for (const origin of [undefined, 'http://localhost:6274', 'http://127.0.0.1:1', 'http://[::1]']) expect([origin, (await from(origin)).status]).toEqual([origin, 200]);
    for (const origin of ['null', 'https://example.org', `http://rebound.example:${port}`, 'http://localhost.example.org', '', 'file://']) {
      const answer = await from(origin, `rebound.example:${port}`);
      expect([origin, answer.status, JSON.parse(answer.body)]).toEqual([origin, 403, { jsonrpc: '2.0', id: null, error: { code: -32_000, message: expect.any(String) } }]);
    }
    expect((await from(undefined)).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
}, ['postgres']);
