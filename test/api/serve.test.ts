/** Tests the server as a program: start, refusal to start, shutdown, and requests without a database. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildServer } from '../../api/server.ts';
import { main } from '../../cli/main.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';
import { BASE, violationsOf, VERSION, type Answered } from './harness.ts';

/** Runs a command until it exits. */
async function mappale(url: string, ...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const done = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { env: { DATABASE_URL: url, PATH: '/usr/bin:/bin' } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  );
  return { code: done.code, stdout: done.stdout, stderr: done.stderr };
}

async function serving(url: string): Promise<{ base: string; stop(signal: NodeJS.Signals): Promise<number | null>; said: string[] }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], { env: { DATABASE_URL: url, PATH: '/usr/bin:/bin' }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const [base] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), once(child, 'exit').then(() => [`ended: ${said.join('\n')}`])])) as [string];
  return {
    base, said,
    async stop(signal) {
      const ended = once(child, 'exit');
      child.kill(signal);
      return (await ended)[0] as number | null;
    },
  };
}

describeEngines('mappale serve and mappale token', (engine) => {
  it('create, list and revoke a token, answer requests with the token, and stop cleanly', async () => {
    const url = await engine.createDatabase();
    const created = await mappale(url, 'token', 'create', '--name', 'try', '--scopes', 'admin_data:read', '--json');
    expect(created.code, created.stderr).toBe(0);
    const { id, token } = JSON.parse(created.stdout) as { id: number; token: string };
    expect(token).toMatch(/^mpl_[A-Za-z0-9_-]{43}$/);
    expect(created.stderr).not.toContain(token);

    const server = await serving(url);
    expect(server.base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2$/);
    const health = await fetch(`${server.base}/health`);
    expect([health.status, ((await health.json()) as { status: string }).status]).toEqual([200, 'ok']);
    const list = await fetch(`${server.base}/admin/regions`, { headers: { 'x-api-key': token } });
    expect([list.status, list.headers.get('x-ratelimit-remaining')]).toEqual([200, '999']);
    const pending = Array.from({ length: 5 }, () => fetch(`${server.base}/admin/municipalities`, { headers: { 'x-api-key': token } }).then(({ status }) => status, () => 'refused'));
    await Promise.race(pending);
    expect(await server.stop('SIGTERM')).toBe(0);
    // After the signal, the server answers earlier requests, refuses new connections, and closes no connection during a response.
    expect((await Promise.all(pending)).filter((status) => status !== 200 && status !== 'refused')).toEqual([]);
    expect(server.said.join('\n')).not.toContain(token);
    expect(server.said.some((line) => line.includes('logs in as a superuser'))).toBe(engine.name === 'postgres');

    const listed = await mappale(url, 'token', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id, name: 'try', scopes: ['admin_data:read'], state: 'valid' }]);
    expect(listed.stdout).not.toContain(token);
    expect((await mappale(url, 'token', 'revoke', String(id))).code).toBe(0);
    expect(JSON.parse((await mappale(url, 'token', 'list', '--json')).stdout)).toMatchObject([{ id, state: 'revoked' }]);
  });
});

describeDatabase('mappale serve and mappale token, with wrong arguments,', (engine) => {
  it('report the error, with exit code 2', async () => {
    const url = await engine.createDatabase();
    for (const [args, code] of [
      [['token', 'create', '--scopes', 'everything'], 'SCOPE_UNKNOWN'], [['token', 'create', '--scopes', 'parcels:read', '--expires', '2025-02-30'], 'DATE_EXPECTED'],
      [['token', 'create', '--scopes', 'parcels:read', '--expires', '2020-01-01'], 'DATE_PAST'], [['token', 'revoke', '77'], 'TOKEN_UNKNOWN'],
    ] as const) {
      const refused = await mappale(url, ...args);
      expect([args.join(' '), refused.code, refused.stderr.includes(`[${code}]`)]).toEqual([args.join(' '), 2, true]);
    }
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const busy = await mappale(url, 'serve', '--port', String((holder.address() as AddressInfo).port));
    holder.close();
    expect([busy.code, busy.stderr.includes('[PORT_IN_USE]')]).toEqual([2, true]);
  });
});

