/** Builds parts of pages. All text is escaped here, once. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Returns text as HTML: backquoted text as `code`, addresses as links. */
export function prose(text: string): string {
  return text.split(/(`[^`]+`|https?:\/\/[^\s"<>]*[^\s"<>.,;:)])/).map((part, index) => {
    if (index % 2 === 0) return escaped(part);
    return part.startsWith('`') ? code(part.slice(1, -1)) : `<a href="${escaped(part)}">${escaped(part)}</a>`;
  }).join('');
}

export function code(text: string): string {
  return `<code>${escaped(text)}</code>`;
}

export function link(href: string, text: string): string {
  return `<a href="${escaped(href)}">${escaped(text)}</a>`;
}

/** Returns the anchor of a heading, in GitHub's format. */
export function anchor(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

export function heading(level: 2 | 3, text: string, id = anchor(text)): string {
  return `<h${level} id="${escaped(id)}">${escaped(text)}</h${level}>\n`;
}

export function paragraph(html: string): string {
  return `<p>${html}</p>\n`;
}

export function block(text: string): string {
  return `<pre><code>${escaped(text)}</code></pre>\n`;
}

export function list(items: readonly string[]): string {
  return `<ul>\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>\n`;
}

/** @param rows cells as HTML; empty columns are left out */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = titles.map((_title, column) => rows.some((row) => row[column] !== ''));
  const line = (tag: 'td' | 'th', cells: readonly string[]): string =>
    `<tr>${cells.filter((_cell, column) => shown[column]).map((cell) => `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table"><table>\n<thead>${line('th', titles.map(escaped))}</thead>\n<tbody>\n${rows.map((row) => line('td', row)).join('\n')}\n</tbody>\n</table></div>\n`;
}

/** Returns a list of names and values. Empty values are left out. */
export function facts(lines: readonly (readonly [name: string, html: string])[]): string {
  return `<dl>\n${lines.filter(([, html]) => html !== '').map(([name, html]) => `<dt>${escaped(name)}</dt><dd>${html}</dd>`).join('\n')}\n</dl>\n`;
}
