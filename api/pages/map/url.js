// @ts-check
/**
 * Reads and writes the URL of the page, with place, layer, selection and filters, such as `#map=17.5/41.5603/14.6627&layer=SECTION&parcel=1400000000`. A filter
 * is `filter=LAYER~FROM~TO` with numbers, where an empty bound is open, or `filter=LAYER!CLASS!CLASS` with the classes that are left out.
 */
import { state } from './state.js';
import { placeOf } from './view.js';

/** @typedef {import('./state.js').Filter} Filter */

/** Returns the decoded text, or the text itself if it is not encoded correctly. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} text @returns {Filter} */
function filterIn(text) {
  const [layer = '', ...left] = text.split('!').map(decoded);
  const [name = '', from = '', to = ''] = layer.split('~');
  const bound = (/** @type {string} */ written) => (written === '' || !Number.isFinite(Number(written)) ? null : Number(written));
  return { layer: name, from: bound(from), to: bound(to), left };
}

/** @param {Filter} filter */
function filterText({ layer, from, to, left }) {
  const bounds = from === null && to === null ? '' : `~${from ?? ''}~${to ?? ''}`;
  return encodeURIComponent([`${layer}${bounds}`, ...left.map((each) => encodeURIComponent(each).replaceAll('!', '%21'))].join('!'));
}

export function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const [zoom, lat, lng] = (words.get('map') ?? '').split('/').map(Number);
  return {
    place: [zoom, lat, lng].every(Number.isFinite) && words.has('map') ? { zoom: Number(zoom), lat: Number(lat), lng: Number(lng) } : null,
    layer: words.get('layer') ?? 'coverage', parcel: words.get('parcel'), comune: words.get('comune'), filters: words.getAll('filter').map(filterIn),
  };
}

/** @param {boolean} isStep true: the back button returns to the earlier state */
export function writeAddress(isStep) {
  const place = placeOf();
  const parcel = state.asked ?? state.parcel;
  const words = [
    ...(place === null ? [] : [`map=${place.zoom.toFixed(2)}/${place.lat.toFixed(6)}/${place.lng.toFixed(6)}`]), ...(state.layer === 'coverage' ? [] : [`layer=${state.layer}`]),
    ...(parcel === null ? [] : [`parcel=${parcel}`]), ...(state.comune === null ? [] : [`comune=${state.comune}`]),
    ...state.filters.map((filter) => `filter=${filterText(filter)}`),
  ];
  const address = `${location.pathname}#${words.join('&')}`;
  if (isStep) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}
