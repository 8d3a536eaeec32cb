/** Tests a server with several processes: distribution of requests, shared state, the death of a process, and shutdown. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { createToken } from '../../cli/token.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { connectionsOfEach } from '../../pipelines/db/reader.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';

interface Ended {
  readonly code: number | null;
  readonly out: readonly string[];
  readonly said: readonly string[];
}

/** A server, its output, and the processes that answered. */
class Serving {
  readonly out: string[] = [];
  readonly said: string[] = [];
  readonly #child;
  readonly ended: Promise<Ended>;

  constructor(url: string, log: 'json' | 'human', ...more: readonly string[]) {
    this.#child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', ...more], { env: { DATABASE_URL: url, PATH: '/usr/bin:/bin', MAPPALE_LOG: log }, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.out.push(line));
    createInterface({ input: this.#child.stderr }).on('line', (line) => this.said.push(line));
    this.ended = once(this.#child, 'close').then(([code]) => ({ code: code as number | null, out: this.out, said: this.said }));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async base(): Promise<string> {
    await Promise.race([expect.poll(() => this.out.length).toBe(1), this.ended]);
    if (this.out.length === 0) throw new Error(`it ended: ${this.said.join('\n')}`);
    return this.out[0]!;
  }

  /** Returns the process IDs of the workers that logged a response. */
  answering(): number[] {
    const lines = this.said.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as { message: string; worker?: number }] : []));
    return [...new Set(lines.flatMap(({ message, worker }) => (message.startsWith('GET ') && worker !== undefined ? [worker] : [])))];
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Sends a request over a new connection. The workers receive connections in rotation. */
async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers: { connection: 'close', ...headers } });
  return { status: response.status, text: await response.text() };
}

