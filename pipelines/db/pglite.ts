/** PGlite: PostgreSQL with PostGIS inside this process, for the demo, laptops and tests. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { COPY_HEADER, COPY_TRAILER } from '../kit/copy.ts';
import { MappaleError } from '../errors.ts';
import { databaseError } from './errors.ts';
import { ident, type CopyIn, type Database, type Row, type Session } from './types.ts';

/** A COPY holds at most this much before it is handed over. */
const COPY_BYTES = 4 * 1024 * 1024;

class Embedded implements Database {
  readonly engine = 'pglite';
  readonly label: string;
  readonly parallel = 1;
  readonly #pglite: PGlite;
  readonly #lock: string | null;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(pglite: PGlite, label: string, lock: string | null) {
    this.#pglite = pglite;
    this.label = label;
    this.#lock = lock;
  }

  /** One after another: there is one connection. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work, work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  readonly #direct: Session = {
    query: async <T extends Row>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> => {
      try {
        return (await this.#pglite.query<T>(sql, [...parameters])).rows;
      } catch (error) {
        throw databaseError(error, sql, null);
      }
    },
    script: async (sql: string, origin: string): Promise<void> => {
      try {
        await this.#pglite.exec(sql);
      } catch (error) {
        throw databaseError(error, sql, origin);
      }
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
        await this.#pglite.exec('reset all');
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
        try {
          rows += (await this.#pglite.query(statement, [], { blob })).affectedRows ?? 0;
        } catch (error) {
          throw databaseError(error, statement, null);
        }
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

  async close(): Promise<void> {
    await this.#tail.catch(() => undefined);
    await this.#pglite.close();
    if (this.#lock !== null) await rm(this.#lock, { force: true });
  }
}

/**
 * Opens the embedded database.
 * @param folder where it lives, or `memory`
 * @throws MappaleError `DATABASE_IN_USE` (exit 7) when another process has the folder open: two would destroy it
 */
export async function openPglite(folder: string): Promise<Database> {
  const [{ PGlite }, { postgis }, { pg_trgm }, { unaccent }, { fuzzystrmatch }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-postgis'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
    import('@electric-sql/pglite/contrib/unaccent'),
    import('@electric-sql/pglite/contrib/fuzzystrmatch'),
  ]);
  const extensions = { postgis, pg_trgm, unaccent, fuzzystrmatch };
  if (folder === 'memory') {
    return new Embedded(await PGlite.create({ dataDir: `memory://${randomUUID()}`, extensions }), 'pglite:memory', null);
  }
  await mkdir(dirname(folder), { recursive: true });
  const lock = `${folder}.lock`;
  await takeLock(lock, folder);
  try {
    const isNew = !existsSync(join(folder, 'PG_VERSION'));
    if (isNew) await mkdir(folder, { recursive: true });
    return new Embedded(await PGlite.create({ dataDir: folder, extensions }), `pglite:${folder}`, lock);
  } catch (error) {
    await rm(lock, { force: true });
    throw new MappaleError('the embedded database does not open', {
      code: 'PGLITE_BROKEN', kind: 'database', at: folder, detail: error instanceof Error ? error.message : String(error),
      hint: `Remove the folder (rm -r ${folder}) and load again, or set DATABASE_URL to a PostgreSQL server.`, cause: error,
    });
  }
}

async function takeLock(lock: string, folder: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const handle = await open(lock, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
      if (holder > 0 && holder !== process.pid && isAlive(holder)) {
        throw new MappaleError('the embedded database is in use', {
          code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: `expected no other process, found process ${holder}`,
          hint: 'Wait until it ends. Several programs at once need a PostgreSQL server: set DATABASE_URL.',
        });
      }
      await rm(lock, { force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
