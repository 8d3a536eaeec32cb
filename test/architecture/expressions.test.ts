/** Tests that the check of regular expressions finds unsafe expressions. */
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { expressionsOf } from '../../scripts/expressions/expressions.ts';
import { findingsOf } from '../../scripts/expressions/findings.ts';

const found = (content: string): (string | null)[] => expressionsOf('made.ts', content).map(({ pattern }) => pattern);
const expression = { text: '/(a+)+$/', pattern: '(a+)+$', flags: '', places: ['made.ts:1'] };

describe('the search for regular expressions', () => {
  it.each([
    ['a literal', String.raw`const a = text.replace(/\d+/g, "");`, [String.raw`\d+`]],
    ['a string', String.raw`new RegExp('^\\d$')`, [String.raw`^\d$`]],
    ['constants of the same file', 'const A = "x+"; const B = `${A}|y`; RegExp(`^${B}$` + "z");', ['^x+|y$z']],
    ['raw text', 'new RegExp(String.raw`\\s*`)', [String.raw`\s*`]],
    ['a parameter as unknown', 'const f = (p) => new RegExp(`^${p}$`);', [null]],
    ['no expression from a division', 'const a = b / c / d;', []],
  ])('reads %s', (_, content, patterns) => {
    expect(found(content)).toEqual(patterns);
  });
});

describe('the findings', () => {
  it('report an unsafe expression with its file and line', () => {
    expect(findingsOf([[expression, 'vulnerable']], [])).toEqual([expect.stringMatching(/^made\.ts:1: \/\(a\+\)\+\$\/ can take more than linear time/)]);
  });

  it('accept an expression that is listed as an exception with an origin and a bound', () => {
    expect(findingsOf([[expression, 'vulnerable']], [{ pattern: expression.text, origin: 'file name', bound: '255 characters' }])).toEqual([]);
  });

  it('report an exception without a number in its bound', () => {
    expect(findingsOf([[expression, 'vulnerable']], [{ pattern: expression.text, origin: 'file name', bound: 'short' }])).toHaveLength(1);
  });

  it('report an unnecessary exception', () => {
    expect(findingsOf([[expression, 'safe']], [{ pattern: expression.text, origin: 'file name', bound: '255 characters' }])).toHaveLength(1);
  });
});

it('the checker distinguishes exponential and polynomial expressions from linear ones', async () => {
  const verdicts = await Promise.all(['^(?:a|a)*$', String.raw`\s+$`, '^a+$'].map(async (pattern) => (await check(pattern, '', { timeout: null, randomSeed: 1 })).status));
  expect(verdicts).toEqual(['vulnerable', 'vulnerable', 'safe']);
});
