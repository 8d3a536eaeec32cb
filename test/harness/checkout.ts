/** Copies the checkout, so that a test can add a source or section as a developer would. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../pipelines/config.ts';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { childEnvironment } from './environment.ts';

/** Folders that are not copied. */
const LEFT = ['node_modules', '.git', '.mappale', 'dist'];

export interface Checkout {
  readonly folder: string;
  /** Runs a program in the copy. @returns its standard output */
  run(command: string, words: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
  /** Runs the copy's command line on a database. @returns its standard output */
  mappale(url: string, ...words: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Opens a database, runs a task and closes the database. An embedded database allows one process at a time, and programs of the copy open the database
 * afterwards.
 */
export async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** @param added additional folders, each as its path in this checkout and its path in the copy */
export async function copyCheckout(...added: readonly (readonly [from: string, to: string])[]): Promise<Checkout> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-copy-'));
  await cp(ROOT, folder, { recursive: true, filter: (path) => !LEFT.includes(relative(ROOT, path)) });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [from, to] of added) await cp(join(ROOT, from), join(folder, to), { recursive: true });
  const run: Checkout['run'] = async (command, words, environment = {}) =>
    (await promisify(execFile)(command, words, { cwd: folder, env: childEnvironment(environment), maxBuffer: 1 << 26 })).stdout;
  return {
    folder, run,
    mappale: (url, ...words) => run(process.execPath, [join(folder, 'pipelines/mappale.mjs'), ...words], { DATABASE_URL: url }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
