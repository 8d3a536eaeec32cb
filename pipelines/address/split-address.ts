/**
 * Splits an address of a public register (`VIA ROMA, 12/A`, `VIA ROMA 12 86020`) into street and number. The street is normalised like the streets of ANNCSU,
 * so that SQL can join addresses with streets. `parse-query.ts` reads addresses that people type.
 */
import { findRoute, fold, normaliseFolded, takeType, words } from './normalise.ts';
import { MONTHS, PARTICLES, REGNAL, SAINTS } from './words.ts';

interface SplitAddress {
  /** Normalised types that the street may have; empty if no type is written. */
  readonly streetTypes: readonly string[];
  /** Distinct words of the street's name, normalised and sorted; empty if no street is written. */
  readonly streetWords: readonly string[];
  /** House number; null if no number is written, or for `SNC`. */
  readonly number: number | null;
  /** Suffix in upper case: `A`, `BIS`, `3`; null if there is none. */
  readonly exponent: string | null;
  readonly colour: 'ROSSO' | 'NERO' | null;
}

/** Maximum length of an address in characters. The limit also bounds the run time of the patterns below. */
const LONGEST = 500;
/**
 * Matches a CAP at the end (`- 92019`), or two with the same first digits (`95036  95036`). Also matches comune and province after a CAP. The last group is the
 * text after the province, where some lists repeat the number and the CAP: `VIA ROMA 102 32016, ALPAGO (BL) 102 32016`.
 */
const POSTAL_CODE = /[\s,;-]*(?<!\d)(?:(\d\d)\d{3}[\s,;-]+(?=\1))?\d{5}(?:\s*,?\s*[^,\d]*\([a-z]{2}\)([^()]{0,20}))?[\s,;-]*$/;
/**
 * Matches a type at the start before a second type, as in `VIA VIA ROMA` and `VIA VIALE EUROPA`. Some lists have a field for the type, which is `VIA` by
 * default. Excludes types that are often part of a name, as in `VIA STRADA VECCHIA`, `VIA PIAZZA D'ARMI` and `VIA PROVINCIALE`.
 */
const FIRST_TYPE = new RegExp(
  '^(?:(via|viale|piazza|corso|largo|strada|vicolo|contrada)\\s+(?=\\1\\s)'
  + "|via\\s+(?=(?:v(?:ia|\\.)le|p\\.zza|piazzale|c(?:ors|\\.s)o|c[./]da|loc\\.?|fraz\\.?)(?![a-z'])\\s*[a-z]))",
);
/** Matches a number that is written twice, as in `VIA ROMA N.100 100` or `VIA ROMA 18, 26862 18`. Some lists have one field each for address, number, CAP. */
const TWICE = /(?<=[\s.°,])(\d{1,5}(?:\/[a-z\d]{1,2})?)(?:,\s*\d{5})?\s+\1$/;
const MARK = '(?:n(?:[.°]|r\\.?|um(?:ero|\\.)?)?\\s*|civ(?:ico|\\.)?\\s*)';
/** Suffixes that are words. */
const BIS = 'bis|ter|quater|quinquies';
/** First of several numbers: `12-14`, `9/11/13`. In `12/14`, the second number may be a suffix. */
const RANGE = '(\\d{1,5})(?:(?:\\s?-\\s?\\d{1,5}){1,3}|(?:/\\d{1,3}){2,3}(?![/\\d]))?';
const NUMBER = `${MARK}?${RANGE}(?:\\s*[/\\\\-]?\\s*(${BIS}|(?!dx|km|sc|sx)[a-z]{1,2}|(?<=[/\\\\]\\s*)\\d{1,3}))?(?:\\s*[/\\\\-]?\\s*(ross[oa]|ner[oa]))?`;
/**
 * Matches the end of a word before a house number without a space, as in `VIA ROMA15`, `VIA LIBERTA'6` and `VIA PIO XII1`. A first word such as `SPBS11`, a
 * short word and a code such as `exSS581` name a road. In `DELL'8 MARZO`, a consonant precedes the apostrophe.
 */
