/**
 * Measures how fast addresses are read from a synthetic INDIR file. Compares the source's reader alone, the stage step, and psql's `\copy` into text columns.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { registerSource } from '../../pipelines/contract/registry.ts';
import type { MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { onDatabase } from '../../pipelines/db/index.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { INDIR_COLUMNS } from '../../sources/anncsu_addresses/schema.ts';
import source from '../../sources/anncsu_addresses/source.ts';
import { ofSteps, rateOf } from './history.ts';
import { execute, inFolder, isInstalled, median, megabytes, number, onFreshDatabase, percent, say, secondsOf, thousands, type Bench } from './shared.ts';
import { stageInChild } from './stage.ts';

/** Default number of addresses. The national file has 27,400,000 addresses. */
const ROWS = 1_000_000;
const REPEATS = 3;
const FILE = 'INDIR_ITA_20260602.csv';
const STREET_NAMES = ['ROMA', "DELL'ORSO", 'XX SETTEMBRE', 'DEI MONTI FINTI', 'SAN NESSUNO', 'GIUSEPPE GARIBALDI', 'DELLE ACACIE ALTE', "SANT'ASSENTE"];
const CHUNK = { highWaterMark: 1_048_576 };

export const run: Bench = (databaseUrl, [rows = ROWS]) => inFolder((folder) => onFreshDatabase(databaseUrl, async ({ url }) => {
  const files = join(folder, 'files');
  await mkdir(files);
  const [csv, zip] = [join(files, FILE), join(folder, FILE.replace(/csv$/, 'zip'))];
  await pipeline(indirLines(rows), createWriteStream(csv, CHUNK));
  await writeZip(zip, [[FILE, createReadStream(csv, CHUNK), { level: 6 }]]);
  const readers: [number, number] = [Infinity, Infinity];
  // Runs the readers in turn and keeps the fastest time of each, because the first runs also compile the code.
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const [index, path] of [csv, zip].entries()) readers[index] = Math.min(readers[index]!, await readerSeconds(path, rows));
  }
  const [plain, zipped] = [rows / readers[0], rows / readers[1]];
  await rm(zip);
  await onDatabase(url, 'write', async (database) => migrate(database, [await registerSource('anncsu_addresses')]));
  const hasPsql = await isInstalled('psql');
  const [staged, copied, peaks]: [number[], number[], number[]] = [[], [], []];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    if (hasPsql) copied.push(await rawCopy(url, csv));
    const { seconds, rows: found, peakMiB } = await stageInChild({ url, source: 'anncsu_addresses', table: 'raw_access', files });
    if (found !== rows) throw new Error(`expected ${rows} rows, found ${found}`);
    staged.push(seconds);
    peaks.push(peakMiB);
  }
  const [stageRate, copyRate] = [rows / median(staged), hasPsql ? rows / median(copied) : null];
  say(`addresses: ${thousands(rows)} rows, ${megabytes((await stat(csv)).size)}`);
  say(`  reader alone         ${thousands(plain)} rows/s, from a zip ${thousands(zipped)} rows/s`);
  say(`  stage: file to table ${thousands(stageRate)} rows/s, peak memory ${number(Math.max(...peaks))} MiB`);
  say(`  \\copy of psql        ${thousands(copyRate)} rows/s; stage reaches ${percent(stageRate, copyRate)}`);
  const steps = [rateOf('reader, plain', plain), rateOf('reader, zipped', zipped), rateOf('stage', stageRate), rateOf('\\copy', copyRate)];
  return [{ bench: 'addresses', ...ofSteps(rows, steps), peakMiB: { node: Math.round(Math.max(...peaks)), server: null } }];
}));

/**
 * Yields the lines of an INDIR file. Each street has 23 house numbers. Four fifths of the house numbers have coordinates, as in the national file of September
 * 2026.
 */
function* indirLines(rows: number): Generator<string> {
  const random = randomOf('bench anncsu');
  yield `${INDIR_COLUMNS.join(';')}\n`;
  let street = '';
  for (let row = 0; row < rows; row += 1) {
    if (row % 23 === 0) {
      const index = row / 23;
      street = `Z${String(1 + (Math.floor(index / 400) % 999)).padStart(3, '0')};094901;${9_000_000 + index};;VIA ${random.pick(STREET_NAMES)} ${index % 977};;;`;
    }
    const exponent = random.below(8) === 0 ? random.pick(['A', 'BIS', '2']) : '';
    const decimal = (value: number): string => String(value).replace('.', ',');
    const point = random.below(5) === 0 ? ';;;' : `${decimal(14 + random.below(1e6) / 1e6)};${decimal(41 + random.below(1e7) / 1e7)};0;4`;
    yield `${street};${100_000_000 + row};;${1 + (row % 23) * 2};${exponent};;;;${point}\n`;
  }
}

/** Returns the seconds that the reader needs to read a file into a sink that discards the rows. */
async function readerSeconds(path: string, rows: number): Promise<number> {
  const { size } = await stat(path);
  return secondsOf(() => source.read({
    path, name: basename(path), role: 'INDIR', vintage: '2026-06-02', region: null, size,
    open: () => createReadStream(path, CHUNK),
    zip: () => ZipArchive.open(path),
  }, discardingSink(rows)));
}

/** Returns a sink that counts and discards rows. The sink throws an error for a reject, or if the number of rows is not the expected number. */
function discardingSink(expected: number): Sink {
  const writers = new Map(Object.entries(source.tables).map(([table, columns]) => [table, new RowWriter(columns, () => undefined)]));
  const member = async (): Promise<MemberSink> => ({
    memberId: 1,
    writer: (table) => writers.get(table)!,
    row: (table, position, values) => writers.get(table)!.row(position, values),
    reject: ({ code, position, message }) => {
      throw new Error(`expected no rejects, found ${code} in line ${position}: ${message}`);
    },
    duplicate: () => undefined,
    added: () => undefined,
    drain: () => undefined,
    async close() {
      const rows = [...writers.values()].reduce((sum, writer) => sum + writer.rows, 0);
      if (rows !== expected) throw new Error(`expected ${expected} rows, found ${rows}`);
    },
  });
  return { reuse: async () => false, progress: () => undefined, member };
}

/** Copies the file into text columns with psql, without checks or conversions. @returns the time in seconds */
function rawCopy(url: string, csv: string): Promise<number> {
  return onDatabase(url, 'write', async (database) => {
    await database.query(`create unlogged table raw_line (${INDIR_COLUMNS.map((_, index) => `column_${index + 1} text`).join(', ')})`);
    const seconds = await secondsOf(() => execute('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', `\\copy raw_line from '${csv}' with (format text, delimiter ';', null '', header)`]));
    await database.query('drop table raw_line');
    return seconds;
  });
}
