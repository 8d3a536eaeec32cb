/** The page of errors, read from the code of the program: text, exit code and fix of each error. */
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
  /** Expected and found values; empty if the error has none. */
  readonly detail: string;
  /** Sentences about what to do; empty if the error has none. */
  readonly hint: string;
  /** Command that fixes it; empty if the error has none. */
  readonly fix: string;
}

const WORDS = ['message', 'code', 'kind', 'detail', 'hint', 'fix'] as const;

type Expressions = Partial<Record<(typeof WORDS)[number], ts.Expression>>;

/** Arguments of a function, by parameter name. */
type Given = ReadonlyMap<string, ts.Expression>;

/** Returns the possible texts of an expression, with `…` for values that are known at run time only. */
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
  // For a command that is repeated with a changed argument, returns the changed command.
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

/** Returns the call or the message between threads that creates an error. */
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

/** Returns the text expression of a created error; null if the node creates none. */
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

/** Returns a function and its name: `function stop(…)`, `const stop = (…) => …`. */
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

/** Yields a node and all nodes below it. */
function* below(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* below(child);
}

/** A function that creates errors from its parameters. */
interface Giver {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly isMethod: boolean;
}

/** Returns the function that gets the error's code as a parameter; null if the code is a literal. */
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

/** @param files all files of the program, because a method may be called in another file */
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

/** Returns every error of the program by code. An error that is created in several places appears several times. */
export function documentedErrors(): DocumentedError[] {
  const files = ['pipelines', 'api', 'sources'].flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(?:^|\/)(?:fixture|golden|synthetic)/.test(name)).map((name) => join(ROOT, folder, name)).sort())
    .map((name) => ts.createSourceFile(name, readFileSync(name, 'utf8'), ts.ScriptTarget.Latest, true));
  const ofServer = Object.entries(SERVER_ERRORS).map(([state, { means, hint, fix = '' }]): DocumentedError => ({ code: `SQL_${state}`, kind: 'database', message: means, detail: '', hint, fix }));
  const ofFiles = Object.values(FILE_WORDS).map(([message, code, found, hint]): DocumentedError => ({ code, kind: 'input', message, detail: found, hint, fix: '' }));
  return [...files.flatMap((file) => inFile(file, files)), ...ofServer, ...ofFiles].sort((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
}

/** Keeps the longest text of each error that is created in several places. */
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
  ['Input and machine', ['usage'], 'Exit 2. The command changed nothing.'],
  ['Files', ['input', 'rejects'], 'Exit 3, or 4 where too many records were refused. Other files are still read, and published data is unchanged.'],
  ['Checks', ['checks'], 'Exit 5. The new data is not published, and published data is unchanged.'],
  ['The database', ['database'], 'Exit 6. Published data is unchanged. Run the same command again to continue.'],
  ['Another run', ['locked'], 'Exit 7.'],
  ['Bugs', ['bug'], 'Exit 1. Please report them with the printed message.'],
];

export function errorPage(): Page {
  const all = byCode(documentedErrors());
  return {
    path: 'errors.html', title: 'When something goes wrong', part: 'Begin', below: null,
    body: [
      paragraph('An error states what happened, where, the expected and found values, and the command to run. With <code>--json</code> it is an object on stdout, with the same code.'),
      paragraph(`First run ${code('npx mappale')}, then ${code('npx mappale doctor')}. Both change nothing.`),
      exitCodes(),
      ...GROUPS.flatMap(([title, kinds, what]) => [heading(2, title), paragraph(escaped(what)), table(['Error', 'Says', 'Fix', 'Command'], all.filter(({ kind }) => kinds.includes(kind)).map((each) => [
        `<code id="${escaped(each.code)}">${escaped(each.code)}</code>`, prose(each.message), prose(each.hint), each.fix === '' ? '' : code(each.fix),
      ]))]),
      paragraph('Other codes that begin with <code>SQL_</code> end with the five characters of PostgreSQL\'s code, and have PostgreSQL\'s message.'),
    ].join(''),
  };
}