const GLUED = /(?<=[ .'])(?!(?:ex)?s[cprs][a-z]{0,2}\d)([a-z]{4,}|[a-z]+[aeiou]'|[ivx]{2,3})(?=\d)/g;
/** Matches the end of a word before `N.`, as in `VIA LOCATELLIN.1`. The abbreviations `Gen.` and `Ten.` end with the same letter. */
const GLUED_MARK = /(?<=[a-z'])(?<!(?<![a-z])[gt]e)(?=n[.°]\d)/g;
const ALONE = new RegExp(`^\\s*${NUMBER}\\s*$`);
const AT_END = new RegExp(`^(.*[^\\s\\d])[\\s]+${NUMBER}\\s*$`);
const MONTH = [...MONTHS].join('|');
/** Matches a number after a date with a year: `VIA IV NOVEMBRE 1918 8`. */
const AFTER_YEAR = new RegExp(`^(.*(?:${MONTH})\\s+1[5-9]\\d\\d)\\s+${NUMBER}\\s*$`);
/** Matches a year at the end of a street's name: `VIA XX SETTEMBRE 1870`. */
const YEAR = new RegExp(`(?<![a-z])(?:${MONTH})\\s+(?:1[5-9]|20)\\d\\d$`);
const WITHOUT_NUMBER = /[\s,-]*(?<![a-z])(?:s\.?\s?n\.?\s?c\.?|s\.\s?n\.?|sn|senza\s+numero(?:\s+civico)?)\s*$/;

/** Words before the number or letter of a part of a building. */
const PART = [
  'scal[ae]|sc\\.?|piano|palazzin[ae]|pal(?:\\.na)?\\.?|edific(?:io|i)|edif\\.?|ed\\.?|fabbricat[oi]|fabbr?\\.|capannon[ei]|capann\\.|lott[oi]|corp[oi]',
  'blocc(?:o|hi)|negozio?|neg\\.|local[ei]|box|app(?:artamento|\\.)|modulo|padiglione|pad\\.|is(?:olato|\\.)',
].join('|');
const PART_NAME = "(?:n[.°]\\s*)?(?:[a-z]{0,2}\\d{1,4}[a-z]?|[a-z]|[ivx]{2,4})(?![a-z\\d'])";
const FLOOR = '(?:terra|rialzato|seminterrato|primo|secondo|terzo|quarto|quinto|ultimo)';
const POSITION = [
  'c/o|presso(?![a-z])|int(?:ern[oi]|\\.)?(?![a-z])',
  `(?:${PART})\\s*${PART_NAME}`,
  `piano\\s+${FLOOR}|p\\.\\s*(?:\\d|t(?![a-z]))|(?:\\d{1,2}°?|[ivx]+|${FLOOR})\\s*piano(?![a-z])`,
].join('|');
/**
 * Matches the position inside a building, or `C/O`, directly after a house number, up to the end of the text: `INT. 3`, `SCALA B INT. 3`, `1° PIANO`. After a
 * name, such a word may belong to the name: `VIA SCALA 5`.
 */
const INSIDE = new RegExp(`(?<=\\d(?:\\s?[/-]?\\s?(?:${BIS}|ross[oa]|ner[oa]|[a-z]))?)[\\s,;/(-]+(?:${POSITION}).*$`);

/** Text that may follow a number: a place or a note after a dash, comma, slash or parenthesis, or after a word such as `LOC.` or `ANGOLO`. */
const TEXT = [
  // A text of at most three letters is a list of suffixes (`181-ABC`), or a date into which a spreadsheet has changed two numbers (`01-gen`).
  '\\s*[-,]\\s*(?![a-z]{1,3}$)(?:[a-z]{2}|[a-z]\\.)[^\\d]*',
  '\\s*/\\s*[a-z]{4}[^\\d]*',
  '\\s*\\(.*',
  "\\s+(?:loc(?:alita'?)?|fr(?:az(?:ione)?)?|f\\.?ne|ang(?:olo)?)(?![a-z])[^\\d]*",
].join('|');
const SUFFIX = `(?:\\s*[/-]?\\s*(${BIS}|[a-z]|(?<=/\\s*)\\d{1,3})(?![a-z\\d/.']))?`;
/** Number before text. A CAP has five digits: `VIA CASILINA, 00133 - ROMA`. */
const SHORT_RANGE = '(\\d{1,4})(?!\\d)(?:\\s?-\\s?\\d{1,4}(?!\\d))?';
/** Excludes text that belongs to the number: `5 (ROSSO)`, `5-BIS/A`. Without its colour or suffix, a number is a different number. */
const OTHER_TEXT = `(?!\\s*[-,/(]?\\s*(?:ross[oa]|ner[oa]|${BIS})(?![a-z]))`;
const BEFORE_TEXT = new RegExp(`^([^(]*[^\\s\\d(,])[\\s,]+${MARK}?${SHORT_RANGE}${SUFFIX}${OTHER_TEXT}(?:${TEXT})$`);
/** Matches a number that `N.` marks. Any text may follow such a number: `VIA TRIESTE N.55 QUARTO D'ALTINO`. */
const MARKED_BEFORE_TEXT = new RegExp(`^([^(]*[^\\s\\d(,])[\\s,]+n[.°]\\s*${SHORT_RANGE}(?:/?(${BIS}|[a-z])(?![a-z/.']))?${OTHER_TEXT}\\s+(?:[a-z]{2}|[a-z]\\.)[^\\d]*$`);
/** Matches a road, a district or a building. A number in such a name is rarely a house number. */
const NOT_A_STREET = /(?<![a-z])(?:s\.?\s?[spr]\.?(?![a-z'])|statale|prov(?!e)|regionale|reg\.?le|autostrada|superstrada|tangenziale|raccordo|svincolo|km|migliara|quartiere|q\.?re|zona|z\.i)/;
/** Matches a street without a name of its own. Roads that an authority numbers are rarely called `VIA`. */
const VIA_PROVINCIALE = /^via (?:provinciale|statale) (?:n[.°]? ?)?\d+$/;
/** Matches a preposition before a number that belongs to the name, as in `VIA RAGAZZI DEL 99`. */
const DEL_AT_END = /(?<![a-z])de(?:l|i|gli|lle)\s*$/;
/** Matches the abbreviation of a part of a building before its number: `VIALE DELLE SCIENZE ED 12`. No name of a street ends with such an abbreviation. */
const PART_AT_END = /(?<![a-z])(?:ed\.?|edif\.?|int\.?|sc\.|pal\.)\s*$/;
/** Matches a word at the end of a name that a number may belong to: `LOTTO 4`, `TRAVERSA 3`. */
const NUMBERED_WORD = /(?<![a-z])(?:lotto|trav(?:ersa|\.)?|vico(?:lo)?|settore|comparto|is(?:olato|\.)?|scala|piano|pal(?:azzina|\.)?|edificio|corpo|blocco|uscita|strada|parco|scuola)\s*$/;

/** Popes with a number who are saints. The names of other saints have no number: `VIA SAN CARLO 5`. */
const CANONISED: ReadonlySet<string> = new Set(['celestino', 'gregorio', 'leone', 'pio']);

/** Splits an address. @param address null if not published; a text of more than 500 characters is treated as null */
export function splitAddress(address: string | null): SplitAddress {
  const written = address === null || address.length > LONGEST ? '' : address;
  const folded = fold(written).replace(/\s+/g, ' ').trim();
  const text = folded.replace(POSTAL_CODE, '').replace(/[\s.,;-]+$/, '').replace(FIRST_TYPE, '').replace(TWICE, '$1').replace(GLUED_MARK, ' ').replace(GLUED, '$1 ')
    .replace(INSIDE, '');
  const { street, ...found } = cut(text);
  const { number, exponent, colour } = compared(found, POSTAL_CODE.exec(folded)?.[2] ?? '');
  const { type, otherTypes, tokens } = normaliseFolded(street);
  return {
    streetTypes: type === null ? [] : [type, ...otherTypes],
    streetWords: /[a-z]/.test(street) ? [...new Set(tokens)].sort() : [],
    number, exponent, colour,
  };
}

type HouseNumber = Pick<SplitAddress, 'number' | 'exponent' | 'colour'>;

interface Cut extends HouseNumber {
  readonly street: string;
}

const WITHOUT: HouseNumber = { number: null, exponent: null, colour: null };

/** Compares a number with the text after the province, which may repeat the number. Returns no number if the two contradict each other, or for the number 0. */
function compared(found: HouseNumber, repeated: string): HouseNumber {
  const [, number, suffix] = /(?<!\d)(\d{1,4})(?!\d)(?:\s?\/\s?([a-z]|bis|ter|quater|quinquies|\d{1,3})(?![a-z\d]))?/.exec(repeated) ?? [];
  const exponent = suffix?.toUpperCase() ?? null;
  const isSame = number === undefined || (Number(number) === found.number && (exponent === null || found.exponent === null || exponent === found.exponent));
  return found.number === 0 || !isSame ? WITHOUT : { ...found, exponent: found.exponent ?? exponent };
}

function cut(text: string): Cut {
  if (WITHOUT_NUMBER.test(text)) return { street: text.replace(WITHOUT_NUMBER, ''), ...WITHOUT };
  const comma = text.lastIndexOf(',');
  const behind = comma === -1 ? null : ALONE.exec(text.slice(comma + 1));
  // In `KM 44,700`, the comma is a decimal comma.
  if (behind !== null && !/(?<![a-z])km\.?\s*\d+$/.test(text.slice(0, comma))) return { street: text.slice(0, comma), ...ending(behind.slice(1)) };
  if (YEAR.test(text)) return { street: text, ...WITHOUT };
  const [, street, ...found] = AT_END.exec(text) ?? AFTER_YEAR.exec(text) ?? [];
  if (street === undefined) return cutBeforeText(text) ?? { street: text, ...WITHOUT };
  // In `STRADA STATALE 18`, `SS 115 KM 158` and `KM 44, 700`, the number is the road's number or a position along the road, not a house number.
  const isRoad = findRoute(text)?.end === text.length && !VIA_PROVINCIALE.test(text);
  const isPosition = /(?:(?<![a-z])km\.?(?:\s*\d+\s*,)?|\+)$/.test(street);
  if (isRoad || isPosition || DEL_AT_END.test(street) || PART_AT_END.test(street)) return { street: text, ...WITHOUT };
  return { street: street.replace(/[\s,]+$/, ''), ...ending(found) };
}

/**
 * Cuts an address in which text follows the number, as in `VIA BORGOLETTO 31 - VOLPINO`. Returns null if the number may be a part of the street's name, because
 * a wrong number puts a point in a wrong place.
 */
function cutBeforeText(text: string): Cut | null {
  const [, street = '', ...found] = BEFORE_TEXT.exec(text) ?? MARKED_BEFORE_TEXT.exec(text) ?? [];
  const all = words(street);
  const type = takeType(all);
  const [before, last] = all.slice(-2);
  if (type === null || before === undefined || last === undefined || /\s-\s/.test(street) || NOT_A_STREET.test(street) || NUMBERED_WORD.test(street) || DEL_AT_END.test(street)) return null;
  if (!all.slice(type.length).some(({ text: word }) => /^[a-z]{3}/.test(word) && !PARTICLES.has(word))) return null;
  // In `VIA UMBERTO 1 - FRAZ. X` and `VIA SAN PIO 10 - X` the number may belong to the king or pope, and in `VIA XX SETTEMBRE 1870 - X` to the date.
  const king = SAINTS.has(before.text) && !CANONISED.has(last.text) ? undefined : REGNAL.get(last.text);
  if ((king !== undefined && Number(found[0]) <= king) || (MONTHS.has(last.text) && Number(found[0]) >= 1500)) return null;
  return { street: street.replace(/[\s,]+$/, ''), ...ending(found) };
}

/** Returns number, exponent and colour. In `12R`, R may mean red or an exponent. The database decides, because only some comuni have red numbers. */
function ending([number = '', exponent, colour]: readonly (string | undefined)[]): HouseNumber {
  return {
    number: Number(number),
    exponent: exponent === undefined ? null : exponent.toUpperCase(),
    colour: colour === undefined ? null : colour.startsWith('r') ? 'ROSSO' : 'NERO',
  };
}
