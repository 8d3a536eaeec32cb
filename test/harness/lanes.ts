/** Assigns each test file to a lane by its path, imports and text. The tests that are slow without a database are listed by name. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * - `unit`: tests that need no database and take seconds.
 * - `alone`: files that change process-wide state or were not yet tested in a shared process, except files of `unit` and of the random lanes.
 * - `random` and `random-faults`: long tests of randomly drawn cases. `make test` does not run these two lanes.
 * - `database`: all remaining files, except the files of `faults` and `real`.
 */
export type Lane = 'unit' | 'database' | 'alone' | 'random' | 'faults' | 'random-faults' | 'real';

/**
 * Tests that take more than a few seconds even without a database from `database.ts`: sets of mutated files, the compiler, large files, other programs, a Citus
 * cluster.
 */
const SLOW = /^(test\/(architecture\/(check|scripts)|citus\/|site\/|contract\/(evidence|hostile|swapped|damaged|zip-prefix|no-data|sources|packaging)|pipelines\/(validate|vector|make-region|threads|zip-writer|libpq|raster|pmtiles|fetch|cut-short|start-cache|town-region|sweep\.))|sources\/ade_cadastre\/(scan|threads))/;

/** Long tests on randomly drawn cases: sequences of file changes, edited and mutated files, kills. */
const RANDOM = /^test\/(pipelines\/(arrival|changes)|contract\/(columns|fuzz-)|faults\/kills-)/;

/**
 * Matches the text of a test that changes process-wide state, or loads the compiled program into its process. Later files in the same process would see the
 * change.
 */
const CHANGES_PROCESS = /\bvi\.|\bprocess\.(argv|exitCode) = |\bprocess\.(on|once)\(|\bimport\(pathToFileURL\(/;

/** Folders that have not been run in a shared process yet. */
const NOT_TRIED = /^test\/(citus|site)\//;

/**
 * Files that take more than a minute on two cores, roughly longest first. Vitest knows durations only from earlier runs, and continuous integration begins
 * without earlier runs. Files that start a browser or the type checker are not neighbours in the list, so that they do not run at the same time on a small
 * machine.
 */
export const LONGEST: readonly string[] = [
  'api/map', 'pipelines/changes', 'api/contract', 'truth/region', 'citus/citus', 'faults/full-disk', 'pipelines/incremental',
  'pipelines/history', 'api/map-use', 'api/tiles', 'contract/columns', 'site/first-hour', 'faults/kills-postgres', 'real/left-out', 'pipelines/arrival', 'pipelines/gate',
  'faults/server', 'api/plans', 'pipelines/withhold', 'architecture/check', 'faults/kills-pglite', 'site/package', 'pipelines/lineage', 'migration/readers', 'faults/readers',
  'faults/deadlock', 'api/ogc-bytes', 'sections/goldens', 'contract/added-source', 'api/base-map', 'pipelines/partial', 'migration/migration',
].map((name) => `test/${name}.test.ts`);

/** Returns the test files by lane, with paths from the root. @throws Error if a file of `LONGEST` does not exist */
export function lanes(root: string): Readonly<Record<Lane, readonly string[]>> {
  const found: Record<Lane, string[]> = { unit: [], database: [], alone: [], random: [], faults: [], 'random-faults': [], real: [] };
  for (const folder of ['test', 'sources', 'sql']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.test.ts')) continue;
      const file = relative(root, join(entry.parentPath, entry.name));
      found[laneOf(root, file)].push(file);
    }
  }
  const all = new Set(Object.values(found).flat());
  const missing = LONGEST.filter((file) => !all.has(file));
  if (missing.length > 0) throw new Error(`expected only test files in LONGEST, found ${missing.join(', ')}`);
  return found;
}

function laneOf(root: string, file: string): Lane {
  const folder = /^test\/(faults|real)\//.exec(file)?.[1] as 'faults' | 'real' | undefined;
  if (RANDOM.test(file)) return folder === 'faults' ? 'random-faults' : 'random';
  if (folder === undefined && !SLOW.test(file) && !reaches(root, file, 'test/harness/database.ts')) return 'unit';
  if (NOT_TRIED.test(file) || CHANGES_PROCESS.test(readFileSync(join(root, file), 'utf8'))) return 'alone';
  return folder ?? 'database';
}

/** Returns whether a file imports another file, directly or through other files of `test`. */
function reaches(root: string, file: string, wanted: string, seen = new Set<string>()): boolean {
  if (file === wanted) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  const imports = [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export|\}).* from '(\.[^']+)'/gm)].map((match) => relative(root, join(root, dirname(file), match[1]!)));
  return imports.some((each) => each.startsWith('test/') && reaches(root, each, wanted, seen));
}
