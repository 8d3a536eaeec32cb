/**
 * Measures how fast `mappale enrich` adds columns to a table of points. For comparison, requests the data of the first points from the API server over open
 * connections. A point takes the request `/parcels/locate` and, if a parcel is found, the request `/parcels/{id}` with the same sections.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { parseSections } from '../../pipelines/deliver/columns.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { ofSteps, rateOf, rounded, stepOf } from './history.ts';
import {
  inFolder, makeKeys, megabytes, number, onPublishedRegion, runProgram, say, startServer, thousands, type Bench, type Result,
} from './shared.ts';

const [PARCELS, POINTS] = [200_000, 1_000_000];

/** Number of points to request from the API server. */
const ASKED = 2_000;

/** Rates of the API server in points per second. `alone`: one client that waits for each response. `three`: three such clients in parallel. */
interface Asked {
  readonly points: number;
  readonly alone: number;
  readonly three: number;
}

/** Runs the benchmark. The sizes are the numbers of parcels and of points. */
export const run: Bench = (databaseUrl, [parcels = PARCELS, points = POINTS]) =>
  onPublishedRegion(databaseUrl, parcels, ({ url }) => inFolder(async (folder) => [await measure(url, folder, points)]));

async function measure(url: string, folder: string, points: number): Promise<Result> {
  const [table, out] = [join(folder, 'points.csv'), join(folder, 'out.csv')];
  const asked: (readonly [lat: number, lng: number])[] = [];
  const parcels = await onDatabase(url, 'write', async (database) => {
    await pipeline(Readable.from(linesOf(await placesOf(database), points, asked)), createWriteStream(table));
    return (await one<{ parcels: number }>(database, 'select count(*)::int4 as parcels from core.parcel')).parcels;
  });
  const startedAt = performance.now();
  const { cpuSeconds, peakMiB } = await runProgram(['enrich', table, '--out', out], { DATABASE_URL: url });
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows, found, columns } = await readBack(out);
  if (rows !== points) throw new Error(`expected ${points} rows, found ${rows}`);
  const { points: few, alone, three } = await askEach(url, asked);
  const rate = points / seconds;
  say(`enrich: ${thousands(points)} points in ${thousands(parcels)} parcels, ${columns} columns: ${number(seconds, 1)} s, ${thousands(rate)} rows/s`);
  say(`  ${thousands(found)} found, ${megabytes((await stat(out)).size)} written; Node ${number(cpuSeconds, 1)} s of CPU, peak memory ${number(peakMiB)} MiB`);
  say(`  the server, two requests for each of ${number(few)} points: one client ${number(alone)} points/s, three clients ${number(three)} points/s`);
  say(`  enrich is ${number(rate / alone)} times as fast as one client, and ${number(rate / three)} times as fast as three clients`);
  return {
    bench: 'enrich',
    ...ofSteps(parcels, [stepOf('points of a table', seconds, points), rateOf('one by one', alone), rateOf('three at a time', three)], { columns, found }),
    cpuSeconds: { node: rounded(cpuSeconds), server: null }, peakMiB: { node: Math.round(peakMiB), server: null },
  };
}

/** Returns representative points of parcels from all over the region. */
function placesOf(database: Database): Promise<readonly { lat: number; lng: number }[]> {
  return database.query('select st_y(p.point) as lat, st_x(p.point) as lng from core.parcel p order by hashint4(p.fid) limit 100000');
}

/**
 * Yields the lines of a CSV of points in random order. Most points are a few metres from the representative point of a parcel. One point in a hundred is up to
 * 0.25° away.
 */
function* linesOf(places: readonly { lat: number; lng: number }[], points: number, asked: (readonly [number, number])[]): Generator<string> {
  const random = randomOf('enrich', 1);
  yield 'id,lat,lng\n';
  for (let id = 0; id < points; id += 1) {
    const place = random.pick(places);
    const off = random.next() < 0.01 ? 0.5 : 1e-4;
    const near = (degrees: number): number => Number((degrees + (random.next() - 0.5) * off).toFixed(7));
    const [lat, lng] = [near(place.lat), near(place.lng)];
    if (asked.length < ASKED) asked.push([lat, lng]);
    yield `${id},${lat},${lng}\n`;
  }
}

async function readBack(out: string): Promise<{ rows: number; found: number; columns: number }> {
  let [rows, found, columns] = [-1, 0, 0];
  for await (const line of createInterface({ input: createReadStream(out) })) {
    if (rows === -1) columns = line.split(',').length;
    rows += 1;
    if (/,(?:found|ambiguous),/.test(line)) found += 1;
  }
  return { rows, found, columns };
}

/** Requests the same points from the API server, with one client and with three clients. */
async function askEach(url: string, asked: readonly (readonly [lat: number, lng: number])[]): Promise<Asked> {
  const include = parseSections(undefined).join(',');
  const server = await startServer(url);
  try {
    const [key = ''] = await onDatabase(url, 'write', makeKeys);
    const get = async (path: string): Promise<unknown> => (await fetch(`${server.url}/api/v2${path}`, { headers: { 'x-api-key': key } })).json();
    const enrichOne = async ([lat, lng]: readonly [number, number]): Promise<void> => {
      const { data: [parcel] } = await get(`/parcels/locate?lat=${lat}&lng=${lng}&limit=1`) as { data: readonly { fid: number }[] };
      if (parcel !== undefined) await get(`/parcels/${parcel.fid}?include=${include}`);
    };
    const rateWith = async (clients: number): Promise<number> => {
      const startedAt = performance.now();
      let next = 0;
      await Promise.all(Array.from({ length: clients }, async () => {
        for (let at = next++; at < asked.length; at = next++) await enrichOne(asked[at]!);
      }));
      return asked.length / ((performance.now() - startedAt) / 1000);
    };
    await rateWith(3);
    return { points: asked.length, alone: await rateWith(1), three: await rateWith(3) };
  } finally {
    await server.stop();
  }
}
