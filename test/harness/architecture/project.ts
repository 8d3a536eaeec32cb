/** Lists the project's files for the architecture tests, so that no file must be listed by hand. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders that are not part of the sources: packages, Git history, databases and the compiled program. */
const FOREIGN = new Set(['node_modules', '.git', '.mappale', 'dist']);

/** Paths of all files of the project, relative to its root and sorted. */
export const FILES: readonly string[] = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => !FOREIGN.has(entry.name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, withFileTypes: true })
          .filter((inner) => inner.isFile())
          .map((inner) => join(inner.parentPath, inner.name).slice(ROOT.length).replaceAll('\\', '/'))
      : [entry.name],
  )
  .sort();

/** Returns whether a file is input or expected output of tests, which is not code. */
export function isData(file: string): boolean {
  return /^((sources\/[^/]+|test\/stations)\/(fixture|golden)|sql\/sections\/[^/]+\/golden|test\/migration\/fixture|test\/sections\/golden|test\/truth\/terrain)\//.test(file);
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns the number of the line at an offset. The first line has the number 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export const TYPESCRIPT: readonly string[] = FILES.filter((file) => file.endsWith('.ts') && !isData(file));
export const SQL: readonly string[] = FILES.filter((file) => file.endsWith('.sql') && !isData(file));
/** Names of the folders in `sql/sections/`. */
export const SECTION_FOLDERS: readonly string[] = [...new Set(FILES.flatMap((file) => /^sql\/sections\/([^/]+)\//.exec(file)?.[1] ?? []))];
/** Names of the folders in `sources/`. */
export const SOURCES: readonly string[] = [...new Set(FILES.flatMap((file) => /^sources\/([^/]+)\//.exec(file)?.[1] ?? []))];
