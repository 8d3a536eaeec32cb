/** Takes and releases locks. A lock is a file. Only one process can hold a lock. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import type { MappaleError } from '../errors.ts';
import { isAlive } from '../program.ts';

/**
 * Takes a lock. The lock file contains the process ID (PID) and the name of a socket in the same folder. The socket accepts connections while the process runs,
 * including connections from other containers on this machine, where PIDs are not unique. A lock is taken over if its process has ended. If no socket shows
 * whether the process is running, a lock that is older than the last boot is also taken over. The lock file is created as a hard link to a complete file, so
 * that no process reads an empty file.
 * @param inUse returns the error to throw if another process holds the lock
 * @throws MappaleError that `inUse` returns
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
      // If two processes find an abandoned lock, only one can rename the file. If the renamed file turns out to be a new lock, the file is moved back.
      const aside = `${mine}.abandoned`;
      await rename(lock, aside).catch(() => undefined);
      if (await processOf(aside) === null) await removeSocket(aside);
      else await place(aside, lock).catch(() => undefined);
      await rm(aside, { force: true });
    }
    throw inUse('expected no other process, found other processes that took the lock at the same time');
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

/** A socket that accepts connections while this process is running. */
interface Life {
  readonly name: string;
  readonly server: Server;
}

/** Sockets of the locks that this process holds, by path of the lock file; null if sockets are not supported. */
const held = new Map<string, Life | null>();

/** Runs work with a short path of a folder (`/proc/self/fd/N`), because the length of socket addresses is limited. */
async function inFolder<T>(folder: string, work: (short: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

/** Opens a socket in a folder. @returns null if the system does not support such sockets; other processes then check only the PID */
async function showLife(folder: string): Promise<Life | null> {
  const name = `.alive-${randomUUID()}`;
  const server = createServer((socket) => socket.destroy());
  return inFolder(folder, (short) => new Promise<Life | null>((resolve) => {
    server.once('error', () => resolve(null));
    // Lets every user connect, because every user who can read the lock file must be able to check the lock.
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

/** Process and socket that a lock file names. */
interface Named {
  readonly pid: number;
  /** File name of the socket; null if the process has no socket. */
  readonly socket: string | null;
}

async function namedIn(lock: string): Promise<Named> {
  const [pid, socket] = (await readFile(lock, 'utf8').catch(() => '')).split(' ');
  return { pid: Number(pid), socket: /^\.alive-[0-9a-f-]{36}$/.test(socket ?? '') ? socket ?? null : null };
}

/** Removes the socket of a process that has ended. */
async function removeSocket(lock: string): Promise<void> {
  const { socket } = await namedIn(lock);
  if (socket !== null) await rm(join(dirname(lock), socket), { force: true });
}

async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // Copies the file on file systems without hard links.
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

/** Returns the PID of the running process that holds a lock. Returns null if no running process holds the lock. */
async function processOf(lock: string): Promise<number | null> {
  if (held.has(lock)) return process.pid;
  const [{ pid, socket }, info] = await Promise.all([namedIn(lock), stat(lock).catch(() => null)]);
  if (info === null || !(pid > 0)) return null;
  const answered = socket === null ? null : await answers(dirname(lock), socket);
  // The socket decides first, because a correction of the clock after the boot makes every earlier lock older than the boot.
  if (answered !== null) return answered ? pid : null;
  const startedMs = Date.now() - uptime() * 1000;
  if (info.mtimeMs < startedMs - 60_000) return null;
  // A socket that this user may not connect to counts as a socket of a running process.
  if (socket !== null) return pid;
  // If the PID equals the PID of this process, the lock belongs to an earlier process, for example in a restarted container.
  return pid !== process.pid && isAlive(pid) ? pid : null;
}

/** Returns whether a process accepts connections to a socket; null if the error of the connection does not show this. */
function answers(folder: string, name: string): Promise<boolean | null> {
  return inFolder(folder, (short) => new Promise<boolean | null>((resolve) => {
    const socket = connect(join(short, name), () => {
      socket.destroy();
      resolve(true);
    }).once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' || code === 'ENOENT' ? false : null));
  }));
}
