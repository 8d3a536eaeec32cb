/** Formats the values of a record with the labels, units and texts of the sections, like the map page. */
import type { Italian, MapPanel } from '../../pipelines/contract/section-map.ts';
import { mapOf } from '../../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { html, htmlTable, type Filling, type Html } from './html.ts';

export const LANGUAGES = ['en', 'it'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Texts of a section in one language. */
export interface Panel {
  readonly name: string;
  readonly title: string;
  readonly language: Language;
  readonly map: MapPanel;
  readonly italian: Italian | undefined;
}

export type Block = Readonly<Record<string, unknown>>;

/** Texts that all sections share. The map uses the same texts. */
const SHARED: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: {
    yes: 'yes', no: 'no', land: 'land', road: 'road', water: 'water', building: 'building',
    mapped: 'mapped', partial: 'partly mapped', not_mapped: 'not mapped', not_loaded: 'not loaded', not_applicable: 'not applicable',
  },
  it: {
    yes: 'sì', no: 'no', land: 'terreno', road: 'strada', water: 'acqua', building: 'edificio',
    mapped: 'mappato', partial: 'mappato in parte', not_mapped: 'non mappato', not_loaded: 'non caricato', not_applicable: 'non pertinente',
  },
};

/** Texts for a missing value if the sources cover the place. */
const NOTHING_HERE: Readonly<Record<Language, string>> = { en: 'none here', it: 'qui nulla' };

/** Fields that the page shows outside the tables of the sections. */
const ELSEWHERE = ['source', 'geometry', 'municipality'];

/** Unit of a field whose value is a share (0–1), which is shown as a percentage. */
const SHARE = 'share';

/** Maximum number of rows of a list to show. Further rows are only counted. */
const SHOWN_ROWS = 8;

/** Returns the panels of the sections in the order of the record. */
export function panelsIn(language: Language): Panel[] {
  return SECTIONS.map(({ name, title }) => {
    const map = mapOf(name);
    const italian = language === 'it' ? map.italian : undefined;
    return { name, title: italian?.title ?? title, language, map: map.panel, italian };
  });
}

/** Returns the value of an object's own key. A published text used as a key may be the name of an inherited property. */
function own(values: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
}

export function shared(word: string, language: Language): string {
  return own(SHARED[language], word) ?? word;
}

function plainLabel(field: string, { map, italian }: Panel): string {
  return own(italian?.words, field) ?? own(map.words, field) ?? field;
}

export function labelOf(field: string, panel: Panel): string {
  const label = plainLabel(field, panel);
  return label.slice(0, 1).toUpperCase() + label.slice(1);
}

export function numberIn(language: Language, value: number, options: Intl.NumberFormatOptions = {}): string {
  return value.toLocaleString(language === 'it' ? 'it-IT' : 'en-GB', { useGrouping: 'always', ...options });
}

/** Formats a whole number with all digits, and any other number with three significant digits or, from 100 on, without decimals. */
function measured(value: number, language: Language): string {
  return numberIn(language, value, Number.isInteger(value) ? {} : Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

/** Returns a half-year such as 2025_2 as 2025/2. */
function halfYear(text: string): string {
  return text.replace(/^(\d{4})_([12])$/, '$1/$2');
}

/** Returns the text of a value, without its unit. */
function textOf(field: string, value: unknown, panel: Panel): string {
  const { map, italian, language } = panel;
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return shared(value ? 'yes' : 'no', language);
  if (typeof value === 'number') {
    if (map.codes?.includes(field) === true) return String(value);
    return own(map.units, field) === SHARE ? `${measured(value * 100, language)} %` : measured(value, language);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return own(language === 'it' ? italian?.values : map.values, text) ?? own(SHARED[language], text) ?? halfYear(text);
}

export function valueOf(field: string, value: unknown, panel: Panel): string {
  const unit = own(panel.map.units, field);
  const text = textOf(field, value, panel);
  return typeof value !== 'number' || unit === undefined || unit === SHARE ? text : `${text} ${own(panel.italian?.units, unit) ?? unit}`;
}

/** Returns why a value is missing in a block that has a coverage by field, or undefined if the block states no reason. */
export function absenceOf(block: Block, field: string, { map, language }: Panel): string | undefined {
  const state = (block['coverage'] as Block | undefined)?.[map.coverage?.[field] ?? ''];
  return typeof state !== 'string' ? undefined : state === 'mapped' ? NOTHING_HERE[language] : shared(state, language);
}

/** Returns the rows of an object, each with label and value. The label of a row in a nested object begins with the label of that object. */
export function rowsOf(block: Block, panel: Panel, prefix = ''): (readonly [label: string, value: string])[] {
  const rank = (field: string): number => (panel.map.first?.indexOf(field) ?? -1) + 1 || Infinity;
  const sorted = Object.entries(block).sort(([a], [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
  return sorted.flatMap(([field, value]) => {
    if ((prefix === '' && ELSEWHERE.includes(field)) || Array.isArray(value)) return [];
    if (value !== null && typeof value === 'object') return rowsOf(value as Block, panel, `${prefix}${labelOf(field, panel)}: `);
    const label = prefix === '' ? labelOf(field, panel) : prefix + plainLabel(field, panel);
    return [[label, value === null ? absenceOf(block, field, panel) ?? '–' : valueOf(field, value, panel)] as const];
  });
}

/** Returns the values in one row of a list, by path. */
function flat(row: Block, prefix = ''): [string, unknown][] {
  return Object.entries(row).flatMap(([field, value]): [string, unknown][] => (value !== null && typeof value === 'object' && !Array.isArray(value)
    ? flat(value as Block, `${prefix}${field}.`) : [[prefix + field, value]]));
}

/** Returns the list of a section as a table, the note of the list (null: none), and the number of rows that the table omits. */
export function listOf(rows: readonly Block[], panel: Panel): { readonly table: Html; readonly note: string | null; readonly left: number } {
  const { map: { list }, italian } = panel;
  const columns = list?.columns ?? Object.fromEntries(flat(rows[0] ?? {}).map(([path]) => [path, labelOf(path, panel)]));
  const shown = (list?.latestFirst === true ? [...rows].reverse() : rows).slice(0, SHOWN_ROWS);
  const cells = shown.map((row): Filling[] => {
    const values = new Map(flat(row));
    return Object.keys(columns).map((path) => {
      const text = valueOf(path.slice(path.lastIndexOf('.') + 1), values.get(path), panel);
      return typeof values.get(path) === 'number' ? html`<span class="n">${text}</span>` : text;
    });
  });
  const note = (italian?.note ?? list?.note ?? '').replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = rows[0]?.[field] ?? '';
    return typeof value === 'string' ? halfYear(value) : JSON.stringify(value);
  });
  const caption = italian?.caption ?? list?.caption ?? panel.title;
  return {
    table: htmlTable(caption, Object.entries(columns).map(([path, heading]) => own(italian?.columns, path) ?? heading), cells),
    note: note === '' ? null : note, left: rows.length - shown.length,
  };
}
