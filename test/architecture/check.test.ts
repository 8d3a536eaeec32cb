/** Tests the steps of `make check`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './project.ts';

it.each([
  { does: 'type-checks, strictly', script: 'typecheck' },
  { does: 'passes the linter', script: 'lint' },
  { does: 'has no regular expression that takes more than linear time on unbounded text', script: 'expressions' },
])('the code $does', async ({ script }) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', script], { cwd: ROOT }).catch((failure: { stdout: string }) => failure);
  expect(stdout.split('\n').filter((line) => line !== '')).toEqual([]);
}, 600_000);
