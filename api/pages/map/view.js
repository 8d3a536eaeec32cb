// @ts-check
/** Draws comuni, tiles of parcels and of one section, and the selected parcel. This file names no section, because the server describes the sections. */
import { Map as Drawing, NavigationControl, ScaleControl } from './maplibre-gl.mjs';
import { tilesOf, withToken } from './interface.js';
import { labelsPlaced, mapOpened, onScheme, paperChanged, passingFound, schemeRead, state, streetsPlaced, tilesAwaited } from './state.js';
import { streetNames } from './streets.js';
import { t } from './words.js';

/**
 * @typedef {{ value?: string | number | boolean, from?: number | null, to?: number | null, label: string, color: string }} Class
 * @typedef {{ name: string, title: string, section: string | null, group: string | null, kind: 'outline' | 'parcel' | 'footprint' | 'access' |
 *   'category' | 'number', minzoom: number, maxzoom: number,
 *   unit: string | null, value: string | null, classes: Class[], none: Class | null, not_mapped: Class | null,
 *   not_applicable: ('land' | 'road' | 'water')[] }} Layer
 * @typedef {{ belfiore: string, name: string | null, istat_code: string | null, parcels: number | null, bbox: [number, number, number, number] | null,
 *   outline: GeoJSON.Geometry | null, isBox: boolean, coverage: Record<string, string>, region: number }} Comune
 */

/** Colours of the map in light and dark mode. Each section defines the colours of its classes. */
const PALETTES = {
  light: { back: '#eef1f4', land: '#fbfaf6', line: '#8d97a5', comune: '#5b6675', road: '#c9cdd3', water: '#a9cfe6', ink: '#2b3542', halo: '#ffffff', chosen: '#b4330a', parcel: '#6f6a5e', building: '#d9d2c5', wall: '#8f8574', number: '#6b5f4d', street: '#3f4a63', none: '#ffffff' },
  dark: { back: '#12171d', land: '#222a33', line: '#5d6a7a', comune: '#8b98a8', road: '#4a5360', water: '#2f5f80', ink: '#e6ebf1', halo: '#12171d', chosen: '#ffb454', parcel: '#7d8998', building: '#3c4651', wall: '#74808d', number: '#b3a58c', street: '#c4cfe6', none: '#39424e' },
};
/** Returns the colour scheme of the map. A printed map has the light scheme. */
const scheme = () => (state.view.isDark && !state.view.isPaper ? 'dark' : 'light');
const palette = () => PALETTES[scheme()];

/**
 * Colours for the share of sections that cover a comune. The colours have one hue, so that the order is visible to colour-blind readers and in
 * black-and-white print.
 */
export const COVERED = [
  { least: 1, word: 'coveredAll', light: '#2b7bba', dark: '#3f93d6' },
  { least: 0.7, word: 'coveredMost', light: '#79b1da', dark: '#2f6fa3' },
  { least: Number.MIN_VALUE, word: 'coveredSome', light: '#bcd7ec', dark: '#28506f' },
  { least: 0, word: 'coveredNone', light: '#f2f0ea', dark: '#2b323b' },
];
/** Colours of a comune for the coverage of one section. */
export const STATES = {
  mapped: { light: '#4a90c4', dark: '#3f86bd' }, partial: { light: '#b9d6ea', dark: '#2b5577' }, not_mapped: { light: '#d5d8dc', dark: '#3a424c' }, not_loaded: { light: '#f2f0ea', dark: '#2b323b' },
};
/** Colour of roads and waters in the layer of a section that does not apply to them. */
export const GROUND = { light: PALETTES.light.road, dark: PALETTES.dark.road };
/** Colour of a comune without published parcels. */
export const BLANK = { light: PALETTES.light.land, dark: PALETTES.dark.land };
/** Colour of parcels that a section covers and that have no feature of the section. */
export const NOTHING = { light: PALETTES.light.none, dark: PALETTES.dark.none };
export const shade = (colours) => colours[scheme()];

