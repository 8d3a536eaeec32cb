/** Compares the verdicts on regular expressions with the list of exceptions. */
import type { Expression } from './expressions.ts';

export type Verdict = 'safe' | 'vulnerable' | 'unknown';

/** An expression that is safe because its text is short. */
export interface Exception {
  /** `Expression.text`. */
  readonly pattern: string;
  /** Where the text comes from. */
  readonly origin: string;
  /** Greatest length of the text in characters, and what enforces it. */
  readonly bound: string;
}

/**
 * Returns one line for each expression that is neither safe nor an exception. Also reports exceptions that are unnecessary, or that have no origin or no
 * number in their bound.
 */
export function findingsOf(judged: readonly (readonly [Expression, Verdict])[], exceptions: readonly Exception[]): string[] {
  const excepted = new Set(exceptions.map(({ pattern }) => pattern));
  const needed = new Set(judged.filter(([, verdict]) => verdict !== 'safe').map(([{ text }]) => text));
  return [
    ...judged.filter(([{ text }]) => needed.has(text) && !excepted.has(text)).map(([{ text, places }, verdict]) =>
      `${places.join(', ')}: ${text} ${verdict === 'unknown' ? 'cannot be checked' : 'can take more than linear time'}. Rewrite it, or limit the length of its text and list it in exceptions.json.`),
    ...exceptions.filter(({ pattern }) => !needed.has(pattern)).map(({ pattern }) => `exceptions.json: ${pattern} needs no exception. Remove the entry.`),
    ...exceptions.filter(({ origin, bound }) => origin === '' || !/\d/.test(bound)).map(({ pattern }) => `exceptions.json: ${pattern} lacks an origin or a bound with a number. Add both.`),
  ];
}
