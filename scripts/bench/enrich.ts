/**
 * Compares `mappale enrich` with requests to the API, on a synthetic region in PostgreSQL. `mappale enrich` reads a table of points in a separate process. Then
 * the first points are requested one by one from `/parcels/locate` and `/parcels/{id}` with the same sections, over connections that stay open.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInterface } from 'node:readline';
import { parseSections } from '../../pipelines/deliver/columns.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { makeKeys, startServer } from './api.ts';
import { onDatabase } from './fresh.ts';
import { runProgram } from './load.ts';

export interface EnrichBench {
  readonly parcels: number;
  readonly points: number;
  readonly columns: number;
  readonly seconds: number;
  readonly found: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  readonly outBytes: number;
  /** Points per second of one client that waits for each answer, and of three clients in parallel. */
  readonly oneByOne: { readonly points: number; readonly alone: number; readonly three: number };
}

/** Points that are requested one by one. */
const ASKED = 2_000;

/** @param url of a database with a published region */
export async function benchEnrich(url: string, points: number): Promise<EnrichBench> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  try {
    const [table, out] = [join(folder, 'points.csv'), join(folder, 'out.csv')];
    const asked: (readonly [lat: number, lng: number])[] = [];
    const parcels = await onDatabase(url, async (database) => {
      const places = await placesOf(database);
      await pipeline(Readable.from(lines(places, points, asked)), createWriteStream(table));
      return (await one<{ n: number }>(database, 'select count(*)::int4 as n from core.parcel')).n;
    });
    const startedAt = performance.now();
    const { cpuSeconds, peakMiB } = await runProgram(['enrich', table, '--out', out], { DATABASE_URL: url });
    const seconds = (performance.now() - startedAt) / 1000;
    const { rows, found, columns } = await readBack(out);
    if (rows !== points) throw new Error(`${points} rows went in, ${rows} came out`);
    return { parcels, points, columns, seconds, found, cpuSeconds, peakMiB, outBytes: (await stat(out)).size, oneByOne: await askEach(url, asked) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns representative points of parcels all over the region, with two floats each. */
async function placesOf(database: Database): Promise<readonly { lat: number; lng: number }[]> {
  return database.query('select st_y(p.point) as lat, st_x(p.point) as lng from core.parcel p order by hashint4(p.fid) limit 100000');
}

/** Returns points within some metres of representative points, in random order. One in a hundred is far away. */
function* lines(places: readonly { lat: number; lng: number }[], points: number, asked: (readonly [number, number])[]): Generator<string> {
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

/** Requests the same points from the API. */
async function askEach(url: string, asked: readonly (readonly [lat: number, lng: number])[]): Promise<EnrichBench['oneByOne']> {
  const include = parseSections(undefined).join(',');
  const server = await startServer(url);
  try {
    const [key = ''] = await onDatabase(url, (database) => makeKeys(database));
    const get = async (path: string): Promise<unknown> => (await fetch(`${server.url}/api/v2${path}`, { headers: { 'x-api-key': key } })).json();
    const enrichOne = async ([lat, lng]: readonly [number, number]): Promise<void> => {
      const { data: [parcel] } = await get(`/parcels/locate?lat=${lat}&lng=${lng}&limit=1`) as { data: readonly { fid: number }[] };
      if (parcel !== undefined) await get(`/parcels/${parcel.fid}?include=${include}`);
    };
    const timed = async (callers: number): Promise<number> => {
      const startedAt = performance.now();
      let next = 0;
      await Promise.all(Array.from({ length: callers }, async () => {
        for (let at = next++; at < asked.length; at = next++) await enrichOne(asked[at]!);
      }));
      return asked.length / ((performance.now() - startedAt) / 1000);
    };
    await timed(3);
    return { points: asked.length, alone: await timed(1), three: await timed(3) };
  } finally {
    await server.stop();
  }
}
