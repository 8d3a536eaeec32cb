/**
 * Measures how fast the API server answers requests about a synthetic region in PostgreSQL. The server runs in a child process. The tool autocannon measures
 * the highest rates.
 *
 * For each kind of request, the benchmark measures the highest rate with 50 connections. Each connection sends the next request as soon as a response arrives.
 * The mean latency at the highest rate is always 50 divided by the rate. Therefore the benchmark also measures the latency at half of the highest rate. At the
 * end, the benchmark times ordinary requests of one token, alone and while another client loads the server.
 */
import { Agent, get } from 'node:http';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { ofSteps, rateOf, rounded } from './history.ts';
import { makeKeys, number, onPublishedRegion, percentile, say, startServer, type Bench, type Result } from './shared.ts';

const [PARCELS, SECONDS] = [100_000, 10];

const CONNECTIONS = 50;

/** Rate at which latencies are measured, as a fraction of the highest rate. */
const CALM = 0.5;

interface Measured {
  readonly name: string;
  /** Highest rate in requests per second. */
  readonly most: number;
  /** Latencies in milliseconds at the highest rate. */
  readonly full: { readonly p50: number; readonly p99: number };
  readonly calm: Latencies;
  /** Number of requests that failed or got an error status, at both rates. */
  readonly failed: number;
  /** Average size of a response in bytes. */
  readonly bytes: number;
}

/** Latencies in milliseconds at a steady rate. */
interface Latencies {
  /** Requests per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Number of requests without a response of status 200. */
  readonly failed: number;
}

/** Latencies of one token's requests while another client loads the server. */
interface Fairness extends Latencies {
  readonly load: string;
  /** Responses per second to the other client, including refusals. */
  readonly served: number;
  /** Refusals and errors per second to the other client. */
  readonly refused: number;
  /** p99 of the latency divided by the p99 without the load. */
  readonly ratio: number;
}

/** Number of different requests of each kind. */
const REQUESTS = 4_000;

/** Number of requests that one connection repeats. The number is small, because autocannon prepares every request for every connection. */
const PER_CONNECTION = 200;

/** Rate of the timed token's requests during a load, in requests per second. */
const FAIR_RATE = 15;

/** Runs the benchmark. The sizes are the number of parcels and the duration of each measurement in seconds. */
export const run: Bench = (databaseUrl, [parcels = PARCELS, seconds = SECONDS]) =>
  onPublishedRegion(databaseUrl, parcels, ({ url }) => onDatabase(url, 'write', async (database) => [await benchServer(database, url, seconds)]));

async function benchServer(database: Database, url: string, seconds: number): Promise<Result> {
  const size = await one<{ parcels: number; addresses: number }>(
    database, 'select (select count(*) from core.parcel)::int4 as parcels, (select count(*) from core.access_point)::int4 as addresses',
  );
  const kinds = await requestsOf(database);
  const server = await startServer(url);
  try {
    const keys = await makeKeys(database);
    const measured: Measured[] = [];
    for (const [name, paths] of Object.entries(kinds)) measured.push(await measure(server.url, name, paths, keys, seconds));
    const fairness = await fairnessOf(server.url, kinds, keys, seconds);
    describe(size, measured, fairness);
    return resultOf(size.parcels, measured, fairness);
  } finally {
    await server.stop();
  }
}

