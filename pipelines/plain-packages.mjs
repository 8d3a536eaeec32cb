/**
 * Loads packages without the TypeScript loader, because they are JavaScript. The loader would parse each file and create a source map, which takes 600 MB and
 * more than a second for HDF5's library (one file of 4 MB).
 */
import { readFile } from 'node:fs/promises';

/** A hook of `node:module`, which runs before the hooks that were registered earlier. */
export async function load(url, context, next) {
  if (context.format !== 'module' || !url.startsWith('file:') || !url.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}
