/** Converts system errors about files and folders to the program's errors, so that a run can report an unreadable file and continue. */
import type { Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { MappaleError, inputError } from '../errors.ts';
import { quoted } from '../typed.ts';

/** Codes of system errors that concern the process and not the file, such as too many open files. */
const NOT_OF_THE_FILE: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM'];
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/**
 * Returns a printable form of a name, in which each unfit character has the form `\x1b`.
 * @param unfit regular expression with the flag `g` for characters below U+0100
 */
export function escapedName(name: string, unfit: RegExp): string {
  return name.replaceAll(unfit, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Returns whether a system error means a full disk or quota. */
export function isFull(error: unknown): boolean {
  return FULL.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** Returns the error for a full disk, on which the output or temporary files are written. */
export function diskFull({ path, message }: NodeJS.ErrnoException): MappaleError {
  return new MappaleError('the disk is full', {
    code: 'DISK_FULL', kind: 'usage', at: path, detail: `expected free space, found: ${message}`, hint: 'Free space on that disk, then run the same command again.', fix: 'npx mappale prune',
  });
}

/** Returns the error for a file that GDAL could not write. GDAL rarely reports the reason. @param format GDAL's name of the format */
export function notWritten(path: string, format: string, error: Error): MappaleError {
  return new MappaleError('GDAL could not write the file', {
    code: 'FILE_NOT_WRITTEN', kind: 'usage', at: path, detail: `expected a complete ${format} file, found: ${error.message}`,
    hint: `The disk is probably full${format === 'FlatGeobuf' ? ': writing a FlatGeobuf needs twice its size' : ''}. Free disk space, or choose a folder on another disk.`,
    fix: `df -h ${quoted(dirname(path))}`, cause: error,
  });
}

/** Returns whether a system error means a missing permission or a read-only disk. */
export function isForbidden(error: unknown): boolean {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // On a read-only disk, `mkdir` with the option `recursive` reports ENOENT.
  return ['EACCES', 'EPERM', 'EROFS'].includes(code) || (code === 'ENOENT' && syscall === 'mkdir');
}

/**
 * Converts a system error about a file to an error of the program. Returns a `MappaleError` unchanged. @param at name of the file in messages @returns an input
 * error with the reason, or `DISK_FULL` (exit 2); null if the error is not a system error of this file
 */
export function fileError(error: unknown, at: string): MappaleError | null {
  if (error instanceof MappaleError) return error;
  // A full disk does not concern the file that is read. The error must not cause the region to be built without this file.
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

/** Message, error code of the program, found text and hint, by the system's error code. */
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
