/**
 * Tests the program in a container. The first process must end on a signal at any time, and other containers must respect its locks. The user may have no name.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { MappaleError } from '../../pipelines/errors.ts';
import { releaseLock, takeLock } from '../../pipelines/db/lock-file.ts';
import { childEnvironment } from '../harness/environment.ts';

const NAMESPACE = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'];
const missing = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0 ? null : 'no PID namespaces: unshare --user --pid';

/** Options of `unshare` for a user without a name, as with `docker run --user 12345`. */
const NAMELESS = ['--user', '--map-user=12345'];
const refused = spawnSync('unshare', [...NAMELESS, 'true']).status === 0 ? null : 'no user namespaces: unshare --user --map-user';

/** Returns the process ID of a container's first process, as seen from outside the container. */
function inside({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

describe.skipIf(missing !== null)(`the first process of a container${missing === null ? '' : ` [not run: ${missing}]`}`, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-container-'));
  });
  afterAll(async () => {
    for (const each of containers) each.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  const containers: ChildProcess[] = [];
  const run = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    const started = spawn('unshare', [...NAMESPACE, process.execPath, ...args], { cwd: ROOT, env: childEnvironment(env), stdio: ['ignore', 'pipe', 'ignore'] });
    containers.push(started);
    return started;
  };

  it.each([['SIGTERM', 143], ['SIGINT', 130], ['SIGHUP', 129]] as const)('ends at once if it receives %s while its code is being loaded, with exit code %i', async (signal, code) => {
    // The first module of the loader never finishes loading. The hook reports when the program asks for that module.
    const hooks = `import { writeSync } from 'node:fs';
      export const resolve = (name, context, next) => name.startsWith('tsx') ? new Promise(() => writeSync(1, 'waiting\\n')) : next(name, context);`;
    const hold = join(folder, 'hold.mjs');
    await writeFile(hold, `import { register } from 'node:module';
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});
      setInterval(() => {}, 1000);`);
    const container = run(['--import', hold, 'pipelines/mappale.mjs', '--version'], {});
    expect(await once(createInterface(container.stdout!), 'line')).toEqual(['waiting']);
    const ended = once(container, 'exit');
    process.kill(inside(container), signal);
    expect(await ended).toEqual([code, null]);
  });

  it('ends on a signal and leaves no process and no database if it waits for publishers', async () => {
    let asked: () => void;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const publisher = createServer(() => asked()).listen(0, '127.0.0.1');
    await once(publisher, 'listening');
    const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/`;
    const ids = readdirSync(join(ROOT, 'sources'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const container = run(['pipelines/mappale.mjs', 'watch', 'molise', '--data', join(folder, 'data')], {
      DATABASE_URL: `pglite:${join(folder, 'database')}`, ...Object.fromEntries(ids.map((id) => [`MAPPALE_${id.toUpperCase()}_URL`, url])),
    });
    try {
      await isAsked;
      const pid = inside(container);
      const ended = once(container, 'exit');
      process.kill(pid, 'SIGTERM');
      expect(await ended).toEqual([143, null]);
      expect([existsSync(`/proc/${pid}`), existsSync(join(folder, 'database'))]).toEqual([false, false]);
    } finally {
      publisher.closeAllConnections();
      publisher.close();
    }
  });

  it('keeps its locks while it is running, even against the first process of another container, and loses the locks when it is killed', async () => {
    const lock = join(folder, 'lock');
    const take = `import { takeLock } from './pipelines/db/lock-file.ts';
      await takeLock(${JSON.stringify(lock)}, (found) => new Error(found));
      process.stdout.write('taken\\n');
      setInterval(() => {}, 1000);`;
    const held = run(['--import', 'tsx', '--input-type=module', '--eval', take], {});
    expect(await once(createInterface(held.stdout!), 'line')).toEqual(['taken']);
    const other = run(['--import', 'tsx', '--input-type=module', '--eval', take], {});
    const inUse = (found: string): MappaleError => new MappaleError(found, { code: 'IN_USE', kind: 'locked' });
    expect(await once(other, 'exit')).toEqual([1, null]);
    await expect(takeLock(lock, inUse)).rejects.toThrow('found process 1 of this machine, or of a container on it');
    const ended = once(held, 'exit');
    process.kill(inside(held), 'SIGKILL');
    await ended;
    // Outside the container, this process ID belongs to a different live process.
    expect(readFileSync(lock, 'utf8')).toMatch(/^1 /);
    await takeLock(lock, inUse);
    await releaseLock(lock);
    expect(readdirSync(folder).filter((name) => name.startsWith('lock') || name.startsWith('.'))).toEqual([]);
  });
});

describe.skipIf(refused !== null)(`a user without a name${refused === null ? '' : ` [not run: ${refused}]`}`, () => {
  it('is identified by the numeric user ID', () => {
    const print = "import { who } from './pipelines/ledger/hold.ts'; process.stdout.write(who('machine'));";
    const { stdout, stderr } = spawnSync('unshare', [...NAMELESS, process.execPath, '--import', 'tsx', '--input-type=module', '--eval', print], {
      cwd: ROOT, env: childEnvironment({}), encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual(['12345@machine', '']);
  });
});