async function measure(url: string, name: string, paths: readonly string[], keys: readonly string[], seconds: number): Promise<Measured> {
  // Gives each connection separate tokens, because requests with the same token wait for each other.
  const own = Math.floor(keys.length / CONNECTIONS);
  const flood = (duration: number): Promise<autocannon.Result> => {
    let begun = 0;
    return autocannon({ url, connections: CONNECTIONS, duration, requests: requestsWith(keys[0]!, paths.slice(0, 1)), setupClient: (client) => {
      const at = (begun++ % CONNECTIONS) * own;
      const pathAt = (index: number): string => paths[(begun * PER_CONNECTION + index) % paths.length]!;
      client.setRequests(Array.from({ length: PER_CONNECTION }, (_, index) => requestTo(pathAt(index), keys[at + (index % own)]!)));
    } });
  };
  await flood(Math.max(2, seconds / 4));
  const full = await flood(seconds);
  const rate = Math.max(CONNECTIONS, Math.round(full.requests.average * CALM));
  const calm = await paced(url, paths.map((path, index) => requestTo(path, keys[index % keys.length]!)), { rate, seconds, connections: CONNECTIONS });
  return {
    name, most: full.requests.average, full: { p50: full.latency.p50, p99: full.latency.p99 }, calm,
    failed: full.non2xx + full.errors + calm.failed, bytes: Math.round(full.throughput.total / full.requests.total),
  };
}

function requestTo(path: string, key: string): autocannon.Request {
  return { method: 'GET', path: `/api/v2${path}`, headers: { 'x-api-key': key } };
}

function requestsWith(key: string, paths: readonly string[]): autocannon.Request[] {
  return paths.map((path) => requestTo(path, key));
}

/**
 * Sends requests at a steady rate, even if earlier responses have not arrived. Measures the latency from the time at which the request was due. The tool
 * autocannon cannot send at a steady rate, because it sends all requests of a second at once.
 */
async function paced(
  url: string, requests: readonly autocannon.Request[], { rate, seconds, connections }: { rate: number; seconds: number; connections: number },
): Promise<Latencies> {
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
    get(new URL(path!, url), { agent, headers }, (response) => response.resume().on('end', () => done(response.statusCode === 200))).on('error', () => done(false));
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
  return { rate: times.length / elapsed, p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99), failed };
}

/** Times ordinary requests of one token at a steady rate, alone and during each load. */
async function fairnessOf(
  url: string, kinds: Readonly<Record<string, readonly string[]>>, [greedy = '', modest = '']: readonly string[], seconds: number,
): Promise<Fairness[]> {
  const all = Object.values(kinds);
  const mixed = Array.from({ length: REQUESTS }, (_, index) => {
    const paths = all[index % all.length]!;
    return paths[index % paths.length]!;
  });
  // Waits for at least 300 responses. With fewer responses, the p99 would be one of the three slowest responses.
  const lasting = Math.max(seconds, 300 / FAIR_RATE);
  const timed = (): Promise<Latencies> => paced(url, requestsWith(modest, mixed), { rate: FAIR_RATE, seconds: lasting, connections: 10 });
  await timed();
  const quiet = await timed();
  const found: Fairness[] = [{ load: 'no load', served: 0, refused: 0, ratio: 1, ...quiet }];
  for (const { load, connections, requests } of loadsOf(mixed, greedy)) {
    // Runs the client of the load in a separate thread, because reading the load's responses would delay the timed requests.
    const storm = autocannon({ url, connections, duration: lasting + 4, requests, workers: 1, timeout: 30 });
    await sleep(2_000);
    const latencies = await timed();
    const { requests: { average }, non2xx, errors } = await storm;
    found.push({ load, served: average, refused: (non2xx + errors) / (lasting + 4), ratio: latencies.p99 / quiet.p99, ...latencies });
  }
  return found;
}

interface Load {
  readonly load: string;
  readonly connections: number;
  readonly requests: autocannon.Request[];
}

function loadsOf(mixed: readonly string[], key: string): Load[] {
  const words = [...new Set(mixed.flatMap((path) =>
    [...decodeURIComponent(path.split('?q=')[1] ?? '').matchAll(/[a-z]{3,}/gi)].map(([word]) => mistyped(word.slice(0, 4)).slice(0, 3))))];
  // A search text may have up to 200 characters: 50 words of three letters, with separators.
  const search = (at: number): string =>
    `/geocode/search?q=${encodeURIComponent(Array.from({ length: 50 }, (_, index) => words[(at + index) % words.length]).join('/'))}`;
  return [
    {
      load: 'searches of 50 misspelt words, 60 connections of one token', connections: 60,
      requests: requestsWith(key, Array.from({ length: PER_CONNECTION }, (_, index) => search(index))),
    },
    {
      load: '/docs/swagger-ui.js, 40 connections without a token', connections: 40,
      requests: [{ method: 'GET', path: '/api/v2/docs/swagger-ui.js', headers: { 'accept-encoding': 'gzip' } }],
    },
    { load: 'ordinary requests, 60 connections of one token', connections: 60, requests: requestsWith(key, mixed.slice(0, PER_CONNECTION)) },
  ];
}

