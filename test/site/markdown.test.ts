import { describe, expect, it } from 'vitest';
import { documentPages, pageOf } from '../../scripts/site/documents.ts';
import { anchor, code, facts, page, prose, table } from '../../scripts/site/markdown.ts';
import { groupsOf, navigationOf } from '../../scripts/site/navigation.ts';

describe('Markdown of generated pages', () => {
  it('shows the characters of a text, words between backquotes as code and web addresses as links', () => {
    expect(prose('a*b [c] <d> & `e_*f`, see https://example.org/a_b.')).toBe('a\\*b \\[c\\] \\<d\\> \\& `e_*f`, see <https://example.org/a_b>.');
    expect(code('a`b')).toBe('`` a`b ``');
  });

  it('has tables without empty columns, and without line breaks or bars inside a cell', () => {
    expect(table(['A', 'B', 'C'], [['1', '', 'x|y'], ['2', '', 'z\nw']])).toBe('| A | C |\n| --- | --- |\n| 1 | x\\|y |\n| 2 | z w |');
  });

  it('leaves out empty facts and empty blocks', () => {
    expect(facts([['Licence', 'CC0'], ['Note', '']])).toBe('- **Licence**: CC0');
    expect(page('a.md', 'A_b', ['one', '', 'two'])).toEqual({ path: 'a.md', title: 'A_b', markdown: '# A\\_b\n\none\n\ntwo\n' });
  });

  it('has the same anchors as GitHub', () => {
    expect(['OGC API – Features', 'layer.flood_hazard', 'mappale token create'].map(anchor)).toEqual(['ogc-api--features', 'layerflood_hazard', 'mappale-token-create']);
  });
});

describe('the page of a file', () => {
  it('is the page of the source or section for files in its folder', () => {
    expect(['sources/mef_income', 'sources/mef_income/notes.md', 'sql/sections/risk/section.ts'].map(pageOf)).toEqual(['sources/mef_income.md', 'sources/mef_income.md', 'sections/risk.md']);
  });

  it('has the path of the document, and is null for other files', () => {
    expect(['README.md', 'docs/README.md', 'sources/README.md', 'docs/tiles.md', 'docs/decisions/', 'Makefile'].map(pageOf)).toEqual([
      'index.md', 'docs/index.md', 'sources/index.md', 'docs/tiles.md', 'docs/decisions/index.md', null,
    ]);
  });
});

describe('the menu', () => {
  const index = '# Documentation\n\n## Use\n\n| Page | Topic |\n|---|---|\n| [Tiles](tiles.md), [map](map.md) | see [nothing](x.md) |\n\n## Change\n\n| [Sources](../sources/README.md) | |\n';

  it('has the groups of docs/README.md, from the first column of its tables', () => {
    expect(groupsOf(index)).toEqual([{ title: 'Use', paths: ['docs/tiles.md', 'docs/map.md'] }, { title: 'Change', paths: ['sources/index.md'] }]);
  });

  it('refuses a page that is listed twice or does not exist', () => {
    const pages = documentPages();
    expect(() => navigationOf(pages, index.replace('map.md', 'tiles.md'))).toThrow('docs/tiles.md is listed twice or does not exist');
    expect(() => navigationOf(pages, index.replace('map.md', 'nowhere.md'))).toThrow('docs/nowhere.md is listed twice');
  });
});
