/** Tests the texts of the map. Every field, value and unit of a section has a name in English and in Italian, and removed fields have no texts. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { italianSources, panels } from '../../api/pages.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { drawingsOf } from '../../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { readSectionFiles } from '../../pipelines/contract/sql-files.ts';
import { LEGENDS } from '../../pipelines/deliver/tiles.ts';
import { sentencesOf, type Sentences } from '../harness/evidence-sentences.ts';

/** Units that are the same in both languages. */
const SYMBOLS = ['m', 'm2', 'm²', 'g', '€', '€/m²', 'euro/m2', 'nW cm⁻² sr⁻¹'];
/** Words of the page itself, for every section. */
const STATES = ['mapped', 'partial', 'not_mapped', 'not_loaded'];
const KINDS = ['land', 'road', 'water', 'building'];
/** Returns whether a unit is a symbol, which needs no translation. */
const isSymbol = (unit: string): boolean => SYMBOLS.includes(unit) || !hasLetters(unit) || /^(kW|kWh|kWh\/kW|nW\/cm²\/sr|share)$/.test(unit);
/** Names of fields, one or several, with their parents: `elevation, slope`, `coverage.flood`, `poi[{1}].placed_by`. */
const NAMES = /^[a-z][a-z0-9_]*(?:\[\{1\}\])?(?:\.[a-z0-9_]+)*(?:, [a-z][a-z0-9_.]*)*$/;
const hasLetters = (text: string): boolean => /\p{L}/u.test(text.replaceAll(/\{\d\}/g, ''));

const evidence = new Map(readSectionFiles('explain').map(({ section, file, text }) => [section, sentencesOf(file, text)]));
const sectionNames: readonly string[] = SECTIONS.map(({ name }) => name);

/** Returns the sentences and words that need a translation. */
function textOf({ field, value, unit, rule }: Sentences): Set<string> {
  return new Set([
    ...rule, ...unit.filter((each) => !SYMBOLS.includes(each)),
    ...value.filter((each) => hasLetters(each) && !STATES.includes(each)), ...field.filter((each) => !NAMES.test(each)),
  ]);
}

/** Returns the fields that have a separate row, and the fields of the evidence. Leaves out the columns of lists, which have headings. */
function namesOf(panel: ReturnType<typeof panels>[number]): Set<string> {
  const ofEvidence = evidence.get(panel.name)!.field.filter((each) => NAMES.test(each)).flatMap((each) => each.split(', ')).flatMap((each) => {
    const [first = '', ...rest] = each.replace('[{1}]', '').split('.').filter((part) => part !== 'meta');
    return sectionNames.includes(first) || (first === 'coverage' && sectionNames.includes(rest[0] ?? '')) ? rest.filter((part) => !sectionNames.includes(part)) : [first, ...rest];
  });
  const columns = Object.keys(panel.list?.columns ?? {}).map((column) => (panel.list?.field === undefined ? column : `${panel.list.field}.${column}`));
  const rows = Object.keys(panel.fields).filter((path) => !columns.includes(path)).flatMap((path) => path.split('.'));
  return new Set([...rows, ...ofEvidence].filter((name) => name !== ''));
}

/** Yields the values of a block that are words. */
function* valuesOf(schema: unknown): Generator<string> {
  if (schema === null || typeof schema !== 'object') return;
  if ('enum' in schema && Array.isArray(schema.enum)) yield* schema.enum.filter((each) => typeof each === 'string');
  if ('const' in schema && typeof schema.const === 'string') yield schema.const;
  for (const [key, each] of Object.entries(schema)) if (key !== 'enum') yield* valuesOf(each);
}

/** Yields the names of fields whose values are numbers that are not whole. */
function* numbersOf(schema: unknown): Generator<string> {
  if (schema === null || typeof schema !== 'object') return;
  for (const [field, each] of Object.entries('properties' in schema ? schema.properties as object : {})) if (JSON.stringify(each).includes('"type":"number"') && !JSON.stringify(each).includes('"object"')) yield field;
  for (const each of Object.values(schema)) yield* numbersOf(each);
}

const missing = (wanted: Iterable<string>, words: Readonly<Record<string, string>> = {}): string[] => [...wanted].filter((each) => !Object.hasOwn(words, each) || words[each] === '');
const left = (wanted: ReadonlySet<string>, words: Readonly<Record<string, string>> = {}): string[] => Object.keys(words).filter((each) => !wanted.has(each));