/** Returns the colour that a class has on the map: a mix of the class's colour and the colour of the land. @param {string} colour `#rrggbb` */
export function drawnColour(colour) {
  const { opacity } = state.view;
  const parts = (/** @type {string} */ text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const land = parts(palette().land);
  return `rgb(${parts(colour).map((part, at) => Math.round(part * opacity + /** @type {number} */ (land[at]) * (1 - opacity))).join(' ')})`;
}

/** Returns the share of the sections that cover a comune. Partial coverage counts as half. @param {Comune} comune */
export function shareCovered({ coverage }) {
  const states = Object.values(coverage).filter((state) => state !== 'not_applicable');
  return states.length === 0 ? 0 : states.reduce((sum, state) => sum + (state === 'mapped' ? 1 : state === 'partial' ? 0.5 : 0), 0) / states.length;
}

export const hasParcels = (/** @type {Comune} */ { parcels }) => (parcels ?? 0) > 0;

/** @param {Comune} comune @param {string | null} section null: all sections */
export function stateOf(comune, section) {
  if (!hasParcels(comune)) return BLANK;
  if (section !== null) return STATES[comune.coverage[section] ?? 'not_loaded'] ?? STATES.not_loaded;
  return /** @type {typeof COVERED[number]} */ (COVERED.find(({ least }) => shareCovered(comune) >= least));
}

/** Size of a parcel label in pixels: width of a digit, total space on both sides, and height including space. */
const [LETTER, MARGIN, LINE] = [7, 8, 20];
/** Smallest zoom that shows the published borders of comuni. */
const BORDERS = 11;
/** Smallest zoom that shows the numbers of parcels. */
export const CLOSE = 17;
/** Layer of house numbers, smallest zoom that shows names of streets, and smallest zoom that shows house numbers. */
const [NUMBERS, NAMED, NUMBERED] = ['house_numbers', 16, 18];
const EMPTY = { type: 'FeatureCollection', features: [] };
const FONT = ['system-ui', 'sans-serif'];

/** Names of the layers that are drawn for every selection of the user. */
export const GROUND_LAYERS = ['comuni', 'ground', 'parcels', 'footprints', 'house_numbers'];

/** Returns the selected layer of a section, or null if the user selected the coverage or parcels only. */
export const sectionDrawn = () => state.layers.find(({ name }) => name === state.layer && !GROUND_LAYERS.includes(name)) ?? null;

/** Returns the base map, or null if no base map is configured or the user switched it off. */
export const baseDrawn = () => (state.view.isBase ? state.baseMap : null);

/**
 * @param {{ choose: (fid: number) => void, comune: (belfiore: string) => void, place: (lat: number, lng: number) => void, moved: () => void, loading: ()
 * => void, refused: (status: number) => void }} actions
 * @returns {Promise<boolean>} true if this browser supports WebGL
 */
export async function openView(actions) {
  try {
    mapOpened(new Drawing({
      container: 'map', style: styleOf(), center: [12.6, 42.3], zoom: 4.8, minZoom: 4, maxZoom: 21, attributionControl: false, dragRotate: false, pitchWithRotate: false,
      touchPitch: false, renderWorldCopies: false, transformRequest: withToken, fadeDuration: 0,
      // Keeps the drawn frame after rendering, because screenshots and printing need the frame.
      canvasContextAttributes: { preserveDrawingBuffer: true, antialias: true },
      locale: { 'Map.Title': t('mapHelp'), 'NavigationControl.ZoomIn': t('zoomInControl'), 'NavigationControl.ZoomOut': t('zoomOutControl') },
    }));
  } catch {
    return false;
  }
  const drawing = /** @type {import('maplibre-gl').Map} */ (state.view.map);
  drawing.touchZoomRotate.disableRotation();
  drawing.keyboard.disableRotation();
  drawing.addControl(new NavigationControl({ showCompass: false }), 'bottom-right');
  drawing.addControl(new ScaleControl({ unit: 'metric' }), 'bottom-right');
  drawing.on('error', (event) => {
    // If the base map's server refuses a request, signing in again does not help.
    if (/** @type {{ sourceId?: string }} */ (event).sourceId !== 'base') actions.refused(/** @type {{ status?: number }} */ (event.error).status ?? 0);
  });
  drawing.on('moveend', actions.moved);
  drawing.on('dataloading', () => {
    if (state.view.isLoading) return;
    tilesAwaited(true);
    actions.loading();
  });
  const answer = (/** @type {import('maplibre-gl').PointLike} */ point, /** @type {{ lat: number, lng: number }} */ { lat, lng }) => {
    const at = (/** @type {string} */ layer) => (drawing.getLayer(layer) === undefined ? undefined : drawing.queryRenderedFeatures(point, { layers: [layer] })[0]);
    const parcel = at('parcel-area');
    if (parcel !== undefined) return actions.choose(Number(parcel.id));
    const comune = at('comune-area');
    if (draws('parcels')) actions.place(Number(lat.toFixed(7)), Number(lng.toFixed(7)));
    else if (comune !== undefined) actions.comune(String(comune.properties['belfiore']));
  };
  drawing.on('click', ({ point, lngLat }) => answer(point, lngLat));
  drawing.getCanvas().addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') answer(drawing.project(drawing.getCenter()), drawing.getCenter());
  });
  drawing.on('mousemove', ({ point }) => {
    const over = ['parcel-area', 'comune-area'].some((layer) => drawing.getLayer(layer) !== undefined && drawing.queryRenderedFeatures(point, { layers: [layer] }).length > 0);
    drawing.getCanvas().style.cursor = over ? 'pointer' : '';
  });
  drawing.on('idle', () => {
    tilesAwaited(false);
    actions.loading();
    filterParcels();
    nameParcels();
    nameStreets();
  });
  onScheme(() => {
    if (schemeRead()) redraw();
  });
  addEventListener('languagechosen', () => {
    drawing.getCanvas().setAttribute('aria-label', t('mapHelp'));
    for (const [control, word] of /** @type {const} */ ([['in', 'zoomInControl'], ['out', 'zoomOutControl']])) {
      const zoom = drawing.getContainer().querySelector(`.maplibregl-ctrl-zoom-${control}`);
      for (const attribute of ['title', 'aria-label']) zoom?.setAttribute(attribute, t(word));
    }
  });
  await drawing.once('load');
  drawing.addImage('hatch', hatch());
  redraw();
  return true;
}

