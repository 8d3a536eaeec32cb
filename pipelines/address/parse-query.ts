/**
 * Reads what a person types as an Italian address: street, civico, comune. One reading is the likeliest; where the text
 * can mean two things, the others follow it and the search tries them in that order.
 *
 * Terminology
 * - street part, comune part: what stands before and behind the civico.
 * - civico: the house number; exponent: what follows it (`A`, `BIS`, `3`); colour: `ROSSO` (Genova, Firenze) or `NERO`.
 * - SNC: *senza numero civico*, an access without a number. Metric: metres along a road (`km 3+200`).
 */
import { findRegion } from '../contract/regions.ts';
import { comuneKey, findRoute, fold, localityKey, normaliseFolded, takeType, words, type StreetName } from './normalise.ts';
import { MONTHS, REGNAL, SAINTS, STREET_TYPES } from './words.ts';

/** A place in the gazetteer that a key names. */
export interface ComuneHit {
  /** What was asked, as `comuneKey` gives it; a postal code as it is. */
  readonly key: string;
  /** Cadastral code; null: a province. */
  readonly belfiore: string | null;
  /** `name`: the comune in Italian; `second`: in its second language; `former`: a comune that is part of it now; `postal_code`: one of the comune's. */
  readonly kind: 'name' | 'second' | 'former' | 'locality' | 'postal_code' | 'province';
  /** Car plate code of the province, upper case; null: unknown. */
  readonly sigla: string | null;
  /** Key of the province's name; null: unknown. */
  readonly provinceKey: string | null;
  /** ISTAT code of the region; null: unknown. */
  readonly region: number | null;
}

/**
 * The gazetteer: the hits of every key, in any order. It knows the comuni of all Italy, whatever is loaded: a comune that is named is never another.
 * @param fuzzy only names that are one or two letters away, of keys that nothing is called; they come with the key that was asked
 */
export type FindComune = (keys: readonly string[], fuzzy: boolean) => Promise<readonly ComuneHit[]>;

/** What stands behind the name of a street. */
interface Ending {
  readonly number: number | null;
  /** Second number of a range: `63-65`. */
  readonly rangeTo: number | null;
  /** Upper case, pieces joined with `/`: `A`, `BIS/A`, `3`. */
  readonly exponent: string | null;
  readonly colour: 'ROSSO' | 'NERO' | null;
  /** Metres along the road. */
  readonly metricM: number | null;
  readonly snc: boolean;
}

const NO_ENDING: Ending = { number: null, rangeTo: null, exponent: null, colour: null, metricM: null, snc: false };

/** What was named as the place. */
interface Place {
  /** Cadastral codes; null: no comune was named; empty: one was named that nobody knows. */
  readonly comuni: readonly string[] | null;
  /** Key of a locality inside the comune; null: none was named. */
  readonly locality: string | null;
  /** A province that was named without a comune: its car plate code in lower case or the key of its name; null: none was. */
  readonly province: string | null;
}

export interface Reading extends Ending, Place {
  readonly streetType: string | null;
  /** Other meanings of the same abbreviation. */
  readonly otherTypes: readonly string[];
  readonly tokens: readonly string[];
  /** True: only streets that are called exactly so, as a part of the words may name a comune. */
  readonly whole: boolean;
}

/** The text names one comune, the caller another. */
export interface Contradiction {
  /** Cadastral codes. */
  readonly query: readonly string[];
  readonly city: readonly string[];
}

export interface ParsedQuery {
  /** Likeliest first, at most `MOST_READINGS`; empty when the text holds no street. */
  readonly readings: readonly Reading[];
  /** Null: there is none. */
  readonly contradiction: Contradiction | null;
}

/** Each reading costs the database a search. */
export const MOST_READINGS = 6;
/** A street has one name, or two where two languages are official. */
const MOST_NAMES = 2;

/** Cadastral codes of the comuni that paint a second series of numbers red: Genova, Firenze, Savona. */
const RED_NUMBERS: ReadonlySet<string> = new Set(['D969', 'D612', 'I480']);

