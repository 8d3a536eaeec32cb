/**
 * Measures how fast addresses are read. The source's reader reads a synthetic INDIR file into a sink, and then into PostgreSQL if a database is given. The
 * result is compared with psql's raw `\copy` of the same file in the same run.
 */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase, type CopyIn, type Database } from '../../pipelines/db/index.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { INDIR_COLUMNS } from '../../sources/anncsu_addresses/schema.ts';
import source from '../../sources/anncsu_addresses/source.ts';

export interface AnncsuBench {
  readonly rows: number;
  readonly csvBytes: number;
  readonly zipBytes: number;
  /** Rows per second of the reader alone, plain file and zip. */
  readonly plainRowsPerSecond: number;
  readonly zippedRowsPerSecond: number;
  /** Highest resident memory while reading, MiB. */
  readonly peakMiB: number;
  /** Rows per second from the plain file into the unlogged staging table; null without a database. */
  readonly loadedRowsPerSecond: number | null;
  /** Rows per second of psql's `\copy` of the same file into a table of text columns; null without a database or psql. */
  readonly rawCopyRowsPerSecond: number | null;
}

export interface AnncsuBenchOptions {
  /** Default 1,000,000, about 95 MB. The national file has 27,400,000. */
  readonly rows?: number;
  /** `postgres://…` for the comparison with `\copy`. */
  readonly databaseUrl?: string | null;
}

const SCHEMA = 'bench_anncsu';
const NAMES = ['ROMA', "DELL'ORSO", 'XX SETTEMBRE', 'DEI MONTI FINTI', 'SAN NESSUNO', 'GIUSEPPE GARIBALDI', 'DELLE ACACIE ALTE', "SANT'ASSENTE"];

/** Returns an INDIR file with 23 accesses per street, four fifths with coordinates, as in the national file of September 2026. */
export function* indirLines(rows: number): Generator<string> {
  const random = randomOf('bench anncsu');
  yield `${INDIR_COLUMNS.join(';')}\n`;
  let street = '';
  for (let row = 0; row < rows; row += 1) {
    if (row % 23 === 0) {
      const number = row / 23;
      street = `Z${String(1 + (Math.floor(number / 400) % 999)).padStart(3, '0')};094901;${9_000_000 + number};;VIA ${random.pick(NAMES)} ${number % 977};;;`;
    }
    const civico = 1 + (row % 23) * 2;
    const exponent = random.below(8) === 0 ? random.pick(['A', 'BIS', '2']) : '';
    const point = random.below(5) === 0 ? ';;;' : `${14 + random.below(1e6) / 1e6},${41 + random.below(1e7) / 1e7}`.replaceAll('.', '_').replace(',', ';').replaceAll('_', ',');
    yield `${street};${100_000_000 + row};;${civico};${exponent};;;;${point.startsWith(';') ? ';;;' : `${point};0;4`}\n`;
  }
}

type Take = (table: string, chunk: Buffer) => void;

function sinkOf(take: Take, drain: () => Promise<void> | undefined, done: (rows: number) => void): Sink {
  const writers = new Map(Object.entries(source.tables).map(([table, columns]) => [table, new RowWriter(columns, (chunk) => take(table, chunk))]));
  const member = async (): Promise<MemberSink> => ({
    memberId: 1,
    writer: (table) => writers.get(table)!,
    row: (table, position, values) => writers.get(table)!.row(position, values),
    reject: (reject) => {
      throw new Error(`the synthetic file has no bad lines, found ${reject.code} in line ${reject.position}: ${reject.message}`);
    },
    duplicate: () => undefined,
    added: () => undefined,
    drain,
    async close(records) {
      let rows = 0;
      for (const writer of writers.values()) {
        writer.flush();
        rows += writer.rows;
      }
      if (records !== rows) throw new Error(`counted ${records} records, wrote ${rows} rows`);
      done(rows);
    },
  });
  return { reuse: async () => false, progress: () => undefined, member };
}

