/** Reads the environment variables that configure the tests. */
import { execFileSync } from 'node:child_process';
import { delimiter } from 'node:path';

export const ENGINE_NAMES = ['postgres', 'pglite'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

export interface TestEnvironment {
  /**
   * `TEST_DATABASE_URL`: a PostgreSQL server with PostGIS on which the tests may create and drop databases named `mappale_test_…`. The URL's own database
   * is only used to log in.
   */
  readonly databaseUrl: string | null;
  /** `MAPPALE_TEST_IMAGE`: the container image of PostgreSQL with PostGIS. */
  readonly image: string;
  /** `MAPPALE_TEST_ENGINES`: `postgres`, `pglite` or both, on which every suite runs. By default, suites that depend on the engine run on both. */
  readonly engines: readonly EngineName[];
  /** Whether the environment names the engines. If so, every suite runs on each named engine. */
  readonly enginesNamed: boolean;
  /**
   * `MAPPALE_TEST_SEED`: seed of random choices, except in tests with a fixed seed. By default the seed is derived from the commit, so that different commits
   * test different cases.
   */
  readonly seed: number;
  /** `MAPPALE_TEST_KILLS`: minimum number of runs that the kill suite kills on PostgreSQL, 4 by default. On PGlite, the minimum is 14 % of this number. */
  readonly kills: number;
  /**
   * `MAPPALE_TEST_MUTATIONS`: number of mutated files for each source, 100 by default. For each kind of change to a column, the tests try at most 20 columns
   * of each table by default. This limit is a fifth of the number of mutated files, rounded up.
   */
  readonly mutations: number;
  /**
   * `MAPPALE_TEST_TRUTH`: number of parcels of the first synthetic region whose fields are compared with the truth, 1,200 by default. The further regions have
   * fixed numbers of parcels.
   */
  readonly truth: number;
  /**
   * `MAPPALE_TEST_SEQUENCES`: number of random sequences of file changes on PostgreSQL, 2 by default. PGlite runs a tenth of this number, rounded up. The test
   * of change lists has 15 random publications (on PGlite 8) for each of these sequences, at most 30.
   */
  readonly sequences: Readonly<Record<EngineName, number>>;
  /** `MAPPALE_TEST_CITUS_URL`: a database of a Citus coordinator. Databases are created on its nodes, and a worker is killed. */
  readonly citusUrl: string | null;
  /** `PATH`: folders that are searched for programs. */
  readonly path: readonly string[];
}

/**
 * Variables that libpq uses for missing parts of a database URL. A developer may have set these variables, but database URLs in tests must not depend on
 * them.
 */
const OF_LIBPQ = ['PGHOST', 'PGPORT', 'PGUSER', 'PGDATABASE', 'PGOPTIONS', 'PGSERVICE', 'PGSERVICEFILE', 'PGSYSCONFDIR', 'PGPASSFILE'];

/** Removes the variables of libpq from the environment of this process and of its tests. */
export function forgetOwnServer(): void {
  for (const name of OF_LIBPQ) Reflect.deleteProperty(process.env, name);
}

/** Runs work in a time zone, and then restores the time zone of this process. @param zone IANA name, such as `Europe/Rome` */
export function inTimeZone<T>(zone: string, work: () => T): T {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return work();
  } finally {
    if (before === undefined) Reflect.deleteProperty(process.env, 'TZ');
    else process.env['TZ'] = before;
  }
}

export function testEnvironment(env: NodeJS.ProcessEnv = process.env): TestEnvironment {
  const asked = (env['MAPPALE_TEST_ENGINES'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const unknown = asked.filter((name) => !ENGINE_NAMES.includes(name as EngineName));
  if (unknown.length > 0) {
    throw new Error(`MAPPALE_TEST_ENGINES: expected ${ENGINE_NAMES.join(' or ')}, found ${unknown.join(', ')}`);
  }
  const sequences = count(env, 'MAPPALE_TEST_SEQUENCES', 2);
  return {
    databaseUrl: env['TEST_DATABASE_URL'] || null,
    image: env['MAPPALE_TEST_IMAGE'] || 'postgis/postgis:16-3.4',
    enginesNamed: asked.length > 0,
    engines: asked.length === 0 ? ENGINE_NAMES : ENGINE_NAMES.filter((name) => asked.includes(name)),
    seed: (env['MAPPALE_TEST_SEED'] ?? '') === '' ? seedOfCommit() : count(env, 'MAPPALE_TEST_SEED', 0),
    kills: count(env, 'MAPPALE_TEST_KILLS', 4),
    mutations: count(env, 'MAPPALE_TEST_MUTATIONS', 100),
    truth: count(env, 'MAPPALE_TEST_TRUTH', 1_200),
    sequences: { postgres: sequences, pglite: Math.ceil(sequences / 10) },
    citusUrl: env['MAPPALE_TEST_CITUS_URL'] || null,
    path: (env['PATH'] ?? '').split(delimiter),
  };
}

/**
 * Returns a seed derived from the current commit, or 1 if Git cannot name the commit. Different commits test different cases, and the same commit reproduces
 * a failure.
 */
function seedOfCommit(): number {
  try {
    return Number.parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).slice(0, 7), 16);
  } catch {
    return 1;
  }
}

function count(env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const text = env[name] || String(usual);
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name}: expected a whole number, found ${text}`);
  return Number(text);
}

/**
 * Returns the environment for a program that a test starts. The result has the variables of this process, without variables that would change the program's
 * output. `MAPPALE_HOME` is `.mappale` in the working folder, so that tests do not use the user's database or the user's `MAPPALE_HOME`.
 */
export function childEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL: _database, MAPPALE_DISTRIBUTED: _distributed, MAPPALE_LOG: _log, NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _node, ...rest
  } = process.env;
  return { ...rest, NO_COLOR: '1', MAPPALE_HOME: '.mappale', ...more };
}
