/** Tests the part of a query that a suggestion leaves unchanged. */
import { describe, expect, it } from 'vitest';
import { beforeLast } from '../../api/suggestions.ts';

describe('beforeLast', () => {
  it.each<[q: string, words: number, before: string]>([
    ['via roma, castel dell', 2, 'via roma'],
    ['via roma 112  castel dell inv', 3, 'via roma 112'],
    ['via roma castel, ', 1, 'via roma'],
    ['castel', 1, ''],
    ['castel', 2, ''],
    // A query of almost the maximum length. A regular expression with backtracking would take a minute for this query.
    [`${'x'.repeat(180)} san martino in p`, 4, 'x'.repeat(180)],
  ])('returns the text of %j before its last %d words', (q, words, before) => {
    expect(beforeLast(q, words)).toBe(before);
  });
});
