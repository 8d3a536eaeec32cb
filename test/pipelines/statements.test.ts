/** Tests the statements of `sql/statements`: their placeholders, and that each statement is used. */
import { describe, expect, it } from 'vitest';
import { statementsOf } from '../../pipelines/db/statements.ts';
import { read, SQL, TYPESCRIPT } from '../harness/architecture/project.ts';

const workspace = statementsOf('workspace');

describe('a statement', () => {
  it('quotes names with any content', () => {
    expect(workspace('all_rows', { from: { schema: 'core', table: 'a"; drop table b; --' } })).toBe('select *\nfrom "core"."a""; drop table b; --"');
  });

  it('inserts literals for views as text or numbers', () => {
    expect(workspace('region', { code: 2, name: "Valle d'Aosta" })).toBe("select\n  2::int2 as code,\n  'Valle d''Aosta'::text as name");
    expect(workspace('rows_of_releases', { from: { schema: 'layer', table: 'a' }, releases: [3, 4] })).toContain('in (3, 4)');
  });

  it('inserts a list of column names of one table, and null for an empty list', () => {
    const names = { schema: 's', layer: 'a', from: { schema: 'layer', table: 'a' }, releases: [1], place: 'belfiore' };
    expect(workspace('rows_of_places', { ...names, series: ['tax_year', 'level'] })).toContain(`concat_ws(' ', l."tax_year", l."level")`);
    expect(workspace('rows_of_places', { ...names, series: [] })).toContain("concat_ws(' ', null)");
  });

  it('is refused if the statement does not exist or a placeholder has no value', () => {
    expect(() => workspace('no_such_rows')).toThrow('sql/statements/workspace.sql has no statement no_such_rows');
    expect(() => workspace('all_rows')).toThrow('sql/statements/workspace.sql: all_rows needs a value for :"from"');
  });
});

describe('the files of statements', () => {
  const code = TYPESCRIPT.filter((file) => /^(pipelines|cli|api)\//.test(file)).map(read).join('\n');

  it('contain no repeated statement and no unused statement', () => {
    const files = SQL.filter((file) => file.startsWith('sql/statements/'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const names = [...read(file).matchAll(/^-- statement: (.*)$/gm)].map(([, name = '']) => name);
      expect(names.length, file).toBe(new Set(names).size);
      // A template literal in the code may contain only the beginning or the end of a name, such as `by_belfiore` or `near_parcel`.
      expect(names.filter((name) => !code.includes(`'${name}'`) && !code.includes(`\`${name.replace(/_.*/, '_$')}`) && !code.includes(`}${name.replace(/.*_/, '_')}\``)), file).toEqual([]);
    }
  });
});
