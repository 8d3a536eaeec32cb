/** Files that are written beside their place and renamed: whoever looks sees the old one or the new one, never a part. */
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { MappaleError } from '../errors.ts';
import { quoted, retyped, withOption } from '../typed.ts';
import { isFull } from './file-error.ts';

/** @throws MappaleError `FOLDER_MISSING` (exit 2) */
export async function mustHaveFolder(path: string): Promise<void> {
  const folder = dirname(path);
  if (await stat(folder).then((found) => found.isDirectory(), () => false)) return;
  throw new MappaleError('there is no folder to write to', { code: 'FOLDER_MISSING', kind: 'usage', at: folder, hint: 'Make it, or name another one.', mend: `mkdir -p ${quoted(folder)}` });
}

/**
 * @param write gets the path to write to, and is done when everything is written; when it fails nothing stays
 * @param ending of that path, for writers that look at it
 * @throws MappaleError `DISK_FULL` (exit 2); what `write` throws
 */
export async function writeBeside<T>(path: string, write: (unfinished: string) => Promise<T>, ending = ''): Promise<T> {
  const unfinished = `${path}.unfinished${ending}`;
  try {
    const result = await write(unfinished);
    await rename(unfinished, path);
    return result;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isFull(error)) throw error;
    throw new MappaleError('the disk is full', {
      code: 'DISK_FULL', kind: 'usage', at: path, detail: `expected room for the whole file, found: ${(error as Error).message}`,
      hint: 'Free room there, or name a place on another disk. What was begun was removed; what was there before stays.',
      mend: retyped(withOption('--out', `/OTHER_DISK/${basename(path)}`), `df -h ${quoted(dirname(path))}`), cause: error,
    });
  }
}
