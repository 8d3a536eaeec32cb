/** Every error that the program foresees, read from its code: words, exit code, and what mends it. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../pipelines/config.ts';
import { SERVER_ERRORS } from '../../pipelines/db/errors.ts';
import { EXIT, type ExitKind } from '../../pipelines/errors.ts';
import { FILE_WORDS } from '../../pipelines/formats/file-error.ts';
import { code, escaped, heading, paragraph, prose, table } from './html.ts';
import { exitCodes } from './commands.ts';
import type { Page } from './page.ts';

export interface DocumentedError {
  readonly code: string;
  readonly kind: ExitKind;
  readonly message: string;
  /** What was expected and found; empty: it says none. */
  readonly detail: string;
  /** Sentences that say what to do; empty: there are none. */
  readonly hint: string;
  /** The command that mends it; empty: none does. */
  readonly fix: string;
}

const WORDS = ['message', 'code', 'kind', 'detail', 'hint', 'fix'] as const;

type Expressions = Partial<Record<(typeof WORDS)[number], ts.Expression>>;

/** Names in a function of what it is called with. */
type Given = ReadonlyMap<string, ts.Expression>;

/** What an expression reads as; what is only known when the program runs is `…`. Of two readings both. */
function textsOf(expression: ts.Expression | undefined, given: Given): string[] {
  if (expression === undefined) return [''];
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression)) return textsOf(expression.expression, given);
  if (ts.isConditionalExpression(expression)) return [...textsOf(expression.whenTrue, given), ...textsOf(expression.whenFalse, given)];
  if (ts.isIdentifier(expression)) {
    if (expression.text === 'undefined') return [''];
    const told = given.get(expression.text);
    return told === undefined ? ['…'] : textsOf(told, new Map());
  }
  // Of a command that is typed again with something else in it, what it would be elsewhere.
  if (ts.isCallExpression(expression) && expression.expression.getText() === 'retyped') return textsOf(expression.arguments[1], given);
  if (ts.isBinaryExpression(expression)) {
    const [left, right] = [textsOf(expression.left, given), textsOf(expression.right, given)];
    if (expression.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [...left.filter((text) => text !== '…'), ...right];
    if (expression.operatorToken.kind === ts.SyntaxKind.PlusToken) return joined([left, right]);
  }
  if (ts.isTemplateExpression(expression)) {
    return joined([[expression.head.text], ...expression.templateSpans.flatMap((span) => [textsOf(span.expression, given), [span.literal.text]])]);
  }
  return ['…'];
}

function joined(parts: readonly (readonly string[])[]): string[] {
  return parts.reduce<string[]>((texts, part) => texts.flatMap((text) => part.map((next) => text + next)), ['']).slice(0, 4);
}

/** What makes an error: a call, or what one thread tells another of it. */
function madeBy(node: ts.Node): { readonly name?: string; readonly message?: ts.Expression | undefined; readonly facts?: ts.Expression | undefined } {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const name = node.expression.getText();
    const [message, facts] = node.arguments ?? [];
    return name === 'MappaleError' || name === 'inputError' ? { name, message, facts } : {};
  }
  if (!ts.isObjectLiteralExpression(node)) return {};
  const assigned = node.properties.filter(ts.isPropertyAssignment);
  const valueOf = (key: string): ts.Expression | undefined => assigned.find(({ name }) => name.getText() === key)?.initializer;
  return { message: valueOf('error'), facts: valueOf('facts') };
}

/** The words of an error where it is made; null: this makes none. */
function errorMade(node: ts.Node): Expressions | null {
  const { name, message, facts } = madeBy(node);
  if (message === undefined || facts === undefined || !ts.isObjectLiteralExpression(facts)) return null;
  const found: Expressions = { message };
  for (const property of facts.properties) {
    const key = WORDS.find((word) => property.name?.getText() === word);
    if (key === undefined) continue;
    if (ts.isPropertyAssignment(property)) found[key] = property.initializer;
    else if (ts.isShorthandPropertyAssignment(property)) found[key] = property.name;
  }
  return name === 'inputError' ? { ...found, kind: ts.factory.createStringLiteral('input') } : found;
}

/** Functions and the names by which they are called: `function stop(…)`, `const stop = (…) => …`. */
function functionOf(node: ts.Node): { readonly name: string; readonly parameters: readonly string[] } | null {
  const parametersOf = (made: ts.SignatureDeclaration): string[] => made.parameters.map((parameter) => parameter.name.getText());
  if ((ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name !== undefined) {
    return { name: node.name.getText(), parameters: parametersOf(node) };
  }
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined && (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))) {
    return { name: node.name.getText(), parameters: parametersOf(node.initializer) };
  }
  return null;
}

/** Every node below one, itself first. */
function* below(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* below(child);
}

/** A function that makes errors of what it is given. */
interface Giver {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly isMethod: boolean;
}

/** The function around an error that is given its code by whoever calls it; null: the code stands where the error is made. */
function giverOf(node: ts.Node, code: ts.Expression | undefined): Giver | null {
  if (code === undefined || !ts.isIdentifier(code)) return null;
  for (let around: ts.Node | undefined = node.parent; around !== undefined; around = around.parent) {
    const made = functionOf(around);
    if (made?.parameters.includes(code.text) === true) return { ...made, isMethod: ts.isMethodDeclaration(around) };
  }
  return null;
}

