/** Finds the sources by listing their folders; nothing is registered by hand. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './config.ts';
import { readSqlFile, type SqlFile } from './sql-files.ts';
import type { Source, Synthetic } from './kit/source.ts';

export interface RegisteredSource extends Source {
  readonly id: string;
  /** Folder from the project's root. */
  readonly folder: string;
  /** Digest of everything that decides what a file becomes: the folder's code and SQL, not its tests or synthetic files. */
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

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) {
    if (!/\.(ts|sql)$/.test(name) || name === 'synthetic.ts' || name === 'checks.sql') continue;
    hash.update(name).update('\0').update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

/** The writer of a source's invented files. */
export async function loadSynthetic(id: string): Promise<Synthetic> {
  return ((await import(pathToFileURL(join(ROOT, 'sources', id, 'synthetic.ts')).href)) as { default: Synthetic }).default;
}
