// @ts-check
/** Controls the page. Actions of the user change the state, and changes of the state update the page. */
import { readAddress, writeAddress } from './url.js';
import { comparisonPanel } from './comparison.js';
import { saveRecord, saveView } from './downloads.js';
import { $, button } from './elements.js';
import { showFilters } from './filters.js';
import { ask, canExplain, explain, open, openSession, Refusal, signedIn } from './interface.js';
import { layerNames, showLayers, showLegend } from './layers.js';
import { openSheet, sizeSheet } from './sheet.js';
import { comunePanel, publishedPanel } from './published.js';
import { neighboursOf, parcelPanel } from './record.js';
import { openSearch } from './search.js';
import {
  addressRead, baseChosen, comparedChosen, comuneChosen, comuniRead, filtersRead, languageChanged, layerChosen, onScheme, opacityChanged, overviewRead, panelShown, parcelChosen, parcelsShown, placeMarked, readingEnded, requestBegun,
  requestEnded, selectionCleared, state, tokenChanged,
} from './state.js';
import * as view from './view.js';
import { dateOf, fillWords, refusalInWords, t } from './words.js';

/** Distance in degrees (about 40 m) around a place in which parcels are requested. */
const MARGIN = 0.0004;
/** Maximum number of listed neighbours. */
const NEAR = 24;

// --- URL ------------------------------------------------------------------------------------------------------------------

/** Applies the place, layer, selection and filters of the URL, without adding an entry to the browser's history. */
async function follow() {
  addressRead();
  const { place, layer, parcel, comune, filters } = readAddress();
  const isFree = place === null;
  filtersRead(filters);
  if (state.filters.length > 0) $('filters').setAttribute('open', '');
  showFilters(filtersChanged);
  chooseLayer(layer, false);
  let reading = Promise.resolve();
  if (parcel !== null && signedIn()) reading = run((current) => showParcel(parcel, current, { step: false, move: isFree }), parcel);
  else if (comune !== null && state.comuni.has(comune)) showComune(comune, false, isFree);
  else forget(false);
  // Moving the map writes the URL, so the selection must be set before the move.
  if (!isFree) view.goTo(place);
  await reading;
}

/** Draws the parcels that meet the changed filters, and writes the filters into the URL. */
function filtersChanged() {
  view.applyFilters();
  if (state.isFollowing) writeAddress(false);
}

// --- Messages -------------------------------------------------------------------------------------------------------------

/** @param {string} text empty: no message @param {boolean} [problem] @param {Node[]} also */
function say(text, problem = false, ...also) {
  $('status').replaceChildren(text, ...also);
  $('status').classList.toggle('hidden', text === '');
  $('status').classList.toggle('problem', problem);
}

/** Shows what is loading: the published data, a record or the map. */
function showLoading() {
  const { reading, isAsking, view: { isLoading } } = state;
  const word = reading === 'reading' ? 'readingPublished' : isAsking ? 'readingRecord' : isLoading ? 'loadingMap' : null;
  $('loading').hidden = word === null;
  if (word !== null) $('loading').textContent = t(word);
}

/** Announces a visible change to screen readers. @param {string} text */
function announce(text) {
  say(text);
  $('status').classList.add('hidden');
}

const offerSignIn = () => say(t('signInFirst'), false, button(t('signIn'), openDialog));

/** Shows an error. If the request needs a sign-in, offers the sign-in dialog. @param {unknown} error */
function failed(error) {
  const isRefused = error instanceof Refusal && error.status === 401;
  if (!signedIn() && (error === null || isRefused && error.code === 'API_KEY_REQUIRED')) return offerSignIn();
  if (isRefused) return say(refusalInWords(error), true, button(t('signIn'), openDialog));
  say(error instanceof Refusal ? refusalInWords(error) : t('noAnswer'), true);
}

/**
 * Runs a request by the user. Responses to earlier requests are ignored.
 * @param {(current: () => boolean) => Promise<void>} work
 * @param {number | string | null} [parcel]
 */
