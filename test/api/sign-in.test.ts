/** Tests the sign-in link. The link works once, for a limited time, only for pages of this server, and is not logged. */
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isLoopback, LINK_MS, SESSION_QUOTA, SignInLink } from '../../api/sign-in.ts';
import type { Explain } from '../../api/explain.ts';
import { buildServer } from '../../api/server.ts';
import { sayWhere, signInLink } from '../../cli/serving.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { SILENT, type Log } from '../../pipelines/log.ts';
import { BASE, VERSION } from './harness.ts';

const HOST = '127.0.0.1:8080';

const opened: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()));
});

interface Page {
  readonly app: FastifyInstance;
  readonly link: SignInLink;
  /** Everything that the server logged. */
  readonly logged: string[];
  /** Statements with which the server checked and counted a key. */
  readonly keys: unknown[];
  signIn(secret: string, headers?: Readonly<Record<string, string>>, from?: string): Promise<LightMyRequestResponse>;
  get(path: string, headers?: Readonly<Record<string, string>>, from?: string): Promise<LightMyRequestResponse>;
}

/** Builds a server with a fake database that finds nothing and accepts every key. */
async function page(link: SignInLink | null = new SignInLink(), explain: Explain | null = null): Promise<Page> {
  const keys: unknown[] = [];
  const logged: string[] = [];
  const reader: Reader = {
    engine: 'postgres', restricted: true, login: 'ordinary', parallel: 4, pools: () => [], onEach: async () => undefined, close: async () => undefined,
    call: (async () => ({ publication: '1', answer: '{"data":[],"meta":{"count":0}}', facts: null, drawings: null, values: null })) as unknown as Reader['call'],
    count: (async (statement: string) => {
      keys.push(statement);
      return { outcome: 'ADMITTED', token_id: 1, quota: 1000, remaining: 500, resets_at: 1, retry_after_seconds: null };
    }) as unknown as Reader['count'],
  };
  const write = (message: string, facts?: Record<string, unknown>): void => void logged.push(`${message} ${JSON.stringify(facts)}`);
  const log: Log = { runId: null, debug: write, info: write, warn: write, progress: () => undefined };
  const app = await buildServer({ reader, version: VERSION, log, signIn: link, explain });
  opened.push(app);
  return {
    app, link: link ?? new SignInLink(), logged, keys,
    signIn: (secret, headers = {}, from = '127.0.0.1') => app.inject({
      method: 'POST', url: `${BASE}/map/sign-in`, remoteAddress: from, payload: JSON.stringify({ secret }),
      headers: { host: HOST, origin: `http://${HOST}`, 'content-type': 'application/json', ...headers },
    }),
    get: (path, headers = {}, from = '127.0.0.1') => app.inject({ method: 'GET', url: BASE + path, remoteAddress: from, headers: { host: HOST, ...headers } }),
  };
}

async function signedIn(explain: Explain | null = null): Promise<Page & { readonly cookie: string }> {
  const opening = await page(new SignInLink(), explain);
  const { headers } = await opening.signIn(opening.link.secret);
  return { ...opening, cookie: String(headers['set-cookie']).split(';')[0]! };
}

const codeOf = ({ statusCode, payload }: LightMyRequestResponse): unknown[] => [statusCode, (JSON.parse(payload) as { error: string }).error];

