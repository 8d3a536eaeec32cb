/** Tests lock files. A lock belongs to its process until the process ends, even if the clock of the machine is corrected in the meantime. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { releaseLock, takeLock } from '../../pipelines/db/lock-file.ts';
import { MappaleError } from '../../pipelines/errors.ts';

const BEFORE_BOOT = new Date('2001-01-01T00:00:00Z');

describe('a lock file', () => {
  let folder: string;
  let lock: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-lock-'));
    lock = join(folder, 'lock');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const inUse = (found: string): MappaleError => new MappaleError(found, { code: 'IN_USE', kind: 'locked' });

  /** Starts a process that holds the lock. The lock looks older than the last boot, as after a correction of the clock. */
  async function holder(): Promise<ChildProcess> {
    const script = join(folder, 'hold.mts');
    writeFileSync(script, `import { takeLock } from ${JSON.stringify(join(ROOT, 'pipelines/db/lock-file.ts'))};
      await takeLock(${JSON.stringify(lock)}, (found) => new Error(found));
      setInterval(() => {}, 1000);
      process.send('taken');`);
    const child = fork(script, { execArgv: ['--import', 'tsx'], cwd: ROOT });
    expect((await once(child, 'message'))[0]).toBe('taken');
    utimesSync(lock, BEFORE_BOOT, BEFORE_BOOT);
    return child;
  }

  it('stays with a running process if the lock looks older than the last boot, and is taken over after the process has ended', async () => {
    const child = await holder();
    await expect(takeLock(lock, inUse)).rejects.toThrow(`found process ${child.pid} of this machine`);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await takeLock(lock, inUse);
    expect(readFileSync(lock, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    await releaseLock(lock);
    expect(readdirSync(folder)).toEqual(['hold.mts']);
  });

  it('is taken over if it names no socket and is older than the last boot', async () => {
    writeFileSync(lock, String(process.ppid));
    await expect(takeLock(lock, inUse)).rejects.toThrow(`found process ${process.ppid}`);
    utimesSync(lock, BEFORE_BOOT, BEFORE_BOOT);
    await takeLock(lock, inUse);
    await releaseLock(lock);
  });
});
