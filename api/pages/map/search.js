// @ts-check
/** Controls the search field, which shows suggestions while the user types. The field follows the combobox pattern of the ARIA authoring practices. */
import { readCadastral } from './cadastral.js';
import { ask, signedIn } from './interface.js';
import { $, element } from './elements.js';
import { absenceExplained, state, suggestionActivated, suggestionsFound } from './state.js';
import { hasWord, numberOf, t } from './words.js';

/**
 * @typedef {import('./state.js').Suggestion} Suggestion
 * @typedef {{ municipality: string, province: string, region: string | null }} UnloadedComune
 * @typedef {{ comune: (belfiore: string) => void, parcel: (id: number | string) => void, place: (lat: number, lng: number, name?: string) => void,
 *   street: (lat: number, lng: number, name: string) => void, say: (text: string, problem?: boolean) => void, failed: (error: unknown) => void }} Actions
 */

/** Milliseconds to wait after a keystroke before a search, because each search counts against the hourly limit of the token. */
const PAUSE_MS = 250;
const SHORTEST = 3;
const MOST = 8;
/** Maximum number of suggested comuni. */
const COMUNI = 3;

const field = /** @type {HTMLInputElement} */ ($('query'));
const list = $('suggestions');

/** Returns a text in lower case, without accents and outer spaces. @param {string} text */
export const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();

/** @param {Actions} actions */
export function openSearch(actions) {
  let waiting = 0;
  let asking = new AbortController();
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    asking.abort();
    const text = field.value.trim();
    if (text.length < 2) return close();
    show(local(text, actions));
    if (text.length >= SHORTEST && signedIn() && !isNumber(text)) waiting = setTimeout(() => {
      if (field.value.trim() === text) void suggest(text, false);
    }, PAUSE_MS);
  });
  field.addEventListener('keydown', (event) => {
    const { found, active } = state.search;
    if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && found.length > 0) {
      event.preventDefault();
      if (list.hidden) show(found);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      activate(active < 0 && step < 0 ? found.length - 1 : (active + step + found.length) % found.length);
    }
  });
  field.addEventListener('blur', close);
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    asking.abort();
    void submit();
  });

  async function submit() {
    const { found, active } = state.search;
    const chosen = found[active];
    const text = field.value.trim();
    if (chosen !== undefined && !list.hidden) return choose(chosen);
    if (text === '') return;
    const [first] = local(text, actions);
    // The beginning of a published name may be the exact name of an unpublished comune. Only the server knows all comuni.
    if (first !== undefined && (first.kind !== 'comune' || comuniCalled(text).length > 0)) return choose(first);
    if (!signedIn()) return actions.failed(null);
    await suggest(text, true);
    // If the text names a comune without loaded data, the search reports the comune and lists the results. Otherwise, the best result is opened.
    const [best] = state.search.found;
    if (best === undefined) return;
    if (state.search.isExplained) show(state.search.found);
    else choose(best);
  }

  /** @param {string} text @param {boolean} isWhole true: the input is complete, and an empty result is reported */
  async function suggest(text, isWhole) {
    asking = new AbortController();
    const { signal } = asking;
    if (isWhole) actions.say(t('searching'));
    suggestionsFound([]);
    try {
      const question = readCadastral(text);
      const { found, notLoaded } = question === null || 'reference' in question ? await addresses(text, actions, signal) : await parcels(question, actions, signal);
      if (signal.aborted || field.value.trim() !== text) return;
      const all = [...local(text, actions), ...found];
      const wasExplained = state.search.isExplained;
      absenceExplained(notLoaded.length > 0);
      // Reports an empty result or a comune that is not loaded, or removes the message about the previous input.
      if (isWhole || wasExplained || notLoaded.length > 0) actions.say(all.length === 0 || notLoaded.length > 0 ? absenceOf(text, notLoaded) : '', all.length === 0);
      if (document.activeElement === field && !isWhole) show(all);
      else suggestionsFound(all);
    } catch (error) {
      if (!signal.aborted) actions.failed(error);
    }
  }
}

