/** Finds the sources by listing their folders; nothing is registered by hand. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './config.ts';
import { codeDigest, readSqlFile, type SqlFile } from './sql-files.ts';
import type { Source, Synthetic } from './kit/source.ts';

export interface RegisteredSource extends Source {
  readonly id: string;
  /** Folder from the project's root. */
  readonly folder: string;
  /** Digest of everything that decides what a file becomes: the folder's SQL, its code and the kit that this code uses. */
  readonly reader: string;
  readonly staging: SqlFile;
  readonly layer: SqlFile;
  readonly load: SqlFile;
  readonly checks: SqlFile;
}

/** All sources, by id. */
export async function loadSources(): Promise<RegisteredSource[]> {
  const folders = readdirSync(join(ROOT, 'sources'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, 'sources', entry.name, 'source.ts')))
    .map((entry) => entry.name)
    .sort();
  return Promise.all(folders.map(registerSource));
}

/** One source by the name of its folder. */
export async function registerSource(id: string): Promise<RegisteredSource> {
  const folder = join(ROOT, 'sources', id);
  const module = (await import(pathToFileURL(join(folder, 'source.ts')).href)) as { default: Source };
  if (module.default.manifest.id !== id) throw new Error(`sources/${id}: manifest.id is ${module.default.manifest.id}`);
  return {
    ...module.default,
    id,
    folder: `sources/${id}`,
    reader: digestOf(folder),
    staging: readSqlFile(join(folder, 'staging.sql')),
    layer: readSqlFile(join(folder, 'layer.sql')),
    load: readSqlFile(join(folder, 'load.sql')),
    checks: readSqlFile(join(folder, 'checks.sql')),
  };
}

/** The folder's SQL with the functions that it calls, and the code that `source.ts` reaches by its imports, in the folder and in the kit. */
function digestOf(folder: string): string {
  const files = new Set<string>();
  const follow = (path: string): void => {
    if (files.has(path) || !existsSync(path)) return;
    files.add(path);
    for (const match of readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*? from '(\.[^']+)'/gm)) follow(resolve(dirname(path), match[1]!));
  };
  follow(join(folder, 'source.ts'));
  const hash = createHash('sha256');
  for (const path of [...files].sort()) hash.update(relative(ROOT, path)).update('\0').update(readFileSync(path));
  for (const name of ['staging.sql', 'layer.sql', 'load.sql']) hash.update(name).update('\0').update(codeDigest(readSqlFile(join(folder, name))));
  return hash.digest('hex');
}

/** The writer of a source's invented files. */
export async function loadSynthetic(id: string): Promise<Synthetic> {
  return ((await import(pathToFileURL(join(ROOT, 'sources', id, 'synthetic.ts')).href)) as { default: Synthetic }).default;
}
