/** PGlite: PostgreSQL with PostGIS inside this process, for the demo, laptops and tests. */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { COPY_HEADER, COPY_TRAILER } from '../formats/copy.ts';
import { freeBytes } from '../formats/disk.ts';
import { MappaleError } from '../errors.ts';
import { databaseError } from './errors.ts';
import { OneSession, SessionDatabase } from './session.ts';
import { emptyDatabase } from './state.ts';
import { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

/** A COPY holds at most this much before it is handed over. */
const COPY_BYTES = 4 * 1024 * 1024;

type Opened = Awaited<ReturnType<typeof createPglite>>;

/** The one connection. */
class EmbeddedSession extends OneSession {
  readonly #pglite: Opened;
  /** What each piece of work begins with. */
  readonly #reset: string;

  constructor(pglite: Opened, readOnly: boolean) {
    super();
    this.#pglite = pglite;
    this.#reset = readOnly ? 'reset all; set default_transaction_read_only to on' : 'reset all';
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

  /** @returns rows that were copied */
  async copy(sql: string, blob: Blob): Promise<number> {
    return (await this.#whole(sql, null, () => this.#pglite.query(sql, [], { blob }))).affectedRows ?? 0;
  }

  /** Runs a statement. @throws MappaleError `SQL_BROKEN_OFF` where it ended before its end */
  async #whole<T>(sql: string, origin: string | null, statement: () => Promise<T>): Promise<T> {
    const before = this.#pglite.unwinding.uncaught();
    try {
      const result = await statement();
      if (this.#pglite.unwinding.uncaught() === before) return result;
    } catch (error) {
      throw databaseError(error, sql, origin);
    }
    // Of a statement on its own a part may stand; in a transaction, which is rolled back, none.
    await this.#pglite.exec('rollback');
    throw new MappaleError('the embedded database broke a statement off', {
      code: 'SQL_BROKEN_OFF', kind: 'database', at: origin ?? undefined,
      detail: `expected every row, but a geometry function failed on one of them inside PostGIS\n${sql.length > 200 ? `${sql.slice(0, 200)} …` : sql}`,
      hint: 'Set DATABASE_URL to a PostgreSQL server, which can compute it, and run the same command again.',
    });
  }

  close(): Promise<void> {
    return this.#pglite.close();
  }
}

class Embedded extends SessionDatabase {
  readonly engine = 'pglite';
  readonly label: string;
  readonly parallel = 1;
  readonly #session: EmbeddedSession;
  readonly #lock: string | null;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(session: EmbeddedSession, label: string, lock: string | null) {
    super();
    this.#session = session;
    this.label = label;
    this.#lock = lock;
  }

  /** One after another: there is one connection. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work, work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#exclusive(async () => {
      try {
        return await work(this.#session);
      } finally {
        await this.#session.reset();
      }
    });
  }

  async copyIn(schema: string, table: string): Promise<CopyIn> {
    const statement = `copy ${ident(schema, table)} from '/dev/blob' (format binary)`;
    let held: Buffer[] = [];
    let size = 0;
    let rows = 0;
    const hand = async (): Promise<void> => {
      if (size === 0) return;
      const blob = new Blob([COPY_HEADER, ...held, COPY_TRAILER]);
      held = [];
      size = 0;
      const copied = await this.#exclusive(() => this.#session.copy(statement, blob));
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
    await this.#tail.catch(() => undefined);
    await this.#session.close();
    if (this.#lock !== null) await giveLockBack(this.#lock);
  }
}

/** What the engine, as Emscripten made it of C++, exports beside PostgreSQL's own functions. */
interface Engine {
  readonly ___cxa_uncaught_exceptions?: () => number;
}

/**
 * An extension of PGlite that asks the engine how many C++ exceptions nobody caught. GEOS throws one where two lines cross too closely and catches it to
 * compute more carefully; in PGlite's build it is never caught: the statement ends there, without an error and with the rows so far (seen with
 * st_intersection, PGlite 0.5.8). Fixed precision (the grid size of st_intersection) needs no exception.
 */
const unwinding = {
  name: 'unwinding',
  async setup(_pglite: unknown, options: { readonly preRun?: readonly ((engine: Engine) => void)[] }) {
    let engine: Engine = {};
    const uncaught = (): number => {
      const { ___cxa_uncaught_exceptions: count } = engine;
      if (count === undefined) throw new Error('this version of PGlite does not say when a statement was broken off');
      return count();
    };
    return { emscriptenOpts: { ...options, preRun: [...(options.preRun ?? []), (made: Engine) => void (engine = made)] }, namespaceObj: { uncaught } };
  },
};

/**
 * Opens the embedded database. Nothing is made, and nothing is removed, before the folder is known to be one of ours or free to become it.
 * @param folder where it lives, or `memory`
 * @param readOnly nothing is made, and sessions begin read-only
 * @throws MappaleError `DATABASE_IN_USE` (exit 7) when another process has the folder open: two would destroy it; `DATABASE_OUT_OF_DATE` (exit 6) when
 *   there is none to be read; those of `inspectFolder`; `PGLITE_BROKEN` (exit 6)
 */
export async function openPglite(folder: string, readOnly: boolean): Promise<Database> {
  if (folder === 'memory') {
    return new Embedded(new EmbeddedSession(await createPglite(`memory://${randomUUID()}`), false), 'pglite:memory', null);
  }
  const unfinished = `${folder}.unfinished`;
  const found = await inspectFolder(folder, existsSync(unfinished));
  if (readOnly && found !== 'database') throw emptyDatabase(folder);
  await requireRoom(folder, found === 'database' ? OPEN_BYTES : NEW_BYTES);
  const lock = `${folder}.lock`;
  await writable(folder, async () => {
    await mkdir(dirname(folder), { recursive: true });
    await takeLock(lock, folder);
  });
  try {
    // While it is being made it holds nothing of anyone: what a killed process left half-made is made again.
    if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) await writeFile(unfinished, '');
    const session = new EmbeddedSession(await createPglite(folder), readOnly);
    await rm(unfinished, { force: true });
    await session.reset();
    return new Embedded(session, `pglite:${folder}`, lock);
  } catch (error) {
    await giveLockBack(lock);
    throw new MappaleError('the embedded database does not open', {
      code: 'PGLITE_BROKEN', kind: 'database', at: folder, detail: error instanceof Error ? error.message : String(error),
      hint: existsSync(unfinished)
        ? 'It was not yet made. Look whether the disk is full or broken, then run the same command again.'
        : `Look whether the disk is full or broken. To begin anew, put the folder aside (mv ${quoted(folder)} ${quoted(`${folder}.aside`)}) and load again, or set DATABASE_URL to a PostgreSQL server.`,
      cause: error,
    });
  }
}

/** With the extensions that we need. @param dataDir as PGlite takes it */
async function createPglite(dataDir: string) {
  const [{ PGlite }, { postgis }, { pg_trgm }, { unaccent }, { fuzzystrmatch }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-postgis'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
    import('@electric-sql/pglite/contrib/unaccent'),
    import('@electric-sql/pglite/contrib/fuzzystrmatch'),
  ]);
  return PGlite.create({ dataDir, extensions: { postgis, pg_trgm, unaccent, fuzzystrmatch, unwinding } });
}

/** PostgreSQL inside PGlite 0.5; `PG_VERSION` of a folder says which one made it. */
const EMBEDDED_MAJOR = 18;
/** What PostgreSQL itself puts into its folder. */
const OF_A_CLUSTER = /^(?:base|global|pg_[a-z_]+(?:\.conf)?|PG_VERSION|postgresql(?:\.auto)?\.conf|postmaster\.(?:pid|opts))$/;
/** A new database takes 65 MB; its journal grows by 16 MB at a time. */
const NEW_BYTES = 256 * 1024 * 1024;
const OPEN_BYTES = 64 * 1024 * 1024;

/**
 * What is there: our database, nothing, or what a killed process left half-made.
 * @throws MappaleError `PGLITE_FOLDER` (exit 2) for what is none of these, which is left as it is; `DATABASE_NEWER`, `PGLITE_OTHER_VERSION` (exit 6)
 */
async function inspectFolder(folder: string, unfinished: boolean): Promise<'database' | 'nothing' | 'half-made'> {
  const refuse = (found: string, hint: string): MappaleError => new MappaleError('the folder cannot be that of an embedded database', {
    code: 'PGLITE_FOLDER', kind: 'usage', at: folder === '' ? 'DATABASE_URL=pglite:' : folder, detail: `expected a folder of its own, or a path at which nothing is, found ${found}`, hint: `${hint} It was left as it is.`,
  });
  if (folder.trim() === '') throw refuse('an empty name', 'Name a folder: DATABASE_URL=pglite:.mappale/database, or unset it.');
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'nothing';
    if (code === 'ENOTDIR') throw refuse('a file, or a path below one', 'Name another path in DATABASE_URL.');
    throw refuse(`one that cannot be looked into (${code ?? ''})`, 'Give this user the right to read and write it, or name another path in DATABASE_URL.');
  }
  if (names.length === 0) return 'nothing';
  const strangers = names.filter((name) => !OF_A_CLUSTER.test(name));
  if (!names.includes('PG_VERSION') ? !unfinished || strangers.length > 0 : unfinished && strangers.length > 0) {
    throw refuse(`one that holds ${strangers.slice(0, 3).join(', ') || names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`, 'Name a folder that does not exist yet.');
  }
  if (unfinished) return 'half-made';
  // PGlite leaves no options of a postmaster.
  if (names.includes('postmaster.opts')) throw refuse('that of a PostgreSQL server', 'Name another folder in DATABASE_URL, or the server itself: DATABASE_URL=postgres://….');
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (Number(version) > EMBEDDED_MAJOR) {
    throw new MappaleError('the embedded database was made by a newer version of this program', {
      code: 'DATABASE_NEWER', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version}`, hint: 'Use the newer program, or name another folder in DATABASE_URL. It was left as it is.',
    });
  }
  if (Number(version) !== EMBEDDED_MAJOR) {
    throw new MappaleError('the folder holds a database of another version of PostgreSQL', {
      code: 'PGLITE_OTHER_VERSION', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version === '' ? 'no number' : version}`,
      hint: 'If it belongs to a server, name another folder in DATABASE_URL. If an earlier version of this program made it, load again into another folder. It was left as it is.',
    });
  }
  return 'database';
}

