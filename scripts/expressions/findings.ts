/** Compares the verdicts on regular expressions with the list of exceptions. */
import type { Expression } from './expressions.ts';

export type Verdict = 'safe' | 'vulnerable' | 'unknown';

/** A regular expression that is safe only because it is matched against short text. */
export interface Exception {
  /** Source text of the expression, as in `Expression.text`. */
  readonly pattern: string;
  /** Origin of the text against which the expression is matched. */
  readonly origin: string;
  /** Maximum length of the text in characters, and the code that limits the length. */
  readonly bound: string;
}

/**
 * Returns one line for each expression that is neither safe nor an exception. Also reports exceptions that are unnecessary, have no origin, or have no number
 * in `bound`.
 */
export function findingsOf(judged: readonly (readonly [Expression, Verdict])[], exceptions: readonly Exception[]): string[] {
  const excepted = new Set(exceptions.map(({ pattern }) => pattern));
  const needed = new Set(judged.filter(([, verdict]) => verdict !== 'safe').map(([{ text }]) => text));
  return [
    ...judged.filter(([{ text }]) => needed.has(text) && !excepted.has(text)).map(([{ text, places }, verdict]) =>
      `${places.join(', ')}: ${text} ${verdict === 'unknown' ? 'cannot be checked' : 'can take more than linear time'}. Rewrite the expression. Or limit the length of the matched text, and list the expression in exceptions.json.`),
    ...exceptions.filter(({ pattern }) => !needed.has(pattern)).map(({ pattern }) => `exceptions.json: ${pattern} needs no exception. Remove the entry.`),
    ...exceptions.filter(({ origin, bound }) => origin === '' || !/\d/.test(bound)).map(({ pattern }) => `exceptions.json: ${pattern} lacks an origin or a bound with a number. Add both.`),
  ];
}
