/**
 * Loads npm packages without the TypeScript loader, because packages are JavaScript. The TypeScript loader would parse each file and create a source map. For
 * the HDF5 library, a file of 4 MB, this would take 600 MB of memory and more than a second.
 */
import { readFile } from 'node:fs/promises';

/** Load hook of `node:module`, which runs before the hooks that were registered earlier. */
export async function load(url, context, next) {
  if (context.format !== 'module' || !url.startsWith('file:') || !url.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}
