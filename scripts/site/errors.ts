/** Reads all expected errors of the program from the source code, with code, exit code, message, detail, hint and fix. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../pipelines/config.ts';
import { SERVER_ERRORS } from '../../pipelines/db/errors.ts';
import { EXIT, type ExitKind } from '../../pipelines/errors.ts';
import { FILE_WORDS } from '../../pipelines/formats/file-error.ts';

export interface DocumentedError {
  readonly code: string;
  readonly kind: ExitKind;
  readonly message: string;
  /** Text with the expected and found values; may be empty. */
  readonly detail: string;
  /** Sentences that explain what the user can do; may be empty. */
  readonly hint: string;
  /** Command that fixes the error; may be empty. */
  readonly fix: string;
}

const FIELDS = ['message', 'code', 'kind', 'detail', 'hint', 'fix'] as const;

type Expressions = Partial<Record<(typeof FIELDS)[number], ts.Expression>>;

/** Arguments of a call, by parameter name. */
type Given = ReadonlyMap<string, ts.Expression>;

/** Returns the texts to which an expression may evaluate, with `…` for parts that are known only at run time. */
function textsOf(expression: ts.Expression | undefined, given: Given): string[] {
  if (expression === undefined) return [''];
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression)) return textsOf(expression.expression, given);
  if (ts.isConditionalExpression(expression)) return [...textsOf(expression.whenTrue, given), ...textsOf(expression.whenFalse, given)];
  if (ts.isIdentifier(expression)) {
    if (expression.text === 'undefined') return [''];
    const argument = given.get(expression.text);
    return argument === undefined ? ['…'] : textsOf(argument, new Map());
  }
  // Uses the second argument of `retyped`, which is the usual form of the command.
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

/** Returns the parts of an error that a node creates: by a call, or as a message from one thread to another. */
function partsOf(node: ts.Node): { readonly name?: string; readonly message?: ts.Expression | undefined; readonly facts?: ts.Expression | undefined } {
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

/** Returns the expressions of an error's parts, or null if the node creates no error. */
function errorIn(node: ts.Node): Expressions | null {
  const { name, message, facts } = partsOf(node);
  if (message === undefined || facts === undefined || !ts.isObjectLiteralExpression(facts)) return null;
  const found: Expressions = { message };
  for (const property of facts.properties) {
    const key = FIELDS.find((word) => property.name?.getText() === word);
    if (key === undefined) continue;
    if (ts.isPropertyAssignment(property)) found[key] = property.initializer;
    else if (ts.isShorthandPropertyAssignment(property)) found[key] = property.name;
  }
  return name === 'inputError' ? { ...found, kind: ts.factory.createStringLiteral('input') } : found;
}

/** Returns the name and parameters of a function or method, such as `function stop(…)` or `const stop = (…) => …`; null for any other node. */
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

/** Yields a node of the syntax tree and all descendants. */
function* below(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* below(child);
}

/** A function that creates errors from arguments. */
interface Factory {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly isMethod: boolean;
}

/** Returns the function around a node if a parameter of this function is the error code, or null if no parameter is the error code. */
function factoryOf(node: ts.Node, code: ts.Expression | undefined): Factory | null {
  if (code === undefined || !ts.isIdentifier(code)) return null;
  for (let around: ts.Node | undefined = node.parent; around !== undefined; around = around.parent) {
    const made = functionOf(around);
    if (made?.parameters.includes(code.text) === true) return { ...made, isMethod: ts.isMethodDeclaration(around) };
  }
  return null;
}

function documented(made: Expressions, given: Given): DocumentedError[] {
  const texts = (word: (typeof FIELDS)[number]): string => [...new Set(textsOf(made[word], given))].filter((each) => each !== '').join(' / ');
  const codes = textsOf(made.code, given).filter((one) => /^[A-Z][A-Z0-9_]+$/.test(one));
  const kinds = textsOf(made.kind, given).filter((kind): kind is ExitKind => kind in EXIT);
  return codes.flatMap((each) => kinds.map((kind) => ({ code: each, kind, message: texts('message'), detail: texts('detail'), hint: texts('hint'), fix: texts('fix') })));
}

/** Returns the errors that a file creates. @param files all files of the program, because another file may call a method that creates errors */
function inFile(file: ts.SourceFile, files: readonly ts.SourceFile[]): DocumentedError[] {
  const found: DocumentedError[] = [];
  for (const node of below(file)) {
    const made = errorIn(node);
    if (made === null) continue;
    const factory = factoryOf(node, made.code);
    if (factory === null) {
      found.push(...documented(made, new Map()));
      continue;
    }
    for (const other of factory.isMethod ? files.filter(({ text }) => text.includes(`.${factory.name}(`)) : [file]) {
      for (const call of below(other)) {
        if (!ts.isCallExpression(call) || call.expression.getText().replace(/^.*\./s, '') !== factory.name) continue;
        const given = factory.parameters.map((parameter, index) => [parameter, call.arguments[index]] as const);
        found.push(...documented(made, new Map(given.flatMap(([parameter, value]) => (value === undefined ? [] : [[parameter, value] as const])))));
      }
    }
  }
  return found;
}

/** Returns all errors, sorted by code. Returns an error several times if the program creates the error in several places. */
export function documentedErrors(): DocumentedError[] {
  const files = ['pipelines', 'api', 'cli', 'sources'].flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(?:^|\/)(?:fixture|golden|synthetic)/.test(name)).map((name) => join(ROOT, folder, name)).sort())
    .map((name) => ts.createSourceFile(name, readFileSync(name, 'utf8'), ts.ScriptTarget.Latest, true));
  const ofServer = Object.entries(SERVER_ERRORS).map(([state, { means, hint, fix = '' }]): DocumentedError => ({ code: `SQL_${state}`, kind: 'database', message: means, detail: '', hint, fix }));
  const ofFiles = Object.values(FILE_WORDS).map(([message, code, found, hint]): DocumentedError => ({ code, kind: 'input', message, detail: found, hint, fix: '' }));
  return [...files.flatMap((file) => inFile(file, files)), ...ofServer, ...ofFiles].sort((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
}