/**
 * Returns the suggestions that need no request: a place, a parcel, or published comuni.
 * @param {string} text
 * @param {Actions} actions
 * @returns {Suggestion[]}
 */
function local(text, actions) {
  const coordinates = /^(-?\d+(?:\.\d+)?)[\s,;]+(-?\d+(?:\.\d+)?)$/.exec(text);
  if (coordinates !== null) return [{ kind: 'address', name: text, what: t('coordinates'), choose: () => actions.place(Number(coordinates[1]), Number(coordinates[2])) }];
  const question = readCadastral(text);
  const id = /^\d{9,10}$/.test(text) ? text : question !== null && 'reference' in question ? question.reference : null;
  if (id !== null) return [{ kind: 'parcel', name: t('parcel', { name: id }), text: id, what: t('byNumber'), choose: () => actions.parcel(id) }];
  return comuniNamed(text).map(({ name, belfiore, parcels: count }) => (
    { kind: 'comune', name: name ?? belfiore, what: t('ofComune', { parcels: numberOf(count ?? 0) }), choose: () => actions.comune(belfiore) }
  ));
}

/** Returns the published comuni whose name or code equals the text. @param {string} text */
function comuniCalled(text) {
  const [key, code] = [plain(text), text.toUpperCase()];
  return [...state.comuni.values()].filter(({ name, belfiore }) => (name !== null && plain(name) === key) || belfiore === code);
}

/**
 * Returns at most three published comuni whose code equals the text or whose name begins with the text. A comune with exactly this name comes first.
 * @param {string} text
 */
function comuniNamed(text) {
  const key = plain(text);
  const called = comuniCalled(text);
  const begun = [...state.comuni.values()].filter((comune) => comune.name !== null && plain(comune.name).startsWith(key) && !called.includes(comune));
  return [...called, ...begun].slice(0, COMUNI);
}

/**
 * Finds parcels by comune, foglio and particella. If a comune has exactly the typed name, comuni whose names begin with the typed name are not searched.
 * @param {import('./cadastral.js').CadastralPlace} question
 * @param {Actions} actions
 * @param {AbortSignal} signal
 * @returns {Promise<{ found: Suggestion[], notLoaded: UnloadedComune[] }>}
 */
async function parcels({ comune, ...place }, actions, signal) {
  const search = async (/** @type {readonly string[]} */ comuni) => {
    const answers = await Promise.all(comuni.map((each) => ask('/parcels/search', { comune: each, ...place, limit: MOST }, signal)));
    return answers.flatMap(({ data }) => data).slice(0, MOST).map((/** @type {any} */ { fid, label, cadastral_reference: reference, municipality, area_m2: area }) => (/** @type {Suggestion} */ ({
      kind: 'parcel', name: t('parcel', { name: reference }), text: reference, what: `${t('parcelIn', { label, comune: municipality.name ?? municipality.code })} · ${numberOf(area, { maximumFractionDigits: 0 })} m²`,
      choose: () => actions.parcel(fid),
    })));
  };
  const called = comuniCalled(comune).map(({ belfiore }) => belfiore);
  const found = await search(called.length > 0 ? called : [comune]);
  if (found.length > 0 || called.length > 0) return { found, notLoaded: [] };
  // The page knows no comune with this name, and no parcel was found. Asks the server whether the comune exists without loaded data.
  const { meta } = await ask('/map/suggestions', { q: comune }, signal);
  /** @type {UnloadedComune[]} */
  const notLoaded = meta.not_loaded ?? [];
  const begun = comuniNamed(comune).map(({ belfiore }) => belfiore);
  if (begun.length === 0 || notLoaded.some(({ municipality }) => plain(municipality) === plain(comune))) return { found, notLoaded };
  return { found: await search(begun), notLoaded: [] };
}

