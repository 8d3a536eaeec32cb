// @ts-check
/** Displays a parcel, a comune or all published data. Each value of a parcel has its unit, rule and source. */
import { button, element, link } from './elements.js';
import { ELSEWHERE, SECTIONS } from './sections.js';
import { Refusal } from './interface.js';
import { currentLanguage, dateOf, hasWord, numberOf, refusalInWords, t } from './words.js';
import { BLANK, GROUND, hasParcels, shade, shareCovered, STATES } from './view.js';

/**
 * @typedef {{ title: string, words?: Record<string, string>, units?: Record<string, string>, codes?: string[], first?: string[], fields: Record<string, string>,
 *   italian?: { title?: string, words?: Record<string, string>, values?: Record<string, string>, columns?: Record<string, string>, caption?: string, note?: string,
 *     legend?: Record<string, string>, fields?: Record<string, string>, evidence?: Record<string, string> },
 *   list?: { field?: string, caption?: string, latestFirst?: true, note?: string, columns: Record<string, string> } }} Panel
 */

/** Lists longer than this open on demand. */
const LONG = 8;
/** Number of features of a rule that are shown at first. */
const MANY = 20;
/** Units at the end of field names. */
const UNITS = [
  [/_?eur_m2$/, '€/m²'], [/_m2$/, 'm²'], [/_mm_year2$/, 'mm/year²'], [/_mm_year$/, 'mm/year'], [/_m_year$/, 'm/year'], [/_kwh_per_kwp$/, 'kWh/kWp'], [/kwh_year/, 'kWh/year'], [/^kwp_/, 'kWp'],
  [/_pct$/, '%'], [/^distance_m$|_m$/, 'm'],
];

/** @param {string} name @returns {Panel} */
const panelOf = (name) => SECTIONS[name] ?? { title: name, fields: {} };

/** @param {string} name name of a section */
export function titleOf(name) {
  const { title, italian } = panelOf(name);
  return currentLanguage() === 'it' ? italian?.title ?? title : title;
}

/**
 * Returns the value of a key, if the object itself has the key. Published texts may be names that every object inherits, such as `constructor`.
 * @template T @param {Record<string, T> | undefined} values @param {string} key @returns {T | undefined}
 */
const ownValue = (values, key) => (values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined);

/** Reads numbers from names such as `from_15k_to_26k`, `5_9`, `75_plus` and `2_members`. @param {string} field @param {Panel} panel */
function plainWords(field, panel) {
  const isItalian = currentLanguage() === 'it';
  const known = isItalian ? ownValue(panel.italian?.words, field) : undefined;
  return known ?? ownValue(panel.words, field) ?? field
    .replace(/^from_(\d+)k?_to_(\d+)k$/, (_, from, to) => `${from === '0' ? '0' : numberOf(Number(from) * 1000)}–${numberOf(Number(to) * 1000)} €`)
    .replace(/^(\d+)_(\d+)$/, '$1–$2').replace(/_plus(?=_|$)/, isItalian ? ' e più' : ' and more')
    .replace(/(_mm|_m|_eur)?_(year2?|m2|pct)$/, '').replaceAll('_', ' ');
}

/** @param {string} field @param {Panel} panel */
function wordsOf(field, panel) {
  const words = plainWords(field, panel);
  return words[0]?.toUpperCase() + words.slice(1);
}

/** @param {string} field @param {Panel} panel */
function unitOf(field, panel) {
  const [, unit] = UNITS.find(([end]) => /** @type {RegExp} */ (end).test(field)) ?? [];
  const known = panel.units?.[field] ?? unit;
  return known === undefined ? undefined : inLanguage(known.toString());
}

/** @param {string} unit */
const inLanguage = (unit) => (currentLanguage() === 'it' ? unit.replace('/year', '/anno') : unit);

const isShare = (/** @type {string} */ field) => /(^|_)share$/.test(field);