describe('the sign-in link', () => {
  it('creates a session that no script can read, that no other site can send, and that is counted like one token', async () => {
    const { signIn, get, link, keys } = await page();
    const answered = await signIn(link.secret);
    expect([answered.statusCode, answered.payload, answered.headers['cache-control']]).toEqual([204, '', 'no-store']);
    expect(answered.headers['set-cookie']).toMatch(/^mappale_session_8080=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/api\/v2$/);
    const cookie = String(answered.headers['set-cookie']).split(';')[0]!;
    expect(JSON.parse((await get('/map/session')).payload)).toEqual({ signed_in: false, sign_in: 'link', explains: false });
    expect(JSON.parse((await get('/map/session', { cookie })).payload)).toEqual({ signed_in: true, sign_in: 'link', explains: false });
    const found = await get('/geocode/reverse?lat=42&lng=14', { cookie: `other=1; ${cookie}` });
    expect([found.statusCode, found.headers['x-ratelimit-limit'], found.headers['x-ratelimit-remaining']]).toEqual([200, String(SESSION_QUOTA), String(SESSION_QUOTA - 1)]);
    // Requests for tiles do not count against the hourly limit.
    expect([(await get('/tiles/14/1/1?layer=parcels', { cookie })).statusCode, (await get('/parcels/locate?lat=42&lng=14', { cookie })).headers['x-ratelimit-remaining']]).toEqual([204, String(SESSION_QUOTA - 2)]);
    // The cookie is also accepted below /admin, where the map requests the files that cover a comune.
    expect((await get('/admin/regions', { cookie })).statusCode).toBe(200);
    expect(keys).toEqual([]);
    // A key takes precedence over the cookie.
    expect((await get('/admin/regions', { cookie, 'x-api-key': `mpl_${'a'.repeat(43)}` })).statusCode).toBe(200);
    expect(keys.length).toBe(1);
  });

  it('works once', async () => {
    const { signIn, link } = await page();
    expect((await signIn(link.secret)).statusCode).toBe(204);
    expect(codeOf(await signIn(link.secret))).toEqual([410, 'GONE']);
  });

  it('works for only one of several simultaneous requests', async () => {
    const { signIn, link } = await page();
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(link.secret)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([204, 410, 410, 410, 410]);
  });

  it('expires', async () => {
    let now = 1_000;
    const { signIn, link } = await page(new SignInLink(() => now));
    now += LINK_MS;
    expect(codeOf(await signIn(link.secret))).toEqual([410, 'GONE']);
  });

  it('stays valid after a request with a wrong secret is refused', async () => {
    const { signIn, link } = await page();
    for (const secret of ['', 'x', `${link.secret}x`, link.secret.slice(1)]) expect(codeOf(await signIn(secret))).toEqual([401, 'INVALID_API_KEY']);
    expect((await signIn(link.secret)).statusCode).toBe(204);
  });

  it.each([
    ['of a different origin', { origin: 'http://evil.example' }, '127.0.0.1'],
    ['of a different port', { origin: 'http://127.0.0.1:3000' }, '127.0.0.1'],
    ['without an origin', { origin: '' }, '127.0.0.1'],
    ['with a host name that resolves to this machine', { host: 'evil.example:8080', origin: 'http://evil.example:8080' }, '127.0.0.1'],
    ['with a host name that starts like an address', { host: '127.0.0.1.evil.example', origin: 'http://127.0.0.1.evil.example' }, '127.0.0.1'],
    ['through a proxy', { 'x-forwarded-for': '192.0.2.7' }, '127.0.0.1'],
    ['from another machine', {}, '192.0.2.7'],
    ['that sends a form', { 'content-type': 'text/plain' }, '127.0.0.1'],
  ])('is refused with 404 in a request %s', async (_page, headers, from) => {
    const { signIn, link } = await page();
    expect(codeOf(await signIn(link.secret, headers as Record<string, string>, from))).toEqual([404, 'NOT_FOUND']);
    expect((await signIn(link.secret)).statusCode).toBe(204);
  });

  it.each([['nothing'], ['{'], ['{"secret":1}'], ['[]'], [`{"secret":"${'x'.repeat(5000)}"}`]])('is refused with 400 for the body %j', async (payload) => {
    const { app } = await page();
    const answered = await app.inject({ method: 'POST', url: `${BASE}/map/sign-in`, remoteAddress: '127.0.0.1', payload, headers: { host: HOST, origin: `http://${HOST}`, 'content-type': 'application/json' } });
    expect(codeOf(answered)).toEqual([400, 'INVALID_PARAMS']);
  });

  it('leaves neither secret nor session in the log', async () => {
    const { signIn, get, link, logged, cookie } = await signedIn();
    await signIn(link.secret);
    await get('/map/session', { cookie });
    await get(`/map?signin=${link.secret}`, { cookie });
    await expect.poll(() => logged.length).toBeGreaterThan(3);
    expect(logged.filter((line) => line.includes(link.secret) || line.includes(cookie.split('=')[1]!))).toEqual([]);
  });
});

