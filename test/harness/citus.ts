/**
 * Creates databases on a Citus cluster. Each database is new on all nodes and dropped afterwards. Uses the cluster of `MAPPALE_TEST_CITUS_URL`, or starts a
 * coordinator and two workers if the script `shared/citus/cluster.sh` is next to the checkout.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '../../pipelines/db/index.ts';
import { testEnvironment } from './environment.ts';
import { answers, databaseUrl } from './postgres.ts';

const run = promisify(execFile);

const COPIES_AT_ONCE = fileURLToPath(new URL('../../../shared/citus/', import.meta.url));
const CONTROL = '/usr/share/postgresql/15/extension/citus.control';
const BIN = '/usr/lib/postgresql/15/bin';

/** Number of shards of each distributed table in tests. */
export const SHARDS = 4;

/** Returns the reason why tests cannot use a cluster, or null if a cluster is available or can be started. */
export function citusMissing(): string | null {
  const { citusUrl, engines } = testEnvironment();
  if (!engines.includes('postgres')) return 'left out by MAPPALE_TEST_ENGINES';
  if (citusUrl !== null) return null;
  if (!existsSync(join(COPIES_AT_ONCE, 'cluster.sh'))) return 'no MAPPALE_TEST_CITUS_URL';
  if (process.getuid?.() !== 0) return 'MAPPALE_TEST_CITUS_URL is not set, and only root can start a cluster';
  return existsSync(CONTROL) ? null : 'Citus is not installed';
}

async function on<T extends Record<string, unknown>>(url: string, ...statements: readonly string[]): Promise<T[]> {
  const database = await openDatabase(url);
  try {
    let rows: T[] = [];
    for (const each of statements) rows = await database.query<T>(each);
    return rows;
  } finally {
    await database.close();
  }
}

interface Node {
  readonly host: string;
  readonly port: number;
  readonly coordinator: boolean;
}

export class Citus {
  readonly #url: string;
  readonly #nodes: readonly Node[];
  readonly #folder: string | null;
  readonly #made: string[] = [];

  private constructor(url: string, nodes: readonly Node[], folder: string | null) {
    this.#url = url;
    this.#nodes = nodes;
    this.#folder = folder;
  }

  static async start(): Promise<Citus> {
    const { citusUrl } = testEnvironment();
    let folder: string | null = null;
    let url = citusUrl;
    if (url === null) {
      folder = await mkdtemp(join(tmpdir(), 'mappale-citus-'));
      await chmod(folder, 0o755);
      url = (await run(join(COPIES_AT_ONCE, 'cluster.sh'), ['start', join(folder, 'cluster')])).stdout.trim();
    }
    const nodes = await on<Node & Record<string, unknown>>(url, 'select nodename as host, nodeport as port, groupid = 0 as coordinator from pg_dist_node order by groupid');
    return new Citus(url, nodes, folder);
  }

  #urlOf({ host, port }: Node, database: string): string {
    const url = new URL(databaseUrl(this.#url, database));
    url.host = `${host}:${port}`;
    return url.href;
  }

  get #coordinator(): Node {
    return this.#nodes.find(({ coordinator }) => coordinator)!;
  }

  /** Returns the URL of the same database on each worker. */
  workers(url: string): string[] {
    return this.#nodes.filter(({ coordinator }) => !coordinator).map((node) => this.#urlOf(node, new URL(url).pathname.slice(1)));
  }

  /** Creates a new database on all nodes. @returns the URL of the database on the coordinator */
  async database(): Promise<string> {
    const name = this.#name();
    for (const node of this.#nodes) {
      await on(this.#urlOf(node, 'postgres'), `create database ${name}`);
      await on(this.#urlOf(node, name), 'create extension citus', 'create extension postgis');
    }
    const url = this.#urlOf(this.#coordinator, name);
    const [first, ...others] = [this.#coordinator, ...this.#nodes.filter(({ coordinator }) => !coordinator)] as const;
    await on(url,
      `select citus_set_coordinator_host('${first.host}', ${first.port})`,
      ...others.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
      `alter database ${name} set citus.shard_count = ${SHARDS}`);
    return url;
  }

  /** Creates a new database without Citus on the coordinator's server, for comparison. */
  async plain(): Promise<string> {
    const name = this.#name();
    await on(this.#urlOf(this.#coordinator, 'postgres'), `create database ${name}`);
    return this.#urlOf(this.#coordinator, name);
  }

  /** Drops the databases that were created so far. If this class started the cluster, also drops the role on all nodes. */
  async forgetRole(role: string): Promise<void> {
    await this.#dropAll();
    if (this.#folder !== null) for (const node of this.#nodes) await on(this.#urlOf(node, 'postgres'), `drop role ${role}`);
  }

  #name(): string {
    const name = `mappale_test_citus_${process.pid}_${this.#made.length}`;
    this.#made.push(name);
    return name;
  }

  /** Kills a worker as in a crash. @returns a function that starts the worker again */
  async killWorker(): Promise<() => Promise<void>> {
    const worker = this.#nodes.find(({ coordinator }) => !coordinator)!;
    const url = this.#urlOf(worker, 'postgres');
    const [{ folder } = { folder: '' }] = await on<{ folder: string }>(url, "select current_setting('data_directory') as folder");
    process.kill(Number((await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0]), 'SIGQUIT');
    return async () => {
      await run('su', ['postgres', '-c', `${BIN}/pg_ctl -D '${folder}' -w -l '${folder}.log' restart`]);
      await answers(url, () => null);
    };
  }

  async #dropAll(): Promise<void> {
    // The coordinator comes last, because it holds connections to the workers' databases.
    for (const name of this.#made.splice(0)) for (const node of [...this.#nodes].reverse()) await on(this.#urlOf(node, 'postgres'), `drop database if exists ${name} with (force)`);
  }

  async remove(): Promise<void> {
    if (this.#folder !== null) {
      await run(join(COPIES_AT_ONCE, 'cluster.sh'), ['stop', join(this.#folder, 'cluster')]);
      await rm(this.#folder, { recursive: true, force: true });
      return;
    }
    await this.#dropAll();
  }
}
