/**
 * Loads packages without the TypeScript loader, because packages are JavaScript. The loader would parse each file and create a source map. For the HDF5 library
 * (one file of 4 MB), this takes 600 MB of memory and more than a second.
 */
import { readFile } from 'node:fs/promises';

/** A hook of `node:module`. The hook runs before the hooks that were registered earlier. */
export async function load(url, context, next) {
  if (context.format !== 'module' || !url.startsWith('file:') || !url.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}