/** @param {string} field @param {any} value @param {Panel} panel */
function textOf(field, value, panel) {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value === 'string') {
    const known = currentLanguage() === 'it' ? ownValue(panel.italian?.values, value) : undefined;
    return known ?? (isName(value) && hasWord(value) ? t(value).toLowerCase() : halfYear(isName(value) ? value.replaceAll('_', ' ') : value));
  }
  if (panel.codes?.includes(field) || (/(^|_)(year|zone)$/.test(field) && unitOf(field, panel) === undefined)) return String(value);
  return isShare(field) ? `${numberOf(value * 100, { maximumFractionDigits: 4 })} %` : numberOf(value, { maximumFractionDigits: 7 });
}

/** Formats a value that is an identifier. @param {string} text */
const isName = (text) => /^[a-z]+(_[a-z]+)*$/.test(text);
const halfYear = (/** @type {string} */ text) => text.replace(/^(\d{4})_([12])$/, '$1/$2');

/** @param {string} field @param {any} value @param {Panel} panel */
function valueOf(field, value, panel) {
  const text = textOf(field, value, panel);
  if (typeof value !== 'number') return Object.hasOwn(STATES, value) ? stateBadge(String(value)) : breakable(text);
  const unit = isShare(field) ? undefined : unitOf(field, panel);
  return element('span', { class: 'value' }, unit === undefined ? [text] : [`${text} `, element('span', { class: 'unit' }, [unit])]);
}

/** Allows line breaks in long identifiers only after a dot. @param {string} text */
function breakable(text) {
  return element('span', {}, text.split(/(?<=[a-z]\.)/i).flatMap((part) => [part, document.createElement('wbr')]));
}

/** Shows the coverage of a place. Stripes mark missing coverage, as on the map. @param {string} state */
function stateBadge(state) {
  return element('span', { class: `state ${state}` }, [hasWord(state) ? t(state) : state]);
}

/** @param {string} column @param {Record<string, string>} columns @param {Panel} panel */
const headingOf = (column, columns, panel) => (currentLanguage() === 'it' ? panel.italian?.columns?.[column] : undefined) ?? columns[column] ?? column;

/**
 * Marks a text without Italian translation as English, so that screen readers pronounce it as English. @param {string} english @param {string | undefined}
 * italian
 */
function inWords(english, italian) {
  if (currentLanguage() === 'it') return italian === undefined ? element('span', { lang: 'en' }, [english]) : italian;
  return english;
}

/** Shows the rule of a value on demand. @param {Panel} panel @param {string} path @param {string} [heading] heading of a list's column */
function ruleOf(panel, path, heading) {
  const known = panel.fields[path];
  if (known === undefined) return [];
  const text = inWords(known, panel.italian?.fields?.[known]);
  return [element('tr', { class: 'rule' }, [element('td', { colspan: '3' }, heading === undefined ? [text] : [`${heading}: `, text])])];
}

/**
 * Returns the rows of an object. Nested objects are prefixed with their name, or drawn as bars if they are counts. @param {any} block @param
 * {Panel} panel
 */
function rowsOf(block, panel, path = '', prefix = '') {
  const rank = (/** @type {string} */ field) => ((panel.first?.indexOf(field) ?? -1) + 1 || Infinity);
  const order = ([a], [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b));
  return Object.entries(block).sort(order).flatMap(([field, value]) => {
    const full = path + field;
    if (prefix === '' && ELSEWHERE.includes(field)) return [];
    if (Array.isArray(value)) return [];
    if (value !== null && typeof value === 'object') {
      if (isDistribution(value)) return [barsOf(field, value, panel, full)];
      return rowsOf(value, panel, `${full}.`, `${prefix}${wordsOf(field, panel)}: `);
    }
    const name = prefix === '' ? wordsOf(field, panel) : prefix + plainWords(field, panel);
    return [
      element('tr', { 'data-field': full }, [element('th', { scope: 'row' }, [name]), element('td', {}, [absenceOf(block, field, value) ?? valueOf(field, value, panel)])]),
      ...ruleOf(panel, full),
    ];
  });
}

/**
 * Returns the reason for a missing value, in a block that has coverage by field such as `coverage.flood` for `flood_level`. @param {any} block @param
 * {string} field @param {any} value
 */
