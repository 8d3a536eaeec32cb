/** Documents of the project as pages. A link to a document leads to its page. A link to another file of the project becomes text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Marked } from 'marked';
import { ROOT } from '../../pipelines/config.ts';
import { anchor, escaped, link, list } from './html.ts';
import type { Page, Part } from './page.ts';

/** Documents for newcomers, in this order. Other pages of `docs/` are for users, all others for developers. */
const FIRST: readonly string[] = ['README.md', 'docs/first-hour.md', 'docs/nightly.md', 'docs/comparable-service.md'];
const OF_MAKERS = /^(?!docs\/|README\.md)|^docs\/(adding-|architecture|decisions\/|sizing|terminology)/;

/** Folders with documents of the project, including subfolders. */
const FOLDERS = ['docs', 'test', 'sources'] as const;

/** Returns the paths of the project's documents, from its root. Notes of sources are part of the sources' pages, and fixtures are no documents. */
export function documentFiles(): string[] {
  const named = (names: readonly string[]): string[] => names.filter((name) => name.endsWith('.md') && !/\/(?:fixture|golden)\/|\/notes\.md$/.test(name));
  const inside = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name.replaceAll('\\', '/')}`));
  const all = [...named(readdirSync(ROOT)), ...named(inside)];
  return [...FIRST, ...all.filter((file) => !FIRST.includes(file)).sort()];
}

/** Returns the path of a document's page. */
function pagePath(file: string): string {
  return file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

/** Returns the target of a link to a file of the project; null if the file has no page. */
export function placeOf(file: string): string | null {
  const path = file.replace(/\/$/, '');
  if (path.endsWith('/notes.md') || /^sources\/[^/.]+(\/|$)/.test(path)) return `/sources/${path.split('/')[1] ?? ''}.html`;
  if (/^sql\/sections\/[^/]+/.test(path)) return `/sections/${path.split('/')[2] ?? ''}.html`;
  if (path.endsWith('.md')) return `/${pagePath(path)}`;
  return path === 'docs/decisions' ? `/${path}/index.html` : null;
}

/**
 * @param file path from the project's root
 * @param dead is called for each link to a missing file
 * @returns the title, and the HTML without it
 */
export function rendered(file: string, text: string, dead: (href: string) => void): { readonly title: string; readonly body: string } {
  let title = '';
  const anchors = new Map<string, number>();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: words }) {
        const html = this.parser.parseInline(tokens);
        if (depth === 1) {
          title = words.replaceAll('`', '');
          return '';
        }
        const name = anchor(words);
        const before = anchors.get(name) ?? 0;
        anchors.set(name, before + 1);
        return `<h${depth} id="${escaped(before === 0 ? name : `${name}-${before}`)}">${html}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        if (/^https?:|^mailto:|^#/.test(href)) return `<a href="${escaped(href)}">${html}</a>`;
        const [path = '', place] = href.split('#');
        const target = posix.normalize(posix.join(dirname(file), path));
        if (!existsSync(join(ROOT, target))) {
          dead(href);
          return html;
        }
        const page = placeOf(target);
        return page === null ? `<span class="file" title="${escaped(target)}">${html}</span>` : `<a href="${escaped(page)}${place === undefined ? '' : `#${escaped(place)}`}">${html}</a>`;
      },
      // Pictures are embedded in the page, so the site needs no other files.
      image({ href, text: alternative }) {
        const picture = join(ROOT, dirname(file), href);
        if (existsSync(picture)) return `<img alt="${escaped(alternative)}" src="data:image/jpeg;base64,${readFileSync(picture, 'base64')}">`;
        dead(href);
        return escaped(alternative);
      },
      // Words in angle brackets, such as `<source>`, are text.
      html: ({ text: tag }) => escaped(tag),
    },
  });
  const body = (marked.parse(text, { async: false })).replace(/<table>/g, '<div class="table"><table>').replace(/<\/table>/g, '</table></div>');
  return { title, body };
}

/** Returns the pages of all documents. @param dead is called for each broken link, with page and address */
export function documentPages(dead: (page: string, href: string) => void): Page[] {
  const pages = documentFiles().map((file): Page => {
    const path = pagePath(file);
    const { title, body } = rendered(file, readFileSync(join(ROOT, file), 'utf8'), (href) => dead(path, href));
    const part: Part = FIRST.includes(file) ? 'Begin' : OF_MAKERS.test(file) ? 'Make' : 'Use';
    return { path, title, part, below: file.startsWith('docs/decisions/') ? 'docs/decisions/index.html' : null, body };
  });
  const decisions = pages.filter(({ below }) => below !== null).map(({ path, title }) => link(`/${path}`, title));
  return [...pages, { path: 'docs/decisions/index.html', title: 'Decisions', part: 'Make', below: null, body: list(decisions) }];
}
