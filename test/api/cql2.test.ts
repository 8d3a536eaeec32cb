/** Tests the parser of CQL2 filters. Equal filters in text and JSON give the same tree, and invalid filters are refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FILTER_BOUNDS, parseFilter, type Condition } from '../../api/cql2.ts';
import { ApiError } from '../../api/errors.ts';

const where = (text: string): Condition => parseFilter(text, 'cql2-text').where;
const area = { property: 'area_m2' } as const;
const label = { property: 'label' } as const;
const SQUARE = [[[14, 42], [15, 42], [15, 43], [14, 43], [14, 42]]];

describe('a filter in text and in JSON', () => {
  it.each<[string, unknown, unknown]>([
    ['area_m2 = 5', { op: '=', args: [area, 5] }, { op: '=', ...area, value: 5 }],
    ["label <> 'it''s'", { op: '<>', args: [label, "it's"] }, { op: '<>', ...label, value: "it's" }],
    ['area_m2 >= -1.5e3', { op: '>=', args: [area, -1500] }, { op: '>=', ...area, value: -1500 }],
    ['area_m2 between 1 AND 2', { op: 'between', args: [area, 1, 2] }, { op: 'between', ...area, low: 1, high: 2 }],
    ["label in ('1', '2')", { op: 'in', args: [label, ['1', '2']] }, { op: 'in', ...label, values: ['1', '2'] }],
    ["label LIKE '1\\%_%'", { op: 'like', args: [label, '1\\%_%'] }, { op: 'like', ...label, value: '1\\%_%' }],
    ['sheet IS NULL', { op: 'isNull', args: [{ property: 'sheet' }] }, { op: 'isNull', property: 'sheet' }],
    ['sheet is not null', { op: 'not', args: [{ op: 'isNull', args: [{ property: 'sheet' }] }] }, { op: 'not', args: [{ op: 'isNull', property: 'sheet' }] }],
    ["label not like 'a%'", { op: 'not', args: [{ op: 'like', args: [label, 'a%'] }] }, { op: 'not', args: [{ op: 'like', ...label, value: 'a%' }] }],
    ['true', true, { op: 'literal', value: true }],
    ['S_INTERSECTS(geometry, POLYGON((14 42, 15 42, 15 43, 14 43, 14 42)))', { op: 's_intersects', args: [{ property: 'geometry' }, { type: 'Polygon', coordinates: SQUARE }] }, { op: 's_intersects', shape: 1 }],
    ['s_intersects("geometry", bbox(14, 42, 15, 43))', { op: 's_intersects', args: [{ property: 'geometry' }, { bbox: [14, 42, 15, 43] }] }, { op: 's_intersects', shape: 1 }],
    // AND binds more tightly than OR.
    ['area_m2 < 1 or area_m2 > 2 and not "label" = \'x\'',
      { op: 'or', args: [{ op: '<', args: [area, 1] }, { op: 'and', args: [{ op: '>', args: [area, 2] }, { op: 'not', args: [{ op: '=', args: [label, 'x'] }] }] }] },
      { op: 'or', args: [{ op: '<', ...area, value: 1 }, { op: 'and', args: [{ op: '>', ...area, value: 2 }, { op: 'not', args: [{ op: '=', ...label, value: 'x' }] }] }] }],
  ])('gives the same tree in CQL2 text and CQL2 JSON: %s', (text, json, tree) => {
    const filters = [parseFilter(text, 'cql2-text'), parseFilter(JSON.stringify(json), 'cql2-json')];
    expect(filters.map((filter) => filter.where)).toEqual([tree, tree]);
    expect(filters[0]).toEqual(filters[1]);
  });

  it.each([
    ['POINT(14 42)', { type: 'Point', coordinates: [14, 42] }], ['POINT Z (14 42 7)', { type: 'Point', coordinates: [14, 42] }],
    ['MULTIPOINT((14 42), (15 43))', { type: 'MultiPoint', coordinates: [[14, 42], [15, 43]] }], ['LINESTRING(14 42, 15 43)', { type: 'LineString', coordinates: [[14, 42], [15, 43]] }],
    ['MULTIPOLYGON(((14 42, 15 42, 15 43, 14 43, 14 42)))', { type: 'MultiPolygon', coordinates: [SQUARE] }],
  ])('can contain the geometry %s', (wkt, shape) => {
    expect(parseFilter(`S_INTERSECTS(geometry, ${wkt})`, 'cql2-text').shapes).toEqual([shape]);
  });
});

describe('the parser of filters', () => {
  const refusedAs = (text: string, language: 'cql2-text' | 'cql2-json' = 'cql2-text'): string => {
    try {
      parseFilter(text, language);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'INVALID_PARAMS') return error.message.replace(/; allowed.*/, '');
      throw error;
    }
    throw new Error(`accepted: ${text.slice(0, 100)}`);
  };

  it.each([
    ['', 'cannot be read at character 1, where a property is expected'], ['area_m2', 'cannot be read at character 8'], ['area_m2 = ', 'where a number or a text in single quotes is expected'],
    ['area_m2 = 1 area_m2 = 2', 'where the end is expected'], ["label = 'open", 'cannot be read at character 9'], ['area_m2 = 1; drop table core.parcel', 'cannot be read at character 12'],
    ['fid = 1 or 1 = 1', 'not queryable'], ['__proto__ = 1', 'not queryable'], ['constructor is null', 'not queryable'], ['"geom"::text = 1', 'cannot be read at character 7'],
    ["area_m2 = '1'", 'not a number'], ['label = 1', 'not a string'], ['area_m2 = 1e999', 'not a number'], ["area_m2 like '1%'", 'not text'], ["label between '1' and '2'", 'not a number'],
    ["label like 'a\\'", 'escape character'], ["label = 'a\u0000'", 'control characters'], ['casei(label) = 1', 'not queryable'], ['area_m2 + 1 = 2', 'cannot be read'],
    ['S_WITHIN(geometry, POINT(14 42))', 'not queryable'], ['S_INTERSECTS(label, POINT(14 42))', 'property other than geometry'], ['S_INTERSECTS(geometry, POLYGON((14 42, 15 42, 15 43)))', 'too few positions'],
    ['S_INTERSECTS(geometry, POLYGON((14 42, 15 42, 15 43, 14 43)))', 'not closed'], ['S_INTERSECTS(geometry, LINESTRING((14 42), (15 43)))', 'where a number is expected'], ['S_INTERSECTS(geometry, BBOX(15, 42, 14, 43))', 'lower corner first'], ['S_INTERSECTS(geometry, POINT(1e300 1))', 'that is not two or three numbers'],
  ])('refuses the CQL2 text %j', (text, words) => {
    expect(refusedAs(text)).toContain(words);
  });

  it.each([
    ['{', 'not valid JSON'], ['null', 'without op and args'], ['[]', 'without op and args'], ['{"op":"and","args":[true]}', 'fewer than two'], ['{"op":"not","args":[]}', 'too many or too few arguments'],
    ['{"op":"=","args":[1,{"property":"area_m2"}]}', 'first argument is not a property'], ['{"op":"=","args":[{"property":"area_m2"},null]}', 'not a number'], ['{"op":"=","args":[{"property":"label"},"\\ud800"]}', 'unpaired surrogates'],
    ['{"op":"in","args":[{"property":"label"},[]]}', 'not supported'], ['{"op":"exec","args":[{"property":"label"},"1"]}', 'not supported'], ['{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Circle"}]}', 'of an unknown type'],
    ['{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Point","coordinates":"x"}]}', 'do not fit'], ['{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Point","coordinates":[[1,2]]}]}', 'that is not two or three numbers'],
  ])('refuses the CQL2 JSON %s', (text, words) => {
    expect(refusedAs(text, 'cql2-json')).toContain(words);
  });

  it('refuses a filter that is too long, too deep or has too many conditions', () => {
    expect(refusedAs(`label = '${'x'.repeat(FILTER_BOUNDS.bytes)}'`)).toContain('longer');
    expect(refusedAs(`label = '${'è'.repeat(FILTER_BOUNDS.bytes / 2)}'`)).toContain('longer');
    expect(refusedAs(Array.from({ length: FILTER_BOUNDS.conditions + 1 }, () => 'true').join(' or '))).toContain('more than 50 conditions');
    expect(where(Array.from({ length: FILTER_BOUNDS.conditions - 1 }, () => 'true').join(' and '))).toMatchObject({ op: 'and' });
    for (const deep of [`${'('.repeat(4_000)}true`, `${'not '.repeat(2_000)}true`]) expect(refusedAs(deep)).toContain('levels deep');
    expect(refusedAs(`${'{"op":"not","args":['.repeat(300)}true${']}'.repeat(300)}`, 'cql2-json')).toContain('levels deep');
    expect(refusedAs(`{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Point","coordinates":${'['.repeat(3_000)}1${']'.repeat(3_000)}}]}`, 'cql2-json')).toContain('that is not two or three numbers');
  });

  it('accepts random text or refuses it with an ApiError, and throws no other error', () => {
    const piece = fc.constantFrom('area_m2', 'label', '=', '<', "'a'", '5', '(', ')', ',', 'and', 'or', 'not', 'in', 'like', 'between', 'is', 'null', 's_intersects', 'geometry', 'polygon', '"', "'", '{', '[', '\\', '\u0000', '💧');
    fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('cql2-text' as const, 'cql2-json' as const), (pieces, language) => {
      try {
        parseFilter(pieces.join(' '), language);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }), { numRuns: 2_000, seed: 7 });
  });
});
