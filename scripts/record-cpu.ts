/**
 * Compares the CPU time that several databases need to return one record with all sections: `npm run record-cpu -- URL URL…`. All databases must be on one
 * local PostgreSQL server on Linux, and must have the same content with at least two regions. The ratios are relative to the first database. The batches of the
 * databases alternate, so that other work on the machine affects all databases equally.
 */
import './help.ts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { onDatabase } from '../pipelines/db/index.ts';
import { openPostgresReader, type Reader } from '../pipelines/db/reader.ts';
import { textTable } from '../pipelines/text-table.ts';
import { median } from './bench/shared.ts';

const CASES = [1, 8].flatMap((connections) => (['one region', 'two regions in turn'] as const).map((which) => ({ connections, which })));

/** Number of records that each connection reads before the first measurement. After these records, the connection has cached the query plans. */
const WARM = 60;

interface Connection {
  readonly reader: Reader;
  readonly pid: number;
}

interface Side {
  readonly url: string;
  readonly connections: readonly Connection[];
  /** CPU time per record in milliseconds, by batch. */
  readonly ms: number[];
}

/** Returns up to 1,200 parcels of each of the two largest regions. */
async function parcelsOf(url: string): Promise<[readonly number[], readonly number[]]> {
  const rows = await onDatabase(url, 'read', (database) => database.query<{ fids: number[] }>(
    'select (array_agg(fid order by hashint4(fid)))[1:1200] as fids from core.parcel group by core.region_of(fid) order by count(*) desc limit 2',
  ));
  const [first, second] = rows.map(({ fids }) => fids);
  if (first === undefined || second === undefined) throw new Error(`${url}: expected two regions with parcels`);
  return [first, second];
}

/** Returns the CPU time in nanoseconds that a process has used since the start. */
function cpuOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
}

async function read({ reader }: Connection, fid: number): Promise<void> {
  await reader.call('select publication, head, citations, tail from api.parcel_answer($1, $2)', [fid, SECTION_NAMES]);
}

/** Opens readers of one database. Each reader has a single connection with the settings of the API server. */
async function openSide(url: string, count: number): Promise<Side> {
  const connections = await Promise.all(Array.from({ length: count }, async () => {
    const reader = await openPostgresReader(url, { connections: 1, statementTimeoutMs: 60_000 });
    return { reader, pid: (await reader.call<{ pid: number }>('select pg_backend_pid() as pid', [])).pid };
  }));
  return { url, connections, ms: [] };
}

async function batch({ connections, ms }: Side, fidAt: (connection: number, turn: number) => number, size: number): Promise<void> {
  const before = connections.map(({ pid }) => cpuOf(pid));
  await Promise.all(connections.map(async (connection, index) => {
    for (let turn = 0; turn < size; turn += 1) await read(connection, fidAt(index, turn));
  }));
  const used = connections.reduce((sum, { pid }, index) => sum + cpuOf(pid) - before[index]!, 0);
  ms.push(used / connections.length / size / 1e6);
}

const { values, positionals: urls } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '24' }, batch: { type: 'string', default: '60' } } });
const [rounds, size] = [Number(values.rounds), Number(values.batch)];
const [one, other] = await parcelsOf(urls[0]!);
const rows: (string | number)[][] = [];
for (const { connections, which } of CASES) {
  const fids = which === 'one region' ? one : one.flatMap((fid, index) => [fid, other[index % other.length]!]);
  const sides = await Promise.all(urls.map((url) => openSide(url, connections)));
  for (const side of sides) await batch(side, (index, turn) => fids[(index * 7 + turn) % fids.length]!, WARM);
  for (const side of sides) side.ms.length = 0;
  for (let round = 0; round < rounds; round += 1) {
    const fidAt = (index: number, turn: number): number => fids[(round * size + index * 7 + turn) % fids.length]!;
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await batch(side, fidAt, size);
  }
  const [base] = sides;
  for (const { url, ms } of sides) {
    const ratios = ms.map((each, round) => each / base!.ms[round]!);
    const [middle, least] = [median(ms), Math.min(...ms)];
    const numbers = [middle, least, middle / median(base!.ms), least / Math.min(...base!.ms), median(ratios)];
    rows.push([connections, which, new URL(url).pathname.slice(1), ...numbers.map((each) => each.toFixed(3))]);
  }
  await Promise.all(sides.flatMap((side) => side.connections.map(({ reader }) => reader.close())));
}
process.stdout.write(`${textTable(rows, ['connections', 'parcels', 'database', 'median, ms', 'minimum, ms', 'ratio of medians', 'of minima', 'median of ratios'])}\n`);
