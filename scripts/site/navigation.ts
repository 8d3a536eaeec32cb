/** Builds the menu of the site from the groups of `docs/README.md`, the generated pages, and all other documents. */
import { posix } from 'node:path';
import { pageOf } from './documents.ts';
import type { Page } from './markdown.ts';

/** A menu entry in VitePress's form. */
export interface Entry {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Entry[];
}

/** Returns the groups of documents. @param index text of docs/README.md, in which each group is a heading and a table with links in the first column */
export function groupsOf(index: string): { readonly title: string; readonly paths: readonly string[] }[] {
  return index.split(/^## /m).slice(1).map((part) => {
    const [title = '', ...lines] = part.split('\n');
    const cells = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|')[1]!);
    const hrefs = cells.flatMap((cell) => [...cell.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!));
    return { title, paths: hrefs.map((href) => pageOf(posix.join('docs', href))!) };
  });
}

/** Returns the menu of the site, in which every page occurs once. */
export function navigationOf(pages: readonly Page[], index: string): Entry[] {
  const left = new Map(pages.map((page) => [page.path, page]));
  const entry = (path: string, below: readonly Entry[] = []): Entry => {
    const page = left.get(path);
    if (page === undefined) throw new Error(`docs/README.md: ${path} is listed twice or does not exist`);
    left.delete(path);
    return { text: page.title, link: `/${path.replace(/(?:index)?\.md$/, (ending) => (ending === '.md' ? '.html' : ''))}`, ...(below.length === 0 ? {} : { collapsed: true, items: below }) };
  };
  const below = (folder: string): Entry[] => [...left.keys()].filter((path) => path.startsWith(`${folder}/`) && path !== `${folder}/index.md`).map((path) => entry(path));
  const first = [entry('index.md'), entry('docs/index.md')];
  const written = groupsOf(index).map(({ title, paths }): Entry => ({
    text: title, items: paths.map((path) => entry(path, path === 'docs/decisions/index.md' ? below('docs/decisions') : [])),
  }));
  const reference = [
    entry('errors.md'), entry('commands.md'), entry('dictionary.md', below('sections')), entry('tables.md'), entry('sources.md', below('sources')),
  ];
  const others = [...left.keys()].map((path) => entry(path));
  return [{ text: 'Begin', items: first }, ...written.slice(0, 1), { text: 'Reference', items: reference }, ...written.slice(1), { text: 'Project', items: others }];
}
