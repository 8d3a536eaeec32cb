/** Converts system errors about files and folders into messages. An unreadable entry is reported, and the run continues. */
import type { Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { MappaleError, inputError } from '../errors.ts';

/** Errors of the process instead of the file: too many open files, no memory. */
const NOT_OF_THE_FILE: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM'];
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/** Is this what the system says when a disk or a quota is full? */
export function isFull(error: unknown): boolean {
  return FULL.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** A disk that filled up: the folder that a command writes to, or the one for temporary files. */
export function diskFull({ path, message }: NodeJS.ErrnoException): MappaleError {
  return new MappaleError('the disk is full', {
    code: 'DISK_FULL', kind: 'usage', at: path, detail: `expected room, found: ${message}`, hint: 'Free room there, then run the same command again.', fix: 'npx mappale prune',
  });
}

/** Is this what the system says where this user may not read or write? */
export function isForbidden(error: unknown): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // On a read-only disk, `mkdir` with parents reports a missing folder.
  return ['EACCES', 'EPERM', 'EROFS'].includes(code) || (code === 'ENOENT' && syscall === 'mkdir');
}

/**
 * @param at how the file is named in messages
 * @returns an input error with its reason, or `DISK_FULL` (exit 2); null: it is not the system that speaks, or not of this file
 */
export function fileError(error: unknown, at: string): MappaleError | null {
  if (error instanceof MappaleError) return error;
  // A full disk is not a fault of the file that is read. The file must not be left out of its region for it.
  if (isFull(error)) return diskFull(error as NodeJS.ErrnoException);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || NOT_OF_THE_FILE.includes(code)) return null;
  const [words, name, found, hint] = FILE_WORDS[code]
    ?? ['it cannot be read', 'FILE_UNREADABLE', message, 'Look whether its disk is whole and connected, then copy or download the file again.'];
  return inputError(words, { code: name, at, detail: `expected a file that can be read, found ${found.replace('{user}', userName)}`, hint, cause: error });
}

const FORBIDDEN = [
  'it may not be read', 'FILE_UNREADABLE', 'one that {user} may not read',
  'Give this user the right to read it (chmod u+rX, or chown), or take it out of the folder.',
] as const;

/** By the system's code: what is wrong, our code, what was found, what to do. */
export const FILE_WORDS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  ENOENT: ['the file is gone', 'FILE_GONE', 'none', 'It left the folder while the program worked. Run the same command again when it is there.'],
  ELOOP: ['the link leads back to itself', 'LINK_CIRCULAR', 'links in a circle', 'Remove the link, or let it lead to the file.'],
};

/**
 * A pipe would be waited for without end, and a device has none.
 * @param at how it is named in messages
 */
export function notAFile(info: Stats, at: string): MappaleError {
  const kinds = [
    [info.isDirectory(), 'a folder'], [info.isFIFO(), 'a named pipe'], [info.isSocket(), 'a socket'],
    [info.isCharacterDevice() || info.isBlockDevice(), 'a device'],
  ] as const;
  const found = kinds.find(([is]) => is)?.[1] ?? 'something else';
  return inputError('it is not a file', {
    code: 'NOT_A_FILE', at, detail: `expected a file, found ${found}`, hint: 'Give the file itself. Save the output of a pipe or a device to a file first.',
  });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${String(process.getuid?.())}`;
  }
}
