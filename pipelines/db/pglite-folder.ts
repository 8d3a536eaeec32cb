/** The folder of an embedded database: whether it can be one, and which process has it open. */
import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { MappaleError } from '../errors.ts';
import { freeBytes } from '../formats/disk.ts';
import { releaseLock, takeLock } from '../lock-file.ts';

/** PostgreSQL inside PGlite 0.5; `PG_VERSION` of a folder says which one made it. */
const EMBEDDED_MAJOR = 18;
/** Below the working folder: where the database is when nothing is set. */
const USUAL_FOLDER = '.mappale/database';
const OTHER_FOLDER = 'export DATABASE_URL=pglite:/OTHER_FOLDER/mappale';
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
    // What blocks the folder that is used without a setting is not mended by naming it.
    fix: resolve(folder) === resolve(USUAL_FOLDER) ? OTHER_FOLDER : `export DATABASE_URL=pglite:${USUAL_FOLDER}`,
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
      code: 'DATABASE_NEWER', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version}`, hint: 'Use the newer program, or name another folder in DATABASE_URL. It was left as it is.', fix: OTHER_FOLDER,
    });
  }
  if (Number(version) !== EMBEDDED_MAJOR) {
    throw new MappaleError('the folder holds a database of another version of PostgreSQL', {
      code: 'PGLITE_OTHER_VERSION', kind: 'database', at: folder, detail: `expected PostgreSQL ${EMBEDDED_MAJOR}, found ${version === '' ? 'no number' : version}`,
      hint: 'If it belongs to a server, name another folder in DATABASE_URL. If an earlier version of this program made it, load again into another folder. It was left as it is.', fix: OTHER_FOLDER,
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
  await mustHaveRoom(folder, made);
  try {
    await mkdir(dirname(folder), { recursive: true });
    await takeLock(lockOf(folder), (found) => new MappaleError('the embedded database is in use', {
      code: 'DATABASE_IN_USE', kind: 'locked', at: folder, detail: found, hint: 'Wait until it ends. Several programs at once need a PostgreSQL server.', fix: 'export DATABASE_URL=postgres://USER@HOST:5432/DATABASE',
    }));
  } catch (error) {
    throw error instanceof MappaleError ? error : unwritable(folder, error);
  }
}

/**
 * Looks whether an embedded database could be opened for writing there, and writes nothing.
 * @param made the database is there
 * @throws MappaleError `DISK_FULL`, `PGLITE_FOLDER` (exit 2)
 */
export async function mustTakeDatabase(folder: string, made: boolean): Promise<void> {
  await mustHaveRoom(folder, made);
  let place = dirname(folder);
  while (!existsSync(place)) place = dirname(place);
  await access(place, constants.W_OK).catch((error: unknown) => {
    throw unwritable(folder, error);
  });
}

async function mustHaveRoom(folder: string, made: boolean): Promise<void> {
  const bytes = made ? OPEN_BYTES : NEW_BYTES;
  const free = await freeBytes(folder);
  if (free < bytes) {
    throw new MappaleError('there is not enough room for the embedded database', {
      code: 'DISK_FULL', kind: 'usage', at: folder,
      detail: `expected ${Math.ceil(bytes / 1024 ** 2)} MiB free on its disk, found ${Math.floor(free / 1024 ** 2)} MiB`,
      hint: 'Free room, or name a folder on another disk. Nothing was made.', fix: 'export DATABASE_URL=pglite:/OTHER_DISK/mappale',
    });
  }
}

function unwritable(folder: string, error: unknown): MappaleError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new MappaleError('the embedded database cannot be written where it is named', {
    code: 'PGLITE_FOLDER', kind: 'usage', at: folder, detail: `expected a place that can be written, found: ${code === undefined ? String(error) : message}`,
    hint: 'Give this user the right to write there, or name another folder.', fix: OTHER_FOLDER, cause: error,
  });
}

export async function giveFolderBack(folder: string): Promise<void> {
  await releaseLock(lockOf(folder));
}

function lockOf(folder: string): string {
  return `${folder}.lock`;
}
