/** Checks whether a folder can contain an embedded database, and locks the folder for one process. */
import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { MappaleError } from '../errors.ts';
import { freeBytes } from '../formats/disk.ts';
import { isFull } from '../formats/file-error.ts';
import { quoted } from '../typed.ts';
import { releaseLock, takeLock } from './lock-file.ts';

/** Major version of PostgreSQL in PGlite 0.5. The file `PG_VERSION` in a data folder contains the version that created the folder. */
const EMBEDDED_MAJOR = 18;
/** Folder that error messages suggest, relative to the working folder. */
const USUAL_FOLDER = '.mappale/database';
const OTHER_FOLDER = 'export DATABASE_URL=pglite:/OTHER_FOLDER/mappale';
/** Matches names of files that PostgreSQL creates in a data folder. */
const OF_A_CLUSTER = /^(?:base|global|pg_[a-z_]+(?:\.conf)?|PG_VERSION|postgresql(?:\.auto)?\.conf|postmaster\.(?:pid|opts))$/;

/**
 * Free disk space that each purpose needs, in MiB. A new database takes 65 MB. The write-ahead log grows by 16 MB at a time. Even opening for reading writes a
 * lock file and catalogue caches.
 */
const NEEDED_MIB = { new: 256, write: 64, read: 4 } as const;
/** Reason for opening the folder: to create a new database, or to write or read the existing database. */
type Purpose = keyof typeof NEEDED_MIB;
const MIB = 1024 * 1024;

/**
 * Returns the state of the folder. `database`: an embedded database. `half-made`: an unfinished database of a killed process. `nothing`: empty or missing.
 * Changes nothing.
 * @throws MappaleError `PGLITE_FOLDER` (exit 2) for an empty name, a file, an unreadable folder or a folder with other content; `DATABASE_NEWER`,
 *   `PGLITE_OTHER_VERSION` (exit 6)
 */
export async function inspectFolder(folder: string): Promise<'database' | 'nothing' | 'half-made'> {
  const refuse = (found: string, hint: string): MappaleError => new MappaleError('the folder cannot contain an embedded database', {
    code: 'PGLITE_FOLDER', kind: 'usage', at: folder === '' ? 'DATABASE_URL=pglite:' : folder, detail: `expected an embedded database or an unused path, found ${found}`, hint: `${hint} The folder was not changed.`,
    // If the default folder is the problem, the fix must name a different folder.
    fix: resolve(folder) === resolve(USUAL_FOLDER) ? OTHER_FOLDER : `export DATABASE_URL=pglite:${USUAL_FOLDER}`,
  });
  const unfinished = existsSync(unfinishedMark(folder));
  if (folder.trim() === '') throw refuse('an empty name', 'Name a folder: DATABASE_URL=pglite:.mappale/database. Or unset DATABASE_URL.');
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'nothing';
    if (code === 'ENOTDIR') throw refuse('a file, or a path below a file', 'Name another path in DATABASE_URL.');
    throw refuse(`a folder that cannot be read (${code ?? ''})`, 'Give this user the right to read and write the folder, or name another path in DATABASE_URL.');
  }
  if (names.length === 0) return 'nothing';
  const strangers = names.filter((name) => !OF_A_CLUSTER.test(name));
  if (!names.includes('PG_VERSION') ? !unfinished || strangers.length > 0 : unfinished && strangers.length > 0) {
    throw refuse(`a folder with ${strangers.slice(0, 3).join(', ') || names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`, 'Name a folder that does not exist yet.');
  }
  if (unfinished) return 'half-made';
  // Only a server writes `postmaster.opts`, so the folder belongs to a server.
  if (names.includes('postmaster.opts')) throw refuse('the data folder of a PostgreSQL server', 'Name another folder in DATABASE_URL, or name the server: DATABASE_URL=postgres://….');
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (Number(version) > EMBEDDED_MAJOR) {
    throw new MappaleError('the embedded database was created by a newer version of this program', {
      code: 'DATABASE_NEWER', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version}`, hint: 'Use the newer program, or set DATABASE_URL to another folder. The folder was not changed.', fix: OTHER_FOLDER,
    });
  }
  if (Number(version) !== EMBEDDED_MAJOR) {
    throw new MappaleError('the folder contains a database of a different version of PostgreSQL', {
      code: 'PGLITE_OTHER_VERSION', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version === '' ? 'no number' : version}`,
      hint: 'If the folder belongs to a server, set DATABASE_URL to another folder. If an earlier version of this program created the folder, load the regions again into another folder. The folder was not changed.', fix: OTHER_FOLDER,
    });
  }
  return 'database';
}

/**
 * Locks the folder for this process.
 * @throws MappaleError `DISK_FULL`, `PGLITE_FOLDER` (exit 2) if the disk is full or the folder is not writable; `DATABASE_IN_USE` (exit 7)
 */
export async function takeFolder(folder: string, purpose: Purpose): Promise<void> {
  await mustHaveRoom(folder, purpose);
  try {
    await mkdir(dirname(folder), { recursive: true });
    await takeLock(lockOf(folder), (found) => new MappaleError('the embedded database is in use', {
      code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: found, hint: 'Wait until the other program ends. To use several programs at once, use a PostgreSQL server.', fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
    }));
  } catch (error) {
    throw error instanceof MappaleError ? error : isFull(error) ? noRoom(folder, purpose, 0) : unwritable(folder, error);
  }
}

/**
 * Checks that the disk has room for an embedded database, and that the nearest existing folder above `folder` is writable. Writes nothing.
 * @throws MappaleError `DISK_FULL`, `PGLITE_FOLDER` (exit 2)
 */
export async function mustTakeDatabase(folder: string, purpose: Purpose): Promise<void> {
  await mustHaveRoom(folder, purpose);
  let place = dirname(folder);
  while (!existsSync(place)) place = dirname(place);
  await access(place, constants.W_OK).catch((error: unknown) => {
    throw unwritable(folder, error);
  });
}

/** @throws MappaleError `DISK_FULL` (exit 2) */
export async function mustHaveRoom(folder: string, purpose: Purpose): Promise<void> {
  const freeMib = Math.floor(await freeBytes(folder) / MIB);
  if (freeMib < NEEDED_MIB[purpose]) throw noRoom(folder, purpose, freeMib);
}

function noRoom(folder: string, purpose: Purpose, freeMib: number): MappaleError {
  return new MappaleError('not enough disk space for the embedded database', {
    code: 'DISK_FULL', kind: 'usage', at: folder, detail: `expected ${NEEDED_MIB[purpose]} MiB free on its disk, found ${freeMib} MiB`,
    hint: `Free disk space, or use a folder on another disk. ${purpose === 'new' ? 'No database was created.' : 'Published data is unchanged.'}`,
    fix: purpose === 'new' ? 'export DATABASE_URL=pglite:/OTHER_DISK/mappale' : `df -h ${quoted(folder)}`,
  });
}

function unwritable(folder: string, error: unknown): MappaleError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new MappaleError('the folder of the embedded database is not writable', {
    code: 'PGLITE_FOLDER', kind: 'usage', at: folder, detail: `expected a writable folder, found: ${code === undefined ? String(error) : message}`,
    hint: 'Allow this user to write to the folder, or use another folder.', fix: OTHER_FOLDER, cause: error,
  });
}

export async function giveFolderBack(folder: string): Promise<void> {
  await releaseLock(lockOf(folder));
}

/** Returns the path of a marker file, which exists while a database is being created. */
export function unfinishedMark(folder: string): string {
  return `${folder}.unfinished`;
}

function lockOf(folder: string): string {
  return `${folder}.lock`;
}
