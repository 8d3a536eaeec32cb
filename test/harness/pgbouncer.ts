/** Starts a PgBouncer for a single test, in front of one database. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, unprivileged } from './postgres.ts';
import { testEnvironment } from './environment.ts';

/** Path of pgbouncer, or null if this machine does not have the program. */
export const PGBOUNCER: string | null = [...testEnvironment().path, '/usr/sbin', '/usr/local/sbin']
  .map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path)) ?? null;

/** Shell script that runs PgBouncer. PgBouncer ends with the test process, because `cat` ends when its input closes. */
const KEEPER = `
"$1" -q "$2/pgbouncer.ini" >/dev/null 2>&1 &
cat >/dev/null
kill -TERM $!
wait
`;

/** Names of the database in PgBouncer, with the mode and size of each name's pool. */
const POOLS = {
  transaction: 'pool_mode=transaction pool_size=10',
  transaction_2: 'pool_mode=transaction pool_size=2',
  transaction_1: 'pool_mode=transaction pool_size=1',
  statement: 'pool_mode=statement pool_size=10',
  session: 'pool_mode=session pool_size=60',
} as const;

export class PgBouncer {
  readonly #folder: string;
  readonly #port: number;
  readonly #keeper: ChildProcess;

  private constructor(folder: string, port: number, keeper: ChildProcess) {
    this.#folder = folder;
    this.#port = port;
    this.#keeper = keeper;
  }

  /** Starts PgBouncer. @param url URL of the database, with the password for PgBouncer's login @param settings lines of the section `pgbouncer` */
  static async before(url: string, settings: readonly string[]): Promise<PgBouncer> {
    if (PGBOUNCER === null) throw new Error('pgbouncer is not installed');
    const { hostname, port, pathname, username, password } = new URL(url);
    const own = await freePort();
    const server = `host=${hostname} port=${port || 5432} dbname=${pathname.slice(1)} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
    const folder = await mkdtemp(join(tmpdir(), 'mappale-pgbouncer-'));
    const file = join(folder, 'pgbouncer.ini');
    await writeFile(file, [
      '[databases]', ...Object.entries(POOLS).map(([name, pool]) => `${name} = ${server} ${pool}`),
      '[pgbouncer]', 'listen_addr=127.0.0.1', `listen_port=${own}`, 'unix_socket_dir=', 'auth_type=any', 'max_client_conn=200', ...settings, '',
    ].join('\n'), { mode: 0o600 });
    const owner = await unprivileged();
    if (owner !== null) for (const path of [folder, file]) await chown(path, owner.uid, owner.gid);
    const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', PGBOUNCER, folder], { ...owner, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] });
    const made = new PgBouncer(folder, own, keeper);
    while (!(await listens(own))) {
      if (keeper.exitCode !== null) throw new Error('expected a running pgbouncer, but pgbouncer exited at once');
      await sleep(20);
    }
    return made;
  }

  url(pool: keyof typeof POOLS): string {
    return `postgres://someone@127.0.0.1:${this.#port}/${pool}`;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#keeper.once('close', resolve));
    this.#keeper.stdin?.end();
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false)).once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
