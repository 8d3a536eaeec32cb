// @ts-check
/** Lets the user filter the drawn parcels by area and by the values of layers. */
import { $, button, element } from './elements.js';
import { legendTextOf } from './legend.js';
import { filterAdded, filterChanged, filterRemoved, state } from './state.js';
import { panelOf, titleOf, unitInLanguage } from './values.js';
import * as view from './view.js';
import { t } from './words.js';

/** @typedef {import('./state.js').Filter} Filter */

/** Returns the title of a filter, with the unit of its numbers. @param {view.Layer} layer */
function filterTitle(layer) {
  if (layer.section === null) return `${t('area')}, m²`;
  const value = layer.value === null ? titleOf(layer.name) : legendTextOf(layer, layer.value);
  return layer.unit === null ? value : `${value}, ${unitInLanguage(layer.unit, panelOf(layer.section))}`;
}

/** @param {Filter} filter @param {() => void} changed */
function boundsOf(filter, changed) {
  return [
    /** @type {const} */ (['from', t('from')]), /** @type {const} */ (['to', t('to')]),
  ].map(([bound, name]) => {
    const input = /** @type {HTMLInputElement} */ (element('input', { type: 'number', step: 'any', name: bound, value: String(filter[bound] ?? '') }));
    input.addEventListener('input', () => {
      filterChanged(filter.layer, { [bound]: input.value === '' ? null : input.valueAsNumber });
      changed();
    });
    return element('label', {}, [name, ' ', input]);
  });
}

/** @param {view.Layer} layer @param {Filter} filter @param {() => void} changed */
function classChoices(layer, filter, changed) {
  const classes = layer.classes.map(({ value, label }) => [String(value), label]);
  return [...classes, ...(layer.none === null ? [] : [[view.NONE, layer.none.label]])].map(([value = '', label = '']) => {
    const input = /** @type {HTMLInputElement} */ (element('input', { type: 'checkbox', name: filter.layer, value, checked: !filter.left.includes(value) }));
    input.addEventListener('change', () => {
      filterChanged(filter.layer, { left: input.checked ? filter.left.filter((each) => each !== value) : [...filter.left, value] });
      changed();
    });
    return element('label', {}, [input, ' ', legendTextOf(layer, label)]);
  });
}

/** Shows the filters, and the menu that adds a filter. @param {() => void} changed called after each change by the user */
export function showFilters(changed) {
  const layers = view.filterLayers();
  const chosen = layers.filter(({ name }) => state.filters.some((filter) => filter.layer === name));
  const rows = state.filters.flatMap((filter) => layers.filter(({ name }) => name === filter.layer).map((layer) => {
    const title = filterTitle(layer);
    const remove = button('×', () => {
      filterRemoved(filter.layer);
      showFilters(changed);
      changed();
    }, { class: 'plain', 'aria-label': t('removeFilter', { name: title }) });
    return element('fieldset', { 'data-filter': filter.layer, class: layer.kind === 'category' ? 'classes' : 'range' }, [
      element('legend', {}, [title, remove]), ...(layer.kind === 'category' ? classChoices(layer, filter, changed) : boundsOf(filter, changed)),
    ]);
  }));
  const select = /** @type {HTMLSelectElement} */ (element('select', { 'aria-label': t('addFilter') }, [
    element('option', { value: '' }, [t('addFilter')]), ...layers.filter((layer) => !chosen.includes(layer)).map((layer) => element('option', { value: layer.name }, [filterTitle(layer)])),
  ]));
  select.addEventListener('change', () => {
    filterAdded(select.value);
    showFilters(changed);
    changed();
  });
  $('conditions').replaceChildren(...rows, select);
}