/** Scala, interno, piano, palazzina, c/o: where inside the building; only behind a number, as `Piazza della Scala` is a name. */
const INSIDE = new RegExp(
  '(\\d[^,;]*?[\\s,;]+)(?:(?:scala|sc\\.)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9])|(?:interno|int\\.?)\\s*\\d{0,3}[a-z]?(?![a-z0-9])'
  + '|(?:piano|p\\.)\\s*(?:\\d{1,2}(?!\\d)°?|terra|rialzato|primo|secondo|terzo|quarto|quinto|ultimo|t(?![a-z]))|\\d{1,2}°\\s*piano'
  + '|(?:palazzina|pal\\.|edificio|ed\\.|lotto|corpo)\\s*(?:[a-z]|\\d{1,2})(?![a-z0-9]))',
);
/** Who lives there: up to a comma, or a street behind it. Riva presso Chieri is a comune. */
const CARE_OF = /(?<![a-z])(?:c\s?\/\s?o(?![a-z0-9])\.?|(?<!riva )presso(?![a-z]))((?:(?!\s(?:via|viale|v\.le|piazza|p\.zza|piazzale|corso|c\.so|largo|vicolo|strada|contrada|c\.da|localita)\s)[^,;])*)/g;
/** `I-20121`, `IT-20121`. */
const COUNTRY_BEFORE_POSTAL_CODE = /(?<![a-z0-9])it?\s?-\s?(?=\d{5}(?!\d))/g;
const SNC = /(?<![a-z])(?:s\.?\s?n\.?\s?c\.?(?![a-z])|senza\s+(?:numero(?:\s+civico)?|civico)(?![a-z])|s\.\s?n\.(?!\s?[a-z]))/;
const KILOMETRE = /(?<![a-z])(?:al\s+)?k\.?\s?m\.?\s*(\d{1,4})(?:\s*([+.,])\s*(\d{1,3})(?!\d))?/;
const NUMBER_MARK = /(?<![a-z])(?:n\s?°|n\.(?:ro|o)?|nr\.?|num\.|numero(?:\s+civico)?|nro|n|no\.|civ\.|civico|civ)\s*(?:n[.°]?\s*)?(?=\d)/g;
/** A mark in place of `n.`, `civ.`: a character that no folded text has. */
const MARK = '\u0001';
const SEPARATOR = /(\s*[,;\n]\s*|\s+[-–—]\s+)/;
const EXPONENT_WORD = /^\s?[/\\-]?\s?(bis|ter|quater|quinquies|sexies)(?![a-z])/;

/** `86020 Comune di Roccapparente`, `nel comune dell'Aquila`. */
const COMUNE_OF = /^(?:nel\s+)?comune\s+(?:di\s+|del(?:l[aeo])?\s+|dell'\s?|d'\s?)?(?=[a-z])/;
const PROVINCE_OF = /^(?:in\s+)?prov(?:incia|\.)?\s*(?:di\s+|d')?(?=[a-z])/;
const POSTAL_CODE = /(?<![a-z0-9])\d{5}(?![a-z0-9])/g;

/** Text between separators, folded. */
interface Segment {
  readonly text: string;
  /** A dash stands before it, which may be a part of the street's name: `Strada Modena - Vignola`. */
  readonly dash: boolean;
}

/** A number in the text. */
interface Civico {
  readonly start: number;
  readonly end: number;
  /** `n.` or `civ.` stood before it. */
  readonly marked: boolean;
  readonly ending: Ending & { readonly number: number };
}

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
  const { text, province, careOf } = prepare(query);
  const gazetteer = new Gazetteer(findComune);
  const cuts = cutsOf(text, query);
  const parts = [...cuts.flatMap(({ street, comune }) => [...street, ...comune]), ...careOf];
  await gazetteer.learn([...keysOf(parts), ...(province === null ? [] : [province.key]), ...(city === null ? [] : keysOfCity(city))]);
  const given = city === null ? null : await resolveCity(city, gazetteer);

  const found: Found[] = [];
  for (const cut of cuts) {
    const inside = cut.comune.length > 0 || cut.street.length > 1 ? [] : careOf.filter((segment) => gazetteer.endsInComune(segment.text));
    found.push(...(await readingsOf({ ...cut, comune: [...cut.comune, ...inside] }, given, gazetteer.bound(province), gazetteer)));
  }
  // Once a place was named, what was read without it is another place's; and where words of the street may be one, it is a street that is called exactly so.
  const named = found.some(({ position }) => position === 'place');
  const mayBeNamed = found.some(({ reading }) => reading.whole);
  const readings = new Map<string, Reading>();
  for (const { reading, position } of found) {
    if (reading.tokens.length === 0 || (named && position === 'none')) continue;
    const kept = mayBeNamed && position === 'none' ? { ...reading, whole: true } : reading;
    const key = JSON.stringify(kept);
    if (readings.size < MOST_READINGS && !readings.has(key)) readings.set(key, kept);
  }
  return { readings: [...readings.values()], contradiction: found.find(({ contradiction }) => contradiction !== null)?.contradiction ?? null };
}

