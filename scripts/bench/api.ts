/**
 * Measures how fast the server answers, with autocannon, a synthetic region in PostgreSQL and the server in a separate process.
 *
 *   npx tsx scripts/bench/api.ts postgres://… [parcels] [seconds]
 *
 * Each endpoint has two results: the highest rate with 50 connections that never wait, and the time of one answer at a lower, steady rate. At the highest rate
 * the time of one answer is always 50 divided by the rate. Then the time of ordinary requests of one token is compared with and without a heavy load by another
 * client.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import autocannon from 'autocannon';
import { SCOPES } from '../../api/access.ts';
import { hashOf } from '../../api/access.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { withContext } from '../../pipelines/run/context.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { makeLog } from '../../pipelines/log.ts';
import { readConfig } from '../../pipelines/config.ts';
import { refresh } from '../../pipelines/run/refresh.ts';

export interface BenchApiOptions {
  /** A PostgreSQL database that may be filled. A database with a published region is used unchanged. */
  readonly databaseUrl: string;
  /** Number of parcels of the synthetic region if the database is empty. The number of addresses is similar. */
  readonly parcels: number;
  /** Duration of each measurement. */
  readonly seconds: number;
  readonly connections?: number;
  /** Share of the highest rate at which single answers are timed. */
  readonly load?: number;
}

export interface Measured {
  readonly name: string;
  /** Highest rate, in requests per second. */
  readonly most: number;
  /** Milliseconds at the highest rate. */
  readonly full: { readonly p50: number; readonly p99: number };
  /** Requests per second at the steady rate. */
  readonly steady: number;
  /** Milliseconds at the steady rate. */
  readonly calm: { readonly p50: number; readonly p95: number; readonly p99: number };
  /** Answers that were not 200. */
  readonly failed: number;
  /** Mean size of an answer. */
  readonly bytes: number;
}

/** Waiting time of one token under a load by others. */
export interface Fairness {
  readonly load: string;
  /** Answers to the load per second, and the refusals among them. */
  readonly served: number;
  readonly refused: number;
  /** Milliseconds until the token's answer. */
  readonly p50: number;
  readonly p99: number;
  /** Its p99 divided by the p99 without a load. */
  readonly ratio: number;
  /** Answers to the token that were not 200. */
  readonly failed: number;
}

export interface BenchApiReport {
  readonly parcels: number;
  readonly addresses: number;
  readonly cores: number;
  readonly connections: number;
  readonly measured: readonly Measured[];
  readonly fairness: readonly Fairness[];
}

/** Requests of each kind, enough that successive requests differ. */
const QUESTIONS = 4_000;

/** Requests of one connection that never waits. */
const PER_CONNECTION = 200;

/** Requests per second of the token that is timed under a load. */
const FAIR_RATE = 15;

