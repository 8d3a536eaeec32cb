/** The project's files, as the architecture tests see them. Nothing is listed by hand. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));

/** What is not the project's own: packages, history, databases. */
const FOREIGN = new Set(['node_modules', '.git', '.mappale']);

/** All files of the project, paths from its root with `/`, sorted. */
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

/** Inputs and expected outputs of tests: publishers' bytes, not code. */
export function isData(file: string): boolean {
  return /^((sources\/[^/]+|test\/stations)\/(fixture|golden)|sql\/sections\/[^/]+\/golden|test\/migration\/fixture|test\/sections\/golden|test\/truth\/terrain)\//.test(file);
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Line number, 1-based, of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export const TYPESCRIPT: readonly string[] = FILES.filter((file) => file.endsWith('.ts') && !isData(file));
export const SQL: readonly string[] = FILES.filter((file) => file.endsWith('.sql') && !isData(file));
/** Folders of `sql/sections/`. */
export const SECTION_FOLDERS: readonly string[] = [...new Set(FILES.flatMap((file) => /^sql\/sections\/([^/]+)\//.exec(file)?.[1] ?? []))];
/** Folders of `sources/`. */
export const SOURCES: readonly string[] = [...new Set(FILES.flatMap((file) => /^sources\/([^/]+)\//.exec(file)?.[1] ?? []))];
