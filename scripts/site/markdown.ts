/** Writes pieces of Markdown and escapes their text. */

/** A generated page. Links that begin with `/` start at the root of the site. */
export interface Page {
  /** Path from the root of the site: `sections/risk.md`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** Escapes the characters that have a meaning in Markdown. */
export function escaped(text: string): string {
  return text.replace(/[\\*_[\]<>&~#]/g, '\\$&');
}

/** Returns text as Markdown: words between backquotes as code, web addresses as links. */
export function prose(text: string): string {
  return text.split(/(`[^`]+`|https?:\/\/[^\s"<>]*[^\s"<>.,;:)])/).map((part, index) => {
    if (index % 2 === 0) return escaped(part);
    return part.startsWith('`') ? part : `<${part}>`;
  }).join('');
}

export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

export function link(href: string, text: string): string {
  return `[${escaped(text)}](${href})`;
}

/** Returns the anchor of a heading in the form of GitHub. */
export function anchor(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

export function fence(text: string): string {
  return `\`\`\`sh\n${text}\n\`\`\``;
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** Returns a list of named facts. Empty facts are left out. */
export function facts(lines: readonly (readonly [name: string, markdown: string])[]): string {
  return list(lines.filter(([, markdown]) => markdown !== '').map(([name, markdown]) => `**${name}**: ${markdown}`));
}

/** Returns a table without the columns that are empty in every row. @param rows cells as Markdown */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = titles.map((_title, column) => rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]): string =>
    `| ${cells.filter((_cell, column) => shown[column]).map((cell) => cell.replace(/\n/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns a page of blocks. Empty blocks are left out. */
export function page(path: string, title: string, blocks: readonly string[]): Page {
  return { path, title, markdown: [`# ${escaped(title)}`, ...blocks.filter((block) => block !== '')].join('\n\n') + '\n' };
}
