/**
 * Reads what a person types as an Italian address: street, civico, comune. One reading is the likeliest; where the text
 * can mean two things, the others follow it and the search tries them in that order.
 *
 * Terminology
 * - street part, comune part: what stands before and behind the civico.
 * - civico: the house number; exponent: what follows it (`A`, `BIS`, `3`); colour: `ROSSO` (Genova, Firenze) or `NERO`.
 * - SNC: *senza numero civico*, an access without a number. Metric: metres along a road (`km 3+200`).
 */
import { comuneKey, findRoute, fold, localityKey, normaliseFolded, takeType, words, type StreetName } from './normalise.ts';
import { MONTHS, REGNAL, SAINTS } from './words.ts';

/** A place in the gazetteer that a key names. */
export interface ComuneHit {
  /** What was asked, as `comuneKey` gives it. */
  readonly key: string;
  /** Cadastral code. */
  readonly belfiore: string;
  /** `name`: the comune in Italian; `second`: in its second language; `former`: a comune that is part of it now; `locality`. */
  readonly kind: 'name' | 'second' | 'former' | 'locality';
  /** Car plate code of the province, upper case; null: unknown. */
  readonly sigla: string | null;
  /** Key of the province's name. */
  readonly provinceKey: string | null;
}

/**
 * The gazetteer: the hits of every key, in any order.
 * @param fuzzy also names that are one or two letters away; they come with the key that was asked
 */
export type FindComune = (keys: readonly string[], fuzzy: boolean) => Promise<readonly ComuneHit[]>;

export interface Reading {
  readonly streetType: string | null;
  /** Other meanings of the same abbreviation. */
  readonly otherTypes: readonly string[];
  readonly tokens: readonly string[];
  readonly number: number | null;
  /** Second number of a range: `63-65`. */
  readonly rangeTo: number | null;
  /** Upper case, pieces joined with `/`: `A`, `BIS/A`, `3`. */
  readonly exponent: string | null;
  readonly colour: 'ROSSO' | 'NERO' | null;
  /** Metres along the road. */
  readonly metricM: number | null;
  readonly snc: boolean;
  /** Cadastral codes; null: no comune was named; empty: one was named that nobody knows. */
  readonly comuni: readonly string[] | null;
  /** Key of a locality inside the comune; null: none was named. */
  readonly locality: string | null;
}

export interface ParsedQuery {
  /** Likeliest first; empty when the text holds no street. */
  readonly readings: readonly Reading[];
}

/** Cadastral codes of the comuni that paint a second series of numbers red: Genova, Firenze, Savona. */
const RED_NUMBERS: ReadonlySet<string> = new Set(['D969', 'D612', 'I480']);

/** Scala, interno, piano, palazzina, c/o: where inside the building; only behind a number, as `Piazza della Scala` is a name. */
const INSIDE = new RegExp(
  '(\\d[^,;]*?[\\s,;]+)(?:(?:scala|sc\\.)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9])|(?:interno|int\\.?)\\s*\\d{0,3}[a-z]?(?![a-z0-9])'
  + '|(?:piano|p\\.)\\s*(?:\\d{1,2}(?!\\d)°?|terra|rialzato|primo|secondo|terzo|quarto|quinto|ultimo|t(?![a-z]))|\\d{1,2}°\\s*piano'
  + '|(?:palazzina|pal\\.|edificio|ed\\.|lotto|corpo)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9]))',
);
const CARE_OF = /(?<![a-z])(?:c\s?\/\s?o|presso)\s+[^,;]*/g;
/** `I-20121`, `IT-20121`. */
const COUNTRY_BEFORE_POSTAL_CODE = /(?<![a-z0-9])it?\s?-\s?(?=\d{5}(?!\d))/g;
const SNC = /(?<![a-z])(?:s\.?\s?n\.?\s?c\.?(?![a-z])|senza\s+(?:numero(?:\s+civico)?|civico)(?![a-z])|s\.\s?n\.(?!\s?[a-z]))/;
const KILOMETRE = /(?<![a-z])(?:al\s+)?k\.?\s?m\.?\s*(\d{1,4})(?:\s*([+.,])\s*(\d{1,3})(?!\d))?/;
const NUMBER_MARK = /(?<![a-z])(?:n\s?°|n\.(?:ro|o)?|nr\.?|num\.|numero(?:\s+civico)?|nro|n|no\.|civ\.|civico|civ)\s*(?:n[.°]?\s*)?(?=\d)/g;
/** A mark in place of `n.`, `civ.`: a character that no folded text has. */
const MARK = '\u0001';
const SEPARATOR = /\s*[,;\n]\s*|\s+[-–—]\s+/;
const EXPONENT_WORD = 'bis|ter|quater|quinquies|sexies';

