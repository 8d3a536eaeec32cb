/** Finds real files of publishers, which a developer may keep next to the checkout. Real files are never part of the project. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../../../shared/realdata/', import.meta.url);

/**
 * @param path below the folder of real files, or `''` for the folder itself
 * @returns the absolute path, or null if it does not exist, for use in `it.skipIf(realData('…') === null)('…', …)`
 */
export function realData(path = ''): string | null {
  const found = new URL(path.split('/').map(encodeURIComponent).join('/'), FOLDER);
  return existsSync(found) ? fileURLToPath(found) : null;
}
