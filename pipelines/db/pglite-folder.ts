/** The folder of an embedded database: whether it can be one, and which process has it open. */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { MappaleError } from '../errors.ts';
import { freeBytes } from '../formats/disk.ts';

/** PostgreSQL inside PGlite 0.5; `PG_VERSION` of a folder says which one made it. */
const EMBEDDED_MAJOR = 18;
/** What PostgreSQL itself puts into its folder. */
const OF_A_CLUSTER = /^(?:base|global|pg_[a-z_]+(?:\.conf)?|PG_VERSION|postgresql(?:\.auto)?\.conf|postmaster\.(?:pid|opts))$/;
/** A new database takes 65 MB; its journal grows by 16 MB at a time. */
const NEW_BYTES = 256 * 1024 * 1024;
const OPEN_BYTES = 64 * 1024 * 1024;

/**
 * What is there: our database, nothing, or what a killed process left half-made.
 * @throws MappaleError `PGLITE_FOLDER` (exit 2) for what is none of these, which is left as it is; `DATABASE_NEWER`, `PGLITE_OTHER_VERSION` (exit 6)
 */
export async function inspectFolder(folder: string, unfinished: boolean): Promise<'database' | 'nothing' | 'half-made'> {
  const refuse = (found: string, hint: string): MappaleError => new MappaleError('the folder cannot be that of an embedded database', {
    code: 'PGLITE_FOLDER', kind: 'usage', at: folder === '' ? 'DATABASE_URL=pglite:' : folder, detail: `expected a folder of its own, or a path at which nothing is, found ${found}`, hint: `${hint} It was left as it is.`,
  });
  if (folder.trim() === '') throw refuse('an empty name', 'Name a folder: DATABASE_URL=pglite:.mappale/database, or unset it.');
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'nothing';
    if (code === 'ENOTDIR') throw refuse('a file, or a path below one', 'Name another path in DATABASE_URL.');
    throw refuse(`one that cannot be looked into (${code ?? ''})`, 'Give this user the right to read and write it, or name another path in DATABASE_URL.');
  }
  if (names.length === 0) return 'nothing';
  const strangers = names.filter((name) => !OF_A_CLUSTER.test(name));
  if (!names.includes('PG_VERSION') ? !unfinished || strangers.length > 0 : unfinished && strangers.length > 0) {
    throw refuse(`one that holds ${strangers.slice(0, 3).join(', ') || names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`, 'Name a folder that does not exist yet.');
  }
  if (unfinished) return 'half-made';
  // PGlite leaves no options of a postmaster.
  if (names.includes('postmaster.opts')) throw refuse('that of a PostgreSQL server', 'Name another folder in DATABASE_URL, or the server itself: DATABASE_URL=postgres://….');
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (Number(version) > EMBEDDED_MAJOR) {
    throw new MappaleError('the embedded database was made by a newer version of this program', {
      code: 'DATABASE_NEWER', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version}`, hint: 'Use the newer program, or name another folder in DATABASE_URL. It was left as it is.',
    });
  }
  if (Number(version) !== EMBEDDED_MAJOR) {
    throw new MappaleError('the folder holds a database of another version of PostgreSQL', {
      code: 'PGLITE_OTHER_VERSION', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version === '' ? 'no number' : version}`,
      hint: 'If it belongs to a server, name another folder in DATABASE_URL. If an earlier version of this program made it, load again into another folder. It was left as it is.',
    });
  }
  return 'database';
}

/**
 * Makes the folder this process's own.
 * @param made the database is there
 * @throws MappaleError `DISK_FULL`, `PGLITE_FOLDER` (exit 2) where there is no room, or the system does not let us write; `DATABASE_IN_USE` (exit 7)
 */
export async function takeFolder(folder: string, made: boolean): Promise<void> {
  const bytes = made ? OPEN_BYTES : NEW_BYTES;
  const free = await freeBytes(folder);
  if (free < bytes) {
    throw new MappaleError('there is not enough room for the embedded database', {
      code: 'DISK_FULL', kind: 'usage', at: folder,
      detail: `expected ${Math.ceil(bytes / 1024 ** 2)} MiB free on its disk, found ${Math.floor(free / 1024 ** 2)} MiB`,
      hint: 'Free room, or name a folder on another disk: DATABASE_URL=pglite:FOLDER. Nothing was made.',
    });
  }
  try {
    await mkdir(dirname(folder), { recursive: true });
    await takeLock(lockOf(folder), folder);
  } catch (error) {
    if (error instanceof MappaleError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MappaleError('the embedded database cannot be written where it is named', {
      code: 'PGLITE_FOLDER', kind: 'usage', at: folder, detail: `expected a place that can be written, found: ${code === undefined ? String(error) : message}`,
      hint: 'Give this user the right to write there, or name another folder in DATABASE_URL.', cause: error,
    });
  }
}

export async function giveFolderBack(folder: string): Promise<void> {
  held.delete(lockOf(folder));
  await rm(lockOf(folder), { force: true });
}

function lockOf(folder: string): string {
  return `${folder}.lock`;
}

/**
 * One process may have the folder open. The file names it; a file left by a process that is gone, or by one from before the machine
 * was started, is taken over. It appears whole, by a link, so that nobody reads it empty.
 */
async function takeLock(lock: string, folder: string): Promise<void> {
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
        throw new MappaleError('the embedded database is in use', {
          code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: `expected no other process, found process ${other}`,
          hint: 'Wait until it ends. Several programs at once need a PostgreSQL server: set DATABASE_URL.',
        });
      }
      // Of two that find it abandoned only one gets it; if it is a new one by now, it goes back.
      const aside = `${mine}.abandoned`;
      await rename(lock, aside).catch(() => undefined);
      if (await processOf(aside) !== null) await place(aside, lock).catch(() => undefined);
      await rm(aside, { force: true });
    }
    throw new MappaleError('the embedded database is in use', {
      code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: 'other processes took it in the same moment', hint: 'Run the same command again.',
    });
  } finally {
    await rm(mine, { force: true });
  }
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
