/** What the statements of `explain.sql` can say, read from their text by the project's own reader of SQL. */
import { sqlParts } from '../../pipelines/contract/sql-text.ts';

const COLUMNS = ['field', 'value', 'unit', 'rule'] as const;

/** Every text that a column of the view `evidence` can have: `{1}`, `{2}` stand where the statement puts something in. Where it is all put in: nothing. */
export type Sentences = Readonly<Record<(typeof COLUMNS)[number], readonly string[]>>;

/** What is put in. */
const HOLE = Symbol('what is put in');

type Said = readonly (string | typeof HOLE)[];

/** @throws Error where a rule, a unit or a field hides words in a function: what it says then cannot be told from its text */
export function sentencesOf(file: string, text: string): Sentences {
  const parts = sqlParts(text);
  const start = parts.findIndex((part, at) => part === 'view' && parts[at + 1] === 'evidence');
  if (start < 0) throw new Error(`${file} makes no view evidence`);
  const whole = parts.slice(start + 3);
  const end = whole.indexOf(';');
  const selects = split(end < 0 ? whole : whole.slice(0, end), (part) => part === 'union').map((select) => select.slice(select.indexOf('select') + 1));
  const lists = selects.map((select) => split(split(select, (part) => part === 'from')[0]!, (part) => part === ','));
  // Only the first has to name its columns.
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

/** Parts between those that `isEdge` says, in no brackets and no `case`. */
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

/** @param where of a text that is all words; null: of one that may be data, whatever makes it */
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
    // Before the first word stands what is compared, or nothing.
    return branches.slice(1).flatMap((branch, at) => (words[at] === 'when' ? [] : saidBy(branch, where)));
  }
  const hidden = term.find((part) => part.startsWith('\'') && /\p{L}/u.test(part));
  if (where !== null && hidden !== undefined) throw new Error(`${where} says ${hidden} in ${term.join(' ')}: write it as a text, a case or with ||, so that its words can be listed`);
  return [[HOLE]];
}

/** The words of a `case` in their order, of no other in it. */
function edges(parts: readonly string[]): string[] {
  let depth = 0;
  return parts.filter((part) => {
    if (part === '(' || part === 'case') depth += 1;
    if (part === ')' || part === 'end') depth -= 1;
    return depth === 0 && ['when', 'then', 'else'].includes(part);
  });
}

const textOf = (literal: string): string => literal.slice(1, -1).replaceAll('\'\'', '\'');
