/** Normalises SQL text, to compare SQL without comments and layout. Two texts with the same tokens have the same effect. */

/**
 * Matches one token of an SQL text: comment, blanks, string, quoted name, dollar quote, word, number, operator or single sign. Capture groups: line comment,
 * start of a block comment, blanks, dollar quote.
 */
const PART = new RegExp([
  String.raw`(--[^\n]*)`,
  String.raw`(/\*)`,
  String.raw`(\s+)`,
  String.raw`(?:[eE]'(?:[^'\\]|\\.|'')*')`,
  String.raw`(?:(?:[bBxX]|[uU]&)?'(?:[^']|'')*')`,
  String.raw`(?:"(?:[^"]|"")*")`,
  String.raw`(\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$)`,
  String.raw`(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*|\$[0-9]+)`,
  String.raw`(?:(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`,
  // An operator ends where a comment begins.
  String.raw`(?:(?:(?!--|/\*)[-+*/<>=~!@#%^&|?\x60])+|::|:=)`,
  String.raw`(?:[\s\S])`,
].join('|'), 'uy');

/**
 * Splits an SQL text into tokens, without comments and blanks. Bodies of functions and blocks (`as $$ … $$`, `do $$ … $$`) are also split. Other dollar quotes
 * are string tokens.
 */
export function sqlParts(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const [part = '', comment, opened, space, quote] = PART.exec(text) ?? [];
    at = PART.lastIndex;
    if ((comment ?? space) !== undefined) continue;
    if (opened !== undefined) {
      at = commentEnd(text, at);
    } else if (quote !== undefined) {
      const end = text.indexOf(quote, at);
      const body = text.slice(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end + quote.length;
      if (/^(?:as|do)$/i.test(parts.at(-1) ?? '')) parts.push('$$', ...sqlParts(body), '$$');
      else parts.push(`${quote}${body}${quote}`);
    } else parts.push(part);
  }
  return parts;
}

/** Returns the index after a block comment. Block comments may be nested. @param from index after the `/*` that opens the comment */
function commentEnd(text: string, from: number): number {
  const sign = /\/\*|\*\//g;
  sign.lastIndex = from;
  for (let depth = 1; depth > 0;) {
    const match = sign.exec(text);
    if (match === null) return text.length;
    depth += match[0] === '/*' ? 1 : -1;
  }
  return sign.lastIndex;
}

/** Returns SQL text without comments, with one space between tokens. */
export function normalSql(text: string): string {
  return sqlParts(text).join(' ');
}

/** Returns the text of `normalSql` without parts that do not affect rows: statements `comment on …`, and the word `unlogged`. */
export function effectiveSql(text: string): string {
  const statements: string[] = [];
  let statement: string[] = [];
  let inBody = false;
  for (const part of [...sqlParts(text), ';']) {
    if (part === '$$') inBody = !inBody;
    if (part !== ';' || inBody) {
      if (part !== 'unlogged') statement.push(part);
      continue;
    }
    if (statement.length > 0 && !(statement[0] === 'comment' && statement[1] === 'on')) statements.push(statement.join(' '));
    statement = [];
  }
  return statements.join(' ; ');
}

/** Quotes a text as an SQL literal. Only for texts of the program, not for data. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
