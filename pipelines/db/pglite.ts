/** Opens PGlite, which runs PostgreSQL with PostGIS inside this process, for the demo, laptops and tests. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import pLimit from 'p-limit';
import { COPY_HEADER, COPY_TRAILER } from '../formats/copy.ts';
import { MappaleError } from '../errors.ts';
import { quoted } from '../typed.ts';
import { databaseError } from './errors.ts';
import { giveFolderBack, inspectFolder, mustHaveRoom, takeFolder, unfinishedMark } from './pglite-folder.ts';
import { readSnapshot, writeSnapshot, type SnapshotContent } from './pglite-snapshot.ts';
import { OneSession, SessionDatabase } from './session.ts';
import { emptyDatabase } from './state.ts';
import { statementsOf } from './statements.ts';
import { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

const embedded = statementsOf('embedded');

/** Page cache size for read-only commands. PostgreSQL's default of 128 MB would stay in the process's memory. */
const READ_BUFFERS = 'shared_buffers=16MB';

/** Setting with which PostgreSQL creates new files of the write-ahead log instead of recycling old files. New files contain zeros, which compress well. */
const NO_RECYCLED_LOG = 'wal_recycle=off';

/**
 * Work after which V8 optimises a function of WebAssembly, in V8's unit, which is roughly the number of executed bytes of code. V8's default is 1.8 million in
 * Node 20, and 13 million in Node 22 and 24. With these defaults, a short command spends much of its CPU time on compiling functions that it hardly uses again.
 */
const OPTIMISED_AFTER = 180_000_000;

/** Buffer size of a COPY in bytes. A full buffer is sent to the database. */
const COPY_BYTES = 4 * 1024 * 1024;

type Opened = Awaited<ReturnType<typeof createPglite>>;

/** The only connection of an embedded database. */
class EmbeddedSession extends OneSession {
  readonly #pglite: Opened;
  /** SQL that restores the settings of the session. */
  readonly #reset: string;
  /** Folder of the database; null if the database is in memory. */
  readonly #folder: string | null;

  constructor(pglite: Opened, access: 'read' | 'write', folder: string | null) {
    super();
    this.#pglite = pglite;
    this.#folder = folder;
    // Sets the time zone, because PGlite otherwise uses the time zone of the process.
    this.#reset = `reset all; set timezone to 'UTC'${access === 'read' ? '; set default_transaction_read_only to on' : ''}`;
  }

  async reset(): Promise<void> {
    await this.#pglite.exec(this.#reset);
  }

  async query<T extends Row = Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.#whole(sql, null, () => this.#pglite.query<T>(sql, [...parameters]))).rows;
  }

  async script(sql: string, origin: string): Promise<void> {
    await this.#whole(sql, origin, () => this.#pglite.exec(sql));
  }

  async copyRows(schema: string, table: string, rows: Buffer): Promise<void> {
    await this.copy(schema, table, [rows]);
  }

  /** Copies rows into a table. @param chunks rows in binary COPY format, without header and trailer @returns the number of copied rows */
  async copy(schema: string, table: string, chunks: readonly Buffer[]): Promise<number> {
    const sql = `copy ${ident(schema, table)} from '/dev/blob' (format binary)`;
    const blob = new Blob([COPY_HEADER, ...chunks, COPY_TRAILER]);
    return (await this.#whole(sql, null, () => this.#pglite.query(sql, [], { blob }))).affectedRows ?? 0;
  }

  /**
   * Runs a statement, and checks that the statement did not stop early.
   * @throws MappaleError `SQL_BROKEN_OFF` if the statement stopped early without an error; `SQL_*` if the statement failed
   */
  async #whole<T>(sql: string, origin: string | null, statement: () => Promise<T>): Promise<T> {
    const before = this.#pglite.unwinding.uncaught();
    try {
      const result = await statement();
      if (this.#pglite.unwinding.uncaught() === before) return result;
    } catch (error) {
      throw this.#diskFull(databaseError(error, sql, origin), origin);
    }
    // Inside a transaction, the rollback undoes the statement's changes. Outside a transaction, some changes of the statement may remain.
    await this.#pglite.exec('rollback');
    throw new MappaleError('the embedded database stopped a statement early', {
      code: 'SQL_BROKEN_OFF', kind: 'database', at: origin ?? undefined,
      detail: `expected all rows, but a geometry function of PostGIS failed on a row\n${sql.length > 200 ? `${sql.slice(0, 200)} …` : sql}`,
      hint: 'Set DATABASE_URL to a PostgreSQL server, which can run this statement, and run the same command again.',
    });
  }

  /** Returns the error for a full disk, which names the folder. */
  #diskFull(error: MappaleError, origin: string | null): MappaleError {
    if (error.code !== 'SQL_53100' || this.#folder === null) return error;
    return new MappaleError('the disk of the embedded database is full', {
      code: error.code, kind: 'database', at: this.#folder, detail: `expected free space${origin === null ? '' : ` in ${origin}`}, found: ${error.message}`,
      hint: 'Free space on the disk of this folder, then run the same command again. Published data is unchanged.', fix: `df -h ${quoted(this.#folder)}`, cause: error,
    });
  }

  close(): Promise<void> {
    return this.#pglite.close();
  }
}

