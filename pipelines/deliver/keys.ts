/** Finds the key of a user's table (the columns that identify parcels), and reads the key of each row. */
import { normaliseHeader } from '../formats/csv.ts';
import { BOUNDS, plainReference } from '../contract/regions.ts';
import { MappaleError } from '../errors.ts';

/** Kinds of keys that can identify the parcel of a row. */
export const KEYS = ['fid', 'reference', 'parcel', 'point', 'street'] as const;

export type Key = (typeof KEYS)[number];

interface KeyColumn {
  /** Other accepted names of the column, as `normaliseHeader` returns them. */
  readonly called: readonly string[];
  readonly optional?: true;
}

/** Names and alternative names of the columns, by kind of key. */
const COLUMNS = {
  fid: { fid: { called: [] } },
  reference: { cadastral_reference: { called: ['reference', 'riferimento_catastale'] } },
  parcel: {
    comune: { called: ['municipality', 'belfiore', 'codice_comune', 'codice_catastale', 'municipality_code'] },
    sezione: { called: ['section', 'sezione_censuaria'], optional: true },
    foglio: { called: ['sheet'], optional: true },
    particella: { called: ['label', 'mappale', 'numero_particella'] },
  },
  point: { lat: { called: ['latitude', 'latitudine'] }, lng: { called: ['lon', 'long', 'longitude', 'longitudine'] } },
  street: {
    address: { called: ['indirizzo', 'q'] },
    civico: { called: ['numero_civico', 'street_number', 'house_number'], optional: true },
    city: { called: ['citta', 'comune', 'municipality', 'localita'], optional: true },
  },
} as const satisfies Record<Key, Readonly<Record<string, KeyColumn>>>;

export interface FoundKey {
  readonly key: Key;
  /** Index of each key column in the header, by the column's main name; −1 for a missing optional column. */
  readonly at: Readonly<Record<string, number>>;
  /** Names of the key columns as written in the header. */
  readonly columns: readonly string[];
}

function matchKey(header: readonly string[], key: Key): FoundKey | null {
  const names = header.map(normaliseHeader);
  const at: Record<string, number> = {};
  for (const [name, { called, optional }] of Object.entries(COLUMNS[key]) as [string, KeyColumn][]) {
    // A table may have one column for the code and one for the name of the comune. If several headers match, the header that comes first in COLUMNS is used.
    at[name] = [name, ...called].map((spelling) => names.indexOf(spelling)).find((index) => index !== -1) ?? -1;
    if (at[name] === -1 && optional !== true) return null;
  }
  return { key, at, columns: Object.values(at).flatMap((index) => header[index] ?? []) };
}

/** List of the columns that each kind of key needs, for messages. */
export const KEY_HELP: string = KEYS.map((key) => `${key}: ${(Object.entries(COLUMNS[key]) as [string, KeyColumn][])
  .map(([name, { optional }]) => (optional === true ? `[${name}]` : name)).join(',')}`).join('; ');

/** Returns whether a header has the columns of any key. */
export function hasKey(header: readonly string[]): boolean {
  return KEYS.some((key) => matchKey(header, key) !== null);
}

/**
 * Finds the key columns in a header.
 * @param asked kind of key to find, or null to use the only key in the header
 * @param at name of the table in messages
 * @throws MappaleError `KEY_MISSING`, `KEY_AMBIGUOUS` (exit 2)
 */
export function findKey(header: readonly string[], asked: Key | null, at: string): FoundKey {
  const found = (asked === null ? KEYS : [asked]).flatMap((key) => matchKey(header, key) ?? []);
  const [first] = found;
  if (first === undefined) {
    throw new MappaleError('the table has no key columns', {
      code: 'KEY_MISSING', kind: 'usage', at, detail: `expected the columns of ${asked === null ? 'one key' : `the key ${asked}`} (${KEY_HELP}), found ${header.slice(0, 30).join(', ') || 'none'}`,
      hint: 'Rename a column to one of these names. Optional columns are in brackets.',
    });
  }
  if (found.length > 1) {
    throw new MappaleError('the table has the columns of several keys', {
      code: 'KEY_AMBIGUOUS', kind: 'usage', at, detail: `expected one key, found ${found.map(({ key, columns }) => `${key} (${columns.join(', ')})`).join(', ')}`,
      hint: `Choose one: --by ${first.key}`,
    });
  }
  const names = header.map(normaliseHeader);
  const twice = first.columns.find((column) => names.filter((name) => name === normaliseHeader(column)).length > 1);
  if (twice !== undefined) {
    throw new MappaleError('two columns of the table have the same name', {
      code: 'KEY_AMBIGUOUS', kind: 'usage', at, detail: `expected one column ${twice}, found ${header.filter((name) => normaliseHeader(name) === normaliseHeader(twice)).join(', ')}`,
      hint: 'The key of a row is ambiguous. Rename or remove one column.',
    });
  }
  return first;
}

