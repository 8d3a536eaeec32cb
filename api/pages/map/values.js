// @ts-check
/** Formats names, values and units of a record. A section defines the names and units of its fields in `map.ts` or `section.ts` of its folder. */
import { element } from './elements.js';
import { ITALIAN_SOURCES, SECTIONS } from './sections.js';
import { STATES } from './view.js';
import { hasWord, isItalian, isSharedWord, numberOf, t } from './words.js';

/**
 * @typedef {{ title: string, words?: Record<string, string>, values?: Record<string, string>, units?: Record<string, string>, codes?: string[],
 *   first?: string[], coverage?: Record<string, string>, summary?: string[], fields: Record<string, string>,
 *   italian?: { title?: string, words?: Record<string, string>, units?: Record<string, string>, values?: Record<string, string>,
 *     columns?: Record<string, string>, caption?: string, note?: string, legend?: Record<string, string>, fields?: Record<string, string>,
 *     evidence?: Record<string, string> },
 *   list?: { field?: string, caption?: string, latestFirst?: true, note?: string, columns: Record<string, string> } }} Panel
 */

/** Unit of a field whose value is a share (0–1), which is shown as a percentage. */
const SHARE = 'share';

/** @param {string} name @returns {Panel} */
export const panelOf = (name) => SECTIONS[name] ?? { title: name, fields: {} };

/** @param {string} name name of a section */
export function titleOf(name) {
  const { title, italian } = panelOf(name);
  return isItalian() ? italian?.title ?? title : title;
}

/**
 * Returns the value of an object's own key. A published text used as a key may be the name of an inherited property, such as `constructor`.
 * @template T
 * @param {Record<string, T> | undefined} values
 * @param {string} key
 * @returns {T | undefined}
 */
const ownValue = (values, key) => (values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined);

/**
 * Returns the label of a field, or the field's name if it has no label. A label without an Italian text is the same in both languages.
 * @param {string} field
 * @param {Panel} panel
 */
export function plainWords(field, panel) {
  return (isItalian() ? ownValue(panel.italian?.words, field) : undefined) ?? ownValue(panel.words, field) ?? field;
}

/** @param {string} field @param {Panel} panel */
export function wordsOf(field, panel) {
  const words = plainWords(field, panel);
  return words[0]?.toUpperCase() + words.slice(1);
}

/** @param {string} field @param {Panel} panel @returns {string | undefined} */
function unitOf(field, panel) {
  const unit = ownValue(panel.units, field);
  return unit === undefined || unit === SHARE ? undefined : unitInLanguage(unit, panel);
}

/** @param {string} unit @param {Panel} panel */
export const unitInLanguage = (unit, panel) => (isItalian() ? ownValue(panel.italian?.units, unit) : undefined) ?? unit;

/** Returns the text to show for a published code or word. @param {string} value @param {Panel} panel */
export function wordOf(value, panel) {
  const known = isItalian() ? ownValue(panel.italian?.values, value) : ownValue(panel.values, value);
  return known ?? (isSharedWord(value) ? t(value).toLowerCase() : halfYear(value));
}

/** @param {string} field @param {any} value @param {Panel} panel */
export function textOf(field, value, panel) {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value === 'string') return wordOf(value, panel);
  if (panel.codes?.includes(field)) return String(value);
  return ownValue(panel.units, field) === SHARE ? `${measured(value * 100)} %` : measured(value);
}

/** Formats a whole number with all digits, and any other number with three significant digits or, from 100 on, without decimals. @param {number} value */
export function measured(value) {
  return numberOf(value, Number.isInteger(value) ? {} : Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

export const halfYear = (/** @type {string} */ text) => text.replace(/^(\d{4})_([12])$/, '$1/$2');

/** Shows a value with its unit. A number has its published digits as a tooltip. @param {string} field @param {any} value @param {Panel} panel */
export function valueOf(field, value, panel) {
  const text = textOf(field, value, panel);
  if (typeof value !== 'number') return Object.hasOwn(STATES, value) ? stateBadge(String(value)) : breakable(text);
  const unit = unitOf(field, panel);
  return element('span', { class: 'value', title: String(value) }, unit === undefined ? [text] : [`${text} `, element('span', { class: 'unit' }, [unit])]);
}

/** Returns a text in which a line may break after each dot that follows a letter. @param {string} text */
export function breakable(text) {
  return element('span', {}, text.split(/(?<=[a-z]\.)/i).flatMap((part) => [part, document.createElement('wbr')]));
}

/** Shows a coverage value. Stripes mark missing coverage, as on the map. @param {string} state */
export function stateBadge(state) {
  return element('span', { class: `state ${state}` }, [hasWord(state) ? t(state) : state]);
}

/**
 * Returns an element that states why a value is missing, or null. Only a block with a coverage by field states reasons, such as `coverage.flood` for
 * `flood_level`.
 * @param {any} block
 * @param {string} field
 * @param {any} value
 * @param {Panel} panel
 */
export function absenceOf(block, field, value, panel) {
  const covered = panel.coverage?.[field];
  const state = covered === undefined ? undefined : block.coverage?.[covered];
  if (value !== null || typeof state !== 'string') return null;
  return state === 'mapped' ? element('span', { class: 'state none' }, [t('mappedNone')]) : stateBadge(state);
}

/** @param {string} column @param {Record<string, string>} columns @param {Panel} panel */
export const headingOf = (column, columns, panel) => (isItalian() ? panel.italian?.columns?.[column] : undefined) ?? columns[column] ?? column;

/**
 * Returns a text in the language of the page. A text without an Italian translation is marked as English, so that screen readers pronounce it correctly.
 * @param {string} english
 * @param {string | undefined} italian
 */
export function inWords(english, italian) {
  if (isItalian()) return italian === undefined ? element('span', { lang: 'en' }, [english]) : italian;
  return english;
}

/** Returns the name of a source in the language of the page. @param {string} title title in the source's manifest */
export const sourceName = (title) => inWords(title, ownValue(ITALIAN_SOURCES, title));

/**
 * Returns the sections of a record in the order of the page. The section `basic`, which has identifiers, comes last.
 * @param {any} record
 * @returns {string[]}
 */
export const sectionsOf = ({ meta }) => [...meta.sections_included.filter((/** @type {string} */ section) => section !== 'basic'), 'basic'];

/** @param {any} row @returns {[string, any][]} */
export function flat(row, prefix = '') {
  return Object.entries(row).flatMap(([field, value]) => (value !== null && typeof value === 'object' ? flat(value, `${prefix}${field}.`) : [/** @type {[string, any]} */ ([`${prefix}${field}`, value])]));
}
