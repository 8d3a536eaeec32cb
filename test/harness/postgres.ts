/**
 * Finds a PostgreSQL with PostGIS for the tests. If `TEST_DATABASE_URL` is set, only that server is tried. Otherwise the tests use a container. If no container
 * can be used, the tests use a private cluster from the binaries on this machine. The cluster is removed after the run.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, open, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '../../pipelines/db/index.ts';
import type { TestEnvironment } from './environment.ts';

const run = promisify(execFile);

/** Oldest versions that the program supports. */
const OLDEST = { postgres: 15, postgis: [3, 3] } as const;

/**
 * Extensions that are created in the template, because creating them is the slow part of a first migration. A server that lacks one of these extensions is
 * not used.
 */
export const EXTENSIONS = ['postgis', 'pg_trgm', 'unaccent', 'fuzzystrmatch'] as const;

/** Settings of a server that the tests start. Test databases need not survive a crash. */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'shared_buffers=256MB'];

/** A server on which databases may be created. */
export interface TestServer {
  /** URL that is only used to log in. Tests do not write to its database. */
  readonly url: string;
  /** A database with the extensions, from which test databases are copied. */
  readonly template: string;
  /** Prefix of all databases of this run: `mappale_test_1a2b3c`. */
  readonly prefix: string;
  /** Description of the server, printed once per test run. */
  readonly description: string;
  stop(): Promise<void>;
}

export interface Search {
  /** Null if no server was found. */
  readonly server: TestServer | null;
  /** Options that were tried before, each with the reason why it failed. */
  readonly refused: readonly string[];
}

/** A server that was found but not checked yet. */
interface Candidate {
  readonly url: string;
  readonly description: string;
  stop(): Promise<void>;
}

/** Looks for a server, or starts a server if possible. */
export async function findPostgres(environment: TestEnvironment): Promise<Search> {
  const refused: string[] = [];
  if (environment.databaseUrl !== null) {
    // If a server is named, only that server is tried. A fallback to a different server would hide that the named server does not answer.
    const given = { url: environment.databaseUrl, description: 'the server of TEST_DATABASE_URL', stop: async () => undefined };
    try {
      return { server: await prepare(given), refused };
    } catch (error) {
      return { server: null, refused: [`TEST_DATABASE_URL: ${reason(error)}`] };
    }
  }
  refused.push('TEST_DATABASE_URL: not set');
  for (const start of [() => startContainer(environment.image), ...(await clusterStarts(environment.path, refused))]) {
    let candidate: Candidate | null = null;
    try {
      candidate = await start();
      return { server: await prepare(candidate), refused };
    } catch (error) {
      refused.push(reason(error));
      await candidate?.stop();
    }
  }
  return { server: null, refused };
}

/** Checks versions and creates the template. */
async function prepare(candidate: Candidate): Promise<TestServer> {
  const prefix = `mappale_test_${randomBytes(3).toString('hex')}`;
  const template = `${prefix}_template`;
  const admin = await openDatabase(candidate.url);
  try {
    const version = Number((await admin.query<{ server_version_num: string }>('show server_version_num'))[0]?.server_version_num);
    const postgres = Math.trunc(version / 10_000);
    if (postgres < OLDEST.postgres) throw new Error(`${candidate.description}: expected PostgreSQL ≥ ${OLDEST.postgres}, found ${postgres}`);
    // Italian sorting differs from the byte order of the embedded database. Tests therefore detect results that depend on the collation.
    let collation = 'collation it-IT';
    try {
      await admin.query(`create database ${template} template template0 encoding 'UTF8' locale_provider icu icu_locale 'it-IT'`);
    } catch {
      collation = 'collation of the server';
      await admin.query(`create database ${template}`);
    }
    const inside = await openDatabase(databaseUrl(candidate.url, template));
    let postgis: string;
    try {
      for (const extension of EXTENSIONS) await inside.query(`create extension if not exists ${extension}`);
      postgis = (await inside.query<{ version: string }>('select postgis_lib_version() as version'))[0]?.version ?? '';
    } finally {
      await inside.close();
    }
    const [major = 0, minor = 0] = postgis.split('.').map(Number);
    if (major < OLDEST.postgis[0] || (major === OLDEST.postgis[0] && minor < OLDEST.postgis[1])) {
      throw new Error(`${candidate.description}: expected PostGIS ≥ ${OLDEST.postgis.join('.')}, found ${postgis}`);
    }
    return {
      url: candidate.url,
      template,
      prefix,
      description: `${candidate.description}, PostgreSQL ${postgres}, PostGIS ${postgis}, ${collation}`,
      stop: async () => {
        await dropAll(candidate.url, prefix);
        await candidate.stop();
      },
    };
  } catch (error) {
    await admin.query(`drop database if exists ${template}`).catch(() => undefined);
    throw error;
  } finally {
    await admin.close();
  }
}

