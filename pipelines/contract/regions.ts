/** Defines Italy's 20 regions. Each region is loaded, published and rolled back separately. The codes and names are from ISTAT. */

export interface Region {
  /** ISTAT region code, 1–20. */
  readonly code: number;
  readonly name: string;
  /** Name on the command line, such as `valle-daosta`. */
  readonly slug: string;
  /** Bounding box of the region with its islands, in degrees, rounded outwards. The box selects publishers' tiles. No data is clipped to the box. */
  readonly box: Box;
}

export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const NAMES: readonly string[] = [
  'Piemonte', "Valle d'Aosta", 'Lombardia', 'Trentino-Alto Adige', 'Veneto', 'Friuli-Venezia Giulia', 'Liguria',
  'Emilia-Romagna', 'Toscana', 'Umbria', 'Marche', 'Lazio', 'Abruzzo', 'Molise', 'Campania', 'Puglia', 'Basilicata',
  'Calabria', 'Sicilia', 'Sardegna',
];

/** Bounding boxes of the regions (west, south, east, north), in the order of the region codes. */
const BOXES: readonly (readonly [number, number, number, number])[] = [
  [6.6, 44.0, 9.3, 46.5], [6.75, 45.4, 8.0, 46.05], [8.45, 44.6, 11.5, 46.7], [10.3, 45.6, 12.55, 47.15], [10.55, 44.75, 13.15, 46.75],
  [12.25, 45.5, 13.95, 46.7], [7.45, 43.7, 10.15, 44.75], [9.15, 43.7, 12.85, 45.2], [9.6, 42.2, 12.45, 44.55], [11.85, 42.3, 13.35, 43.7],
  [12.1, 42.6, 14.0, 44.05], [11.4, 40.7, 14.1, 42.9], [12.95, 41.6, 14.85, 42.95], [13.9, 41.3, 15.2, 42.15], [13.7, 39.9, 15.9, 41.6],
  [14.85, 39.75, 18.6, 42.3], [15.25, 39.85, 16.95, 41.2], [15.55, 37.85, 17.3, 40.2], [11.9, 35.45, 15.75, 38.9], [8.05, 38.8, 9.95, 41.35],
];

function boxOf(index: number): Box {
  const [west = NaN, south = NaN, east = NaN, north = NaN] = BOXES[index] ?? [];
  return { west, south, east, north };
}

export const REGIONS: readonly Region[] = NAMES.map((name, index) => ({
  code: index + 1,
  name,
  box: boxOf(index),
  slug: name.toLowerCase().replaceAll("'", '').replaceAll(' ', '-'),
}));

/** Returns a key for comparing spellings of a region's name: its letters, in lower case without accents. */
function key(text: string): string {
  return text.normalize('NFD').toLowerCase().replace(/[^a-z]/g, '');
}

/**
 * Codes of the regions by the keys of other names: short names, English names, names of the two autonomous provinces, and names in a second official language.
 * Publishers print the name in the second language after or instead of the Italian name.
 */
const ALIASES: Readonly<Record<string, number>> = {
  valledaostavalleedaoste: 2, valleaosta: 2, trentinoaltoadigesudtirol: 4, trentinoaltoadigepatrento: 4,
  trentinoaltoadigepabolzano: 4, trentino: 4, altoadige: 4, sudtirol: 4,
  southtyrol: 4, aostavalley: 2, piedmont: 1, lombardy: 3, tuscany: 9, apulia: 16, sicily: 19, sardinia: 20, emilia: 8, friuli: 6,
  friuliveneziag: 6, valleedaoste: 2,
};

const CODES: ReadonlyMap<string, number> = new Map([...REGIONS.map(({ name, code }) => [key(name), code] as const), ...Object.entries(ALIASES)]);

/**
 * Returns the regions whose names occur in a file name. A name must begin or end with a word of the file name, as in `indirizzarioMolise20260602.zip`, because
 * `Relazione` contains `lazio`.
 */
export function regionsInName(name: string): Region[] {
  const letters = key(name);
  const borders = new Set([0]);
  let end = 0;
  for (const word of name.normalize('NFD').replace(/\p{M}/gu, '').replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^A-Za-z]+/)) borders.add(end += word.length);
  const occurs = (text: string): boolean => {
    for (let at = letters.indexOf(text); at !== -1; at = letters.indexOf(text, at + 1)) if (borders.has(at) || borders.has(at + text.length)) return true;
    return false;
  };
  return REGIONS.filter((region) => occurs(key(region.name)));
}

