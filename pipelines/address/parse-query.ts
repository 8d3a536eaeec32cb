/**
 * Parses a typed query as an Italian address: street, civico, comune. Each interpretation of a query is a reading. The likeliest reading comes
 * first. If a query is ambiguous, the search tries further readings in order.
 *
 * Terminology
 * - street part, comune part: the text before and after the civico.
 * - civico: the house number; exponent: the suffix of the civico (`A`, `BIS`, `3`); colour: `ROSSO` (Genova, Firenze) or `NERO`.
 * - SNC: *senza numero civico*, an access without a number. Metric: a position in metres along a road (`km 3+200`).
 */
import { findRoute, fold, localityKey, normaliseFolded, takeType, words, type StreetName, type Word } from './normalise.ts';
import {
  codesOf, Gazetteer, isCalled, isComune, keysOf, NOWHERE, PART_TYPES, partOf, placeOf, prefixes, statedProvince, suffixes,
  type FindComune, type Lookup, type NamedPlace, type Place, type Segment, type Stated,
} from './place.ts';
import { MONTHS, REGNAL, SAINTS, STREET_TYPES } from './words.ts';

/** The text after the name of a street: number, range, exponent, colour, metres. */
interface Ending {
  readonly number: number | null;
  /** Second number of a range such as `63-65`. */
  readonly rangeTo: number | null;
  /** Suffix of the civico in upper case, with its pieces joined by `/`: `A`, `BIS/A`, `3`. */
  readonly exponent: string | null;
  readonly colour: 'ROSSO' | 'NERO' | null;
  /** Position along the road, in metres. */
  readonly metricM: number | null;
  readonly snc: boolean;
}

export type { ComuneHit, FindComune, Names } from './place.ts';

const NO_ENDING: Ending = { number: null, rangeTo: null, exponent: null, colour: null, metricM: null, snc: false };

export interface Reading extends Ending, Place {
  readonly streetType: string | null;
  /** Other street types that the written abbreviation may mean. */
  readonly otherTypes: readonly string[];
  readonly tokens: readonly string[];
  /** True if the search must match the whole street name exactly, for example because some of its words may name a comune. */
  readonly whole: boolean;
  /** Cadastral codes of the named comuni if the query names only a place, such as `Roma` or `Roma, Lazio`; missing otherwise. */
  readonly called?: readonly string[];
}

/** A conflict: the query names one comune, and the caller names a different comune. */
export interface Contradiction {
  /** Cadastral codes of the comuni that the query names. */
  readonly query: readonly string[];
  /** Cadastral codes of the comuni that the caller names. */
  readonly city: readonly string[];
}

export interface ParsedQuery {
  /** Readings, likeliest first, at most `MOST_READINGS`. Empty if the text has no street. */
  readonly readings: readonly Reading[];
  /** Conflict between the comune in the query and the caller's comune; null if there is none. */
  readonly contradiction: Contradiction | null;
}

/** Largest number of readings of a query. Each reading is a database search. */
export const MOST_READINGS = 6;
/** Largest number of names that are read for one street. Streets in places with two official languages have two names. */
const MOST_NAMES = 2;

/** Cadastral codes of the comuni with a second, red series of numbers: Genova, Firenze, Savona. */
const RED_NUMBERS: ReadonlySet<string> = new Set(['D969', 'D612', 'I480']);

/**
 * Matches the position inside a building: scala, interno, piano, palazzina, edificio, lotto, corpo. The position must follow a number, because
 * `Piazza della Scala` is a street name.
 */
