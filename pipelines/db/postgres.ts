/** PostgreSQL ≥ 15 through pg and pg-copy-streams. */
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { MappaleError } from '../errors.ts';
import { COPY_HEADER, COPY_TRAILER } from '../formats/copy.ts';
import { databaseError } from './errors.ts';
import { OneSession, SessionDatabase } from './session.ts';
import { serverFacts, serverFaults, SESSION_SETTINGS } from './server-facts.ts';
import { repairedAt, resolveAddress, type ServerAddress } from './server-address.ts';
import { ident, type CopyIn, type Database, type Row } from './types.ts';

// int8 as number where it fits (ids, counts), numeric stays text unless a query asks for float8.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
});

class PostgresSession extends OneSession {
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    super();
    this.#client = client;
  }

  async query<T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    try {
      return (await this.#client.query<T>(sql, [...parameters])).rows;
    } catch (error) {
      throw databaseError(error, sql, null);
    }
  }

  /** Where that fails the connection is lost, which the next one who gets it is told. */
  async reset(): Promise<void> {
    await this.#client.query('reset all').catch(() => undefined);
  }

  async script(sql: string, origin: string): Promise<void> {
    try {
      await this.#client.query(sql);
    } catch (error) {
      throw databaseError(error, sql, origin);
    }
  }

  async copyRows(schema: string, table: string, rows: Buffer): Promise<void> {
    const sql = copyStatement(schema, table);
    try {
      const stream = this.#client.query(copyFrom(sql));
      await new Promise<void>((resolve, reject) => {
        stream.once('finish', resolve);
        stream.once('error', reject);
        stream.write(COPY_HEADER);
        stream.write(rows);
        stream.end(COPY_TRAILER);
      });
    } catch (error) {
      throw databaseError(error, sql, null);
    }
  }
}

function copyStatement(schema: string, table: string): string {
  return `copy ${ident(schema, table)} from stdin (format binary)`;
}

class PostgresCopy implements CopyIn {
  readonly #client: pg.PoolClient;
  readonly #stream: ReturnType<typeof copyFrom>;
  #failed: Error | null = null;
  #drain: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(client: pg.PoolClient, schema: string, table: string) {
    this.#client = client;
    this.#stream = client.query(copyFrom(copyStatement(schema, table)));
    this.#stream.on('error', (error: Error) => {
      this.#failed ??= error;
      this.#wake();
    });
    // Listened to once for all: a COPY drains thousands of times, and a listener for each would stay until its end.
    this.#stream.on('drain', () => this.#wake());
    this.#stream.on('close', () => this.#wake());
    this.#stream.write(COPY_HEADER);
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#failed !== null) throw databaseError(this.#failed, null, null);
    if (this.#stream.write(chunk)) return undefined;
    this.#drain ??= this.#drained().finally(() => (this.#drain = undefined));
    return this.#drain;
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failed !== null) throw databaseError(this.#failed, null, null);
  }

  async end(): Promise<number> {
    try {
      await new Promise<void>((resolve, reject) => {
        if (this.#failed !== null) return reject(this.#failed);
        this.#stream.once('finish', resolve);
        this.#stream.once('error', reject);
        this.#stream.end(COPY_TRAILER);
      });
      this.#client.release();
      return this.#stream.rowCount;
    } catch (error) {
      this.#client.release(true);
      throw databaseError(error, null, null);
    }
  }

  async abort(): Promise<void> {
    this.#stream.destroy();
    this.#client.release(true);
  }
}

class Postgres extends SessionDatabase {
  readonly engine = 'postgres';
  readonly label: string;
  readonly parallel: number;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool, label: string, parallel: number) {
    super();
    this.#pool = pool;
    this.label = label;
    this.parallel = parallel;
  }

  protected async connected<T>(work: (session: OneSession) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw databaseError(error, null, this.label);
    }
    let broken = true;
    try {
      const result = await work(new PostgresSession(client));
      broken = false;
      return result;
    } finally {
      // After a failure nobody knows what state it is in.
      client.release(broken);
    }
  }

  async copyIn(schema: string, table: string): Promise<CopyIn> {
    try {
      return new PostgresCopy(await this.#pool.connect(), schema, table);
    } catch (error) {
      throw databaseError(error, null, this.label);
    }
  }

  async checkpoint(): Promise<void> {}

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Of every session. What is published is committed with `synchronous_commit` on; the rest is made again after a crash. */
const SETTINGS = [
  'jit=off', 'synchronous_commit=off',
  ...SESSION_SETTINGS, 'statement_timeout=0',
  // A machine that vanished without a word gives its lock back after two minutes.
  'tcp_keepalives_idle=60', 'tcp_keepalives_interval=15', 'tcp_keepalives_count=4',
];
/** A process that was killed: its statement ends within a second, and does not stand in the way of the next run until it is done. */
const WATCH_CLIENT = 'client_connection_check_interval=1s';

/** Connects. @throws MappaleError `DATABASE_URL_UNREADABLE`, `SQL_*` when no server answers, and those of `serverFaults` */
export async function openPostgres(url: string, readOnly: boolean): Promise<Database> {
  const address = await resolveAddress(url);
  const settings = [...SETTINGS, ...(readOnly ? ['default_transaction_read_only=on'] : [])];
  try {
    return await connect(address, [...settings, WATCH_CLIENT], !readOnly);
  } catch (error) {
    // A server on Windows cannot watch its clients, and says so.
    if (error instanceof MappaleError && error.code === 'SQL_22023') return connect(address, settings, !readOnly);
    throw error;
  }
}

async function connect({ place, connectionString, options, label }: ServerAddress, settings: readonly string[], writes: boolean): Promise<Database> {
  const pool = new pg.Pool({
    connectionString, max: 24, application_name: 'mappale', options: [options, ...settings.map((setting) => `-c ${setting}`)].join(' '),
    keepAlive: true, keepAliveInitialDelayMillis: 60_000,
  });
  // An idle connection that the server drops is reported by the next query that needs it.
  pool.on('error', () => undefined);
  // A connection that breaks while it works rejects its query; without a listener the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const database = new Postgres(pool, label, 4);
  try {
    const [fault] = serverFaults(await serverFacts(database), { label, place }, writes);
    if (fault !== undefined) throw fault;
  } catch (error) {
    await pool.end();
    throw error instanceof MappaleError ? repairedAt(error, place) : error;
  }
  return database;
}