function absenceOf(block, field, value) {
  const [, state] = Object.entries(block.coverage ?? {}).find(([covered]) => field === covered || field.startsWith(`${covered}_`)) ?? [];
  if (value !== null || typeof state !== 'string') return null;
  return state === 'mapped' ? element('span', { class: 'state none' }, [t('mappedNone')]) : stateBadge(state);
}

const isDistribution = (/** @type {object} */ value) => Object.keys(value).length >= 4 && Object.values(value).every((each) => each === null || typeof each === 'number');

/** @param {string} field @param {Record<string, number | null>} values @param {Panel} panel @param {string} path */
function barsOf(field, values, panel, path) {
  const { total, ...parts } = values;
  const most = Math.max(...Object.values(parts).map((each) => each ?? 0), 1);
  const rows = Object.entries(parts).map(([name, value]) => {
    const bar = element('i', { 'aria-hidden': 'true' });
    bar.style.width = `${((value ?? 0) / most) * 100}%`;
    return element('tr', {}, [element('th', { scope: 'row' }, [plainWords(name, panel)]), element('td', { class: 'bar' }, [bar]), element('td', { class: 'number' }, [textOf(name, value, panel)])]);
  });
  const title = [wordsOf(field, panel), ...(total === undefined ? [] : [element('strong', {}, [textOf('total', total, panel)])])];
  return element('tr', { class: 'bars', 'data-field': path }, [element('td', { colspan: '2' }, [
    element('table', {}, [element('caption', {}, title), element('tbody', {}, [...ruleOf(panel, path), ...rows])]),
  ])]);
}

/** @param {any} row @returns {[string, any][]} */
function flat(row, prefix = '') {
  return Object.entries(row).flatMap(([field, value]) => (value !== null && typeof value === 'object' ? flat(value, `${prefix}${field}.`) : [/** @type {[string, any]} */ ([`${prefix}${field}`, value])]));
}

/** @param {any[]} rows @param {Record<string, string>} columns heading of each @param {Panel} panel @param {string} caption */
function tableOf(rows, columns, panel, caption) {
  const last = (/** @type {string} */ column) => column.slice(column.lastIndexOf('.') + 1);
  const flatRows = rows.map((row) => new Map(flat(row)));
  const shown = Object.keys(columns).map((column) => ({
    column, field: last(column), isNumber: flatRows.some((row) => typeof row.get(column) === 'number') && !panel.codes?.includes(last(column)),
    heading: headingOf(column, columns, panel),
  }));
  const table = element('div', { class: 'wide' }, [element('table', { 'aria-label': caption }, [
    element('thead', {}, [element('tr', {}, shown.map(({ heading, isNumber, column }) => element('th', { scope: 'col', ...(isNumber ? { class: 'number' } : {}) }, [heading])))]),
    element('tbody', {}, flatRows.map((row) => element('tr', {}, shown.map(({ column, field, isNumber }) => element('td', isNumber ? { class: 'number' } : typeof row.get(column) === 'number' ? { class: 'value' } : {}, [textOf(field, row.get(column), panel)]))))),
  ])]);
  return rows.length <= LONG ? table : element('details', { class: 'long' }, [element('summary', {}, [t('more', { n: rows.length })]), table]);
}

/** Fills a sentence with the values of a row. @param {string} note @param {any} row */
const noteOf = (note, row) => note.replace(/\{(\w+)\}/g, (_, field) => halfYear(String(row[field] ?? '')));

/**
 * @typedef {{ field: string, value: string | null, rule: string, measure: number | null, unit: string | null, source: string, vintage: string, file: string,
 *   sha256: string, member: string, position: number }} Evidence
 */

/**
 * Returns the Italian translation of a text of the explain statement. `{1}` is a value from the statement. @param {string} text @param {Panel} panel @returns
 * {string | undefined}
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
 * Translates field names such as `elevation, slope`, `coverage.flood` and columns of lists. Sentences stay unchanged. @param {string} field @param {Panel}
 * panel
 */