const INSIDE = new RegExp(
  '(\\d[^,;]*?[\\s,;]+)(?:(?:scala|sc\\.)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9])|(?:interno|int\\.?)\\s*\\d{0,3}[a-z]?(?![a-z0-9])'
  + '|(?:piano|p\\.)\\s*(?:\\d{1,2}(?!\\d)°?|terra|rialzato|primo|secondo|terzo|quarto|quinto|ultimo|t(?![a-z]))|\\d{1,2}°\\s*piano'
  + '|(?:palazzina|pal\\.|edificio|ed\\.|lotto|corpo)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9]))',
);
/** Matches "c/o" or "presso" and the addressee, up to a comma, a semicolon or a street. Does not match in `Riva presso Chieri`, which is a comune. */
const CARE_OF = /(?<![a-z])(?:c\s?\/\s?o(?![a-z0-9])\.?|(?<!riva )presso(?![a-z]))((?:(?!\s(?:via|viale|v\.le|piazza|p\.zza|piazzale|corso|c\.so|largo|vicolo|strada|contrada|c\.da|localita)\s)[^,;])*)/g;
/** Matches the country code before a postal code: `I-20121`, `IT-20121`. */
const COUNTRY_BEFORE_POSTAL_CODE = /(?<![a-z0-9])it?\s?-\s?(?=\d{5}(?!\d))/g;
const SNC = /(?<![a-z])(?:s\.?\s?n\.?\s?c\.?(?![a-z])|senza\s+(?:numero(?:\s+civico)?|civico)(?![a-z])|s\.\s?n\.(?!\s?[a-z]))/;
const KILOMETRE = /(?<![a-z])(?:al\s+)?k\.?\s?m\.?\s*(\d{1,4})(?:\s*([+.,])\s*(\d{1,3})(?!\d))?/;
const NUMBER_MARK = /(?<![a-z])(?:n\s?°|n\.(?:ro|o)?|nr\.?|num\.|numero(?:\s+civico)?|nro|n|no\.|civ\.|civico|civ)\s*(?:n[.°]?\s*)?(?=\d)/g;
/** Character that replaces `n.` and `civ.` before a number. Folded text never contains this character. */
const MARK = '\u0001';
const SEPARATOR = /(\s*[,;\n]\s*|\s+[-–—]\s+)/;
const EXPONENT_WORD = /^\s?[/\\-]?\s?(bis|ter|quater|quinquies|sexies)(?![a-z])/;

/** A house number found in the query, with its position. */
interface Civico {
  readonly start: number;
  readonly end: number;
  /** True if `n.` or `civ.` precedes the number. */
  readonly marked: boolean;
  readonly ending: Ending & { readonly number: number };
}

/** A split of the query into street part, ending and comune part. */
interface Cut {
  readonly street: readonly Segment[];
  readonly ending: Ending;
  readonly comune: readonly Segment[];
}

/**
 * Parses a query.
 * @param query text that the user typed
 * @param city name or cadastral code of the comune that the caller gave; null if not given
 * @param findComune looks up names in the gazetteer
 * @returns readings, likeliest first, and the conflict with `city`, if any
 */
export async function parseQuery(query: string, city: string | null, findComune: FindComune): Promise<ParsedQuery> {
  const { text, province, careOf, aside } = prepare(query);
  const gazetteer = new Gazetteer(findComune);
  const cuts = cutsOf(text, query);
  const parts = [...cuts.flatMap(({ street, comune }) => [...street, ...comune]), ...careOf, ...aside];
  await gazetteer.learn([...keysOf(parts), ...(province === null ? [] : [province.key]), ...(city === null ? [] : keysOfCity(city))]);
  const given = city === null ? null : await resolveCity(city, gazetteer);

  const found: Found[] = [];
  for (const [index, cut] of cuts.entries()) {
    const inside = cut.comune.length > 0 || cut.street.length > 1 ? [] : careOf.filter((segment) => gazetteer.endsInComune(segment.text));
    const named = gazetteer.bound(province) === null ? aside.filter((segment) => isCalled(segment, gazetteer)) : [];
    // The second cut may contain no civico. The number is then read as part of the street's name, so the whole name must match.
    const whole = index > 0 && cut.ending === NO_ENDING;
    const lookup = { gazetteer, province: gazetteer.bound(province), names: given === null ? 'similar' : 'exact' } as const;
    found.push(...(await readingsOf({ ...cut, comune: [...cut.comune, ...inside, ...named], whole }, given, lookup)));
  }
  // If the query names a place, readings without a place, or with a different place among the words of the street, are dropped. If words of the street may
  // name a comune, a reading without a comune must match the whole street name.
  const named = found.some(({ position }) => position === 'place');
  const places = new Set(found.flatMap(({ reading, position }) => (position === 'place' ? reading.comuni ?? [] : [])));
  const mayBeNamed = found.some(({ mayNameComune }) => mayNameComune);
  const readings = new Map<string, Reading>();
  const called = given === null ? await comuniCalled(cuts, gazetteer.bound(province), gazetteer) : [];
  for (const { reading, position } of found) {
    if (reading.tokens.length === 0 || (named && (position === 'none' || (position === 'words' && reading.comuni?.some((code) => !places.has(code)) === true)))) continue;
    const kept: Reading = {
      ...reading,
      ...(mayBeNamed && position === 'none' ? { whole: true } : {}),
      ...(called.length > 0 ? { called } : {}),
    };
    const key = JSON.stringify(kept);
    if (readings.size < MOST_READINGS && !readings.has(key)) readings.set(key, kept);
  }
  return { readings: [...readings.values()], contradiction: found.find(({ contradiction }) => contradiction !== null)?.contradiction ?? null };
}

