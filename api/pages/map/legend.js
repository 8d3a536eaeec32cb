// @ts-check
/** Legend of the map: classes of a section at large scales, coverage of comuni at small scales. */
import { element } from './elements.js';
import { panelOf, titleOf, unitInLanguage } from './values.js';
import { BLANK, GROUND, shade, STATES } from './view.js';
import { hasWord, isItalian, numberOf, t } from './words.js';

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
    const panel = panelOf(layer.name);
    const told = (/** @type {string} */ text) => (isItalian() ? panel.italian?.legend?.[text] : undefined);
    const rows = layer.classes.map((each) => legendRow(each.color, told(each.label) ?? (isItalian() && each.value === undefined && /[a-z]/i.test(each.label) ? rangeOf(each) : each.label)));
    if (layer.none !== null) rows.push(legendRow(layer.none.color, told(layer.none.label) ?? layer.none.label));
    rows.push(legendRow('', t('not_mapped'), 'hatched'));
    if (layer.not_applicable.length > 0) rows.push(legendRow(shade(GROUND), `${t('not_applicable')}: ${layer.not_applicable.map((kind) => t(kind)).join(', ')}`));
    const title = layer.value ?? layer.title;
    const unit = layer.unit === null ? null : unitInLanguage(layer.unit, panel);
    return [element('h2', {}, [[told(title) ?? title, unit].filter(Boolean).join(', ')]), element('ul', {}, rows)];
  }
  const rows = covered === null
    ? shades.map((each) => legendRow(shade(each), t(each.word)))
    : Object.entries(STATES).map(([state, colours]) => legendRow(shade(colours), hasWord(state) ? t(state) : state, state === 'not_mapped' ? 'hatched' : ''));
  if (hasBlank) rows.push(legendRow(shade(BLANK), t('noParcels')));
  return [element('h2', {}, [covered === null ? t('coverage') : `${t('coverage')}: ${titleOf(covered)}`]), element('ul', {}, rows)];
}
