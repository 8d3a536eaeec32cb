/**
 * Normalises Italian street and comune names. ANNCSU street names are normalised before they are staged, and queries before the search. Different
 * spellings of one name then have equal types and tokens.
 */
import {
  ABBREVIATIONS, COUNTED, GERMAN_ENDINGS, MONTHS, NUMBERED_TYPES, OTHER_TYPES, PARTICLES, REGNAL, ROUTES, SAINTS, STREET_TYPES, TITLES,
  WRITTEN_NUMBERS, roman,
} from './words.ts';

export interface StreetName {
  /** Canonical street type, such as `piazza`; null if the name has no type, as in the sestieri of Venezia. */
  readonly type: string | null;
  /** Other street types that the written abbreviation may mean. */
  readonly otherTypes: readonly string[];
  /**
   * Words of the name in order, in lower case and without accents. Titles, particles and single letters are omitted if other words remain. All forms of saint
   * become `san`, and numerals become digits. Never empty for a text with letters or digits.
   */
  readonly tokens: readonly string[];
}

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', đ: 'd', ł: 'l', æ: 'ae', œ: 'oe', ı: 'i' };

/** windows-1252 characters for the bytes 0x80 to 0x9F, which are control characters in Latin-1. A blank marks an unused byte. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
const TWICE = new RegExp(`[\u00c2\u00c3\u00e3]([\u0080-\u00bf${WINDOWS_1252.replaceAll(' ', '')}])`, 'g');

/**
 * Decodes text that the publisher encoded as UTF-8 more than once (`CIRÃ²`, `CIRÃ\u0083Â²`, `CIRÃ’`), including text in lower case (`Cirã²`). Replaces a final
 * Ã by À, because it is an À whose second byte was lost. No Italian name ends with Ã.
 */
export function repairLetters(text: string): string {
  if (!/[\u00c2\u00c3\u00e3]/.test(text)) return text;
  const once = (twice: string): string => twice.replace(TWICE, (pair, second: string) => {
    const byte = second <= '\u00bf' ? second.charCodeAt(0) : 0x80 + WINDOWS_1252.indexOf(second);
    return String.fromCharCode(((pair.charCodeAt(0) & 0x1f) << 6) | (byte & 0x3f));
  });
  return once(once(text)).replace(/\u00c3(?!\p{L})/gu, '\u00c0');
}

/**
 * Converts text to lower case without accents. Replaces compatibility characters and typographic apostrophes by plain characters. Repairs wrongly decoded
 * letters. Keeps `°` and `'`.
 */