/** Returns true if a layer is visible at this zoom level and this user may see it. @param {string} layer */
export function draws(layer) {
  const { minzoom = Infinity } = state.layers.find(({ name }) => name === layer) ?? {};
  const { map, isParcels } = state.view;
  return isParcels && map !== null && map.getZoom() >= minzoom;
}

/** Class of the parcels that a section covers and that have no feature of the section. */
export const NONE = '';

/** Returns the layers that can be filtered: parcels by area, and sections with a legend. */
export const filterLayers = () => state.layers.filter(({ name, classes }) => name === 'parcels' || classes.length > 0);

/** Returns true if a parcel meets a filter. @param {import('./state.js').Filter} filter @param {Layer} layer @param {Record<string, any>} properties */
function meets({ from, to, left }, layer, properties) {
  if (layer.kind === 'category') {
    const value = properties['value'] ?? (properties['coverage'] === 'mapped' ? NONE : undefined);
    return left.length === 0 || (value !== undefined && !left.includes(String(value)));
  }
  const value = layer.section === null ? properties['area_m2'] : properties['value'];
  if (from === null && to === null) return true;
  return typeof value === 'number' && (from === null || value >= from) && (to === null || value <= to);
}

/** Finds the parcels in view that meet all filters, and hides all other parcels. */
function filterParcels() {
  const { map, passing } = state.view;
  const layers = state.filters.flatMap((filter) => filterLayers().filter(({ name }) => name === filter.layer).map((layer) => ({ filter, layer })));
  if (map === null || layers.some(({ layer: { name } }) => map.getSource(name) === undefined || !map.isSourceLoaded(name))) return;
  const found = layers.map(({ filter, layer }) => new Set(
    map.querySourceFeatures(layer.name, { sourceLayer: layer.name }).filter(({ properties }) => meets(filter, layer, properties)).map(({ id }) => Number(id)),
  ));
  const [first, ...others] = found;
  const next = first === undefined ? null : [...first].filter((fid) => others.every((each) => each.has(fid))).sort((a, b) => a - b);
  if (JSON.stringify(next) === JSON.stringify(passing)) return;
  passingFound(next);
  redraw();
}