/** Values of a row's key columns. */
export type Named =
  | { readonly key: 'point'; readonly lat: number; readonly lng: number }
  | { readonly key: 'fid'; readonly fid: number }
  | { readonly key: 'reference'; readonly reference: string }
  | { readonly key: 'parcel'; readonly comune: string; readonly section: string | null; readonly sheet: string | null; readonly label: string }
  | { readonly key: 'street'; readonly query: string; readonly city: string | null };

interface Unreadable {
  readonly invalid: string;
}

/** Reads the key of a row. @param fieldOf returns the text of a column by the column's main name; empty if the column is empty or missing */
export function readKey(key: Key, fieldOf: (name: string) => string): Named | Unreadable {
  // Refuses text with NUL characters, which PostgreSQL cannot store. PostgreSQL would refuse the whole batch.
  const nul = Object.keys(COLUMNS[key]).find((name) => fieldOf(name).includes('\0'));
  if (nul !== undefined) return unreadable(nul, 'text, found a NUL character', '\0');
  switch (key) {
    case 'point': return readPoint(fieldOf('lat'), fieldOf('lng'));
    case 'fid': {
      const text = withoutFraction(fieldOf('fid'));
      return /^\d+$/.test(text) && Number(text) <= 2_147_483_647 ? { key, fid: Number(text) } : unreadable('fid', 'a whole number up to 2147483647', text);
    }
    case 'reference': {
      const text = plainReference(fieldOf('cadastral_reference'));
      return /^[^\s.]+\.\S+$/.test(text) && text.length <= 60 ? { key, reference: text } : unreadable('cadastral_reference', 'CCCCZFFFFAS.label', text);
    }
    case 'parcel': return readParcel(fieldOf('comune'), fieldOf('sezione'), fieldOf('foglio'), fieldOf('particella'));
    case 'street': {
      const [column = '', , place = ''] = Object.keys(COLUMNS.street);
      const [street = '', civico = '', city = ''] = Object.keys(COLUMNS.street).map(fieldOf);
      if (street.length < 2 || street.length > 200) return unreadable(column, '2–200 characters', street);
      if (civico.length > 50) return unreadable('civico', 'at most 50 characters', civico);
      if (city.length > 100) return unreadable(place, 'at most 100 characters', city);
      return { key, query: [street, civico].join(' ').trim(), city: city === '' ? null : city };
    }
  }
}

function unreadable(column: string, expected: string, found: string): Unreadable {
  return { invalid: found === '' ? `${column} is empty` : `${column}: expected ${expected}` };
}

/** Removes a fraction of zero, such as in `13.0`. Some programs write whole numbers in this way if the column has empty cells. */
function withoutFraction(text: string): string {
  return text.replace(/^(\d+)[.,]0+$/, '$1');
}

/** Parses degrees with a decimal point, or with a comma as in Italian spreadsheets. */
function degrees(text: string): number {
  return /^[+-]?\d{1,3}([.,]\d{1,17})?$/.test(text) ? Number(text.replace(',', '.')) : NaN;
}

function isInItaly(lat: number, lng: number): boolean {
  return lat >= BOUNDS.south && lat <= BOUNDS.north && lng >= BOUNDS.west && lng <= BOUNDS.east;
}

function readPoint(latitude: string, longitude: string): Named | Unreadable {
  const [lat, lng] = [degrees(latitude), degrees(longitude)];
  if (Number.isNaN(lat)) return unreadable('lat', 'degrees in decimal notation', latitude);
  if (Number.isNaN(lng)) return unreadable('lng', 'degrees in decimal notation', longitude);
  if (isInItaly(lat, lng)) return { key: 'point', lat, lng };
  const swapped = isInItaly(lng, lat) ? '. Latitude and longitude may be swapped' : '';
  return { invalid: `not in Italy: latitude ${BOUNDS.south}–${BOUNDS.north}, longitude ${BOUNDS.west}–${BOUNDS.east}${swapped}` };
}

function readParcel(comune: string, section: string, foglio: string, particella: string): Named | Unreadable {
  // Removes leading zeros. Labels of the cadastral map have no leading zeros, and numbers of sheets are padded to four digits below.
  const [sheet, label] = [foglio, particella].map((text) => withoutFraction(text).replace(/^0+(?=\d)/, '')) as [string, string];
  if (comune === '' || comune.length > 100) return unreadable('comune', 'at most 100 characters', comune);
  if (!/^([A-Za-z]|_?)$/.test(section)) return unreadable('sezione', 'one letter', section);
  if (!/^\d{0,4}$/.test(sheet)) return unreadable('foglio', '1–4 digits', sheet);
  if (label === '' || label.length > 40) return unreadable('particella', 'at most 40 characters', label);
  return { key: 'parcel', comune, section: section === '' ? null : section.toUpperCase(), sheet: sheet === '' ? null : sheet.padStart(4, '0'), label };
}