export function fold(text: string): string {
  // Nearly all names are plain ASCII. In ASCII, only upper case and the grave accent used as an apostrophe must be replaced.
  if (/^[\0-\x7f]*$/.test(text)) return text.replaceAll('`', "'").toLowerCase();
  return repairLetters(text)
    .replace(/[ºª˚]/g, '°')
    .replace(/[’‘ʼ`´′＇]/g, "'")
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[ßøđłæœı]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replace(/\p{M}+/gu, '');
}

/** A word of folded text, and whether a full stop follows the word. */
export interface Word {
  readonly text: string;
  readonly dot: boolean;
}

/** Matches two short pieces that may form a known abbreviation: `p.zza`, `c/da`, `f.lli`. */
const BROKEN_ABBREVIATION = /(?<![a-z0-9])([a-z]{1,4})[./]\s?([a-z]{1,4})(?![a-z'])\.?/g;
const ELISION = /(?<![a-z])(dell|nell|all|dall|sull|coll|quell|un|d|l)'\s?(?=[a-z0-9])/g;
const SAINT_ELISION = /(?<![a-z])(?:sant|s)'\s?(?=[a-z])/g;

/**
 * Splits folded text into words. Omits elided articles and prepositions, such as `dell'`. `sant'` becomes `san`, and the pieces of an abbreviation are joined.
 */
export function words(folded: string): Word[] {
  const text = folded
    .replace(BROKEN_ABBREVIATION, (whole, head: string, tail: string) => {
      const joined = head + tail;
      return ABBREVIATIONS.has(joined) || (STREET_TYPES.has(joined) && joined.length > 1) ? `${joined} ` : whole;
    })
    .replace(SAINT_ELISION, 'san ')
    .replace(ELISION, ' ')
    .replaceAll("'", ' ');
  return Array.from(text.matchAll(/([a-z]+|\d+)(\.?)/g), ([, word = '', dot]) => ({ text: word, dot: dot === '.' }));
}

/** Matches a numbered road: `ss 18`, `s.p. n. 12 bis`, `strada provinciale 12`. Capture groups: initial, words, number, suffix. */
const ROUTE = new RegExp(
  '(?<![a-z0-9])(?:s\\.?\\s?([spr])\\.?|(?:str(?:ada)?\\.?\\s?)?(stat(?:ale)?|prov(?:inciale|\\.?le)?|reg(?:ionale)?)\\.?|str(?:ada)?\\.?\\s?(com(?:unale)?)\\.?|s\\.?(c)\\.)'
  + '\\s*(?:n(?:\\.|°|r\\.?|um(?:ero|\\.)?)?\\s?[.°]?\\s*)?(\\d{1,4})(?!\\d)(?:\\s?(bis|ter|quater|dir|var|racc)(?![a-z]))?',
);

interface Route {
  readonly type: string;
  /** Number and suffix of the road, such as `18` or `12bis`. */
  readonly token: string;
  readonly start: number;
  readonly end: number;
}

/** Finds the first numbered road in folded text. */
export function findRoute(folded: string): Route | null {
  const match = ROUTE.exec(folded);
  if (match === null) return null;
  const [whole, initial, kind, comunale, vicinale, number, suffix = ''] = match;
  const type = ROUTES[(initial ?? kind ?? comunale ?? vicinale ?? '').charAt(0)];
  return type === undefined ? null : { type, token: `${Number(number)}${suffix}`, start: match.index, end: match.index + whole.length };
}

/** Returns the type and the tokens of a name in one language. */
export function normaliseStreet(text: string): StreetName {
  return normaliseFolded(fold(text));
}

/** Returns the type and the tokens of a name that is already folded. */
export function normaliseFolded(folded: string): StreetName {
  const route = findRoute(folded);
  if (route !== null && !/[a-z0-9]/.test(folded.slice(0, route.start).replace(/^via |^strada /, ''))) {
    return { type: route.type, otherTypes: [], tokens: [route.token, ...tokensOf(words(folded.slice(route.end)), null).tokens] };
  }
  const all = words(folded);
  const typed = takeType(all);
  const { type, tokens } = tokensOf(all.slice(typed?.length ?? 0), typed?.type ?? null);
  // If a name is only a type (CASE SPARSE, LOCALITA'), the words of the type are the tokens.
  return { type, otherTypes: typed?.otherTypes ?? [], tokens: tokens.length > 0 ? tokens : typed?.type.split(' ') ?? all.map(({ text }) => text) };
}

/** Returns the street type at the start of a name: the longest run of at most three words that is a type. Returns null if there is no type. */
export function takeType(all: readonly Word[]): { type: string; otherTypes: readonly string[]; length: number } | null {
  for (let length = Math.min(3, all.length); length > 0; length -= 1) {
    const written = all.slice(0, length).map(({ text }) => text).join(' ');
    const type = STREET_TYPES.get(written);
    // One letter is a type only with a full stop: `v. Roma`.
    if (type !== undefined && (written.length > 1 || all[0]?.dot === true)) return { type, otherTypes: OTHER_TYPES[written] ?? [], length };
  }
  return null;
}

function tokensOf(all: readonly Word[], type: string | null): { type: string | null; tokens: string[] } {
  const tokens: string[] = [];
  /** Titles of the name. If the name has no other words, the titles are the tokens, or the particles if there is no title (`Via del Papa`, `Via A`). */
  const titles: string[] = [];
  const particles: string[] = [];
  let found = type;
  const expanded = all.flatMap((word) => {
    const full = ABBREVIATIONS.get(word.text);
    return full === undefined ? [word] : full.split(' ').map((text) => ({ text, dot: false }));
  });
  for (const [index, word] of expanded.entries()) {
    const { text } = word;
    const before = expanded[index - 1]?.text;
    const after = expanded[index + 1]?.text;
    const number = numeral(word, before, after, type);
    if (number !== null) tokens.push(String(number));
    else if (SAINTS.has(text) && (text.length > 1 || after !== undefined)) {
      if (tokens.at(-1) !== 'san') tokens.push('san');
    } else if (PARTICLES.has(text) || text.length === 1) particles.push(text);
    else if (TITLES.has(text)) titles.push(text);
    else {
      const german = found === null ? germanCompound(word) : null;
      if (german === null) tokens.push(text);
      else {
        found = german.type;
        if (german.stem !== '') tokens.push(german.stem);
      }
    }
  }
  return { type: found, tokens: [tokens, titles, particles].find((list) => list.length > 0) ?? [] };
}

function numeral({ text, dot }: Word, before: string | undefined, after: string | undefined, type: string | null): number | null {
  if (/^\d/.test(text)) return Number(text);
  const written = WRITTEN_NUMBERS.get(text);
  if (written !== undefined) return written;
  const value = roman(text);
  if (value === null) return null;
  if (text.length > 1) return value;
  // A single I, V or X is a number before a month or a counted word (`V giornate`). Without a full stop, the letter is also a number after the name of a king
  // or pope, and directly after a street type in `NUMBERED_TYPES`. As the last of several words, V or X without a full stop is a number, too. Elsewhere the
  // letter is an article or an initial.
  if (after !== undefined && (MONTHS.has(after) || COUNTED.has(after))) return value;
  if (dot) return null;
  if (before !== undefined && REGNAL.has(before)) return value;
  if (before === undefined && type !== null && NUMBERED_TYPES.has(type)) return value;
  return before !== undefined && after === undefined && text !== 'i' ? value : null;
}

function germanCompound({ text, dot }: Word): { type: string; stem: string } | null {
  for (const [ending, type] of GERMAN_ENDINGS) {
    if (!text.endsWith(ending)) continue;
    const stem = text.slice(0, -ending.length);
    // A word that is equal to an ending other than `str` is a type without a stem. Short Italian words must not be split, so any other stem has at least three
    // letters, and the ending `str` needs a full stop.
    if (stem === '' ? ending.length > 3 || ending === 'weg' : stem.length >= 3 && (ending !== 'str' || dot)) return { type, stem };
  }
  return null;
}

/** A street name, with the ANNCSU field that contains the name. */
interface NamedStreet extends StreetName {
  /** `odonimo`: the official name, or half of a bilingual name. `lingua1`, `lingua2`: the name in the fields DIZIONE_LINGUA. */
  readonly kind: 'odonimo' | 'lingua1' | 'lingua2';
  readonly name: string;
}

/**
 * Splits a bilingual name: `VIA MUSEO / MUSEUMSTRASSE`, `VIA MUSEO - MUSEUMSTRASSE`. A dash splits a name only if exactly one side is German, because Italian
 * names contain dashes too.
 */
function halves(name: string): string[] {
  const slash = name.split(/\s\/|\/\s/).map((half) => half.trim());
  if (slash.length > 1 && slash.every((half) => /\p{L}{3}/u.test(half))) return slash;
  const dash = name.split(/\s-\s/).map((half) => half.trim());
  if (dash.length === 2 && dash.some((half) => germanName(half)) && dash.some((half) => !germanName(half))) return dash;
  return [name];
}

function germanName(name: string): boolean {
  return words(fold(name)).some((word) => germanCompound(word) !== null || GERMAN_ENDINGS.some(([ending]) => ending === word.text));
}

/**
 * Returns every searchable name of a street: the official name, the halves of a bilingual name, and the names in second languages. No two names have equal
 * types and tokens.
 */
export function streetNames(odonimo: string, lingua1: string | null, lingua2: string | null): NamedStreet[] {
  const written = [...halves(odonimo).map((name) => ({ kind: 'odonimo', name }) as const), { kind: 'lingua1', name: lingua1 }, { kind: 'lingua2', name: lingua2 }] as const;
  const names = new Map<string, NamedStreet>();
  for (const { kind, name } of written) {
    const normal = normaliseStreet(name ?? '');
    const key = `${normal.type ?? ''}|${normal.tokens.join(' ')}`;
    if (name !== null && normal.tokens.length > 0 && !names.has(key)) names.set(key, { kind, name, ...normal });
  }
  return [...names.values()];
}

/**
 * Returns the search key of a comune's or locality's name: folded words without articles, prepositions and conjunctions, with `san` for all forms of saint. For
 * example, `Reggio nell'Emilia` and `Reggio Emilia` have the same key, and so do `S. Giorgio` and `San Giorgio`. `core.comune_key` in SQL returns the same keys
 * for ISTAT's names. A test checks that `comuneKey` and `core.comune_key` agree.
 */
export function comuneKey(name: string): string {
  const all = fold(name).replaceAll("'", ' ').match(/[a-z0-9]+/g) ?? [];
  const kept = all.filter((word) => !PARTICLES.has(word)).map((word) => (SAINTS.has(word) ? 'san' : word));
  return (kept.length > 0 ? kept : all).join(' ');
}

/**
 * Returns the search key of a part of a comune: like `comuneKey`, but without the types `localita` and `frazione` at the start. `LOCALITA' PIANO`, `loc. Piano`
 * and `Piano` have the same key. Returns null if no word is left.
 */
export function localityKey(name: string): string | null {
  const all = words(fold(name));
  const type = takeType(all);
  const isPart = type?.type === 'localita' || type?.type === 'frazione';
  return comuneKey(all.slice(isPart ? type.length : 0).map(({ text }) => text).join(' ')) || null;
}
