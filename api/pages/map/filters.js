// @ts-check
/** Filters the drawn parcels by area and by the values of layers. */
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

/** @param {Filter} filter */
function boundsOf(filter) {
  return [
    /** @type {const} */ (['from', t('from')]), /** @type {const} */ (['to', t('to')]),
  ].map(([bound, name]) => {
    const input = /** @type {HTMLInputElement} */ (element('input', { type: 'number', step: 'any', name: bound, value: String(filter[bound] ?? '') }));
    input.addEventListener('input', () => {
      filterChanged(filter.layer, { [bound]: input.value === '' ? null : input.valueAsNumber });
      view.applyFilters();
    });
    return element('label', {}, [name, ' ', input]);
  });
}

/** @param {view.Layer} layer @param {Filter} filter */
function classChoices(layer, filter) {
  const classes = layer.classes.map(({ value, label }) => [String(value), label]);
  return [...classes, ...(layer.none === null ? [] : [[view.NONE, layer.none.label]])].map(([value = '', label = '']) => {
    const input = /** @type {HTMLInputElement} */ (element('input', { type: 'checkbox', name: filter.layer, value, checked: !filter.left.includes(value) }));
    input.addEventListener('change', () => {
      filterChanged(filter.layer, { left: input.checked ? filter.left.filter((each) => each !== value) : [...filter.left, value] });
      view.applyFilters();
    });
    return element('label', {}, [input, ' ', legendTextOf(layer, label)]);
  });
}

/** Shows the filters, and the list for adding a filter. */
export function showFilters() {
  const layers = view.filterLayers();
  const chosen = layers.filter(({ name }) => state.filters.some((filter) => filter.layer === name));
  const rows = state.filters.flatMap((filter) => layers.filter(({ name }) => name === filter.layer).map((layer) => {
    const title = filterTitle(layer);
    const remove = button('×', () => {
      filterRemoved(filter.layer);
      showFilters();
      view.applyFilters();
    }, { class: 'plain', 'aria-label': t('removeFilter', { name: title }) });
    return element('fieldset', { 'data-filter': filter.layer, class: layer.kind === 'category' ? 'classes' : 'range' }, [
      element('legend', {}, [title, remove]), ...(layer.kind === 'category' ? classChoices(layer, filter) : boundsOf(filter)),
    ]);
  }));
  const select = /** @type {HTMLSelectElement} */ (element('select', { 'aria-label': t('addFilter') }, [
    element('option', { value: '' }, [t('addFilter')]), ...layers.filter((layer) => !chosen.includes(layer)).map((layer) => element('option', { value: layer.name }, [filterTitle(layer)])),
  ]));
  select.addEventListener('change', () => {
    filterAdded(select.value);
    showFilters();
    view.applyFilters();
  });
  $('conditions').replaceChildren(...rows, select);
}
