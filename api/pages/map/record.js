// @ts-check
/** Shows the record of a parcel: for each section, the values with their units, the sources, and the rules on request. */
import { button, element, link } from './elements.js';
import { reasonsOf } from './explanation.js';
import { ELSEWHERE } from './sections.js';
import { absenceOf, breakable, flat, halfYear, headingOf, inWords, panelOf, plainWords, sectionsOf, sourceName, stateBadge, textOf, titleOf, valueOf, wordsOf } from './values.js';
import { hasWord, isItalian, t } from './words.js';

/** @typedef {import('./values.js').Panel} Panel */

/** Maximum number of rows in a list that is open at first. */
const LONG = 8;

/**
 * Returns a table row with the rule of a value, or no row if the field has no rule. The row is visible only while the section's explanation is open.
 * @param {Panel} panel
 * @param {string} path
 * @param {string} [heading] heading of a list's column
 */
function ruleOf(panel, path, heading) {
  const known = panel.fields[path];
  if (known === undefined) return [];
  const text = inWords(known, panel.italian?.fields?.[known]);
  return [element('tr', { class: 'rule' }, [element('td', { colspan: '3' }, heading === undefined ? [text] : [`${heading}: `, text])])];
}

/**
 * Returns the table rows of an object. Rows of a nested object begin with the name of that object. An object of at least four numbers is drawn as bars.
 * @param {any} block
 * @param {Panel} panel
 */
function rowsOf(block, panel, path = '', prefix = '') {
  const rank = (/** @type {string} */ field) => ((panel.first?.indexOf(field) ?? -1) + 1 || Infinity);
  const order = (/** @type {[string, any]} */ [a], /** @type {[string, any]} */ [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b));
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
      element('tr', { 'data-field': full }, [element('th', { scope: 'row' }, [name]), element('td', {}, [absenceOf(block, field, value, panel) ?? valueOf(field, value, panel)])]),
      ...ruleOf(panel, full),
    ];
  });
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

/** @param {any[]} rows @param {Record<string, string>} columns headings by column @param {Panel} panel @param {string} caption */
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

/** Replaces the placeholders of a sentence by the values of a row. @param {string} note @param {any} row */
const noteOf = (note, row) => note.replace(/\{(\w+)\}/g, (_, field) => halfYear(String(row[field] ?? '')));

/** @param {string} name @param {any} block @param {any} record @param {Actions} actions */
function sectionOf(name, block, record, actions) {
  const panel = panelOf(name);
  const { list } = panel;
  const { meta } = record;
  const title = titleOf(name);
  const coverage = meta.coverage[name];
  const rows = list?.field === undefined ? block : block?.[list.field];
  const isEmpty = block === null || (Array.isArray(block) && block.length === 0);
  const cited = meta.licenses.filter((/** @type {any} */ license) => license.section === name);
  const { reasons, ask } = reasonsOf(name, record.fid, cited, actions);
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
    if (list?.note !== undefined && rows?.length > 0) parts.push(element('p', { class: 'quiet' }, [noteOf(isItalian() ? panel.italian?.note ?? list.note : list.note, rows[0])]));
    if (Array.isArray(rows) && rows.length > 0) {
      const columns = list?.columns ?? Object.fromEntries(flat(rows[0]).map(([field]) => [field, wordsOf(field, panel)]));
      const caption = isItalian() ? panel.italian?.caption ?? list?.caption : list?.caption;
      parts.push(tableOf(list?.latestFirst ? [...rows].reverse() : rows, columns, panel, caption ?? title));
      const root = list?.field === undefined ? '' : `${list.field}.`;
      parts.push(element('table', { class: 'rules' }, [element('tbody', {}, Object.keys(columns).flatMap((column) => ruleOf(panel, root + column, headingOf(column, columns, panel))))]));
    }
  }
  const named = cited.length > 0 ? cited : block?.source === undefined || block.source === null ? [] : [{ source: block.source, reference_period: null }];
  const sources = named.flatMap(({ source, reference_period: period }, /** @type {number} */ index) => [...(index === 0 ? [] : ['; ']), sourceName(source), ...(period === null ? [] : [` (${period})`])]);
  parts.push(element('p', { class: 'source' }, [`${t('source')}: `, ...(sources.length > 0 ? sources : [t('noSource')])]));
  parts.push(reasons);
  const section = element('section', { 'data-section': name }, parts);
  return section;
}

