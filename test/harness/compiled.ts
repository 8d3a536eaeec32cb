/** Compiles the program of this checkout for tests. Runs in Vitest's main process. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../pipelines/config.ts';

const CACHE = join(ROOT, 'node_modules/.cache/mappale');
const PREFIX = 'program-';
const DAY_MS = 86_400_000;
/** Files and folders on which the compiled program depends. The lock file has the version of the compiler. */
const INPUT = ['pipelines', 'sources', 'sql', 'api', 'cli', 'scripts/build', 'tsconfig.json', 'tsconfig-build.json', 'package.json', 'package-lock.json'];

/**
 * Returns the path of the compiled `mappale.mjs`. The name of the program's folder contains the digest of the source code, so that the program is never older
 * than the source code. The folder is below `node_modules`, where the program finds the packages.
 */
export async function compiledProgram(): Promise<string> {
  const folder = join(CACHE, PREFIX + (await digestOfSources()));
  if (!existsSync(folder)) await compile(folder);
  return join(folder, 'pipelines/mappale.mjs');
}

async function digestOfSources(): Promise<string> {
  const digest = createHash('sha256');
  for (const name of INPUT) {
    const path = join(ROOT, name);
    const files = (await stat(path)).isFile() ? [path] : await filesBelow(path);
    for (const file of files.sort()) digest.update(`${file.slice(ROOT.length)}\0`).update(createHash('sha256').update(await readFile(file)).digest());
  }
  return digest.digest('hex').slice(0, 16);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function compile(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  for (const name of await readdir(CACHE)) {
    const old = join(CACHE, name);
    if (name.startsWith(PREFIX) && Date.now() - (await stat(old)).mtimeMs > DAY_MS) await rm(old, { recursive: true, force: true });
  }
  const scratch = await mkdtemp(join(CACHE, 'compiling-'));
  try {
    await promisify(execFile)('npm', ['run', '--silent', 'compile', '--', join(scratch, 'program')], { cwd: ROOT });
    // Another run may have created the same program first.
    await rename(join(scratch, 'program'), folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