/**
 * Returns the comuni with a given name (Italian, second-language or former) or cadastral code.
 * @param findComune looks up names in the gazetteer
 * @returns cadastral codes; empty for an unknown name
 */
export async function findCity(city: string, findComune: FindComune): Promise<readonly string[]> {
  return (await resolveCity(city, new Gazetteer(findComune))).comuni ?? [];
}

/** @returns cadastral codes if the query is only the name of a place, such as `Roma` or `Roma, Lazio`; otherwise empty */
async function comuniCalled([cut, ...others]: readonly Cut[], province: string | null, gazetteer: Gazetteer): Promise<readonly string[]> {
  const [first] = cut?.street ?? [];
  if (cut === undefined || others.length > 0 || cut.ending !== NO_ENDING || first === undefined || !isCalled(first, gazetteer)) return [];
  if (cut.street.some(({ text }) => isMainType(words(text)))) return [];
  const { comuni, sure } = await placeOf(cut.street, { gazetteer, province, names: 'exact' });
  return sure ? comuni ?? [] : [];
}

/** A query split into the address and the texts that are not part of the address. */
interface Prepared {
  readonly text: string;
  /** Last text in parentheses, read as a province; null if there is none. */
  readonly province: Stated | null;
  /** Addressees after "c/o" or "presso". */
  readonly careOf: readonly Segment[];
  /** Texts in parentheses. */
  readonly aside: readonly Segment[];
}

/**
 * Folds the query, and removes the country, the addressee, the position inside the building, text in parentheses, and labels such as `indirizzo`. Also
 * corrects two exchanged letters of the street type, and inserts a comma before a word or postal code that begins the place.
 */
function prepare(query: string): Prepared {
  const careOf: Segment[] = [];
  let text = fold(query).replace(/\s+/g, ' ').trim().replace(COUNTRY, '').replace(CARE_OF, (_, whom: string) => {
    careOf.push(...segmentsOf(whom));
    return ' ';
  }).replace(COUNTRY_BEFORE_POSTAL_CODE, '');
  while (INSIDE.test(text)) text = text.replace(INSIDE, '$1');
  let province: Stated | null = null;
  const aside: Segment[] = [];
  text = text.replace(/\s*\(([^)]*)\)?/g, (_, content: string) => {
    if (/[a-z0-9]/.test(content)) {
      province = statedProvince(content);
      aside.push({ text: content.trim(), dash: false });
    }
    return ' ';
  });
  text = text.replace(/\s+/g, ' ').trim()
    .replace(LABEL, '')
    .replace(POSTAL_CODE_LABEL, '')
    // A postal code before the address belongs to the place after the address.
    .replace(/^(\d{5})[\s,;-]+(?=[a-z])(.*)$/, '$2, $1')
    .replace(/(?<![a-z0-9])([a-z]{3,})(?=\d{1,5}(?![a-z]?\d))/g, '$1 ')
    // In `R. Emilia` and `R. Calabria`, R means Reggio.
    .replace(/(?<=[\d,;]\s?|^)r\.\s?(?=(?:emilia|calabria)(?![a-z]))/g, 'reggio ')
    .replace(PLACE_WORDS, (whole, start: string, offset: number, all: string) => (hasName(all.slice(0, offset)) ? `, ${start} ` : whole));
  // Inserts a comma before a postal code that begins the place: `Via Roma 86020 Roccapparente`.
  return { text: withType(text.replace(/(?<=[a-z0-9](?<!\b(?:nr?|num|numero|civ|civico|km)))\s+(?=\d{5}\s+[a-z])/g, ', ')), province, careOf, aside };
}

/** Matches the name of Italy in several languages, or its country code, after the address. */
const COUNTRY = /[-,\s]+(?:ital(?:ia|y|ie|ien|i|ija|ija|iya|ska|ie)|wlochy|olaszorszag|it|ita)\.?$/;
/** Matches labels that forms and maps print before an address. */
const LABEL = /^(?:(?:google\s)?(?:maps?|mappa|mappe|plan|cartina|stradario)(?:\sdi|\sde)?|ind\.?|indirizzo(?:\spostale)?|address|adresse?|recapito|sede(?:\slegale)?|ubicazione|dove)\s?[:,-]?\s+(?=(?:v\.|[a-z]{2,}[.\s/]))/;
/** Matches `CAP 86020`, or the word CAP alone. */
const POSTAL_CODE_LABEL = /(?<=[\d,;-]\s?)c\.?a\.?p\.?:?\s?(?=\d{5}(?!\d))|(?<=[\d,;-]\s)cap(?=\s*(?:[,;-]|$))/g;
/** Matches words that introduce the place: `nel comune di`, `provincia di`. */
const PLACE_WORDS = /(?<=[a-z0-9])\s+((?:nel\s+)?comune\s+di|(?:in\s+)?prov(?:incia|\.)(?:\s+di)?)\s+(?=[a-z])/;