describe('invalid options of mappale serve', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    [['--port', '70000'], '[NUMBER_EXPECTED]'], [['--port', '-1'], '[NUMBER_EXPECTED]'], [['--port', 'eighty'], '[NUMBER_EXPECTED]'], [['--connections', '0'], '[NUMBER_EXPECTED]'], [['--statement-timeout', '0'], '[NUMBER_EXPECTED]'],
    [['--statement-timeout', '99999999999'], '[NUMBER_EXPECTED]'], [['--trust-proxy', 'nonsense'], '[PROXY_INVALID]'], [['--trust-proxy', '10.0.0.0/33'], '[PROXY_INVALID]'], [['--trust-proxy', '127.0.0.1', '::/0'], '[PROXY_INVALID]'],
    [['--host', ''], '[ADDRESS_UNAVAILABLE]'],
    [['--base-map', 'https://tiles.example.org/{z}/{x}/{y}.png'], '[BASE_MAP_INVALID]'], [['--base-map', 'https://{z}.example.org/{x}/{y}.png', '--base-map-attribution', 'x'], '[BASE_MAP_INVALID]'],
    [['--base-map', 'ftp://example.org/{z}/{x}/{y}.png', '--base-map-attribution', 'x'], '[BASE_MAP_INVALID]'], [['--base-map', 'https://{s}.example.org/{z}/{x}/{y}.png', '--base-map-attribution', 'x'], '[BASE_MAP_INVALID]'],
    [['--nonsense'], 'unknown option'], [['nonsense'], 'too many arguments'], [['--port'], 'argument missing'],
  ] as const)('end the command with exit code 2 and a message, before a database is opened: %j', async (args, words) => {
    const said: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      process.exitCode = code ?? 0;
      throw new Error('ended');
    });
    await main(['node', 'mappale', 'serve', ...args]).catch((error: Error) => expect(error.message).toBe('ended'));
    const { exitCode } = process;
    process.exitCode = undefined;
    expect([exitCode, said.join('').includes(words)]).toEqual([2, true]);
  });
});

describe('a server', () => {
  const failing = (code: string): Reader => {
    const fail = async (): Promise<never> => {
      throw new MappaleError('secret detail of the database', { code, kind: 'database', detail: 'host=10.0.0.1 password=hunter2' });
    };
    return { engine: 'postgres', restricted: true, login: 'ordinary', parallel: 10, pools: () => [], onEach: async () => undefined, close: async () => undefined, call: fail, count: fail };
  };
  const ask = async (reader: Reader, path: string): Promise<Answered> => {
    const app = await buildServer({ reader, version: VERSION, log: SILENT });
    try {
      const response = await app.inject({ method: 'GET', url: BASE + path, headers: { 'x-api-key': `mpl_${'a'.repeat(43)}` } });
      return {
        status: response.statusCode, text: response.payload, body: JSON.parse(response.payload) as Record<string, unknown>,
        headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, value === undefined ? undefined : String(value)])),
      };
    } finally {
      await app.close();
    }
  };

  it.each(['SQL_ECONNREFUSED', 'SQL_57P01', 'SQL_57014', 'SQL_53300', 'SQL_55000', 'SQL_55P03', 'SQL_08006', 'SQL_40P01', 'SQL_UNKNOWN'])('returns 503 with Retry-After if the database cannot answer the request (%s)', async (code) => {
    const answered = await ask(failing(code), '/parcels/1');
    expect([answered.status, answered.body!['error'], Number(answered.headers['retry-after']) > 0]).toEqual([503, 'SERVICE_UNAVAILABLE', true]);
    expect(answered.text).not.toMatch(/secret|hunter2/);
    const health = await ask(failing(code), '/health');
    expect(violationsOf('/health', health)).toEqual([]);
    expect([health.status, health.body]).toMatchObject([503, { status: 'unavailable', version: VERSION, database: 'unreachable', dataset: null }]);
  });

  it('returns 500 with only a request ID if the database fails because of a bug', async () => {
    for (const code of ['SQL_42883', 'SQL_22P02', 'SQL_XX000']) {
      const answered = await ask(failing(code), '/admin/regions');
      expect([answered.status, answered.body!['error']]).toEqual([500, 'INTERNAL_ERROR']);
      expect((answered.body!['details'] as Record<string, unknown>)['request_id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(answered.text).not.toMatch(/secret|hunter2/);
    }
  });

  it('exits with code 6, and prints no password, if the database cannot be reached', async () => {
    const refused = await mappale('postgres://nobody:hunter2@127.0.0.1:1/none', 'serve', '--port', '0');
    expect(refused.code).toBe(6);
    expect(refused.stderr).not.toContain('hunter2');
  });
});
