/** Finds the sentences that people read in the project's files: in comments, messages, test names and documents. */
import ts from 'typescript';

export type Kind = 'comment' | 'message' | 'test name' | 'document';

export interface Sentence {
  readonly file: string;
  /** Line number, from 1, of the comment, message, test name or paragraph that contains the sentence. */
  readonly line: number;
  readonly kind: Kind;
  /** The sentence on one line, with `…` in place of code spans and quotations. */
  readonly text: string;
}

interface Text {
  readonly line: number;
  readonly kind: Kind;
  readonly text: string;
}

/** Minimum number of words of a sentence or message. A shorter text is a name or a value. */
const FEWEST_WORDS = 3;

/** Returns the sentences of a file, in file order; none for an unknown type of file. */
export function sentencesOf(file: string, content: string): Sentence[] {
  return textsOf(file, content).flatMap(({ line, kind, text }) => sentences(text).map((sentence) => ({ file, line, kind, text: sentence })));
}

function textsOf(file: string, content: string): Text[] {
  const ending = /\.(\w+)$/.exec(file)?.[1] ?? '';
  if (/^(?:ts|js|mjs)$/.test(ending)) return [...scriptTexts(file, content)];
  if (ending === 'sql') return sqlTexts(content);
  if (ending === 'md') return documentTexts(content);
  if (/^(?:ya?ml|sh|service|timer)$/.test(ending) || /(?:^|\/)(?:Makefile|Dockerfile|crontab|run)$/.test(file)) return joinComments(content, '#');
  return [];
}

/**
 * Splits a text into sentences. A sentence also ends with a paragraph, list item, table cell or line of the form `key: value`. Leaves out sentences with fewer
 * than `FEWEST_WORDS` words.
 */
function sentences(text: string): string[] {
  return text
    .replace(/```[\s\S]*?```/g, '\n\n')
    .replace(/`[^`\n]*`|«[^»]*»|“[^”]*”|"[^"\n]*"/g, '…')
    .replace(/\]\([^)\s]*\)/g, ']')
    .split(/\n\s*\n|\n\s*(?=[-*#|]|\d+\. |[a-z]+: )|\|/)
    .flatMap((part) => part.replace(/\s+/g, ' ').split(/(?<=[.!?])\s+(?=[A-Z…])/))
    .map((part) => part.replace(/^[\s\-*#>[]+(?=\S)/, '').trim())
    .filter((part) => part.split(' ').length >= FEWEST_WORDS && /[a-z]{2}/.test(part));
}

function* scriptTexts(file: string, content: string): Generator<Text> {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line + 1;
  const seen = new Set<number>();
  const texts: (Text & { readonly at: number })[] = [];
  const visit = (node: ts.Node): void => {
    if (!seen.has(node.pos)) {
      seen.add(node.pos);
      const ranges = ts.getLeadingCommentRanges(content, node.pos) ?? [];
      for (const { text, pos } of joinRanges(content, [...ranges, ...(ts.getTrailingCommentRanges(content, node.end) ?? [])])) {
        if (seen.has(-pos - 1)) continue;
        seen.add(-pos - 1);
        texts.push({ at: pos, line: lineOf(pos), kind: 'comment', text });
      }
    }
    const text = isRead(node) ? flat(node) : null;
    if (text === null) ts.forEachChild(node, visit);
    else texts.push({ at: node.getStart(), line: lineOf(node.getStart()), kind: isTestName(node) ? 'test name' : 'message', text });
  };
  visit(source);
  yield* texts.sort((a, b) => a.at - b.at);
}

/** Joins line comments on successive lines, and removes the comment marks. */
function joinRanges(content: string, ranges: readonly ts.CommentRange[]): { pos: number; text: string }[] {
  const joined: { pos: number; end: number; text: string }[] = [];
  for (const { pos, end } of ranges) {
    const raw = content.slice(pos, end);
    const text = raw.startsWith('//') ? raw.slice(2) : raw.slice(2, -2).replace(/^\s*\* ?/gm, '').replace(/(?:^|\s)@(?:param|returns|throws)\b/gm, '\n\n');
    const before = joined.at(-1);
    if (before !== undefined && raw.startsWith('//') && /^\s*\n\s*$/.test(content.slice(before.end, pos))) Object.assign(before, { end, text: `${before.text} ${text.trim()}` });
    else joined.push({ pos, end, text });
  }
  return joined;
}

function isRead(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false;
  const { parent } = node;
  return !ts.isImportDeclaration(parent) && !ts.isExportDeclaration(parent) && !ts.isTaggedTemplateExpression(parent) && !ts.isLiteralTypeNode(parent);
}

/** Returns the text of a string literal with `…` for inserted values, or null if the text has too few words or begins like an SQL statement. */
function flat(node: ts.Node): string | null {
  const text = ts.isTemplateExpression(node) ? node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('') : (node as ts.StringLiteralLike).text;
  return text.split(/\s+/).filter((word) => /^[A-Za-z][a-z]*[.,;:)]?$/.test(word)).length >= FEWEST_WORDS && !/^\s*(?:select|insert|with|create|alter|update|delete|drop)\s/.test(text) ? text : null;
}

function isTestName(node: ts.Node): boolean {
  let call = node.parent;
  while (call !== undefined && ts.isBinaryExpression(call)) call = call.parent;
  if (call === undefined || !ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  return /^(?:it|test|describe)\b/.test(call.expression.getText());
}

/** Returns the comments of an SQL file, and the string literals that contain words, such as texts of `comment on` and of errors. */
function sqlTexts(content: string): Text[] {
  const code = content.replace(/--[^\n]*/g, (comment) => ' '.repeat(comment.length));
  const literals = [...code.matchAll(/'((?:[^']|'')*)'/g)].map(({ index, 1: text = '' }): Text => ({ line: lineAt(content, index), kind: 'message', text: text.replaceAll("''", '’') }));
  return [...joinComments(content, '--'), ...literals.filter(({ text }) => text.split(/\s+/).filter((word) => /^[A-Za-z][a-z]+/.test(word)).length >= FEWEST_WORDS)].sort((a, b) => a.line - b.line);
}

/** Returns the line comments of a file. Comments on successive lines are one text. */
function joinComments(content: string, mark: string): Text[] {
  const texts: Text[] = [];
  let last = -1;
  content.split('\n').forEach((line, at) => {
    const comment = new RegExp(`^(\\s*|.*\\s)${mark}+ (.*)$`).exec(line);
    if (comment === null || (mark === '--' && /'[^']*$/.test(comment[1]!.replaceAll("''", '')))) return;
    const before = texts.at(-1);
    if (before !== undefined && last === at - 1 && comment[1]!.trim() === '') texts[texts.length - 1] = { ...before, text: `${before.text}\n${comment[2]}` };
    else texts.push({ line: at + 1, kind: 'comment', text: comment[2]! });
    last = at;
  });
  return texts;
}

/** Returns the paragraphs of a Markdown file outside code blocks. */
function documentTexts(content: string): Text[] {
  const texts: Text[] = [];
  const plain = content.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
  for (const { 0: text, index } of plain.matchAll(/(?:.*\S.*(?:\n|$))+/g)) texts.push({ line: lineAt(plain, index), kind: 'document', text });
  return texts;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
