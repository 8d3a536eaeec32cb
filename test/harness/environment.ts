/** The one place where tests read the environment. */
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
  /** `MAPPALE_TEST_ENGINES`: `postgres`, `pglite` or both: the engines of every suite. By default both, for the suites in which the engine matters. */
  readonly engines: readonly EngineName[];
  /** Whether the engines were named: then every suite runs on each of them. */
  readonly enginesNamed: boolean;
  /** `MAPPALE_TEST_SEED`: what tests draw by chance follows from it; by default it follows from the commit, so that runs add up. */
  readonly seed: number;
  /** `MAPPALE_TEST_KILLS`: how often the suite of faults kills a run; 4 by default. */
  readonly kills: number;
  /** `MAPPALE_TEST_MUTATIONS`: mutated files tried for each source; 100 by default. */
  readonly mutations: number;
  /** `MAPPALE_TEST_TRUTH`: parcels of the synthetic region whose every field is held against the truth; 1,200 by default. */
  readonly truth: number;
  /** `MAPPALE_TEST_SEQUENCES`: sequences of happenings tried on PostgreSQL, 4 by default; a tenth of it on PGlite. */
  readonly sequences: Readonly<Record<EngineName, number>>;
  /** `MAPPALE_TEST_CITUS_URL`: a database of a Citus coordinator; databases are made on its nodes, and a worker is killed. */
  readonly citusUrl: string | null;
  /** `PATH`: where programs are looked for. */
  readonly path: readonly string[];
}

/** What libpq reads where an address says nothing: a person who works on a server of their own has them set, and addresses in tests mean what they say. */
const OF_LIBPQ = ['PGHOST', 'PGPORT', 'PGUSER', 'PGDATABASE', 'PGOPTIONS', 'PGSERVICE', 'PGSERVICEFILE', 'PGSYSCONFDIR', 'PGPASSFILE'];

/** Takes them out of this process's environment, and so of the tests'. */
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

/** Another commit tries other cases; a failure can be had again from the same one. */
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

/** The environment of a program that a test starts: this one's, without what would change its answers. */
export function childEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL: _database, MAPPALE_DISTRIBUTED: _distributed, MAPPALE_LOG: _log, NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _node, ...rest
  } = process.env;
  return { ...rest, NO_COLOR: '1', ...more };
}
