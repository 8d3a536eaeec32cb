/**
 * Measures the structure of a checkout: lines per folder, repeated SQL, long functions, boolean parameters, long parameter lists, and exports that no other
 * file names. To compare two commits, run `npm run measure -- --root FOLDER` on a checkout of each.
 */
import './help.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';

/** Minimum length of a repeated block of SQL, in lines that are neither empty nor comments. */
const BLOCK = 10;
/** Maximum number of lines of a function, from the start of the declaration to the closing brace. */
const LONGEST = 55;
const MOST_PARAMETERS = 5;

interface Place {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

interface LongFunction extends Place {
  readonly lines: number;
}

interface ManyParameters extends Place {
  readonly parameters: number;
}

interface Measures {
  /** Numbers of lines of code, SQL and documents, by folder, two levels deep. */
  readonly lines: Readonly<Record<string, number>>;
  readonly sql: { readonly lines: number; readonly repeated: number };
  readonly longFunctions: readonly LongFunction[];
  readonly booleanParameters: readonly Place[];
  readonly manyParameters: readonly ManyParameters[];
  readonly exports: { readonly all: number; readonly unused: readonly Place[] };
}

function trackedFiles(root: string): string[] {
  return execFileSync('git', ['-C', root, 'ls-files', '-z'], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0').filter((file) => /\.(ts|js|mjs|sql|md|sh|css|html)$/.test(file));
}

function linesByFolder(texts: ReadonlyMap<string, string>): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const [file, text] of texts) {
    const folder = file.split('/').slice(0, -1).slice(0, 2).join('/') || '.';
    lines[folder] = (lines[folder] ?? 0) + text.split('\n').length - 1;
  }
  return lines;
}

/** Counts the lines of SQL, and the lines in blocks that occur more than once. Leaves out migrations, because existing migrations are never changed. */
function repeatedSql(texts: ReadonlyMap<string, string>): { lines: number; repeated: number } {
  const files = [...texts].filter(([file]) => file.endsWith('.sql') && !file.startsWith('sql/migrations/'))
    .map(([, text]) => text.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('--')));
  const blocks = files.map((lines) => lines.slice(0, Math.max(0, lines.length - BLOCK + 1)).map((_, at) => lines.slice(at, at + BLOCK).join('\n')));
  const seen = new Map<string, number>();
  for (const block of blocks.flat()) seen.set(block, (seen.get(block) ?? 0) + 1);
  const isRepeated = (block: string): boolean => (seen.get(block) ?? 0) > 1;
  const linesFrom = (at: number): number[] => Array.from({ length: BLOCK }, (_, more) => at + more);
  const repeated = blocks.map((own) => new Set(own.flatMap((block, at) => (isRepeated(block) ? linesFrom(at) : []))).size);
  return { lines: files.reduce((sum, lines) => sum + lines.length, 0), repeated: repeated.reduce((sum, count) => sum + count, 0) };
}

function isBoolean(parameter: ts.ParameterDeclaration): boolean {
  const { type, initializer } = parameter;
  return type?.kind === ts.SyntaxKind.BooleanKeyword || initializer?.kind === ts.SyntaxKind.TrueKeyword || initializer?.kind === ts.SyntaxKind.FalseKeyword;
}

/** Returns the name of a function or method, or of the variable or property that contains the function; `(anonymous)` without such a name. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  return ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : '(anonymous)';
}

function isExported(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function exportedNames(node: ts.Node): ts.Node[] {
  if (!isExported(node)) return [];
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name);
  const isNamed = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return isNamed && node.name !== undefined ? [node.name] : [];
}

/** Finds the functions of a file that are too long, have a boolean parameter or have too many parameters. Also finds the names that the file exports. */
function measureFile(file: string, text: string): Pick<Measures, 'longFunctions' | 'booleanParameters' | 'manyParameters'> & { readonly exported: readonly Place[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const longFunctions: LongFunction[] = [];
  const booleanParameters: Place[] = [];
  const manyParameters: ManyParameters[] = [];
  const exported: Place[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !ts.isFunctionTypeNode(node)) {
      const place = { file, line: lineOf(node.getStart()), name: nameOf(node) };
      const lines = lineOf(node.getEnd()) - place.line + 1;
      if (lines > LONGEST && place.name !== '(anonymous)') longFunctions.push({ ...place, lines });
      if (node.parameters.some(isBoolean)) booleanParameters.push(place);
      if (node.parameters.length > MOST_PARAMETERS) manyParameters.push({ ...place, parameters: node.parameters.length });
    }
    for (const name of exportedNames(node)) exported.push({ file, line: lineOf(name.getStart()), name: name.getText() });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { longFunctions, booleanParameters, manyParameters, exported };
}

/** Measures a checkout. An export counts as used if any other TypeScript file, such as a test, contains the name. Functions in tests are not measured. */
function measure(root: string): Measures {
  const texts = new Map(trackedFiles(root).map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const code = [...texts].filter(([file]) => /^(pipelines|api|cli|sources|sql)\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'));
  const files = code.map(([file, text]) => measureFile(file, text));
  const words = new Map<string, number>();
  for (const [file, text] of texts) if (file.endsWith('.ts')) for (const word of new Set(text.match(/\w+/g))) words.set(word, (words.get(word) ?? 0) + 1);
  const exported = files.flatMap((each) => each.exported);
  return {
    lines: linesByFolder(texts),
    sql: repeatedSql(texts),
    longFunctions: files.flatMap((each) => each.longFunctions),
    booleanParameters: files.flatMap((each) => each.booleanParameters),
    manyParameters: files.flatMap((each) => each.manyParameters),
    exports: { all: exported.length, unused: exported.filter(({ name }) => words.get(name) === 1) },
  };
}

function describe({ lines, sql, longFunctions, booleanParameters, manyParameters, exports }: Measures, all: boolean): string {
  const list = (places: readonly Place[]): string => (all ? places.map(({ file, line, name }) => `\n  ${file}:${line} ${name}`).join('') : '');
  return [
    ...Object.entries(lines).sort().map(([folder, count]) => `${String(count).padStart(7)} lines in ${folder}`),
    `${sql.repeated} of ${sql.lines} lines of SQL are in a block of ${BLOCK} lines that occurs more than once`,
    `${longFunctions.length} functions over ${LONGEST} lines${list(longFunctions)}`,
    `${booleanParameters.length} functions with a boolean parameter${list(booleanParameters)}`,
    `${manyParameters.length} functions with more than ${MOST_PARAMETERS} parameters${list(manyParameters)}`,
    `${exports.all} exports, ${exports.unused.length} of them named in no other file${list(exports.unused)}`,
  ].join('\n');
}

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' }, json: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } } });
const measures = measure(resolve(values.root));
process.stdout.write(`${values.json ? JSON.stringify(measures, null, 2) : describe(measures, values.list)}\n`);