/** Corrects a first word that becomes a street type when two adjacent letters are exchanged: `vai roma` → `via roma`. */
function withType(text: string): string {
  const [, first, next = ''] = /^([a-z]{3,})\s+([a-z0-9][^\s]*)/.exec(text) ?? [];
  if (first === undefined || STREET_TYPES.has(first) || takeType(words(next)) !== null) return text;
  const exchanged = Array.from(first, (letter, at) => first.slice(0, at) + first.charAt(at + 1) + letter + first.slice(at + 2)).slice(0, -1);
  return (exchanged.find((word) => STREET_TYPES.get(word) === word) ?? first) + text.slice(first.length);
}

function segmentsOf(text: string): Segment[] {
  const pieces = text.split(SEPARATOR);
  return pieces.flatMap((piece, index) => {
    const segment = piece.trim();
    return index % 2 === 0 && /[a-z0-9]/.test(segment) ? [{ text: segment, dash: /^\s+[-–—]/.test(pieces[index - 1] ?? '') }] : [];
  });
}

/** Matches a name that is also the type of a road. In `Via Provinciale 57`, the number is the road's number or a civico. */
const VIA_OR_ROAD = /(?<![a-z])via (?:provinciale|statale) (?=\d)/;

/** Returns the one or two likeliest splits of the query, likeliest first: at its civico, SNC or kilometre, and without a civico. */
function cutsOf(text: string, original: string): Cut[] {
  const snc = SNC.exec(text);
  const isViaOrRoad = VIA_OR_ROAD.test(text);
  const route = isViaOrRoad ? null : findRoute(text);
  // The number of a numbered road is not a civico, so its digits are masked.
  const masked = route === null ? text : text.slice(0, route.start) + text.slice(route.start, route.end).replace(/\d/g, 'x') + text.slice(route.end);
  const kilometre = KILOMETRE.exec(masked);
  if (kilometre !== null) {
    const [written, whole = '', sign, part = '0'] = kilometre;
    const metricM = sign === '+' ? Number(whole) * 1000 + Number(part) : Math.round(Number(`${whole}.${part}`) * 1000);
    return [cutAt(text, kilometre.index, kilometre.index + written.length, { ...NO_ENDING, metricM })];
  }
  // In `Verdi s.n.c. via Roma 12`, SNC is the legal form of a firm.
  const isFirm = snc !== null && MAIN_TYPES.has(takeType(words(text.slice(snc.index + snc[0].length)))?.type ?? '');
  if (snc !== null && snc.index > 0 && !isFirm) return [cutAt(text, snc.index, snc.index + snc[0].length, { ...NO_ENDING, snc: true })];

  const { plain, civici } = findCivici(masked, original);
  // The masked number is as long as the road's number, so positions stay valid.
  const shown = route === null ? plain : restore(plain, text.slice(route.start, route.end));
  const chosen = civici.find(({ marked }) => marked) ?? civici.at(-1);
  const uncut: Cut = { street: segmentsOf(shown.replaceAll(MARK, ' ')), ending: NO_ENDING, comune: [] };
  if (chosen === undefined) return [uncut];
  const cut = cutAt(shown, chosen.start, chosen.end, chosen.ending);
  return civici.length === 1 && !chosen.marked && (isViaOrRoad || isRegnal(shown, chosen)) ? [uncut, cut] : [cut, uncut];
}

/** Restores the masked digits of a numbered road. */
function restore(masked: string, route: string): string {
  const hidden = route.replace(/\d/g, 'x');
  const at = masked.indexOf(hidden);
  return at < 0 ? masked : masked.slice(0, at) + route + masked.slice(at + hidden.length);
}

function cutAt(text: string, start: number, end: number, ending: Ending): Cut {
  const before = segmentsOf(text.slice(0, start).replaceAll(MARK, ' '));
  const after = segmentsOf(text.slice(end).replaceAll(MARK, ' '));
  // In `12, Via Roma, Milano`, the number comes before the street.
  return before.length === 0 ? { street: after.slice(0, 1), ending, comune: after.slice(1) } : { street: before, ending, comune: after };
}