async function run(work, parcel = null) {
  if (!signedIn()) return offerSignIn();
  const current = requestBegun(parcel);
  showBusy();
  try {
    await work(current);
  } catch (error) {
    if (current()) failed(error);
  } finally {
    if (current()) requestEnded();
    showBusy();
  }
}

/** Shows the panel in grey while a request is running. */
function showBusy() {
  if (state.isAsking) $('record').setAttribute('aria-busy', 'true');
  else $('record').removeAttribute('aria-busy');
  showLoading();
}

/** @param {() => HTMLElement[]} parts @param {string} size size of the panel on a small screen */
function showPanel(parts, size) {
  panelShown(parts);
  $('content').replaceChildren(...parts());
  showBusy();
  $('record').scrollTop = 0;
  sizeSheet(size);
}

// --- Parcels --------------------------------------------------------------------------------------------------------------

/** @param {number | string} id fid or cadastral reference @param {() => boolean} current @param {{ step?: boolean, move?: boolean }} how */
async function showParcel(id, current, { step = true, move = true } = {}) {
  say(t('reading', { fid: id }));
  const record = await ask(`/parcels/${encodeURIComponent(id)}`);
  if (!current()) return;
  const { fid, basic, municipality } = record;
  parcelChosen(fid, basic.geometry);
  requestEnded();
  if (step) writeAddress(true);
  /** @type {any[]} */
  let neighbours = [];
  /** Explanations by section, which are kept so that a change of language sends no request. @type {Map<string, Promise<any>>} */
  const explanations = new Map();
  const explainOnce = (/** @type {string} */ section) => {
    const asking = explanations.get(section) ?? explain(fid, section);
    explanations.set(section, asking);
    asking.catch(() => explanations.delete(section));
    return asking;
  };
  const actions = {
    parcel: (/** @type {number} */ each) => void run((now) => showParcel(each, now)), close: () => forget(true), print: () => print(), copy,
    save: (/** @type {'geojson' | 'csv'} */ format) => saveRecord(record, format), compare: () => compare(record),
    files: (/** @type {string} */ code) => ask(`/admin/municipalities/${code}/quality`), explain: canExplain() ? explainOnce : null,
  };
  const first = state.compared;
  if (first !== null && first.fid !== fid) {
    comparedChosen(null);
    showPanel(() => comparisonPanel(first, record, actions), 'full');
  } else showPanel(() => parcelPanel(record, neighbours, actions), 'half');
  view.redraw();
  const box = view.boxOf(basic.geometry);
  if (move) fit(box);
  else view.reveal(box, covered());
  announce(t('shown', { label: basic.label, comune: municipality.name ?? municipality.code }));
  ({ data: neighbours } = await ask(`/parcels/${fid}/neighbours`, { limit: NEAR }));
  if (current()) document.querySelector('[data-section=neighbours]')?.replaceWith(neighboursOf(neighbours, actions.parcel));
}

/**
 * Returns a planar distance in degrees of latitude, which is accurate enough for comparing parcels.
 * @param {{ lat: number, lng: number }} a
 * @param {{ lat: number, lng: number }} b
 */
const distance = (a, b) => Math.hypot(a.lat - b.lat, (a.lng - b.lng) * Math.cos((a.lat * Math.PI) / 180));

/** Returns the parcels around a place, with geometry. @param {number} lat @param {number} lng */
async function parcelsAround(lat, lng) {
  const bbox = [lng - MARGIN, lat - MARGIN, lng + MARGIN, lat + MARGIN].map((side) => side.toFixed(7)).join(',');
  return (await ask('/parcels/locate', { bbox, geometry: true, limit: 200 })).data;
}

/**
 * Opens the parcel at a place. Finds the parcel with one request for all parcels around the place.
 * @param {number} lat
 * @param {number} lng
 * @param {() => boolean} current
 * @param {string} name
 * @param {boolean} isAddress
 */
