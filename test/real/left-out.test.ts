/** Loads all real files at once, like a user. The report must name the unusable files, and the region must be published. */
import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { realData } from '../harness/real-data.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = realData();

interface Report {
  readonly units: readonly { readonly unit: number }[];
  readonly survey: { readonly broken: readonly { readonly path: string }[] };
  readonly failures: readonly { readonly error: string; readonly at?: string }[];
  readonly leftOut: readonly { readonly source: string; readonly files: readonly string[]; readonly regions: readonly { readonly unit: number }[] }[];
}

describe.skipIf(folder === null)('all real files (real data next to the checkout)', () => {
  describeEngines('loaded by make load-region', (engine) => {
    it('publish Molise with exit code 0 or 3, and the report names each file that is left out, with its source and the region', async () => {
      const url = await engine.createDatabase();
      const { code, stdout, stderr } = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        execFile('make', ['--silent', 'load-region', 'REGION=molise', `DATA=${folder ?? ''}`, 'ARGS=--json'], { cwd: ROOT, env: childEnvironment({ DATABASE_URL: url }), maxBuffer: 1e8 },
          // `make` exits with 2 for any failure, and prints the exit code of its command.
          (error, out, stderr) => resolve({ code: error === null ? 0 : Number(/Error (\d+)/.exec(stderr)?.[1] ?? -1), stdout: out, stderr }));
      });
      expect([0, 3], stderr.slice(-2000)).toContain(code);
      const report = JSON.parse(stdout) as Report;
      expect(report.units.map(({ unit }) => unit)).toContain(14);
      expect(code === 0).toBe(report.failures.length === 0);
      for (const { source, files, regions } of report.leftOut) {
        expect([source.length > 0, files.length > 0, regions.map(({ unit }) => unit)]).toEqual([true, true, [14]]);
      }
      const named = report.leftOut.flatMap(({ files }) => files);
      for (const { path } of report.survey.broken) expect(named.includes(basename(path)) || report.failures.some(({ at }) => at === path), path).toBe(true);
      console.log(`${engine.name}: exit ${code}, left out: ${report.leftOut.map(({ source, files }) => `${source} ${files.join(' ')}`).join('; ')}`);
    }, 600_000);
  });
});
