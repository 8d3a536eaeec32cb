/** Tests that text is escaped if a spreadsheet program would read it as a formula. */
import { describe, expect, it } from 'vitest';
import { csvLine, guardedCells, withoutFormula } from '../../pipelines/deliver/table.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../harness/environment.ts';

describe('a CSV cell', () => {
  it.each(['=HYPERLINK("https://example.org")', '+cmd|\'/C calc\'!A0', '-2+3+cmd', '@SUM(1)', '\t=1', '\r=1', '=', '-', '+39 06 1234'])('with %j gets an apostrophe in front', (text) => {
    expect(withoutFormula(text)).toBe(`'${text}`);
  });

  it.each(['-1', '+2', '-0.5', '-1,5', '-1e-7', '+.5', 'Via Roma', '12=3', '', ' =1'])('stays unchanged if the text is %j', (text) => {
    expect(withoutFormula(text)).toBe(text);
  });

  it.each([-1, -0.25, null, true])('stays unchanged if the value is %j, which is not text', (cell) => {
    expect(withoutFormula(cell)).toBe(cell);
  });

  it('is escaped only from a given column on', () => {
    expect(csvLine(guardedCells(['=1', '=2', -3, '=4'], 1), ',')).toBe('=1,\'=2,-3,\'=4\n');
  });

  it('begins with a formula character after escaping only if it is a number', () => {
    const { seed } = testEnvironment();
    const random = randomOf('formulas', seed);
    for (let turn = 0; turn < 2_000; turn += 1) {
      const text = Array.from({ length: 1 + random.below(6) }, () => random.pick('=+-@\t\r1.,e"a \''.split(''))).join('');
      const written = String(withoutFormula(text));
      expect(/^[=+\-@\t\r]/.test(written) && Number.isNaN(Number(written.replace(',', '.'))), `${JSON.stringify(text)}, seed ${seed}`).toBe(false);
    }
  });
});
