/**
 * Detects connection poolers such as PgBouncer between the program and the server. In the pool modes `transaction` and `statement`, a session does not persist.
 * Advisory locks, settings and prepared statements belong to a server process, and the next statement may run in another process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { MappaleError } from '../errors.ts';
import { databaseError } from './errors.ts';
import type { ServerAddress } from './server-address.ts';
import { statementsOf } from './statements.ts';
import { first } from './types.ts';

/** Longest wait for a server connection of the pooler, in milliseconds. */
const WAIT_MS = 5000;

/** Longest time that an open transaction waits for the next answer, in milliseconds. */
const PATIENCE_MS = 200;

/** Number of connections that keep transactions open. A pool with fewer server connections is detected at once. */
const HOLDING = 3;

/** Number of repetitions of the check. Behind a pooler, a connection may get the same process again by chance. */
const ROUNDS = 8;

const PROTOCOL_VIOLATION = '08P01';

/**
 * Returns whether a pooler answers on this connection. At the start of a connection, PostgreSQL sends the number of the server process, and a pooler sends
 * another number.
 * @param backend the number of the server process, from a query
 */
export function isPooled(client: pg.ClientBase, backend: number): boolean {
  return (client as pg.ClientBase & { readonly processID: number | null }).processID !== backend;
}

/** Returns whether a pooler refused the startup settings of a connection. PostgreSQL itself accepts these settings. */
export function refusesSettings(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === PROTOCOL_VIOLATION && error.message.startsWith('unsupported startup parameter');
}

/** Returns the number of the server process that answers. */
export async function backendOf(client: pg.ClientBase): Promise<number> {
  const statement = statementsOf('server')('backend');
  return first((await client.query<{ pid: number }>(statement)).rows, statement).pid;
}

/** Sets parameters of the session or transaction. @param settings `name=value`, with the escapes of the connection's options */
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

/** Pool mode, which determines how a pooler assigns server processes to sessions. */
type PoolMode = 'session' | 'transaction' | 'statement' | 'too_small';

/**
 * Finds the pool mode. Some connections keep transactions open, and each connection queries the number of its server process. A persistent session keeps its
 * process and does not share it with other sessions. @throws MappaleError `SQL_*` if the server does not answer
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

/** Server processes of connections. */
class Sessions {
  readonly #processes = new Map<pg.Client, number>();

  /** Returns whether a connection keeps its process. Returns false if the connection had another process before, or if another connection has the process. */
  keeps(client: pg.Client, process: number): boolean {
    const known = this.#processes.get(client);
    if (known !== undefined) return known === process;
    const isShared = [...this.#processes.values()].includes(process);
    this.#processes.set(client, process);
    return !isShared;
  }
}

/** Queries each connection once. All connections except the first keep their transactions open until the end. */
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

/** Returns undefined if the answer takes longer. The pooler may have no free server connection while transactions are open. */
function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  answer.catch(() => undefined);
  // The delay is random, so that two commands that block each other do not try again at the same time.
  return Promise.race([answer, sleep(PATIENCE_MS * (1 + Math.random()), undefined, { ref: false })]);
}

const FOUND: Readonly<Record<Exclude<PoolMode, 'session'>, string>> = {
  transaction: 'a pooler with pool_mode=transaction',
  statement: 'a pooler with pool_mode=statement',
  too_small: `a pooler that gave no second server connection within ${WAIT_MS / 1000} seconds`,
};

/** Returns the error for a command that a pool mode does not allow. */
export function sessionsNotKept(label: string, mode: Exclude<PoolMode, 'session'>): MappaleError {
  return new MappaleError('the connection pooler does not keep sessions', {
    code: 'SESSIONS_NOT_KEPT', kind: 'database', at: label, detail: `expected a session that keeps its server process, found ${FOUND[mode]}`,
    hint: 'The locks of a command that writes need a session. Connect to PostgreSQL directly, or set pool_mode=session in the pooler. Most commands that only read work with pool_mode=transaction.',
    fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
  });
}