async function readInto(path: string, sink: Sink): Promise<void> {
  await source.read({
    path, name: basename(path), role: 'INDIR', vintage: '2026-06-02', region: null, size: (await stat(path)).size,
    open: () => createReadStream(path, { highWaterMark: 1_048_576 }),
    zip: () => ZipArchive.open(path),
  }, sink);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Returns the best of three times, so that a cold disk cache and other work on the machine count less. */
async function best(work: () => Promise<number>): Promise<number> {
  let seconds = Infinity;
  for (let run = 0; run < 3; run += 1) seconds = Math.min(seconds, await work());
  return seconds;
}

/** Measures addresses. Writes and removes its files in the temporary folder and its schema in the database. */
export async function benchAnncsu(options: AnncsuBenchOptions = {}): Promise<AnncsuBench> {
  const rows = options.rows ?? 1_000_000;
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  try {
    const csv = join(folder, 'INDIR_ITA_20260602.csv');
    await pipeline(indirLines(rows), createWriteStream(csv, { highWaterMark: 1_048_576 }));
    const zip = csv.replace(/csv$/, 'zip');
    await writeZip(zip, [[basename(csv), createReadStream(csv, { highWaterMark: 1_048_576 }), { level: 6 }]]);
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
    const read = (path: string) => (): Promise<number> => timed(() => readInto(path, sinkOf(() => undefined, () => undefined, () => undefined)));
    const plain = await best(read(csv));
    const zipped = await best(read(zip));
    clearInterval(watch);
    const database = options.databaseUrl ? await inDatabase(options.databaseUrl, csv) : null;
    return {
      rows,
      csvBytes: (await stat(csv)).size,
      zipBytes: (await stat(zip)).size,
      plainRowsPerSecond: Math.round(rows / plain),
      zippedRowsPerSecond: Math.round(rows / zipped),
      peakMiB: Math.round(peak / 1_048_576),
      loadedRowsPerSecond: database === null ? null : Math.round(rows / database.loaded),
      rawCopyRowsPerSecond: database?.raw == null ? null : Math.round(rows / database.raw),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inDatabase(url: string, csv: string): Promise<{ loaded: number; raw: number | null }> {
  const database = await openDatabase(url);
  try {
    let raw: number | null = Infinity;
    let loaded = Infinity;
    // Runs alternate, so that other work on the machine affects both.
    for (let run = 0; run < 3; run += 1) {
      if (raw !== null) raw = await rawCopy(database, url, csv).then((seconds) => Math.min(raw!, seconds), (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      loaded = Math.min(loaded, await load(database, csv));
    }
    return { loaded, raw };
  } finally {
    await database.query(`drop schema if exists ${SCHEMA} cascade`);
    await database.close();
  }
}

async function fresh(database: Database, statements: string): Promise<void> {
  await database.query(`drop schema if exists ${SCHEMA} cascade`);
  await database.query(`create schema ${SCHEMA}`);
  await database.session(async (session) => {
    await session.query(`set search_path to ${SCHEMA}, public`);
    await session.script(statements, 'scripts/bench/anncsu.ts');
  });
}

/** Copies the file with `\copy`, without checks or conversions. */
async function rawCopy(database: Database, url: string, csv: string): Promise<number> {
  await fresh(database, `create unlogged table raw_line (${INDIR_COLUMNS.map((_, index) => `column_${index + 1} text`).join(', ')})`);
  return timed(() => promisify(execFile)('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', `\\copy ${SCHEMA}.raw_line from '${csv}' with (format text, delimiter ';', null '', header)`]));
}

async function load(database: Database, csv: string): Promise<number> {
  await fresh(database, (await registerSource('anncsu_addresses')).staging.text);
  return timed(async () => {
    const copies = new Map<string, CopyIn>();
    for (const table of Object.keys(source.tables)) copies.set(table, await database.copyIn(SCHEMA, table));
    let pending: Promise<unknown> | undefined;
    const take: Take = (table, chunk) => {
      const wait = copies.get(table)!.write(chunk);
      if (wait !== undefined) pending = pending === undefined ? wait : Promise.all([pending, wait]);
    };
    await readInto(csv, sinkOf(take, () => {
      const wait = pending;
      pending = undefined;
      return wait === undefined ? undefined : wait.then(() => undefined);
    }, () => undefined));
    await pending;
    for (const copy of copies.values()) await copy.end();
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [rows, databaseUrl] = process.argv.slice(2);
  const bench = await benchAnncsu({ ...(rows === undefined ? {} : { rows: Number(rows) }), databaseUrl: databaseUrl ?? null });
  console.log(JSON.stringify(bench, null, 2));
}
