/** Tests a machine without gdal-async. On such a machine, gdal3.js reads and writes vector files, and the publication must be the same. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { WASM_VERSION } from '../../pipelines/formats/gdal-wasm.ts';
import { readSourceGolden } from '../harness/source-goldens.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { SOURCES } from '../harness/architecture/project.ts';
import { PROGRAM } from '../harness/program.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../harness/without-gdal.mjs', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command line, by default that of the checkout, in a temporary folder.
 * @param engine `hidden` for a process that cannot load gdal-async, `gdal-async` for a process that must use gdal-async
 */
async function mappale(
  args: readonly string[], engine: 'hidden' | 'gdal-async', more: Readonly<Record<string, string>> = {}, program = join(ROOT, 'pipelines/mappale.mjs'),
): Promise<Ended> {
  const cwd = await mkdtemp(join(tmpdir(), 'mappale-without-gdal-'));
  try {
    return await new Promise<Ended>((resolve) => {
      execFile(process.execPath, [program, ...args], { cwd, env: childEnvironment({ ...(engine === 'hidden' ? { NODE_OPTIONS: `--import ${PRELOAD}` } : { MAPPALE_TEST_VECTOR_ENGINE: engine }), ...more }), maxBuffer: 1e8 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

it('gdal3.js reads the GeoJSON of every source that accepts GeoJSON', async () => {
  // Only files with rows in their golden files are tested, because the source reads such files to the end.
  const files = SOURCES.flatMap((id) => Object.entries(readSourceGolden({ id, folder: `sources/${id}` })?.fixtures ?? {}).flatMap(([name, { output: { rows } }]) => (
    !name.endsWith('.geojson') || rows === undefined ? []
      : [{ id, path: join(ROOT, 'sources', id, 'fixture', name), rows: Object.values(rows).reduce((sum, each) => sum + each.length, 0) }])));
  expect(new Set(files.map(({ id }) => id)).size).toBeGreaterThan(5);
  const { stdout } = await mappale(['validate', '--json', ...files.map(({ path }) => path)], 'hidden');
  const verdicts = JSON.parse(stdout) as { path: string; source: string; rows: number; findings: { code: string }[] }[];
  expect(JSON.stringify(verdicts)).not.toContain('GDAL_MISSING');
  expect(verdicts.map(({ path, source, rows }) => [path, source, rows]).sort()).toEqual(files.map(({ id, path, rows }) => [path, id, rows]).sort());
});

describeDatabase('a machine without gdal-async', (database) => {
  /** Loads the demo region with the compiled program. @returns the digests of its tables, and the engine that read vector files */
  async function demo(engine: 'hidden' | 'gdal-async'): Promise<{ readonly digests: unknown; readonly read: string }> {
    const url = await database.createDatabase();
    const { code, stdout, stderr } = await mappale(['load-region', '--json'], engine, { DATABASE_URL: url }, PROGRAM);
    expect([code, stderr.includes('GDAL_MISSING')]).toEqual([0, false]);
    const { vectorEngine, leftOut } = JSON.parse(stdout) as { vectorEngine: string; leftOut: unknown[] };
    expect(leftOut).toEqual([]);
    const published = await database.openDatabase(url);
    const rows = await published.query("select unit_code, digest from ledger.publication where state = 'current' order by unit_code", []);
    return { digests: rows, read: vectorEngine };
  }

  it('publishes the demo region with the same digests as with gdal-async', async (context) => {
    if (!existsSync(join(ROOT, 'node_modules/gdal-async/lib/binding'))) return context.skip('gdal-async is not installed');
    const [wasm, native] = [await demo('hidden'), await demo('gdal-async')];
    expect(wasm.digests).toEqual(native.digests);
    expect([wasm.read, native.read]).toEqual([expect.stringContaining('(gdal3.js; faster with gdal-async: npm install --global gdal-async)'), expect.stringContaining('(gdal-async)')]);
  }, 600_000);

  it('names the engine in `doctor`', async () => {
    const { stdout } = await mappale(['doctor'], 'hidden', { DATABASE_URL: await database.createDatabase() });
    expect(stdout).toContain(`GDAL ${WASM_VERSION} (gdal3.js; faster with gdal-async: make setup-gdal)`);
  });
});