/** Draws the parcels that meet the current filters. */
export function applyFilters() {
  redraw();
  filterParcels();
}

/** Returns the map library's filter expression for the parcels that meet the user's filters. @returns {any} */
function passes() {
  const { passing } = state.view;
  if (passing === null) return true;
  return passing.length === 0 ? false : ['match', ['id'], passing, true, false];
}

/**
 * Draws the number of each land parcel once, in the largest piece of the parcel, if the number fits into this piece. Tiles cut parcels into pieces, so labels
 * from tiles would be repeated.
 */
function nameParcels() {
  const { map, labels } = state.view;
  if (map === null || map.getLayer('parcel-area') === undefined) return;
  /** @type {Map<number, { label: string, extent: number, middle: [number, number] }>} */
  const named = new Map();
  for (const { id, geometry, properties } of map.getZoom() < CLOSE ? [] : map.queryRenderedFeatures({ layers: ['parcel-area'] })) {
    const middle = properties['kind'] === 'land' ? middleOf(geometry) : null;
    if (middle === null) continue;
    const [west, south, east, north] = boxOf(geometry);
    const extent = (east - west) * (north - south);
    const degree = (512 * 2 ** map.getZoom()) / 360;
    if ((east - west) * degree < properties['label'].length * LETTER + MARGIN || ((north - south) * degree) / Math.cos((north * Math.PI) / 180) < LINE) continue;
    if (extent > (named.get(Number(id))?.extent ?? 0)) named.set(Number(id), { label: properties['label'], extent, middle });
  }
  const features = [...named.values()].map(({ label, middle }) => ({ ...point(middle), properties: { label } }));
  const next = { type: 'FeatureCollection', features };
  if (JSON.stringify(next) === JSON.stringify(labels)) return;
  labelsPlaced(next);
  /** @type {any} */ (map.getSource('labels')).setData(next);
}

/** Draws the names of the streets whose house numbers are in view. */
function nameStreets() {
  const { map, streets } = state.view;
  if (map === null || map.getSource(NUMBERS) === undefined) return;
  const box = map.getBounds();
  const found = map.getZoom() < NAMED ? [] : map.querySourceFeatures(NUMBERS, { sourceLayer: NUMBERS });
  const numbers = found.map(({ geometry, properties }) => {
    const [lng, lat] = /** @type {GeoJSON.Point} */ (geometry).coordinates;
    return { street: Number(properties['street']), name: String(properties['name']), lng, lat };
  });
  const next = { type: 'FeatureCollection', features: streetNames(numbers.filter((each) => box.contains(each))) };
  if (JSON.stringify(next) === JSON.stringify(streets)) return;
  streetsPlaced(next);
  /** @type {any} */ (map.getSource('streets')).setData(next);
}

/** Creates the pattern of grey stripes, which marks areas that no file covers. */
function hatch() {
  const size = 16;
  const data = new Uint8Array(size * size * 4);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) data.set((x + y) % 8 < 2 ? [110, 118, 128, 255] : [205, 209, 214, 120], (y * size + x) * 4);
  }
  return { width: size, height: size, data };
}

