/** Formats Markdown, and escapes text for Markdown. */

/** A page of the site. Links that begin with `/` start at the root of the site. */
export interface Page {
  /** Path of the page from the root of the site, such as `sections/risk.md`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** Escapes the characters of a text that have a meaning in Markdown. */
export function escaped(text: string): string {
  return text.replace(/[\\*_[\]<>&~#]/g, '\\$&');
}

/** Returns text as Markdown, with words between backquotes as code and URLs as links. */
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

/** Returns the anchor of a heading in GitHub's form. */
export function anchor(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

export function fence(text: string): string {
  return `\`\`\`sh\n${text}\n\`\`\``;
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** Returns a Markdown list of named facts. Leaves out empty facts. */
export function facts(lines: readonly (readonly [name: string, markdown: string])[]): string {
  return list(lines.filter(([, markdown]) => markdown !== '').map(([name, markdown]) => `**${name}**: ${markdown}`));
}

/** Returns a Markdown table without the columns that are empty in every row. @param rows cells as Markdown */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = titles.map((_title, column) => rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]): string =>
    `| ${cells.filter((_cell, column) => shown[column]).map((cell) => cell.replace(/\n/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns a page that consists of blocks of Markdown. Leaves out empty blocks. */
export function page(path: string, title: string, blocks: readonly string[]): Page {
  return { path, title, markdown: [`# ${escaped(title)}`, ...blocks.filter((block) => block !== '')].join('\n\n') + '\n' };
}
