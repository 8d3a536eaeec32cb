/** Statements of `sql/statements`: what may be filled into them, and that each is run. */
import { describe, expect, it } from 'vitest';
import { statementsOf } from '../../pipelines/db/statements.ts';
import { read, SQL, TYPESCRIPT } from '../architecture/project.ts';

const workspace = statementsOf('workspace');

describe('a statement', () => {
  it('takes names quoted, whatever is in them', () => {
    expect(workspace('all_rows', { from: { schema: 'core', table: 'a"; drop table b; --' } })).toBe('select *\nfrom "core"."a""; drop table b; --"');
  });

  it('takes literals for views as text or numbers', () => {
    expect(workspace('region', { code: 2, name: "Valle d'Aosta" })).toBe("select\n  2::int2 as code,\n  'Valle d''Aosta'::text as name");
    expect(workspace('rows_of_releases', { from: { schema: 'layer', table: 'a' }, releases: [3, 4] })).toContain('in (3, 4)');
  });

  it('takes a list of names of one table, and null for an empty one', () => {
    const names = { schema: 's', layer: 'a', from: { schema: 'layer', table: 'a' }, releases: [1], place: 'belfiore' };
    expect(workspace('rows_of_places', { ...names, series: ['tax_year', 'level'] })).toContain(`concat_ws(' ', l."tax_year", l."level")`);
    expect(workspace('rows_of_places', { ...names, series: [] })).toContain("concat_ws(' ', null)");
  });

  it('is refused where it is not there, or lacks a name', () => {
    expect(() => workspace('no_such_rows')).toThrow('sql/statements/workspace.sql has no statement no_such_rows');
    expect(() => workspace('all_rows')).toThrow('sql/statements/workspace.sql: all_rows was given nothing for :"from"');
  });
});

describe('the files of statements', () => {
  const code = TYPESCRIPT.filter((file) => file.startsWith('pipelines/')).map(read).join('\n');

  it('hold none twice, and none that the program does not name', () => {
    const files = SQL.filter((file) => file.startsWith('sql/statements/'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const names = [...read(file).matchAll(/^-- statement: (.*)$/gm)].map(([, name = '']) => name);
      expect(names.length, file).toBe(new Set(names).size);
      // `by_belfiore`, `near_parcel`: the beginning or the end of the name stands in a template.
      expect(names.filter((name) => !code.includes(`'${name}'`) && !code.includes(`\`${name.replace(/_.*/, '_$')}`) && !code.includes(`}${name.replace(/.*_/, '_')}\``)), file).toEqual([]);
    }
  });
});