/** @returns {any} the map style for the current state */
function styleOf() {
  const colours = palette();
  const { layers, layer: chosen } = state;
  const { isParcels, isDark, isPaper, opacity } = state.view;
  const base = baseDrawn();
  const filtering = state.filters.map(({ layer }) => layer);
  const tiled = isParcels ? layers.filter(({ name }) => GROUND_LAYERS.includes(name) || name === chosen || filtering.includes(name)) : [];
  const drawn = tiled.find(({ name }) => name === sectionDrawn()?.name);
  const lines = tiled.find(({ name }) => name === 'parcels');
  const borders = tiled.find(({ name }) => name === 'comuni');
  const source = ({ minzoom, maxzoom, name }) => ({ type: 'vector', tiles: [tilesOf(name)], minzoom, maxzoom });
  // Fades out the comuni at scales at which parcels are drawn over them.
  const close = drawn ?? lines;
  const fade = close === undefined ? opacity : ['interpolate', ['linear'], ['zoom'], close.minzoom - 0.5, opacity, close.minzoom, 0];
  const border = { 'line-color': colours.comune, 'line-width': ['interpolate', ['linear'], ['zoom'], 5, 0.4, 10, 1, 16, 2.5], 'line-opacity': 0.8 };
  const streetText = { 'text-field': ['get', 'name'], 'text-font': FONT, 'text-size': ['interpolate', ['linear'], ['zoom'], NAMED, 11, 19, 14], 'text-letter-spacing': 0.02 };
  const streetPaint = { 'text-color': colours.street, 'text-halo-color': colours.halo, 'text-halo-width': 1.6 };
  const of = (name) => ({ source: name, 'source-layer': name });
  // Changing colours that depend on features would load the tiles again. Layers with such colours therefore exist twice, in screen colours and in print
  // colours.
  const onScreen = isPaper && isDark ? 0 : fade;
  return {
    version: 8,
    transition: { duration: 0, delay: 0 },
    sources: {
      comuni: { type: 'geojson', data: outlines() }, names: { type: 'geojson', data: middles() },
      labels: { type: 'geojson', data: state.view.labels }, streets: { type: 'geojson', data: state.view.streets }, chosen: { type: 'geojson', data: state.view.chosen ?? EMPTY }, mark: { type: 'geojson', data: state.view.mark === null ? EMPTY : point(state.view.mark) },
      ...(base === null ? {} : { base: { type: 'raster', tiles: [base.tiles], tileSize: 256, maxzoom: base.maxzoom } }),
      ...Object.fromEntries(tiled.map((layer) => [layer === borders ? 'comuni-tiles' : layer.name, source(layer)])),
    },
    layers: [
      { id: 'back', type: 'background', paint: { 'background-color': colours.back } },
      { id: 'comune-land', type: 'fill', source: 'comuni', paint: { 'fill-color': colours.land } },
      ...(base === null ? [] : [{ id: 'base', type: 'raster', source: 'base', paint: { 'raster-brightness-max': scheme() === 'dark' ? 0.6 : 1, 'raster-fade-duration': 0 } }]),
      // A base map shows roads, waters and buildings, so their colours are drawn only without a base map.
      ...tiled.filter(({ name }) => name === 'ground' && base === null).flatMap(({ name }) => [
        { id: 'road', type: 'fill', ...of(name), filter: ['!=', ['get', 'kind'], 'water'], paint: { 'fill-color': colours.road } },
        { id: 'water', type: 'fill', ...of(name), filter: ['==', ['get', 'kind'], 'water'], paint: { 'fill-color': colours.water } },
      ]),
      { id: 'comune-area', type: 'fill', source: 'comuni', paint: { 'fill-color': ['get', 'colour'], 'fill-opacity': onScreen } },
      ...(isDark ? [{ id: 'comune-paper', type: 'fill', source: 'comuni', paint: { 'fill-color': ['get', 'paper'], 'fill-opacity': isPaper ? fade : 0 } }] : []),
      { id: 'comune-hatch', type: 'fill', source: 'comuni', filter: ['==', ['get', 'state'], 'not_mapped'], paint: { 'fill-pattern': 'hatch', 'fill-opacity': fade } },
      ...(drawn === undefined ? [] : [
        { id: 'section', type: 'fill', ...of(drawn.name), filter: ['all', passes(), ['has', 'value'], filterOf(drawn)], paint: { 'fill-color': colourOf(drawn), 'fill-opacity': opacity } },
        { id: 'section-none', type: 'fill', ...of(drawn.name), filter: ['all', passes(), ['!', ['has', 'value']], ['==', ['get', 'coverage'], 'mapped']], paint: { 'fill-color': colours.none, 'fill-opacity': opacity } },
        {
          id: 'section-hatch', type: 'fill', ...of(drawn.name), paint: { 'fill-pattern': 'hatch', 'fill-opacity': opacity },
          filter: ['all', passes(), ['!', ['has', 'value']], ['!=', ['get', 'coverage'], 'mapped']],
        },
      ]),
      // Over a section, only the outlines of buildings are drawn, so the colours of the section remain the same as in the legend.
      ...tiled.filter(({ name }) => name === 'footprints').flatMap(({ name, minzoom }) => [
        ...(drawn === undefined && base === null ? [{ id: 'building', type: 'fill', ...of(name), minzoom, paint: { 'fill-color': colours.building } }] : []),
        { id: 'building-line', type: 'line', ...of(name), minzoom, paint: { 'line-color': colours.wall, 'line-width': ['interpolate', ['linear'], ['zoom'], 15, 0.4, 18, 1.2] } },
      ]),
      // Tiles that only a filter needs are loaded, but not visible.
      ...tiled.filter(({ name }) => filtering.includes(name)).map(({ name }) => ({ id: `filter-${name}`, type: 'fill', ...of(name), paint: { 'fill-opacity': 0 } })),
      ...(lines === undefined ? [] : [
        { id: 'parcel-area', type: 'fill', ...of('parcels'), filter: passes(), paint: { 'fill-color': '#000', 'fill-opacity': 0 } },
        { id: 'parcel-line', type: 'line', ...of('parcels'), filter: passes(), paint: { 'line-color': colours.parcel, 'line-width': ['interpolate', ['linear'], ['zoom'], 14, 0.3, 16, 0.8, 19, 1.5] } },
      ]),
      // At high zoom levels, tiles replace the outlines of comuni, because the outlines are too coarse. A comune without a loaded boundary has no outline in
      // the tiles, only a box.
      { id: 'comune-line', type: 'line', source: 'comuni', paint: border, ...(borders === undefined ? {} : { filter: ['any', ['<', ['zoom'], BORDERS], ['get', 'isBox']] }) },
      ...(borders === undefined ? [] : [{ id: 'comune-border', type: 'line', source: 'comuni-tiles', 'source-layer': borders.name, minzoom: BORDERS, paint: border }]),
      { id: 'chosen-halo', type: 'line', source: 'chosen', layout: { 'line-join': 'round' }, paint: { 'line-color': colours.halo, 'line-width': 7 } },
      { id: 'chosen-line', type: 'line', source: 'chosen', layout: { 'line-join': 'round' }, paint: { 'line-color': colours.chosen, 'line-width': 3.5 } },
      // If labels collide, the label of the later layer is drawn. The order is house numbers, parcels, streets, comuni.
      ...tiled.filter(({ name }) => name === NUMBERS).map(({ name }) => ({
        id: 'house-number', type: 'symbol', ...of(name), minzoom: NAMED, filter: ['!=', ['get', 'number'], 'SNC'],
        layout: { 'text-field': ['step', ['zoom'], '', NUMBERED, ['get', 'number']], 'text-font': FONT, 'text-size': 10 }, paint: { 'text-color': colours.number, 'text-halo-color': colours.halo, 'text-halo-width': 1.2 },
      })),
      ...(lines === undefined ? [] : [{
        id: 'parcel-name', type: 'symbol', source: 'labels', minzoom: CLOSE,
        layout: { 'text-field': ['get', 'label'], 'text-font': FONT, 'text-size': 12 }, paint: { 'text-color': colours.ink, 'text-halo-color': colours.halo, 'text-halo-width': 1.4 },
      }]),
      ...(tiled.some(({ name }) => name === NUMBERS) ? [
        { id: 'street-name', type: 'symbol', source: 'streets', minzoom: NAMED, filter: ['==', ['geometry-type'], 'LineString'], layout: { ...streetText, 'symbol-placement': 'line', 'symbol-spacing': 420, 'text-max-angle': 40 }, paint: streetPaint },
        { id: 'square-name', type: 'symbol', source: 'streets', minzoom: NAMED, filter: ['==', ['geometry-type'], 'Point'], layout: { ...streetText, 'text-max-width': 8 }, paint: streetPaint },
      ] : []),
      {
        id: 'comune-name', type: 'symbol', source: 'names', maxzoom: 15, minzoom: 7,
        layout: { 'text-field': ['get', 'name'], 'text-font': FONT, 'text-size': ['interpolate', ['linear'], ['zoom'], 8, 11, 13, 15], 'text-max-width': 8, 'symbol-sort-key': ['-', 0, ['get', 'parcels']] },
        paint: { 'text-color': colours.ink, 'text-halo-color': colours.halo, 'text-halo-width': 1.6 },
      },
      { id: 'mark', type: 'circle', source: 'mark', paint: { 'circle-radius': 6, 'circle-color': colours.chosen, 'circle-stroke-color': colours.halo, 'circle-stroke-width': 2.5 } },
    ],
  };
}

