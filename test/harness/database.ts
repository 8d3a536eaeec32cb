/**
 * Creates databases for tests and drops them afterwards. A suite that depends on the engine runs on both engines (`describeEngines`). Any other suite runs
 * on the first engine that this machine has (`describeDatabase`).
 *
 * ```ts
 * describeDatabase('a region', (engine) => {
 *   it('is loaded twice with the same result', async () => {
 *     const url = await engine.createDatabase(); // for the command line
 *     const database = await engine.openDatabase(); // a new database, already open
 *   });
 * });
 * ```
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe } from 'vitest';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { askBroker } from './broker.ts';
import { ENGINE_NAMES, testEnvironment, type EngineName } from './environment.ts';
import type { PostgresOffer } from './global-setup.ts';
import { databaseUrl, EXTENSIONS } from './postgres.ts';

export interface TestEngine {
  readonly name: EngineName;
  /**
   * Creates an empty database with PostGIS and all other required extensions. The database is dropped after the suite. Call it in a test or hook.
   * @returns the URL of the database, in the form of `DATABASE_URL`
   */
  createDatabase(): Promise<string>;
  /** Creates and opens a new database, or opens the database at a URL of `createDatabase`. The database is closed after the suite. */
  openDatabase(url?: string): Promise<Database>;
  /** Copies a database to which no connection is open. @returns the URL of the copy */
  copyDatabase(url: string): Promise<string>;
  /**
   * Creates a database whose content is prepared once per run and copied for each caller.
   * @param content name that identifies the content among all suites
   * @param prepare fills the new database at a URL, and closes its connections
   * @param like returns the URL of the database that the new database copies. By default, the new database is empty
   * @returns the URL of the copy
   */
  sharedDatabase(content: string, prepare: (url: string) => Promise<void>, like?: () => Promise<string>): Promise<string>;
}

/** The function with which an engine creates databases, or the reason why the engine is not available. */
type Maker = { create(like?: string): Promise<{ url: string; drop(): Promise<void> }> } | { readonly missing: string };

/**
 * Runs a suite that does not depend on the engine. The suite runs on the first available engine. If `MAPPALE_TEST_ENGINES` is set, the suite runs on each
 * available engine that the variable names.
 */
export function describeDatabase(name: string, suite: (engine: TestEngine) => void): void {
  const offered = ENGINE_NAMES.filter((engineName) => !('missing' in makers[engineName]));
  describeEngines(name, suite, environment.enginesNamed ? offered : offered.slice(0, 1));
}

/**
 * Runs a suite on each engine. If an engine is missing, the suite is listed as skipped, with the reason in the suite's name.
 * @param engines limits the suite to engines that can run it
 */
export function describeEngines(name: string, suite: (engine: TestEngine) => void, engines: readonly EngineName[] = ENGINE_NAMES): void {
  for (const engineName of engines) {
    const maker = makers[engineName];
    if ('missing' in maker) {
      const engine: TestEngine = {
        name: engineName,
        createDatabase: () => Promise.reject(new Error(maker.missing)),
        openDatabase: () => Promise.reject(new Error(maker.missing)),
        copyDatabase: () => Promise.reject(new Error(maker.missing)),
        sharedDatabase: () => Promise.reject(new Error(maker.missing)),
      };
      describe.skip(`${name} [${engineName}: not run, ${maker.missing}]`, () => suite(engine));
    } else {
      describe(`${name} [${engineName}]`, () => {
        const drops: (() => Promise<void>)[] = [];
        const opened: Database[] = [];
        const createDatabase = async (like?: string): Promise<string> => {
          const { url, drop } = await maker.create(like);
          drops.push(drop);
          return url;
        };
        suite({
          name: engineName,
          createDatabase: () => createDatabase(),
          copyDatabase: createDatabase,
          sharedDatabase: async (content, prepare, like) => createDatabase(await template(`${engineName} ${content}`, maker, prepare, like)),
          async openDatabase(url) {
            const database = await openDatabase(url ?? (await createDatabase()));
            opened.push(database);
            return database;
          },
        });
        afterAll(async () => {
          await Promise.all(opened.map((database) => database.close()));
          for (const drop of drops) await drop();
        });
      });
    }
  }
}