/** Text between separators, folded. */
type Segment = string;

interface Civico {
  readonly start: number;
  readonly end: number;
  readonly number: number;
  readonly rangeTo: number | null;
  readonly exponent: string | null;
  readonly colour: Reading['colour'];
  /** `n.` or `civ.` stood before it. */
  readonly marked: boolean;
}

interface Ending {
  readonly number: number | null;
  readonly rangeTo: number | null;
  readonly exponent: string | null;
  readonly colour: Reading['colour'];
  readonly metricM: number | null;
  readonly snc: boolean;
}

const NO_ENDING: Ending = { number: null, rangeTo: null, exponent: null, colour: null, metricM: null, snc: false };

/** Street part, ending and comune part of one way to cut the text. */
interface Cut {
  readonly street: readonly Segment[];
  readonly ending: Ending;
  readonly comune: readonly Segment[];
}

/**
 * @param query what was typed
 * @param city a comune by name or cadastral code, when the caller knows it
 * @param findComune the gazetteer
 * @returns readings, likeliest first
 */
export async function parseQuery(query: string, city: string | null, findComune: FindComune): Promise<ParsedQuery> {
  const { text, province } = prepare(query);
  const gazetteer = new Gazetteer(findComune);
  const cuts = cutsOf(text, query);
  const candidates = cuts.flatMap((cut) => keysOf(cut));
  await gazetteer.learn(city === null ? candidates : [...candidates, comuneKey(city)]);

  const given = city === null ? null : await resolveCity(city, gazetteer);
  const readings: Reading[] = [];
  const seen = new Set<string>();
  for (const cut of cuts) {
    for (const reading of await readingsOf(cut, given, province, gazetteer)) {
      const key = JSON.stringify(reading);
      if (reading.tokens.length === 0 || seen.has(key)) continue;
      seen.add(key);
      readings.push(reading);
    }
  }
  return { readings };
}

/**
 * The comuni that a city means: by name in Italian or in the second language, former name or cadastral code.
 * @param findComune the gazetteer
 * @returns cadastral codes; empty: nobody knows it
 */
export async function findCity(city: string, findComune: FindComune): Promise<readonly string[]> {
  return (await resolveCity(city, new Gazetteer(findComune))).comuni;
}

/** Folds, and takes away what is no part of an address's place: country, who lives there, where inside the building. */
function prepare(query: string): { text: string; province: string | null } {
  let text = fold(query).replace(/\s+/g, ' ').trim().replace(/[,\s]+ital(?:ia|y)$/, '').replace(CARE_OF, ' ').replace(COUNTRY_BEFORE_POSTAL_CODE, '');
  for (let inside = INSIDE.exec(text); inside !== null; inside = INSIDE.exec(text)) {
    text = `${text.slice(0, inside.index)}${inside[1]}${text.slice(inside.index + inside[0].length)}`;
  }
  let province: string | null = null;
  text = text.replace(/\s*\(([^)]*)\)?/g, (_, content: string) => {
    province = comuneKey(content);
    return ' ';
  });
  return { text: text.replace(/\s+/g, ' ').trim(), province };
}

function segmentsOf(text: string): Segment[] {
  return text.split(SEPARATOR).map((segment) => segment.trim()).filter((segment) => /[a-z0-9]/.test(segment));
}