class Embedded extends SessionDatabase {
  readonly engine = 'pglite';
  readonly label: string;
  readonly pooling = null;
  readonly parallel = 1;
  readonly #session: EmbeddedSession;
  /** Folder of the database; null if the database is in memory. */
  readonly #folder: string | null;
  /** Limits work to one task at a time, because there is only one connection. */
  readonly #exclusive = pLimit(1);

  constructor(session: EmbeddedSession, folder: string | null) {
    super();
    this.#session = session;
    this.label = `pglite:${folder ?? 'memory'}`;
    this.#folder = folder;
  }

  protected connected<T>(work: (session: OneSession) => Promise<T>): Promise<T> {
    return this.#exclusive(async () => {
      try {
        return await work(this.#session);
      } catch (error) {
        await this.#session.reset();
        throw error;
      }
    });
  }

  async copyIn(schema: string, table: string): Promise<CopyIn> {
    let held: Buffer[] = [];
    let size = 0;
    let rows = 0;
    const hand = async (): Promise<void> => {
      if (size === 0) return;
      const chunks = held;
      held = [];
      size = 0;
      const copied = await this.#exclusive(() => this.#session.copy(schema, table, chunks));
      rows += copied;
    };
    return {
      write(chunk) {
        held.push(chunk);
        size += chunk.length;
        return size < COPY_BYTES ? undefined : hand();
      },
      async end() {
        await hand();
        return rows;
      },
      async abort() {
        held = [];
        size = 0;
      },
    };
  }

  async checkpoint(): Promise<void> {
    await this.query('checkpoint');
  }

  async close(): Promise<void> {
    await this.#exclusive(() => this.#session.close());
    if (this.#folder !== null) await giveFolderBack(this.#folder);
  }
}

/** The compiled engine, with a function that Emscripten exports in addition to PostgreSQL's functions. */
interface Engine {
  readonly ___cxa_uncaught_exceptions?: () => number;
}

/**
 * PGlite extension that counts uncaught C++ exceptions. If two lines are very close to each other, GEOS throws an exception, catches this exception and
 * repeats the computation with a more robust method. In PGlite's build, the exception is not caught. The statement then stops without an error and returns only
 * the rows so far (seen with st_intersection, PGlite 0.5.8). With fixed precision (the grid size of st_intersection), GEOS throws no such exception.
 */
const unwinding = {
  name: 'unwinding',
  async setup(_pglite: unknown, options: { readonly preRun?: readonly ((engine: Engine) => void)[] }) {
    let engine: Engine = {};
    const uncaught = (): number => {
      const { ___cxa_uncaught_exceptions: count } = engine;
      if (count === undefined) throw new Error('this version of PGlite does not report when a statement stopped early');
      return count();
    };
    return { emscriptenOpts: { ...options, preRun: [...(options.preRun ?? []), (made: Engine) => void (engine = made)] }, namespaceObj: { uncaught } };
  },
};

/**
 * Opens the embedded database. First checks that the folder contains an embedded database or can be used for a new database, and only then changes files.
 * @param folder folder of the database, or `memory`
 * @param access `read` creates no database and starts sessions read-only
 * @throws MappaleError `DATABASE_OUT_OF_DATE` (exit 6) if there is no database to read; `PGLITE_BROKEN` (exit 6); the errors of `inspectFolder` and
 *   `takeFolder`
 */
