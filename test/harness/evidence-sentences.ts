/** Finds the texts that the statements of `explain.sql` can produce, with the project's own SQL reader. */
import { sqlParts } from '../../pipelines/contract/sql-text.ts';

const COLUMNS = ['field', 'value', 'unit', 'rule'] as const;

/** All texts of each column of the view `evidence`, with `{1}`, `{2}` for inserted values. A column that consists only of values has no texts. */
export type Sentences = Readonly<Record<(typeof COLUMNS)[number], readonly string[]>>;

/** Represents an inserted value. */
const HOLE = Symbol('inserted value');

type Said = readonly (string | typeof HOLE)[];

/**
 * Returns the texts of one `explain.sql`: the texts of the view `evidence`, and of the other views whose names end with `evidence`.
 * @throws Error if the file creates no view `evidence`, or if a select lacks a column. Also if a rule, unit or field has text inside another expression, such
 * as a function call, because such text cannot be listed
 */
export function sentencesOf(file: string, text: string): Sentences {
  const parts = sqlParts(text);
  const views = parts.flatMap((part, at) => (part === 'view' && parts[at + 1]?.endsWith('evidence') === true ? [at] : []));
  if (!views.some((at) => parts[at + 1] === 'evidence')) throw new Error(`${file} creates no view evidence`);
  const lists = views.flatMap((start) => {
    const whole = parts.slice(start + 3);
    const end = whole.indexOf(';');
    const selects = split(end < 0 ? whole : whole.slice(0, end), (part) => part === 'union').map((select) => select.slice(select.indexOf('select') + 1));
    return selects.map((select) => split(split(select, (part) => part === 'from')[0]!, (part) => part === ','));
  }).filter(([first]) => first?.join('') !== '*');
  // Only the first select must name its columns.
  const names = lists[0]!.map((column) => (column.at(-2) === 'as' ? column.at(-1) : column.at(-1)?.split('.').at(-1)));
  return Object.fromEntries(COLUMNS.map((name) => {
    const at = names.indexOf(name);
    const said = lists.flatMap((columns) => {
      const column = columns[at];
      if (column === undefined) throw new Error(`${file}: a select has no column ${name}`);
      return saidBy(column.at(-2) === 'as' ? column.slice(0, -2) : column, name === 'value' ? null : `${file}: ${name}`);
    });
    const sentences = said.filter((parts) => parts.some((part) => part !== HOLE)).map((parts) => {
      let holes = 0;
      return parts.map((part) => (part === HOLE ? `{${holes += 1}}` : part)).join('');
    });
    return [name, [...new Set(sentences)]];
  })) as unknown as Sentences;
}

/** Splits a list at the parts that `isEdge` accepts, outside brackets and `case`. */
function split(parts: readonly string[], isEdge: (part: string) => boolean): string[][] {
  const found: string[][] = [[]];
  let depth = 0;
  for (const part of parts) {
    if (part === '(' || part === 'case') depth += 1;
    if (part === ')' || part === 'end') depth -= 1;
    if (depth === 0 && isEdge(part)) found.push([]);
    else found.at(-1)!.push(part);
  }
  return found;
}

/** @param where location for the error message if a text is inside another expression and cannot be listed; null to allow such texts */
function saidBy(expression: readonly string[], where: string | null): Said[] {
  const terms = split(expression, (part) => part === '||').map((term) => termSaid(term, where));
  return terms.reduce<Said[]>((all, choices) => all.flatMap((before) => choices.map((choice) => [...before, ...choice])), [[]]);
}

function termSaid(term: readonly string[], where: string | null): Said[] {
  const [first = ''] = term;
  if (term.length === 1 && first.startsWith('\'')) return [[textOf(first)]];
  if (first === 'null') return [];
  if (first === 'case' && term.at(-1) === 'end') {
    const branches = split(term.slice(1, -1), (part) => ['when', 'then', 'else'].includes(part));
    const words = edges(term.slice(1, -1));
    // The part before the first `when` is the compared value, or empty.
    return branches.slice(1).flatMap((branch, at) => (words[at] === 'when' ? [] : saidBy(branch, where)));
  }
  const hidden = term.find((part) => part.startsWith('\'') && /\p{L}/u.test(part));
  if (where !== null && hidden !== undefined) throw new Error(`${where} says ${hidden} in ${term.join(' ')}. Write the words as a text, a case or with ||, so that its words can be listed`);
  return [[HOLE]];
}

/** Returns the keywords of a `case` in order, without the keywords of nested cases. */
function edges(parts: readonly string[]): string[] {
  let depth = 0;
  return parts.filter((part) => {
    if (part === '(' || part === 'case') depth += 1;
    if (part === ')' || part === 'end') depth -= 1;
    return depth === 0 && ['when', 'then', 'else'].includes(part);
  });
}

const textOf = (literal: string): string => literal.slice(1, -1).replaceAll('\'\'', '\'');