/** Nine sections, for requests of a smaller record than the record with all sections. */
const NINE = 'basic,risk,subsidence,coastal_erosion,valuation,valuation_history,economics,demographics,address';

/** Returns the paths of the requests, by kind of request. The parcels and addresses are from all over the region. */
async function requestsOf(database: Database): Promise<Record<string, string[]>> {
  const parcels = await database.query<{ fid: number; lat: number; lng: number }>(
    'select p.fid, round(st_y(p.point)::numeric, 7)::float8 as lat, round(st_x(p.point)::numeric, 7)::float8 as lng from core.parcel p order by hashint4(p.fid) limit $1', [REQUESTS],
  );
  const addresses = await database.query<{ street: string; number: string; belfiore: string; lat: number; lng: number }>(
    `select s.name as street, concat(a.number, '/' || a.exponent) as number, a.belfiore, round(st_y(a.geom)::numeric, 7)::float8 as lat, round(st_x(a.geom)::numeric, 7)::float8 as lng
     from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id
     where a.number is not null and a.geom is not null order by hashint8(a.address_id) limit $1`, [REQUESTS],
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

/** Returns a street with a typing error: two letters of the longest word are swapped. Does not change a street whose words all have fewer than four letters. */
function mistyped(street: string): string {
  const words = street.split(' ');
  const at = words.map((word) => word.length).lastIndexOf(Math.max(...words.map((word) => word.length)));
  const word = words[at]!;
  const middle = Math.floor(word.length / 2);
  words[at] = word.length < 4 ? word : word.slice(0, middle - 1) + word[middle]! + word[middle - 1]! + word.slice(middle + 1);
  return words.join(' ');
}

function resultOf(parcels: number, measured: readonly Measured[], fairness: readonly Fairness[]): Result {
  return { bench: 'api', ...ofSteps(parcels, measured.map(({ name, most }) => rateOf(name, most)), Object.fromEntries([
    ...measured.map(({ name, calm }) => [`${name}: p99 at half the highest rate, ms`, rounded(calm.p99)] as const),
    ...fairness.map(({ load, p99 }) => [`under ${load}: p99, ms`, rounded(p99)] as const),
  ])) };
}

function describe(size: { readonly parcels: number; readonly addresses: number }, measured: readonly Measured[], fairness: readonly Fairness[]): void {
  const one = (value: number): number => Number(value.toFixed(1));
  say(`api: ${number(size.parcels)} parcels, ${number(size.addresses)} addresses, ${CONNECTIONS} connections`);
  say(`  database, server and client on ${availableParallelism()} cores`);
  say(textTable(
    measured.map(({ name, most, full, calm, bytes, failed }) => [
      name, ...[most, full.p50, full.p99, calm.rate, calm.p50, calm.p95, calm.p99, bytes, failed].map(one),
    ]),
    ['', 'highest, requests/s', 'p50, ms', 'p99, ms', 'steady, requests/s', 'p50, ms', 'p95, ms', 'p99, ms', 'bytes', 'failed'],
  ));
  say(`one token with ${FAIR_RATE} ordinary requests a second`);
  say(textTable(
    fairness.map(({ load, served, refused, p50, p99, ratio, failed }) => [`under ${load}`, ...[served, refused, p50, p99, ratio, failed].map(one)]),
    ['', 'responses/s to the load', 'refusals/s', 'p50, ms', 'p99, ms', 'p99 ratio', 'failed'],
  ));
}
