/** Tests the help of the scripts that take arguments. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../harness/environment.ts';
import { ROOT } from '../harness/architecture/project.ts';

/** Scripts that only other scripts start. */
const INTERNAL = ['scripts/help.ts'];
const SCRIPTS = readdirSync(join(ROOT, 'scripts'), { recursive: true, encoding: 'utf8' }).map((name) => join('scripts', name))
  .filter((file) => /\.(?:ts|sh)$/.test(file) && !INTERNAL.includes(file) && /parseArgs|process\.argv|"\$\{?1/.test(readFileSync(join(ROOT, file), 'utf8'))).sort();

describe('scripts that take arguments', () => {
  it.each(SCRIPTS)('print their first comment and exit with 0 with --help: %s', (file) => {
    const [program, ...words] = file.endsWith('.sh') ? ['bash', file] : [process.execPath, '--import', 'tsx', file];
    const { status, stdout, stderr } = spawnSync(program, [...words, '--help'], { cwd: ROOT, encoding: 'utf8', env: childEnvironment({ TSX_DISABLE_CACHE: '1' }) });
    expect([status, stderr]).toEqual([0, '']);
    const [first = ''] = stdout.split('\n');
    expect(first).not.toBe('');
    expect(readFileSync(join(ROOT, file), 'utf8').replace(/^#!.*\n/, '').replace(/^(?:# |\/\*\*\s+(?:\* )?)/, '')).toSatisfy((text: string) => text.startsWith(first));
    expect(stdout).not.toMatch(/^(?:#|\/\*\*| \*)/m);
  });

  it('include the checks, benchmarks and builds of package.json', () => {
    expect(SCRIPTS).toEqual(expect.arrayContaining(['scripts/words/index.ts', 'scripts/bench/index.ts', 'scripts/build/compile.ts', 'scripts/setup.sh']));
  });
});
