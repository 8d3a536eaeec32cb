/** Provides functions for several benchmarks: printing, timing, databases, the program and the API server as child processes, and ogr2ogr. */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { hashOf, SCOPES } from '../../api/access.ts';
import { ROOT } from '../../pipelines/config.ts';
import { onDatabase, one, openDatabase, type Database } from '../../pipelines/db/index.ts';
import type { Measurement } from './history.ts';

export const execute = promisify(execFile);

/** A measurement, and the name of the benchmark in the history. */
export type Result = Measurement & { readonly bench: string };

/**
 * Runs a benchmark, and prints and returns the measurements. `sizes` are numbers of parcels, rows, points, nights or seconds. Without sizes, a benchmark uses
 * default sizes.
 */
export type Bench = (databaseUrl: string, sizes: readonly number[]) => Promise<readonly Result[]>;

// --- Printing --------------------------------------------------------------------------------------------------------

const NOT_MEASURED = 'not measured';

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function number(value: number | null, digits = 0): string {
  return value === null ? NOT_MEASURED : value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

export function thousands(value: number | null): string {
  return value === null ? NOT_MEASURED : `${number(value / 1000)} k`;
}

export function megabytes(bytes: number | null): string {
  return bytes === null ? NOT_MEASURED : `${number(bytes / 1e6, bytes < 1e7 ? 1 : 0)} MB`;
}

export function percent(part: number | null, whole: number | null): string {
  return part === null || whole === null ? NOT_MEASURED : `${((part / whole) * 100).toFixed(0)} %`;
}

// --- Timing ----------------------------------------------------------------------------------------------------------

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns a percentile of values. @param share share of the smaller values, such as 0.95 for the 95th percentile */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

// --- Folders and databases -------------------------------------------------------------------------------------------

/** Creates a temporary folder, runs work with the folder and removes the folder. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Fresh {
  readonly url: string;
  readonly name: string;
  /** A connection to the database in DATABASE_URL, which the benchmarks do not change. */
  readonly server: Database;
}