/** Shows the values that each section selects for the summary. A missing value is shown only if its reason is known. @param {any} record */
function summaryOf(record) {
  const rows = record.meta.sections_included.flatMap((/** @type {string} */ section) => {
    const panel = panelOf(section);
    return (panel.summary ?? []).flatMap((path) => {
      const steps = path.split('.');
      const field = /** @type {string} */ (steps.at(-1));
      const value = steps.reduce((/** @type {any} */ inside, step) => inside?.[step] ?? null, record[section]);
      const shown = value === null ? absenceOf(record[section] ?? {}, field, value, panel) : valueOf(field, value, panel);
      return shown === null ? [] : [element('tr', { 'data-summary': `${section}.${path}` }, [element('th', { scope: 'row' }, [wordsOf(field, panel)]), element('td', {}, [shown])])];
    });
  });
  return element('section', { 'data-section': 'summary' }, [element('table', { 'aria-label': t('summary') }, [element('tbody', {}, rows)])]);
}

/**
 * Functions that the buttons of a record call.
 * @typedef {{ parcel: (fid: number) => void, close: () => void, print: () => void, copy: () => void,
 *   save: (format: 'geojson' | 'csv') => void, compare: () => void, files: (code: string) => Promise<any>,
 *   explain: ((section: string) => Promise<any>) | null }} Actions
 */

/**
 * @param {any} record response of /parcels/{id}
 * @param {any[]} neighbours `data` of /parcels/{id}/neighbours, longest shared border first
 * @param {Actions} actions
 * @returns {HTMLElement[]}
 */
export function parcelPanel(record, neighbours, actions) {
  const { basic, municipality, meta } = record;
  const { sheet } = basic.cadastral;
  const name = municipality.name ?? municipality.code;
  const place = [name, municipality.province, municipality.region].filter((part) => part !== null).join(', ');
  const attributions = new Map(meta.licenses.map((license) => [license.attribution, license]));
  const files = element('div');
  const ask = button(t('loadFiles'), () => {
    ask.setAttribute('disabled', '');
    actions.files(municipality.code).then((found) => files.replaceChildren(filesOf(found)), () => ask.removeAttribute('disabled'));
  });
  files.append(ask);
  return [
    element('header', {}, [
      button('×', actions.close, { class: 'plain close', 'aria-label': t('close') }),
      element('h2', {}, [sheet === null ? t('particella', { label: basic.label }) : t('particellaOf', { label: basic.label, sheet })]),
      element('p', { class: 'place' }, [`${place} · ${basic.cadastral_reference}`]),
      element('div', { class: 'actions' }, [button(t('copy'), actions.copy, { class: 'plain' }), button(t('print'), actions.print, { class: 'plain' }),
        button('GeoJSON', () => actions.save('geojson'), { class: 'plain', 'aria-label': t('saveAs', { format: 'GeoJSON' }) }), button('CSV', () => actions.save('csv'), { class: 'plain', 'aria-label': t('saveAs', { format: 'CSV' }) }),
        button(t('compare'), actions.compare, { class: 'plain' })]),
    ]),
    summaryOf(record),
    ...sectionsOf(record).map((section) => sectionOf(section, record[section], record, actions)),
    neighboursOf(neighbours, actions.parcel),
    element('section', { 'data-section': 'files' }, [element('h3', {}, [t('files', { comune: name })]), element('p', { class: 'quiet' }, [t('filesHelp')]), files]),
    element('section', { 'data-section': 'attributions' }, [
      element('h3', {}, [t('attributions')]),
      element('ul', { class: 'licenses' }, [...attributions.values()].map((license) => element('li', {}, [`${license.attribution} · `, link(license.url, license.license)]))),
    ]),
  ];
}

/**
 * Returns the list of neighbours as a separate element, because the neighbours may arrive after the record. When this element is replaced, the open sections of
 * the record remain open.
 * @param {any[]} neighbours longest shared border first
 * @param {(fid: number) => void} choose
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