async function showPlace(lat, lng, current, name, isAddress) {
  say(t('looking', { name }));
  if (isAddress) markPlace(lat, lng);
  const around = await parcelsAround(lat, lng);
  if (!current()) return;
  // The point of an address may be on the road in front of its parcel. If no parcel contains the point, the nearest parcel is used.
  const [found] = [...around].sort((a, b) => Number(holds(b.geometry, lng, lat)) - Number(holds(a.geometry, lng, lat)) || distance(a.centroid, { lat, lng }) - distance(b.centroid, { lat, lng }));
  if (found !== undefined) return showParcel(found.fid, current, { move: isAddress });
  if (isAddress) view.goTo({ zoom: 17, lat, lng });
  say(t('noParcel', { name }), true);
}

/**
 * Returns true if a geometry contains a point. A ray from a point inside crosses the rings an odd number of times.
 * @param {any} geometry
 * @param {number} lng
 * @param {number} lat
 */
function holds(geometry, lng, lat) {
  const rings = geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat();
  return rings.flatMap((ring) => ring.slice(1).map((corner, index) => [ring[index], corner]))
    .filter(([[x1, y1], [x2, y2]]) => (y1 > lat) !== (y2 > lat) && lng < x1 + ((lat - y1) / (y2 - y1)) * (x2 - x1)).length % 2 === 1;
}

const choosePlace = (/** @type {number} */ lat, /** @type {number} */ lng, /** @type {string | undefined} */ name = undefined) => void run((current) => showPlace(lat, lng, current, name ?? `${lat}, ${lng}`, name !== undefined));
const chooseParcel = (/** @type {number | string} */ id, move = true) => void run((current) => showParcel(id, current, { move }));

/** Moves the map to the address that represents a street, without selecting a parcel. @param {number} lat @param {number} lng @param {string} name */
function showStreet(lat, lng, name) {
  forget(false);
  markPlace(lat, lng);
  view.goTo({ zoom: 17, lat, lng });
  writeAddress(true);
  say(name);
}

/** @param {number} lat @param {number} lng */
function markPlace(lat, lng) {
  placeMarked([lng, lat]);
  view.redraw();
}

/** Keeps a record, to compare it with the next parcel that the user selects. @param {any} record */
function compare(record) {
  comparedChosen(record);
  say(t('chooseSecond', { label: record.basic.label }));
}

for (const format of /** @type {const} */ (['geojson', 'csv'])) {
  $(`save-${format}`).addEventListener('click', () => void run(async () => {
    say(t('saving'));
    const found = await saveView(format);
    say(t(found === 'saved' ? 'saved' : 'viewTooLarge'), found !== 'saved');
  }));
}

async function copy() {
  await navigator.clipboard.writeText(location.href);
  say(t('copied'));
}

// --- Comuni and regions ---------------------------------------------------------------------------------------------------

/** @param {number[]} box west, south, east, north */
function boxed([west, south, east, north]) {
  return { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] };
}

/** @param {string} belfiore */
function showComune(belfiore, isStep = true, move = true) {
  const comune = state.comuni.get(belfiore);
  if (comune === undefined) return;
  comuneChosen(comune);
  const { outline, bbox } = comune;
  const box = outline === null ? null : view.boxOf(outline);
  if (isStep) writeAddress(true);
  const zoom = () => {
    if (!signedIn()) return offerSignIn();
    const from = state.layers.find(({ name }) => name === 'parcels')?.minzoom ?? 14;
    const middle = bbox ?? box;
    if (middle !== null) view.goTo({ zoom: from + 1, lat: (middle[1] + middle[3]) / 2, lng: (middle[0] + middle[2]) / 2 });
  };
  showPanel(() => comunePanel(comune, { close: () => forget(true), zoom }), 'half');
  view.redraw();
  if (move && box !== null) fit(box, 13);
  say('');
}

/** @param {number} code */
function goToRegion(code) {
  const box = boxAround([...state.comuni.values()].filter(({ region }) => region === code)) ?? state.regions.find((region) => region.code === code)?.bbox;
  if (box) fit(box, 13);
}

/** Clears the selection. @param {boolean} isStep */
function forget(isStep) {
  selectionCleared();
  if (isStep) writeAddress(true);
  view.redraw();
  showPanel(published, 'peek');
}

const published = () => publishedPanel({ region: goToRegion, comune: showComune });