/** Creates a database with PostGIS on the same server, runs work in the database and drops the database. */
export async function onFreshDatabase<T>(databaseUrl: string, work: (fresh: Fresh) => Promise<T>): Promise<T> {
  const name = `mappale_bench_${process.pid}`;
  const server = await openDatabase(databaseUrl);
  try {
    await server.query(`create database ${name}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    await onDatabase(url.href, 'write', (database) => database.query('create extension postgis'));
    return await work({ url: url.href, name, server });
  } finally {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.close();
  }
}

/**
 * Does the work that a server does by itself between two nights: vacuum, statistics and a checkpoint. Leaves out the checkpoint if the role is not a superuser.
 */
export async function settle(database: Database): Promise<void> {
  await database.query('vacuum (analyze)');
  const { allowed } = await one<{ allowed: boolean }>(database, 'select rolsuper as allowed from pg_roles where rolname = current_user');
  if (allowed) await database.query('checkpoint');
}

// --- The program -----------------------------------------------------------------------------------------------------

/** Folder of the compiled program, which `compileProgram` writes. */
export const COMPILED = join(ROOT, '.mappale', 'bench');
const PROGRAM = join(COMPILED, 'pipelines', 'mappale.mjs');

/** Compiles the program that the benchmarks run, because users run the compiled program. */
export function compileProgram(): void {
  execFileSync('npm', ['run', '--silent', 'compile', '--', COMPILED], { cwd: ROOT, stdio: 'inherit' });
}

const SEED = 1;

/** Resource usage of a process, from getrusage. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

export interface Ran extends Usage {
  readonly stdout: string;
  /** Build time of each table in seconds, from the log. */
  readonly tables: ReadonlyMap<string, number>;
}

/** Starts the program in a child process. At exit, the child process writes the resource usage to file descriptor 3. */
function start(args: readonly string[], settings: Readonly<Record<string, string>>, stderr: 'pipe' | 'ignore'): ChildProcess {
  const preload = pathToFileURL(join(ROOT, 'scripts', 'bench', 'usage.mjs')).href;
  const given = Object.entries({ MAPPALE_LOG: 'json', ...settings }).map(([name, value]) => `${name}=${value}`);
  return spawn('/usr/bin/env', [...given, process.execPath, '--import', preload, PROGRAM, ...args], { stdio: ['ignore', 'pipe', stderr, 'pipe'] });
}

function usageIn(json: string): Usage {
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(json) as NodeJS.ResourceUsage;
  return { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMiB: maxRSS / 1024 };
}

/** Runs the program in a child process. @throws Error with the last lines of the log if the program fails */
export async function runProgram(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Ran> {
  const child = start(args, settings, 'pipe');
  const ended = once(child, 'close') as Promise<[number | null]>;
  const tables = new Map<string, number>();
  const log: string[] = [];
  const [used, stdout] = [text(child.stdio[3] as Readable), text(child.stdout!)];
  for await (const line of createInterface({ input: child.stderr! })) {
    log.push(line);
    const { relation, seconds } = factsOf(line);
    if (relation !== undefined && seconds !== undefined) tables.set(relation, (tables.get(relation) ?? 0) + seconds);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`mappale ${args.join(' ')} ended with ${code}:\n${log.slice(-20).join('\n')}`);
  return { ...usageIn(await used), stdout: await stdout, tables };
}

/** Parses a line of the log. Returns an empty object for a line that is not JSON, because such a line comes from another program. */
function factsOf(line: string): { readonly relation?: string; readonly seconds?: number } {
  return line.startsWith('{') ? JSON.parse(line) as { relation?: string; seconds?: number } : {};
}

/** Writes the files of synthetic regions. Writes the files of each size only once. */
export class SyntheticFiles {
  readonly #written = new Map<number, string>();
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static during<T>(work: (files: SyntheticFiles) => Promise<T>): Promise<T> {
    return inFolder((root) => work(new SyntheticFiles(root)));
  }

  /** @returns the folder */
  async of(parcels: number): Promise<string> {
    const known = this.#written.get(parcels);
    if (known !== undefined) return known;
    const folder = join(this.#root, `${parcels}-${SEED}`);
    await mkdir(folder);
    await runProgram(['synth', '--out', folder, '--parcels', String(parcels), '--seed', String(SEED)], {});
    this.#written.set(parcels, folder);
    return folder;
  }
}

/** Creates a database with a published synthetic region, runs work in the database and drops the database. */
export function onPublishedRegion<T>(databaseUrl: string, parcels: number, work: (fresh: Fresh) => Promise<T>): Promise<T> {
  return SyntheticFiles.during((files) => onFreshDatabase(databaseUrl, async (fresh) => {
    await runProgram(['migrate'], { DATABASE_URL: fresh.url });
    await runProgram(['refresh', '--data', await files.of(parcels), '--force'], { DATABASE_URL: fresh.url });
    await onDatabase(fresh.url, 'write', (database) => database.query('analyze'));
    return work(fresh);
  }));
}

// --- The server ------------------------------------------------------------------------------------------------------

export interface RunningServer {
  readonly url: string;
  /** Stops the API server. @returns the resource usage of the server's process since the start */
  stop(): Promise<Usage>;
}

/** Starts `mappale serve` in a child process. @throws Error if the server prints no address */
export async function startServer(databaseUrl: string): Promise<RunningServer> {
  const child = start(['serve', '--port', '0'], { DATABASE_URL: databaseUrl }, 'ignore');
  const lines = createInterface({ input: child.stdout! });
  const used = text(child.stdio[3] as Readable);
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [''])])) as [string];
  if (!line.startsWith('http')) throw new Error('the server did not start. Run mappale serve to see the error.');
  return {
    url: new URL(line).origin,
    async stop() {
      child.kill('SIGTERM');
      return usageIn(await used);
    },
  };
}

/**
 * Creates 1,000 tokens with every scope. Sets the number of used requests of each token to a negative number, so that no benchmark reaches the hourly limit.
 */
export async function makeKeys(database: Database): Promise<string[]> {
  const keys = Array.from({ length: 1_000 }, (_, index) => `mpl_${String(index).padStart(43, '0')}`);
  await database.query(
    `insert into access.token (name, sha256, scopes)
     select 'bench', decode(h, 'hex'), $2 from unnest($1::text[]) as k (h) on conflict (sha256) do nothing`,
    [keys.map(hashOf), SCOPES],
  );
  await database.query("insert into access.rate_window (token_id, started_at, used) select token_id, now(), -10000000 from access.token where name = 'bench'");
  return keys;
}

// --- ogr2ogr ---------------------------------------------------------------------------------------------------------

export function isInstalled(program: string): Promise<boolean> {
  return execute(program, ['--version']).then(() => true, () => false);
}

/** Copies a file with ogr2ogr into unlogged tables without an index, then drops the schema of these tables. @returns seconds */
export async function ogr2ogr(database: Database, databaseUrl: string, path: string, more: readonly string[]): Promise<number> {
  await database.query('create schema ogr');
  const seconds = await secondsOf(() => execute('ogr2ogr', [
    '-f', 'PostgreSQL', ogrTarget(databaseUrl), path, ...more, '-lco', 'SCHEMA=ogr', '-lco', 'UNLOGGED=ON', '-lco', 'SPATIAL_INDEX=NONE', '--config', 'PG_USE_COPY', 'YES',
  ])).catch((error: unknown) => {
    // Truncates the message, because ogr2ogr prints whole geometries.
    throw new Error(`ogr2ogr: ${String(error).slice(0, 500)}`);
  });
  await database.query('drop schema ogr cascade');
  return seconds;
}

/** Returns the connection string of the database for ogr2ogr. An empty password is left out, because libpq would read the next word as the password. */
function ogrTarget(databaseUrl: string): string {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  return `PG:host=${hostname} port=${port || '5432'} user=${decodeURIComponent(username)}${secret} dbname=${pathname.slice(1)}`;
}
