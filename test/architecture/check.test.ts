/** Runs steps of `make check`: the type check, the linter, and the check of regular expressions. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from '../harness/architecture/project.ts';

/** Runs a script of package.json, and returns the lines of its output. @throws Error if the script fails without output */
async function linesOf(script: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', script], { cwd: ROOT, maxBuffer: 1 << 26 }).catch((failure: Error & { stdout: string }) => {
    if (failure.stdout === '') throw failure;
    return failure;
  });
  return stdout.split('\n').filter((line) => line !== '');
}

let checked: Promise<string[]> | undefined;

it.each([
  { does: 'passes the strict type check', kind: 'types' },
  { does: 'passes the linter', kind: 'style' },
])('the code $does', async ({ kind }) => {
  checked ??= linesOf('types-and-style');
  expect((await checked).filter((line) => line.startsWith(`${kind}: `))).toEqual([]);
}, 600_000);

it('the code has no regular expression that takes more than linear time on unbounded text', async () => {
  expect(await linesOf('expressions')).toEqual([]);
}, 600_000);
