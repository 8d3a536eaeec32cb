// @ts-check
/** Search field with suggestions while the user types: the combobox of the ARIA authoring practices. */
import { ask, signedIn } from './interface.js';
import { $, element } from './elements.js';
import { hasWord, numberOf, t } from './words.js';

/** @typedef {{ kind: 'street' | 'comune' | 'parcel' | 'address', name: string, what: string, choose: () => void }} Suggestion */
/** @typedef {{ municipality: string, province: string, region: string | null }} UnloadedComune */

/** Pause after a keystroke in milliseconds. Each search counts against the hourly limit of the token. */
const PAUSE_MS = 250;
const SHORTEST = 3;
const MOST = 8;

const field = /** @type {HTMLInputElement} */ ($('query'));
const list = $('suggestions');
/** @type {Suggestion[]} */
let suggestions = [];
let active = -1;
let waiting = 0;
let asking = new AbortController();
/** True if the message about comuni that are not loaded is shown. */
let isExplained = false;

/** Removes case and accents. @param {string} text */
export const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();

/**
 * @param {{ comuni: () => Iterable<import('./view.js').Comune>, regions: () => { name: string }[], comune: (belfiore: string) => void, parcel: (fid: number) => void,
 *   place: (lat: number, lng: number, name?: string) => void, say: (text: string, problem?: boolean) => void, failed: (error: unknown) => void }} told
 */
export function openSearch(told) {
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    asking.abort();
    const text = field.value.trim();
    if (text.length < 2) return close();
    show(local(text));
    if (text.length >= SHORTEST && signedIn() && !isNumber(text)) waiting = setTimeout(() => void suggest(text, false), PAUSE_MS);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && suggestions.length > 0) {
      event.preventDefault();
      if (list.hidden) show(suggestions);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      activate(active < 0 && step < 0 ? suggestions.length - 1 : (active + step + suggestions.length) % suggestions.length);
    }
  });
  field.addEventListener('blur', close);
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = suggestions[active];
    if (chosen !== undefined && !list.hidden) choose(chosen);
    else void (async () => {
      // The newest input may not have an answer yet.
      clearTimeout(waiting);
      const text = field.value.trim();
      if (text === '') return;
      const [first] = local(text);
      if (!signedIn() && first === undefined) return told.failed(null);
      if (first !== undefined || await suggest(text, true)) choose(first ?? /** @type {Suggestion} */ (suggestions[0]));
    })();
  });

  /** Returns suggestions that need no server. @param {string} text @returns {Suggestion[]} */
  function local(text) {
    const coordinates = /^(-?\d+(?:\.\d+)?)[\s,;]+(-?\d+(?:\.\d+)?)$/.exec(text);
    if (coordinates !== null) return [{ kind: 'address', name: text, what: t('coordinates'), choose: () => told.place(Number(coordinates[1]), Number(coordinates[2])) }];
    if (/^\d{9,10}$/.test(text)) return [{ kind: 'parcel', name: t('parcel', { name: text }), what: t('byNumber'), choose: () => told.parcel(Number(text)) }];
    const key = plain(text);
    return [...told.comuni()].filter(({ name, belfiore }) => (name !== null && plain(name).startsWith(key)) || belfiore === text.toUpperCase()).slice(0, 3)
      .map(({ name, belfiore, parcels }) => ({ kind: 'comune', name: name ?? belfiore, what: t('ofComune', { parcels: numberOf(parcels ?? 0) }), choose: () => told.comune(belfiore) }));
  }

  /** Explains an empty result: the named comuni are not loaded, or no address is similar. @param {string} text @param {UnloadedComune[]} [notLoaded] */
  function emptyText(text, notLoaded = []) {
    if (notLoaded.length === 0) return t('nothing', { text });
    const loaded = told.regions().map(({ name }) => name);
    return notLoaded.map(({ municipality: name, region }) => (
      region === null || loaded.includes(region) ? t('comuneNotLoaded', { name }) : t('regionNotLoaded', { name, region })
    )).join(' ');
  }

  /**
   * @param {string} text @param {boolean} isWhole the input is complete: an empty result is reported @returns {Promise<boolean>} whether there are results
   */
  async function suggest(text, isWhole) {
    asking = new AbortController();
    const { signal } = asking;
    if (isWhole) told.say(t('searching'));
    try {
      // Complete input uses the usual search. While the user types, the last word may be incomplete.
      const isBegun = !isWhole && /\p{L}$/u.test(field.value);
      const { data, meta } = await (isBegun ? ask('/map/suggestions', { q: text }, signal) : ask('/geocode/search', { q: text, limit: MOST }, signal));
      if (signal.aborted) return false;
      const found = [...local(text), ...data.map((address) => ({
        kind: address.match_type === 'street' ? 'street' : 'address',
        name: address.formatted_address,
        what: [address.municipality_name ?? address.municipality_code, hasWord(address.match_type) ? t(address.match_type) : ''].filter(Boolean).join(' · '),
        choose: () => told.place(address.latitude, address.longitude, address.formatted_address),
      }))];
      // The message about the earlier input no longer applies.
      if (isWhole || isExplained || meta.not_loaded !== undefined) told.say(found.length === 0 ? emptyText(text, meta.not_loaded) : '', found.length === 0);
      isExplained = meta.not_loaded !== undefined;
      if (document.activeElement === field && !isWhole) show(found);
      else suggestions = found;
      return found.length > 0;
    } catch (error) {
      if (!signal.aborted) told.failed(error);
      return false;
    }
  }
}

const isNumber = (text) => /^[-\d.,;\s]+$/.test(text);

/** @param {Suggestion[]} found */
function show(found) {
  suggestions = found;
  list.replaceChildren(...found.map((each, index) => {
    const option = element('li', { id: `suggestion-${index}`, role: 'option', 'aria-selected': 'false', 'data-kind': each.kind }, [element('span', {}, [each.name]), element('small', {}, [each.what])]);
    // Without this, the field loses the focus and the list closes before the click.
    option.addEventListener('pointerdown', (event) => event.preventDefault());
    option.addEventListener('click', () => choose(each));
    return option;
  }));
  list.hidden = found.length === 0;
  field.setAttribute('aria-expanded', String(!list.hidden));
  activate(-1);
}

/** @param {number} index -1: none */
function activate(index) {
  active = index;
  [...list.children].forEach((option, at) => option.setAttribute('aria-selected', String(at === index)));
  if (index < 0) return field.removeAttribute('aria-activedescendant');
  field.setAttribute('aria-activedescendant', `suggestion-${index}`);
  list.children[index]?.scrollIntoView({ block: 'nearest' });
}

function close() {
  list.hidden = true;
  active = -1;
  field.setAttribute('aria-expanded', 'false');
  field.removeAttribute('aria-activedescendant');
}

/** @param {Suggestion} suggestion */
function choose(suggestion) {
  clearTimeout(waiting);
  field.value = suggestion.name;
  close();
  // An on-screen keyboard would cover the map.
  if (matchMedia('(pointer: coarse)').matches) field.blur();
  suggestion.choose();
}