async function dropAll(url: string, prefix: string): Promise<void> {
  const admin = await openDatabase(url);
  try {
    const left = await admin.query<{ datname: string }>('select datname from pg_database where starts_with(datname, $1)', [prefix]);
    for (const { datname } of left) await admin.query(`drop database if exists ${datname} with (force)`);
  } finally {
    await admin.close();
  }
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n').slice(0, 3).join(' ');
}

// --- A container ---------------------------------------------------------------------------------------------------

async function startContainer(image: string): Promise<Candidate> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  await getContainerRuntimeClient().catch((error: unknown) => {
    throw new Error(`container: ${reason(error)}`);
  });
  const password = randomBytes(12).toString('hex');
  const container = await new GenericContainer(image)
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withExposedPorts(5432)
    .withSharedMemorySize(256 * 1024 * 1024)
    .withCommand(['postgres', ...SETTINGS.flatMap((setting) => ['-c', setting])])
    // The image's first start listens on its socket only, so an open port is the real server.
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(120_000)
    .start()
    .catch((error: unknown) => {
      throw new Error(`container of ${image}: ${reason(error)}`);
    });
  const url = `postgres://postgres:${password}@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
  const candidate = { url, description: `a container of ${image}`, stop: async () => {
    await container.stop();
  } };
  try {
    await answers(url, () => null);
  } catch (error) {
    await candidate.stop();
    throw error;
  }
  return candidate;
}

// --- A private cluster ---------------------------------------------------------------------------------------------

/** Returns one way to start a cluster for each installed PostgreSQL, newest first. */
async function clusterStarts(path: readonly string[], refused: string[]): Promise<(() => Promise<Candidate>)[]> {
  const found = await installations(path);
  if (found.length === 0) refused.push('private cluster: PostgreSQL is not installed (initdb not found). Run apt-get install postgresql-15-postgis-3');
  return found.map(({ bin }) => () => startCluster(bin));
}

export async function installations(path: readonly string[]): Promise<{ bin: string; version: number }[]> {
  const folders = new Set<string>();
  const add = async (folder: string): Promise<void> => {
    const initdb = await realpath(join(folder, 'initdb')).catch(() => null);
    if (initdb !== null) folders.add(dirname(initdb));
  };
  // Folders of PostgreSQL on Debian, on Fedora, and with Homebrew on Intel and ARM Macs.
  for (const [root, inner] of [['/usr/lib/postgresql', 'bin'], ['/usr', 'bin'], ['/opt/homebrew/opt', 'bin'], ['/usr/local/opt', 'bin']] as const) {
    for (const name of await readdir(root).catch(() => [])) {
      if (/^(\d+$|pgsql-|postgresql)/.test(name)) await add(join(root, name, inner));
    }
  }
  const configured = await run('pg_config', ['--bindir']).catch(() => null);
  if (configured !== null) await add(configured.stdout.trim());
  for (const folder of path) await add(folder);
  const list = await Promise.all(
    [...folders].map(async (bin) => {
      const said = await run(join(bin, 'postgres'), ['--version']).catch(() => ({ stdout: '' }));
      return { bin, version: Number(/\d+/.exec(said.stdout)?.[0] ?? 0) };
    }),
  );
  return list.filter(({ version }) => version > 0).sort((a, b) => b.version - a.version);
}

/**
 * Shell script that runs the server. `cat` ends when the test run ends, even if the run is killed. Then the script removes the server and the server's files.
 */
const KEEPER = `
"$1/postgres" -D "$2/data" >"$2/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT "$server"
wait "$server"
rm -rf "$2"
`;

async function startCluster(bin: string): Promise<Candidate> {
  const what = `private cluster of ${bin}`;
  const owner = await unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'mappale-postgres-'));
  try {
    const password = randomBytes(12).toString('hex');
    await writeFile(join(folder, 'password'), password, { mode: 0o600 });
    if (owner !== null) {
      await chown(folder, owner.uid, owner.gid);
      await chown(join(folder, 'password'), owner.uid, owner.gid);
    }
    const as = { ...owner, cwd: folder, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
    await run(join(bin, 'initdb'), [
      '--pgdata', join(folder, 'data'), '--username', 'postgres', '--pwfile', join(folder, 'password'), '--auth', 'scram-sha-256', '--encoding', 'UTF8',
      '--no-sync', '--no-instructions',
    ], as);
    const port = await freePort();
    const settings = [
      ...SETTINGS, ...(await preloaded(bin)), `port=${port}`, "listen_addresses='127.0.0.1'", "unix_socket_directories=''",
      // /dev/shm has 64 MiB in many containers, which is too little for parallel queries.
      'dynamic_shared_memory_type=mmap',
    ];
    const config = await open(join(folder, 'data', 'postgresql.auto.conf'), 'a');
    await config.writeFile(`${settings.join('\n')}\n`);
    await config.close();
    const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', bin, folder], { ...as, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = new Promise<void>((resolve) => keeper.once('close', () => resolve()));
    const stop = async (): Promise<void> => {
      keeper.stdin.end();
      await ended;
    };
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    try {
      await answers(url, async () => {
        const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '');
        return /FATAL: .*|could not .*/.exec(log.split('\n').filter((line) => !/authentication|starting up/.test(line)).join('\n'))?.[0] ?? null;
      });
    } catch (error) {
      await stop();
      throw error;
    }
    return { url, description: what, stop };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`${what}: ${reason(error)}`, { cause: error });
  }
}

/**
 * Returns the setting that loads the library of PostGIS once, when the server starts. Otherwise each connection that uses PostGIS loads the library, which
 * takes 9 ms of CPU time. Empty if the library is not found.
 */
async function preloaded(bin: string): Promise<string[]> {
  const libraries = await run(join(bin, 'pg_config'), ['--pkglibdir']).catch(() => null);
  return libraries !== null && existsSync(join(libraries.stdout.trim(), 'postgis-3.so')) ? ["shared_preload_libraries='postgis-3'"] : [];
}

/** Returns the user that runs the server, because PostgreSQL refuses root. Null if this process is not root. */
export async function unprivileged(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]).catch(() => null);
    if (ids !== null) return { uid: Number(ids[0].stdout), gid: Number(ids[1].stdout) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Waits until the database can be opened.
 * @param died returns the reason why the server will never answer, or null
 * @throws Error with this reason, or the last error if the database cannot be opened within a minute
 */
export async function answers(url: string, died: () => Promise<string | null> | null): Promise<void> {
  const until = Date.now() + 60_000;
  for (;;) {
    try {
      await (await openDatabase(url, 'read')).close();
      return;
    } catch (error) {
      const why = await died();
      if (why !== null) throw new Error(why);
      if (Date.now() > until) throw error;
      await sleep(100);
    }
  }
}
