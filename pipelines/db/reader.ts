/**
 * A database as the server sees it: functions of the schema `api`, nothing else. On PostgreSQL with connections of its own, prepared
 * statements and the rights of the role `mappale_api`; on PGlite with the one connection that there is.
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
  /** Connections kept open for answers; a third as many count requests. */
  readonly connections: number;
  /** The server cancels what takes longer. */
  readonly statementTimeoutMs: number;
}

/** Connections of one kind. */
export interface Pool {
  /** `answers`, or `counts` of requests. */
  readonly name: 'answers' | 'counts';
  /** Connections that are open, those of them that do nothing, and questions that wait for one. */
  readonly size: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Connections that count requests, beside those for answers: counting takes a fraction of what an answer takes. */
function countingOf(connections: number): number {
  return Math.ceil(connections / 3);
}

/**
 * @param connections for answers, of all processes together
 * @returns those of each of so many processes, so that all of theirs, counting included, are no more than one process would open; 0: too few to share
 */
export function connectionsOfEach(connections: number, processes: number): number {
  const room = Math.floor((connections + countingOf(connections)) / processes);
  return room - Math.ceil(room / 4);
}

export interface Reader {
  readonly engine: Database['engine'];
  /** True: works with the rights of `mappale_api`; false: with those of whoever logged in. */
  readonly restricted: boolean;
  /** Who logged in, which a session may always go back to: a superuser, an owner of the tables, or neither; null: nobody does. */
  readonly login: 'superuser' | 'owner' | 'ordinary' | null;
  /** Questions that are worked on at the same time; further ones wait. */
  readonly parallel: number;
  /**
   * Calls a function: `select … from api.f($1, …)`, in a read-only transaction.
   * @returns its one row
   * @throws MappaleError (kind `database`)
   */
  call<T extends Row>(statement: string, parameters: readonly unknown[]): Promise<T>;
  /** The same for a function that counts: of requests, of bad keys. Everything else may write nothing. */
  count<T extends Row>(statement: string, parameters: readonly unknown[]): Promise<T>;
  /**
   * Opens all connections for answers, and does this once on each. Nothing on PGlite.
   * @throws MappaleError (kind `database`), also where not all could be opened: then after it was done on the others
   */
  onEach(work: (connection: Reader) => Promise<void>): Promise<void>;
  /** What its connections do now; none on PGlite. */
  pools(): readonly Pool[];
  close(): Promise<void>;
}

/** @param database opened; on PGlite the reader uses it, and leaves it open */
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
 * Opens the connections of a server.
 * @throws MappaleError `SQL_*` when the server does not answer
 */
export async function openPostgresReader(url: string, { connections, statementTimeoutMs }: ReaderOptions): Promise<Reader> {
  const address = await resolveAddress(url);
  const { restricted, login, citus, pooled } = await whoLogsIn(address.connectionString);
  const settings = servingSettings({ citus, restricted, statementTimeoutMs });
  const open = (max: number, more: readonly string[]): pg.Pool => openPool(address, pooled ? [] : [...settings, ...more], {
    max, application_name: 'mappale server', connectionTimeoutMillis: 2000,
    // The limit of the server comes first. This one is for a server that no longer answers.
    query_timeout: statementTimeoutMs + 2000,
    // A connection is slow until its plans are cached, so it is kept.
    idleTimeoutMillis: 0,
  });
  const reading = open(connections, ['default_transaction_read_only=on']);
  const counting = open(countingOf(connections), []);
  const askPlain = pooled ? askInTransaction(settings) : askPrepared();
  const ask = async <T extends Row>(on: pg.Pool | pg.PoolClient, kind: Pool['name'], statement: string, parameters: readonly unknown[]): Promise<T> => {
    try {
      return first(await askPlain<T>(on, kind, statement, parameters), statement);
    } catch (error) {
      throw databaseError(error, statement, null);
    }
  };
  const reader: Reader = {
    engine: 'postgres',
    restricted,
    login,
    parallel: connections,
    call: (statement, parameters) => ask(reading, 'answers', statement, parameters),
    count: (statement, parameters) => ask(counting, 'counts', statement, parameters),
    onEach: (work) => onEachConnection(reading, connections, (client) => (
      work({ ...reader, call: (statement, parameters) => ask(client, 'answers', statement, parameters) })
    )),
    pools: () => [stateOf('answers', reading), stateOf('counts', counting)],
    close: async () => {
      await Promise.all([reading.end(), counting.end()]);
    },
  };
  return reader;
}

/** Settings of each connection that serves answers. */
function servingSettings(login: { readonly citus: boolean; readonly restricted: boolean; readonly statementTimeoutMs: number }): string[] {
  return [
    // An answer takes a millisecond, and starting parallel workers takes ten. The planner would start them to find a point among a million parcels.
    'jit=off', 'max_parallel_workers_per_gather=0', ...SESSION_SETTINGS,
    // Citus cannot plan several steps without values. It gives such a plan a high price, so that the planner avoids it unless it is forced.
    `plan_cache_mode=${login.citus ? 'auto' : 'force_generic_plan'}`,
    `statement_timeout=${Math.trunc(login.statementTimeoutMs)}`, ...(login.restricted ? [`role=${ROLE}`] : []),
  ];
}

/** Runs work on each connection of a pool. @throws MappaleError `SQL_*` if a connection could not be opened, after the work on the others */
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

/** Prepares each statement once on each connection. */
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

/** Sets our settings in each transaction and prepares nothing, because a pooler may give each transaction another server process. */
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
      // The rollback may have failed, too.
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
  /** The database may lie on several nodes. */
  readonly citus: boolean;
  /** A connection pooler is between the program and the server. */
  readonly pooled: boolean;
}

/** Whether the role exists and whoever logs in is a member of it, and what else the login may. */
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
