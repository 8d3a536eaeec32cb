/** PGlite: PostgreSQL with PostGIS inside this process, for the demo, laptops and tests. */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { COPY_HEADER, COPY_TRAILER } from '../kit/copy.ts';
import { MappaleError } from '../errors.ts';
import { databaseError } from './errors.ts';
import { emptyDatabase } from './state.ts';
import { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

/** A COPY holds at most this much before it is handed over. */
const COPY_BYTES = 4 * 1024 * 1024;

class Embedded implements Database {
  readonly engine = 'pglite';
  readonly label: string;
  readonly parallel = 1;
  readonly #pglite: PGlite;
  readonly #escaped: () => number;
  readonly #lock: string | null;
  /** What a session begins with. */
  readonly #reset: string;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(pglite: PGlite, label: string, lock: string | null, readOnly: boolean) {
    this.#pglite = pglite;
    this.#escaped = escapedOf(pglite);
    this.label = label;
    this.#lock = lock;
    this.#reset = readOnly ? 'reset all; set default_transaction_read_only to on' : 'reset all';
  }

  /** Before the first session. */
  async begin(): Promise<this> {
    await this.#pglite.exec(this.#reset);
    return this;
  }

  /** Runs a statement. @throws MappaleError `SQL_BROKEN_OFF` where it ended before its end */
  async #whole<T>(sql: string, origin: string | null, statement: () => Promise<T>): Promise<T> {
    const before = this.#escaped();
    try {
      const result = await statement();
      if (this.#escaped() === before) return result;
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

  /** One after another: there is one connection. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work, work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  readonly #direct: Session = {
    query: async <T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> => {
      return (await this.#whole(sql, null, () => this.#pglite.query<T>(sql, [...parameters]))).rows;
    },
    script: async (sql: string, origin: string): Promise<void> => {
      await this.#whole(sql, origin, () => this.#pglite.exec(sql));
    },
    transaction: async <T>(work: () => Promise<T>): Promise<T> => {
      await this.#direct.query('begin');
      try {
        const result = await work();
        await this.#direct.query('commit');
        return result;
      } catch (error) {
        await this.#direct.query('rollback').catch(() => undefined);
        throw error;
      }
    },
  };

  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#exclusive(async () => {
      try {
        return await work(this.#direct);
      } finally {
        await this.#pglite.exec(this.#reset);
      }
    });
  }

  query<T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.#exclusive(() => this.#direct.query<T>(sql, parameters));
  }

  script(sql: string, origin: string): Promise<void> {
    return this.#exclusive(() => this.#direct.script(sql, origin));
  }

  transaction<T>(): Promise<T> {
    throw new Error('open a session for a transaction');
  }

  async copyIn(schema: string, table: string): Promise<CopyIn> {
    const statement = `copy ${ident(schema, table)} from '/dev/blob' (format binary)`;
    let held: Buffer[] = [];
    let size = 0;
    let rows = 0;
    const hand = async (): Promise<void> => {
      if (size === 0) return;
      const blob = new Blob([COPY_HEADER, ...held, COPY_TRAILER] as unknown as ConstructorParameters<typeof Blob>[0]);
      held = [];
      size = 0;
      await this.#exclusive(async () => {
        rows += (await this.#whole(statement, null, () => this.#pglite.query(statement, [], { blob }))).affectedRows ?? 0;
      });
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
    await this.#exclusive(() => this.#direct.query('checkpoint'));
  }

  async close(): Promise<void> {
    await this.#tail.catch(() => undefined);
    await this.#pglite.close();
    if (this.#lock !== null) await giveLockBack(this.#lock);
  }
}

/**
 * How many C++ exceptions nobody caught. GEOS throws one where two lines cross too closely and catches it to compute more carefully;
 * in PGlite's build it is never caught: the statement ends there, without an error and with the rows so far (seen with st_intersection,
 * PGlite 0.5.8). Fixed precision (the grid size of st_intersection) needs no exception.
 */
function escapedOf(pglite: PGlite): () => number {
  const { mod } = pglite as unknown as { mod?: { ___cxa_uncaught_exceptions?: () => number } };
  const count = mod?.___cxa_uncaught_exceptions;
  if (count === undefined) throw new Error('this version of PGlite does not say when a statement was broken off');
  return count;
}

/**
 * Opens the embedded database.
 * @param folder where it lives, or `memory`
 * @param readOnly nothing is made, and sessions begin read-only
 * @throws MappaleError `DATABASE_IN_USE` (exit 7) when another process has the folder open: two would destroy it; `DATABASE_OUT_OF_DATE` (exit 6) when
 *   there is none to be read
 */
export async function openPglite(folder: string, readOnly: boolean): Promise<Database> {
  const unfinished = `${folder}.unfinished`;
  if (readOnly && (!existsSync(join(folder, 'PG_VERSION')) || existsSync(unfinished))) throw emptyDatabase(folder);
  const [{ PGlite }, { postgis }, { pg_trgm }, { unaccent }, { fuzzystrmatch }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-postgis'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
    import('@electric-sql/pglite/contrib/unaccent'),
    import('@electric-sql/pglite/contrib/fuzzystrmatch'),
  ]);
  const extensions = { postgis, pg_trgm, unaccent, fuzzystrmatch };
  if (folder === 'memory') {
    return new Embedded(await PGlite.create({ dataDir: `memory://${randomUUID()}`, extensions }), 'pglite:memory', null, false);
  }
  await mkdir(dirname(folder), { recursive: true });
  const lock = `${folder}.lock`;
  await takeLock(lock, folder);
  try {
    // While it is being made it holds nothing of anyone: what a killed process left half-made is made again.
    if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) await writeFile(unfinished, '');
    const pglite = await PGlite.create({ dataDir: folder, extensions });
    await rm(unfinished, { force: true });
    return await new Embedded(pglite, `pglite:${folder}`, lock, readOnly).begin();
  } catch (error) {
    await giveLockBack(lock);
    throw new MappaleError('the embedded database does not open', {
      code: 'PGLITE_BROKEN', kind: 'database', at: folder, detail: error instanceof Error ? error.message : String(error),
      hint: `Remove the folder (rm -r ${folder}) and load again, or set DATABASE_URL to a PostgreSQL server.`, cause: error,
    });
  }
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
