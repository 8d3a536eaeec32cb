/** Writes a file under a temporary name and then renames the file. Readers see the old file or the complete new file, never an incomplete file. */
import { rmSync } from 'node:fs';
import { access, constants, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MappaleError } from '../errors.ts';
import { isAlive } from '../program.ts';
import { quoted, retyped, withOption } from '../typed.ts';
import { isFull } from './file-error.ts';

/**
 * Checks that a file can be written to a path. Call before long work.
 * @param option command-line option with the path, for the suggested fix
 * @throws MappaleError `FOLDER_MISSING`, `FOLDER_UNWRITABLE`, `NOT_A_FILE_NAME` (exit 2)
 */
export async function mustBePlace(path: string, option = '--out'): Promise<void> {
  const folder = dirname(path);
  if (!await stat(folder).then((found) => found.isDirectory(), () => false)) {
    throw new MappaleError('the output folder does not exist', { code: 'FOLDER_MISSING', kind: 'usage', at: folder, hint: 'Create the folder, or name another folder.', fix: `mkdir -p ${quoted(folder)}` });
  }
  const there = await stat(path).catch(() => null);
  const found = basename(path) === '-' ? 'standard output' : there?.isDirectory() === true ? 'a folder' : there !== null && !there.isFile() ? 'a device or a pipe' : null;
  if (found !== null) {
    throw new MappaleError('the output must be a file', {
      code: 'NOT_A_FILE_NAME', kind: 'usage', at: path, detail: `expected the name of a file, found ${found}`, hint: 'Name a file. A temporary file is written to the same folder and renamed when it is complete.',
      fix: retyped(withOption(option, there?.isDirectory() === true ? join(path, 'FILE') : 'FILE'), `ls ${quoted(folder)}`),
    });
  }
  if (!await access(folder, constants.W_OK).then(() => true, () => false)) {
    throw new MappaleError('the folder is not writable', {
      code: 'FOLDER_UNWRITABLE', kind: 'usage', at: folder, detail: 'expected a folder that this user may write to', hint: 'Name another folder, or allow this user to write to the folder.', fix: `ls -ld ${quoted(folder)}`,
    });
  }
}

/** Text in the name of an unfinished file, between the final name and the process id. */
const MARK = '.unfinished-';

/** Returns whether a file name is the name of an unfinished file. */
export function isBeingWritten(name: string): boolean {
  return pidOf(name, name.lastIndexOf(MARK)) > 0;
}

/** Returns the process id in the name of an unfinished file. @param at position of `MARK` in the name @returns NaN if this program did not write the file */
function pidOf(name: string, at: number): number {
  return at < 0 ? NaN : Number.parseInt(name.slice(at + MARK.length), 10);
}

/** Paths of unfinished files, which are removed if a signal ends the process. */
const unfinished = new Set<string>();

/** Removes unfinished files after a signal such as Ctrl-C, then sends the same signal to this process again. */
function leave(signal: NodeJS.Signals): void {
  for (const path of unfinished) rmSync(path, { recursive: true, force: true });
  process.kill(process.pid, signal);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Writes a file atomically. @param write writes the content to the given temporary path; if `write` throws, the file is removed @param ending extension of the
 * temporary path, for writers that depend on the extension @throws MappaleError `DISK_FULL` (exit 2); errors of `write`
 */
export async function writeAtomically<T>(path: string, write: (unfinished: string) => Promise<T>, ending = ''): Promise<T> {
  const own = `${path}${MARK}${process.pid}${ending}`;
  await removeLeft(path, (pid) => pid === process.pid || !isAlive(pid));
  if (unfinished.size === 0) for (const signal of SIGNALS) process.once(signal, leave);
  unfinished.add(own);
  try {
    const result = await write(own);
    await rename(own, path);
    return result;
  } catch (error) {
    await removeLeft(path, (pid) => pid === process.pid);
    if (error instanceof MappaleError && error.at === own) throw error.knowing({ at: path });
    // A nested write of another file of the same export may already have reported the full disk.
    if (!isFull(error) && !(error instanceof MappaleError && error.code === 'DISK_FULL')) throw error;
    throw new MappaleError('the disk is full', {
      code: 'DISK_FULL', kind: 'usage', at: path, detail: error instanceof MappaleError ? error.detail : `expected space for the whole file, found: ${(error as Error).message}`,
      hint: 'Free disk space, or choose a folder on another disk. The unfinished file was removed. Existing files are unchanged.',
      fix: retyped(withOption('--out', `/OTHER_DISK/${basename(path)}`), `df -h ${quoted(dirname(path))}`), cause: error,
    });
  } finally {
    unfinished.delete(own);
    if (unfinished.size === 0) for (const signal of SIGNALS) process.off(signal, leave);
  }
}

/**
 * Removes unfinished versions of a file, including files that libraries wrote under names with the same beginning.
 * @param gone returns whether to remove the files of the process with this id
 */
async function removeLeft(path: string, gone: (pid: number) => boolean): Promise<void> {
  const start = basename(path);
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    const pid = name.startsWith(start + MARK) ? pidOf(name, start.length) : NaN;
    if (pid > 0 && gone(pid)) await rm(join(dirname(path), name), { recursive: true, force: true });
  }
}
