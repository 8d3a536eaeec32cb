/** One process at a time: what may have only one writer has a file that names it. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import type { MappaleError } from './errors.ts';

/**
 * The file names the process that has it, and a socket beside it at which it answers as long as it lives, in whichever container of this machine: numbers of
 * processes are each container's own, and most have a first one. A file left by a process that is gone, or by one from before the machine was started, is
 * taken over. It appears whole, by a link, so that nobody reads it empty.
 * @param inUse makes the error of what was found instead of nobody
 * @throws MappaleError of `inUse`
 */
export async function takeLock(lock: string, inUse: (found: string) => MappaleError): Promise<void> {
  const mine = `${lock}.${randomUUID()}`;
  const life = await showLife(dirname(lock));
  try {
    await writeFile(mine, life === null ? String(process.pid) : `${process.pid} ${life.name}`);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      try {
        await place(mine, lock);
        held.set(lock, life);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const other = await processOf(lock);
      if (other !== null) throw inUse(inUseBy(other));
      // Of two that find it abandoned only one gets it; if it is a new one by now, it goes back.
      const aside = `${mine}.abandoned`;
      await rename(lock, aside).catch(() => undefined);
      if (await processOf(aside) === null) await removeSocket(aside);
      else await place(aside, lock).catch(() => undefined);
      await rm(aside, { force: true });
    }
    throw inUse('expected no other process, found that others took it in the same moment');
  } finally {
    await rm(mine, { force: true });
    if (held.get(lock) !== life) await end(life, lock);
  }
}

function inUseBy(pid: number): string {
  return `expected no other process, found process ${pid} of this machine, or of a container on it`;
}

export async function releaseLock(lock: string): Promise<void> {
  const life = held.get(lock) ?? null;
  held.delete(lock);
  await rm(lock, { force: true });
  await end(life, lock);
}

/** A socket at which this process answers. */
interface Life {
  readonly name: string;
  readonly server: Server;
}

/** Locks of this process, with what shows that it lives; null where there can be no sockets. */
const held = new Map<string, Life | null>();

/** Its folder is named by a descriptor: addresses of sockets are short. */
async function inFolder<T>(folder: string, work: (short: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

/** @returns null: this system or this file system has no such sockets, and the number of the process must do */
async function showLife(folder: string): Promise<Life | null> {
  const name = `.alive-${randomUUID()}`;
  const server = createServer((socket) => socket.destroy());
  return inFolder(folder, (short) => new Promise<Life | null>((resolve) => {
    server.once('error', () => resolve(null));
    // Whoever may read the lock may ask.
    server.listen({ path: join(short, name), readableAll: true, writableAll: true }, () => {
      server.unref();
      resolve({ name, server });
    });
  })).catch(() => null);
}

async function end(life: Life | null, lock: string): Promise<void> {
  if (life === null) return;
  await new Promise((resolve) => life.server.close(resolve));
  await rm(join(dirname(lock), life.name), { force: true });
}

/** What a lock file says. */
interface Named {
  readonly pid: number;
  /** Null: it has none. */
  readonly socket: string | null;
}

async function namedIn(lock: string): Promise<Named> {
  const [pid, socket] = (await readFile(lock, 'utf8').catch(() => '')).split(' ');
  return { pid: Number(pid), socket: /^\.alive-[0-9a-f-]{36}$/.test(socket ?? '') ? socket ?? null : null };
}

/** Of a process that is gone. */
async function removeSocket(lock: string): Promise<void> {
  const { socket } = await namedIn(lock);
  if (socket !== null) await rm(join(dirname(lock), socket), { force: true });
}

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
  if (held.has(lock)) return process.pid;
  const [{ pid, socket }, info] = await Promise.all([namedIn(lock), stat(lock).catch(() => null)]);
  if (info === null || !(pid > 0)) return null;
  const startedMs = Date.now() - uptime() * 1000;
  if (info.mtimeMs < startedMs - 60_000) return null;
  if (socket !== null) return await answers(dirname(lock), socket) ? pid : null;
  // One of the same number is a process before this one, as in a container that was started again.
  return pid !== process.pid && isAlive(pid) ? pid : null;
}

function answers(folder: string, name: string): Promise<boolean> {
  return inFolder(folder, (short) => new Promise<boolean>((resolve) => {
    const socket = connect(join(short, name), () => {
      socket.destroy();
      resolve(true);
    }).once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  }));
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