function told(made: Expressions, given: Given): DocumentedError[] {
  const texts = (word: (typeof WORDS)[number]): string => [...new Set(textsOf(made[word], given))].filter((each) => each !== '').join(' / ');
  const codes = textsOf(made.code, given).filter((one) => /^[A-Z][A-Z0-9_]+$/.test(one));
  const kinds = textsOf(made.kind, given).filter((kind): kind is ExitKind => kind in EXIT);
  return codes.flatMap((each) => kinds.map((kind) => ({ code: each, kind, message: texts('message'), detail: texts('detail'), hint: texts('hint'), fix: texts('fix') })));
}

/** @param files all of the program: what a method of one tells is called in others */
function inFile(file: ts.SourceFile, files: readonly ts.SourceFile[]): DocumentedError[] {
  const found: DocumentedError[] = [];
  for (const node of below(file)) {
    const made = errorMade(node);
    if (made === null) continue;
    const giver = giverOf(node, made.code);
    if (giver === null) {
      found.push(...told(made, new Map()));
      continue;
    }
    for (const other of giver.isMethod ? files.filter(({ text }) => text.includes(`.${giver.name}(`)) : [file]) {
      for (const call of below(other)) {
        if (!ts.isCallExpression(call) || call.expression.getText().replace(/^.*\./s, '') !== giver.name) continue;
        const given = giver.parameters.map((parameter, index) => [parameter, call.arguments[index]] as const);
        found.push(...told(made, new Map(given.flatMap(([parameter, value]) => (value === undefined ? [] : [[parameter, value] as const])))));
      }
    }
  }
  return found;
}

/** What every error of the program says, by code; an error that is told in several places is there as often. */
export function documentedErrors(): DocumentedError[] {
  const files = ['pipelines', 'api', 'sources'].flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(?:^|\/)(?:fixture|golden|synthetic)/.test(name)).map((name) => join(ROOT, folder, name)).sort())
    .map((name) => ts.createSourceFile(name, readFileSync(name, 'utf8'), ts.ScriptTarget.Latest, true));
  const ofServer = Object.entries(SERVER_ERRORS).map(([state, { means, hint, fix = '' }]): DocumentedError => ({ code: `SQL_${state}`, kind: 'database', message: means, detail: '', hint, fix }));
  const ofFiles = Object.values(FILE_WORDS).map(([message, code, found, hint]): DocumentedError => ({ code, kind: 'input', message, detail: found, hint, fix: '' }));
  return [...files.flatMap((file) => inFile(file, files)), ...ofServer, ...ofFiles].sort((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
}

/** Of several places that tell one error the one that says most. */
function byCode(errors: readonly DocumentedError[]): DocumentedError[] {
  const found = new Map<string, DocumentedError>();
  const weight = ({ message, hint, fix }: DocumentedError): number => [message, hint, fix].filter((text) => text !== '' && !text.includes('…')).length * 2 + [hint, fix].filter((text) => text !== '').length;
  for (const each of errors) {
    const before = found.get(each.code);
    if (before === undefined || weight(each) > weight(before)) found.set(each.code, each);
  }
  return [...found.values()];
}

const GROUPS: readonly (readonly [title: string, kinds: readonly ExitKind[], what: string])[] = [
  ['What was typed, and this machine', ['usage'], 'Exit 2. Nothing was done.'],
  ['Files', ['input', 'rejects'], 'Exit 3, or 4 where too many records were refused. Other files are read all the same; what is published stays.'],
  ['Checks', ['checks'], 'Exit 5. What was built is not published; what is published stays.'],
  ['The database', ['database'], 'Exit 6. Nothing published was touched: the same command goes on where it stopped.'],
  ['Another run', ['locked'], 'Exit 7.'],
  ['Bugs', ['bug'], 'Exit 1. Please report them with what was printed.'],
];

export function errorPage(): Page {
  const all = byCode(documentedErrors());
  return {
    path: 'errors.html', title: 'When something goes wrong', part: 'Begin', below: null,
    body: [
      paragraph('An error says what, where, what was expected and found, and ends with what to type. With <code>--json</code> it is an object on stdout, with the same code.'),
      paragraph(`First look at what ${code('npx mappale')} says, then at ${code('npx mappale doctor')}: they change nothing.`),
      exitCodes(),
      ...GROUPS.flatMap(([title, kinds, what]) => [heading(2, title), paragraph(escaped(what)), table(['Error', 'Says', 'What to do', 'What to type'], all.filter(({ kind }) => kinds.includes(kind)).map((each) => [
        `<code id="${escaped(each.code)}">${escaped(each.code)}</code>`, prose(each.message), prose(each.hint), each.fix === '' ? '' : code(each.fix),
      ]))]),
      paragraph('A code that begins with <code>SQL_</code> and is not here is PostgreSQL\'s own, five characters, with its words.'),
    ].join(''),
  };
}
