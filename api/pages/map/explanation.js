// @ts-check
/** Explains the values of a section. Shows the licences, the rules, and the features that the values come from. */
import { element, link } from './elements.js';
import { Refusal } from './interface.js';
import { SECTIONS } from './sections.js';
import { breakable, halfYear, inWords, panelOf, plainWords, titleOf, unitInLanguage, wordOf, wordsOf } from './values.js';
import { isItalian, numberOf, refusalInWords, t } from './words.js';

/** @typedef {import('./values.js').Panel} Panel */

/** Maximum number of features of a rule in a list that is open at first. */
const MANY = 20;

/**
 * @typedef {{ field: string, value: string | null, rule: string, measure: number | null, unit: string | null, source: string, vintage: string, file: string,
 *   sha256: string, member: string, position: number }} Evidence
 */

/**
 * Returns the Italian translation of a text that `mappale explain` returns. `{1}` is a placeholder for a value in the text.
 * @param {string} text
 * @param {Panel} panel
 * @returns {string | undefined}
 */
function evidenceInItalian(text, { italian: { evidence = {} } = {} }) {
  if (Object.hasOwn(evidence, text)) return evidence[text];
  for (const [english, italian] of Object.entries(evidence)) {
    if (!english.includes('{1}')) continue;
    const pattern = english.split(/\{\d\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('(.*)');
    const found = new RegExp(`^${pattern}$`, 's').exec(text);
    if (found !== null) return italian.replaceAll(/\{(\d)\}/g, (_, at) => halfYear(found[Number(at)] ?? ''));
  }
  return undefined;
}

/**
 * Translates field names such as `elevation, slope`, `coverage.flood` or `SECTION[0].FIELD`. In any other text without an Italian translation, translates only
 * names with underscores.
 * @param {string} field
 * @param {Panel} panel
 */
function fieldsOf(field, panel) {
  const sentence = isItalian() ? evidenceInItalian(field, panel) : undefined;
  if (sentence !== undefined) return sentence;
  return field.split(', ').map((each) => {
    const [, list, index, within] = /^(\w+)\[(\d+)\](?:\.(\w+))?$/.exec(each) ?? [];
    if (list !== undefined) return [t('nth', { name: titleOf(list), n: Number(index) + 1 }), ...(within === undefined ? [] : [wordsOf(within, panel)])].join(': ');
    if (!/^[a-z0-9_.]+$/.test(each)) return each.replaceAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (part) => plainWords(part, panel));
    const parts = each.split('.').filter((part) => part !== 'meta');
    return parts.map((part) => (Object.hasOwn(SECTIONS, part) ? titleOf(part) : part === 'coverage' ? t('coverage') : wordsOf(part, panel))).join(': ');
  }).join(', ');
}

/**
 * Returns the value of a feature in the language of the page, or the published value if there is no translation.
 * @param {string | null} value
 * @param {Panel} panel
 */
function saidBy(value, panel) {
  if (value === null || value === '') return t('saysNothing');
  if (!isItalian()) return wordOf(value, panel);
  return evidenceInItalian(value, panel) ?? wordOf(value, panel).replace(/^(-?\d+)\.(\d+)$/, '$1,$2');
}

/** @param {string} unit @param {Panel} panel */
const evidenceUnit = (unit, panel) => ((isItalian() ? evidenceInItalian(unit, panel) : undefined) ?? unitInLanguage(unit, panel)).replaceAll('m2', 'm²');

/**
 * Shows a feature that contributed to a value, with its value, its measure (overlap, distance or weight) and its position in the file.
 * @param {Evidence} found
 * @param {string} field field of the value; empty if all features of the rule belong to one field
 * @param {Panel} panel
 */
function evidenceOf({ value, measure, unit, source, vintage, file, member, position, sha256 }, field, panel) {
  const place = [file.slice(file.lastIndexOf('/') + 1), member, String(position)].filter((part) => part !== '');
  return element('li', {}, [
    element('span', {}, [...(field === '' ? [] : [`${field}: `]), element('strong', {}, [saidBy(value, panel)]), ...(measure === null ? [] : [
      ` · ${numberOf(Number(measure.toPrecision(6)), { maximumFractionDigits: 8 })}`, ...(unit === null ? [] : [' ', evidenceUnit(unit, panel)]),
    ])]),
    element('span', { class: 'from', title: `${file}, sha256 ${sha256}` }, [`${source} ${vintage} · `, ...place.flatMap((part, index) => [...(index === 0 ? [] : [' · ']), breakable(part.replaceAll(/([_/])/g, '$1\u200b'))])]),
  ]);
}

/**
 * Shows the output of `mappale explain` on the page.
 * @param {{ not_applicable: string | null, rows: any[], reproduced: boolean, empty: boolean, evidence: Evidence[], context: Evidence[] }} explanation
 * @param {Panel} panel
 */
function explanationOf({ not_applicable: notApplicable, rows, reproduced, empty, evidence, context }, panel) {
  if (notApplicable !== null) return [element('p', { class: 'ran', 'data-reproduced': String(reproduced) }, [t('not_applicableWhy')])];
  /** @type {Map<string, Evidence[]>} */
  const groups = new Map();
  for (const found of [...evidence, ...context]) groups.set(found.rule, [...groups.get(found.rule) ?? [], found]);
  const state = !reproduced ? 'ranOther' : empty || rows.length === 0 ? 'ranNothing' : 'ranSame';
  return [
    element('p', { class: 'ran', 'data-reproduced': String(reproduced) }, [t(state)]),
    ...[...groups].map(([rule, found]) => {
      const fields = [...new Set(found.map(({ field }) => fieldsOf(field, panel)))];
      const isOne = fields.length === 1;
      const list = element('ul', { class: 'evidence' }, found.map((each) => evidenceOf(each, isOne ? '' : fieldsOf(each.field, panel), panel)));
      return element('div', { class: 'found' }, [
        ...(isOne ? [element('h4', {}, fields)] : []), element('p', {}, [inWords(rule, evidenceInItalian(rule, panel))]),
        found.length <= MANY ? list : element('details', { class: 'long' }, [element('summary', {}, [t('more', { n: found.length })]), list]),
      ]);
    }),
  ];
}

/**
 * Returns an element with the licences of a section, and the function `ask`, which requests the result of `mappale explain` and adds it to the element. A
 * successful request is not repeated. If this browser may not request explanations, the element shows the command instead.
 * @param {string} name
 * @param {number} fid
 * @param {any[]} cited licences of the section
 * @param {import('./record.js').Actions} actions
 */
export function reasonsOf(name, fid, cited, actions) {
  const licences = cited.map(({ attribution, license, url, holder }) => element('p', {}, [`${attribution ?? holder} · `, link(url, license)]));
  const command = (/** @type {'whyHow' | 'whyAlso'} */ words) => element('p', {}, [t(words), ' ', element('code', {}, [`mappale explain ${fid} ${name}`])]);
  const { explain } = actions;
  const found = element('div', { 'aria-live': 'polite' }, explain === null ? [command('whyHow')] : []);
  let isAsked = false;
  return {
    reasons: element('div', { class: 'reasons' }, [found, ...licences]),
    async ask() {
      if (isAsked || explain === null) return;
      isAsked = true;
      found.replaceChildren(element('p', { class: 'quiet' }, [t('explaining')]));
      try {
        found.replaceChildren(...explanationOf(await explain(name), panelOf(name)), command('whyAlso'));
      } catch (error) {
        // After an error, opening the panel again sends the request again.
        isAsked = false;
        found.replaceChildren(element('p', { class: 'problem' }, [t('notExplained', { why: error instanceof Refusal ? refusalInWords(error) : t('noAnswer') })]), command('whyHow'));
      }
    },
  };
}