/** Returns the sum of the values of a metric in the series whose text contains `labels`. */
function figure(text: string, name: string, labels = ''): number {
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `)).filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Returns the process IDs of the child processes that run mappale. */
async function childrenOf(pid: number): Promise<number[]> {
  const lists = await Promise.all((await readdir(`/proc/${pid}/task`)).map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  const all = lists.flatMap((list) => list.trim().split(' ')).filter((each) => each !== '').map(Number);
  const lines = await Promise.all(all.map((each) => readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')));
  return all.filter((_, at) => lines[at]!.includes('mappale.mjs'));
}

describeEngines('mappale serve --workers 2', (engine) => {
  const started: Serving[] = [];
  afterEach(async () => {
    for (const serving of started.splice(0)) {
      serving.kill('SIGKILL');
      await serving.ended;
    }
  });
  const start = (url: string, ...more: readonly string[]): Serving => {
    const serving = new Serving(url, 'json', '--workers', '2', ...more);
    started.push(serving);
    return serving;
  };

  it('answers with both workers, adds up their metrics, continues when a worker is killed, and ends all workers on SIGTERM', async () => {
    const url = await engine.createDatabase();
    const database = await engine.openDatabase(url);
    await migrate(database, await loadSources());
    const { token } = await createToken(database, ['admin_data:read'], 'test', null);
    const serving = start(url);
    const base = await serving.base();
    const metrics = async (): Promise<string> => {
      // The metrics may be up to a second old.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      return (await ask(`${base}/metrics`)).text;
    };
    for (let count = 0; count < 6; count += 1) expect((await ask(`${base}/admin/regions`, { 'x-api-key': token })).status).toBe(200);
    await expect.poll(() => serving.answering().length).toBe(2);
    const route = 'route="/api/v2/admin/regions",method="GET",status="2xx"';
    const before = await metrics();
    expect([figure(before, 'mappale_workers'), figure(before, 'mappale_requests_total', route)]).toEqual([2, 6]);
    // A token has a single hourly limit on all workers.
    const counted = await fetch(`${base}/admin/regions`, { headers: { 'x-api-key': token } });
    expect(counted.headers.get('x-ratelimit-remaining')).toBe('993');
    await metrics();

    const [victim] = serving.answering();
    process.kill(victim!, 'SIGKILL');
    await expect.poll(() => serving.said.some((line) => line.includes(`worker ${victim} ended (SIGKILL)`))).toBe(true);
    for (let count = 0; count < 4; count += 1) expect((await ask(`${base}/health`)).status).toBe(200);
    await expect.poll(async () => {
      await ask(`${base}/health`);
      return serving.answering().length;
    }).toBe(3);
    const after = await metrics();
    // The requests that the killed worker had reported are still counted.
    expect(['requests_total', 'workers', 'workers_lost_total'].map((name) => figure(after, `mappale_${name}`, name === 'requests_total' ? route : ''))).toEqual([7, 2, 1]);

    const workers = await childrenOf(serving.pid);
    expect(workers.length).toBe(2);
    const pending = Array.from({ length: 3 }, () => ask(`${base}/admin/municipalities`, { 'x-api-key': token }).then(({ status }) => status, () => 'refused'));
    await Promise.race(pending);
    serving.kill('SIGTERM');
    const { code, out } = await serving.ended;
    expect([code, out]).toEqual([0, [base]]);
    expect((await Promise.all(pending)).filter((status) => status !== 200 && status !== 'refused')).toEqual([]);
    expect(workers.filter((pid) => isAlive(pid))).toEqual([]);
  });

  it('prints one link for all workers, and the link signs a browser in once through any worker', async () => {
    const url = await engine.createDatabase();
    await migrate(await engine.openDatabase(url), await loadSources());
    const serving = new Serving(url, 'human', '--workers', '2');
    started.push(serving);
    await expect.poll(() => serving.out.length).toBe(2);
    const [base = '', link = ''] = serving.out;
    const secret = link.slice(`${base}/map#signin=`.length);
    expect(link).toBe(`${base}/map#signin=${secret}`);
    const exchange = (): Promise<Response> => fetch(`${base}/map/sign-in`, {
      method: 'POST', body: JSON.stringify({ secret }), headers: { 'content-type': 'application/json', origin: new URL(base).origin, connection: 'close' },
    });
    const [first, ...others] = [await exchange(), await exchange(), await exchange()];
    expect([first.status, ...others.map(({ status }) => status)]).toEqual([204, 410, 410]);
    const cookie = first.headers.get('set-cookie')!.split(';')[0]!;
    const left: (string | null)[] = [];
    for (let count = 0; count < 4; count += 1) {
      const answered = await fetch(`${base}/parcels/locate?lat=42&lng=14`, { headers: { cookie, connection: 'close' } });
      left.push(answered.headers.get('x-ratelimit-remaining'));
    }
    // A session has a single hourly limit on all workers.
    expect(left).toEqual(['999', '998', '997', '996']);
    // Any worker can explain a parcel, through the database login of the worker. The responses are 404, because the parcel does not exist.
    const explaining = Array.from({ length: 4 }, () => fetch(`${base}/map/explain/1400000000/basic`, { headers: { cookie, connection: 'close' } }));
    const explained = (await Promise.all(explaining)).map(({ status, headers }) => `${status} ${headers.get('x-ratelimit-remaining')}`);
    expect(explained.sort()).toEqual(['404 992', '404 993', '404 994', '404 995']);
    serving.kill('SIGTERM');
    const { code, said } = await serving.ended;
    expect([code, said.filter((line) => line.includes(secret) || line.includes(cookie.split('=')[1]!))]).toEqual([0, []]);
  });

  it('ends cleanly if the main process and all workers get SIGTERM', async () => {
    const url = await engine.createDatabase();
    await migrate(await engine.openDatabase(url), await loadSources());
    const serving = start(url);
    await serving.base();
    const workers = await childrenOf(serving.pid);
    // A terminal or a service manager signals all processes.
    serving.kill('SIGTERM');
    for (const pid of workers) process.kill(pid, 'SIGTERM');
    expect((await serving.ended).code).toBe(0);
  });

  it('reports once why it cannot start, and ends with the exit code of the error', async () => {
    const url = await engine.createDatabase();
    const empty = await start(url).ended;
    expect([empty.code, empty.out]).toEqual([6, []]);
    expect(empty.said.filter((line) => line.startsWith('error:')).length).toBe(1);

    await migrate(await engine.openDatabase(url), await loadSources());
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const busy = await start(url, '--port', String((holder.address() as AddressInfo).port)).ended;
    holder.close();
    expect([busy.code, busy.said.filter((line) => line.includes('[PORT_IN_USE]')).length]).toEqual([2, 1]);
  });
}, ['postgres']);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('connections of several processes', () => {
  it('are in total at most the connections of a single process, and 0 only if there are too few for all processes', () => {
    const all = (connections: number): number => connections + Math.ceil(connections / 3);
    const wrong: string[] = [];
    for (let connections = 1; connections <= 200; connections += 1) {
      if (connectionsOfEach(connections, 1) !== connections) wrong.push(`${connections} for one`);
      for (let processes = 2; processes <= 64; processes += 1) {
        const each = connectionsOfEach(connections, processes);
        if (each > 0 && processes * all(each) > all(connections)) wrong.push(`${connections} for ${processes}`);
        if (each === 0 && all(connections) >= 2 * processes) wrong.push(`${connections} suffice for ${processes}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('invalid settings for several processes', () => {
  it.each([
    ['pglite:/nowhere', ['--workers', '2'], '[WORKERS_EMBEDDED]'], ['postgres://nobody@127.0.0.1:1/none', ['--workers', '8'], '--connections 12 or more'], ['postgres://nobody@127.0.0.1:1/none', ['--workers', '0'], '[NUMBER_EXPECTED]'],
  ] as const)('are refused with exit code 2 before a database is opened: %s %j', async (url, args, words) => {
    const serving = new Serving(url, 'json', ...args);
    const { code, said } = await serving.ended;
    expect([code, said.join('\n').includes(words)]).toEqual([2, true]);
  });
});