/** @throws MappaleError `DISK_FULL` (exit 2) */
async function requireRoom(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= bytes) return;
  throw new MappaleError('there is not enough room for the embedded database', {
    code: 'DISK_FULL', kind: 'usage', at: folder, detail: `expected ${Math.ceil(bytes / 1024 ** 2)} MiB free on its disk, found ${Math.floor(free / 1024 ** 2)} MiB`,
    hint: 'Free room, or name a folder on another disk: DATABASE_URL=pglite:FOLDER. Nothing was made.',
  });
}

/** @throws MappaleError `PGLITE_FOLDER` (exit 2) where the system does not let us write */
async function writable(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MappaleError('the embedded database cannot be written where it is named', {
      code: 'PGLITE_FOLDER', kind: 'usage', at: folder, detail: `expected a place that can be written, found: ${code === undefined ? String(error) : message}`, hint: 'Give this user the right to write there, or name another folder in DATABASE_URL.', cause: error,
    });
  }
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function giveLockBack(lock: string): Promise<void> {
  held.delete(lock);
  await rm(lock, { force: true });
}

/**
 * One process may have the folder open. The file names it; a file left by a process that is gone, or by one from before the machine
 * was started, is taken over. It appears whole, by a link, so that nobody reads it empty.
 */
async function takeLock(lock: string, folder: string): Promise<void> {
  const mine = `${lock}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      try {
        await place(mine, lock);
        held.add(lock);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = await holderOf(lock);
      if (holder !== null) {
        throw new MappaleError('the embedded database is in use', {
          code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: `expected no other process, found process ${holder}`,
          hint: 'Wait until it ends. Several programs at once need a PostgreSQL server: set DATABASE_URL.',
        });
      }
      // Of two that find it abandoned only one gets it; if it is a new one by now, it goes back.
      const aside = `${mine}.abandoned`;
      await rename(lock, aside).catch(() => undefined);
      if (await holderOf(aside) !== null) await place(aside, lock).catch(() => undefined);
      await rm(aside, { force: true });
    }
    throw new MappaleError('the embedded database is in use', {
      code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: 'other processes took it in the same moment', hint: 'Run the same command again.',
    });
  } finally {
    await rm(mine, { force: true });
  }
}

/** Locks of this process: to its id alone a file left by a process of the same id, as in a container, would look like its own. */
const held = new Set<string>();

async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without links.
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** The living process that a lock file names; null: none. */
async function holderOf(lock: string): Promise<number | null> {
  const [text, info] = await Promise.all([readFile(lock, 'utf8').catch(() => ''), stat(lock).catch(() => null)]);
  const holder = Number(text);
  if (held.has(lock)) return process.pid;
  if (info === null || !(holder > 0) || holder === process.pid) return null;
  const startedMs = Date.now() - uptime() * 1000;
  return info.mtimeMs < startedMs - 60_000 || !isAlive(holder) ? null : holder;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
