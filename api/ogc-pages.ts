/** Builds HTML pages of the responses below /ogc that need no key, for people who open a link in a browser. */
import { html, htmlPage, htmlTable, type Filling, type Html } from './report/html.ts';

/** Headers of a page. The page loads nothing and runs no script. */
export const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; } caption { text-align: left; font-weight: 600; }
.scroll { overflow-x: auto; }`;

interface Link {
  readonly href: string;
  readonly rel: string;
  readonly title?: string;
}

interface Described {
  readonly title: string;
  readonly description?: string;
  readonly links?: readonly Link[];
}

/** Returns a link, or plain text if the address is not an http or https URL or a path. */
function anchor(href: string, text: string): Html {
  return /^(?:https?:\/)?\//.test(href) ? html`<a href="${href}">${text}</a>` : html`${text}`;
}

function linksOf(links: readonly Link[] = []): Html {
  return html`<h2>Links</h2>\n<ul>${links.map(({ href, rel, title }) => html`<li>${anchor(href, title ?? href)} (${rel})</li>\n`)}</ul>`;
}

function pageOf(title: string, ...parts: readonly Filling[]): string {
  return htmlPage(title, STYLE, html`<h1>${title}</h1>\n${parts}\n<p>Programs get this document as JSON. Features need a token in the header x-api-key.</p>`);
}

/** Returns the HTML page of the landing page or of one collection. */
export function describedPage(answer: string): string {
  const { title, description = '', links } = JSON.parse(answer) as Described;
  return pageOf(title, html`<p>${description}</p>`, linksOf(links));
}

export function conformancePage(answer: string): string {
  const { conformsTo } = JSON.parse(answer) as { readonly conformsTo: readonly string[] };
  return pageOf('Conformance classes', html`<ul>${conformsTo.map((uri) => html`<li>${anchor(uri, uri)}</li>\n`)}</ul>`);
}

interface ListedCollection extends Described {
  readonly id: string;
}

interface Property {
  readonly type?: string;
  readonly description?: string;
}

export function collectionsPage(answer: string): string {
  const { collections, links } = JSON.parse(answer) as { readonly links: readonly Link[]; readonly collections: readonly ListedCollection[] };
  const selfOf = ({ links: own = [] }: ListedCollection): string => own.find(({ rel }) => rel === 'self')?.href ?? '';
  const rows = collections.map((each) => [anchor(selfOf(each), each.id), each.title, each.description ?? '']);
  return pageOf('Collections', htmlTable('Collections', ['id', 'title', 'content'], rows), linksOf(links));
}

export function queryablesPage(answer: string): string {
  const { title, properties } = JSON.parse(answer) as Described & { readonly properties: Readonly<Record<string, Property>> };
  const rows = Object.entries(properties).map(([name, { type = '', description = '' }]) => [name, type, description]);
  return pageOf(`Queryable properties: ${title}`, htmlTable('Properties', ['name', 'type', 'meaning'], rows));
}
