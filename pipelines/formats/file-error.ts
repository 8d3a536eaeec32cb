/** Converts system errors about files and folders into messages. An unreadable entry is reported, and the run continues. */
import type { Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { MappaleError, inputError } from '../errors.ts';
import { quoted } from '../typed.ts';

/** System errors that concern the process and not the file: too many open files, no memory. */
const NOT_OF_THE_FILE: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM'];
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/** Returns whether a system error means a full disk or quota. */
export function isFull(error: unknown): boolean {
  return FULL.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** Returns the error for a full disk of the output folder or of temporary files. */
export function diskFull({ path, message }: NodeJS.ErrnoException): MappaleError {
  return new MappaleError('the disk is full', {
    code: 'DISK_FULL', kind: 'usage', at: path, detail: `expected free space, found: ${message}`, hint: 'Free space on that disk, then run the same command again.', fix: 'npx mappale prune',
  });
}

/** Returns the error for a failed write of GDAL. GDAL rarely reports the reason. @param format name of the format in GDAL */
export function notWritten(path: string, format: string, error: Error): MappaleError {
  return new MappaleError('GDAL could not write the file', {
    code: 'FILE_NOT_WRITTEN', kind: 'usage', at: path, detail: `expected a whole ${format}, found: ${error.message}`,
    hint: `The disk is probably full${format === 'FlatGeobuf' ? ': writing a FlatGeobuf needs twice its size' : ''}. Free disk space, or choose a folder on another disk.`,
    fix: `df -h ${quoted(dirname(path))}`, cause: error,
  });
}

/** Returns whether a system error means a missing permission. */
export function isForbidden(error: unknown): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // On a read-only disk, `mkdir` with parents reports a missing folder.
  return ['EACCES', 'EPERM', 'EROFS'].includes(code) || (code === 'ENOENT' && syscall === 'mkdir');
}

/**
 * @param at name of the file in messages
 * @returns an input error with the reason, or `DISK_FULL` (exit 2); null if the error is not a system error of this file
 */
export function fileError(error: unknown, at: string): MappaleError | null {
  if (error instanceof MappaleError) return error;
  // A full disk is not an error of the file that is read. A full disk must not remove a file from a region.
  if (isFull(error)) return diskFull(error as NodeJS.ErrnoException);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || NOT_OF_THE_FILE.includes(code)) return null;
  const [words, name, found, hint] = FILE_WORDS[code]
    ?? ['the file cannot be read', 'FILE_UNREADABLE', message, 'Check whether the disk of the file is intact and connected, then copy or download the file again.'];
  return inputError(words, { code: name, at, detail: `expected a file that can be read, found ${found.replace('{user}', userName)}`, hint, cause: error });
}

const FORBIDDEN = [
  'the file is not readable for this user', 'FILE_UNREADABLE', 'a file that {user} may not read',
  'Give this user the right to read the file (chmod u+rX, or chown), or move the file out of the folder.',
] as const;

/** Message, error code, found text and hint, by the system's error code. */
export const FILE_WORDS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  ENOENT: ['the file no longer exists', 'FILE_GONE', 'none', 'The file was removed while the program was running. Put the file back and run the same command again.'],
  ELOOP: ['the symbolic link refers to itself', 'LINK_CIRCULAR', 'symbolic links that refer to each other', 'Remove the symbolic link, or change its target to the file.'],
};

/**
 * Returns the error for a path that is not a file. Reading a pipe or a device may never end. @param at name of the file in messages
 */
export function notAFile(info: Stats, at: string): MappaleError {
  const kinds = [
    [info.isDirectory(), 'a folder'], [info.isFIFO(), 'a named pipe'], [info.isSocket(), 'a socket'],
    [info.isCharacterDevice() || info.isBlockDevice(), 'a device'],
  ] as const;
  const found = kinds.find(([is]) => is)?.[1] ?? 'something else';
  return inputError('the path is not a file', {
    code: 'NOT_A_FILE', at, detail: `expected a file, found ${found}`, hint: 'Use a regular file. First save the output of a pipe or a device to a file.',
  });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${String(process.getuid?.())}`;
  }
}