/** A province that was written. */
interface Stated {
  /** As `comuneKey` gives it; a car plate code as it is. */
  readonly key: string;
  /** False: it may be something else, `(Bozen)`. */
  readonly sure: boolean;
}

function statedProvince(written: string): Stated {
  const named = written.trim().replace(PROVINCE_OF, '');
  const isSigla = /^[a-z]{2}$/.test(named);
  return { key: isSigla ? RENAMED[named] ?? named : comuneKey(named), sure: isSigla || named !== written.trim() };
}

/**
 * The comuni that a city means: by name in Italian or in the second language, former name or cadastral code.
 * @param findComune the gazetteer
 * @returns cadastral codes; empty: nobody knows it
 */
export async function findCity(city: string, findComune: FindComune): Promise<readonly string[]> {
  return (await resolveCity(city, new Gazetteer(findComune))).comuni ?? [];
}

/** Folds, and takes away what is no part of an address's place: country, who lives there, where inside the building. */
function prepare(query: string): { text: string; province: Stated | null; careOf: Segment[] } {
  const careOf: Segment[] = [];
  let text = fold(query).replace(/\s+/g, ' ').trim().replace(/[,\s]+ital(?:ia|y)$/, '').replace(CARE_OF, (_, whom: string) => {
    careOf.push(...segmentsOf(whom));
    return ' ';
  }).replace(COUNTRY_BEFORE_POSTAL_CODE, '');
  while (INSIDE.test(text)) text = text.replace(INSIDE, '$1');
  let province: Stated | null = null;
  text = text.replace(/\s*\(([^)]*)\)?/g, (_, content: string) => {
    province = statedProvince(content);
    return ' ';
  });
  text = text.replace(/\s+/g, ' ').trim()
    // Reggio, which has no other short form.
    .replace(/(?<=[\d,;]\s?|^)r\.\s?(?=(?:emilia|calabria)(?![a-z]))/g, 'reggio ')
    .replace(/(?<=[a-z0-9])\s+(?:nel\s+)?comune\s+di\s+(?=[a-z])/, (whole, offset: number, all: string) => (hasName(all.slice(0, offset)) ? ', ' : whole));
  // A postal code begins the place: `Via Roma 86020 Roccapparente`.
  return { text: withType(text.replace(/(?<=[a-z0-9](?<!\b(?:nr?|num|numero|civ|civico|km)))\s+(?=\d{5}\s+[a-z])/g, ', ')), province, careOf };
}

/** `vai roma` → `via roma`: the first word, where two letters exchanged make it a street type. */
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

/** The ways to cut the text at its number, likeliest first. */
function cutsOf(text: string, original: string): Cut[] {
  const snc = SNC.exec(text);
  const route = findRoute(text);
  // The road's own number is no civico: it is hidden from the search for one.
  const masked = route === null ? text : text.slice(0, route.start) + text.slice(route.start, route.end).replace(/\d/g, 'x') + text.slice(route.end);
  const kilometre = KILOMETRE.exec(masked);
  if (kilometre !== null) {
    const [written, whole = '', sign, part = '0'] = kilometre;
    const metricM = sign === '+' ? Number(whole) * 1000 + Number(part) : Math.round(Number(`${whole}.${part}`) * 1000);
    return [cutAt(text, kilometre.index, kilometre.index + written.length, { ...NO_ENDING, metricM })];
  }
  if (snc !== null && snc.index > 0) return [cutAt(text, snc.index, snc.index + snc[0].length, { ...NO_ENDING, snc: true })];

  const { plain, civici } = findCivici(masked, original);
  // Marks that were put in moved the text: the road's number is written back at the same length.
  const shown = route === null ? plain : restore(plain, text.slice(route.start, route.end));
  const chosen = civici.find(({ marked }) => marked) ?? civici.at(-1);
  const uncut: Cut = { street: segmentsOf(shown.replaceAll(MARK, ' ')), ending: NO_ENDING, comune: [] };
  if (chosen === undefined) return [uncut];
  const cut = cutAt(shown, chosen.start, chosen.end, chosen.ending);
  return civici.length === 1 && !chosen.marked && isRegnal(shown, chosen) ? [uncut, cut] : [cut, uncut];
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
  return before.length === 0 ? { street: after.slice(0, 1), ending, comune: after.slice(1) } : { street: before, ending, comune: after };
}

