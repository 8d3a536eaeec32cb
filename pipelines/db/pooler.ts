/**
 * Detects connection poolers such as PgBouncer between the program and the server. In the pool modes `transaction` and `statement`, consecutive statements of a
 * client may run in different server processes. Advisory locks, settings and prepared statements belong to one server process and are then lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { MappaleError } from '../errors.ts';
import { databaseError } from './errors.ts';
import type { ServerAddress } from './server-address.ts';
import { statementsOf } from './statements.ts';
import { first } from './types.ts';

/** Longest time to wait until the pooler assigns a server connection, in milliseconds. */
const WAIT_MS = 5000;

/** Shortest time to wait for an answer while transactions are open, in milliseconds. A random delay is added. */
const PATIENCE_MS = 200;

/**
 * Number of connections that keep transactions open during the check. In the mode `transaction`, a pool with at most this number of server connections is
 * detected in the first round.
 */
const HOLDING = 3;

/** Number of times that the check must succeed. Behind a pooler, a connection may get the same server process again by chance. */
const ROUNDS = 8;

const PROTOCOL_VIOLATION = '08P01';

/**
 * Returns whether a pooler is between this connection and the server. At the start of a connection, PostgreSQL sends the process ID (PID) of the server
 * process, but a pooler sends a different number.
 * @param backend PID of the server process, as a query returned it
 */
export function isPooled(client: pg.ClientBase, backend: number): boolean {
  return (client as pg.ClientBase & { readonly processID: number | null }).processID !== backend;
}

/** Returns whether a pooler refused the startup settings of a connection. PostgreSQL itself accepts these settings. */
export function refusesSettings(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === PROTOCOL_VIOLATION && error.message.startsWith('unsupported startup parameter');
}

/** Returns the process ID (PID) of the server process that runs the connection's queries. */
export async function backendOf(client: pg.ClientBase): Promise<number> {
  const statement = statementsOf('server')('backend');
  return first((await client.query<{ pid: number }>(statement)).rows, statement).pid;
}

/** Applies settings to the session or transaction. @param settings as `name=value`, escaped as in the connection option `-c` */
export async function applySettings(client: pg.ClientBase, settings: readonly string[], scope: 'session' | 'transaction'): Promise<void> {
  const pairs = settings.map((setting) => {
    const [name = '', ...values] = setting.replace(/\\(.)/g, '$1').split('=');
    return [name, values.join('=')] as const;
  });
  await client.query(statementsOf('server')('apply_settings'), [pairs.map(([name]) => name), pairs.map(([, value]) => value), scope === 'transaction']);
}

/** Begins a transaction with the program's settings. */
export async function beginPooled(client: pg.ClientBase, access: 'read only' | 'default', settings: readonly string[]): Promise<void> {
  await client.query(`begin isolation level read committed${access === 'default' ? '' : ', read only'}, not deferrable`);
  await applySettings(client, settings, 'transaction');
}

/** How a pooler assigns server processes to clients. `too_small`: the pool has too few server connections to find out. */
type PoolMode = 'session' | 'transaction' | 'statement' | 'too_small';

/**
 * Finds the pool mode of a pooler. Some connections keep transactions open, and each connection queries the PID of its server process. In the mode `session`,
 * each connection keeps its own server process.
 * @throws MappaleError `SQL_*` if the server does not answer
 */
export async function poolModeOf({ connectionString, label }: ServerAddress): Promise<PoolMode> {
  const clients = Array.from({ length: 1 + HOLDING }, () => {
    const client = new pg.Client({ connectionString, application_name: 'mappale', query_timeout: WAIT_MS, connectionTimeoutMillis: WAIT_MS });
    client.on('error', () => undefined);
    return client;
  });
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const sessions = new Sessions();
    const until = Date.now() + WAIT_MS;
    for (let kept = 0; kept < ROUNDS;) {
      const found = await lookAt(clients, sessions);
      if (found === 'moved') return 'transaction';
      if (found === 'kept') kept += 1;
      else if (Date.now() > until) return 'too_small';
    }
    return 'session';
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === PROTOCOL_VIOLATION && /statement pooling/.test(error.message)) return 'statement';
    if (error instanceof Error && /^(Query read timeout|timeout expired)$/.test(error.message)) return 'too_small';
    throw databaseError(error, null, label);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Remembers which server process each connection has used. */
class Sessions {
  readonly #processes = new Map<pg.Client, number>();

  /**
   * Returns whether a connection keeps its server process. Returns false if the connection used another process before, or if another connection uses the same
   * process.
   */
  keeps(client: pg.Client, process: number): boolean {
    const known = this.#processes.get(client);
    if (known !== undefined) return known === process;
    const isShared = [...this.#processes.values()].includes(process);
    this.#processes.set(client, process);
    return !isShared;
  }
}

/**
 * Queries the server process of each connection, and of the first connection again at the end. All connections except the first keep a transaction open
 * meanwhile.
 * @returns `kept` if each connection keeps its server process, `moved` if a connection does not, `waited` if an answer takes too long
 */
async function lookAt([asking, ...holding]: readonly pg.Client[], sessions: Sessions): Promise<'kept' | 'moved' | 'waited'> {
  if (asking === undefined) throw new Error('expected a connection');
  const hold = async (client: pg.Client): Promise<number> => {
    await client.query('begin');
    return backendOf(client);
  };
  try {
    for (const client of [asking, ...holding, asking]) {
      const process = await inTime(client === asking ? backendOf(client) : hold(client));
      if (process === undefined) return 'waited';
      if (!sessions.keeps(client, process)) return 'moved';
    }
    return 'kept';
  } finally {
    // A pooler closes the server connection if a client disconnects inside a transaction.
    await Promise.all(holding.map((client) => client.query('rollback').catch(() => undefined)));
  }
}

/** Returns the answer, or undefined if the answer takes too long. The pooler may have no free server connection while transactions are open. */
function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  answer.catch(() => undefined);
  // The delay is random, so that two commands that block each other do not try again at the same time.
  return Promise.race([answer, sleep(PATIENCE_MS * (1 + Math.random()), undefined, { ref: false })]);
}

const FOUND: Readonly<Record<Exclude<PoolMode, 'session'>, string>> = {
  transaction: 'a pooler with pool_mode=transaction',
  statement: 'a pooler with pool_mode=statement',
  too_small: `a pooler that did not assign a second server connection within ${WAIT_MS / 1000} seconds`,
};

/** Returns the error for a command that a pool mode does not allow. */
export function sessionsNotKept(label: string, mode: Exclude<PoolMode, 'session'>): MappaleError {
  return new MappaleError('the connection pooler does not keep sessions', {
    code: 'SESSIONS_NOT_KEPT', kind: 'database', at: label, detail: `expected a session that keeps its server process, found ${FOUND[mode]}`,
    hint: 'The locks of a command that writes need a session. Connect to PostgreSQL directly, or set pool_mode=session in the pooler. Most commands that only read work with pool_mode=transaction.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
  });
}
