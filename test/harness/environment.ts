/** Reads the environment for all tests. */
import { execFileSync } from 'node:child_process';
import { delimiter } from 'node:path';

export const ENGINE_NAMES = ['postgres', 'pglite'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

export interface TestEnvironment {
  /**
   * `TEST_DATABASE_URL`: a PostgreSQL server with PostGIS on which the tests may create and drop databases named
   * `mappale_test_…`; the URL's own database is only used to log in.
   */
  readonly databaseUrl: string | null;
  /** `MAPPALE_TEST_IMAGE`: the container image of PostgreSQL with PostGIS. */
  readonly image: string;
  /** `MAPPALE_TEST_ENGINES`: `postgres`, `pglite` or both: the engines of every suite. Default: both, for suites that depend on the engine. */
  readonly engines: readonly EngineName[];
  /** Returns whether the environment names the engines. In that case every suite runs on each named engine. */
  readonly enginesNamed: boolean;
  /** `MAPPALE_TEST_SEED`: seed of all random choices in tests. Default: derived from the commit, so that runs cover different cases. */
  readonly seed: number;
  /** `MAPPALE_TEST_KILLS`: number of runs that the suite of faults kills; default 4. */
  readonly kills: number;
  /** `MAPPALE_TEST_MUTATIONS`: number of mutated files for each source; default 100. */
  readonly mutations: number;
  /** `MAPPALE_TEST_TRUTH`: number of parcels of the synthetic region whose fields are compared with the truth; default 1,200. */
  readonly truth: number;
  /** `MAPPALE_TEST_SEQUENCES`: number of random sequences on PostgreSQL, default 4; a tenth of it on PGlite. */
  readonly sequences: Readonly<Record<EngineName, number>>;
  /** `MAPPALE_TEST_CITUS_URL`: a database of a Citus coordinator. Databases are created on its nodes, and a worker is killed. */
  readonly citusUrl: string | null;
  /** `PATH`: folders in which programs are searched. */
  readonly path: readonly string[];
}

/** Variables that libpq uses for missing parts of an address. A developer may have set these variables, but addresses in tests must not depend on them. */
const OF_LIBPQ = ['PGHOST', 'PGPORT', 'PGUSER', 'PGDATABASE', 'PGOPTIONS', 'PGSERVICE', 'PGSERVICEFILE', 'PGSYSCONFDIR', 'PGPASSFILE'];

/** Removes these variables from the environment of this process and of its tests. */
export function forgetOwnServer(): void {
  for (const name of OF_LIBPQ) Reflect.deleteProperty(process.env, name);
}

export function testEnvironment(env: NodeJS.ProcessEnv = process.env): TestEnvironment {
  const asked = (env['MAPPALE_TEST_ENGINES'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const unknown = asked.filter((name) => !ENGINE_NAMES.includes(name as EngineName));
  if (unknown.length > 0) {
    throw new Error(`MAPPALE_TEST_ENGINES: expected ${ENGINE_NAMES.join(' or ')}, found ${unknown.join(', ')}`);
  }
  const sequences = count(env, 'MAPPALE_TEST_SEQUENCES', 4);
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

/** Each commit tests different cases, and the same commit reproduces a failure. */
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
 * Returns the environment for a program that a test starts: the environment of this process without variables that would change the program's output. The
 * program's home is `.mappale` in
 * its working folder, so that tests share neither a database nor the home of the person who runs them.
 */
export function childEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL: _database, MAPPALE_DISTRIBUTED: _distributed, MAPPALE_LOG: _log, NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _node, ...rest
  } = process.env;
  return { ...rest, NO_COLOR: '1', MAPPALE_HOME: '.mappale', ...more };
}
