/**
 * Reads the part of an address that names a place: comune, locality, province, region and postal code.
 */
import { findRegion } from '../contract/regions.ts';
import { comuneKey, localityKey, takeType, words } from './normalise.ts';

/** A comune, locality or province that the gazetteer returns for a key. */
export interface ComuneHit {
  /** Search key of the name in the query (`comuneKey`), or a postal code. */
  readonly key: string;
  /** Cadastral code; null for a province. */
  readonly belfiore: string | null;
  /**
   * Kind of the name. `name`: the Italian name. `second`: the name in the second language. `former`: the name of a comune that is now part of this comune.
   * `locality`: a locality in which the comune has loaded addresses. `foreign`: a name in a foreign language. `postal_code`: a postal code of the comune.
   * `province`: a current or former province.
   */
  readonly kind: 'name' | 'second' | 'former' | 'locality' | 'foreign' | 'postal_code' | 'province';
  /** Car plate code of the province, upper case; null if unknown. */
  readonly sigla: string | null;
  /** Search key of the province's name; null if unknown. */
  readonly provinceKey: string | null;
  /** ISTAT code of the region; null if unknown. */
  readonly region: number | null;
  /** Former provinces of the comune, as car plate codes in lower case and as search keys of names. */
  readonly pastProvinces?: readonly string[];
}

/**
 * Returns the places of every search key, in any order. The gazetteer contains all comuni of Italy, so that a comune without loaded data is not confused with a
 * different comune.
 * @param names `similar`: for a key without exact hits, also returns names that differ from the key by one or two letters
 */
export type FindComune = (keys: readonly string[], names: Names) => Promise<readonly ComuneHit[]>;

/** Whether names must equal the key (`exact`), or may differ by one or two letters (`similar`). */
export type Names = 'exact' | 'similar';

/** A place that a query names. */
export interface Place {
  /** Cadastral codes; null if no comune is named; empty if no known comune matches the text. */
  readonly comuni: readonly string[] | null;
  /** Search key of a locality inside the comune; null if no locality is named. */
  readonly locality: string | null;
  /** Province that is named without a comune, as car plate code in lower case or as search key. Null if there is no such province. */
  readonly province: string | null;
}

