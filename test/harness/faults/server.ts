/** Starts a PostgreSQL server that a single test can kill, stop and restart. */
import { execFile, spawn } from 'node:child_process';
import { appendFile, chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '../../../pipelines/db/index.ts';
import { answers, databaseUrl, EXTENSIONS, freePort, installations, unprivileged } from '../postgres.ts';
import { testEnvironment } from '../environment.ts';

const run = promisify(execFile);

/** Shell script that runs the server. The server ends with the test run, even if the run is killed, because `cat` ends when its input closes. */
const KEEPER = `
"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
echo $!
cat >/dev/null
kill -QUIT $! 2>/dev/null
wait
`;

/**
 * Settings of the server. Commits must survive a crash of the server. Only the protection against a crash of the machine is off. Log segments are small, so
 * that a small disk is full soon, and each of them is used again. A removed segment would keep its space until the last process closes the file.
 */
const SETTINGS = ['min_wal_size=512MB', 'max_wal_size=1GB', "listen_addresses='127.0.0.1'", "unix_socket_directories=''", 'dynamic_shared_memory_type=mmap', 'fsync=off', 'shared_buffers=64MB', 'max_connections=60', 'restart_after_crash=on'];

export class Server {
  readonly folder: string;
  readonly #bin: string;
  readonly #owner: { uid: number; gid: number } | null;
  readonly port: number;
  #keeper: ReturnType<typeof spawn> | null = null;
  #pid = 0;

  private constructor(folder: string, bin: string, owner: { uid: number; gid: number } | null, port: number) {
    this.folder = folder;
    this.#bin = bin;
    this.#owner = owner;
    this.port = port;
  }

  /** Creates and starts a server, or returns null if this machine has no PostgreSQL 15 or later. */
  static async make(): Promise<Server | null> {
    const [found] = (await installations(testEnvironment().path)).filter(({ version }) => version >= 15);
    if (found === undefined) return null;
    const owner = await unprivileged();
    const folder = await mkdtemp(join(tmpdir(), 'mappale-server-'));
    if (owner !== null) await chown(folder, owner.uid, owner.gid);
    const server = new Server(folder, found.bin, owner, await freePort());
    await run(join(found.bin, 'initdb'), ['--pgdata', join(folder, 'data'), '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync', '--no-instructions', '--wal-segsize', '1'], server.#as());
    await writeFile(join(folder, 'data', 'postgresql.auto.conf'), `${[...SETTINGS, `port=${server.port}`].join('\n')}\n`);
    if (owner !== null) await chown(join(folder, 'data', 'postgresql.auto.conf'), owner.uid, owner.gid);
    await server.start();
    await server.admin('create database base');
    const base = await openDatabase(server.url('base'));
    try {
      for (const extension of EXTENSIONS) await base.query(`create extension if not exists ${extension}`);
    } finally {
      await base.close();
    }
    return server;
  }

  #as(): { uid?: number; gid?: number; cwd: string; env: { PATH: string; LC_ALL: string } } {
    return { ...this.#owner, cwd: this.folder, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  }

  url(database: string): string {
    return databaseUrl(`postgres://postgres@127.0.0.1:${this.port}/postgres`, database);
  }

  async admin(sql: string): Promise<void> {
    const admin = await openDatabase(this.url('postgres'));
    try {
      await admin.query(sql);
    } finally {
      await admin.close();
    }
  }

  /** Creates a database with the extensions, or a copy of another database. @returns its URL */
  async database(name: string, from = 'base'): Promise<string> {
    // The database is copied as files. A copy through the log would lose the positions of sequences if the server crashes.
    await this.admin(`create database ${name} template ${from} strategy file_copy`);
    return this.url(name);
  }

  async start(): Promise<void> {
    const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', this.#bin, this.folder], { ...this.#as(), stdio: ['pipe', 'pipe', 'ignore'] });
    this.#keeper = keeper;
    this.#pid = await new Promise<number>((resolve) => keeper.stdout.once('data', (text: Buffer) => resolve(Number(text.toString()))));
    await answers(this.url('postgres'), async () => (alive(this.#pid) ? null : 'expected a running server, but the server exited at once'));
  }

  /** Starts a streaming standby of this server. The standby is read-only until it is promoted. */
  async standby(): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-standby-'));
    if (this.#owner !== null) await chown(folder, this.#owner.uid, this.#owner.gid);
    const standby = new Server(folder, this.#bin, this.#owner, await freePort());
    await run(join(this.#bin, 'pg_basebackup'), [
      '--pgdata', join(folder, 'data'), '--write-recovery-conf', '--checkpoint', 'fast', '--host', '127.0.0.1', '--port', String(this.port), '--username', 'postgres', '--no-sync',
    ], standby.#as());
    await appendFile(join(folder, 'data', 'postgresql.auto.conf'), `port=${standby.port}\n`);
    await standby.start();
    return standby;
  }

  /** Shuts down without a checkpoint, as in a crash, so that the next start recovers. */
  async crash(): Promise<void> {
    process.kill(this.#pid, 'SIGQUIT');
    await this.#gone();
  }

  /** Sends SIGKILL to the postmaster. */
  async kill(): Promise<void> {
    process.kill(this.#pid, 'SIGKILL');
    await this.#gone();
  }

  async #gone(): Promise<void> {
    while (alive(this.#pid)) await sleep(20);
    this.#keeper?.stdin?.end();
    this.#keeper = null;
  }

  /** Waits until the server answers after a crash. If the server process has exited, starts the server again. */
  async recovered(): Promise<void> {
    const gaveUp = await answers(this.url('postgres'), async () => (alive(this.#pid) ? null : 'the server did not recover')).then(() => false, () => !alive(this.#pid));
    if (!gaveUp) return;
    await this.#gone();
    await this.start();
  }

  /** Crashes the server, moves the write-ahead log to another folder and starts the server again. The server must be allowed to write to that folder. */
  async moveLog(folder: string): Promise<void> {
    await this.crash();
    const log = join(this.folder, 'data', 'pg_wal');
    await run('cp', ['-a', `${log}/.`, folder]);
    await rm(log, { recursive: true });
    await symlink(folder, log);
    await this.start();
  }

  async remove(): Promise<void> {
    if (this.#keeper !== null) await this.crash().catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Makes the server's user the owner of a folder, so that the server can write to it. */
  async give(folder: string): Promise<void> {
    if (this.#owner !== null) await chown(folder, this.#owner.uid, this.#owner.gid);
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
