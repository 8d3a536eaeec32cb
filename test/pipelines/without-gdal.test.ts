/** A machine without GDAL: files that need GDAL are left out and reported once, everything else is published. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { SOURCES } from '../architecture/project.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../harness/without-gdal.mjs', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in a temporary folder, in a process that cannot load gdal-async. */
async function withoutGdal(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const cwd = await mkdtemp(join(tmpdir(), 'mappale-without-gdal-'));
  try {
    return await new Promise<Ended>((resolve) => {
      execFile(process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), ...args], { cwd, env: childEnvironment({ NODE_OPTIONS: `--import ${PRELOAD}`, ...more }), maxBuffer: 1e8 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

it('reads the GeoJSON of every source that accepts GeoJSON the same as with GDAL', async () => {
  // Files with rows in their golden files, which the source reads to the end.
  const files = SOURCES.flatMap((id) => {
    const folder = join(ROOT, 'sources', id, 'fixture');
    return !existsSync(folder) ? [] : readdirSync(folder).filter((name) => name.endsWith('.geojson')).flatMap((name) => {
      const golden = [name.replace(/\.geojson$/, '.json'), `${name}.json`].map((each) => join(ROOT, 'sources', id, 'golden', each)).find(existsSync);
      const expected = golden === undefined ? {} : JSON.parse(readFileSync(golden, 'utf8')) as { rows?: Readonly<Record<string, readonly unknown[]>> };
      const rows = Object.values(expected.rows ?? {}).reduce((sum, each) => sum + each.length, 0);
      return expected.rows === undefined ? [] : [{ id, path: join(folder, name), rows }];
    });
  });
  expect(new Set(files.map(({ id }) => id)).size).toBeGreaterThan(5);
  const { stdout } = await withoutGdal(['validate', '--json', ...files.map(({ path }) => path)]);
  const verdicts = JSON.parse(stdout) as { path: string; source: string; rows: number; findings: { code: string }[] }[];
  expect(JSON.stringify(verdicts)).not.toContain('GDAL_MISSING');
  expect(verdicts.map(({ path, source, rows }) => [path, source, rows]).sort()).toEqual(files.map(({ id, path, rows }) => [path, id, rows]).sort());
}, 120_000);

describeDatabase('a machine without GDAL', (engine) => {
  it('publishes the demo region with exit 3, and names the sources that need GDAL in one line', async () => {
    const url = await engine.createDatabase();
    const { code, stdout, stderr } = await withoutGdal(['load-region', '--json'], { DATABASE_URL: url });
    expect([code, stderr.match(/GDAL_MISSING/g)?.length]).toEqual([3, 1]);
    const report = JSON.parse(stdout) as {
      units: { unit: number }[]; failures: { error: string; message: string; hint: string }[];
      leftOut: { source: string; files: string[]; failure: { error: string } }[];
    };
    expect(report.units.map(({ unit }) => unit)).toEqual([0, 14]);
    expect(report.failures.map(({ error }) => error)).toEqual(['GDAL_MISSING']);
    expect(report.leftOut.length).toBeGreaterThan(2);
    for (const { source, failure } of report.leftOut) expect([report.failures[0]!.message.includes(source), failure.error]).toEqual([true, 'GDAL_MISSING']);
    const again = await withoutGdal(['status'], { DATABASE_URL: url });
    expect([again.code, again.stdout.match(/GDAL_MISSING/g)?.length]).toEqual([0, 1]);
  }, 300_000);
});