/** The ways to cut the text at its number, likeliest first. */
function cutsOf(text: string, original: string): Cut[] {
  const snc = SNC.exec(text);
  const route = findRoute(text);
  // The road's own number is no civico: it is hidden from the search for one.
  const masked = route === null ? text : text.slice(0, route.start) + text.slice(route.start, route.end).replace(/\d/g, 'x') + text.slice(route.end);
  const kilometre = KILOMETRE.exec(masked);
  if (kilometre !== null) {
    const metres = kilometre[2] === '+'
      ? Number(kilometre[1]) * 1000 + Number(kilometre[3])
      : Math.round(Number(`${kilometre[1]}.${kilometre[3] ?? 0}`) * 1000);
    return [cutAt(text, kilometre.index, kilometre.index + kilometre[0].length, { ...NO_ENDING, metricM: metres })];
  }
  if (snc !== null && snc.index > 0) return [cutAt(text, snc.index, snc.index + snc[0].length, { ...NO_ENDING, snc: true })];

  const { plain, civici } = findCivici(masked, original);
  // Marks that were put in moved the text: the road's number is written back at the same length.
  const shown = route === null ? plain : restore(plain, text.slice(route.start, route.end));
  const cuts: Cut[] = [];
  const chosen = civici.find(({ marked }) => marked) ?? civici.at(-1);
  const uncut: Cut = { street: segmentsOf(shown.replaceAll(MARK, ' ')), ending: NO_ENDING, comune: [] };
  if (chosen === undefined) return [uncut];
  const cut = cutAt(shown, chosen.start, chosen.end, { ...NO_ENDING, number: chosen.number, rangeTo: chosen.rangeTo, exponent: chosen.exponent, colour: chosen.colour });
  const named = civici.length === 1 && !chosen.marked && isRegnal(shown, chosen);
  if (named) cuts.push(uncut, cut);
  else cuts.push(cut, uncut);
  return cuts;
}

/** Puts the road's text back where its digits were masked. */
function restore(masked: string, route: string): string {
  const hidden = route.replace(/\d/g, 'x');
  const at = masked.indexOf(hidden);
  return at < 0 ? masked : masked.slice(0, at) + route + masked.slice(at + hidden.length);
}

function cutAt(text: string, start: number, end: number, ending: Ending): Cut {
  const before = segmentsOf(text.slice(0, start).replaceAll(MARK, ' '));
  const after = segmentsOf(text.slice(end).replaceAll(MARK, ' '));
  // `12, Via Roma, Milano`: the number came first.
  if (before.length === 0 && after.length > 0) {
    const [street, ...rest] = after;
    return { street: [street!], ending, comune: rest };
  }
  return { street: before, ending, comune: after };
}

/** `Vittorio Emanuele 2` without another number: the king's. */
function isRegnal(text: string, civico: Civico): boolean {
  const before = /([a-z]+)\s+([a-z]+)\s+$|([a-z]+)\s+$/.exec(text.slice(0, civico.start));
  const name = before?.[2] ?? before?.[3];
  if (name === undefined || civico.exponent !== null || civico.colour !== null) return false;
  const highest = REGNAL.get(name);
  // San Paolo and San Giovanni reigned over nothing.
  return highest !== undefined && civico.number <= highest && !(before?.[1] !== undefined && SAINTS.has(before[1]));
}

/** Every number that may be a civico, in order: no dates, no ordinals, no CAP. */
function findCivici(folded: string, original: string): { plain: string; civici: Civico[] } {
  const plain = folded.replace(NUMBER_MARK, ` ${MARK}`);
  const civici: Civico[] = [];
  const pattern = /(?<![a-z0-9])(\d{1,5})(?!\d)/g;
  let numbersBefore = 0;
  for (let match = pattern.exec(plain); match !== null; match = pattern.exec(plain)) {
    const start = match.index;
    const marked = plain[start - 1] === MARK;
    const rest = plain.slice(start + match[1]!.length);
    if (!marked) {
      const next = /^\s*°?\s*([a-z]+)/.exec(rest)?.[1];
      if (next !== undefined && MONTHS.has(next)) continue;
      if (/^\s*°\s*[a-z]/.test(rest)) continue;
      if (match[1]!.length === 5 && isPostalCode(plain, start, rest, numbersBefore)) continue;
    }
    const civico = readCivico(plain, start, marked, match[1]!, original);
    civici.push(civico);
    numbersBefore += 1;
    pattern.lastIndex = civico.end;
  }
  return { plain, civici };
}

/** Five digits are a CAP when a number came before or when they begin the comune part: behind a comma, or before the last words. */
function isPostalCode(text: string, start: number, rest: string, numbersBefore: number): boolean {
  if (numbersBefore > 0) return true;
  return /(?:[,;]|\s[-–—])\s*$/.test(text.slice(0, start)) || /^\s+[a-z]/.test(rest);
}

