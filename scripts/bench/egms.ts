/**
 * Measures how fast a ground motion tile is read. The source's reader reads a synthetic CSV of the published width, plain and zipped, into a sink. If a
 * database is given, its rows are copied into PostgreSQL in the same run.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../../pipelines/db/index.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import type { MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import source from '../../sources/egms_vertical/source.ts';
import { tileLines } from '../../sources/egms_vertical/synthetic.ts';

export interface EgmsBench {
  readonly rows: number;
  readonly csvBytes: number;
  readonly zipBytes: number;
  /** Megabytes (10^6) of CSV per second. */
  readonly plainMBs: number;
  readonly zippedMBs: number;
  /** Reading the file without finding lines: the limit of disk and stream. */
  readonly streamMBs: number;
  /** Inflating and verifying the zip without reading rows. */
  readonly inflateMBs: number;
  readonly rowsPerSecond: number;
  /** Rows per second of a binary COPY of the same rows from memory; null without a database. */
  readonly copyRowsPerSecond: number | null;
}

export interface EgmsBenchOptions {
  /** Rows of the tile. A full tile has up to 1,000,000. Default 150,000, about 300 MB. */
  readonly rows?: number;
  /** Date columns; 303 in the release 2020–2024. */
  readonly dates?: number;
  /** `postgres://…` for the comparison with COPY. */
  readonly databaseUrl?: string | null;
}

/** Bytes that a sink received. They are kept only on request. */
interface Taken {
  readonly sink: Sink;
  readonly chunks: Buffer[];
  rows: number;
}

function taker(keep: boolean): Taken {
  const chunks: Buffer[] = [];
  const taken: Taken = { chunks, rows: 0, sink: { reuse: async () => false, progress: () => undefined, member } };
  async function member(): Promise<MemberSink> {
    const writer = new RowWriter(source.tables['raw_egms_cell']!, (chunk) => {
      if (keep) chunks.push(chunk);
    });
    writer.memberId = 1;
    return {
      memberId: 1,
      writer: () => writer,
      row: (_table, position, values) => writer.row(position, values),
      reject: (reject) => {
        throw new Error(`the synthetic tile has no bad rows, found ${reject.code} in line ${reject.position}`);
      },
      duplicate: () => undefined,
      added: () => undefined,
      drain: () => undefined,
      async close(records) {
        writer.flush();
        if (records !== writer.rows) throw new Error(`counted ${records} records, wrote ${writer.rows} rows`);
        taken.rows = writer.rows;
      },
    };
  }
  return taken;
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  const start = performance.now();
  const result = await work();
  return { seconds: (performance.now() - start) / 1000, result };
}

async function readWith(path: string, taken: Taken): Promise<void> {
  const { size } = await stat(path);
  await source.read({
    path, name: basename(path), role: 'vertical', vintage: '2020_2024_1', region: null, size,
    open: () => createReadStream(path, { highWaterMark: 262_144 }),
    zip: () => ZipArchive.open(path),
  }, taken.sink);
}

/** Returns the best of three times, so that a cold disk cache and other work on the machine count less. */
async function best(work: () => Promise<unknown>): Promise<number> {
  let seconds = Infinity;
  for (let run = 0; run < 3; run += 1) seconds = Math.min(seconds, (await timed(work)).seconds);
  return seconds;
}

/** Measures a tile. Writes and removes its files in the temporary folder. */
export async function benchEgms(options: EgmsBenchOptions = {}): Promise<EgmsBench> {
  const rows = options.rows ?? 150_000;
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  try {
    const csv = join(folder, 'EGMS_L3_E46N20_100km_U_2020_2024_1.csv');
    const lines = (): Iterable<string> => tileLines({ tile: [46, 20], rows, dates: options.dates ?? 303, seed: 1 });
    await pipeline(lines, createWriteStream(csv, { highWaterMark: 1_048_576 }));
    const zip = csv.replace(/csv$/, 'zip');
    await writeZip(zip, [[basename(csv), createReadStream(csv, { highWaterMark: 1_048_576 }), { level: 6 }]]);
    const csvBytes = (await stat(csv)).size;
    const drain = async (stream: AsyncIterable<Buffer>): Promise<number> => {
      let bytes = 0;
      for await (const chunk of stream) bytes += chunk.length;
      return bytes;
    };
    const stream = await best(() => drain(createReadStream(csv, { highWaterMark: 262_144 })));
    const plain = await best(() => readWith(csv, taker(false)));
    const inflate = await best(async () => {
      const archive = await ZipArchive.open(zip);
      await drain((await archive.stream(basename(csv))) as AsyncIterable<Buffer>);
      await archive.close();
    });
    const zipped = await best(() => readWith(zip, taker(false)));
    const kept = taker(true);
    await readWith(csv, kept);
    const copy = options.databaseUrl ? await benchCopy(options.databaseUrl, kept.chunks) : null;
    return {
      rows: kept.rows,
      csvBytes,
      zipBytes: (await stat(zip)).size,
      plainMBs: csvBytes / 1e6 / plain,
      zippedMBs: csvBytes / 1e6 / zipped,
      streamMBs: csvBytes / 1e6 / stream,
      inflateMBs: csvBytes / 1e6 / inflate,
      rowsPerSecond: rows / plain,
      copyRowsPerSecond: copy === null ? null : rows / copy,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the seconds of a COPY of prepared chunks into an unlogged table. */
async function benchCopy(url: string, chunks: readonly Buffer[]): Promise<number> {
  const database = await openDatabase(url);
  try {
    const staging = (await registerSource('egms_vertical')).staging;
    let seconds = Infinity;
    for (let run = 0; run < 3; run += 1) {
      await database.query('drop schema if exists bench_egms cascade');
      await database.query('create schema bench_egms');
      await database.session(async (session) => {
        await session.query('set search_path to bench_egms, public');
        await session.script(staging.text, staging.file);
      });
      const measured = await timed(async () => {
        const copy = await database.copyIn('bench_egms', 'raw_egms_cell');
        for (const chunk of chunks) {
          const full = copy.write(chunk);
          if (full !== undefined) await full;
        }
        await copy.end();
      });
      seconds = Math.min(seconds, measured.seconds);
    }
    await database.query('drop schema bench_egms cascade');
    return seconds;
  } finally {
    await database.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [rows, databaseUrl] = process.argv.slice(2);
  const bench = await benchEgms({ ...(rows === undefined ? {} : { rows: Number(rows) }), databaseUrl: databaseUrl ?? null });
  console.log(JSON.stringify(bench, null, 2));
}
