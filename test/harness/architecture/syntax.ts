/** Reads TypeScript files for the architecture tests, with TypeScript's own parser. */
import ts from 'typescript';

export interface Import {
  /** Specifier as in the source: `./errors.ts`, `node:fs`, `@electric-sql/pglite/contrib/pg_trgm`. */
  readonly specifier: string;
  readonly line: number;
  /** Whether the import is erased at compile time. */
  readonly typeOnly: boolean;
  /** Whether the module is loaded when the line is executed: `import()`, `require()`. */
  readonly late: boolean;
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, { languageVersion: ts.ScriptTarget.ES2023, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }, true);
}

/** Returns the line of a node, from 1. */
function lineOf(node: ts.Node, source: ts.SourceFile): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

function walk(source: ts.SourceFile, visit: (node: ts.Node) => void): void {
  const step = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(source);
}

/** Returns a reader that caches its result for each text, because several tests read the same files. */
function once<Result>(read: (file: string, text: string) => Result): (file: string, text: string) => Result {
  const known = new Map<string, Result>();
  return (file, text) => {
    let found = known.get(text);
    if (found === undefined) known.set(text, found = read(file, text));
    return found;
  };
}

/** Finds all forms of imports: import, export … from, import(), require(), require.resolve(), import('…').Type. */
export const importsOf = once(readImports);

function readImports(file: string, text: string): Import[] {
  const found: Import[] = [];
  const source = parse(file, text);
  walk(source, (node) => {
    const add = (specifier: ts.Node | undefined, typeOnly: boolean, late = false): void => {
      if (specifier !== undefined && ts.isStringLiteralLike(specifier)) found.push({ specifier: specifier.text, line: lineOf(node, source), typeOnly, late });
    };
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node)) add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    else if (ts.isExternalModuleReference(node)) add(node.expression, false);
    else if (ts.isCallExpression(node) && (node.expression.kind === ts.SyntaxKind.ImportKeyword || ['require', 'require.resolve'].includes(node.expression.getText()))) {
      add(node.arguments[0], false, true);
    }
  });
  return found;
}

/**
 * Returns the string literals in the hints of a file. A hint is the value of a property `hint`, or the argument for a parameter `hint` of a function in the
 * file. A template is returned as its literal parts. `code` is the property `code` next to a property `hint`, or null.
 */
export function hintsOf(file: string, text: string): { readonly text: string; readonly code: string | null; readonly line: number }[] {
  const source = parse(file, text);
  const takers = new Map<string, number>();
  walk(source, (node) => {
    if (!ts.isArrowFunction(node) && !ts.isFunctionDeclaration(node) && !ts.isMethodDeclaration(node)) return;
    const name = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
    const index = node.parameters.findIndex((parameter) => parameter.name.getText() === 'hint');
    if (name !== undefined && index !== -1) takers.set(name.getText(), index);
  });
  const found: { text: string; code: string | null; line: number }[] = [];
  const take = (given: ts.Node | undefined, code: string | null): void => {
    if (given === undefined) return;
    const each = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) {
        found.push({ text: node.text, code, line: lineOf(node, source) });
      }
      ts.forEachChild(node, each);
    };
    each(given);
  };
  const literalOf = (node: ts.Node): string | null => {
    const code = ts.isObjectLiteralExpression(node) ? node.properties.find((property) => property.name?.getText() === 'code') : undefined;
    return code !== undefined && ts.isPropertyAssignment(code) && ts.isStringLiteralLike(code.initializer) ? code.initializer.text : null;
  };
  walk(source, (node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'hint') take(node.initializer, literalOf(node.parent));
    if (!ts.isCallExpression(node)) return;
    const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    const index = takers.get(called.getText());
    if (index !== undefined) take(node.arguments[index], null);
  });
  return found;
}

