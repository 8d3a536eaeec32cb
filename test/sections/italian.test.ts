/** The map's page in Italian: whatever a section says there in English has its Italian words, and no words are left of what it does not say any more. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { panels } from '../../api/pages.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { readSectionFiles } from '../../pipelines/contract/sql-files.ts';
import { LEGENDS } from '../../pipelines/deliver/tiles.ts';
import { sentencesOf, type Sentences } from './evidence-sentences.ts';

/** The same in both languages. */
const SYMBOLS = ['m', 'm2', 'm²', 'g', '€', '€/m²', 'euro/m2', 'nW cm⁻² sr⁻¹'];
/** Words of the page itself, for every section. */
const STATES = ['mapped', 'partial', 'not_mapped', 'not_loaded'];
const KINDS = ['land', 'road', 'water', 'building'];
/** Names that tell their numbers: ages, incomes. */
const NUMBERED = /^(\d+_\d+|\d+_plus|from_\d+k?_to_\d+k)$/;
/** Names of fields, one or several, with what they are part of: `elevation, slope`, `coverage.flood`, `poi[{1}].placed_by`. */
const NAMES = /^[a-z][a-z0-9_]*(?:\[\{1\}\])?(?:\.[a-z0-9_]+)*(?:, [a-z][a-z0-9_.]*)*$/;
const hasLetters = (text: string): boolean => /\p{L}/u.test(text.replaceAll(/\{\d\}/g, ''));

const evidence = new Map(readSectionFiles('explain').map(({ section, file, text }) => [section, sentencesOf(file, text)]));
const sectionNames: readonly string[] = SECTIONS.map(({ name }) => name);

/** Sentences and words that need telling. */
function told({ field, value, unit, rule }: Sentences): Set<string> {
  return new Set([
    ...rule, ...unit.filter((each) => !SYMBOLS.includes(each)),
    ...value.filter((each) => hasLetters(each) && !STATES.includes(each)), ...field.filter((each) => !NAMES.test(each)),
  ]);
}

/** Fields that stand alone in a row, and those that evidence is about; without the lists' columns, which have headings. */
function namesOf(panel: ReturnType<typeof panels>[number]): Set<string> {
  const ofEvidence = evidence.get(panel.name)!.field.filter((each) => NAMES.test(each)).flatMap((each) => each.split(', ')).flatMap((each) => {
    const [first = '', ...rest] = each.replace('[{1}]', '').split('.').filter((part) => part !== 'meta');
    return sectionNames.includes(first) || (first === 'coverage' && sectionNames.includes(rest[0] ?? '')) ? rest.filter((part) => !sectionNames.includes(part)) : [first, ...rest];
  });
  const columns = Object.keys(panel.list?.columns ?? {}).map((column) => (panel.list?.field === undefined ? column : `${panel.list.field}.${column}`));
  const rows = Object.keys(panel.fields).filter((path) => !columns.includes(path)).flatMap((path) => path.split('.'));
  return new Set([...rows, ...ofEvidence].filter((name) => !NUMBERED.test(name) && name !== ''));
}

/** Values of a block that are words. */
function* valuesOf(schema: unknown): Generator<string> {
  if (schema === null || typeof schema !== 'object') return;
  if ('enum' in schema && Array.isArray(schema.enum)) yield* schema.enum.filter((each) => typeof each === 'string');
  if ('const' in schema && typeof schema.const === 'string') yield schema.const;
  for (const [key, each] of Object.entries(schema)) if (key !== 'enum') yield* valuesOf(each);
}

const missing = (wanted: Iterable<string>, words: Readonly<Record<string, string>> = {}): string[] => [...wanted].filter((each) => !Object.hasOwn(words, each) || words[each] === '');
const left = (wanted: ReadonlySet<string>, words: Readonly<Record<string, string>> = {}): string[] => Object.keys(words).filter((each) => !wanted.has(each));

