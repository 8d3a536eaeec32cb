/** Tests that no start of the program runs compiled code that another user put into the shared temporary folder. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { childEnvironment } from '../harness/environment.ts';

const run = promisify(execFile);
const PLANTED = 'made-planted-code';

let shared: string;
const environment = (): NodeJS.ProcessEnv => {
  const { TSX_DISABLE_CACHE: _unset, ...rest } = childEnvironment({ TMPDIR: shared });
  return rest;
};
/** Script that starts a thread of the program. The program and its threads compile TypeScript. */
const THREAD = `const { Worker } = await import('node:worker_threads');
const worker = new Worker(${JSON.stringify(join(ROOT, 'pipelines/formats/thread.mjs'))}, { execArgv: [], workerData: { module: ${JSON.stringify(join(ROOT, 'pipelines/progress.ts'))} } });
await new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));`;
const STARTS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['the program', [join(ROOT, 'pipelines/mappale.mjs'), '--version']],
  ['a thread', ['--input-type=module', '-e', THREAD]],
];

beforeAll(async () => {
  shared = await mkdtemp(join(tmpdir(), 'mappale-shared-'));
});
afterAll(() => rm(shared, { recursive: true, force: true }));

describe('a start of the program', () => {
  it('writes no compiled code into the temporary folder', async () => {
    for (const [, args] of STARTS) await run(process.execPath, args, { cwd: ROOT, env: environment() });
    expect(await readdir(shared)).toEqual([]);
  });

  it('does not run compiled code that another user planted in the temporary folder', async () => {
    // Lets the loader write cache entries, and then changes the entries as an attacker would.
    const fill = (api: string, load: string): Promise<unknown> => {
      const script = `const { register } = await import('tsx/${api}/api'); register(); ${load}`;
      return run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, env: environment() });
    };
    await fill('esm', `await import(${JSON.stringify(join(ROOT, 'cli/main.ts'))})`);
    await fill('cjs', `(await import('node:module')).createRequire(${JSON.stringify(join(ROOT, 'x.js'))})(${JSON.stringify(join(ROOT, 'pipelines/progress.ts'))})`);
    const [cache = ''] = await readdir(shared);
    const folder = join(shared, cache);
    await mkdir(folder, { recursive: true });
    const entries = await readdir(folder);
    expect(entries.length).toBeGreaterThan(1);
    for (const entry of entries) {
      const path = join(folder, entry);
      const kept = JSON.parse(await readFile(path, 'utf8')) as { code: string };
      await writeFile(path, JSON.stringify({ ...kept, code: `console.error(${JSON.stringify(PLANTED)});${kept.code}` }));
      if (process.getuid?.() === 0) await chown(path, 65534, 65534);
      await chmod(path, 0o644);
    }
    for (const [name, args] of STARTS) {
      const { stderr } = await run(process.execPath, args, { cwd: ROOT, env: environment() });
      expect(stderr, name).not.toContain(PLANTED);
    }
  });
});