function readCivico(text: string, start: number, marked: boolean, digits: string, original: string): Civico {
  let end = start + digits.length;
  let rangeTo: number | null = null;
  let colour: Reading['colour'] = null;
  const pieces: string[] = [];
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const match = pattern.exec(text.slice(end));
    if (match !== null) end += match[0].length;
    return match;
  };
  const range = take(/^\s?[-–]\s?(\d{1,5})(?![\d/])(?!\s?°)/);
  if (range !== null) rangeTo = Number(range[1]);
  for (;;) {
    const red = take(/^\s?[/\-]?\s?(rosso|rossa|nero|nera)(?![a-z])/);
    if (red !== null) {
      colour = red[1]!.startsWith('r') ? 'ROSSO' : 'NERO';
      continue;
    }
    const word = take(new RegExp(`^\\s?[/\\\\-]?\\s?(${EXPONENT_WORD})(?![a-z])`)) ?? take(/^\s?[/\\]\s?([a-z]{1,3}|\d{1,4})(?![a-z0-9'])/) ?? take(/^-?([a-z])(?![a-z'.])/);
    if (word !== null) {
      pieces.push(word[1]!.toUpperCase());
      continue;
    }
    const letter = /^\s([a-z])(?![a-z'.])/.exec(text.slice(end));
    if (letter !== null && pieces.length === 0 && isExponentLetter(letter[1]!, text.slice(end + letter[0].length), digits, original)) {
      end += letter[0].length;
      pieces.push(letter[1]!.toUpperCase());
      continue;
    }
    break;
  }
  return { start, end, number: Number(digits), rangeTo, exponent: pieces.length > 0 ? pieces.join('/') : null, colour, marked };
}

/** A loose letter behind a number. `12 a Milano`, `12 e 14`, `3 s Giorgio` are words; written in capitals (`12 A Milano`) it is an exponent. */
function isExponentLetter(letter: string, rest: string, digits: string, original: string): boolean {
  if (!/^\s+[a-z]/.test(rest)) return true;
  if (!'aeios'.includes(letter)) return true;
  return new RegExp(`${digits}\\s+${letter.toUpperCase()}\\s`).test(original);
}

// --- the comune ----------------------------------------------------------------------------------------------------

/** Answers of the gazetteer, asked in one call. */
class Gazetteer {
  readonly #find: FindComune;
  readonly #hits = new Map<string, ComuneHit[]>();
  readonly #near = new Map<string, readonly ComuneHit[]>();

  constructor(find: FindComune) {
    this.#find = find;
  }

  async learn(keys: readonly string[]): Promise<void> {
    const unknown = [...new Set(keys)].filter((key) => key !== '' && !this.#hits.has(key));
    for (const key of unknown) this.#hits.set(key, []);
    if (unknown.length === 0) return;
    for (const hit of await this.#find(unknown, false)) this.#hits.get(hit.key)?.push(hit);
  }

  /** Comuni before localities; of homonymous ones those of the province, when it is one of theirs. */
  get(key: string, province: string | null): readonly ComuneHit[] {
    const all = this.#hits.get(key) ?? [];
    const best = all.some(({ kind }) => kind === 'name' || kind === 'second') ? all.filter(({ kind }) => kind === 'name' || kind === 'second')
      : all.some(({ kind }) => kind === 'former') ? all.filter(({ kind }) => kind === 'former') : all;
    const there = province === null ? best : best.filter((hit) => inProvince(hit, province));
    return there.length > 0 ? there : best;
  }

  /** Names that are a letter or two away. */
  async near(key: string, province: string | null): Promise<readonly ComuneHit[]> {
    let hits = this.#near.get(key);
    if (hits === undefined) {
      hits = key === '' ? [] : await this.#find([key], true);
      this.#near.set(key, hits);
    }
    const there = province === null ? hits : hits.filter((hit) => inProvince(hit, province));
    return there.length > 0 ? there : hits;
  }
}

function inProvince(hit: ComuneHit, province: string): boolean {
  return hit.sigla?.toLowerCase() === province || hit.provinceKey === province;
}

function codesOf(hits: readonly ComuneHit[]): string[] {
  return [...new Set(hits.map(({ belfiore }) => belfiore))].sort();
}

interface City {
  readonly comuni: readonly string[];
  /** Key of the locality that the city was named by. */
  readonly locality: string | null;
}

async function resolveCity(city: string, gazetteer: Gazetteer): Promise<City> {
  if (/^\s*[a-z]\d{3}\s*$/i.test(city)) return { comuni: [city.trim().toUpperCase()], locality: null };
  const { text, province } = prepare(city);
  const ended = withoutSigla(text);
  await gazetteer.learn([comuneKey(ended.text), comuneKey(text)]);
  for (const [name, where] of [[text, province], [ended.text, ended.sigla ?? province]] as const) {
    const key = comuneKey(name);
    const hits = gazetteer.get(key, where);
    if (hits.length > 0) return { comuni: codesOf(hits), locality: hits[0]!.kind === 'locality' ? key : null };
  }
  return { comuni: codesOf(await gazetteer.near(comuneKey(text), province)), locality: null };
}

/** `castro le` → `castro` and `le`. */
function withoutSigla(text: string): { text: string; sigla: string | null } {
  const match = /^(.*[a-z'].*?)[\s,]+([a-z]{2})$/.exec(text);
  return match === null ? { text, sigla: null } : { text: match[1]!, sigla: match[2]! };
}

/** Most words that the name of a comune has. */
const COMUNE_WORDS = 8;

interface Suffix {
  /** Words in front of it. */
  readonly rest: string;
  readonly key: string;
  readonly sigla: string | null;
}

/** Ends of a text that may be a comune, longest first; with and without a sigla behind them. A CAP in front of them is left out. */
function suffixes(text: string): Suffix[] {
  const found: Suffix[] = [];
  const ended = withoutSigla(text);
  for (const [body, sigla] of [[text, null], ...(ended.sigla === null ? [] : [[ended.text, ended.sigla] as const])] as const) {
    const pieces = body.split(/\s+/);
    for (let from = Math.max(0, pieces.length - COMUNE_WORDS); from < pieces.length; from += 1) {
      if (/^[\d-]/.test(pieces[from]!)) continue;
      const key = comuneKey(pieces.slice(from).join(' '));
      const rest = pieces.slice(0, from).join(' ').replace(/\s*\b\d{5}$/, '').trim();
      if (key !== '') found.push({ rest, key, sigla });
    }
  }
  // Longest first; of the same words, the reading with a sigla first: `Castro LE`.
  return found.sort((a, b) => a.rest.length - b.rest.length || Number(b.sigla !== null) - Number(a.sigla !== null));
}

/** `milano via roma`: beginnings that may be a comune, before a street type. */
function prefixes(text: string): { key: string; rest: string }[] {
  const pieces = text.split(/\s+/);
  const found: { key: string; rest: string }[] = [];
  for (let to = 1; to < Math.min(pieces.length, COMUNE_WORDS); to += 1) {
    const rest = pieces.slice(to).join(' ');
    if (takeType(words(rest)) !== null) found.push({ key: comuneKey(pieces.slice(0, to).join(' ')), rest });
  }
  return found;
}

function keysOf(cut: Cut): string[] {
  const texts = [...cut.comune, ...cut.street];
  return [...texts.flatMap((text) => suffixes(text).map(({ key }) => key)), ...cut.street.flatMap((text) => prefixes(text).map(({ key }) => key))];
}

interface Place {
  readonly comuni: readonly string[] | null;
  readonly locality: string | null;
}

const NOWHERE: Place = { comuni: null, locality: null };

async function readingsOf(cut: Cut, given: City | null, province: string | null, gazetteer: Gazetteer): Promise<Reading[]> {
  const readings: Reading[] = [];
  const [first, ...others] = cut.street;
  if (first === undefined) return readings;
  const add = (street: string, place: Place, route: string = street): void => {
    const all = given === null ? place : { comuni: given.comuni, locality: place.locality ?? given.locality };
    for (const name of namesOf(route)) readings.push(compose(name, cut.ending, all));
  };

  // `Milano, Via Roma 12`: a comune before the street.
  const next = others[0];
  if (next !== undefined && takeType(words(first)) === null) {
    const hits = suffixes(first).filter(({ rest }) => rest === '').flatMap(({ key, sigla }) => gazetteer.get(key, sigla ?? province));
    if (hits.length > 0) {
      add(next, { comuni: codesOf(hits), locality: null });
      return readings;
    }
  }
  const behind = [...others, ...cut.comune];
  if (behind.length > 0) {
    const place = await placeOf(behind, given, province, gazetteer);
    add(first, place);
    // A dash inside a name (`Strada Modena - Vignola`) looks like the one before a comune.
    if (others.length > 0 && place.comuni?.length === 0) add([first, ...others].join(' '), cut.comune.length === 0 ? NOWHERE : await placeOf(cut.comune, given, province, gazetteer));
    return readings;
  }
  // Nothing behind: the street's last words may be the comune, when a name is left for the street. After a civico that is
  // only a second thought: people write the comune behind the number.
  const ends: Reading[] = [];
  for (const { rest, key, sigla } of suffixes(first)) {
    const hits = gazetteer.get(key, sigla ?? province);
    if (hits.length === 0 || !hasName(rest)) continue;
    if (sigla !== null && !hits.some((hit) => inProvince(hit, sigla))) continue;
    if (given !== null && !hits.some(({ belfiore }) => given.comuni.includes(belfiore))) continue;
    const place = { comuni: codesOf(hits), locality: hits[0]!.kind === 'locality' ? key : null };
    const all = given === null ? place : { comuni: given.comuni, locality: place.locality ?? given.locality };
    for (const name of namesOf(rest)) ends.push(compose(name, cut.ending, all));
    break;
  }
  const begins: Reading[] = [];
  for (const { key, rest } of prefixes(first)) {
    const hits = gazetteer.get(key, province);
    if (hits.length === 0) continue;
    const place = { comuni: given?.comuni ?? codesOf(hits), locality: given?.locality ?? null };
    for (const name of namesOf(rest)) begins.push(compose(name, cut.ending, place));
  }
  const endsFirst = cut.ending === NO_ENDING || given !== null;
  if (endsFirst) readings.push(...ends);
  readings.push(...begins);
  add(first, NOWHERE);
  if (!endsFirst) readings.push(...ends);
  return readings;
}

/** The comune named by the text behind the street: its longest known end; what stands before is a locality. */
async function placeOf(segments: readonly Segment[], given: City | null, province: string | null, gazetteer: Gazetteer): Promise<Place> {
  const useful = segments.filter((segment) => /[a-z]{2}/.test(segment));
  const sigla = useful.length > 1 && /^[a-z]{2}$/.test(useful.at(-1)!) ? useful.at(-1)! : null;
  const named = sigla === null ? useful : useful.slice(0, -1);
  const last = named.at(-1);
  if (last === undefined) return NOWHERE;
  for (const suffix of suffixes(last)) {
    const hits = gazetteer.get(suffix.key, suffix.sigla ?? sigla ?? province);
    if (hits.length === 0) continue;
    if (suffix.sigla !== null && !hits.some((hit) => inProvince(hit, suffix.sigla!))) continue;
    const before = [...named.slice(0, -1), suffix.rest].filter((text) => /[a-z]/.test(text)).at(-1);
    const locality = hits[0]!.kind === 'locality' ? suffix.key : before === undefined ? null : localityKey(before);
    return { comuni: codesOf(hits), locality };
  }
  if (given !== null) return { comuni: given.comuni, locality: localityKey(last) };
  const key = comuneKey(last.replace(/^\s*\d{5}\s*/, ''));
  const near = await gazetteer.near(withoutSigla(key).text, withoutSigla(key).sigla ?? sigla ?? province);
  // A comune that nobody knows is still the one that was meant: better no answer than one from another city.
  return { comuni: codesOf(near), locality: null };
}

function hasName(street: string): boolean {
  if (!/[a-z0-9]/.test(street)) return false;
  if (findRoute(street) !== null) return true;
  const all = words(street);
  const type = takeType(all);
  return all.length > (type?.length ?? 0) && normaliseFolded(street).tokens.length > 0;
}

/** `Via Museo / Museumstraße`: one street in two languages. */
function namesOf(street: string): StreetName[] {
  return street.split(/\s*\/\s+|\s+\/\s*/).filter((name) => /[a-z0-9]/.test(name)).map((name) => normaliseFolded(name));
}

function compose(name: StreetName, ending: Ending, place: Place): Reading {
  let { number, rangeTo, exponent, colour } = ending;
  let { tokens } = name;
  // A lane that is only a number (`Contrada 167`) has no name to find it by but that.
  if (number !== null && name.type !== null && tokens.join(' ') === name.type) {
    tokens = [String(number)];
    number = null;
    rangeTo = null;
    exponent = null;
  }
  if (exponent === 'R' || exponent === 'N') {
    const red = place.comuni === null || place.comuni.some((code) => RED_NUMBERS.has(code));
    if (red) {
      colour = exponent === 'R' ? 'ROSSO' : 'NERO';
      exponent = null;
    }
  }
  return {
    streetType: name.type, otherTypes: name.otherTypes, tokens, number, rangeTo, exponent, colour,
    metricM: ending.metricM, snc: ending.snc, comuni: place.comuni, locality: place.locality,
  };
}