/** Matches the words before the name of a comune: `Comune di Roccapparente`, `nel comune dell'Aquila`. */
const COMUNE_OF = /^(?:nel\s+)?comune\s+(?:di\s+|del(?:l[aeo])?\s+|dell'\s?|d'\s?)?(?=[a-z])/;
const PROVINCE_OF = /^(?:in\s+)?prov(?:incia|\.)?\s*(?:di\s+|d')?(?=[a-z])/;
const REGION_OF = /^regione\s+(?=[a-z])/;
export const POSTAL_CODE = /(?<![a-z0-9])\d{5}(?![a-z0-9])/g;

/** Text between two separators, in lower case and without accents (`fold`). */
export interface Segment {
  readonly text: string;
  /** True if a dash precedes the text. The dash may be part of the street's name: `Strada Modena - Vignola`. */
  readonly dash: boolean;
}

/** A text in the query that may be a province. */
export interface Stated {
  /** Search key of the province's name (`comuneKey`), or a car plate code. */
  readonly key: string;
  /** False if the text may be something other than a province, such as `(Bozen)`. */
  readonly sure: boolean;
}

export function statedProvince(written: string): Stated {
  const named = written.trim().replace(PROVINCE_OF, '');
  const isSigla = /^[a-z]{2}$/.test(named);
  return { key: isSigla ? RENAMED[named] ?? named : comuneKey(named), sure: isSigla || named !== written.trim() };
}

export const isComune = ({ kind }: ComuneHit): boolean => kind === 'name' || kind === 'second';

/** Kinds of names of a comune, except foreign names, highest priority first. */
const CALLED: readonly (readonly ComuneHit['kind'][])[] = [['name', 'second'], ['former']];

/** Hits of the gazetteer by key, for one query. */
export class Gazetteer {
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
    for (const hit of await this.#find(unknown, 'exact')) this.#hits.get(hit.key)?.push(hit);
  }

  /**
   * Returns the hits of a key. If the key has hits of several kinds, returns only the first of these kinds: current names of comuni, former names, localities,
   * foreign names.
   * @param province province whose places are returned; null for all places
   */
  get(key: string, province: string | null): readonly ComuneHit[] {
    return this.#ofKinds(key, province, [...CALLED, ['locality'], ['foreign']]);
  }

  /** Returns the comuni with exactly this name. Former names are used only if no current name matches, and foreign names only if neither matches. */
  called(key: string): readonly ComuneHit[] {
    return this.#ofKinds(key, null, [...CALLED, ['foreign']]);
  }

  /** @param kinds kinds of names, highest priority first; only the first kind that has hits is returned */
  #ofKinds(key: string, province: string | null, kinds: readonly (readonly ComuneHit['kind'][])[]): readonly ComuneHit[] {
    const all = this.all(key);
    const there = all.filter((hit) => province === null || inProvince(hit, province));
    const found = kinds.map((each) => there.filter(({ kind }) => each.includes(kind))).find((hits) => hits.length > 0) ?? [];
    // A foreign name is ignored if the key is also a name of a different kind, even of a place outside the province.
    return found[0]?.kind === 'foreign' && all.some(({ kind }) => kind !== 'foreign') ? [] : found;
  }

  /** Returns whether the comune has loaded addresses in the locality. */
  hasPart(part: string | null, belfiore: string | null): boolean {
    return part !== null && this.all(part).some((hit) => hit.kind === 'locality' && hit.belfiore === belfiore);
  }

  /** Returns all hits of a key, of every kind. */
  all(key: string): readonly ComuneHit[] {
    return this.#hits.get(key) ?? [];
  }

  isProvince(key: string): boolean {
    return this.all(key).some(({ kind }) => kind === 'province');
  }

  /** Returns the cadastral codes of the comuni with a postal code. */
  withPostalCode(postalCode: string | null): string[] {
    return postalCode === null ? [] : codesOf(this.all(postalCode).filter(({ kind }) => kind === 'postal_code'));
  }

  /** Returns the key of the stated province; null if no province is stated, or if the text is neither `sure` nor the name of a province. */
  bound(stated: Stated | null): string | null {
    return stated !== null && (stated.sure || this.isProvince(stated.key)) ? stated.key : null;
  }

  /** Returns whether a text of several words ends with the name of a comune, such as `rossi siderno`. */
  endsInComune(text: string): boolean {
    return suffixes(text).some(({ rest, key, sigla }) => rest !== '' && this.get(key, sigla).some(isComune));
  }

  /** Returns hits whose name differs from the key by one or two letters. Returns an empty array if the key has exact hits. */
  async near(key: string, province: string | null): Promise<readonly ComuneHit[]> {
    let hits = this.#near.get(key);
    if (hits === undefined) {
      hits = key === '' || this.all(key).length > 0 ? [] : await this.#find([key], 'similar');
      this.#near.set(key, hits);
    }
    return province === null ? hits : hits.filter((hit) => inProvince(hit, province));
  }
}

/** Maps old car plate codes, which people still write, to the current codes of renamed provinces. */
const RENAMED: Readonly<Record<string, string>> = { fo: 'fc', ps: 'pu' };

/**
 * Returns whether a place is or was in a province. Returns true if the province of the place is unknown.
 * @param province car plate code in lower case, or search key of the province's name or of a part of the name (`forli` for Forlì-Cesena)
 */
function inProvince(hit: ComuneHit, province: string): boolean {
  return (hit.sigla === null && hit.provinceKey === null) || isOrWasIn(hit, province);
}

/** Returns whether a place is or was in a province. Returns false if the province of the place is unknown. */
function isOrWasIn({ sigla, provinceKey, pastProvinces = [] }: ComuneHit, province: string): boolean {
  return sigla?.toLowerCase() === (RENAMED[province] ?? province) || [provinceKey ?? '', ...pastProvinces].some((key) => ` ${key} `.includes(` ${province} `));
}

export function codesOf(hits: readonly ComuneHit[]): string[] {
  return [...new Set(hits.flatMap(({ belfiore }) => (belfiore === null ? [] : [belfiore])))].sort();
}

