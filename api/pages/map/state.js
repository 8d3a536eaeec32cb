// @ts-check
/** State of the page, in one object. Other files read it. Only the transitions below change it. */

/**
 * @typedef {'en' | 'it'} Language
 * @typedef {import('./view.js').Layer} Layer
 * @typedef {import('./view.js').Comune} Comune
 * @typedef {{ code: number, name: string, published_at: string, parcels: number, bbox: [number, number, number, number] | null }} Region
 * @typedef {{ kind: 'street' | 'comune' | 'parcel' | 'address', name: string, what: string, choose: () => void }} Suggestion
 */

const COVERAGE = 'coverage';
const darkness = matchMedia('(prefers-color-scheme: dark)');

export const state = {
  /** @type {Language} */
  language: languageOf(localStorage.getItem('language') ?? navigator.language),
  /** Kept only for this tab. Empty: none. */
  token: sessionStorage.getItem('token') ?? '',
  /** True after signing in with the link of `mappale serve`. The browser then has a cookie that scripts cannot read. */
  session: false,
  /** Whether the server explains values to this browser. */
  explains: false,
  /** Progress of reading the published data. Comuni arrive region by region. @type {'reading' | 'read' | 'failed'} */
  reading: 'reading',
  /** @type {Region[]} */
  regions: [],
  /** @type {Layer[]} */
  layers: [],
  /** @type {string[]} */
  attribution: [],
  /** @type {Map<string, Comune>} */
  comuni: new Map(),
  /** Whether the page has read its URL, and may change it. */
  isFollowing: false,
  /** The selection, which is also in the URL. */
  layer: COVERAGE,
  /** @type {number | null} */
  parcel: null,
  /** @type {string | null} */
  comune: null,
  /** Number of the user's newest request, and whether its answer is missing. */
  request: 0,
  isAsking: false,
  /** Builds the content of the panel, also after a change of language. @type {() => HTMLElement[]} */
  panel: () => [],
  search: {
    /** @type {Suggestion[]} */
    found: [],
    active: -1,
    /** Whether the message explains that a comune is not loaded. */
    isExplained: false,
  },
  view: {
    /** The drawing library; null: this browser cannot draw. @type {import('maplibre-gl').Map | null} */
    map: null,
    isDark: darkness.matches,
    /** While printing, browsers may report the light scheme, and the map is drawn in light colours. */
    isPaper: false,
    /** Whether tiles of parcels are drawn, which need a token. */
    isParcels: false,
    /** Whether the library waits for tiles. */
    isLoading: false,
    opacity: 0.75,
    /** @type {GeoJSON.Feature | null} */
    chosen: null,
    /** @type {[number, number] | null} */
    mark: null,
    /** Numbers of the parcels in view. @type {any} */
    labels: { type: 'FeatureCollection', features: [] },
  },
};

/** @param {string} name language of the browser @returns {Language} */
function languageOf(name) {
  return name.startsWith('it') ? 'it' : 'en';
}

// --- Language and signing in ----------------------------------------------------------------------------------------------

export function languageChanged() {
  state.language = state.language === 'it' ? 'en' : 'it';
  localStorage.setItem('language', state.language);
}

/** @param {string} token empty: signed out */
export function tokenChanged(token) {
  state.token = token;
  if (token === '') sessionStorage.removeItem('token');
  else sessionStorage.setItem('token', token);
}

/** @param {{ signed_in: boolean, explains: boolean }} session */
export function sessionFound({ signed_in: session, explains }) {
  Object.assign(state, { session, explains });
}

// --- Published data -------------------------------------------------------------------------------------------------------

/** @param {{ regions: Region[], layers: Layer[], attribution: string[] }} overview */
export function overviewRead({ regions, layers, attribution }) {
  Object.assign(state, { regions, layers, attribution });
}

/** @param {Comune[]} comuni */
export function comuniRead(comuni) {
  for (const comune of comuni) state.comuni.set(comune.belfiore, comune);
}

/** @param {'read' | 'failed'} end */
export function readingEnded(end) {
  state.reading = end;
}

// --- Requests -------------------------------------------------------------------------------------------------------------

/** Begins a request, which replaces the earlier one. @returns {() => boolean} whether the request is still the newest */
export function requestBegun() {
  state.request += 1;
  state.isAsking = true;
  const mine = state.request;
  return () => mine === state.request;
}

export function requestEnded() {
  state.isAsking = false;
}

/** Drops the answer of a request that is under way, because the user chose something else. */
function requestDropped() {
  state.request += 1;
  state.isAsking = false;
}

// --- Selection ------------------------------------------------------------------------------------------------------------

export function addressRead() {
  state.isFollowing = true;
}

/** @param {string} layer */
export function layerChosen(layer) {
  state.layer = layer;
}

/** @param {number} fid @param {GeoJSON.Geometry} geometry */
export function parcelChosen(fid, geometry) {
  Object.assign(state, { parcel: fid, comune: null });
  state.view.chosen = { type: 'Feature', properties: {}, geometry };
}

/** @param {Comune} comune */
export function comuneChosen({ belfiore, outline }) {
  requestDropped();
  Object.assign(state, { parcel: null, comune: belfiore });
  state.view.chosen = outline === null ? null : { type: 'Feature', properties: {}, geometry: outline };
  state.view.mark = null;
}

export function selectionCleared() {
  requestDropped();
  Object.assign(state, { parcel: null, comune: null });
  Object.assign(state.view, { chosen: null, mark: null });
}

/** @param {[number, number]} place longitude and latitude */
export function placeMarked(place) {
  state.view.mark = place;
}

/** @param {() => HTMLElement[]} panel */
export function panelTold(panel) {
  state.panel = panel;
}

// --- Search ---------------------------------------------------------------------------------------------------------------

/** @param {Suggestion[]} found */
export function suggestionsFound(found) {
  Object.assign(state.search, { found, active: -1 });
}

/** @param {number} index -1: none */
export function suggestionActivated(index) {
  state.search.active = index;
}

/** @param {boolean} isExplained */
export function absenceExplained(isExplained) {
  state.search.isExplained = isExplained;
}

// --- Drawing --------------------------------------------------------------------------------------------------------------

/** @param {import('maplibre-gl').Map} map */
export function mapOpened(map) {
  state.view.map = map;
}

/** The browser changed its colour scheme. @returns {boolean} whether the scheme of the page changed */
export function schemeRead() {
  if (state.view.isPaper) return false;
  state.view.isDark = darkness.matches;
  return true;
}

/** @param {boolean} isPaper */
export function paperChanged(isPaper) {
  state.view.isPaper = isPaper;
}

/** Shows or hides the tiles of parcels, which need a token. @param {boolean} isParcels */
export function parcelsShown(isParcels) {
  state.view.isParcels = isParcels;
}

/** @param {boolean} isLoading */
export function tilesAwaited(isLoading) {
  state.view.isLoading = isLoading;
}

/** @param {number} opacity opacity of the layers on land, 0–1 */
export function opacityChanged(opacity) {
  state.view.opacity = opacity;
}

/** @param {any} labels */
export function labelsPlaced(labels) {
  state.view.labels = labels;
}

/** Calls a listener when the browser changes its colour scheme. @param {() => void} listener */
export const onScheme = (listener) => darkness.addEventListener('change', listener);