function fieldsOf(field, panel) {
  const sentence = currentLanguage() === 'it' ? evidenceInItalian(field, panel) : undefined;
  if (sentence !== undefined) return sentence;
  return field.split(', ').map((each) => {
    const [, list, index, within] = /^(\w+)\[(\d+)\](?:\.(\w+))?$/.exec(each) ?? [];
    if (list !== undefined) return [t('nth', { name: titleOf(list), n: Number(index) + 1 }), ...(within === undefined ? [] : [wordsOf(within, panel)])].join(': ');
    if (!/^[a-z0-9_.]+$/.test(each)) return each.replaceAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (part) => plainWords(part, panel));
    const parts = each.split('.').filter((part) => part !== 'meta');
    return parts.map((part) => (Object.hasOwn(SECTIONS, part) ? titleOf(part) : part === 'coverage' ? t('coverage') : wordsOf(part, panel))).join(': ');
  }).join(', ');
}

/** Returns the text of a feature's value: a translation if there is one, else the published value. @param {string | null} value @param {Panel} panel */
function saidBy(value, panel) {
  if (value === null || value === '') return t('saysNothing');
  if (currentLanguage() !== 'it') return value;
  if (Object.hasOwn(STATES, value) && hasWord(value)) return t(value).toLowerCase();
  return evidenceInItalian(value, panel) ?? ownValue(panel.italian?.values, value) ?? value.replace(/^(-?\d+)\.(\d+)$/, '$1,$2');
}

/** @param {string} unit @param {Panel} panel */
const unitSaid = (unit, panel) => ((currentLanguage() === 'it' ? evidenceInItalian(unit, panel) : undefined) ?? unit).replaceAll('m2', 'm²');

/**
 * Shows one feature that contributed to a value: its value, weight and position in its file. @param {Evidence} found @param {string} field field of the
 * value, if other features of the rule belong to other fields @param {Panel} panel
 */