describe('a session', () => {
  it.each([
    ['of a different site', { 'sec-fetch-site': 'cross-site' }, '127.0.0.1'],
    ['of a different port of this machine', { 'sec-fetch-site': 'same-site' }, '127.0.0.1'],
    ['with a host name that resolves to this machine', { host: 'evil.example:8080' }, '127.0.0.1'],
    ['through a proxy', { forwarded: 'for=192.0.2.7' }, '127.0.0.1'],
    ['from another machine', {}, '192.0.2.7'],
  ])('is ignored in a request %s', async (_request, headers, from) => {
    const { get, cookie } = await signedIn();
    expect(codeOf(await get('/geocode/reverse?lat=42&lng=14', { cookie, ...headers }, from))).toEqual([401, 'API_KEY_REQUIRED']);
    expect((await get('/geocode/reverse?lat=42&lng=14', { cookie, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200);
  });

  it('is invalid if an earlier server created it', async () => {
    const { cookie } = await signedIn();
    const { get } = await page();
    expect(codeOf(await get('/geocode/reverse?lat=42&lng=14', { cookie }))).toEqual([401, 'API_KEY_REQUIRED']);
  });

  it('has its own hourly limit, and the count restarts after the hour', async () => {
    let now = 5_000;
    const link = new SignInLink(() => now);
    const came = await link.exchange(link.secret);
    if (!('session' in came)) throw new Error(came.refused);
    for (let used = 1; used <= SESSION_QUOTA + 1; used += 1) expect((await link.hour(came.session, 'count'))?.used).toBe(used);
    // Refused requests are not counted further.
    expect((await link.hour(came.session, 'count'))?.used).toBe(SESSION_QUOTA + 1);
    now += 3_600_000;
    expect(await link.hour(came.session, 'count')).toEqual({ used: 1, endsAt: now + 3_600_000 });
    expect(await link.hour('another', 'count')).toBeNull();
  });
});

describe('an explanation', () => {
  const PATH = '/map/explain/1400000000/basic';
  const token = { 'x-api-key': `mpl_${'a'.repeat(43)}` };

  it('is returned for a session, and is counted against the session\'s hourly limit', async () => {
    const { get, cookie } = await signedIn(async (fid, section) => ({ fid, section, evidence: [] }));
    expect(JSON.parse((await get('/map/session', { cookie })).payload)).toEqual({ signed_in: true, sign_in: 'link', explains: true });
    const answer = await get(PATH, { cookie });
    expect([answer.statusCode, JSON.parse(answer.payload), answer.headers['cache-control'], answer.headers['x-ratelimit-remaining']])
      .toEqual([200, { fid: 1_400_000_000, section: 'basic', evidence: [] }, 'no-store', String(SESSION_QUOTA - 1)]);
    expect([codeOf(await get('/map/explain/1400000000/nothing', { cookie })), codeOf(await get('/map/explain/x/basic', { cookie }))]).toEqual([[400, 'INVALID_PARAMS'], [400, 'INVALID_PARAMS']]);
  });

  it.each([
    ['without a session', {}, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['with an unknown session', { cookie: `mappale_session_8080=${'a'.repeat(43)}` }, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['with a token', token, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['with a token in addition to the session', { ...token, cookie: 'own' }, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['of a different site', { cookie: 'own', 'sec-fetch-site': 'cross-site' }, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['of a different port of this machine', { cookie: 'own', 'sec-fetch-site': 'same-site' }, '127.0.0.1', [401, 'API_KEY_REQUIRED']],
    ['with a host name that resolves to this machine', { cookie: 'own', host: 'evil.example:8080' }, '127.0.0.1', [404, 'NOT_FOUND']],
    ['through a proxy', { cookie: 'own', 'x-forwarded-for': '192.0.2.7' }, '127.0.0.1', [404, 'NOT_FOUND']],
    ['from another machine', { cookie: 'own' }, '192.0.2.7', [404, 'NOT_FOUND']],
    ['from another machine with a token', token, '192.0.2.7', [404, 'NOT_FOUND']],
  ])('is refused without running for a request %s', async (_request, { cookie, ...headers }: Readonly<Record<string, string>>, from, refused) => {
    let runs = 0;
    const { get, keys, cookie: own } = await signedIn(async () => ({ runs: runs += 1 }));
    const given = cookie === 'own' ? own : cookie;
    const answered = await get(PATH, { ...headers, ...(given === undefined ? {} : { cookie: given }) }, from);
    expect(codeOf(answered)).toEqual(refused);
    // The response does not suggest a token, because this path accepts no token.
    expect(answered.headers['www-authenticate']).toBe(refused[0] === 401 ? 'SignInLink realm="mappale"' : undefined);
    expect([runs, keys]).toEqual([0, []]);
  });

  it('is refused with 404 by a server without a link, or with a login that cannot read tables', async () => {
    const explain: Explain = async () => ({});
    expect(codeOf(await (await page(null, explain)).get(PATH))).toEqual([404, 'NOT_FOUND']);
    const { get, cookie } = await signedIn();
    expect(codeOf(await get(PATH, { cookie }))).toEqual([404, 'NOT_FOUND']);
  });

  it('runs only after the previous explanation has ended, and blocks no other request', async () => {
    let running = 0;
    let most = 0;
    const { get, cookie } = await signedIn(async () => {
      most = Math.max(most, running += 1);
      // Other requests are answered meanwhile.
      expect((await get('/geocode/reverse?lat=42&lng=14', { cookie })).statusCode).toBe(200);
      running -= 1;
      return {};
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => get(PATH, { cookie })));
    expect([answers.map(({ statusCode }) => statusCode), most]).toEqual([[200, 200, 200, 200, 200], 1]);
  });

  it.each([
    ['NOT_FOUND', [404, 'NOT_FOUND']], ['SQL_57014', [503, 'SERVICE_UNAVAILABLE']], ['SQL_42P01', [500, 'INTERNAL_ERROR']],
  ] as const)('that fails with %s returns an error and does not block the next explanation', async (code, refused) => {
    let runs = 0;
    const { get, cookie } = await signedIn(async () => {
      if ((runs += 1) === 1) throw new MappaleError('it ends', { code, kind: code === 'NOT_FOUND' ? 'usage' : 'database' });
      return {};
    });
    expect([codeOf(await get(PATH, { cookie })), (await get(PATH, { cookie })).statusCode]).toEqual([refused, 200]);
  });
});

describe('sign-in by link', () => {
  it('is refused with 404, and cookies are not accepted, if the server has no link', async () => {
    const { cookie } = await signedIn();
    const { signIn, get, link } = await page(null);
    expect(codeOf(await signIn(link.secret))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await get('/map/session'))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await get('/geocode/reverse?lat=42&lng=14', { cookie }))).toEqual([401, 'API_KEY_REQUIRED']);
  });

  it.each([
    ['127.0.0.1', true], ['127.1.2.3', true], ['::1', true], ['localhost', true], ['0.0.0.0', false], ['::', false], ['192.0.2.7', false], ['mappale.example', false], ['127.0.0.1.example', false],
  ])('requires a loopback address: host %s, expected %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
    expect(signInLink({ host }, { log: 'human' }) !== null).toBe(expected);
  });

  it('is off behind a proxy and with JSON logs', () => {
    expect(signInLink({ host: '127.0.0.1', trustProxy: ['127.0.0.1'] }, { log: 'human' })).toBeNull();
    expect(signInLink({ host: '127.0.0.1' }, { log: 'json' })).toBeNull();
  });
});

describe('mappale serve, when it listens,', () => {
  const printed = (link: SignInLink | null, json: boolean): string => {
    const out: string[] = [];
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => out.push(String(chunk)) > 0);
    try {
      sayWhere(`http://${HOST}`, SILENT, { link, json });
    } finally {
      spy.mockRestore();
    }
    return out.join('');
  };

  it('prints the addresses and the sign-in link or null as one JSON object on one line with --json', () => {
    const link = new SignInLink();
    const api = `http://${HOST}/api/v2`;
    for (const [given, signIn] of [[link, `${api}/map#signin=${link.secret}`], [null, null]] as const) {
      const text = printed(given, true);
      expect(text.indexOf('\n')).toBe(text.length - 1);
      expect(JSON.parse(text)).toEqual({ api, map: `${api}/map`, sign_in: signIn });
    }
  });

  it('prints only the address of the API without --json and without a sign-in link', () => {
    expect(printed(null, false)).toBe(`http://${HOST}/api/v2\n`);
  });
});