/** Returns the classes of a layer, from its section or computed from the view. @param {Layer} layer @returns {Class[]} */
export function classesOf({ name, classes }) {
  const { breaks, layer } = state;
  if (breaks === null || name !== layer) return classes;
  return [null, ...breaks].map((from, index) => ({ from, to: breaks[index] ?? null, label: '', color: /** @type {Class} */ (classes[index]).color }));
}

/**
 * Returns the lower limits of classes that have about equal numbers of parcels in view, or null if the parcels have too few different values.
 * @param {Layer} layer
 */
export function breaksInView({ classes }) {
  const { map } = state.view;
  const found = new Map(map?.getLayer('section') === undefined ? [] : map.queryRenderedFeatures({ layers: ['section'] }).map(({ id, properties }) => [id, properties['value']]));
  const values = [...found.values()].filter((value) => typeof value === 'number').sort((a, b) => a - b);
  const starts = classes.slice(1).map((_, index) => values[Math.floor(((index + 1) * values.length) / classes.length)]);
  const breaks = [...new Set(starts)].filter((start) => start !== undefined && start > values[0]);
  return breaks.length === 0 ? null : breaks;
}

/** Returns the filter expression of the map library for the classes that the user did not hide. @param {Layer} layer */
function filterOf(layer) {
  const value = ['get', 'value'];
  const among = (/** @type {number} */ index) => {
    const { from = null, to = null, value: word } = /** @type {Class} */ (classesOf(layer)[index]);
    if (layer.kind !== 'number') return ['==', ['to-string', value], String(word)];
    return ['all', ...(from === null ? [] : [['>=', ['to-number', value], from]]), ...(to === null ? [] : [['<', ['to-number', value], to]])];
  };
  return ['!', ['any', ...state.hidden.map(among)]];
}

