/**
 * Measures the latency and size of parcel tiles from the API server, at the zooms that the map requests. Requests the tiles with the most parcels and the tiles
 * with the fewest parcels. One client requests one tile after another. The CPU time includes the start and the stop of the server.
 */
import { onDatabase } from '../../pipelines/db/index.ts';
import { LEGENDS } from '../../pipelines/deliver/tiles.ts';
import { tileAt, type TileNumber } from '../../pipelines/formats/vector-tile.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { ofSteps, rounded, stepOf } from './history.ts';
import { watchServer } from './server-watch.ts';
import { makeKeys, median, number, onPublishedRegion, percentile, say, startServer, thousands, type Bench, type Fresh, type Result } from './shared.ts';

const PARCELS = 200_000;

/** Maximum number of tiles per zoom and density, and number of timed requests for each tile. */
const [TILES, REPEATS] = [25, 4];

const LAYER = LEGENDS.find(({ name }) => name === 'parcels')!;

interface CountedTile extends TileNumber {
  parcels: number;
}

interface Sample {
  readonly name: string;
  readonly tiles: readonly CountedTile[];
}

interface Measured extends Sample {
  /** Latency of each response in milliseconds. */
  readonly times: readonly number[];
  /** Size of each tile in bytes before compression. */
  readonly bytes: readonly number[];
}

export const run: Bench = (databaseUrl, [parcels = PARCELS]) => onPublishedRegion(databaseUrl, parcels, async (fresh) => [await measure(fresh, parcels)]);

async function measure({ url, name, server }: Fresh, parcels: number): Promise<Result> {
  const { samples, key } = await onDatabase(url, 'write', async (database) => {
    const [key = ''] = await makeKeys(database);
    const points = await database.query<{ lng: number; lat: number }>('select st_x(p.point) as lng, st_y(p.point) as lat from core.parcel p');
    const zooms = Array.from({ length: LAYER.maxzoom - LAYER.minzoom + 1 }, (_, index) => LAYER.minzoom + index);
    return { key, samples: zooms.flatMap((z) => samplesOf(z, points)) };
  });
  const { result: { measured, usage }, use } = await watchServer(server, name, async () => {
    const running = await startServer(url);
    try {
      const measured = await measureSamples(running.url, key, samples);
      return { measured, usage: await running.stop() };
    } catch (error) {
      await running.stop();
      throw error;
    }
  });
  const requests = sum(measured.map(({ times }) => times.length));
  say(`tiles: ${thousands(parcels)} parcels, layer ${LAYER.name}, ${requests} requests, one client`);
  say(textTable(
    measured.map(({ name: sample, tiles, times, bytes }) => [
      sample, tiles.length, median(tiles.map((tile) => tile.parcels)), rounded(percentile(times, 0.5)), rounded(percentile(times, 0.95)),
      Math.round(median(bytes)), Math.max(...bytes),
    ]),
    ['', 'tiles', 'parcels', 'p50, ms', 'p95, ms', 'bytes', 'most bytes'],
  ));
  say(`  CPU with start and stop of the server: Node ${number(usage.cpuSeconds, 1)} s, PostgreSQL ${number(use.cpuSeconds, 1)} s; peak memory of Node ${number(usage.peakMiB)} MiB`);
  return {
    bench: 'tiles',
    ...ofSteps(parcels, measured.map(({ name: sample, times }) => stepOf(sample, sum(times) / 1000, times.length)), figuresOf(measured)),
    cpuSeconds: { node: rounded(usage.cpuSeconds), server: use.cpuSeconds === null ? null : rounded(use.cpuSeconds) },
    peakMiB: { node: Math.round(usage.peakMiB), server: use.peakMiB },
  };
}

/** Returns the tiles of a zoom with the most and with the fewest representative points. A small region may have fewer than `TILES` tiles. */
function samplesOf(z: number, points: readonly { readonly lng: number; readonly lat: number }[]): Sample[] {
  const counted = new Map<string, CountedTile>();
  for (const { lng, lat } of points) {
    const tile = tileAt(z, lng, lat);
    const at = `${tile.x} ${tile.y}`;
    const known = counted.get(at);
    if (known === undefined) counted.set(at, { ...tile, parcels: 1 });
    else known.parcels += 1;
  }
  const ordered = [...counted.values()].sort((a, b) => b.parcels - a.parcels);
  const count = Math.max(1, Math.min(TILES, ordered.length >> 1));
  return [{ name: `zoom ${z}, dense`, tiles: ordered.slice(0, count) }, { name: `zoom ${z}, sparse`, tiles: ordered.slice(-count) }];
}

/** Requests each tile of all samples once without timing, then several times with timing. @throws Error for a response without status 200 */
async function measureSamples(url: string, key: string, samples: readonly Sample[]): Promise<Measured[]> {
  const request = async ({ z, x, y }: TileNumber): Promise<{ ms: number; bytes: number }> => {
    const startedAt = performance.now();
    const answer = await fetch(`${url}/api/v2/tiles/${z}/${x}/${y}?layer=${LAYER.name}`, { headers: { 'x-api-key': key } });
    const { byteLength } = await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`tile ${z}/${x}/${y}: expected status 200, found ${answer.status}`);
    return { ms: performance.now() - startedAt, bytes: byteLength };
  };
  const measured = samples.map((sample) => ({ ...sample, times: [] as number[], bytes: [] as number[] }));
  for (const { tiles, bytes } of measured) for (const tile of tiles) bytes.push((await request(tile)).bytes);
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const { tiles, times } of measured) for (const tile of tiles) times.push((await request(tile)).ms);
  }
  return measured;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function figuresOf(measured: readonly Measured[]): Record<string, number> {
  return Object.fromEntries(measured.flatMap(({ name, times, bytes }) => [
    [`${name}: p50, ms`, rounded(percentile(times, 0.5))], [`${name}: p95, ms`, rounded(percentile(times, 0.95))], [`${name}: bytes`, Math.round(median(bytes))],
  ]));
}
