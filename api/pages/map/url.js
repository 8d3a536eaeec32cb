// @ts-check
/** Reads and writes the URL of the page, with place, layer and selection, such as `#map=17.5/41.5603/14.6627&layer=SECTION&parcel=1400000000`. */
import { state } from './state.js';
import { placeOf } from './view.js';

export function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const [zoom, lat, lng] = (words.get('map') ?? '').split('/').map(Number);
  return {
    place: [zoom, lat, lng].every(Number.isFinite) && words.has('map') ? { zoom: Number(zoom), lat: Number(lat), lng: Number(lng) } : null,
    layer: words.get('layer') ?? 'coverage', parcel: words.get('parcel'), comune: words.get('comune'),
  };
}

/** @param {boolean} isStep true: the back button returns to the earlier state */
export function writeAddress(isStep) {
  const place = placeOf();
  const parcel = state.asked ?? state.parcel;
  const words = [
    ...(place === null ? [] : [`map=${place.zoom.toFixed(2)}/${place.lat.toFixed(6)}/${place.lng.toFixed(6)}`]), ...(state.layer === 'coverage' ? [] : [`layer=${state.layer}`]),
    ...(parcel === null ? [] : [`parcel=${parcel}`]), ...(state.comune === null ? [] : [`comune=${state.comune}`]),
  ];
  const address = `${location.pathname}#${words.join('&')}`;
  if (isStep) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}
