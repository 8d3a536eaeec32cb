/**
 * Defines how the API server reads the database. The server calls only functions of the schema `api`, apart from queries of the system catalogue and of
 * settings. On PostgreSQL, a reader has separate connections, prepared statements and the rights of the role `mappale_api`. On PGlite, the reader uses the only
 * connection.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { databaseError } from './errors.ts';
import { openPool } from './pool.ts';
import { beginPooled, isPooled } from './pooler.ts';
import { ROLE } from './role.ts';
import { resolveAddress } from './server-address.ts';
import { SESSION_SETTINGS } from './server-facts.ts';
import { statementsOf } from './statements.ts';
import { first, one, type Database, type Row } from './types.ts';

interface ReaderOptions {
  /** Number of connections for answering requests. For counting requests, a third as many connections are added. */
  readonly connections: number;
  /** Time limit of a statement in milliseconds. The server cancels longer statements. */
  readonly statementTimeoutMs: number;
}

/** State of the connections of one kind. */
export interface Pool {
  /** Kind of connections: `answers` for answering requests, `counts` for counting requests. */
  readonly name: 'answers' | 'counts';
  /** Number of open connections. */
  readonly size: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Returns the number of connections for counting requests. Counting takes much less time than answering. */
function countingOf(connections: number): number {
  return Math.ceil(connections / 3);
}

/**
 * Divides the connections of one process among several processes. In total, all processes use at most as many connections as one process, including connections
 * for counting requests.
 * @param connections number of connections for answering requests that one process would use
 * @returns number of connections for answering requests in each process; 0 if there are too few connections
 */
export function connectionsOfEach(connections: number, processes: number): number {
  const room = Math.floor((connections + countingOf(connections)) / processes);
  return room - Math.ceil(room / 4);
}

interface Bounds {
  /** Time limit in milliseconds, after which the database stops the statement with the code `SQL_57014`. */
  readonly longestMs?: number;
}

export interface Reader {
  readonly engine: Database['engine'];
  /** True if statements run with the rights of the role `mappale_api`; false if statements run with the rights of the login. */
  readonly restricted: boolean;
  /**
   * Rights of the login: superuser, owner of the tables, or neither (`ordinary`); null on PGlite. The rights of the login matter, because a session can always
   * switch back to the login.
   */
  readonly login: 'superuser' | 'owner' | 'ordinary' | null;
  /** Largest number of parallel requests. Further requests wait. */
  readonly parallel: number;
  /**
   * Runs a query, such as `select … from api.f($1, …)`, in a read-only transaction.
   * @param bounds shorter time limit for this statement, without effect on PGlite, which cannot stop a statement
   * @returns the only row
   * @throws MappaleError (kind `database`)
   */
  call<T extends Row>(statement: string, parameters: readonly unknown[], bounds?: Bounds): Promise<T>;
  /** Runs a query in a transaction that may write. Used to count requests and invalid keys, and to find out whether the database is read-only. */
  count<T extends Row>(statement: string, parameters: readonly unknown[]): Promise<T>;
  /**
   * Opens all connections for answering requests, and runs work once on each connection. Does nothing on PGlite.
   * @throws MappaleError (kind `database`) if a connection cannot be opened, after the work on the other connections is done
   */
  onEach(work: (connection: Reader) => Promise<void>): Promise<void>;
  /** Returns the state of the reader's connections; empty on PGlite. */
  pools(): readonly Pool[];
  close(): Promise<void>;
}

/** Opens a reader for the API server, on either engine. @param database open database, which the reader uses on PGlite and does not close */
export async function openReader(database: Database, url: string, options: ReaderOptions): Promise<Reader> {
  return database.engine === 'pglite' ? embeddedReader(database) : openPostgresReader(url, options);
}

function embeddedReader(database: Database): Reader {
  const inside = <T extends Row>(mode: 'read only' | 'read write', statement: string, parameters: readonly unknown[]): Promise<T> => database.transaction(async (session) => {
    await session.query(`set transaction ${mode}`);
    return one<T>(session, statement, parameters);
  });
  return {
    engine: 'pglite',
    restricted: false,
    login: null,
    parallel: 1,
    call: (statement, parameters) => inside('read only', statement, parameters),
    count: (statement, parameters) => inside('read write', statement, parameters),
    onEach: async () => undefined,
    pools: () => [],
    close: async () => undefined,
  };
}

/**
 * Opens a reader with separate connections to a PostgreSQL server.
 * @throws MappaleError `SQL_*` if the server does not answer
 */
export async function openPostgresReader(url: string, { connections, statementTimeoutMs }: ReaderOptions): Promise<Reader> {
  const address = await resolveAddress(url);
  const { restricted, login, citus, pooled } = await whoLogsIn(address.connectionString);
  const settings = servingSettings({ citus, restricted, statementTimeoutMs });
  const open = (max: number, more: readonly string[]): pg.Pool => openPool(address, pooled ? [] : [...settings, ...more], {
    max, application_name: 'mappale server', connectionTimeoutMillis: 2000,
    // The client's limit is longer than the server's, and applies only if the server no longer answers.
    query_timeout: statementTimeoutMs + 2000,
    // Idle connections stay open, because a new connection is slow until its plans are cached.
    idleTimeoutMillis: 0,
  });
  const reading = open(connections, ['default_transaction_read_only=on']);
  const counting = open(countingOf(connections), []);
  const askPlain = pooled ? askInTransaction(settings) : askPrepared();
  const askBounded = (longestMs: number): Asking => askInTransaction([...(pooled ? settings : []), `statement_timeout=${Math.trunc(longestMs)}`]);
  const ask = async <T extends Row>(
    on: pg.Pool | pg.PoolClient, kind: Pool['name'], statement: string, parameters: readonly unknown[], { longestMs }: Bounds = {},
  ): Promise<T> => {
    const asking = longestMs === undefined ? askPlain : askBounded(longestMs);
    try {
      return first(await asking<T>(on, kind, statement, parameters), statement);
    } catch (error) {
      throw databaseError(error, statement, null);
    }
  };
  const reader: Reader = {
    engine: 'postgres',
    restricted,
    login,
    parallel: connections,
    call: (statement, parameters, bounds) => ask(reading, 'answers', statement, parameters, bounds),
    count: (statement, parameters) => ask(counting, 'counts', statement, parameters),
    onEach: (work) => onEachConnection(reading, connections, (client) => (
      work({ ...reader, call: (statement, parameters, bounds) => ask(client, 'answers', statement, parameters, bounds) })
    )),
    pools: () => [stateOf('answers', reading), stateOf('counts', counting)],
    close: async () => {
      await Promise.all([reading.end(), counting.end()]);
    },
  };
  return reader;
}

/** Returns the settings of each connection, both for answering and for counting requests. */
function servingSettings(login: { readonly citus: boolean; readonly restricted: boolean; readonly statementTimeoutMs: number }): string[] {
  return [
    // Turns parallel workers off. A query takes one millisecond, but starting workers takes ten. The planner would start workers to find a point among a
    // million parcels.
    'jit=off', 'max_parallel_workers_per_gather=0', ...SESSION_SETTINGS,
    // On Citus, does not force generic plans, because Citus cannot plan distributed queries of several steps without parameter values. Citus gives generic
    // plans a high cost, so that PostgreSQL avoids such plans.
    `plan_cache_mode=${login.citus ? 'auto' : 'force_generic_plan'}`,
    `statement_timeout=${Math.trunc(login.statementTimeoutMs)}`, ...(login.restricted ? [`role=${ROLE}`] : []),
  ];
}

/** Calls a function on each connection of a pool. @throws MappaleError `SQL_*` if a connection cannot be opened, after the other connections are done */
async function onEachConnection(pool: pg.Pool, connections: number, work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
  const opened = await Promise.allSettled(Array.from({ length: connections }, () => pool.connect()));
  const clients = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  try {
    await Promise.all(clients.map(work));
  } finally {
    for (const client of clients) client.release();
  }
  const refused = opened.find((each) => each.status === 'rejected');
  if (refused !== undefined) throw databaseError(refused.reason, null, null);
}

type Asking = <T extends Row>(on: pg.Pool | pg.PoolClient, kind: Pool['name'], statement: string, parameters: readonly unknown[]) => Promise<T[]>;

/** Returns a function that runs queries as prepared statements, each prepared once per connection. */
function askPrepared(): Asking {
  const names = new Map<string, string>();
  const nameOf = (statement: string): string => {
    let name = names.get(statement);
    if (name === undefined) names.set(statement, name = createHash('sha256').update(statement).digest('hex').slice(0, 32));
    return name;
  };
  return async <T extends Row>(on: pg.Pool | pg.PoolClient, _kind: Pool['name'], statement: string, parameters: readonly unknown[]) =>
    (await on.query<T>({ name: nameOf(statement), text: statement, values: [...parameters] })).rows;
}

/**
 * Returns a function that runs each query in a transaction with the given settings, without prepared statements. A pooler may run each transaction in a
 * different server process.
 */
function askInTransaction(settings: readonly string[]): Asking {
  const onClient = async <T extends Row>(client: pg.ClientBase, kind: Pool['name'], statement: string, parameters: readonly unknown[]): Promise<T[]> => {
    try {
      await beginPooled(client, kind === 'answers' ? 'read only' : 'default', settings);
      const { rows } = await client.query<T>(statement, [...parameters]);
      await client.query('commit');
      return rows;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  };
  return async <T extends Row>(on: pg.Pool | pg.PoolClient, kind: Pool['name'], statement: string, parameters: readonly unknown[]) => {
    if (!(on instanceof pg.Pool)) return onClient<T>(on, kind, statement, parameters);
    const client = await on.connect();
    let failed = true;
    try {
      const rows = await onClient<T>(client, kind, statement, parameters);
      failed = false;
      return rows;
    } finally {
      // Closes the connection after a failure, because the rollback may also have failed.
      client.release(failed);
    }
  };
}

function stateOf(name: Pool['name'], { totalCount, idleCount, waitingCount }: pg.Pool): Pool {
  return { name, size: totalCount, idle: idleCount, waiting: waitingCount };
}

interface Login {
  readonly restricted: boolean;
  readonly login: 'superuser' | 'owner' | 'ordinary';
  /** True if the database has the Citus extension. */
  readonly citus: boolean;
  /** True if a connection pooler is between the program and the server. */
  readonly pooled: boolean;
}

/** Connects once. Finds the rights of the login, and whether the login can use the role `mappale_api`, the database has Citus, and there is a pooler. */
async function whoLogsIn(connectionString: string): Promise<Login> {
  const client = new pg.Client({ connectionString, application_name: 'mappale server', connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const statement = statementsOf('server')('login');
    const { backend, ...login } = first((await client.query<Omit<Login, 'pooled'> & { backend: number }>(statement, [ROLE])).rows, statement);
    return { ...login, pooled: isPooled(client, backend) };
  } catch (error) {
    throw databaseError(error, null, null);
  } finally {
    await client.end().catch(() => undefined);
  }
}
