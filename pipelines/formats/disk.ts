/** Room on a disk. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes that this user may still write where `path` lies or will lie. */
export async function freeBytes(path: string): Promise<number> {
  let place = path;
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize;
}
