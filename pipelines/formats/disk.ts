/** Determines the free space on a disk. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the number of bytes that this user can still write to the disk of a path. */
export async function freeBytes(path: string): Promise<number> {
  let place = path;
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize;
}