describe.each(panels())('in Italian the section $name', (panel) => {
  const { name, italian, fields, list } = panel;
  const block = z.toJSONSchema(SECTIONS.find((each) => each.name === name)!.block);

  it('has a translation of each rule of its explanations, and of the words in their values, units and fields', () => {
    const wanted = textOf(evidence.get(name)!);
    expect(missing(wanted, italian?.evidence), 'without words').toEqual([]);
    expect(left(wanted, italian?.evidence), 'said no more').toEqual([]);
    // Both languages have the same placeholders.
    const holes = (text: string): string[] => (text.match(/\{\d\}/g) ?? []).sort();
    for (const [english, words] of Object.entries(italian?.evidence ?? {})) expect(holes(words), english).toEqual(holes(english));
  });

  it('has a translation of each field\'s description', () => {
    const wanted = new Set(Object.values(fields));
    expect(missing(wanted, italian?.fields), 'without words').toEqual([]);
    expect(left(wanted, italian?.fields), 'said no more').toEqual([]);
  });

  it('has a name for each field, each column of a list, and its caption', () => {
    const columns = new Set(Object.keys(list?.columns ?? {}));
    expect(missing(columns, italian?.columns), 'columns without words').toEqual([]);
    expect(left(columns, italian?.columns), 'columns that are no more').toEqual([]);
    expect([italian?.caption !== undefined, italian?.note !== undefined]).toEqual([list?.caption !== undefined, list?.note !== undefined]);
    // A label of numbers only is the same in both languages.
    const numbers = Object.fromEntries(Object.entries(panel.words ?? {}).filter(([, label]) => !hasLetters(label)));
    expect(missing(namesOf(panel), { ...numbers, ...italian?.words, coverage: 'of the page' }), 'fields without words').toEqual([]);
    const known = new Set([...namesOf(panel), ...JSON.stringify(block).match(/\w+/g)!]);
    expect(left(known, italian?.words), 'fields that are no more').toEqual([]);
  });

  it('names each field and value in English, and states units of existing fields', () => {
    expect(missing(namesOf(panel), { ...panel.words, coverage: 'of the page' }), 'fields without words').toEqual([]);
    const known = new Set([...namesOf(panel), ...JSON.stringify(block).match(/\w+/g)!]);
    const stated = [panel.words, panel.units, panel.coverage, Object.fromEntries((panel.codes ?? []).map((code) => [code, '']))];
    for (const part of stated) expect(left(known, part), 'fields that are no more').toEqual([]);
    const values = [...valuesOf(block)].filter((each) => /[a-z]/.test(each) && ![...STATES, ...KINDS, 'Polygon', 'MultiPolygon'].includes(each));
    expect(missing(values, panel.values), 'values without words').toEqual([]);
  });

  it('has a unit for each number of a row that is no count or code, and an Italian word for each unit that is a word', () => {
    const numbers = [...numbersOf(block)].filter((each) => namesOf(panel).has(each) && panel.codes?.includes(each) !== true);
    expect(missing(numbers, panel.units), 'numbers without a unit').toEqual([]);
    const layer = LEGENDS.find((each) => each.name === name)?.unit ?? [];
    const units = new Set([...Object.values(panel.units ?? {}), ...[layer].flat()].filter((unit) => !isSymbol(unit)));
    expect(missing(units, italian?.units), 'units without words').toEqual([]);
    expect(left(units, italian?.units), 'units that are no more').toEqual([]);
  });

  it('has a translation of each value that is a word', () => {
    const values = new Set([...valuesOf(block)].filter((each) => /[a-z]/.test(each) && ![...STATES, ...KINDS].includes(each)));
    const layer = Object.values(drawingsOf(name)).flatMap(({ classes }) => classes.map((each) => String('value' in each ? each.value : '')));
    // Types of geometries are not shown.
    const wanted = new Set([...values, ...panel.published ?? []].filter((each) => !['Polygon', 'MultiPolygon'].includes(each)));
    expect(missing(wanted, italian?.values), 'without words').toEqual([]);
    expect(left(new Set([...valuesOf(block), ...layer, ...panel.published ?? []]), italian?.values), 'values that are no more').toEqual([]);
  });

  it('has a translation of its legend', () => {
    // Ranges are shown as numbers unless the section has words for them.
    const layers = Object.values(drawingsOf(name));
    const labels = layers.flatMap(({ classes }) => classes.flatMap(({ label }) => label ?? [])).filter(hasLetters);
    const wanted = new Set([...layers.flatMap(({ title, none }) => [title, none]), ...labels]);
    expect(missing(wanted, italian?.legend), 'without words').toEqual([]);
    expect(left(wanted, italian?.legend), 'said no more').toEqual([]);
  });
});

it('texts of a statement are read from its SQL, with alternatives and concatenations, and refused inside a function', () => {
  const view = (rule: string): string => `-- a comment\ncreate view evidence as select a.fid, 'x' as field, a.value, null as unit, ${rule} as rule from a union all select fid, 'y', 'row ' || a.r || ', ' || f(a.c, '–'), 'm', 'it''s' from b;`;
  expect(sentencesOf('a', view('case when a.b then \'one\' else \'two\' end || case a.c when \'x\' then \'; in \' || a.d else \'\' end'))).toEqual({
    field: ['x', 'y'], value: ['row {1}, {2}'], unit: ['m'], rule: ['one; in {1}', 'one', 'two; in {1}', 'two', 'it\'s'],
  });
  expect(() => sentencesOf('a', view('concat(\'near \', a.b)'))).toThrow(/a: rule says 'near '/);
});

describe('the Italian names of sources', () => {
  it('exist for exactly the registered sources, and have no English words', async () => {
    const names = await italianSources();
    const titles = new Set((await loadSources()).map(({ manifest }) => manifest.title));
    expect([missing(titles, names), left(titles, names)]).toEqual([[], []]);
    expect(Object.values(names).filter((name) => /\b(?:of|and|the|with|by|in force|as)\b/.test(name))).toEqual([]);
  });
});
