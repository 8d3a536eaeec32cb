// @ts-check
/** Shows the list of layers in foldable groups, and the legend of the selected layer. */
import { $, element } from './elements.js';
import { signedIn } from './interface.js';
import { coverageLegend, legendOf, legendTextOf } from './legend.js';
import { breaksChosen, classToggled, groupFolded, state } from './state.js';
import { titleOf } from './values.js';
import * as view from './view.js';
import { t } from './words.js';

/** Entries of the list that come before the layers of sections. */
const GENERAL = /** @type {const} */ ({ coverage: 'coverage', parcels: 'parcelsOnly' });
const GROUPS = /** @type {const} */ (['hazards', 'value', 'people', 'land', 'places']);

const sectionLayers = () => state.layers.filter(({ section }) => section !== null);

export const layerNames = () => [...Object.keys(GENERAL), ...sectionLayers().map(({ name }) => name)];

/** Returns the title of a layer. If a section has several layers, the title names the drawn value instead of the section. @param {view.Layer} layer */
function layerTitle(layer) {
  const isOnly = sectionLayers().filter(({ section }) => section === layer.section).length === 1;
  return isOnly ? titleOf(layer.name) : legendTextOf(layer, layer.value ?? layer.title);
}

/** @param {(name: string) => void} choose */
export function showLayers(choose) {
  const choice = (/** @type {string} */ name, /** @type {string} */ title) => {
    const input = element('input', { type: 'radio', name: 'layer', value: name, checked: name === state.layer });
    input.addEventListener('change', () => choose(name));
    return element('label', {}, [input, element('span', {}, [title])]);
  };
  const groups = GROUPS.map((group) => {
    const layers = sectionLayers().filter((layer) => layer.group === group);
    const folding = element('details', { 'data-group': group, open: !state.folded.includes(group), hidden: layers.length === 0 }, [
      element('summary', {}, [t(`group_${group}`)]), ...layers.map((layer) => choice(layer.name, layerTitle(layer))),
    ]);
    folding.addEventListener('toggle', () => groupFolded(group, !folding.hasAttribute('open')));
    return folding;
  });
  $('choices').replaceChildren(...Object.entries(GENERAL).map(([name, word]) => choice(name, t(word))), ...groups);
}

/** Shows the legend for the current zoom level. At high zoom levels the legend has the classes of a section, and at low zoom levels the coverage by comune. */
export function showLegend() {
  const layer = view.sectionDrawn();
  const isClose = view.draws('parcels');
  const hint = !isClose && signedIn() && state.layer !== GENERAL.coverage ? [element('p', { class: 'quiet' }, [t('closer')])] : [];
  const hasBlank = [...state.comuni.values()].some((comune) => !view.hasParcels(comune));
  const legend = layer !== null && view.draws(layer.name) ? legendOf(layer, { toggle, breaks: (isFromView) => chooseBreaks(layer, isFromView) })
    : state.layer === 'parcels' ? [] : coverageLegend(layer?.section ?? null, view.COVERED, hasBlank);
  $('legend').replaceChildren(...legend, ...hint);
  $('legend').hidden = $('legend').childElementCount === 0 || (isClose && layer === null);
}

/** @param {number} index */
function toggle(index) {
  classToggled(index);
  view.redraw();
  showLegend();
  /** @type {HTMLElement | undefined} */ ($('legend').querySelectorAll('li')[index])?.focus();
}

/** @param {view.Layer} layer @param {boolean} isFromView */
function chooseBreaks(layer, isFromView) {
  breaksChosen(isFromView ? view.breaksInView(layer) : null);
  view.redraw();
  showLegend();
}
