/** The one place where tests read the environment. */
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
  /** `MAPPALE_TEST_ENGINES`: narrows the run, `postgres` or `pglite`; both by default. */
  readonly engines: readonly EngineName[];
  /** `MAPPALE_TEST_KILLS`: how often the suite of faults kills a run; 50 by default. */
  readonly kills: number;
  /** `MAPPALE_TEST_SEED`: moments and victims of the suite of faults follow from it. */
  readonly seed: number;
  /** `MAPPALE_FUZZ`: mutated files tried for each source; 2000 by default. */
  readonly fuzzCases: number;
  /** `MAPPALE_FUZZ_SEED`: other numbers try other files; `1` by default. */
  readonly fuzzSeed: string;
  /** `MAPPALE_TEST_SEQUENCES`: sequences of happenings tried on PostgreSQL, 6 by default; a tenth of it, at least 2, on PGlite. */
  readonly sequences: { readonly postgres: number; readonly pglite: number };
  /** `MAPPALE_TEST_SEQUENCE_SEED`: which sequences; by default they follow from the commit. */
  readonly sequenceSeed: number | null;
  /** `PATH`: where programs are looked for. */
  readonly path: readonly string[];
}

export function testEnvironment(env: NodeJS.ProcessEnv = process.env): TestEnvironment {
  const asked = (env['MAPPALE_TEST_ENGINES'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const unknown = asked.filter((name) => !ENGINE_NAMES.includes(name as EngineName));
  if (unknown.length > 0) {
    throw new Error(`MAPPALE_TEST_ENGINES: expected ${ENGINE_NAMES.join(' or ')}, found ${unknown.join(', ')}`);
  }
  const fuzz = env['MAPPALE_FUZZ'] || '2000';
  if (!/^[1-9]\d{0,8}$/.test(fuzz)) throw new Error(`MAPPALE_FUZZ: expected a number of files, found ${fuzz}`);
  return {
    databaseUrl: env['TEST_DATABASE_URL'] || null,
    image: env['MAPPALE_TEST_IMAGE'] || 'postgis/postgis:16-3.4',
    engines: asked.length === 0 ? ENGINE_NAMES : ENGINE_NAMES.filter((name) => asked.includes(name)),
    kills: count(env, 'MAPPALE_TEST_KILLS', 50),
    seed: count(env, 'MAPPALE_TEST_SEED', 1),
    fuzzCases: Number(fuzz),
    fuzzSeed: env['MAPPALE_FUZZ_SEED'] || '1',
    sequences: { postgres: count(env, 'MAPPALE_TEST_SEQUENCES', 6), pglite: Math.max(2, Math.round(count(env, 'MAPPALE_TEST_SEQUENCES', 6) / 10)) },
    sequenceSeed: (env['MAPPALE_TEST_SEQUENCE_SEED'] ?? '') === '' ? null : count(env, 'MAPPALE_TEST_SEQUENCE_SEED', 0),
    path: (env['PATH'] ?? '').split(delimiter),
  };
}

function count(env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const text = env[name] || String(usual);
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name}: expected a whole number, found ${text}`);
  return Number(text);
}

/** The environment of a program that a test starts: this one's, without what would change its answers. */
export function childEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { DATABASE_URL: _database, MAPPALE_LOG: _log, NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _node, ...rest } = process.env;
  return { ...rest, NO_COLOR: '1', ...more };
}
