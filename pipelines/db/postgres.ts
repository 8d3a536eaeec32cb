/** Connects to PostgreSQL 15 or newer with pg and pg-copy-streams. */
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { MappaleError } from '../errors.ts';
import { COPY_HEADER, COPY_TRAILER } from '../formats/copy.ts';
import { databaseError } from './errors.ts';
import { openPool } from './pool.ts';
import { applySettings, backendOf, beginPooled, isPooled, poolModeOf, refusesSettings, sessionsNotKept } from './pooler.ts';
import { OneSession, SessionDatabase } from './session.ts';
import { serverFacts, serverFaults, SESSION_SETTINGS } from './server-facts.ts';
import { repairedAt, resolveAddress, type ServerAddress } from './server-address.ts';
import { ident, type Access, type CopyIn, type Database, type Row, type Session } from './types.ts';

// Returns int8 values (ids, counts) as numbers. Values of type numeric stay text unless a query casts the values to float8.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
});

class PostgresSession extends OneSession {
  readonly #client: pg.ClientBase;
  readonly #settings: readonly string[];

  /** @param settings settings to apply again after a reset, because they are not startup settings */
  constructor(client: pg.ClientBase, settings: readonly string[]) {
    super();
    this.#client = client;
    this.#settings = settings;
  }

  async query<T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    try {
      return (await this.#client.query<T>(sql, [...parameters])).rows;
    } catch (error) {
      throw databaseError(error, sql, null);
    }
  }

  /** Resets the session. Ignores a failure, because the connection is then lost and the next query reports the error. */
  async reset(): Promise<void> {
    await this.#client.query('reset all').catch(() => undefined);
    if (this.#settings.length > 0) await applySettings(this.#client, this.#settings, 'session').catch(() => undefined);
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

/** Runs each statement in a read-only transaction with the program's settings, because a pooler may give each transaction a different server process. */
class PooledSession extends PostgresSession {
  readonly #begin: () => Promise<unknown>;
  #isOpen = false;

  constructor(client: pg.ClientBase, settings: readonly string[]) {
    super(client, []);
    this.#begin = () => beginPooled(client, 'read only', settings).catch((error: unknown) => {
      throw databaseError(error, null, null);
    });
  }

  override async query<T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.#isOpen ? super.query<T>(sql, parameters) : this.transaction(() => super.query<T>(sql, parameters));
  }

  override async script(sql: string, origin: string): Promise<void> {
    return this.#isOpen ? super.script(sql, origin) : this.transaction(() => super.script(sql, origin));
  }

  override async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#isOpen = true;
    try {
      await this.#begin();
      const result = await work(this);
      await super.query('commit');
      return result;
    } catch (error) {
      await super.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  /** Does nothing, because all settings end with the transaction. */
  override async reset(): Promise<void> {}
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
    // Uses one listener for the whole COPY. The stream drains thousands of times, and a new listener for each wait would stay until the end of the COPY.
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

/** The program's settings, and the scope in which connections apply these settings: at startup, in the session, or in each transaction. */
interface Settings {
  readonly scope: 'startup' | 'session' | 'transaction';
  readonly settings: readonly string[];
}

class Postgres extends SessionDatabase {
  readonly engine = 'postgres';
  readonly label: string;
  readonly parallel = 4;
  readonly pooling: Database['pooling'];
  readonly #pool: pg.Pool;
  readonly #settings: readonly string[];
  readonly #isSet = new WeakSet<pg.PoolClient>();

  constructor(pool: pg.Pool, label: string, { scope, settings }: Settings) {
    super();
    this.#pool = pool;
    this.label = label;
    this.pooling = scope === 'startup' ? null : scope;
    this.#settings = scope === 'startup' ? [] : settings;
  }

  /** Takes a connection from the pool. Applies the program's settings if the scope is the session. */
  async #client(): Promise<pg.PoolClient> {
    let client: pg.PoolClient | undefined;
    try {
      client = await this.#pool.connect();
      if (this.pooling === 'session' && !this.#isSet.has(client)) {
        await applySettings(client, this.#settings, 'session');
        this.#isSet.add(client);
      }
      return client;
    } catch (error) {
      client?.release(true);
      throw databaseError(error, null, this.label);
    }
  }

  protected async connected<T>(work: (session: OneSession) => Promise<T>): Promise<T> {
    const client = await this.#client();
    let broken = true;
    try {
      const result = await work(this.pooling === 'transaction' ? new PooledSession(client, this.#settings) : new PostgresSession(client, this.#settings));
      broken = false;
      return result;
    } finally {
      // Closes the connection after a failure, because the state of the connection is unknown.
      client.release(broken);
    }
  }

  async copyIn(schema: string, table: string): Promise<CopyIn> {
    return new PostgresCopy(await this.#client(), schema, table);
  }

  async checkpoint(): Promise<void> {}

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/**
 * Settings of the sessions that `openPostgres` opens. `synchronous_commit` is on only for publications. All other data can be built again after a crash.
 * Statements start no parallel workers, because `--parallel` sets how many statements run at the same time.
 */
const SETTINGS = [
  'jit=off', 'synchronous_commit=off', 'max_parallel_workers_per_gather=0', 'max_parallel_maintenance_workers=0',
  ...SESSION_SETTINGS, 'statement_timeout=0',
  // With these settings, the server releases the locks of an unreachable client after two minutes.
  'tcp_keepalives_idle=60', 'tcp_keepalives_interval=15', 'tcp_keepalives_count=4',
];
/** Setting with which the server ends the statement of a killed client within a second. Otherwise the statement could block the next run. */
const WATCH_CLIENT = 'client_connection_check_interval=1s';

/**
 * Opens a server's database.
 * @throws MappaleError `SQL_*` if no server answers, `SESSIONS_NOT_KEPT`, and the errors of `serverAddress` and `serverFaults`
 */
export async function openPostgres(url: string, access: Access): Promise<Database> {
  const address = await resolveAddress(url);
  const settings = [...SETTINGS, ...(access === 'read' ? ['default_transaction_read_only=on'] : [])];
  try {
    return await connect(address, [...settings, WATCH_CLIENT], access);
  } catch (error) {
    // A server on Windows cannot detect lost clients and refuses this setting.
    if (error instanceof MappaleError && error.code === 'SQL_22023') return connect(address, settings, access);
    throw error;
  }
}

const POOL = { max: 24, application_name: 'mappale' } as const;

async function connect(address: ServerAddress, settings: readonly string[], access: Access): Promise<Database> {
  const { label, place } = address;
  let pool = openPool(address, settings, POOL);
  try {
    let scope: Settings['scope'] = 'startup';
    if (await reachesPooler(pool)) {
      const mode = await poolModeOf(address);
      if (mode !== 'session' && (access === 'write' || mode !== 'transaction')) throw sessionsNotKept(label, mode);
      scope = mode;
      await pool.end();
      pool = openPool(address, [], POOL);
    }
    const database = new Postgres(pool, label, { scope, settings });
    const [fault] = serverFaults(await serverFacts(database), { label, place }, access);
    if (fault !== undefined) throw fault;
    return database;
  } catch (error) {
    await pool.end();
    throw error instanceof MappaleError ? repairedAt(error, place) : error;
  }
}

/** Opens the first connection, and returns whether a pooler is between the program and the server. @throws MappaleError `SQL_*` if no server answers */
async function reachesPooler(pool: pg.Pool): Promise<boolean> {
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    const pooled = isPooled(client, await backendOf(client));
    client.release();
    return pooled;
  } catch (error) {
    client?.release(true);
    if (refusesSettings(error)) return true;
    throw databaseError(error, null, null);
  }
}
