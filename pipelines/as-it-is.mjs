/**
 * Packages are JavaScript already, and are loaded as they are: the loader of TypeScript would look through each and make a source map of it, which takes
 * 600 MB and more than a second for HDF5's library (4 MB of one file).
 */
import { readFile } from 'node:fs/promises';

/** A hook of `node:module`, asked before those that were registered earlier. */
export async function load(url, context, next) {
  if (context.format !== 'module' || !url.startsWith('file:') || !url.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}
