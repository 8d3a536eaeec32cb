/** Provides HTML templates. A template escapes every value except values of type Html. */

/** A piece of HTML that is not escaped. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

export type Filling = string | number | null | Html | readonly Filling[];

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' };

/** Characters that are replaced: control characters, text direction controls, noncharacters and unpaired surrogates. */
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]|\p{Cs}/gu;

function fill(value: Filling): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(fill).join('');
  // Invalid characters and text direction controls are replaced by a visible mark.
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '').replace(UNFIT, '\ufffd');
}

/**
 * Fills a template with escaped values. The elements of a list are concatenated, and null becomes an empty text. Attribute values must be in double
 * quotes.
 */
export function html(parts: TemplateStringsArray, ...fillings: readonly Filling[]): Html {
  return new Html(parts.map((part, index) => (index === 0 ? part : `${fill(fillings[index - 1] ?? null)}${part}`)).join(''));
}

/**
 * Returns a table with right-aligned numbers. On a narrow screen, the table scrolls separately from the page.
 * @param caption caption, and name of the table for screen readers
 */
export function htmlTable(caption: string, header: readonly string[], rows: readonly (readonly Filling[])[]): Html {
  const cell = (value: Filling): Html => (typeof value === 'number' ? html`<td class="n">${GROUPED.format(value)}</td>` : html`<td>${value}</td>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr>${header.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>
`)}</tbody></table></div>`;
}

const GROUPED = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 8 });

/** Returns a link if the address is an http or https URL, otherwise the address as text. */
export function link(url: string): Html {
  return /^https?:\/\//.test(url) ? html`<a href="${url}" rel="noreferrer">${url}</a>` : html`${url}`;
}

/** Returns a complete page without scripts or external resources. */
export function htmlPage(title: string, style: string, body: Html, language = 'en'): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}