/** `Vittorio Emanuele 2` without another number: the king's. */
function isRegnal(text: string, { start, ending: { number, exponent, colour } }: Civico): boolean {
  const [, before = '', name = ''] = /(?:([a-z]+)\s+)?(?<![a-z])([a-z]+)\s+$/.exec(text.slice(0, start)) ?? [];
  // San Paolo and San Giovanni reigned over nothing.
  return exponent === null && colour === null && number <= (REGNAL.get(name) ?? -1) && !SAINTS.has(before);
}

/** Every number that may be a civico, in order: no dates, no ordinals, no CAP. */
function findCivici(folded: string, original: string): { plain: string; civici: Civico[] } {
  const plain = folded.replace(NUMBER_MARK, ` ${MARK}`);
  const civici: Civico[] = [];
  for (const { 1: digits = '', index: start } of plain.matchAll(/(?<![a-z0-9])(\d{1,5})(?!\d)/g)) {
    // A part of the number before it.
    if (start < (civici.at(-1)?.end ?? 0)) continue;
    const marked = plain[start - 1] === MARK;
    const rest = plain.slice(start + digits.length);
    const isDate = MONTHS.has(/^\s*°?\s*([a-z]+)/.exec(rest)?.[1] ?? '');
    const isOrdinal = /^\s*°\s*[a-z]/.test(rest);
    // Five digits are a CAP when a number came before or when they begin the comune part: behind a comma, or before the last words.
    const isPostalCode = digits.length === 5 && (civici.length > 0 || /(?:[,;]|\s[-–—])\s*$/.test(plain.slice(0, start)) || /^\s+[a-z]/.test(rest));
    if (marked || !(isDate || isOrdinal || isPostalCode)) civici.push(readCivico(plain, start, marked, digits, original));
  }
  return { plain, civici };
}

