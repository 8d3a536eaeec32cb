/** Finds regular expressions in source text: literals and calls of `RegExp`. */
import ts from 'typescript';

export interface Expression {
  /** Source text of the expression: `/a+b/i`, or the argument of `new RegExp`. This text identifies the expression in `exceptions.json`. */
  readonly text: string;
  /** Pattern of the expression; null for an expression that the program builds at run time. */
  readonly pattern: string | null;
  readonly flags: string;
  /** Uses of the expression, each as `file:line`. */
  readonly places: readonly string[];
}

/** Returns the regular expressions of a file, in file order. */
export function expressionsOf(file: string, content: string): Expression[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    const expression = literalOf(node) ?? constructedOf(node);
    if (expression !== null) found.push({ ...expression, places: [`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`] });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type Found = Omit<Expression, 'places'>;

function literalOf(node: ts.Node): Found | null {
  if (!ts.isRegularExpressionLiteral(node)) return null;
  const end = node.text.lastIndexOf('/');
  return { text: node.text, pattern: node.text.slice(1, end), flags: node.text.slice(end + 1) };
}

/** Returns the expression of `new RegExp(…)` or `RegExp(…)`; null for any other node. */
function constructedOf(node: ts.Node): Found | null {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return null;
  if (node.expression.getText() !== 'RegExp') return null;
  const [pattern, flags] = node.arguments ?? [];
  if (pattern === undefined) return null;
  return { text: pattern.getText().replace(/\s+/g, ' '), pattern: valueOf(pattern), flags: flags !== undefined && ts.isStringLiteralLike(flags) ? flags.text : '' };
}

/** Returns the value of a string expression that consists of literals and constants of the same file; null for any other expression. */
function valueOf(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) return joined([valueOf(node.left), valueOf(node.right)]);
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw' && ts.isNoSubstitutionTemplateLiteral(node.template)) return node.template.rawText ?? null;
  if (ts.isTemplateExpression(node)) {
    return joined([node.head.text, ...node.templateSpans.flatMap(({ expression, literal }) => [valueOf(expression), literal.text])]);
  }
  return ts.isIdentifier(node) ? constantOf(node) : null;
}

function constantOf(name: ts.Identifier): string | null {
  const declared = name.getSourceFile().statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => [...declarationList.declarations]);
  const initializer = declared.find((each) => ts.isIdentifier(each.name) && each.name.text === name.text)?.initializer;
  return initializer === undefined ? null : valueOf(initializer);
}

function joined(parts: readonly (string | null)[]): string | null {
  return parts.includes(null) ? null : parts.join('');
}