/** @param {Layer} layer */
function colourOf(layer) {
  const classes = classesOf(layer);
  const blank = 'rgba(0,0,0,0)';
  if (classes.length === 0) return blank;
  return layer.kind === 'number'
    ? ['step', ['to-number', ['get', 'value']], classes[0]?.color, ...classes.slice(1).flatMap(({ from, color }) => [from, color])]
    : ['match', ['to-string', ['get', 'value']], ...classes.flatMap((each) => [String(each.value), each.color]), blank];
}

/** Draws the map for the current state. */
export function redraw() {
  const { map } = state.view;
  map?.setStyle(styleOf(), { diff: true });
  if (map !== null && !map.hasImage('hatch')) map.addImage('hatch', hatch());
}

const point = (coordinates) => ({ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates } });

function outlines() {
  const section = sectionDrawn()?.section ?? null;
  const features = [...state.comuni.values()].filter(({ outline }) => outline !== null).map((comune) => {
    const { light, dark } = stateOf(comune, section);
    return {
      type: 'Feature', geometry: comune.outline,
      properties: {
        belfiore: comune.belfiore, isBox: comune.isBox, colour: state.view.isDark ? dark : light, paper: light,
        state: section === null || !hasParcels(comune) ? null : comune.coverage[section] ?? 'not_loaded',
      },
    };
  });
  return { type: 'FeatureCollection', features };
}

/** Places the name of each comune in the middle of the comune's largest part. */
function middles() {
  const features = [...state.comuni.values()].flatMap(({ name, parcels, outline }) => {
    const middle = outline === null ? null : middleOf(outline);
    return name === null || middle === null ? [] : [{ ...point(middle), properties: { name, parcels: parcels ?? 0 } }];
  });
  return { type: 'FeatureCollection', features };
}