function readCivico(text: string, start: number, marked: boolean, digits: string, original: string): Civico {
  let end = start + digits.length;
  let colour: Reading['colour'] = null;
  const pieces: string[] = [];
  /** What the pattern's group holds, where it comes next. */
  const take = (pattern: RegExp): string | undefined => {
    const [all = '', found] = pattern.exec(text.slice(end)) ?? [];
    end += all.length;
    return found;
  };
  const takeLooseLetter = (): string | undefined => {
    const [all = '', letter] = /^\s([a-z])(?![a-z'.])/.exec(text.slice(end)) ?? [];
    return letter !== undefined && pieces.length === 0 && isExponentLetter(letter, text.slice(end + all.length), digits, original) ? take(/^\s([a-z])/) : undefined;
  };
  const rangeTo = take(/^\s?[-–]\s?(\d{1,5})(?![\d/])(?!\s?°)/);
  for (;;) {
    // Rossa is also a comune.
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

/** A loose letter behind a number. `12 a Milano`, `12 e 14`, `3 s Giorgio` are words; written in capitals (`12 A Milano`) it is an exponent. */
function isExponentLetter(letter: string, rest: string, digits: string, original: string): boolean {
  return !/^\s+[a-z]/.test(rest) || !'aeios'.includes(letter) || new RegExp(`${digits}\\s+${letter.toUpperCase()}\\s`).test(original);
}

const isComune = ({ kind }: ComuneHit): boolean => kind === 'name' || kind === 'second';

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

  /** Comuni before former ones before localities. @param province only places there; null: anywhere */
  get(key: string, province: string | null): readonly ComuneHit[] {
    const all = this.all(key).filter((hit) => province === null || inProvince(hit, province));
    return [['name', 'second'], ['former'], ['locality']].map((kinds) => all.filter(({ kind }) => kinds.includes(kind))).find((hits) => hits.length > 0) ?? [];
  }

  /** Of whatever kind. */
  all(key: string): readonly ComuneHit[] {
    return this.#hits.get(key) ?? [];
  }

  isProvince(key: string): boolean {
    return this.all(key).some(({ kind }) => kind === 'province');
  }

  /** Cadastral codes of the comuni that have a postal code. */
  withPostalCode(postalCode: string | null): string[] {
    return postalCode === null ? [] : codesOf(this.all(postalCode).filter(({ kind }) => kind === 'postal_code'));
  }

  /** The province that was written, when it is one. */
  bound(stated: Stated | null): string | null {
    return stated !== null && (stated.sure || this.isProvince(stated.key)) ? stated.key : null;
  }

  /** `rossi siderno`: a comune behind somebody's name. */
  endsInComune(text: string): boolean {
    return suffixes(text).some(({ rest, key, sigla }) => rest !== '' && this.get(key, sigla).some(isComune));
  }

  /** Names that are a letter or two away. */
  async near(key: string, province: string | null): Promise<readonly ComuneHit[]> {
    let hits = this.#near.get(key);
    if (hits === undefined) {
      hits = key === '' || this.all(key).length > 0 ? [] : await this.#find([key], true);
      this.#near.set(key, hits);
    }
    return province === null ? hits : hits.filter((hit) => inProvince(hit, province));
  }
}

/** Car plate codes of provinces that were renamed, still written. */
const RENAMED: Readonly<Record<string, string>> = { fo: 'fc', ps: 'pu' };

/**
 * Whether a place lies there, or nobody knows.
 * @param province a car plate code in lower case, or the key of a name or of a part of it (`forli` of Forlì-Cesena)
 */
function inProvince({ sigla, provinceKey }: ComuneHit, province: string): boolean {
  if (sigla === null && provinceKey === null) return true;
  return sigla?.toLowerCase() === (RENAMED[province] ?? province) || ` ${provinceKey ?? ''} `.includes(` ${province} `);
}

function codesOf(hits: readonly ComuneHit[]): string[] {
  return [...new Set(hits.flatMap(({ belfiore }) => (belfiore === null ? [] : [belfiore])))].sort();
}

/** `castro le` → `castro` and `le`. */
function withoutSigla(text: string): { text: string; sigla: string | null } {
  const [, before = text, sigla = null] = /^(.*[a-z'].*?)[\s,]+([a-z]{2})$/.exec(text) ?? [];
  return { text: before, sigla };
}

/** Most words that the name of a comune has. */
const COMUNE_WORDS = 8;

/** The ways to cut a text between two words, and before the first one; the shortest beginning first. */
function cutsBetween(text: string): { before: string; after: string }[] {
  const pieces = text.split(/\s+/);
  return pieces.map((_, at) => ({ before: pieces.slice(0, at).join(' '), after: pieces.slice(at).join(' ') }));
}

/** A part of a text that may be a comune, and the words in front of it or behind it. */
interface Split {
  readonly key: string;
  readonly rest: string;
}

interface Suffix extends Split {
  readonly sigla: string | null;
  /** A preposition ties it to what stands before: `Leonardo da Vinci`, `Francesco d'Assisi`. */
  readonly tied: boolean;
}

const TIES = /^(?:d'|dell'|(?:di|da|del|dello|della|dei|degli|delle|dal|dalla)$)/;

/** Ends of a text that may be a comune, longest first; with and without a sigla behind them. A CAP in front of them is left out. */
function suffixes(text: string): Suffix[] {
  const found: Suffix[] = [];
  const ended = withoutSigla(text);
  for (const [body, sigla] of [...(ended.sigla === null ? [] : [[ended.text, ended.sigla] as const]), [text, null]] as const) {
    for (const { before, after } of cutsBetween(body).slice(-COMUNE_WORDS)) {
      if (/^[\d-]/.test(after)) continue;
      const key = comuneKey(after);
      const rest = before.replace(/\s*\b\d{5}$/, '').trim();
      // `Castro LE`: the province is no article.
      if (key === '' || found.some((other) => other.rest === rest && other.key === key)) continue;
      found.push({ rest, key, sigla, tied: [before.split(' ').at(-1), after.split(' ')[0]].some((word = '') => TIES.test(word)) });
    }
  }
  // Longest first; of the same words, the reading with a sigla first.
  return found.sort((a, b) => a.rest.length - b.rest.length || Number(b.sigla !== null) - Number(a.sigla !== null));
}

/** `milano via roma`: beginnings that may be a comune, before a street type. */
function prefixes(text: string): Split[] {
  return cutsBetween(text).slice(1, COMUNE_WORDS).filter(({ after }) => takeType(words(after)) !== null)
    .map(({ before, after }) => ({ key: comuneKey(before.replace(COMUNE_OF, '')), rest: after }));
}

/** `salerno scalo`: beginnings that may be a comune, with a locality behind them, longest first. */
function beginnings(text: string): Split[] {
  return cutsBetween(text).slice(1).map(({ before, after }) => ({ key: comuneKey(before), rest: after })).reverse();
}

/** Every key that reading the segments may ask for. */
function keysOf(segments: readonly Segment[]): string[] {
  return segments.flatMap(({ text }) => {
    const place = placeText(text);
    return [
      ...[text, place].flatMap((each) => suffixes(each).map(({ key }) => key)), ...[...prefixes(text), ...beginnings(place)].map(({ key }) => key),
      comuneKey(place.replace(PROVINCE_OF, '')), localityKey(place) ?? '', ...(text.match(POSTAL_CODE) ?? []),
    ];
  });
}

interface NamedPlace extends Place {
  /** The comune was written as it is called. */
  readonly sure: boolean;
}

const NOWHERE: NamedPlace = { comuni: null, locality: null, province: null, sure: false };

/** How a reading came to its comune. `place`: it stands behind the number or a comma; `none`: there is none. */
interface Found {
  readonly reading: Reading;
  readonly position: 'place' | 'words' | 'none';
  readonly contradiction: Contradiction | null;
}

async function readingsOf(cut: Cut, given: NamedPlace | null, province: string | null, gazetteer: Gazetteer): Promise<Found[]> {
  const found: Found[] = [];
  const [first, ...others] = cut.street;
  if (first === undefined) return found;
  const nowhere: NamedPlace = { ...NOWHERE, province };
  const add = (street: string, named: NamedPlace, position: Found['position'], whole = false): void => {
    const { place, contradiction } = given === null ? { place: named, contradiction: null } : within(given, named);
    for (const name of namesOf(street)) found.push({ reading: compose(name, cut.ending, place, whole), position: given === null ? position : 'place', contradiction });
  };

  const [next, ...further] = others;
  // `Milano, Via Roma 12`: a comune before the street.
  if (next !== undefined) {
    const behind = [...further, ...cut.comune];
    const before = await placeOf([first], province, gazetteer, false);
    const [isTyped, nextIsTyped] = [takeType(words(first.text)) !== null, takeType(words(next.text)) !== null];
    // Borgo is a type of street, and the beginning of many comuni.
    const isPlace = isTyped
      ? nextIsTyped && before.sure && before.locality === null
      : nextIsTyped || (before.comuni !== null && !(await placeOf([next], province, gazetteer, false)).sure);
    if (isPlace) {
      const there = await placeOf(behind, province, gazetteer, given === null);
      // The one behind the street is the comune when both are named: then the one before it is a part of it.
      if (there.comuni !== null) add(next.text, { ...there, locality: there.locality ?? localityKey(first.text) }, 'place');
      else add(next.text, before.sure ? before : await placeOf([first], province, gazetteer, given === null), 'place');
      return found;
    }
  }
  const behind = [...others, ...cut.comune];
  const named = await placeOf(behind, province, gazetteer, given === null);
  if (named.comuni !== null || named.locality !== null || (named.province !== null && behind.length > 0)) {
    add(first.text, named, 'place');
    // A dash inside a name (`Strada Modena - Vignola`) looks like the one before a comune.
    if (next?.dash === true) add([first, ...others].map(({ text }) => text).join(' '), await placeOf(cut.comune, province, gazetteer, given === null), 'words', true);
    return found;
  }
  // Nothing behind: the street's last words may be the comune, when a name is left for the street.
  let ends: { rest: string; place: NamedPlace } | undefined;
  let mayNameComune = false;
  for (const { rest, key, sigla, tied } of suffixes(first.text)) {
    const hits = gazetteer.get(key, sigla ?? province);
    const codes = codesOf(hits);
    if (hits.length === 0 || tied || !hasName(rest) || (given !== null && !codes.some((code) => given.comuni?.includes(code)))) continue;
    mayNameComune = given === null && hits.some(isComune);
    ends = { rest, place: { ...NOWHERE, comuni: codes, locality: hits[0]?.kind === 'locality' ? key : null } };
    break;
  }
  const begins = prefixes(first.text).map(({ key, rest }) => ({ rest, hits: gazetteer.get(key, province) })).filter(({ hits }) => hits.length > 0);
  // The comune stands before the street: what stands behind it is the street's.
  if (begins.some(({ hits }) => hits.some(isComune))) ends = undefined;
  // After a civico the street's last words are only a second thought: people write the comune behind the number.
  const endsFirst = cut.ending === NO_ENDING || given !== null;
  if (ends !== undefined && endsFirst) add(ends.rest, ends.place, 'words');
  for (const { rest, hits } of begins) {
    const sure = hits.some(isComune);
    add(rest, { ...NOWHERE, comuni: codesOf(hits), sure }, sure ? 'place' : 'words');
  }
  add(first.text, nowhere, 'none', mayNameComune);
  if (ends !== undefined && !endsFirst) add(ends.rest, ends.place, 'words');
  return found;
}

/** What the text names, inside the comune that the caller gave. */
function within(given: NamedPlace, named: NamedPlace): { place: NamedPlace; contradiction: Contradiction | null } {
  const place = { ...given, locality: named.locality ?? given.locality };
  const [query, city] = [named.comuni, given.comuni];
  if (!named.sure || query === null || city === null) return { place, contradiction: null };
  const both = query.filter((code) => city.includes(code));
  const contradiction = both.length === 0 && query.length > 0 && city.length > 0 ? { query, city } : null;
  return { place: { ...place, comuni: both }, contradiction };
}

/** A place without its postal code and without the words that only say what it is. */
function placeText(segment: string): string {
  return segment.replace(POSTAL_CODE, ' ').replace(/\s+/g, ' ').trim().replace(COMUNE_OF, '');
}

/**
 * The comune named by the text behind the street: its longest known end; what stands before is a locality.
 * @param province in which it must lie; null: none was stated
 * @param likeness a name that nothing is called may be a mistyped one
 */
async function placeOf(segments: readonly Segment[], province: string | null, gazetteer: Gazetteer, likeness: boolean): Promise<NamedPlace> {
  let bound = province;
  const texts: string[] = [];
  for (const piece of segments.map(({ text }) => placeText(text))) {
    if (PROVINCE_OF.test(piece)) bound = statedProvince(piece).key;
    else if (/[a-z]{2}/.test(piece)) texts.push(piece);
  }
  const postalCode = segments.flatMap(({ text }) => text.match(POSTAL_CODE) ?? []).at(-1) ?? null;
  const coded = gazetteer.withPostalCode(postalCode);
  const last = texts.at(-1);
  if (last !== undefined && /^[a-z]{2}$/.test(last) && (texts.length > 1 || gazetteer.get(comuneKey(last), bound).length === 0)) {
    bound = RENAMED[last] ?? last;
    texts.pop();
  }
  const named = texts.at(-1);
  if (named === undefined) return postalCode === null ? { ...NOWHERE, province: bound } : { ...NOWHERE, comuni: coded };
  const place = (hits: readonly ComuneHit[], locality: string | null, sure: boolean): NamedPlace => {
    const codes = codesOf(hits);
    const narrowed = codes.filter((code) => coded.includes(code));
    return { comuni: narrowed.length > 0 ? narrowed : codes, locality, province: null, sure };
  };

  // `Castro, Lecce`, `Isernia, Molise`: the province or the region behind the comune.
  const before = texts.at(-2);
  if (before !== undefined) {
    const key = comuneKey(named);
    const region = findRegion(named)?.code;
    const part = localityKey(before) ?? '';
    const there = [...new Set([...gazetteer.all(comuneKey(before)), ...gazetteer.all(part)])].filter((hit) => hit.belfiore !== null
      && ((gazetteer.isProvince(key) && hit.provinceKey !== null && inProvince(hit, key)) || (region !== undefined && hit.region === region)));
    // A part of the comune that is called as its province is that.
    const seat = codesOf(gazetteer.get(key, bound).filter(isComune));
    const hits = there.some(isComune) ? there.filter(isComune) : codesOf(there).some((code) => seat.includes(code)) ? [] : there;
    if (hits.length > 0) {
      const further = texts.at(-3);
      return place(hits, hits.some(isComune) ? (further === undefined ? null : localityKey(further)) : part, hits.some(isComune));
    }
  }

  let elsewhere: number | null = null;
  for (const suffix of suffixes(named)) {
    // It is called so, and lies in another province than the one that was stated.
    if (elsewhere !== null && suffix.rest.length > elsewhere) break;
    const where = suffix.sigla ?? bound;
    const hits = gazetteer.get(suffix.key, where);
    if (hits.length === 0) {
      if (where !== null && gazetteer.get(suffix.key, null).some(({ kind }) => kind !== 'locality')) elsewhere = suffix.rest.length;
      continue;
    }
    const isPart = hits[0]?.kind === 'locality';
    if (suffix.rest !== '' && !hits.some(isComune)) {
      // `Salerno Scalo` is a part of Salerno, wherever else a Scalo may be; and `Vila San Giovanni` is mistyped.
      const whole = beginnings(named).find(({ key }) => gazetteer.get(key, where).some(isComune));
      if (whole !== undefined) return place(gazetteer.get(whole.key, where), localityKey(whole.rest), true);
      const near = likeness ? await gazetteer.near(comuneKey(named), where) : [];
      if (near.length > 0) return place(near, null, false);
    }
    const part = [...texts.slice(0, -1), suffix.rest].filter((text) => /[a-z]/.test(text)).at(-1);
    return place(hits, isPart ? suffix.key : part === undefined ? null : localityKey(part), !isPart);
  }
  if (!likeness) return elsewhere === null ? { ...NOWHERE, locality: localityKey(named) } : { ...NOWHERE, comuni: [], sure: true };
  const ended = withoutSigla(comuneKey(named));
  const near = elsewhere === null ? await gazetteer.near(ended.text, ended.sigla ?? bound) : [];
  const begun = near.length > 0 || elsewhere !== null ? undefined : beginnings(named).find(({ key }) => gazetteer.get(key, bound).some(isComune));
  if (begun !== undefined) return place(gazetteer.get(begun.key, bound), localityKey(begun.rest), true);
  // A comune that nobody knows is still the one that was meant: better no answer than one from another city.
  return place(near, null, false);
}

const CADASTRAL_CODE = /^\s*[a-z]\d{3}\s*$/i;

function keysOfCity(city: string): string[] {
  if (CADASTRAL_CODE.test(city)) return [];
  const { text, province } = prepare(city);
  return [...keysOf(segmentsOf(text)), ...(province === null ? [] : [province.key])];
}

/** What the caller named as the city. */
async function resolveCity(city: string, gazetteer: Gazetteer): Promise<NamedPlace> {
  if (CADASTRAL_CODE.test(city)) return { ...NOWHERE, comuni: [city.trim().toUpperCase()], sure: true };
  await gazetteer.learn(keysOfCity(city));
  const { text, province } = prepare(city);
  const place = await placeOf(segmentsOf(text), gazetteer.bound(province), gazetteer, true);
  return place.comuni === null && place.province === null ? { ...place, comuni: [] } : place;
}

function hasName(street: string): boolean {
  const all = words(street);
  return findRoute(street) !== null || (all.length > (takeType(all)?.length ?? 0) && normaliseFolded(street).tokens.length > 0);
}

/** `Via Museo / Museumstraße`: one street in two languages. */
function namesOf(street: string): StreetName[] {
  return street.split(/\s*\/\s+|\s+\/\s*/).filter((name) => /[a-z0-9]/.test(name)).slice(0, MOST_NAMES).map((name) => normaliseFolded(name));
}

function compose({ type, otherTypes, tokens }: StreetName, ending: Ending, { comuni, locality, province }: NamedPlace, whole: boolean): Reading {
  const reading = { streetType: type, otherTypes, tokens, ...ending, comuni, locality, province, whole };
  // A lane that is only a number (`Contrada 167`) has no name to find it by but that.
  if (ending.number !== null && tokens.join(' ') === type) return { ...reading, tokens: [String(ending.number)], number: null, rangeTo: null, exponent: null };
  // `12/R`, `12A/R`: red where numbers are painted so.
  const [, exponent = null, letter] = /^(?:(.*)\/)?([RN])$/.exec(ending.exponent ?? '') ?? [];
  if (letter === undefined || comuni?.some((code) => RED_NUMBERS.has(code)) === false) return reading;
  return { ...reading, exponent, colour: letter === 'R' ? 'ROSSO' : 'NERO' };
}
