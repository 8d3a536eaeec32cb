/** Tests which changes to an SQL text change its normal form or its effective SQL. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveSql, normalSql } from '../../pipelines/contract/sql-text.ts';
import { ROOT, SQL } from '../harness/architecture/project.ts';

const SAME: readonly (readonly [string, string, string])[] = [
  ['a comment to the end of the line', 'select 1 -- one\n, 2', 'select 1, 2'],
  ['a nested comment', 'select /* a /* b */ c */ 1', 'select 1'],
  ['line ends and indentation', 'select\n\t1,\r\n  2', 'select 1, 2'],
  ['blanks around signs', 'select(a)from b where c=d', 'select ( a ) from b where c = d'],
  ['a comment in the body of a function', 'create function f() returns int4 as $$ select 1 -- one\n$$', 'create function f() returns int4 as $body$ select 1 $body$'],
  ['a comment that ends an operator', 'select a+--plus\nb', 'select a + b'],
];

const OTHER: readonly (readonly [string, string, string])[] = [
  ['the text in a string', "select '-- one'", "select '-- two'"],
  ['blanks in a string', "select 'a  b'", "select 'a b'"],
  ['a quote in a string', "select 'it''s -- a'", "select 'it''s -- b'"],
  ['a backslash in an escaped string', String.raw`select e'\' -- a'`, String.raw`select e'\' -- b'`],
  ['a quoted name', 'select "a--b"', 'select "a--c"'],
  ['blanks in a dollar-quoted string', 'select $x$a  b$x$', 'select $x$a b$x$'],
  ['case', "select 'a' as A", "select 'a' as a"],
  ['a number', 'select 1.5', 'select 15'],
  ['an operator', 'select a < b', 'select a <= b'],
  ['the body of a function', 'create function f() returns int4 as $$ select 1 $$', 'create function f() returns int4 as $$ select 2 $$'],
  ['words separated by a blank', 'select ab', 'select a b'],
];

describe('two SQL texts', () => {
  for (const [what, one, other] of SAME) it(`have the same normal form if they differ only in ${what}`, () => expect(normalSql(one)).toBe(normalSql(other)));
  for (const [what, one, other] of OTHER) it(`have different normal forms if they differ in ${what}`, () => expect(normalSql(one)).not.toBe(normalSql(other)));

  it('have the same effective SQL if they differ only in the keyword unlogged', () => {
    expect(effectiveSql('create unlogged table a (b int4)')).toBe(effectiveSql('create table a (b int4)'));
  });

  it('have different normal forms but the same effective SQL if they differ in the comment on a table', () => {
    const [one, other] = ["create table a (b int4); comment on table a is 'one; two'; select 1", "create table a (b int4);\ncomment on table a is 'three'; select 1"] as const;
    expect(normalSql(one)).not.toBe(normalSql(other));
    expect(effectiveSql(one)).toBe(effectiveSql(other));
    expect(effectiveSql(one)).toBe('create table a ( b int4 ) ; select 1');
    expect(effectiveSql("do $$ begin perform 1; comment on table a is 'x'; end $$; select 1")).toContain('comment on');
  });
});

describe('the normal form', () => {
  it('does not change if an SQL file of the project is normalised again, or if comments are added around its SQL', () => {
    const files = [...SQL, ...readdirSync(join(ROOT, 'sql/api')).map((name) => `sql/api/${name}`)];
    for (const file of files) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const normal = normalSql(text);
      const parts = normal.split(' ');
      expect(parts.length, file).toBeGreaterThan(5);
      expect(normalSql(normal), file).toBe(normal);
      expect(normalSql(`/* before */${text}-- after`), file).toBe(normal);
    }
  });

  it('does not depend on the blanks and comments between random tokens', () => {
    const part = fc.constantFrom('select', 'a', '1', '1.5', "'a -- b'", "''", '"x y"', '(', ')', ',', ';', '+', '<=', '::', '$1', '[', ']', ':=');
    const gap = fc.constantFrom(' ', '\n', '\t ', ' -- a\n', '/* b */', ' /* c /* d */ */ ');
    fc.assert(fc.property(fc.array(fc.tuple(part, gap, gap), { minLength: 1, maxLength: 30 }), (all) => {
      // Two signs without a blank between them could form a different operator.
      expect(normalSql(all.map(([word, one]) => ` ${word} ${one} `).join(''))).toBe(normalSql(all.map(([word, , other]) => ` ${word} ${other} `).join('')));
    }));
  });
});
