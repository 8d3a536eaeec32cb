/** Returns the pages of the site that are Markdown files in the repository. A page has the path of the file, with `index.md` for `README.md`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { link, list, page, type Page } from './markdown.ts';

/** Folders with documents, in addition to the root folder. */
const FOLDERS = ['docs', 'test', 'sources'] as const;

const DECISIONS = 'docs/decisions';

/** Returns the paths of the documents. Leaves out fixtures, and the notes of sources, which are part of the sources' pages. */
export function documentFiles(): string[] {
  const isDocument = (name: string): boolean => name.endsWith('.md') && !/\/(?:fixture|golden)\/|\/notes\.md$/.test(name);
  const inside = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name.replaceAll('\\', '/')}`));
  return [...readdirSync(ROOT), ...inside].filter(isDocument).sort();
}

/** Returns the page of a file or folder of the repository, or null for a file or folder without a page. */
export function pageOf(file: string): string | null {
  const path = file.replace(/\/$/, '');
  if (path.endsWith('/notes.md') || /^sources\/[^/.]+(\/|$)/.test(path)) return `sources/${path.split('/')[1] ?? ''}.md`;
  if (/^sql\/sections\/[^/]+/.test(path)) return `sections/${path.split('/')[2] ?? ''}.md`;
  if (path.endsWith('.md')) return path.replace(/README\.md$/, 'index.md');
  return path === DECISIONS ? `${path}/index.md` : null;
}

/** Returns the first heading of a document. */
export function titleOf(markdown: string): string {
  return /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? '';
}

/** Returns the pages of all documents, and a page that lists the decisions. */
export function documentPages(): Page[] {
  const pages = documentFiles().map((file): Page => {
    const markdown = readFileSync(join(ROOT, file), 'utf8');
    return { path: pageOf(file)!, title: titleOf(markdown), markdown };
  });
  const decisions = pages.filter(({ path }) => path.startsWith(`${DECISIONS}/`)).map(({ path, title }) => link(`/${path}`, title));
  return [...pages, page(`${DECISIONS}/index.md`, 'Decisions', [list(decisions)])];
}