/** Returns the URL of the database with this content. Prepares the database if no suite of this run has prepared it. */
async function template(
  content: string, maker: Exclude<Maker, { missing: string }>, prepare: (url: string) => Promise<void>, like?: () => Promise<string>,
): Promise<string> {
  const query = new URLSearchParams({ content });
  const { url: found } = JSON.parse(await askBroker(`shared?${query}`)) as { url: string | null };
  if (found !== null) return found;
  try {
    const { url } = await maker.create(await like?.());
    await prepare(url);
    query.set('url', url);
    return url;
  } finally {
    await askBroker(`shared?${query}`, 'POST');
  }
}

// --- PostgreSQL ----------------------------------------------------------------------------------------------------

let made = 0;

function postgresMaker(offer: PostgresOffer): Maker {
  if ('refused' in offer) return { missing: offer.refused };
  const onServer = async (sql: string): Promise<void> => {
    const admin = await openDatabase(offer.url);
    try {
      await admin.query(sql);
    } finally {
      await admin.close();
    }
  };
  return {
    async create(like) {
      made += 1;
      const database = `${offer.prefix}_${process.pid}_${made}`;
      // Copying files takes less than half the CPU time of the default, which copies each block through the write-ahead log.
      await onServer(`create database ${database} template ${like === undefined ? offer.template : new URL(like).pathname.slice(1)} strategy file_copy`);
      return {
        url: databaseUrl(offer.url, database),
        drop: () => onServer(`drop database if exists ${database} with (force)`),
      };
    },
  };
}

// --- PGlite --------------------------------------------------------------------------------------------------------

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/**
 * Returns the folder of an embedded database with the extensions. Copying the folder takes less time than unpacking the program's snapshot of a new database.
 * The folder is kept between runs next to the packages that created it. The folder's name contains the versions of the packages.
 */
async function pgliteTemplate(): Promise<string> {
  const versions = ['pglite', 'pglite-postgis'].map((name) => {
    const { version } = JSON.parse(readFileSync(join(MODULES, '@electric-sql', name, 'package.json'), 'utf8')) as { version: string };
    return version;
  });
  const cache = join(MODULES, '.cache', 'mappale');
  const template = join(cache, ['pglite', ...versions, ...EXTENSIONS].join('-'));
  if (existsSync(template)) return template;
  await mkdir(cache, { recursive: true });
  const scratch = await mkdtemp(join(cache, 'making-'));
  try {
    const database = await openDatabase(`pglite:${join(scratch, 'database')}`);
    try {
      for (const extension of EXTENSIONS) await database.query(`create extension if not exists ${extension}`);
    } finally {
      await database.close();
    }
    // Another worker may have created the same template first.
    await rename(join(scratch, 'database'), template).catch((error: unknown) => {
      if (!existsSync(template)) throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return template;
}

const pgliteMaker: Maker = {
  async create(like) {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-pglite-'));
    // The synchronous function takes a fifth of the CPU time of the asynchronous function for the 1,450 files of a database.
    cpSync(like?.replace('pglite:', '') ?? (await pgliteTemplate()), join(folder, 'database'), { recursive: true });
    return { url: `pglite:${join(folder, 'database')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
};

// --- The engines of this run ---------------------------------------------------------------------------------------------

const environment = testEnvironment();
const wanted = environment.engines;
const leftOut: Maker = { missing: 'left out by MAPPALE_TEST_ENGINES' };
const makers: Readonly<Record<EngineName, Maker>> = {
  postgres: wanted.includes('postgres') ? postgresMaker(JSON.parse(await askBroker('')) as PostgresOffer) : leftOut,
  pglite: wanted.includes('pglite') ? pgliteMaker : leftOut,
};
