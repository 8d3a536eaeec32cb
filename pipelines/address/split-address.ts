/**
 * Splits an address of a public register (`VIA ROMA, 12/A`, `VIA ROMA 12 86020`) into street and number. The street is normalised like the streets of ANNCSU,
 * so that SQL can join addresses with streets. `parse-query.ts` reads addresses that people type.
 */
import { findRoute, fold, normaliseFolded } from './normalise.ts';

interface SplitAddress {
  /** Normalised types that the street may have; empty if no type is written. */
  readonly streetTypes: readonly string[];
  /** Different words of the street's name, normalised, ascending; empty if no street is written. */
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
 * Matches a CAP at the end (`- 92019`). If the CAP is written twice, also matches the comune and province between the two: `72013, CEGLIE MESSAPICA (BR)
 * 72013`.
 */
const POSTAL_CODE = /[\s,;-]*(?<!\d)\d{5}(?:\s*,?\s*[^,\d]*\([a-z]{2}\)\s*\d{0,5})?\s*$/;
const NUMBER = '(?:n(?:[.°]|r\\.?|um(?:ero|\\.)?)?\\s*|civ(?:ico|\\.)?\\s*)?(\\d{1,5})(?:\\s?-\\s?\\d{1,5})?(?:\\s*[/\\\\-]?\\s*(bis|ter|quater|quinquies|[a-z]{1,2}|(?<=[/\\\\]\\s*)\\d{1,3}))?(?:\\s*[/\\\\-]?\\s*(ross[oa]|ner[oa]))?';
/**
 * Matches the end of a word before a house number without a space, as in `VIA ROMA15`. A first word such as `SPBS11`, a short word and a code such as `exSS581`
 * name a road.
 */
const GLUED = /(?<=[ .'])(?!(?:ex)?s[cprs][a-z]{0,2}\d)([a-z]{4,})(?=\d)/g;
const ALONE = new RegExp(`^\\s*${NUMBER}\\s*$`);
const AT_END = new RegExp(`^(.*[^\\s\\d])[\\s]+${NUMBER}\\s*$`);
const WITHOUT_NUMBER = /[\s,-]*(?<![a-z])(?:s\.?\s?n\.?\s?c\.?|s\.\s?n\.?|sn|senza\s+numero(?:\s+civico)?)\s*$/;

/** Splits an address. @param address null if not published; a text of more than 500 characters is treated as null */
export function splitAddress(address: string | null): SplitAddress {
  const written = address === null || address.length > LONGEST ? '' : address;
  const text = fold(written).replace(/\s+/g, ' ').trim().replace(POSTAL_CODE, '').replace(/[\s,;-]+$/, '').replace(GLUED, '$1 ');
  const { street, number, exponent, colour } = cut(text);
  const { type, otherTypes, tokens } = normaliseFolded(street);
  return {
    streetTypes: type === null ? [] : [type, ...otherTypes],
    streetWords: /[a-z]/.test(street) ? [...new Set(tokens)].sort() : [],
    number, exponent, colour,
  };
}

interface Cut extends Pick<SplitAddress, 'number' | 'exponent' | 'colour'> {
  readonly street: string;
}

function cut(text: string): Cut {
  const none = { number: null, exponent: null, colour: null };
  if (WITHOUT_NUMBER.test(text)) return { street: text.replace(WITHOUT_NUMBER, ''), ...none };
  const comma = text.lastIndexOf(',');
  const behind = comma === -1 ? null : ALONE.exec(text.slice(comma + 1));
  if (behind !== null) return { street: text.slice(0, comma), ...ending(behind.slice(1)) };
  const [, street, ...found] = AT_END.exec(text) ?? [];
  // In `STRADA STATALE 18` and `SS 115 KM 158`, the number is the road's number or a position along the road, not a house number.
  if (street === undefined || /(?<![a-z])km\.?$/.test(street) || findRoute(text)?.end === text.length) return { street: text, ...none };
  return { street: street.replace(/[\s,]+$/, ''), ...ending(found) };
}

/** Returns number, exponent and colour. In `12R`, R may mean red or an exponent. The database decides, because only some comuni have red numbers. */
function ending([number = '', exponent, colour]: readonly (string | undefined)[]): Pick<SplitAddress, 'number' | 'exponent' | 'colour'> {
  return {
    number: Number(number),
    exponent: exponent === undefined ? null : exponent.toUpperCase(),
    colour: colour === undefined ? null : colour.startsWith('r') ? 'ROSSO' : 'NERO',
  };
}