/** Splits two letters, which may be a car plate code, from the end of a text: `castro le` → `castro` and `le`. */
function withoutSigla(text: string): { text: string; sigla: string | null } {
  const [, before = text, sigla = null] = /^(.*[a-z'].*?)[\s,]+([a-z]{2})$/.exec(text) ?? [];
  return { text: before, sigla };
}

/** Largest number of words in the name of a comune. */
const COMUNE_WORDS = 8;

/** Splits a text between every two words, and before the first word. The split with the shortest beginning comes first. */
function cutsBetween(text: string): { before: string; after: string }[] {
  const pieces = text.split(/\s+/);
  return pieces.map((_, at) => ({ before: pieces.slice(0, at).join(' '), after: pieces.slice(at).join(' ') }));
}

/** A part of a text that may be a comune, and the words before or after this part. */
interface Split {
  readonly text: string;
  readonly key: string;
  readonly rest: string;
}

interface Suffix extends Split {
  readonly sigla: string | null;
  /** True if a preposition joins the part to the words before the part: `Leonardo da Vinci`, `Francesco d'Assisi`. */
  readonly tied: boolean;
}

const TIE = /^(?:d'|dell'|di|da|del|dello|della|dei|degli|delle|dal|dalla)$/;
const TIED = /^(?:d'|dell'|(?:di|da|del|dello|della|dei|degli|delle|dal|dalla)$)/;

/** Street types that name a part of a comune. */
export const PART_TYPES: ReadonlySet<string> = new Set([
  'localita', 'frazione', 'borgo', 'borgata', 'contrada', 'rione', 'quartiere', 'villaggio', 'zona', 'nucleo',
]);

/**
 * Returns the endings of a text that may be the name of a comune, longest first. Two letters at the end may be a car plate code or part of the name, so both
 * readings are returned. A CAP before the name is omitted.
 */
export function suffixes(text: string): Suffix[] {
  const found: Suffix[] = [];
  const ended = withoutSigla(text);
  for (const [body, sigla] of [...(ended.sigla === null ? [] : [[ended.text, ended.sigla] as const]), [text, null]] as const) {
    for (const { before, after } of cutsBetween(body).slice(-COMUNE_WORDS)) {
      if (/^[\d-]/.test(after)) continue;
      const key = comuneKey(after);
      const rest = before.replace(/\s*\b\d{5}$/, '').trim();
      // In `Castro LE`, LE is a province, not an article.
      if (key === '' || found.some((other) => other.rest === rest && other.key === key)) continue;
      found.push({ text: sigla === null ? after : `${after} ${sigla}`, rest, key, sigla, tied: TIE.test(before.split(' ').at(-1) ?? '') || TIED.test(after.split(' ')[0] ?? '') });
    }
  }
  // The longest candidate comes first. If two candidates have the same words, the candidate with a car plate code comes first.
  return found.sort((a, b) => a.rest.length - b.rest.length || Number(b.sigla !== null) - Number(a.sigla !== null));
}

/** Returns the splits of a text into a possible comune and a following street, such as `milano via roma`. The shortest comune comes first. */
export function prefixes(text: string): Split[] {
  return cutsBetween(text).slice(1, COMUNE_WORDS + 1).filter(({ after }) => takeType(words(after)) !== null)
    .map(({ before, after }) => ({ text: before, key: comuneKey(before.replace(COMUNE_OF, '')), rest: after }));
}

/** Returns the splits of a text into a possible comune and a following locality, such as `salerno scalo`. The longest comune comes first. */
function beginnings(text: string): Split[] {
  return cutsBetween(text).slice(1).map(({ before, after }) => ({ text: before, key: comuneKey(before), rest: after })).reverse();
}

/** Returns all search keys that may be needed to find places in the segments. */
export function keysOf(segments: readonly Segment[]): string[] {
  return segments.flatMap(({ text }) => {
    const place = placeText(text);
    return [
      ...[text, place].flatMap((each) => suffixes(each).map(({ key }) => key)), ...[...prefixes(text), ...beginnings(place)].map(({ key }) => key),
      comuneKey(place.replace(PROVINCE_OF, '')), localityKey(place) ?? '', ...(text.match(POSTAL_CODE) ?? []),
    ];
  });
}

export interface NamedPlace extends Place {
  /** True if the text contains the exact name of a comune. False for a locality, a misspelt name, or a text without a place name. */
  readonly sure: boolean;
}

/** Options for looking up the name of a place. */
export interface Lookup {
  readonly gazetteer: Gazetteer;
  /** Province of the comune; null if the query states no province. */
  readonly province: string | null;
  /** `similar`: also finds misspelt names. */
  readonly names: Names;
}

export const NOWHERE: NamedPlace = { comuni: null, locality: null, province: null, sure: false };

/** Returns a place name without its postal code and without words such as `comune di`. */
function placeText(segment: string): string {
  return segment.replace(POSTAL_CODE, ' ').replace(/\s+/g, ' ').trim().replace(COMUNE_OF, '').replace(REGION_OF, '');
}

/** Place names, province and postal code in the text after the street. */
interface Pieces {
  /** Place names without postal codes. */
  readonly texts: readonly string[];
  /** Province that is stated, as car plate code in lower case or as search key. Null if there is none. */
  readonly bound: string | null;
  readonly postalCode: string | null;
}

function piecesOf(segments: readonly Segment[], province: string | null, gazetteer: Gazetteer): Pieces {
  let bound = province;
  const texts: string[] = [];
  for (const piece of segments.map(({ text }) => placeText(text))) {
    if (PROVINCE_OF.test(piece)) bound = statedProvince(piece).key;
    else if (/[a-z]{2}/.test(piece)) texts.push(piece);
  }
  const last = texts.at(-1);
  if (last !== undefined && /^[a-z]{2}$/.test(last) && (texts.length > 1 || gazetteer.get(comuneKey(last), bound).length === 0)) {
    bound = RENAMED[last] ?? last;
    texts.pop();
  }
  return { texts, bound, postalCode: segments.flatMap(({ text }) => text.match(POSTAL_CODE) ?? []).at(-1) ?? null };
}

/** A text that is exactly the name of one or more comuni, optionally followed by the car plate code of a province. */
interface Called {
  readonly key: string;
  /** Hits in the province of the car plate code; all hits if the text has no such code. */
  readonly hits: readonly ComuneHit[];
}

/** @returns null if no comune has this name */
function calledAs(text: string, gazetteer: Gazetteer): Called | null {
  const ended = withoutSigla(text);
  for (const [body, sigla] of [...(ended.sigla === null ? [] : [[ended.text, ended.sigla] as const]), [text, null] as const]) {
    const key = comuneKey(body);
    const hits = gazetteer.called(key);
    if (hits.length > 0) return { key, hits: sigla === null ? hits : hits.filter((hit) => inProvince(hit, sigla)) };
  }
  return null;
}

/**
 * Returns the search key of a locality inside the city, even if a comune has the same name. Returns null unless `segments` contains a single segment, which
 * names a locality of the city.
 */
export function partOf(city: NamedPlace, segments: readonly Segment[], gazetteer: Gazetteer): string | null {
  const part = segments.length === 1 ? localityKey(placeText(segments[0]?.text ?? '')) : null;
  return (city.comuni ?? []).some((belfiore) => gazetteer.hasPart(part, belfiore)) ? part : null;
}

/** Returns whether a text is exactly the name of a comune. */
export function isCalled({ text }: Segment, gazetteer: Gazetteer): boolean {
  return calledAs(placeText(text), gazetteer) !== null;
}

/**
 * Splits a text without commas into names of comuni: `monza milano` → `monza`, `milano`. The last name may be a province or region. Returns the whole text if
 * the text contains any other words.
 */
async function namesIn(text: string, gazetteer: Gazetteer): Promise<readonly string[]> {
  const names: string[] = [];
  let rest = text;
  while (names.length < MOST_PLACES) {
    if (calledAs(rest, gazetteer) !== null) return [rest, ...names];
    if (gazetteer.all(comuneKey(rest)).length > 0) break;
    // Looks up the endings of the remaining text. Only this step needs their hits.
    if (names.length > 0 && rest.includes(' ')) await gazetteer.learn(suffixes(rest).map(({ key }) => key));
    const cut = cutsBetween(rest).slice(1).slice(-COMUNE_WORDS)
      .find(({ after }) => calledAs(after, gazetteer) !== null
        || (names.length === 0 && (findRegion(after) !== undefined || gazetteer.isProvince(comuneKey(after)))));
    if (cut === undefined) break;
    names.unshift(cut.after);
    rest = cut.before;
  }
  return [text];
}

/** Largest number of place names that are read from one text. People write at most three. */
const MOST_PLACES = 5;

/**
 * Returns the first named comune that is compatible with all other names. Names after the comune may be the comune's province, region or locality, or the
 * comune's name again. Text before the comune is a locality. If this text is also the name of a comune, the chosen comune must have a locality with this name.
 * Returns an empty list of comuni if there is no such comune, for example because the text names two different comuni.
 */
async function ofSeveral(
  parts: readonly string[], called: readonly (Called | null)[], pieces: Pieces, lookup: Pick<Lookup, 'gazetteer' | 'names'>,
): Promise<NamedPlace> {
  const { gazetteer } = lookup;
  for (const [at, own] of called.entries()) {
    if (own === null) continue;
    let hits: readonly ComuneHit[] = own.hits.filter((hit) => pieces.bound === null || inProvince(hit, pieces.bound));
    let locality: string | null = null;
    for (const [index, text] of parts.slice(0, at).entries()) {
      const part = localityKey(text);
      if (called[index] !== null) hits = hits.filter((hit) => gazetteer.hasPart(part, hit.belfiore));
      locality = part;
    }
    for (const [index, text] of parts.slice(at + 1).entries()) {
      if (hits.length === 0) break;
      const other = called[at + 1 + index] ?? null;
      const agreed = await agreeing(hits, own.key, { text, called: other }, lookup);
      hits = agreed.hits;
      locality ??= agreed.locality;
    }
    if (hits.length > 0) return narrowed(hits, { locality, sure: true }, gazetteer.withPostalCode(pieces.postalCode));
  }
  return { ...NOWHERE, comuni: [], sure: true };
}

/**
 * Returns the hits that are compatible with the name after the comune, and the locality if this name is a locality.
 * @param own search key with which the hits were found
 */
async function agreeing(
  hits: readonly ComuneHit[], own: string, following: { readonly text: string; readonly called: Called | null }, lookup: Pick<Lookup, 'gazetteer' | 'names'>,
): Promise<{ hits: readonly ComuneHit[]; locality: string | null }> {
  const { text, called: other } = following;
  const { gazetteer } = lookup;
  const key = comuneKey(text);
  const region = findRegion(text)?.code;
  const within = hits.filter((hit) => own === other?.key || isOrWasIn(hit, key) || (region !== undefined && hit.region === region)
    || other?.hits.some(({ belfiore }) => belfiore === hit.belfiore));
  if (within.length > 0 || other !== null || region !== undefined || gazetteer.isProvince(key)) return { hits: within, locality: null };
  const part = localityKey(text);
  const withPart = hits.filter((hit) => gazetteer.hasPart(part, hit.belfiore));
  if (withPart.length > 0) return { hits: withPart, locality: part };
  // A text is a locality if the text begins with a word such as `frazione`, or if any comune has a locality with this name.
  if (isPartType(text) || gazetteer.all(part ?? '').some(({ kind }) => kind === 'locality')) return { hits, locality: part };
  const { comuni, locality } = await ofLast([text], { texts: [text], bound: null, postalCode: null }, lookup);
  return comuni === null ? { hits, locality } : { hits: hits.filter(({ belfiore }) => belfiore !== null && comuni.includes(belfiore)), locality };
}

/** Returns whether a text begins with a word for a part of a comune: `fraz. Piano`, `quartiere San Paolo`. */
function isPartType(text: string): boolean {
  return PART_TYPES.has(takeType(words(text))?.type ?? '');
}

/**
 * Returns the comuni of the hits. If some of these comuni have the stated postal code, returns only those comuni.
 * @param coded cadastral codes of the comuni that have the stated postal code
 */
function narrowed(hits: readonly ComuneHit[], { locality, sure }: Pick<NamedPlace, 'locality' | 'sure'>, coded: readonly string[]): NamedPlace {
  const codes = codesOf(hits);
  const there = codes.filter((code) => coded.includes(code));
  return { comuni: there.length > 0 ? there : codes, locality, province: null, sure };
}

/** Returns the place that the text after the street names. */
export async function placeOf(segments: readonly Segment[], lookup: Lookup): Promise<NamedPlace> {
  const { province, gazetteer } = lookup;
  const pieces = piecesOf(segments, province, gazetteer);
  if (pieces.texts.length === 0) {
    return pieces.postalCode === null ? { ...NOWHERE, province: pieces.bound } : { ...NOWHERE, comuni: gazetteer.withPostalCode(pieces.postalCode) };
  }
  const parts = (await Promise.all(pieces.texts.map((text) => namesIn(text, gazetteer)))).flat();
  const called = parts.map((text) => calledAs(text, gazetteer));
  const first = called.findIndex((each) => each !== null);
  return first >= 0 && first < parts.length - 1
    ? ofSeveral(parts, called, pieces, lookup)
    : ofLast(pieces.texts, pieces, lookup);
}

/**
 * Returns the comune or locality that is named at the end of the last text. The longest known name is used. Words before the name of a comune are a locality.
 */
async function ofLast(texts: readonly string[], { bound, postalCode }: Pieces, { gazetteer, names }: Pick<Lookup, 'gazetteer' | 'names'>): Promise<NamedPlace> {
  const named = texts.at(-1) ?? '';
  const coded = gazetteer.withPostalCode(postalCode);
  const certain = (hits: readonly ComuneHit[], locality: string | null): NamedPlace => narrowed(hits, { locality, sure: true }, coded);
  const likely = (hits: readonly ComuneHit[], locality: string | null): NamedPlace => narrowed(hits, { locality, sure: false }, coded);

  // In `Piano, Lecce`, a province or region follows a locality.
  const before = texts.at(-2);
  if (before !== undefined) {
    const key = comuneKey(named);
    const region = findRegion(named)?.code;
    const part = localityKey(before) ?? '';
    const there = [...new Set([...gazetteer.all(comuneKey(before)), ...gazetteer.all(part)])].filter((hit) => hit.belfiore !== null && hit.kind !== 'foreign'
      && ((gazetteer.isProvince(key) && isOrWasIn(hit, key)) || (region !== undefined && hit.region === region)));
    // If the locality is in the comune with the province's name, the query means that comune.
    const seat = codesOf(gazetteer.get(key, bound).filter(isComune));
    if (there.length > 0 && !codesOf(there).some((code) => seat.includes(code))) return likely(there, part);
  }

  let elsewhere: number | null = null;
  for (const suffix of suffixes(named)) {
    // After a longer name that matches only outside the stated province, shorter names are not tried.
    if (elsewhere !== null && suffix.rest.length > elsewhere) break;
    const where = suffix.sigla ?? bound;
    const hits = gazetteer.get(suffix.key, where);
    if (hits.length === 0) {
      if (where !== null && gazetteer.get(suffix.key, null).some(({ kind }) => kind !== 'locality')) elsewhere = suffix.rest.length;
      continue;
    }
    const isPart = hits[0]?.kind === 'locality';
    if (suffix.rest !== '' && !hits.some(isComune)) {
      // `Salerno Scalo` is a locality of Salerno, even if other comuni have a locality Scalo. `Vila San Giovanni` is a misspelt comune.
      const whole = beginnings(named).find(({ key }) => gazetteer.get(key, where).some(isComune));
      if (whole !== undefined) return certain(gazetteer.get(whole.key, where), localityKey(whole.rest));
      const near = names === 'similar' ? await gazetteer.near(comuneKey(named), where) : [];
      if (near.length > 0) return likely(near, null);
    }
    const part = [...texts.slice(0, -1), suffix.rest].filter((text) => /[a-z]/.test(text)).at(-1);
    return isPart ? likely(hits, suffix.key) : certain(hits, part === undefined ? null : localityKey(part));
  }
  if (names === 'exact') return elsewhere === null ? { ...NOWHERE, locality: localityKey(named) } : { ...NOWHERE, comuni: [], sure: true };
  const ended = withoutSigla(comuneKey(named));
  const near = elsewhere === null ? await gazetteer.near(ended.text, ended.sigla ?? bound) : [];
  const begun = near.length > 0 || elsewhere !== null ? undefined : beginnings(named).find(({ key }) => gazetteer.get(key, bound).some(isComune));
  if (begun !== undefined) return certain(gazetteer.get(begun.key, bound), localityKey(begun.rest));
  // For an unknown comune, the list of comuni is empty, because an address in a different city would be wrong.
  return likely(near, null);
}
