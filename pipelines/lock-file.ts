/** One process at a time: what may have only one writer has a file that names it. */
import { constants } from 'node:fs';
import { copyFile, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import type { MappaleError } from './errors.ts';

/**
 * The file names the process that has it; a file left by a process that is gone, or by one from before the machine was started, is taken over. It appears
 * whole, by a link, so that nobody reads it empty.
 * @param inUse makes the error of what was found instead of nobody
 * @throws MappaleError of `inUse`
 */
export async function takeLock(lock: string, inUse: (found: string) => MappaleError): Promise<void> {
  const mine = `${lock}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      try {
        await place(mine, lock);
        held.add(lock);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const other = await processOf(lock);
      if (other !== null) {
        throw inUse(`expected no other process, found process ${other}`);
      }
      // Of two that find it abandoned only one gets it; if it is a new one by now, it goes back.
      const aside = `${mine}.abandoned`;
      await rename(lock, aside).catch(() => undefined);
      if (await processOf(aside) !== null) await place(aside, lock).catch(() => undefined);
      await rm(aside, { force: true });
    }
    throw inUse('expected no other process, found that others took it in the same moment');
  } finally {
    await rm(mine, { force: true });
  }
}

export async function releaseLock(lock: string): Promise<void> {
  held.delete(lock);
  await rm(lock, { force: true });
}

/** Locks of this process: to its id alone a file left by a process of the same id, as in a container, would look like its own. */
const held = new Set<string>();

async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without links.
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** The living process that a lock file names; null: none. */
async function processOf(lock: string): Promise<number | null> {
  const [text, info] = await Promise.all([readFile(lock, 'utf8').catch(() => ''), stat(lock).catch(() => null)]);
  const other = Number(text);
  if (held.has(lock)) return process.pid;
  if (info === null || !(other > 0) || other === process.pid) return null;
  const startedMs = Date.now() - uptime() * 1000;
  return info.mtimeMs < startedMs - 60_000 || !isAlive(other) ? null : other;
}

/** Whether this machine has a process of that number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