/** Returns whether a number may be part of a king's or pope's name, as in `Via Vittorio Emanuele 2`. */
function isRegnal(text: string, { start, ending: { number, exponent, colour } }: Civico): boolean {
  const [, before = '', name = ''] = /(?:([a-z]+)\s+)?(?<![a-z])([a-z]+)\s+$/.exec(text.slice(0, start)) ?? [];
  // San Paolo and San Giovanni are not kings or popes.
  return exponent === null && colour === null && number <= (REGNAL.get(name) ?? -1) && !SAINTS.has(before);
}

/**
 * Finds the numbers that may be a civico, in order. Skips dates, ordinals and postal codes without `n.` or `civ.`. `plain` is the text in which MARK replaces
 * `n.` and `civ.`.
 */
function findCivici(folded: string, original: string): { plain: string; civici: Civico[] } {
  const plain = folded.replace(NUMBER_MARK, ` ${MARK}`);
  const civici: Civico[] = [];
  for (const { 1: digits = '', index: start } of plain.matchAll(/(?<![a-z0-9])(\d{1,5})(?!\d)/g)) {
    // Skips digits that are part of the preceding civico, such as the end of a range.
    if (start < (civici.at(-1)?.end ?? 0)) continue;
    const marked = plain[start - 1] === MARK;
    const rest = plain.slice(start + digits.length);
    const isDate = MONTHS.has(/^\s*°?\s*([a-z]+)/.exec(rest)?.[1] ?? '');
    const isOrdinal = /^\s*°\s*[a-z]/.test(rest);
    // A number of five digits is a CAP if it follows another number, a comma or a dash, or precedes words.
    const isPostalCode = digits.length === 5 && (civici.length > 0 || /(?:[,;]|\s[-–—])\s*$/.test(plain.slice(0, start)) || /^\s+[a-z]/.test(rest));
    if (marked || !(isDate || isOrdinal || isPostalCode)) civici.push(readCivico(plain, { start, marked, digits }, original));
  }
  return { plain, civici };
}

