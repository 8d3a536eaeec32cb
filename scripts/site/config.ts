/** Configures VitePress. The build writes a configuration file that calls `siteConfig` with the facts of the site. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { MarkdownEnv, MarkdownOptions, UserConfig } from 'vitepress';
import { anchor } from './markdown.ts';
import type { Entry } from './navigation.ts';

export interface SiteFacts {
  /** Path of the checkout. */
  readonly root: string;
  readonly version: string;
  /** URL path below which a web server serves the site, such as `/` or `/mappale/`. */
  readonly base: string;
  readonly navigation: readonly Entry[];
  /** Pages of the files and folders of the repository that have a page, by path of the file or folder. */
  readonly pages: Readonly<Record<string, string>>;
  /** Folders from which the relative links of a page are resolved, by page, for pages generated from a file in a different folder. */
  readonly folders: Readonly<Record<string, string>>;
}

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];
type Token = ReturnType<MarkdownIt['parse']>[number];

export function siteConfig({ root, version, base, navigation, pages, folders }: SiteFacts): UserConfig {
  return {
    title: 'mappale',
    description: 'One PostGIS database that describes every cadastral parcel of Italy',
    lang: 'en',
    base,
    lastUpdated: false,
    markdown: {
      html: false,
      attrs: { disable: true },
      anchor: { slugify: anchor },
      toc: { slugify: anchor },
      config: (md) => {
        md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
        // Escapes two opening braces, which Vue would evaluate as the start of an expression.
        const { text } = md.renderer.rules;
        md.renderer.rules.text = (...parameters) => text!(...parameters).replaceAll('{{', '&#123;&#123;');
        md.core.ruler.push('repository-links', ({ tokens, env }) => {
          const { relativePath } = env as MarkdownEnv;
          const folder = folders[relativePath] ?? posix.dirname(relativePath);
          for (const { children } of tokens) if (children !== null) rewriteLinks(children, (href) => targetOf(href, relativePath, folder));
        });
      },
    },
    themeConfig: {
      siteTitle: `mappale ${version}`,
      sidebar: [...navigation] as never,
      outline: [2, 3],
      search: { provider: 'local' },
    },
  };

  /** Returns the page to which a link leads, or null for a file without a page. @throws Error if the file does not exist */
  function targetOf(href: string, page: string, folder: string): string | null {
    const [path = '', fragment] = href.split('#');
    const target = posix.join(folder, path).replace(/\/$/, '');
    if (!existsSync(join(root, target))) throw new Error(`${page}: ${href} does not exist`);
    const found = pages[target];
    return found === undefined ? null : `/${found}${fragment === undefined ? '' : `#${fragment}`}`;
  }
}

/** Replaces relative links with links of the site. A link to a file without a page becomes text, with the path as the title. */
function rewriteLinks(tokens: readonly Token[], targetOf: (href: string) => string | null): void {
  let isText = false;
  for (const token of tokens) {
    if (token.type === 'link_close' && isText) token.tag = 'span';
    if (token.type !== 'link_open') continue;
    const href = token.attrGet('href') ?? '';
    isText = false;
    if (/^(?:[a-z]+:|[#/])/.test(href)) continue;
    const target = targetOf(href);
    if (target === null) {
      isText = true;
      token.tag = 'span';
      token.attrs = [['title', href]];
    } else {
      token.attrSet('href', target);
    }
  }
}