/** Returns the centroid of the largest outer ring, or null if its area is 0. @param {any} geometry */
function middleOf({ type, coordinates }) {
  const rings = type === 'Polygon' ? [coordinates[0]] : coordinates.map(([ring]) => ring);
  const measured = rings.map((ring) => ring.slice(1).reduce(([area, x, y], [x2, y2], index) => {
    const [x1, y1] = ring[index];
    const cross = x1 * y2 - x2 * y1;
    return [area + cross, x + (x1 + x2) * cross, y + (y1 + y2) * cross];
  }, [0, 0, 0]));
  const [area, x, y] = measured.reduce((largest, each) => (Math.abs(each[0]) > Math.abs(largest[0]) ? each : largest), [0, 0, 0]);
  return area === 0 ? null : [x / (3 * area), y / (3 * area)];
}

// --- Functions for the rest of the page ---------------------------------------------------------------------------------

/** Applies the current opacity to the map. */
export function fade() {
  const { map } = state.view;
  // Sets only the paint property, because with a new style the library would parse every outline again.
  for (const { id, paint } of styleOf().layers) if (paint['fill-opacity'] !== undefined && map?.getLayer(id) !== undefined) map.setPaintProperty(id, 'fill-opacity', paint['fill-opacity']);
}

/**
 * Switches the map to light colours for printing, or back. The function must be synchronous, because the browser prints without waiting.
 * @param {boolean} isPrinted
 */
export function drawForPaper(isPrinted) {
  const { map, isDark } = state.view;
  paperChanged(isPrinted);
  document.querySelector('#map .paper')?.remove();
  if (map === null || !isDark) return;
  for (const { id, paint } of styleOf().layers) {
    for (const [property, value] of Object.entries(paint)) if (map.getLayer(id) !== undefined) map.setPaintProperty(id, property, value);
  }
  map.redraw();
  if (!isPrinted) return;
  // Browsers print a WebGL canvas as last displayed, but a 2D canvas with its current content. The map is therefore copied to a 2D canvas.
  const { width, height } = map.getCanvas();
  const paper = Object.assign(document.createElement('canvas'), { className: 'maplibregl-canvas paper', width, height });
  paper.getContext('2d')?.drawImage(map.getCanvas(), 0, 0);
  map.getCanvas().after(paper);
}

/** @returns {{ zoom: number, lat: number, lng: number } | null} */
export function placeOf() {
  const { map } = state.view;
  if (map === null) return null;
  const { lat, lng } = map.getCenter();
  return { zoom: map.getZoom(), lat, lng };
}

/** @returns {[number, number, number, number] | null} west, south, east, north */
export function boxInView() {
  const bounds = state.view.map?.getBounds();
  return bounds === undefined ? null : [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
}

/** @param {{ zoom: number, lat: number, lng: number }} place */
export const goTo = ({ zoom, lat, lng }) => state.view.map?.jumpTo({ center: [lng, lat], zoom });

/**
 * @param {[number, number, number, number]} box west, south, east, north
 * @param {{ left: number, below: number }} covered pixels covered by panels
 * @param {number} maxZoom
 */
export function fit(box, { left, below }, maxZoom = 19) {
  const { map } = state.view;
  if (map === null) return;
  map.resize();
  const { clientWidth: width, clientHeight: height } = map.getContainer();
  const side = Math.min(width - left, height - below) * 0.12;
  map.fitBounds(box, { padding: { top: side, left: side + left, right: side, bottom: side + below }, maxZoom, animate: false });
}

/**
 * If a box is not completely visible, moves the map to the box, without zooming in.
 * @param {[number, number, number, number]} box
 * @param {{ left: number, below: number }} covered
 */
export function reveal(box, covered) {
  const { map } = state.view;
  if (map === null) return;
  map.resize();
  const { clientWidth: width, clientHeight: height } = map.getContainer();
  const [{ x: left, y: bottom }, { x: right, y: top }] = [map.project([box[0], box[1]]), map.project([box[2], box[3]])];
  if (left < covered.left || top < 0 || right > width || bottom > height - covered.below) fit(box, covered, map.getZoom());
}

/** @param {any} geometry @returns {[number, number, number, number]} */
export function boxOf({ coordinates }) {
  const flat = coordinates.flat(Infinity);
  const xs = flat.filter((_, index) => index % 2 === 0);
  const ys = flat.filter((_, index) => index % 2 === 1);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