export async function openPglite(folder: string, access: 'read' | 'write'): Promise<Database> {
  if (folder === 'memory') {
    const session = new EmbeddedSession(await createPglite({ dataDir: `memory://${randomUUID()}`, settings: [], snapshot: await readSnapshot() }), 'write', null);
    await collectNoGeometryStatistics(session);
    return new Embedded(session, null);
  }
  const unfinished = unfinishedMark(folder);
  const found = await inspectFolder(folder);
  if (access === 'read' && found !== 'database') throw emptyDatabase(folder);
  const purpose = found === 'database' ? access : 'new';
  await takeFolder(folder, purpose);
  try {
    // Removes an unfinished database of a killed process, because this database contains no data.
    if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) await writeFile(unfinished, '');
    const snapshot = existsSync(unfinished) ? await readSnapshot() : undefined;
    const session = new EmbeddedSession(await createPglite({ dataDir: folder, settings: access === 'read' ? [READ_BUFFERS] : [], snapshot }), access, folder);
    await rm(unfinished, { force: true });
    if (access === 'write') await collectNoGeometryStatistics(session);
    await session.reset();
    return new Embedded(session, folder);
  } catch (error) {
    await giveFolderBack(folder);
    // Checks the free space, because PGlite does not report a full disk.
    await mustHaveRoom(folder, purpose);
    throw new MappaleError('the embedded database cannot be opened', {
      code: 'PGLITE_BROKEN', kind: 'database', at: folder, detail: error instanceof Error ? error.message : String(error),
      hint: existsSync(unfinished)
        ? 'The database was not created. Check whether the disk is full or damaged, then run the same command again.'
        : 'Check whether the disk is full or damaged. To start again, move the folder away and load again, or set DATABASE_URL to a PostgreSQL server.',
      fix: existsSync(unfinished) ? undefined : `mv ${quoted(folder)} ${quoted(`${folder}.aside`)}`,
      cause: error,
    });
  }
}

/**
 * Prevents `analyze` from collecting statistics of geometry columns. With these statistics, PostGIS fails to plan a join of two tables whose extents are
 * disjoint. The error is `invalid join selectivity`, because 32-bit pointers cannot hold the estimate (PGlite 0.5.8, PostGIS 3.6).
 */
async function collectNoGeometryStatistics(session: Session): Promise<void> {
  const [found] = await session.query<{ collects: boolean }>(embedded('collects_geometry_statistics'));
  if (found?.collects !== true) return;
  await session.query(embedded('collect_no_geometry_statistics'));
  await session.query(embedded('clear_geometry_statistics'));
}

/**
 * Creates and stores a snapshot from which this program creates embedded databases. The snapshot of all tables starts from the snapshot of the extensions.
 * @param prepare creates the content of the snapshot in a new database
 */
export async function createSnapshot(content: SnapshotContent, prepare: (database: Database) => Promise<unknown>): Promise<void> {
  const snapshot = content === 'tables' ? await readSnapshot() : undefined;
  const pglite = await createPglite({ dataDir: `memory://${randomUUID()}`, settings: [NO_RECYCLED_LOG], snapshot });
  const database = new Embedded(new EmbeddedSession(pglite, 'write', null), null);
  await prepare(database);
  for (const statement of ['vacuum', 'select pg_switch_wal()', 'checkpoint']) await database.query(statement);
  await writeSnapshot(content, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()));
  await database.close();
}

interface NewPglite {
  /** Data folder in PGlite's notation, such as `memory://`. */
  readonly dataDir: string;
  /** Server settings in addition to PGlite's own, as `name=value`. */
  readonly settings: readonly string[];
  /** Archive of the initial data folder for a new database; undefined to create the database without a snapshot. */
  readonly snapshot: Blob | undefined;
}

/** Opens PGlite with the required extensions. */
async function createPglite({ dataDir, settings, snapshot }: NewPglite) {
  const [{ PGlite }, { postgis }, { pg_trgm }, { unaccent }, { fuzzystrmatch }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('./pglite-postgis.ts'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
    import('@electric-sql/pglite/contrib/unaccent'),
    import('@electric-sql/pglite/contrib/fuzzystrmatch'),
  ]);
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMISED_AFTER}`);
  const startParams = settings.length === 0 ? undefined : [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])];
  const pglite = await PGlite.create({ dataDir, loadDataDir: snapshot, startParams, extensions: { postgis, pg_trgm, unaccent, fuzzystrmatch, unwinding } });
  keepBuiltInParsers(pglite);
  return pglite;
}

/** PostgreSQL's own types have OIDs below this number. Row types of tables, including the tables of the system catalogue, have higher OIDs. */
const FIRST_GENERATED_OID = 10_000;

/**
 * Removes the parsers of arrays of types that PostgreSQL does not define. PGlite creates such a parser for each table, and copies all parsers for each
 * statement. Arrays of these types are then returned as text, as from a server.
 */
function keepBuiltInParsers(pglite: { parsers: Record<number | string, (value: string) => unknown> }): void {
  pglite.parsers = Object.fromEntries(Object.entries(pglite.parsers).filter(([oid]) => Number(oid) < FIRST_GENERATED_OID));
}
