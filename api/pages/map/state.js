// @ts-check
/** State of the page, in one object. Other files may read the state, but only the functions of this file change it. */

/**
 * @typedef {'en' | 'it'} Language
 * @typedef {import('./view.js').Layer} Layer
 * @typedef {import('./view.js').Comune} Comune
 * @typedef {{ code: number, name: string, published_at: string, parcels: number, bbox: [number, number, number, number] | null }} Region
 * @typedef {{ layer: string, from: number | null, to: number | null, left: readonly string[] }} Filter range of a number, or the excluded classes
 * @typedef {{ kind: 'street' | 'comune' | 'parcel' | 'address', name: string, text?: string, what: string, choose: () => void }} Suggestion
 *   `text`: content of the search field after the choice, the same in both languages; by default the name
 */

const COVERAGE = 'coverage';
const darkness = matchMedia('(prefers-color-scheme: dark)');

export const state = {
  /** @type {Language} */
  language: languageOf(localStorage.getItem('language') ?? navigator.language),
  /** Token of this tab. Empty: the user has entered no token. */
  token: sessionStorage.getItem('token') ?? '',
  /** True after signing in with the link of `mappale serve`. The browser then has a cookie that scripts cannot read. */
  session: false,
  /** True if this browser may request explanations of values. */
  explains: false,
  /** Progress of loading the published data. Comuni are loaded region by region. @type {'reading' | 'read' | 'failed'} */
  reading: 'reading',
  /** @type {Region[]} */
  regions: [],
  /** @type {Layer[]} */
  layers: [],
  /** @type {string[]} */
  attribution: [],
  /** Base map that the operator configured. Null: none. @type {{ tiles: string, attribution: string, maxzoom: number } | null} */
  baseMap: null,
  /** @type {Map<string, Comune>} */
  comuni: new Map(),
  /** True if the page has read the URL and may change it. */
  isFollowing: false,
  /** Name of the selected layer, which is also in the URL. */
  layer: COVERAGE,
  /** Lower limits of classes that were computed from the parcels in view. Null: the classes of the section are used. @type {number[] | null} */
  breaks: null,
  /** Indexes of the classes that are not drawn. @type {readonly number[]} */
  hidden: [],
  /** Filters that a parcel must meet to be drawn, which are also in the URL. @type {readonly Filter[]} */
  filters: [],
  /** Folded groups of the list of layers. @type {readonly string[]} */
  folded: [],
  /** @type {number | null} */
  parcel: null,
  /** @type {string | null} */
  comune: null,
  /** Sequence number of the user's last request. */
  request: 0,
  /** True while the user's last request is running. */
  isAsking: false,
  /** Parcel in the URL that the running request loads. Null: no request is running, or the URL does not name the parcel yet. @type {number | string | null} */
  asked: null,
  /** Builds the content of the panel. This function is called again after a change of language. @type {() => HTMLElement[]} */
  panel: () => [],
  /** Record of the first parcel of a comparison, while the user selects the second parcel. @type {any} */
  compared: null,
  search: {
    /** @type {Suggestion[]} */
    found: [],
    active: -1,
    /** True if the message explains that a comune is not loaded. */
    isExplained: false,
  },
  view: {
    /** Map of the library MapLibre GL. Null if this browser has no WebGL. @type {import('maplibre-gl').Map | null} */
    map: null,
    isDark: darkness.matches,
    /** True while the page is printed. A printed map has light colours. */
    isPaper: false,
    /** True if tiles of parcels are drawn, which need a token. */
    isParcels: false,
    /** True while the map library waits for tiles. */
    isLoading: false,
    /** True if a configured base map is drawn. The choice is kept in the browser. */
    isBase: localStorage.getItem('base') !== 'off',
    opacity: 0.75,
    /** @type {GeoJSON.Feature | null} */
    chosen: null,
    /** @type {[number, number] | null} */
    mark: null,
    /** Fids of the parcels in view that meet all filters, in ascending order. Null if no filter is set. @type {readonly number[] | null} */
    passing: null,
    /** Labels (cadastral numbers) of the parcels in view. @type {any} */
    labels: { type: 'FeatureCollection', features: [] },
    /** Names of the streets in view. @type {any} */
    streets: { type: 'FeatureCollection', features: [] },
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

/** @param {{ regions: Region[], layers: Layer[], attribution: string[], base_map: typeof state.baseMap }} overview */
export function overviewRead({ regions, layers, attribution, base_map: baseMap }) {
  Object.assign(state, { regions, layers, attribution, baseMap });
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

/**
 * Begins a request, whose response replaces the response to any earlier request.
 * @param {number | string | null} parcel parcel in the URL that the request loads; null: the URL names no parcel, or a different parcel
 * @returns {() => boolean} true if the request is still the newest
 */
export function requestBegun(parcel) {
  state.request += 1;
  Object.assign(state, { isAsking: true, asked: parcel });
  const mine = state.request;
  return () => mine === state.request;
}

export function requestEnded() {
  Object.assign(state, { isAsking: false, asked: null });
}

/** Ignores the response to a running request, because the user made a different selection. */
function requestDropped() {
  state.request += 1;
  requestEnded();
}

// --- Selection ------------------------------------------------------------------------------------------------------------

export function addressRead() {
  state.isFollowing = true;
}

/** @param {string} layer */
export function layerChosen(layer) {
  if (layer !== state.layer) Object.assign(state, { breaks: null, hidden: [] });
  state.layer = layer;
}

/** @param {number[] | null} breaks */
export function breaksChosen(breaks) {
  Object.assign(state, { breaks, hidden: [] });
}

/** @param {number} index */
export function classToggled(index) {
  state.hidden = toggled(state.hidden, index);
}

/** Replaces the filters by the filters of the URL. Ignores unknown layers, and all but the first filter of a layer. @param {readonly Filter[]} filters */
export function filtersRead(filters) {
  state.filters = filters.filter(({ layer }, index) => state.layers.some(({ name }) => name === layer) && filters.findIndex((each) => each.layer === layer) === index);
}

/** @param {string} layer */
export function filterAdded(layer) {
  state.filters = [...state.filters, { layer, from: null, to: null, left: [] }];
}

/** @param {string} layer @param {Partial<Filter>} change */
export function filterChanged(layer, change) {
  state.filters = state.filters.map((filter) => (filter.layer === layer ? Object.assign(filter, change) : filter));
}

/** @param {string} layer */
export function filterRemoved(layer) {
  state.filters = state.filters.filter((filter) => filter.layer !== layer);
}

/** @param {string} group @param {boolean} isFolded */
export function groupFolded(group, isFolded) {
  if (state.folded.includes(group) !== isFolded) state.folded = toggled(state.folded, group);
}

/** @template T @param {readonly T[]} items @param {T} item */
const toggled = (items, item) => (items.includes(item) ? items.filter((each) => each !== item) : [...items, item]);

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

/** @param {any} record null: no comparison */
export function comparedChosen(record) {
  state.compared = record;
}

/** @param {() => HTMLElement[]} panel */
export function panelShown(panel) {
  state.panel = panel;
}

// --- Search ---------------------------------------------------------------------------------------------------------------

/** @param {Suggestion[]} found */
export function suggestionsFound(found) {
  Object.assign(state.search, { found, active: -1 });
}

/** @param {number} index -1: no suggestion */
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

/** Records a new colour scheme of the browser, except during printing. @returns {boolean} true if the scheme was recorded */
export function schemeRead() {
  if (state.view.isPaper) return false;
  state.view.isDark = darkness.matches;
  return true;
}

/** @param {boolean} isPaper */
export function paperChanged(isPaper) {
  state.view.isPaper = isPaper;
}

/** Shows or hides the tiles of parcels, which need a session or a token. @param {boolean} isParcels */
export function parcelsShown(isParcels) {
  state.view.isParcels = isParcels;
}

/** @param {boolean} isLoading */
export function tilesAwaited(isLoading) {
  state.view.isLoading = isLoading;
}

/** Shows or hides the base map. @param {boolean} isBase */
export function baseChosen(isBase) {
  state.view.isBase = isBase;
  localStorage.setItem('base', isBase ? 'on' : 'off');
}

/** @param {number} opacity opacity of the coverage and of the selected section, 0–1 */
export function opacityChanged(opacity) {
  state.view.opacity = opacity;
}

/** @param {readonly number[] | null} passing */
export function passingFound(passing) {
  state.view.passing = passing;
}

/** @param {any} labels */
export function labelsPlaced(labels) {
  state.view.labels = labels;
}

/** @param {any} streets */
export function streetsPlaced(streets) {
  state.view.streets = streets;
}

/** Calls a listener when the browser changes its colour scheme. @param {() => void} listener */
export const onScheme = (listener) => darkness.addEventListener('change', listener);
