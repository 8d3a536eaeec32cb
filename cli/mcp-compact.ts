/**
 * Shortens records for language models. A short record has labels and values as text, but no outlines and no missing values. Values that all rows of a
 * list share, and licences, appear once.
 */
import { drawingsOf, mapOf } from '../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';

type Json = Readonly<Record<string, unknown>>;
type Section = (typeof SECTIONS)[number];

/** Sections of a record if the caller names no sections. */
export const DEFAULT_SECTIONS: readonly string[] = SECTIONS.filter(({ brief }) => brief === true).map(({ name }) => name);

/** Size in bytes above which the lists of a shortened record are truncated. */
const MOST_BYTES = 8_000;

/** Fields that a short record omits: outlines, and sources, because the licences name the sources. */
const LEFT_OUT = new Set(['geometry', 'source']);

/** A list of objects as a table. `same_for_all` has the values that all rows share. */
interface Table {
  readonly same_for_all: Json;
  readonly columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  rows_left_out?: number;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the label of a field with its unit, such as `Average income (€)`. */
function labelOf({ name: section }: Section, path: string): string {
  const { words = {}, units = {}, list } = mapOf(section).panel;
  const name = path.slice(path.lastIndexOf('.') + 1);
  const listed = list?.columns[path];
  const label = words[name] ?? listed;
  const isAmbiguous = label === undefined || [...Object.values(words), ...Object.values(list?.columns ?? {})].filter((each) => each === label).length > 1;
  const text = isAmbiguous ? path.replace(/[._]/g, ' ') : label;
  const unit = units[name];
  return unit === undefined ? text : `${text} (${unit === 'share' ? 'share of 1' : unit})`;
}

/** Returns the text that the map shows for a value, such as `P3, high`, or the value if the map has no text for it. */
function valueOf({ name, flat }: Section, path: string, value: unknown): unknown {
  const { values = {} } = mapOf(name).panel;
  if (typeof value === 'string' && values[value] !== undefined) return values[value];
  const drawn = Object.values(drawingsOf(name)).find((each) => [each.value, flat[each.value]?.of?.replace(/^\d+\./, '')].includes(path));
  const found = drawn?.classes.find((each) => 'value' in each && String(each.value) === String(value));
  return found?.label ?? value;
}

/** Returns an object with one value for each path, such as `{'a.b': 1}` for `{a: {b: 1}}`. Missing values and the fields of `LEFT_OUT` are omitted. */
function flatten(value: Json, before = ''): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    if (each === null || LEFT_OUT.has(name)) return [];
    return isObject(each) ? Object.entries(flatten(each, `${before}${name}.`)) : [[before + name, each]];
  }));
}

function tableOf(section: Section, list: readonly Json[]): Table {
  const flat = list.map((each) => flatten(each));
  const paths = [...new Set(flat.flatMap((each) => Object.keys(each)))];
  const shown = (path: string, row: Json): unknown => (row[path] === undefined ? null : valueOf(section, path, row[path]));
  const isShared = (path: string): boolean => flat.length > 1 && new Set(flat.map((each) => JSON.stringify(each[path]))).size === 1;
  const own = paths.filter((path) => !isShared(path));
  return {
    same_for_all: Object.fromEntries(paths.filter(isShared).map((path) => [labelOf(section, path), shown(path, flat[0] ?? {})])),
    columns: own.map((path) => labelOf(section, path)),
    rows: flat.map((row) => own.map((path) => shown(path, row))),
  };
}

function compact(section: Section, value: unknown, tables: Table[]): unknown {
  if (Array.isArray(value)) {
    if (!value.every(isObject)) return value;
    const [only] = value;
    if (only === undefined) return [];
    if (value.length === 1) return [compact(section, only, tables)];
    const table = tableOf(section, value);
    tables.push(table);
    return table;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => {
    if (each === null || LEFT_OUT.has(name)) return [];
    return [[labelOf(section, name), valueOf(section, name, compact(section, each, tables))]];
  }));
}

interface Licence {
  readonly section: string;
  readonly attribution: string;
  readonly license: string;
  readonly reference_period: string | null;
}

/** Returns each combination of attribution, licence and reference period once, with the sections that it applies to. */
export function licencesOnce(licences: readonly Licence[]): readonly Json[] {
  const found = new Map<string, { sections: string[]; attribution: string; license: string; reference_period?: string }>();
  for (const { section, attribution, license, reference_period } of licences) {
    const key = JSON.stringify([attribution, license, reference_period]);
    const known = found.get(key);
    if (known === undefined) found.set(key, { sections: [section], attribution, license, ...(reference_period === null ? {} : { reference_period }) });
    else known.sections.push(section);
  }
  return [...found.values()];
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * Shortens a record from the API. Truncates the longest list repeatedly, until the record has at most 8,000 bytes or every list has only one row.
 * @param record response of `/parcels/{id}`
 */
export function compactRecord(record: Json): Json {
  const { fid, municipality, meta, basic, ...others } = record;
  const { fid: _fid, municipality: _municipality, ...own } = basic as Json;
  const blocks: Json = { basic: own, ...others };
  const { coverage, licenses } = meta as { readonly coverage: Json; readonly licenses: readonly Licence[] };
  const tables: Table[] = [];
  const shortened = SECTIONS.filter(({ name }) => name in blocks).map((section) => [section.name, compact(section, blocks[section.name], tables)] as const);
  const answer = { fid, municipality, ...Object.fromEntries(shortened), coverage, licenses: licencesOnce(licenses) };
  while (bytesOf(answer) > MOST_BYTES) {
    const [longest] = tables.toSorted((a, b) => b.rows.length - a.rows.length);
    if (longest === undefined || longest.rows.length < 2) break;
    const kept = Math.floor(longest.rows.length * 0.8);
    longest.rows_left_out = (longest.rows_left_out ?? 0) + longest.rows.length - kept;
    longest.rows = longest.rows.slice(0, kept);
  }
  return answer;
}