/**
 * Finds a region by code (`14`, `"14"`), slug, name or alias. Ignores case, accents, spaces and punctuation. Returns undefined if no region matches.
 */
export function findRegion(text: string | number): Region | undefined {
  const digits = String(text).trim();
  const code = /^\d{1,2}$/.test(digits) ? Number(digits) : CODES.get(key(digits));
  return code === undefined ? undefined : REGIONS[code - 1];
}

/** Car plate codes of the provinces of each region, including former provinces, in the order of the region codes. */
const PLATES: readonly string[] = [
  'AL AT BI CN NO TO VB VC', 'AO', 'BG BS CO CR LC LO MB MI MN PV SO VA', 'BZ TN', 'BL PD RO TV VE VI VR', 'GO PN TS UD', 'GE IM SP SV', 'BO FC FE FO MO PC PR RA RE RN',
  'AR FI GR LI LU MS PI PO PT SI', 'PG TR', 'AN AP FM MC PS PU', 'FR LT RI RM VT', 'AQ CH PE TE', 'CB IS', 'AV BN CE NA SA', 'BA BR BT FG LE TA', 'MT PZ', 'CS CZ KR RC VV',
  'AG CL CT EN ME PA RG SR TP', 'CA CI NU OG OR OT SS SU VS',
];

const REGION_OF_PLATE: ReadonlyMap<string, number> = new Map(PLATES.flatMap((plates, index) => plates.split(' ').map((plate) => [plate, index + 1] as const)));

/** Codes in `PLATES` that no province had from 2017 to 2025: former codes of Forlì-Cesena and Pesaro e Urbino, and of four former provinces of Sardinia. */
const FORMER_PLATES: ReadonlySet<string> = new Set(['FO', 'PS', 'CI', 'OG', 'OT', 'VS']);

/** Returns the car plate codes that a region's provinces had from 2017 to 2025, when Italy had 107 provinces. */
export function platesOfRegion(code: number): string[] {
  return (PLATES[code - 1] ?? '').split(' ').filter((plate) => !FORMER_PLATES.has(plate));
}

/** Returns the code of the region that has or had a province with this car plate code. Returns null for an unknown car plate code. */
export function regionOfPlate(plate: string): number | null {
  return REGION_OF_PLATE.get(plate.trim().toUpperCase()) ?? null;
}

/** Bounding box of Italy with its seas, in degrees (EPSG:4326). */
export const BOUNDS = { south: 35, north: 47.5, west: 6, east: 19 } as const;

/** Number of fids reserved for each region. `core.region_of` and the SQL that assigns fids contain the same number. */
const FIDS_OF_REGION = 100_000_000;

/** Returns the first fid of a region's range. The range ends before the first fid of the next region. */
export function firstFid(region: number): number {
  return region * FIDS_OF_REGION;
}

/** Returns the code of the region whose range contains the fid. For a fid outside all ranges, returns a number that is not a region's code. */
export function regionOfFid(fid: number): number {
  return Math.floor(fid / FIDS_OF_REGION);
}

/** Returns the name of a region. @param region code of the region, or 0 for Italy @throws Error for any other number, which is a bug */
export function regionName(region: number): string {
  const name = region === 0 ? 'Italia' : findRegion(region)?.name;
  if (name === undefined) throw new Error(`expected a region's code 1–20, or 0 for Italy, found ${region}`);
  return name;
}

/** Returns the name of a region for the command line, without characters that a shell interprets. Returns `italia` for any other number. */
export function regionSlug(region: number): string {
  return findRegion(region)?.slug ?? 'italia';
}

/**
 * Normalises a national cadastral reference. Converts the part before the label to upper case. Removes the prefix `CadastralParcel.IT.AGE.PLA.` or
 * `IT.AGE.PLA.`, which the cadastre's files contain.
 */
export function plainReference(text: string): string {
  return text.replace(/^(?:CadastralParcel\.)?IT\.AGE\.PLA\./i, '').replace(/^(?:IT\.(?:TN|BZ)\.)?[^.]+/i, (place) => place.toUpperCase());
}

/** Returns the spellings under which a reference is searched: as written and in upper case, because labels may have lower-case letters. */
export function spellingsOf(text: string): readonly string[] {
  const plain = plainReference(text);
  const upper = plain.toUpperCase();
  return plain === upper ? [plain] : [plain, upper];
}