function readCivico(text: string, { start, marked, digits }: Pick<Civico, 'start' | 'marked'> & { readonly digits: string }, original: string): Civico {
  let end = start + digits.length;
  let colour: Reading['colour'] = null;
  const pieces: string[] = [];
  /** Moves the position past a match of the pattern, and returns its first capture group; undefined if the pattern does not match. */
  const take = (pattern: RegExp): string | undefined => {
    const [all = '', found] = pattern.exec(text.slice(end)) ?? [];
    end += all.length;
    return found;
  };
  const takeLooseLetter = (): string | undefined => {
    const [all = '', letter] = /^\s([a-z])(?![a-z'.])/.exec(text.slice(end)) ?? [];
    return letter !== undefined && pieces.length === 0 && isExponentLetter(letter, text.slice(end + all.length), digits, original) ? take(/^\s([a-z])/) : undefined;
  };
  const rangeTo = take(/^\s?[-–]\s?(\d{1,5})(?![\d/])(?!\s?°)/) ?? take(/^\s+e\s+(\d{1,4})(?![\d/])(?!\s?°)/);
  for (;;) {
    // Rossa is also the name of a comune.
    const painted = take(/^\s?[/\-]?\s?(rosso|rossa(?=\W+[a-z])|nero|nera)(?![a-z])/);
    if (painted !== undefined) {
      colour = painted.startsWith('r') ? 'ROSSO' : 'NERO';
      continue;
    }
    const piece = take(/^\s?[/\-]?\s?(r)\.(?![a-z0-9])/) ?? take(EXPONENT_WORD) ?? take(/^\s?[/\\]\s?([a-z]{1,3}|\d{1,4})(?![a-z0-9'])/)
      ?? take(/^-?([a-z])(?![a-z'.])/) ?? takeLooseLetter();
    if (piece === undefined) break;
    pieces.push(piece.toUpperCase());
  }
  const exponent = pieces.length > 0 ? pieces.join('/') : null;
  return { start, end, marked, ending: { ...NO_ENDING, number: Number(digits), rangeTo: rangeTo === undefined ? null : Number(rangeTo), exponent, colour } };
}

/**
 * Returns whether a separate letter after a number is an exponent. If a word follows, the letters a, e, i, o and s are not exponents (`12 a Milano`,
 * `3 s Giorgio`), unless the query has the capital letter (`12 A Milano`).
 */
function isExponentLetter(letter: string, rest: string, digits: string, original: string): boolean {
  return !/^\s+[a-z]/.test(rest) || !'aeios'.includes(letter) || new RegExp(`${digits}\\s+${letter.toUpperCase()}\\s`).test(original);
}

/**
 * A reading, with the position of the comune in the query. `place`: before the street, or after the number or a comma. `words`: among the words of the street.
 * `none`: no comune. If the caller gave a comune, the position is always `place`.
 */
interface Found {
  readonly reading: Reading;
  readonly position: 'place' | 'words' | 'none';
  /** True if some words of the street may name a comune. */
  readonly mayNameComune: boolean;
  readonly contradiction: Contradiction | null;
}

/** Collects the readings of one split of the query. */
interface Collector {
  readonly found: Found[];
  readonly add: (street: string, named: NamedPlace, how: Pick<Found, 'position'> & Partial<Pick<Found, 'mayNameComune'>>) => void;
}

/** A split of the query, and whether the number belongs to the street's name. */
interface ChosenCut extends Cut {
  /** True if the number is taken as part of the street's name, although a split at the number is likelier. The search must then match the whole name. */
  readonly whole: boolean;
}

function collector(cut: Pick<ChosenCut, 'ending' | 'whole'>, given: NamedPlace | null): Collector {
  const found: Found[] = [];
  const put = (street: string, named: NamedPlace, { position, mayNameComune, whole }: Pick<Found, 'position' | 'mayNameComune'> & Pick<Reading, 'whole'>): void => {
    const { place, contradiction } = given === null ? { place: named, contradiction: null } : within(given, named);
    const facts = { position: given === null ? position : 'place', mayNameComune, contradiction } as const;
    for (const name of namesOf(street)) found.push({ reading: { ...compose(name, cut.ending, place), whole }, ...facts });
  };
  return {
    found,
    add: (street, named, { position, mayNameComune = false }) => {
      put(street, named, { position, mayNameComune, whole: cut.whole || mayNameComune });
      for (const { text, part } of otherStreets(street)) {
        put(text, { ...named, locality: named.locality ?? part }, { position, mayNameComune: false, whole: true });
      }
    },
  };
}

async function readingsOf(cut: ChosenCut, given: NamedPlace | null, lookup: Lookup): Promise<Found[]> {
  const { found, add } = collector(cut, given);
  const { gazetteer } = lookup;
  const at = await streetAt(cut.street, lookup);
  const street = cut.street[at];
  if (street === undefined) return found;
  const [before, behind] = [cut.street.slice(0, at), [...cut.street.slice(at + 1), ...cut.comune]];
  // In `Milano, Via Roma 12`, the comune comes before the street.
  if (before.length > 0) {
    add(street.text, await placeAround(before, behind, lookup), { position: 'place' });
    return found;
  }
  // In `milano via roma 12, italia`, the comune comes before the street without a comma.
  const begun = behind.length === 0 ? undefined : prefixes(street.text).find(({ text, rest }) => hasName(rest) && isCalled({ text, dash: false }, gazetteer));
  if (begun !== undefined) {
    add(begun.rest, await placeOf([{ text: begun.text, dash: false }, ...behind], lookup), { position: 'place' });
    return found;
  }
  const part = given === null ? null : partOf(given, behind, gazetteer);
  const named = part === null ? await placeOf(behind, lookup) : { ...NOWHERE, locality: part };
  if (named.comuni !== null || named.locality !== null || (named.province !== null && behind.length > 0)) {
    add(street.text, named, { position: 'place' });
    // A dash may be part of a name (`Strada Modena - Vignola`) or separate a comune.
    if (behind[0]?.dash === true && cut.street.length > 1) {
      add(cut.street.map(({ text }) => text).join(' '), await placeOf(cut.comune, lookup), { position: 'words', mayNameComune: true });
    }
    return found;
  }
  await readWords(street.text, cut.ending, given, lookup, add);
  return found;
}

/** Returns the index of the segment with the street. The index is not 0 if a place or other words precede the street. */
async function streetAt(segments: readonly Segment[], lookup: Lookup): Promise<number> {
  const [first, next] = segments;
  if (first === undefined || next === undefined) return 0;
  const [type, nextType] = [first, next].map(({ text }) => takeType(words(text))?.type);
  const [isTyped, nextIsTyped] = [type !== undefined, nextType !== undefined];
  // In `Frazione Alta, via Roma 12`, a part of the comune comes before the street.
  if (PART_TYPES.has(type ?? '') && MAIN_TYPES.has(nextType ?? '') && !PART_TYPES.has(nextType ?? '')) return 1;
  const exact: Lookup = { ...lookup, names: 'exact' };
  const before = await placeOf([first], exact);
  // Borgo is a type of street, and also the first word of many comuni.
  if (isTyped) return nextIsTyped && before.sure && before.locality === null ? 1 : 0;
  if (nextIsTyped || (before.comuni !== null && !(await placeOf([next], exact)).sure)) return 1;
  const typed = segments.findIndex(({ text }) => isMainType(words(text)));
  return Math.max(typed, 0);
}

/** Returns the place of a street if text precedes the street. This text may be a comune, a part of the comune after the street, or no place. */
async function placeAround(before: readonly Segment[], behind: readonly Segment[], lookup: Lookup): Promise<NamedPlace> {
  const comuni = before.filter((segment) => isCalled(segment, lookup.gazetteer));
  if (comuni.length > 0) return placeOf([...comuni, ...behind], lookup);
  const there = await placeOf(behind, lookup);
  if (there.comuni !== null) return { ...there, locality: there.locality ?? localityKey(before.at(-1)?.text ?? '') };
  const named = await placeOf(before, { ...lookup, names: 'exact' });
  return named.sure ? named : placeOf(before, lookup);
}

/** Reads a text in which no separate place follows the street. The first or last words of the text may be the comune if enough words remain for the street. */
async function readWords(text: string, ending: Ending, given: NamedPlace | null, lookup: Lookup, add: Collector['add']): Promise<void> {
  const { province, gazetteer } = lookup;
  const placeOfBoth = (first: Segment, second: Segment): Promise<NamedPlace> => placeOf([first, second], { ...lookup, names: 'exact' });
  const begins = prefixes(text).map(({ text: before, key, rest }) => ({ before, rest, hits: gazetteer.get(key, province) }))
    .filter(({ hits, rest }) => hits.length > 0 && hasName(rest));
  // If the text begins with a comune, the loop below examines the last words of the text.
  const ends = begins.some(({ hits }) => hits.some(isComune)) ? null : endOf(text, given, province, gazetteer);
  // People write the comune after the number. With a civico, the last words before the number are therefore less likely to be the comune.
  const endsFirst = ending === NO_ENDING || given !== null;
  const addEnds = async (): Promise<void> => {
    if (ends === null) return;
    const inner = given === null && ends.isComune ? endOf(ends.rest, null, null, gazetteer) : null;
    if (inner?.isComune === true) add(inner.rest, await placeOfBoth(inner.segment, ends.segment), { position: 'words' });
    add(ends.rest, ends.place, { position: 'words', mayNameComune: inner?.isComune === true });
  };
  if (endsFirst) await addEnds();
  for (const { before, rest, hits } of begins) {
    const sure = hits.some(isComune);
    const inner = sure && given === null ? endOf(rest, null, null, gazetteer) : null;
    if (inner?.isComune === true) add(inner.rest, await placeOfBoth({ text: before, dash: false }, inner.segment), { position: 'place' });
    add(rest, { ...NOWHERE, comuni: codesOf(hits), sure }, { position: sure ? 'place' : 'words', mayNameComune: inner?.isComune === true });
  }
  add(text, { ...NOWHERE, province }, { position: 'none', mayNameComune: given === null && (ends?.isComune ?? false) });
  if (!endsFirst) await addEnds();
}

/** A place that the last words of a text may name, and the text before these words. */
interface End {
  /** Text that precedes the place. */
  readonly rest: string;
  readonly segment: Segment;
  readonly place: NamedPlace;
  readonly isComune: boolean;
}

function endOf(text: string, given: NamedPlace | null, province: string | null, gazetteer: Gazetteer): End | null {
  for (const { rest, text: ending, key, sigla, tied } of suffixes(text)) {
    const hits = gazetteer.get(key, sigla ?? province);
    const codes = codesOf(hits);
    if (hits.length === 0 || tied || !hasName(rest) || (given !== null && !codes.some((code) => given.comuni?.includes(code)))) continue;
    const locality = hits[0]?.kind === 'locality' ? key : null;
    return { rest, segment: { text: ending, dash: false }, place: { ...NOWHERE, comuni: codes, locality }, isComune: hits.some(isComune) };
  }
  return null;
}

/**
 * Returns further streets that a text may mean, each with the part of the comune before the street, if any. The caller uses such a street only if a street with
 * exactly this name is loaded.
 */
function otherStreets(text: string): { text: string; part: string | null }[] {
  const all = text.split(' ');
  const last = all.at(-1) ?? '';
  const start = takeType(words(text));
  // In `Roma via`, the type follows the name.
  if (start === null && all.length > 1 && isMainType(words(last))) return [{ text: `${last} ${all.slice(0, -1).join(' ')}`, part: null }];
  // In `viaroma`, the type and the name are one word.
  const glued = start === null ? GLUED_TYPE.exec(text) : null;
  if (glued !== null) return [{ text: `${glued[1] ?? ''} ${text.slice(glued[1]?.length)}`, part: null }];
  // In `bar sport via roma`, a firm or person precedes the address. `Traversa via Roma` is a separate street.
  if (start !== null && !PART_TYPES.has(start.type)) return [];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const street = all.slice(at).join(' ');
    if (isMainType(words(street)) && hasName(street)) return [{ text: street, part: start === null ? null : localityKey(all.slice(0, at).join(' ')) }];
  }
  return [];
}

const GLUED_TYPE = /^(piazzale|piazza|viale|corso|contrada|largo|vicolo|strada|via)[a-z]{3}/;

/** Returns whether words begin with a common street type. Names of firms and persons do not begin with such a type. */
function isMainType(all: readonly Word[]): boolean {
  return MAIN_TYPES.has(takeType(all)?.type ?? '');
}

const MAIN_TYPES: ReadonlySet<string> = new Set([
  'via', 'viale', 'vialetto', 'piazza', 'piazzale', 'piazzetta', 'corso', 'vicolo', 'vico', 'largo', 'strada', 'contrada', 'lungomare', 'lungolago', 'lungofiume',
  'lungotevere', 'lungarno', 'lungadige', 'lungopo', 'circonvallazione', 'strada statale', 'strada provinciale', 'strada regionale', 'strada comunale', 'strada vicinale',
  'localita', 'frazione', 'salita', 'traversa',
]);

/** Combines the place in the query with the comune that the caller gave. Returns a contradiction if the query surely names only other comuni. */
function within(given: NamedPlace, named: NamedPlace): { place: NamedPlace; contradiction: Contradiction | null } {
  const place = { ...given, locality: named.locality ?? given.locality };
  const [query, city] = [named.comuni, given.comuni];
  if (!named.sure || query === null || city === null) return { place, contradiction: null };
  const both = query.filter((code) => city.includes(code));
  const contradiction = both.length === 0 && query.length > 0 && city.length > 0 ? { query, city } : null;
  return { place: { ...place, comuni: both }, contradiction };
}

const CADASTRAL_CODE = /^\s*[a-z]\d{3}\s*$/i;

function keysOfCity(city: string): string[] {
  if (CADASTRAL_CODE.test(city)) return [];
  const { text, province } = prepare(city);
  return [...keysOf(segmentsOf(text)), ...(province === null ? [] : [province.key])];
}

/** Finds the comuni of the city that the caller gave. */
async function resolveCity(city: string, gazetteer: Gazetteer): Promise<NamedPlace> {
  if (CADASTRAL_CODE.test(city)) return { ...NOWHERE, comuni: [city.trim().toUpperCase()], sure: true };
  await gazetteer.learn(keysOfCity(city));
  const { text, province } = prepare(city);
  const place = await placeOf(segmentsOf(text), { gazetteer, province: gazetteer.bound(province), names: 'similar' });
  return place.comuni === null && place.province === null ? { ...place, comuni: [] } : place;
}

function hasName(street: string): boolean {
  const all = words(street);
  return findRoute(street) !== null || (all.length > (takeType(all)?.length ?? 0) && normaliseFolded(street).tokens.length > 0);
}

/** Splits a street with a name in each of two languages: `Via Museo / Museumstraße`. */
function namesOf(street: string): StreetName[] {
  return street.split(/\s*\/\s+|\s+\/\s*/).filter((name) => /[a-z0-9]/.test(name)).slice(0, MOST_NAMES).map((name) => normaliseFolded(name));
}

function compose({ type, otherTypes, tokens }: StreetName, ending: Ending, { comuni, locality, province }: NamedPlace): Omit<Reading, 'whole'> {
  const reading = { streetType: type, otherTypes, tokens, ...ending, comuni, locality, province };
  // A street with only a number as its name (`Contrada 167`) is found by that number.
  if (ending.number !== null && tokens.join(' ') === type) return { ...reading, tokens: [String(ending.number)], number: null, rangeTo: null, exponent: null };
  // In `12/R` and `12A/R`, R means red and N means black, unless all named comuni are without red numbers.
  const [, exponent = null, letter] = /^(?:(.*)\/)?([RN])$/.exec(ending.exponent ?? '') ?? [];
  if (letter === undefined || comuni?.some((code) => RED_NUMBERS.has(code)) === false) return reading;
  return { ...reading, exponent, colour: letter === 'R' ? 'ROSSO' : 'NERO' };
}