/** @param {view.Comune[]} some @returns {[number, number, number, number] | null} */
function boxAround(some) {
  const boxes = some.flatMap(({ outline }) => (outline === null ? [] : [view.boxOf(outline)]));
  if (boxes.length === 0) return null;
  const side = (/** @type {number} */ index, /** @type {(...values: number[]) => number} */ most) => most(...boxes.map((box) => /** @type {number} */ (box[index])));
  return [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)];
}

/** @param {[number, number, number, number]} box @param {number} [maxZoom] */
function fit(box, maxZoom) {
  view.fit(box, covered(), maxZoom);
}

const isSmall = matchMedia('(max-width: 48rem)');

/** Returns how many pixels of the map are covered by panels, on the left and at the bottom. */
const covered = () => (isSmall.matches ? { left: 0, below: $('record').offsetHeight } : { left: $('panels').offsetLeft + $('panels').offsetWidth, below: 0 });

// --- Layers ---------------------------------------------------------------------------------------------------------------

/** @param {string} name @param {boolean} isStep */
function chooseLayer(name, isStep) {
  const known = layerNames().includes(name) ? name : 'coverage';
  layerChosen(known);
  for (const input of document.querySelectorAll('#choices input')) /** @type {HTMLInputElement} */ (input).checked = /** @type {HTMLInputElement} */ (input).value === known;
  view.redraw();
  if (isStep) writeAddress(true);
  showLegend();
}

// --- Signing in -----------------------------------------------------------------------------------------------------------

const dialog = /** @type {HTMLDialogElement} */ ($('sign-in'));
const tokenField = /** @type {HTMLInputElement} */ ($('token'));

function openDialog() {
  dialog.returnValue = '';
  tokenField.value = '';
  dialog.showModal();
}

/** @param {boolean} isNew true: tiles are requested again */
function showSigned(isNew) {
  $('sign').textContent = t(signedIn() ? 'signOut' : 'signIn');
  $('sign').classList.toggle('plain', signedIn());
  // The button is hidden during a session without a token, because only a restart of the server ends the session.
  $('sign').hidden = signedIn() && sessionStorage.getItem('token') === null;
  if (isNew) {
    parcelsShown(false);
    view.redraw();
  }
  parcelsShown(signedIn());
  view.redraw();
  showLegend();
}

$('sign').addEventListener('click', () => {
  if (!signedIn()) return openDialog();
  tokenChanged('');
  forget(true);
  showSigned(true);
  say(t('signedOut'));
});
$('cancel').addEventListener('click', () => dialog.close());
dialog.addEventListener('close', () => {
  const key = tokenField.value.trim();
  tokenField.value = '';
  if (dialog.returnValue === 'keep' && key !== '') void signIn(key);
});

/** Checks a token with one request. Without this check, each tile request with a wrong token would count as a bad key. @param {string} key */
async function signIn(key) {
  tokenChanged(key);
  try {
    await ask('/parcels/locate', { lat: 42, lng: 12.5, limit: 1 });
  } catch (error) {
    tokenChanged('');
    return failed(error);
  }
  showSigned(true);
  say(t('signedIn'));
}

// --- Language -------------------------------------------------------------------------------------------------------------

function fill() {
  fillWords();
  showLoading();
  $('language').textContent = t('switchTo').toUpperCase();
  $('language').setAttribute('aria-label', t('language'));
  $('language').setAttribute('lang', t('switchTo'));
  showLayers((name) => {
    chooseLayer(name, true);
    // Closes the list, because the list covers the map on a small screen.
    if (isSmall.matches) $('layers').removeAttribute('open');
  });
  showFilters(filtersChanged);
  showSigned(false);
  $('content').replaceChildren(...state.panel());
  const credits = /** @type {HTMLElement} */ ($('credits').querySelector('p'));
  credits.textContent = state.attribution.join(' · ');
  showBase();
  dispatchEvent(new Event('languagechosen'));
}

