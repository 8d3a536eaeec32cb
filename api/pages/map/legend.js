// @ts-check
/** Shows the legend of the map. At high zoom levels the legend has the classes of a section, and at low zoom levels the coverage by comune. */
import { button, element } from './elements.js';
import { state } from './state.js';
import { panelOf, titleOf, unitInLanguage } from './values.js';
import { BLANK, classesOf, drawnColour, GROUND, NOTHING, shade, STATES } from './view.js';
import { hasWord, isItalian, numberOf, t } from './words.js';

/** @param {string} background @param {string} text @param {string} [kind] */
const legendRow = (background, text, kind = '') => {
  const swatch = element('i', { class: kind, 'aria-hidden': 'true' });
  if (background !== '') swatch.style.backgroundColor = background;
  return element('li', {}, [swatch, text]);
};

/**
 * Makes a row of the legend a checkbox that hides and shows its class.
 * @param {HTMLElement} row
 * @param {number} index
 * @param {(index: number) => void} toggle
 */
function toggling(row, index, toggle) {
  for (const [name, value] of [['role', 'checkbox'], ['tabindex', '0'], ['aria-checked', String(!state.hidden.includes(index))]]) row.setAttribute(/** @type {string} */ (name), /** @type {string} */ (value));
  row.addEventListener('click', () => toggle(index));
  row.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    toggle(index);
  });
  return row;
}

/** @param {import('./view.js').Class} range */
function rangeOf({ from, to }) {
  if (to === null || to === undefined) return `≥ ${numberOf(from ?? 0)}`;
  if (from === null || from === undefined) return `< ${numberOf(to)}`;
  return from < 0 ? t('fromTo', { from: numberOf(from), to: numberOf(to) }) : `${numberOf(from)}–${numberOf(to)}`;
}

/** @param {import('./view.js').Layer} layer @param {string} text English text @returns {string} text in the language of the page */
export function legendTextOf(layer, text) {
  return (isItalian() ? panelOf(layer.section ?? layer.name).italian?.legend?.[text] : undefined) ?? text;
}

/**
 * Shows the classes of a layer. The swatches have the colours of the map.
 * @param {import('./view.js').Layer} layer
 * @param {{ toggle: (index: number) => void, breaks: (isFromView: boolean) => void }} actions
 */
export function legendOf(layer, actions) {
  const { unit, none, kind, not_applicable: others } = layer;
  const rows = classesOf(layer).map((each, index) => {
    const isRange = each.value === undefined && (each.label === '' || (isItalian() && /[a-z]/i.test(each.label) && legendTextOf(layer, each.label) === each.label));
    return toggling(legendRow(drawnColour(each.color), isRange ? rangeOf(each) : legendTextOf(layer, each.label)), index, actions.toggle);
  });
  if (none !== null) rows.push(legendRow(drawnColour(shade(NOTHING)), legendTextOf(layer, none.label)));
  rows.push(legendRow('', t('not_mapped'), 'hatched'));
  if (others.length > 0) rows.push(legendRow(shade(GROUND), `${t('not_applicable')}: ${others.map((each) => t(each)).join(', ')}`));
  const isFromView = state.breaks !== null;
  return [
    element('h2', {}, [[legendTextOf(layer, layer.value ?? layer.title), unit === null ? null : unitInLanguage(unit, panelOf(layer.section ?? layer.name))].filter(Boolean).join(', ')]),
    element('ul', {}, rows),
    ...(kind === 'number' ? [button(t(isFromView ? 'usualClasses' : 'classesFromView'), () => actions.breaks(!isFromView), { class: 'link breaks' })] : []),
  ];
}

/**
 * Shows the coverage of comuni.
 * @param {string | null} section null: all sections
 * @param {readonly { word: any, light: string, dark: string }[]} shades
 * @param {boolean} hasBlank true if there are comuni without parcels
 */
export function coverageLegend(section, shades, hasBlank) {
  const rows = section === null
    ? shades.map((each) => legendRow(drawnColour(shade(each)), t(each.word)))
    : Object.entries(STATES).map(([state, colours]) => legendRow(drawnColour(shade(colours)), hasWord(state) ? t(state) : state, state === 'not_mapped' ? 'hatched' : ''));
  if (hasBlank) rows.push(legendRow(shade(BLANK), t('noParcels')));
  return [element('h2', {}, [section === null ? t('coverage') : `${t('coverage')}: ${titleOf(section)}`]), element('ul', {}, rows)];
}