describe.each(panels())('in Italian the section $name', (panel) => {
  const { name, italian, fields, list } = panel;
  const block = z.toJSONSchema(SECTIONS.find((each) => each.name === name)!.block);

  it('tells each rule of its explanations, and what their values, units and fields say in words', () => {
    const wanted = told(evidence.get(name)!);
    expect(missing(wanted, italian?.evidence), 'without words').toEqual([]);
    expect(left(wanted, italian?.evidence), 'said no more').toEqual([]);
    // What a statement puts in is told in each language.
    const holes = (text: string): string[] => (text.match(/\{\d\}/g) ?? []).sort();
    for (const [english, words] of Object.entries(italian?.evidence ?? {})) expect(holes(words), english).toEqual(holes(english));
  });

  it('tells what each field is', () => {
    const wanted = new Set(Object.values(fields));
    expect(missing(wanted, italian?.fields), 'without words').toEqual([]);
    expect(left(wanted, italian?.fields), 'said no more').toEqual([]);
  });

  it('names each field, each column of a list, and its caption', () => {
    const columns = new Set(Object.keys(list?.columns ?? {}));
    expect(missing(columns, italian?.columns), 'columns without words').toEqual([]);
    expect(left(columns, italian?.columns), 'columns that are no more').toEqual([]);
    expect([italian?.caption !== undefined, italian?.note !== undefined]).toEqual([list?.caption !== undefined, list?.note !== undefined]);
    expect(missing(namesOf(panel), { ...italian?.words, coverage: 'of the page' }), 'fields without words').toEqual([]);
    const known = new Set([...namesOf(panel), ...JSON.stringify(block).match(/\w+/g)!]);
    expect(left(known, italian?.words), 'fields that are no more').toEqual([]);
  });

  it('tells each value that is a word', () => {
    const values = new Set([...valuesOf(block)].filter((each) => /[a-z]/.test(each) && ![...STATES, ...KINDS].includes(each)));
    const layer = new Set(SECTIONS.find((each) => each.name === name)!.layer?.classes.map((each) => String('value' in each ? each.value : '')));
    // Of geometries nothing is told in words.
    const wanted = new Set([...values].filter((each) => !['Polygon', 'MultiPolygon'].includes(each)));
    expect(missing(wanted, italian?.values), 'without words').toEqual([]);
    expect(left(new Set([...valuesOf(block), ...layer]), italian?.values), 'values that are no more').toEqual([]);
  });

  it('tells its legend', () => {
    const legend = LEGENDS.find((each) => each.name === name);
    const { layer } = SECTIONS.find((each) => each.name === name)!;
    // Ranges are told by their numbers unless the section has words for them.
    const labels = layer === undefined ? [] : layer.classes.flatMap(({ label }) => label ?? []).filter(hasLetters);
    const unit = [legend?.unit ?? []].flat().filter((each) => !SYMBOLS.includes(each) && !each.startsWith('mm/'));
    const wanted = new Set([...(layer === undefined ? [] : [layer.title, layer.none]), ...labels, ...unit]);
    expect(missing(wanted, italian?.legend), 'without words').toEqual([]);
    expect(left(wanted, italian?.legend), 'said no more').toEqual([]);
  });
});

it('what a statement can say is read from its text: choices, what is put together, and not what hides in a function', () => {
  const view = (rule: string): string => `-- a comment\ncreate view evidence as select a.fid, 'x' as field, a.value, null as unit, ${rule} as rule from a union all select fid, 'y', 'row ' || a.r || ', ' || f(a.c, '–'), 'm', 'it''s' from b;`;
  expect(sentencesOf('a', view('case when a.b then \'one\' else \'two\' end || case a.c when \'x\' then \'; in \' || a.d else \'\' end'))).toEqual({
    field: ['x', 'y'], value: ['row {1}, {2}'], unit: ['m'], rule: ['one; in {1}', 'one', 'two; in {1}', 'two', 'it\'s'],
  });
  expect(() => sentencesOf('a', view('concat(\'near \', a.b)'))).toThrow(/a: rule says 'near '/);
});