function evidenceOf({ value, measure, unit, source, vintage, file, member, position, sha256 }, field, panel) {
  const place = [file.slice(file.lastIndexOf('/') + 1), member, String(position)].filter((part) => part !== '');
  return element('li', {}, [
    element('span', {}, [...(field === '' ? [] : [`${field}: `]), element('strong', {}, [saidBy(value, panel)]), ...(measure === null ? [] : [
      ` · ${numberOf(Number(measure.toPrecision(6)), { maximumFractionDigits: 8 })}`, ...(unit === null ? [] : [' ', unitSaid(unit, panel)]),
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
 * Shows the origin of a section: its licences and the result of `mappale explain`. If the server does not answer `explain`, shows the
 * command instead.
 * @param {string} name @param {number} fid @param {any[]} cited licences of the section @param {Told} told
 */
function reasonsOf(name, fid, cited, told) {
  const licences = cited.map(({ attribution, license, url, holder }) => element('p', {}, [`${attribution ?? holder} · `, link(url, license)]));
  const command = (/** @type {'whyHow' | 'whyAlso'} */ words) => element('p', {}, [t(words), ' ', element('code', {}, [`mappale explain ${fid} ${name}`])]);
  const { explain } = told;
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
        // The explanation is requested again when the panel is opened again.
        isAsked = false;
        found.replaceChildren(element('p', { class: 'problem' }, [t('notExplained', { why: error instanceof Refusal ? refusalInWords(error) : t('noAnswer') })]), command('whyHow'));
      }
    },
  };
}

/** @param {string} name @param {any} block @param {any} record @param {Told} told */
function sectionOf(name, block, record, told) {
  const panel = panelOf(name);
  const { list } = panel;
  const { meta } = record;
  const title = titleOf(name);
  const coverage = meta.coverage[name];
  const rows = list?.field === undefined ? block : block?.[list.field];
  const isEmpty = block === null || (Array.isArray(block) && block.length === 0);
  const cited = meta.licenses.filter((/** @type {any} */ license) => license.section === name);
  const { reasons, ask } = reasonsOf(name, record.fid, cited, told);
  const why = button(t('why'), () => {
    const isOpen = section.classList.toggle('explained');
    why.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) void ask();
  }, { class: 'why', 'aria-expanded': 'false', 'aria-label': `${t('why')} ${title}` });
  /** @type {(Node | string)[]} */
  const parts = [element('h3', {}, [title, why])];
  if (isEmpty) {
    const state = coverage === 'mapped' || coverage === undefined ? 'mapped' : coverage;
    parts.push(element('p', { class: 'absent', 'data-state': state === 'mapped' ? 'none' : state }, state === 'mapped'
      ? [element('span', { class: 'state none' }, [t('mappedNone')]), t('mappedNoneWhy')]
      : [stateBadge(state), hasWord(`${state}Why`) ? t(`${state}Why`) : '']));
  } else {
    if (coverage !== undefined && coverage !== 'mapped') parts.push(element('p', { class: 'absent', 'data-state': coverage }, [stateBadge(coverage), hasWord(`${coverage}Why`) ? t(`${coverage}Why`) : '']));
    if (!Array.isArray(block)) parts.push(element('table', { 'aria-label': title }, [element('tbody', {}, rowsOf(block, panel))]));
    if (list?.note !== undefined && rows?.length > 0) parts.push(element('p', { class: 'quiet' }, [noteOf(currentLanguage() === 'it' ? panel.italian?.note ?? list.note : list.note, rows[0])]));
    if (Array.isArray(rows) && rows.length > 0) {
      const columns = list?.columns ?? Object.fromEntries(flat(rows[0]).map(([field]) => [field, wordsOf(field, panel)]));
      const caption = currentLanguage() === 'it' ? panel.italian?.caption ?? list?.caption : list?.caption;
      parts.push(tableOf(list?.latestFirst ? [...rows].reverse() : rows, columns, panel, caption ?? title));
      const root = list?.field === undefined ? '' : `${list.field}.`;
      parts.push(element('table', { class: 'rules' }, [element('tbody', {}, Object.keys(columns).flatMap((column) => ruleOf(panel, root + column, headingOf(column, columns, panel))))]));
    }
  }
  const sources = cited.map(({ source, reference_period: period }) => (period === null ? source : `${source} (${period})`));
  parts.push(element('p', { class: 'source' }, [`${t('source')}: ${sources.length > 0 ? sources.join('; ') : block?.source ?? t('noSource')}`]));
  parts.push(reasons);
  const section = element('section', { 'data-section': name }, parts);
  return section;
}

/**
 * Callbacks of a record.
 * @typedef {{ parcel: (fid: number) => void, close: () => void, print: () => void, copy: () => void, files: (code: string) => Promise<any>,
 *   explain: ((section: string) => Promise<any>) | null }} Told
 */

/**
 * @param {any} record answer of /parcels/{id} @param {any[]} neighbours answer of /parcels/locate, nearest first @param {Told} told @returns {HTMLElement[]}
 */
export function tellParcel(record, neighbours, told) {
  const { basic, municipality, meta } = record;
  const { sheet } = basic.cadastral;
  const name = municipality.name ?? municipality.code;
  const place = [name, municipality.province, municipality.region].filter((part) => part !== null).join(', ');
  const attributions = new Map(meta.licenses.map((license) => [license.attribution, license]));
  const files = element('div');
  const ask = button(t('loadFiles'), () => {
    ask.setAttribute('disabled', '');
    told.files(municipality.code).then((found) => files.replaceChildren(filesOf(found)), () => ask.removeAttribute('disabled'));
  });
  files.append(ask);
  return [
    element('header', {}, [
      button('×', told.close, { class: 'plain close', 'aria-label': t('close') }),
      element('h2', {}, [sheet === null ? t('particella', { label: basic.label }) : t('particellaOf', { label: basic.label, sheet })]),
      element('p', { class: 'place' }, [`${place} · ${basic.cadastral_reference}`]),
      element('p', { class: 'facts' }, [element('strong', {}, [`${numberOf(basic.area_m2, { maximumFractionDigits: 0 })} m²`]), ` · ${hasWord(basic.kind) ? t(basic.kind) : basic.kind}`]),
      element('div', { class: 'actions' }, [button(t('copy'), told.copy, { class: 'plain' }), button(t('print'), told.print, { class: 'plain' })]),
    ]),
    ...meta.sections_included.map((/** @type {string} */ section) => sectionOf(section, record[section], record, told)),
    neighboursOf(neighbours, told.parcel),
    element('section', { 'data-section': 'files' }, [element('h3', {}, [t('files', { comune: name })]), element('p', { class: 'quiet' }, [t('filesHelp')]), files]),
    element('section', { 'data-section': 'attributions' }, [
      element('h3', {}, [t('attributions')]),
      element('ul', { class: 'licenses' }, [...attributions.values()].map((license) => element('li', {}, [`${license.attribution} · `, link(license.url, license.license)]))),
    ]),
  ];
}

/**
 * Adds the neighbours, which may arrive after the record. The record keeps its opened panels. @param {any[]} neighbours nearest first @param {(fid:
 * number) => void} choose
 */
export function neighboursOf(neighbours, choose) {
  return element('section', { 'data-section': 'neighbours', hidden: neighbours.length === 0 }, [
    element('h3', {}, [t('neighbours')]),
    element('ul', { class: 'neighbours' }, neighbours.map(({ fid, label }) => element('li', {}, [button(label, () => choose(fid), { 'aria-label': t('parcel', { name: label }) })]))),
  ]);
}

/** @param {{ files: { source: string, file: string, vintage: string }[] }} passport */
function filesOf({ files }) {
  return element('div', { class: 'wide' }, [element('table', {}, [
    element('thead', {}, [element('tr', {}, [t('source'), t('file'), t('vintage')].map((heading) => element('th', { scope: 'col' }, [heading])))]),
    element('tbody', {}, files.map(({ source, file, vintage }) => element('tr', {}, [source, file, vintage].map((text) => element('td', {}, [breakable(text.replaceAll('_', '_\u200b'))]))))),
  ])]);
}

/** @param {import('./view.js').Comune} comune @param {{ close: () => void, zoom: () => void }} told */
export function tellComune(comune, told) {
  const { name, belfiore, istat_code: istat, parcels, coverage } = comune;
  const sections = Object.entries(coverage).filter(([, state]) => state !== 'not_applicable');
  return [
    element('header', {}, [
      button('×', told.close, { class: 'plain close', 'aria-label': t('close') }),
      element('h2', {}, [name ?? belfiore]),
      element('p', { class: 'place' }, [[belfiore, istat === null ? null : `ISTAT ${istat}`].filter(Boolean).join(' · ')]),
      ...(!hasParcels(comune) ? [element('p', { class: 'quiet' }, [t('noParcelsWhy')])] : [element('p', { class: 'facts' }, [element('strong', {}, [numberOf(parcels ?? 0)]), ` ${t('parcels')} · `, t('covered', { n: sections.filter(([, state]) => state === 'mapped' || state === 'partial').length, all: sections.length })]), button(t('zoomIn'), told.zoom)]),
    ]),
    ...(sections.length === 0 ? [] : [element('section', { 'data-section': 'coverage' }, [
      element('h3', {}, [t('coverage')]),
      element('table', { 'aria-label': t('coverage') }, [element('tbody', {}, sections.map(([section, state]) => element('tr', {}, [element('th', { scope: 'row' }, [titleOf(section)]), element('td', {}, [stateBadge(state)])])))]),
    ])]),
  ];
}

/**
 * @param {{ code: number, name: string, published_at: string, parcels: number }[]} regions @param {import('./view.js').Comune[]} comuni
 * @param {{ region: (code: number) => void, comune: (belfiore: string) => void }} told
 */
export function tellPublished(regions, comuni, told) {
  const parts = [element('header', {}, [
    element('h2', {}, [t('published')]),
    element('p', { class: 'quiet' }, [t(regions.length === 0 ? 'nothingPublished' : 'publishedWhat')]),
  ])];
  for (const { code, name, published_at: at, parcels } of regions) {
    const all = comuni.filter(({ region }) => region === code);
    const within = all.filter(hasParcels).sort((a, b) => (a.name ?? '').localeCompare(b.name ?? '', 'it'));
    const rows = within.map((comune) => {
      const share = shareCovered(comune);
      const bar = element('i', { 'aria-hidden': 'true' });
      bar.style.width = `${share * 100}%`;
      return element('tr', {}, [
        element('th', { scope: 'row' }, [button(comune.name ?? comune.belfiore, () => told.comune(comune.belfiore), { class: 'link' })]),
        element('td', { class: 'bar' }, [bar]), element('td', { class: 'number' }, [numberOf(share, { style: 'percent' })]),
      ]);
    });
    const table = element('table', { 'aria-label': name }, [element('tbody', {}, rows)]);
    parts.push(element('section', { 'data-region': String(code) }, [
      element('h3', {}, [button(name, () => told.region(code), { class: 'link' })]),
      element('p', { class: 'quiet' }, [[
        parcels === 0 ? t('addressesOnly') : `${numberOf(parcels)} ${t('parcels')}`,
        ...(within.length === 0 ? [] : [within.length < all.length ? t('comuniOf', { n: numberOf(within.length), all: numberOf(all.length) }) : `${numberOf(all.length)} ${t('comuni')}`]),
        t('publishedOn', { date: dateOf(at) }),
      ].join(' · ')]),
      ...(within.length === 0 ? [] : within.length <= 2 * LONG ? [table] : [element('details', { class: 'long' }, [element('summary', {}, [`${numberOf(within.length)} ${t('comuni')}`]), table])]),
    ]));
  }
  return parts;
}

/** @param {string} background @param {string} text @param {string} [kind] */
const legendRow = (background, text, kind = '') => {
  const swatch = element('i', { class: kind, 'aria-hidden': 'true' });
  if (background !== '') swatch.style.backgroundColor = background;
  return element('li', {}, [swatch, text]);
};

/** @param {import('./view.js').Class} range */
function rangeOf({ from, to }) {
  if (to === null || to === undefined) return `≥ ${numberOf(from ?? 0)}`;
  if (from === null || from === undefined) return `< ${numberOf(to)}`;
  return from < 0 ? t('fromTo', { from: numberOf(from), to: numberOf(to) }) : `${numberOf(from)}–${numberOf(to)}`;
}

/**
 * @param {import('./view.js').Layer | null} layer the drawn section @param {string | null} covered the section whose coverage of comuni is drawn; null: all
 *   sections
 * @param {readonly { word: any, light: string, dark: string }[]} shades @param {boolean} hasBlank whether there are comuni without parcels
 */
export function legendOf(layer, covered, shades, hasBlank) {
  if (layer !== null) {
    const isItalian = currentLanguage() === 'it';
    const told = (/** @type {string} */ text) => (isItalian ? panelOf(layer.name).italian?.legend?.[text] : undefined);
    const rows = layer.classes.map((each) => legendRow(each.color, told(each.label) ?? (isItalian && each.value === undefined && /[a-z]/i.test(each.label) ? rangeOf(each) : each.label)));
    if (layer.none !== null) rows.push(legendRow(layer.none.color, told(layer.none.label) ?? layer.none.label));
    rows.push(legendRow('', t('not_mapped'), 'hatched'));
    if (layer.not_applicable.length > 0) rows.push(legendRow(shade(GROUND), `${t('not_applicable')}: ${layer.not_applicable.map((kind) => t(kind)).join(', ')}`));
    const title = layer.value ?? layer.title;
    const unit = layer.unit === null ? null : told(layer.unit) ?? inLanguage(layer.unit);
    return [element('h2', {}, [[told(title) ?? title, unit].filter(Boolean).join(', ')]), element('ul', {}, rows)];
  }
  const rows = covered === null
    ? shades.map((each) => legendRow(shade(each), t(each.word)))
    : Object.entries(STATES).map(([state, colours]) => legendRow(shade(colours), hasWord(state) ? t(state) : state, state === 'not_mapped' ? 'hatched' : ''));
  if (hasBlank) rows.push(legendRow(shade(BLANK), t('noParcels')));
  return [element('h2', {}, [covered === null ? t('coverage') : `${t('coverage')}: ${titleOf(covered)}`]), element('ul', {}, rows)];
}
