/**
 * Measures `mappale export` in each format, with one process per format. Also measures two runs of psql's `\copy` from a table with the same columns and rows,
 * without and with geometries.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { ident, onDatabase } from '../../pipelines/db/index.ts';
import { columnsOf } from '../../pipelines/deliver/columns.ts';
import type { Exported } from '../../pipelines/deliver/export.ts';
import { FORMATS } from '../../pipelines/deliver/formats.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { ofSteps, rounded, stepOf } from './history.ts';
import { execute, inFolder, isInstalled, onPublishedRegion, runProgram, say, secondsOf, thousands, type Bench, type Result } from './shared.ts';

const PARCELS = 200_000;

/** Slug of the synthetic region. */
const REGION = 'molise';

/** Queries of the `\copy` exports that the benchmark compares with mappale's exports, without and with geometries. */
const PEERS = {
  '\\copy': 'select e.* from bench.exported e',
  '\\copy with geometries': 'select e.*, p.geom from bench.exported e join core.parcel p using (fid)',
} as const;

interface Measured {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  /** CPU time and memory of the export's process; null for psql. */
  readonly cpuSeconds: number | null;
  readonly peakMiB: number | null;
}

export const run: Bench = (databaseUrl, [parcels = PARCELS]) =>
  onPublishedRegion(databaseUrl, parcels, ({ url }) => inFolder(async (folder) => [await measure(url, folder)]));

async function measure(url: string, folder: string): Promise<Result> {
  const measured: Measured[] = [];
  let [rows, columns] = [0, 0];
  for (const [name, { ending }] of Object.entries(FORMATS)) {
    const out = join(folder, `${name}.${ending}`);
    const { stdout, cpuSeconds, peakMiB } = await runProgram(['export', REGION, '--format', name, '--out', out, '--json'], { DATABASE_URL: url });
    const exported = JSON.parse(stdout) as Exported;
    rows = exported.parcels;
    columns = Math.max(columns, exported.columns);
    measured.push({ name, seconds: exported.seconds, bytes: exported.bytes, cpuSeconds, peakMiB });
  }
  if (await isInstalled('psql')) measured.push(...await copyByPsql(url, folder));
  say(`export: ${thousands(rows)} parcels, ${columns} columns`);
  say(textTable(
    measured.map(({ name, seconds, bytes, cpuSeconds, peakMiB }) => [
      name, rounded(seconds), Math.round(rows / seconds), rounded(bytes / 1e6), rounded(bytes / 1e6 / seconds),
      cpuSeconds === null ? null : rounded(cpuSeconds), peakMiB === null ? null : Math.round(peakMiB),
    ]),
    ['', 's', 'rows/s', 'MB', 'MB/s', 'CPU of Node, s', 'memory of Node, MiB'],
  ));
  return {
    bench: 'export',
    ...ofSteps(rows, measured.map(({ name, seconds }) => stepOf(name, seconds, rows)), Object.fromEntries([
      ['columns', columns], ...measured.flatMap(({ name, seconds, bytes }) => [[`${name}: bytes`, bytes], [`${name}: MB/s`, rounded(bytes / 1e6 / seconds)]]),
    ])),
    peakMiB: { node: Math.max(...measured.map(({ peakMiB }) => Math.round(peakMiB ?? 0))), server: null },
  };
}

/** Loads the exported CSV into a table, without timing, and measures copies of the table to files. */
async function copyByPsql(url: string, folder: string): Promise<Measured[]> {
  const psql = (command: string): Promise<unknown> => execute('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', command]);
  await onDatabase(url, 'write', async (database) => {
    await database.query('create schema bench');
    await database.query(`create unlogged table bench.exported (${columnsOf(SECTION_NAMES).map(({ name, type }) => `${ident(name)} ${type}`).join(', ')})`);
    await psql(`\\copy bench.exported from '${join(folder, 'csv.csv')}' with (format csv, header)`);
    await database.query('analyze bench.exported');
  });
  const measured: Measured[] = [];
  for (const [name, query] of Object.entries(PEERS)) {
    const out = join(folder, 'copied.csv');
    const seconds = await secondsOf(() => psql(`\\copy (${query}) to '${out}' with (format csv, header)`));
    measured.push({ name, seconds, bytes: (await stat(out)).size, cpuSeconds: null, peakMiB: null });
  }
  return measured;
}