/** Shows the switch of a configured base map, and its attribution while the base map is drawn. */
function showBase() {
  $('base').hidden = state.baseMap === null;
  /** @type {HTMLInputElement} */ ($('base').querySelector('input')).checked = state.view.isBase;
  $('base-credit').hidden = view.baseDrawn() === null;
  $('base-credit').textContent = view.baseDrawn()?.attribution ?? '';
}

$('base').addEventListener('change', ({ target }) => {
  baseChosen(/** @type {HTMLInputElement} */ (target).checked);
  showBase();
  view.redraw();
});
$('language').addEventListener('click', () => {
  languageChanged();
  say('');
  fill();
});
$('opacity').addEventListener('input', ({ target }) => {
  opacityChanged(Number(/** @type {HTMLInputElement} */ (target).value) / 100);
  view.fade();
  showLegend();
});
// Redraws the legend with the new colours of the map.
onScheme(showLegend);
addEventListener('beforeprint', () => {
  const base = view.baseDrawn();
  $('printed').textContent = [t('printedFrom', { date: dateOf(new Date()), url: location.href }), ...(base === null ? [] : [t('printedBase', { name: base.attribution })])].join(' · ');
  for (const each of $('content').querySelectorAll('details:not([open])')) {
    each.setAttribute('open', '');
    each.setAttribute('data-unfolded', '');
  }
  view.drawForPaper(true);
  showLegend();
});
addEventListener('afterprint', () => {
  for (const each of $('content').querySelectorAll('[data-unfolded]')) {
    each.removeAttribute('open');
    each.removeAttribute('data-unfolded');
  }
  view.drawForPaper(false);
  showLegend();
});
addEventListener('popstate', () => void follow());

// --- Start ----------------------------------------------------------------------------------------------------------------

/** Requests the outlines of comuni region by region. The map shows the outlines that have arrived. */
async function readComuni() {
  for (const { code } of state.regions) {
    const { comuni } = await open('/map/overview.json', { region: code });
    // A comune without a loaded boundary is drawn as the bounding box of its cadastral sheets.
    comuniRead(comuni.map((/** @type {any} */ comune) => ({
      ...comune, outline: comune.outline ?? (comune.bbox === null ? null : boxed(comune.bbox)), isBox: comune.outline === null, region: code,
    })));
    view.redraw();
  }
}

async function start() {
  const first = new URLSearchParams(location.hash.slice(1)).get('signin');
  // Removes the secret from the address bar and the history.
  if (first !== null) history.replaceState(null, '', location.pathname);
  if (isSmall.matches) $('layers').removeAttribute('open');
  openSheet();
  panelShown(published);
  fill();
  openSearch({ comune: showComune, parcel: chooseParcel, place: choosePlace, street: showStreet, say, failed });
  const signing = openSession(first).catch((/** @type {unknown} */ error) => failed(error));
  try {
    const canDraw = await view.openView({
      choose: (fid) => chooseParcel(fid, false), comune: showComune, place: (lat, lng) => choosePlace(lat, lng),
      moved: () => {
        // The page must read the URL before it changes the URL.
        if (state.isFollowing) writeAddress(false);
        showLegend();
      },
      loading: showLoading,
      refused: (status) => {
        // An error message that is already shown is not replaced.
        if ((status === 401 || status === 403) && !$('status').classList.contains('problem')) say(t('refused'), true, button(t('signIn'), openDialog));
      },
    });
    if (!canDraw) say(t('noDrawing'), true);
    overviewRead(await open('/map/overview.json'));
    await signing;
    fill();
    await readComuni();
    readingEnded('read');
    fill();
    const comuni = [...state.comuni.values()];
    const whole = boxAround(comuni.filter(view.hasParcels)) ?? boxAround(comuni);
    // Keeps a parcel or place that the user selected while the page was loading.
    const isFresh = state.request === 0;
    if (isFresh && readAddress().place === null && whole !== null) fit(whole, 13);
    if (isFresh) await follow();
    else addressRead();
    if (!signedIn() && state.regions.length > 0 && first === null) offerSignIn();
  } catch (error) {
    readingEnded('failed');
    fill();
    failed(error);
  }
  document.body.dataset['ready'] = 'true';
}

void start();