/** Returns the numbers of the lines that read the environment: `process.env`, `process['env']`, `{ env } = process`, an import of `env` from node:process. */
export function environmentReads(file: string, text: string): number[] {
  // Every form contains the word env, so most files need not be parsed.
  if (!text.includes('env')) return [];
  const lines: number[] = [];
  const source = parse(file, text);
  walk(source, (node) => {
    const member =
      ts.isPropertyAccessExpression(node) ? node.name.text
        : ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text
          : null;
    if (member === 'env' && /^(globalThis\.)?process$/.test((node as ts.PropertyAccessExpression).expression.getText())) lines.push(lineOf(node, source));
    if (ts.isImportSpecifier(node) && (node.propertyName ?? node.name).text === 'env' && /^'(node:)?process'$/.test(node.parent.parent.parent.moduleSpecifier.getText())) lines.push(lineOf(node, source));
    if (ts.isBindingElement(node) && (node.propertyName ?? node.name).getText() === 'env' && ts.isVariableDeclaration(node.parent.parent) && node.parent.parent.initializer?.getText() === 'process') lines.push(lineOf(node, source));
  });
  return lines;
}

const STATEMENT = new RegExp(
  [
    String.raw`select\s[\s\S]*\sfrom\s`,
    String.raw`select\s+[\w.]*\(`,
    String.raw`insert\s+into\s`,
    String.raw`update\s[\s\S]+\sset\s`,
    String.raw`delete\s+from\s`,
    String.raw`merge\s+into\s`,
    String.raw`truncate\s`,
    String.raw`copy\s[\s\S]+\s(from|to)\s+(stdin|stdout|'|program)`,
    String.raw`(create|alter|drop)\s+(or\s+replace\s+)?(unlogged\s+|temp\s+|temporary\s+|materialized\s+|unique\s+)*(table|index|view|schema|function|role|user|extension|database|sequence|type|trigger|policy|publication)\b`,
    String.raw`with\s+(recursive\s+)?[\s\S]*\sas\s+(not\s+)?(materialized\s+)?\(`,
    String.raw`(grant|revoke)\s[\s\S]+\son\s`,
    String.raw`(set|reset)\s+(local\s+|session\s+)?[\w.]+\s*(to\b|=)`,
    String.raw`(vacuum|analyze|reindex|cluster|notify|listen|explain)\s`,
    String.raw`comment\s+on\s`,
    String.raw`execute\s`,
  ].map((form) => `^\\s*${form}`).join('|'),
  'i',
);

/** Placeholder for data inside a text. */
const HOLE = ' \u2026 ';

/**
 * Returns the numbers of the lines that compose SQL from data. Such a line contains a template with `${…}`, or a string and another expression joined with `+`,
 * that looks like a statement.
 */
export function builtStatements(file: string, text: string): number[] {
  return statementsOf(file, text).filter(({ sql }) => sql.includes(HOLE)).map(({ line }) => line);
}

/** Matches a statement that only calls a single function in the schema `api`. */
const CALL = /^\s*select\s(?:[\w\s,]+\sfrom\s+)?api\.\w+\s*\([^()]*\)(?:\s+as\s+\w+)?\s*$/;

/** Returns the numbers of the lines with SQL that `CALL` does not match. Text that begins with a capitalised word is a sentence, not SQL. */
export function writtenStatements(file: string, text: string): number[] {
  return statementsOf(file, text).filter(({ sql }) => !CALL.test(sql) && !/^\s*[A-Z][a-z]/.test(sql)).map(({ line }) => line);
}

/** Returns the texts that look like an SQL statement. In each text, `HOLE` replaces the expressions that are not literals. */
const statementsOf = once(readStatements);

function readStatements(file: string, text: string): { readonly line: number; readonly sql: string }[] {
  const found: { readonly line: number; readonly sql: string }[] = [];
  const flat = (node: ts.Expression): string => {
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map((span) => HOLE + span.literal.text).join('');
    if (ts.isParenthesizedExpression(node)) return flat(node.expression);
    if (isPlus(node)) return flat(node.left) + flat(node.right);
    return HOLE;
  };
  const source = parse(file, text);
  walk(source, (node) => {
    if (!(ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || isPlus(node)) || isPlus(node.parent)) return;
    const sql = flat(node);
    if (STATEMENT.test(sql)) found.push({ line: lineOf(node, source), sql });
  });
  return found;
}

function isPlus(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}
