/**
 * Measures a whole load. `mappale refresh` reads the files of a synthetic region about as dense as Italy, with all sources, into a new database. It runs in a
 * separate process, so that the CPU time and memory of Node are its own. The times of steps come from the ledger, the times of tables from the program's log.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../pipelines/config.ts';
import { unitName } from '../../pipelines/contract/regions.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { onDatabase, type Fresh } from './fresh.ts';
import { rounded, stepOf, type Measurement, type Step } from './history.ts';
import { watchServer } from './server-watch.ts';

const SEED = 1;

/** Files of synthetic regions, written once for each size, in a folder that is removed at the end. */
export class SyntheticFiles {
  readonly #written = new Map<number, string>();
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async during<T>(work: (files: SyntheticFiles) => Promise<T>): Promise<T> {
    const root = await mkdtemp(join(tmpdir(), 'mappale-bench-'));
    try {
      return await work(new SyntheticFiles(root));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
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

/** Loads a region into an empty database. @returns the measurement; the database keeps the region */
export async function measureLoad({ url, name, server }: Fresh, files: SyntheticFiles, parcels: number): Promise<Measurement> {
  const folder = await files.of(parcels);
  await runProgram(['migrate'], { DATABASE_URL: url });
  const startedAt = performance.now();
  const { result, use } = await watchServer(server, name, async () => {
    const ran = await runProgram(['refresh', '--data', folder, '--force'], { DATABASE_URL: url });
    return { ...ran, seconds: (performance.now() - startedAt) / 1000 };
  });
  return onDatabase(url, async (database) => {
    const { published, after } = await one<{ published: number; after: number }>(database, `
      select
        pg_database_size(current_database())::float8 as after,
        (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class where relkind = 'r' and relnamespace in ('core'::regnamespace, 'section'::regnamespace))::float8 as published`);
    const { parallel } = await one<{ parallel: number }>(database, "select (arguments ->> 'parallel')::int4 as parallel from ledger.run where command = 'refresh'");
    return {
      size: parcels,
      seconds: rounded(result.seconds),
      steps: [stepOf('all', result.seconds, parcels), ...(await stepsOf(database, result.tables))],
      cpuSeconds: { node: rounded(result.cpuSeconds), server: use.cpuSeconds === null ? null : rounded(use.cpuSeconds) },
      peakMiB: { node: Math.round(result.peakMiB), server: use.peakMiB },
      walBytes: use.walBytes,
      diskBytes: { published, after, peak: Math.max(use.peakDiskBytes, after) },
      figures: { parallel },
    };
  });
}

/** Returns the steps of the ledger, summed by source, by region and for Italy, and then the tables. */
async function stepsOf(database: Database, tables: ReadonlyMap<string, number>): Promise<Step[]> {
  const ran = await database.query<{ step: string; subject: string; seconds: number }>(
    'select step, subject, extract(epoch from ended_at - started_at)::float8 as seconds from ledger.step where ended_at is not null order by step_id',
  );
  const releases = await database.query<{ source: string; records: number; rows: number }>(
    `select source_id as source, sum(records)::float8 as records, sum((select sum(value::int8) from jsonb_each_text(layers)))::float8 as rows
     from ledger.release where state = 'loaded' group by source_id`,
  );
  const built = new Map((await database.query<{ relation: string; rows: number }>(
    "select relation, sum(rows)::float8 as rows from ledger.publication_table join ledger.publication using (publication_id) where state = 'current' group by relation",
  )).map(({ relation, rows }) => [relation, rows]));
  const found = new Map<string, { seconds: number; readonly rows: number | null }>();
  const add = (name: string, seconds: number, rows: number | null): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, { seconds, rows });
    else known.seconds += seconds;
  };
  for (const { step, subject, seconds } of ran) {
    const [source] = subject.split(' ');
    const release = releases.find((each) => each.source === source);
    if (release !== undefined) add(`${step} ${release.source}`, seconds, step === 'stage' ? release.records : release.rows);
    else if (subject === unitName(0)) add(`${step} of Italy`, seconds, null);
    else add(step, seconds, step === 'recover' ? null : built.get('core.parcel') ?? null);
  }
  for (const [relation, seconds] of tables) add(relation, seconds, built.get(relation) ?? null);
  return [...found].map(([name, { seconds, rows }]) => stepOf(name, seconds, rows));
}

export interface Ran {
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  /** Seconds of each table that was built. */
  readonly tables: ReadonlyMap<string, number>;
}

/** Runs the program in a separate process, which reports its resource usage at its end. @throws Error with the last lines of its output */
export async function runProgram(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Ran> {
  const preload = pathToFileURL(join(ROOT, 'scripts', 'bench', 'usage.mjs')).href;
  const program = join(ROOT, 'pipelines', 'mappale.mjs');
  const given = ['MAPPALE_LOG=json', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)];
  const child = spawn('/usr/bin/env', [...given, process.execPath, '--import', preload, program, ...args], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const tables = new Map<string, number>();
  const said: string[] = [];
  const used = text(child.stdio[3] as Readable);
  for await (const line of createInterface({ input: child.stdio[2] as Readable })) {
    said.push(line);
    const { relation, seconds } = factsOf(line);
    if (relation !== undefined && seconds !== undefined) tables.set(relation, (tables.get(relation) ?? 0) + seconds);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`mappale ${args.join(' ')} ended with ${code}:\n${said.slice(-20).join('\n')}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await used) as NodeJS.ResourceUsage;
  return { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMiB: maxRSS / 1024, tables };
}

/** Parses a line of the log. Lines that are not JSON come from other programs. */
function factsOf(line: string): { readonly relation?: string; readonly seconds?: number } {
  return line.startsWith('{') ? JSON.parse(line) as { relation?: string; seconds?: number } : {};
}
