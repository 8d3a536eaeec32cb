/** The documents and the reference as a static site: pages, menu, style. It loads nothing from other hosts and has no broken links. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { VERSION } from '../../pipelines/run/context.ts';
import { commandPage } from './commands.ts';
import { dictionaryPages, type DatabaseTable } from './dictionary.ts';
import { documentPages } from './documents.ts';
import { errorPage } from './errors.ts';
import { escaped } from './html.ts';
import { PARTS, type Page } from './page.ts';
import { sourcePages } from './source-pages.ts';

/** Error that lists broken links. */
export class DeadLinks extends Error {
  /** @param links each as `page: address` */
  constructor(readonly links: readonly string[]) {
    super(`links of the documents that lead nowhere:\n${links.map((link) => `  ${link}`).join('\n')}`);
    this.name = 'DeadLinks';
  }
}

/** @param tables of the database, for the dictionary @returns every page @throws DeadLinks */
export async function sitePages(tables: readonly DatabaseTable[]): Promise<readonly Page[]> {
  const dead: string[] = [];
  const note = (page: string, href: string): void => void dead.push(`${page}: ${href}`);
  const sources = await loadSources();
  const pages = [...documentPages(note), errorPage(), commandPage(note), ...dictionaryPages(sources, tables), ...await sourcePages(sources, note)];
  dead.push(...deadLinks(pages));
  if (dead.length > 0) throw new DeadLinks(dead);
  return pages;
}

/** Returns links to missing pages and missing anchors. @returns each link as `page: address` */
export function deadLinks(pages: readonly Page[]): string[] {
  const places = new Map(pages.map(({ path, body }) => [path, new Set([...body.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!))]));
  return pages.flatMap(({ path, body }) => [...body.matchAll(/ href="([^"]+)"/g)].map((match) => match[1]!).filter((href) => {
    if (/^(?:https?|mailto):/.test(href)) return false;
    const [page = '', place] = href.split('#');
    const found = places.get(page === '' ? path : page.replace(/^\//, ''));
    return found === undefined || (place !== undefined && !found.has(place));
  }).map((href) => `${path}: ${href}`));
}

/** Returns the relative address from a page to a path from the root. */
function from(page: string, to: string): string {
  return posix.relative(posix.dirname(page), to) || posix.basename(to);
}

function menu(page: Page, pages: readonly Page[]): string {
  const item = (each: Page): string => {
    const inside = pages.filter(({ below }) => below === each.path);
    // Subpages are listed while their parent or one of them is open.
    const open = each.path === page.path || page.below === each.path;
    const own = `<a href="${escaped(from(page.path, each.path))}"${each.path === page.path ? ' aria-current="page"' : ''}>${escaped(each.title)}</a>`;
    return `<li>${own}${open && inside.length > 0 ? `<ul>${inside.map(item).join('')}</ul>` : ''}</li>`;
  };
  return PARTS.map((part) => `<h2>${part}</h2><ul>${pages.filter((each) => each.part === part && each.below === null).map(item).join('')}</ul>`).join('\n');
}

/** Returns the HTML of a page. */
export function drawn(page: Page, pages: readonly Page[]): string {
  const body = page.body.replace(/ href="\/([^"#]*)/g, (_whole, path: string) => ` href="${from(page.path, path)}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)}${page.title === 'mappale' ? '' : ' – mappale'}</title>
<link rel="stylesheet" href="${from(page.path, 'site.css')}">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header><a href="${from(page.path, 'index.html')}">mappale</a> <span>${escaped(VERSION)}</span> <a class="pages" href="#pages">Pages</a></header>
<div class="columns">
<main id="content">
<h1>${escaped(page.title)}</h1>
${body}</main>
<nav id="pages" aria-label="Pages">
${menu(page, pages)}
</nav>
</div>
</body>
</html>
`;
}

/** Returns all files by their path from the site's root. */
export function siteFiles(pages: readonly Page[]): ReadonlyMap<string, string> {
  return new Map([['site.css', readFileSync(join(ROOT, 'scripts/site/site.css'), 'utf8')], ...pages.map((page): [string, string] => [page.path, drawn(page, pages)])]);
}