/** @param {string} text @param {Actions} actions @param {AbortSignal} signal @returns {Promise<{ found: Suggestion[], notLoaded: UnloadedComune[] }>} */
async function addresses(text, actions, signal) {
  // A query that ends with a letter may end with an incomplete word, which only /map/suggestions completes.
  const { data, meta } = await (/\p{L}$/u.test(text) ? ask('/map/suggestions', { q: text }, signal) : ask('/geocode/search', { q: text, limit: MOST }, signal));
  /** @type {Map<string, Suggestion>} */
  const found = new Map();
  for (const address of data) {
    const suggestion = address.match_type === 'street' ? streetOf(address, actions) : addressOf(address, actions);
    const key = `${suggestion.name}\n${suggestion.what}`;
    // A street may occur several times, with different addresses.
    if (!found.has(key)) found.set(key, suggestion);
  }
  return { found: [...found.values()], notLoaded: meta.not_loaded ?? [] };
}

/**
 * Returns a suggestion for a street: the address that represents the street, without the house number.
 * @param {any} address
 * @param {Actions} actions
 * @returns {Suggestion}
 */
function streetOf({ street_name: street, locality, municipality_name: comune, municipality_code: code, latitude, longitude }, actions) {
  const name = [street, locality === '' ? comune ?? code : locality].join(', ');
  return { kind: 'street', name, what: [comune ?? code, t('street')].join(' · '), choose: () => actions.street(latitude, longitude, name) };
}

/** @param {any} address @param {Actions} actions @returns {Suggestion} */
function addressOf({ formatted_address: name, municipality_name: comune, municipality_code: code, match_type: match, latitude, longitude }, actions) {
  return { kind: 'address', name, what: [comune ?? code, hasWord(match) ? t(match) : ''].filter(Boolean).join(' · '), choose: () => actions.place(latitude, longitude, name) };
}

/**
 * Returns a message that names the comuni that are not loaded or, if there are none, says that nothing was found.
 * @param {string} text
 * @param {UnloadedComune[]} notLoaded
 */
function absenceOf(text, notLoaded) {
  if (notLoaded.length === 0) return t('nothing', { text });
  const loaded = state.regions.map(({ name }) => name);
  return notLoaded.map(({ municipality: name, region }) => (
    region === null || loaded.includes(region) ? t('comuneNotLoaded', { name }) : t('regionNotLoaded', { name, region })
  )).join(' ');
}

const isNumber = (/** @type {string} */ text) => /^[-\d.,;\s]+$/.test(text);

/** @param {Suggestion[]} found */
function show(found) {
  suggestionsFound(found);
  list.replaceChildren(...found.map((each, index) => {
    const option = element('li', { id: `suggestion-${index}`, role: 'option', 'aria-selected': 'false', 'data-kind': each.kind }, [element('span', {}, [each.name]), element('small', {}, [each.what])]);
    // Without this handler, the field loses the focus and the list closes before the click.
    option.addEventListener('pointerdown', (event) => event.preventDefault());
    option.addEventListener('click', () => choose(each));
    return option;
  }));
  list.hidden = found.length === 0;
  field.setAttribute('aria-expanded', String(!list.hidden));
  activate(-1);
}

/** @param {number} index -1: no suggestion */
function activate(index) {
  suggestionActivated(index);
  [...list.children].forEach((option, at) => option.setAttribute('aria-selected', String(at === index)));
  if (index < 0) return field.removeAttribute('aria-activedescendant');
  field.setAttribute('aria-activedescendant', `suggestion-${index}`);
  list.children[index]?.scrollIntoView({ block: 'nearest' });
}

function close() {
  list.hidden = true;
  suggestionActivated(-1);
  field.setAttribute('aria-expanded', 'false');
  field.removeAttribute('aria-activedescendant');
}

/** @param {Suggestion} suggestion */
function choose(suggestion) {
  field.value = suggestion.text ?? suggestion.name;
  close();
  // Removes the focus, because an on-screen keyboard would cover the map.
  if (matchMedia('(pointer: coarse)').matches) field.blur();
  suggestion.choose();
}