/** Fills the database if it is empty, starts the server, measures it and stops it. */
export async function benchApi({ databaseUrl, parcels, seconds, connections = 50, load = 0.5 }: BenchApiOptions): Promise<BenchApiReport> {
  return withContext({ access: 'write', databaseUrl, log: makeLog(readConfig(), process.stderr) }, async (context) => {
    const { database } = context;
    const [published] = await database.query<{ there: boolean }>("select exists (select from ledger.publication where state = 'current' and unit_code > 0) as there");
    if (!published!.there) {
      const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
      try {
        const region = await writeSynthetic(context.sources, folder, { parcels, seed: 1 });
        const report = await refresh(context, { command: 'bench-api', data: [folder], regions: [region.code], parallel: 2, accept: null, force: false });
        if (report.failures.length > 0) throw report.failures[0]!;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
    await database.query('analyze');
    const [size] = await database.query<{ parcels: number; addresses: number }>(
      "select sum(t.rows) filter (where t.relation = 'core.parcel')::int8 as parcels, sum(t.rows) filter (where t.relation = 'core.access_point')::int8 as addresses from ledger.publication_table t join ledger.publication p using (publication_id) where p.state = 'current'",
    );
    const kinds = await questionsOf(database);
    const server = await startServer(databaseUrl);
    const measured: Measured[] = [];
    let fairness: readonly Fairness[] = [];
    try {
      const keys = await makeKeys(database);
      for (const [name, paths] of Object.entries(kinds)) {
        const requests = (): autocannon.Request[] => paths.map((path, index) => ({ method: 'GET', path: `/api/v2${path}`, headers: { 'x-api-key': keys[index % keys.length]! } }));
        // Each connection has its own tokens, because requests of one token would wait for each other.
        const own = Math.floor(keys.length / connections);
        const run = (duration: number): Promise<autocannon.Result> => {
          let begun = 0;
          return autocannon({ url: server.url, connections, duration, requests: requests().slice(0, 1), setupClient: (client) => {
            const at = (begun++ % connections) * own;
            // Preparing a request costs client time, so each connection repeats some hundred requests.
            client.setRequests(Array.from({ length: PER_CONNECTION }, (_, index) => ({
              method: 'GET', path: `/api/v2${paths[(begun * PER_CONNECTION + index) % paths.length]!}`, headers: { 'x-api-key': keys[at + (index % own)]! },
            })));
          } });
        };
        await run(Math.max(2, seconds / 4));
        const full = await run(seconds);
        const rate = Math.max(connections, Math.round(full.requests.average * load));
        const calm = await paced(server.url, requests(), { rate, seconds, connections });
        measured.push({
          name, most: full.requests.average, full: { p50: full.latency.p50, p99: full.latency.p99 }, steady: calm.rate,
          calm: { p50: calm.p50, p95: calm.p95, p99: calm.p99 }, failed: full.non2xx + full.errors + calm.failed,
          bytes: Math.round(full.throughput.total / full.requests.total),
        });
      }
      fairness = await fairnessOf(server.url, kinds, keys, seconds);
    } finally {
      await server.stop();
      await database.query("delete from access.token where name = 'bench-api'");
    }
    return { parcels: size!.parcels, addresses: size!.addresses, cores: availableParallelism(), connections, measured, fairness };
  });
}

/**
 * Sends requests at a steady rate without waiting for answers, and times each answer from the moment its request was due. So a server that stalls is charged
 * for all waiting requests. (autocannon sends the requests of a second all at once, and would time its own queue.)
 */
async function paced(
  url: string, requests: readonly autocannon.Request[], { rate, seconds, connections }: { rate: number; seconds: number; connections: number },
): Promise<{ rate: number; p50: number; p95: number; p99: number; failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let failed = 0;
  const ask = (index: number, due: number): Promise<void> => new Promise((resolve) => {
    const { path, headers } = requests[index % requests.length]!;
    const done = (good: boolean): void => {
      times.push(performance.now() - due);
      if (!good) failed += 1;
      resolve();
    };
    get(new URL(path!, url), { agent, headers: headers }, (response) => response.resume().on('end', () => done(response.statusCode === 200))).on('error', () => done(false));
  });
  const startedAt = performance.now();
  const asked: Promise<void>[] = [];
  while (asked.length < rate * seconds) {
    const due = startedAt + (asked.length * 1000) / rate;
    if (due > performance.now()) await sleep(Math.max(1, due - performance.now()));
    asked.push(ask(asked.length, due));
  }
  await Promise.all(asked);
  const elapsed = (performance.now() - startedAt) / 1000;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { rate: times.length / elapsed, p50: at(0.5), p95: at(0.95), p99: at(0.99), failed };
}

/** Measures ordinary requests of one token at a steady rate, alone and under each load. */
async function fairnessOf(
  url: string,
  kinds: Readonly<Record<string, readonly string[]>>,
  [greedy, modest]: readonly string[],
  seconds: number,
): Promise<Fairness[]> {
  const all = Object.values(kinds);
  const mixed = Array.from({ length: QUESTIONS }, (_, index) => all[index % all.length]![index % all[0]!.length]!);
  const asked = (key: string, paths: readonly string[]): autocannon.Request[] =>
    paths.map((path) => ({ method: 'GET', path: `/api/v2${path}`, headers: { 'x-api-key': key } }));
  // With fewer answers the p99 is the slowest answer.
  const lasting = Math.max(seconds, 300 / FAIR_RATE);
  const measure = (): ReturnType<typeof paced> => paced(url, asked(modest!, mixed), { rate: FAIR_RATE, seconds: lasting, connections: 10 });
  const words = [
    ...new Set(
      mixed.flatMap((path) =>
        [...decodeURIComponent(path.split('?q=')[1] ?? '').matchAll(/[a-z]{3,}/gi)].map(([word]) => mistyped(word.slice(0, 4)).slice(0, 3)),
      ),
    ),
  ];
  // As many words as fit into 200 characters.
  const search = (at: number): string =>
    `/geocode/search?q=${encodeURIComponent(Array.from({ length: 50 }, (_, index) => words[(at + index) % words.length]).join('/'))}`;
  const loads: readonly { readonly load: string; readonly connections: number; readonly requests: autocannon.Request[] }[] = [
    {
      load: 'searches of 50 misspelt words, 60 connections of one token',
      connections: 60,
      requests: asked(
        greedy!,
        Array.from({ length: PER_CONNECTION }, (_, index) => search(index)),
      ),
    },
    {
      load: '/docs/swagger-ui.js, 40 connections without a token',
      connections: 40,
      requests: [{ method: 'GET', path: '/api/v2/docs/swagger-ui.js', headers: { 'accept-encoding': 'gzip' } }],
    },
    { load: 'ordinary requests, 60 connections of one token', connections: 60, requests: asked(greedy!, mixed.slice(0, PER_CONNECTION)) },
  ];
  await measure();
  const quiet = await measure();
  const found: Fairness[] = [{ load: 'nobody else', served: 0, refused: 0, p50: quiet.p50, p99: quiet.p99, ratio: 1, failed: quiet.failed }];
  for (const { load, connections, requests } of loads) {
    // A separate thread, so that reading its answers does not delay the timed requests.
    const storm = autocannon({ url, connections, duration: lasting + 4, requests, workers: 1, timeout: 30 });
    await sleep(2_000);
    const timed = await measure();
    const {
      requests: { average },
      non2xx,
      errors,
    } = await storm;
    found.push({
      load,
      served: average,
      refused: (non2xx + errors) / (lasting + 4),
      p50: timed.p50,
      p99: timed.p99,
      ratio: timed.p99 / quiet.p99,
      failed: timed.failed,
    });
  }
  return found;
}

/** The sections from before rasters, buildings and points were added. */
const NINE = 'basic,risk,subsidence,coastal_erosion,valuation,valuation_history,economics,demographics,address';

/** Returns requests for places all over the region. */
async function questionsOf(database: Database): Promise<Record<string, string[]>> {
  const parcels = await database.query<{ fid: number; lat: number; lng: number }>(
    'select p.fid, round(st_y(p.point)::numeric, 7)::float8 as lat, round(st_x(p.point)::numeric, 7)::float8 as lng from core.parcel p order by hashint4(p.fid) limit $1', [QUESTIONS],
  );
  const addresses = await database.query<{ street: string; number: string; belfiore: string; lat: number; lng: number }>(
    `select s.name as street, concat(a.number, '/' || a.exponent) as number, a.belfiore, round(st_y(a.geom)::numeric, 7)::float8 as lat, round(st_x(a.geom)::numeric, 7)::float8 as lng
     from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id
     where a.number is not null and a.geom is not null order by hashint8(a.address_id) limit $1`, [QUESTIONS],
  );
  const search = (text: string, belfiore: string): string => `/geocode/search?q=${encodeURIComponent(text)}&city=${belfiore}`;
  return {
    'detail, all sections': parcels.map(({ fid }) => `/parcels/${fid}`),
    'detail, nine sections': parcels.map(({ fid }) => `/parcels/${fid}?include=${NINE}`),
    'detail, basic and risk': parcels.map(({ fid }) => `/parcels/${fid}?include=basic,risk`),
    'locate, point': parcels.map(({ lat, lng }) => `/parcels/locate?lat=${lat}&lng=${lng}`),
    reverse: addresses.map(({ lat, lng }) => `/geocode/reverse?lat=${lat}&lng=${lng}`),
    'search, exact': addresses.map(({ street, number, belfiore }) => search(`${street} ${number}`, belfiore)),
    'search, a typo': addresses.map(({ street, number, belfiore }) => search(`${mistyped(street)} ${number}`, belfiore)),
  };
}

/** Swaps two letters of the last long word. */
export function mistyped(street: string): string {
  const words = street.split(' ');
  const at = words.map((word) => word.length).lastIndexOf(Math.max(...words.map((word) => word.length)));
  const word = words[at]!;
  const middle = Math.floor(word.length / 2);
  words[at] = word.length < 4 ? word : word.slice(0, middle - 1) + word[middle]! + word[middle - 1]! + word.slice(middle + 1);
  return words.join(' ');
}

/** Creates tokens with known secrets, because the database is temporary. Their hourly limit allows all requests of the benchmark. */
export async function makeKeys(database: Database): Promise<string[]> {
  const keys = Array.from({ length: 1_000 }, (_, index) => `mpl_${String(index).padStart(43, '0')}`);
  await database.query(
    "insert into access.token (name, sha256, scopes) select 'bench-api', decode(h, 'hex'), $2 from unnest($1::text[]) as k (h) on conflict (sha256) do nothing", [keys.map(hashOf), SCOPES],
  );
  await database.query("insert into access.rate_window (token_id, started_at, used) select token_id, now(), -10000000 from access.token where name = 'bench-api'");
  return keys;
}

export async function startServer(databaseUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const program = fileURLToPath(new URL('../../pipelines/mappale.mjs', import.meta.url));
  const child: ChildProcess = spawn('/usr/bin/env', [`DATABASE_URL=${databaseUrl}`, 'MAPPALE_LOG=json', process.execPath, program, 'serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [''])])) as [string];
  if (!line.startsWith('http')) throw new Error('the server did not start; try: mappale serve');
  return {
    url: new URL(line).origin,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Returns the report as a text table. */
export function describeApi({ parcels, addresses, cores, connections, measured, fairness }: BenchApiReport): string {
  const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
  return [
    `${number(parcels)} parcels, ${number(addresses)} addresses; database, server and asker on ${cores} cores, ${connections} connections`,
    '| | most, requests/s | then p50, ms | p99, ms | steady, requests/s | p50, ms | p95, ms | p99, ms | bytes | failed |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...measured.map((row) => `| ${[row.name, ...[row.most, row.full.p50, row.full.p99, row.steady, row.calm.p50, row.calm.p95, row.calm.p99, row.bytes, row.failed].map(number)].join(' | ')} |`),
    `one token with ${FAIR_RATE} ordinary requests a second, under this load`,
    '| | answers/s of the load | refusals/s | p50, ms | p99, ms | times the quiet p99 | failed |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...fairness.map((row) => `| ${[row.load, ...[row.served, row.refused, row.p50, row.p99, row.ratio, row.failed].map(number)].join(' | ')} |`),
  ].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, parcels = '100000', seconds = '10'] = process.argv.slice(2);
  if (url === undefined) {
    process.stderr.write('usage: npx tsx scripts/bench/api.ts postgres://… [parcels] [seconds]\n');
    process.exitCode = 2;
  } else {
    process.stdout.write(`${describeApi(await benchApi({ databaseUrl: url, parcels: Number(parcels), seconds: Number(seconds) }))}\n`);
  }
}
