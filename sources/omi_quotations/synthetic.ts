/**
 * Writes synthetic zones and quotations in the formats of the Agenzia delle Entrate: 23 half-years of VALORI and ZONE. Three half-years have
 * perimeters, and one more has perimeters in an older format. Zones are redrawn twice, a comune changes its code, and the perimeters of another
 * comune have not changed since 2018.
 *
 * A zone is a block of whole sheets, so the whole area of a parcel is in one zone. The position of a parcel's representative point does not matter.
 * In each comune, one zone is the outline of a single parcel. This zone is a hole in another zone.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemAt, valueOf } from '../../pipelines/synthetic/items.ts';
import { SHEET_COLUMNS, SHEET_ROWS } from '../../pipelines/synthetic/cell-size.ts';
import { boxRing, covers, segmentsOf } from '../../pipelines/synthetic/plane-geometry.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { hasIncomes } from '../../pipelines/synthetic/incomes.ts';
import type { LonLat, SyntheticRegion, SyntheticComune, SyntheticParcel, SyntheticSheet } from '../../pipelines/synthetic/region.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { PROPERTY_TYPES } from './schema.ts';

/** Returns a half-year as a number: year × 2 + (half − 1). */
const half = (year: number, number: 1 | 2): number => year * 2 + number - 1;
const FIRST = half(2014, 2);
const WINDOW_FIRST = half(2015, 1);
const LAST = half(2025, 2);
/** Half-years that are delivered in one zip. */
const COMBINED = [half(2016, 1), half(2016, 2)] as const;
const WITH_REFUSALS = half(2017, 1);
const PROVINCIAL_PERIMETERS = half(2018, 2);
const ONE_COMUNE_PERIMETERS = half(2021, 1);
/** Last half-year in which the last comune has its former code. */
const LAST_OF_FORMER_CODE = half(2022, 2);
const OLD_FORMAT = half(2013, 2);

const text = (halfYear: number, between = '_'): string => `${Math.floor(halfYear / 2)}${between}${(halfYear % 2) + 1}`;

/** Zones are redrawn after 2018/2 and after 2022/2. The number before each zone is the cumulative share of the comune's sheets at the end of the zone. */
type Era = 'A' | 'B' | 'C';
const ERAS: Readonly<Record<Era, readonly (readonly [number, string])[]>> = {
  A: [[0.3, 'B1'], [0.55, 'C1'], [0.8, 'D1'], [1, 'R1']],
  B: [[0.2, 'B1'], [0.4, 'C1'], [0.6, 'D1'], [0.8, 'E1'], [1, 'R1']],
  C: [[0.35, 'B1'], [0.5, 'C1'], [0.65, 'D1'], [0.8, 'E1'], [1, 'R1']],
};
const eraOf = (halfYear: number): Era => (halfYear <= half(2018, 2) ? 'A' : halfYear <= LAST_OF_FORMER_CODE ? 'B' : 'C');
/** Zone with the outline of a single parcel. This zone exists from era B on. */
const HOLE = 'B2';

/**
 * Last digits of LinkZona. A zone keeps its LinkZona across half-years, while its letter and number may change. Zone D1 of era A became E1, and the present D1
 * is a different zone. C1 and R1 were replaced by new zones with the same names.
 */
const LINKS: Readonly<Record<Era, Readonly<Record<string, number>>>> = {
  A: { B1: 1, C1: 2, D1: 3, R1: 4 },
  B: { B1: 1, C1: 2, D1: 5, E1: 3, R1: 4, [HOLE]: 6 },
  C: { B1: 1, C1: 7, D1: 5, E1: 3, R1: 8, [HOLE]: 6 },
};

const linkOf = (zona: string, halfYear: number): number => LINKS[eraOf(halfYear)][zona] ?? 99;

/** Returns the zone with this LinkZona in an era; null if there is none. */
function zoneByLink(link: number, era: Era): string | null {
  return Object.entries(LINKS[era]).find(([, each]) => each === link)?.[0] ?? null;
}

/** Returns whether the comune has the newest perimeters. If the region has six or more comuni, the fifth comune has only perimeters of 2018. */
function drawnLast(region: SyntheticRegion, comune: SyntheticComune): boolean {
  return region.comuni.length < 6 || comune.index !== 4;
}

function zonesOf(era: Era): readonly string[] {
  const blocks = ERAS[era].map(([, zona]) => zona);
  return era === 'A' ? blocks : [...blocks, HOLE];
}

function blockOf(sheet: SyntheticSheet, era: Era): string {
  const sheets = Math.ceil(sheet.comune.parcelCount / 100);
  const share = (sheet.index + 0.5) / sheets;
  const [, zona] = ERAS[era].find(([upTo]) => share <= upTo) ?? itemAt(ERAS[era], ERAS[era].length - 1);
  return zona;
}

/**
 * Returns the comune's code in OMI. If the region has three or more comuni, the last comune had a different code until 2022/2. This code begins with Y, unlike
 * the code of any real comune.
 */
function codeOf(region: SyntheticRegion, comune: SyntheticComune, halfYear: number): string {
  const merged = region.comuni.length >= 3 && comune.index === region.comuni.length - 1;
  return merged && halfYear <= LAST_OF_FORMER_CODE ? `Y${comune.belfiore.slice(1)}` : comune.belfiore;
}

/** Returns a name in OMI's spelling: upper case, a trailing grave accent in place of accents, and the second language between dots. */
function omiName(comune: SyntheticComune): string {
  const plain = comune.italianName.normalize('NFD').replace(/\p{M}(?=\p{L}|$|\s)/gu, '`').replaceAll(/`(?=\p{L})/gu, '').replaceAll('\'', '`').toUpperCase();
  return comune.otherName === null ? plain : `${plain} .${comune.otherName.toUpperCase()}.`;
}

/** Returns the first land parcel that has one ring and is not at the border of its sheet. The outline of this parcel is a separate zone. */
function holeParcel(region: SyntheticRegion, comune: SyntheticComune): SyntheticParcel {
  for (const parcel of region.parcels(comune)) {
    const inner = parcel.cells.every(([column, row]) => column > 0 && column < SHEET_COLUMNS - 1 && row > 0 && row < SHEET_ROWS - 1);
    if (inner && parcel.kind === 'land' && parcel.polygons.length === 1 && parcel.polygons[0].length === 1) return parcel;
  }
  throw new RangeError(`${comune.belfiore} must have a land parcel with one ring that is not at the border of its sheet, found none`);
}

// --- quotations --------------------------------------------------------------------------------------------------

interface Quotation {
  readonly codTip: number;
  readonly stato: 'NORMALE' | 'OTTIMO' | 'SCADENTE' | null;
  readonly prevalent: boolean;
  /** Range in whole euro, or null if not quoted. */
  readonly purchase: readonly [number, number] | null;
  /** Range in tenths of a euro per month, or null if not quoted. */
  readonly rental: readonly [number, number] | null;
  /** True if a missing rent is written as a blank. */
  readonly blank: boolean;
}

const BASE: ReadonlyMap<string, number> = new Map([['B', 3000], ['C', 2200], ['D', 1500], ['E', 1100], ['R', 700]]);
const fasciaOf = (zona: string): string => zona.charAt(0);
/** Type, state, and whether the state is prevalent. */
type Kind = readonly [number, Quotation['stato'], boolean];
const RESIDENTIAL: readonly Kind[] = [[20, 'NORMALE', true], [20, 'OTTIMO', false], [21, 'NORMALE', true]];

function kindsOf(comune: SyntheticComune, zona: string): readonly Kind[] {
  // The rural zone of every second comune is not quoted.
  if (zona.startsWith('R')) return comune.index % 2 === 1 ? [[20, 'NORMALE', true], [1, 'NORMALE', true]] : [];
  const kinds: Kind[] = [...RESIDENTIAL, [5, 'NORMALE', true], [13, null, true]];
  if (zona === 'B1') kinds.push([19, 'OTTIMO', true]);
  if (zona.startsWith('D') || zona.startsWith('E')) kinds.push([1, 'NORMALE', false], [1, 'OTTIMO', true], [7, 'SCADENTE', true]);
  return kinds;
}

/**
 * Returns whether the comune has quotations in the half-year. The third comune has no quotations in the last half-year, like a comune struck by an
 * earthquake.
 */
function isQuoted(comune: SyntheticComune, halfYear: number): boolean {
  return comune.index !== 2 || halfYear !== LAST;
}

/**
 * Returns the quotations of a zone in a half-year.
 * @param revision 1 for a later elaboration of the last half-year, which has different values for the second comune
 */
function quotationsOf(region: SyntheticRegion, comune: SyntheticComune, zona: string, halfYear: number, revision: 0 | 1): Quotation[] {
  if (!isQuoted(comune, halfYear)) return [];
  const quotations: Quotation[] = [];
  for (const [codTip, stato, prevalent] of kindsOf(comune, zona)) {
    const random = region.random('omi', comune.belfiore, zona, codTip, stato ?? '', halfYear, revision);
    const missing = random.below(25) === 0;
    const base = valueOf(BASE, fasciaOf(zona)) * (stato === 'OTTIMO' ? 1.3 : 1) * (codTip === 13 ? 0.4 : 1);
    const low = Math.round((base + (halfYear - FIRST) * 10 + random.below(8) * 50) / 10) * 10;
    const purchase = [low, low + 50 * (1 + random.below(9))] as const;
    const rent = (zona.startsWith('R') ? 5 : 20) + random.below(zona.startsWith('R') ? 5 : 60);
    const rental = [rent, rent + 3 + random.below(20)] as const;
    const noPurchase = random.below(16) === 0;
    const noRental = random.below(9) === 0;
    const blank = random.below(3) === 0;
    if (missing) continue;
    quotations.push({ codTip, stato, prevalent, purchase: noPurchase ? null : purchase, rental: noRental ? null : rental, blank: noRental && blank });
  }
  return quotations;
}

/** Returns the quotations that must be served. For the second comune in the last half-year, these are the quotations of the later elaboration. */
function quoted(region: SyntheticRegion, comune: SyntheticComune, zona: string, halfYear: number): Quotation[] {
  return quotationsOf(region, comune, zona, halfYear, comune.index === 1 && halfYear === LAST ? 1 : 0);
}

/** Description of a zone, by band (fascia). Some descriptions have letters beyond ASCII, in two encodings. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['B', 'CENTRO STORICO, CITTÀ VECCHIA'], ['C', 'SEMICENTRO - VIALE INVENTATO'], ['D', 'PERIFERIA, LOCALITÀ FINTE'], ['E', 'FRAZIONI'], ['R', 'ZONA RURALE'],
]);

const describe = (comune: SyntheticComune, zona: string): string => `${valueOf(DESCRIPTIONS, fasciaOf(zona))} (${zona} ${omiName(comune)})`;

const microzonaOf = (comune: SyntheticComune, zona: string): number | null => (zona.startsWith('R') ? null : 1 + ((comune.index + zona.charCodeAt(0)) % 9));

// --- files -------------------------------------------------------------------------------------------------------

const MONTHS = ['GEN', 'FEB', 'MAR', 'APR', 'MAG', 'GIU', 'LUG', 'AGO', 'SET', 'OTT', 'NOV', 'DIC'];
const VALORI_HEADER = 'Area_territoriale;Regione;Prov;Comune_ISTAT;Comune_cat;Sez;Comune_amm;Comune_descrizione;Fascia;Zona;LinkZona;Cod_Tip;Descr_Tipologia;Stato;Stato_prev;Compr_min;Compr_max;Sup_NL_compr;Loc_min;Loc_max;Sup_NL_loc;';
const ZONE_HEADER = 'Area_territoriale;Regione;Prov;Comune_ISTAT;Comune_cat;Sez;Comune_amm;Comune_descrizione;Fascia;Zona_Descr;Zona;LinkZona;Cod_tip_prev;Descr_tip_prev;Stato_prev;Microzona;';

function title(what: string, halfYear: number, day: string): string {
  const [year, month, date] = day.split('-') as [string, string, string];
  return `Quotazioni Immobiliari : ${what} - Semestre ${text(halfYear, '/')} - elaborazione del ${date}-${itemAt(MONTHS, Number(month) - 1)}-${year.slice(2)}`;
}

function linkZona(comune: SyntheticComune, zona: string, halfYear: number): string {
  return `${comune.province.sigla}${String((comune.index + 1) * 100 + linkOf(zona, halfYear)).padStart(8, '0')}`;
}

function place(region: SyntheticRegion, comune: SyntheticComune, halfYear: number): string {
  // Comune_ISTAT contains the region's number followed by the ISTAT code. The column is empty for every fifth comune.
  const istat = comune.index % 5 === 4 ? '' : `${region.code}${comune.istatCode}`;
  return `SUD;${region.name.toUpperCase()};${comune.province.sigla};${istat};${String.fromCharCode(65 + (comune.index % 26))}2AA; ;${codeOf(region, comune, halfYear)};${omiName(comune)}`;
}

/** Formats tenths as a decimal number with a comma. A zero before the comma is dropped: `,9`. */
function tenths(value: number): string {
  if (value % 10 === 0) return String(value / 10);
  return value < 10 ? `,${value}` : `${Math.floor(value / 10)},${value % 10}`;
}

function* valori(region: SyntheticRegion, comuni: readonly SyntheticComune[], halfYear: number, revision: 0 | 1 = 0): Generator<string> {
  yield `${title('Valori di Mercato', halfYear, revision === 1 ? '2026-05-30' : '2026-04-27')}\n${VALORI_HEADER}\n`;
  // In files up to 2018/2, a cell without a value is empty. In later files, such a cell contains a space.
  const blank = halfYear <= half(2018, 2) ? '' : ' ';
  for (const comune of comuni) {
    for (const zona of zonesOf(eraOf(halfYear))) {
      for (const quotation of quotationsOf(region, comune, zona, halfYear, revision)) {
        const { codTip, stato, prevalent, purchase, rental } = quotation;
        const none = quotation.blank ? '' : '0';
        yield `${place(region, comune, halfYear)};${fasciaOf(zona)};${zona};${linkZona(comune, zona, halfYear)};${codTip};${valueOf(PROPERTY_TYPES, codTip)};${stato ?? ''};${prevalent ? 'P' : blank};`
          + `${purchase === null ? '0;0;;' : `${purchase[0]};${purchase[1]};L;`}${rental === null ? `${none};${none};${blank};` : `${tenths(rental[0])};${tenths(rental[1])};${halfYear < half(2025, 1) ? 'N' : 'L'};`}\n`;
      }
    }
  }
}

/** Returns rows that must be rejected, and a row that repeats the first row. */
function refusals(region: SyntheticRegion, first: string): string {
  const [comune] = region.comuni;
  const start = `${place(region, comune, WITH_REFUSALS)};D;D9;${linkZona(comune, 'D9', WITH_REFUSALS)}`;
  return [
    first.trimEnd(),
    `${start};2;Abitazioni immaginarie;NORMALE;P;900;1000;L;3;4;L;`,
    `${start};20;Abitazioni civili;NORMALE;P;1.100;1.300;L;3;4;L;`,
    `${start};20;Abitazioni civili;NUOVO;P;900;1000;L;3;4;L;`,
    `${start};20;Abitazioni civili;NORMALE;P;900`,
  ].map((line) => `${line}\n`).join('');
}

function* zone(region: SyntheticRegion, comuni: readonly SyntheticComune[], halfYear: number): Generator<Buffer> {
  yield Buffer.from(`${title('Informazioni di Zona OMI', halfYear, '2026-04-27')}\n${ZONE_HEADER}\n`);
  const blank = halfYear <= half(2018, 2) ? '' : ' ';
  let number = 0;
  for (const comune of comuni) {
    for (const zona of zonesOf(eraOf(halfYear))) {
      const rural = zona.startsWith('R');
      const microzona = microzonaOf(comune, zona) ?? (comune.index % 2 === 0 ? 0 : '');
      const line = `${place(region, comune, halfYear)};${fasciaOf(zona)};'${describe(comune, zona)}';${zona};${linkZona(comune, zona, halfYear)};`
        + `${rural ? (comune.index % 2 === 0 ? '101;Seminativo' : '0;Non presente') : isQuoted(comune, halfYear) ? '20;Abitazioni civili' : '0;Non presente'};${rural ? blank : 'N'};${microzona};\n`;
      // A file contains lines in UTF-8 and lines in Latin-1.
      yield Buffer.from(line, number % 3 === 0 ? 'latin1' : 'utf8');
      number += 1;
    }
  }
}

// --- perimeters --------------------------------------------------------------------------------------------------

type Ring = readonly LonLat[];

const key = ([lon, lat]: LonLat): string => `${lon.toFixed(6)},${lat.toFixed(6)}`;

/**
 * Returns the outlines of a set of sheets, counter-clockwise. Sheets that touch only at a corner stay separate. The sheets of a zone never enclose sheets of a
 * different zone, so there are no holes.
 */
function outline(sheets: readonly SyntheticSheet[]): Ring[] {
  const edges = new Map<string, { from: LonLat; to: LonLat }>();
  for (const sheet of sheets) {
    for (const [from, to] of segmentsOf(sheet.outline())) {
      if (!edges.delete(`${key(to)} ${key(from)}`)) edges.set(`${key(from)} ${key(to)}`, { from, to });
    }
  }
  const rings: Ring[] = [];
  for (const first of edges.values()) {
    const ring: LonLat[] = [];
    let edge = first;
    do {
      edges.delete(`${key(edge.from)} ${key(edge.to)}`);
      ring.push(edge.from);
      const { from, to } = edge;
      // At a corner where two sheets touch, the edge to the left belongs to the same sheet.
      const next = [...edges.values()].filter((each) => key(each.from) === key(to));
      if (next.length === 0) break;
      const turn = (each: { to: LonLat }): number => (to[0] - from[0]) * (each.to[1] - to[1]) - (to[1] - from[1]) * (each.to[0] - to[0]);
      edge = next.reduce((best, each) => (turn(each) > turn(best) ? each : best));
    } while (edge !== first);
    ring.push(first.from);
    rings.push(ring);
  }
  return rings;
}

const coordinates = (ring: Ring): string => ring.map(([lon, lat]) => `${lon.toFixed(6)},${lat.toFixed(6)},0`).join(' ');

function polygon(outer: Ring, holes: readonly Ring[] = []): string {
  const boundary = (kind: string, ring: Ring): string => `<${kind}BoundaryIs>\n<LinearRing>\n<coordinates>\n${coordinates(ring)}\n</coordinates>\n</LinearRing>\n</${kind}BoundaryIs>\n`;
  return `<Polygon>\n${boundary('outer', outer)}${holes.map((hole) => boundary('inner', hole)).join('')}</Polygon>\n`;
}

/** Returns a square to the east of all comuni. @param number number of the square, from west to east @param size side in degrees */
function away(region: SyntheticRegion, comune: SyntheticComune, number: number, size: number): ReturnType<typeof boxRing> {
  const west = region.box[2] + 0.01 + number * 0.002;
  const south = comune.box[1] + 0.001;
  return boxRing([west, south, west + size, south + size]);
}

/** Returns the polygons of each zone of a comune. In the first two comuni, some polygons have the publisher's errors, such as a ring that crosses itself. */
function perimetersOf(region: SyntheticRegion, comune: SyntheticComune, halfYear: number): Map<string, string[]> {
  const era = eraOf(halfYear);
  const hole = holeParcel(region, comune);
  const blocks = new Map<string, SyntheticSheet[]>();
  for (const sheet of region.sheets(comune)) {
    const zona = blockOf(sheet, era);
    blocks.set(zona, [...(blocks.get(zona) ?? []), sheet]);
  }
  const zones = new Map<string, string[]>();
  const [[ring]] = hole.polygons;
  for (const [zona, sheets] of blocks) {
    const around = era !== 'A' && sheets.some(({ index }) => index === hole.sheet.index);
    zones.set(zona, outline(sheets).map((outer) => polygon(outer, around && covers([[outer]], itemAt(ring, 0)) ? [[...ring].reverse()] : [])));
  }
  if (era !== 'A') zones.set(HOLE, [polygon(ring)]);
  const first = valueOf(zones, blockOf(hole.sheet, era));
  if (comune.index === 0) {
    // Three errors of the publisher: a sliver of a few square metres, a ring that is not closed, and a part whose ring has two points.
    first.push(polygon(away(region, comune, 0, 0.00003)), polygon(away(region, comune, 1, 0.0005).slice(0, 4)), polygon([[14, 41], [14.001, 41], [14, 41]]));
  }
  if (comune.index === 1) {
    // The quirks are a ring that crosses itself, a part off Africa, and a hole with two points.
    const [a, b, c, d] = away(region, comune, 0, 0.0005);
    const offAfrica = polygon([[-4.25, 1.17], [-4.24, 1.17], [-4.24, 1.18], [-4.25, 1.17]]);
    first.push(polygon([a, c, b, d, a]), offAfrica, polygon(away(region, comune, 1, 0.0005), [[a, b, a]]));
  }
  // The newest perimeters of the fourth comune lack a zone.
  if (comune.index === 3 && halfYear === LAST) zones.delete('D1');
  return zones;
}

interface KmlOptions {
  /** True for the format before 2014/2: LINKZONA is filled, CODCOM and CODZONA are missing, and zones are written `B01`. */
  readonly old?: boolean;
}

function kml(region: SyntheticRegion, comune: SyntheticComune, halfYear: number, { old = false }: KmlOptions = {}): Buffer {
  const code = codeOf(region, comune, halfYear);
  // Names keep their accents, as Latin-1 in a file that declares UTF-8. The ampersand is not escaped.
  const name = `${comune.italianName.toUpperCase()}${comune.index === 2 ? ' & VILLE D39;INVENZIONE' : ''}`;
  const parts = [
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" \nxmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \nxsi:schemaLocation="http://www.opengis.net/kml/2.2 \nhttp://schemas.opengis.net/kml/2.2.0/ogckml22.xsd">\n<Document>\n',
    `<name>${name} (${comune.province.sigla}) Anno/Semestre ${text(halfYear, '/')} generato il 13/04/2026 15:39</name>\n`,
    '<Style id="style_160_0-0-153_0-0-0_1">\n<LineStyle>\n<color>A0000000</color>\n<width>1</width>\n</LineStyle>\n<PolyStyle>\n<color>A0990000</color>\n</PolyStyle>\n</Style>\n',
  ];
  for (const [zona, polygons] of perimetersOf(region, comune, halfYear)) {
    const shown = old ? zona.replace(/\d/, '0$&') : zona;
    parts.push(
      `<Placemark>\n<name>${name} - Zona OMI ${shown}</name>\n<description><![CDATA[<table border="1"><tr><td><b>Cod. Naz. Comune</b></td><td>${code}</td></tr><tr><td><b>Zona OMI</b></td><td>${shown}</td></tr>`
      + `<tr><td><b>Anno / Semestre</b></td><td>${text(halfYear, ' / ')}</td></tr></table>]]></description>\n<styleUrl>#style_160_0-0-153_0-0-0_1</styleUrl>\n`
      + `<ExtendedData><Data name="LINKZONA">\n<displayName>LinkZONA</displayName>\n<value>${old ? linkZona(comune, zona, halfYear) : ''}</value>\n</Data>\n`
      + (old ? '' : `<Data name="CODCOM">\n<displayName>Codice Comune</displayName>\n<value>${code}</value>\n</Data>\n<Data name="CODZONA">\n<displayName>Codice Zona</displayName>\n<value>${zona}</value>\n</Data>\n`)
      + `</ExtendedData>${polygons.length === 1 ? polygons.join('') : `<MultiGeometry>\n${polygons.join('')}</MultiGeometry>\n`}</Placemark>\n`,
    );
  }
  parts.push('</Document>\n</kml>\n');
  return Buffer.from(parts.join(''), 'latin1');
}

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const { comuni } = region;
  const names = (halfYear: number, request: number, count = 1): [string, string] =>
    ['VALORI', 'ZONE'].map((kind) => `QI_${request}_${count}_${text(halfYear, '')}_${kind}.csv`) as [string, string];

  for (let halfYear = FIRST; halfYear < LAST; halfYear += 1) {
    if (halfYear === COMBINED[1]) continue;
    const request = 900_000 + halfYear - FIRST;
    if (halfYear === WINDOW_FIRST) {
      // These files are not in a zip, as if a user had unpacked them.
      const [values, zones] = names(halfYear, request);
      await writeFile(join(folder, values), [...valori(region, comuni, halfYear)].join(''));
      await writeFile(join(folder, zones), Buffer.concat([...zone(region, comuni, halfYear)]));
      continue;
    }
    await writeZip(join(folder, `QI_${request}.zip`), (halfYear === COMBINED[0] ? COMBINED : [halfYear]).flatMap((each, number): ZipEntry[] => {
      const [values, zones] = names(each, request, number + 1);
      const lines = valori(region, comuni, each);
      return [
        [values, each === WITH_REFUSALS ? [...lines].flatMap((line, index) => (index === 1 ? [line, refusals(region, line)] : [line])) : lines],
        [zones, zone(region, comuni, each)],
      ];
    }));
  }

  // The name of a zip with perimeters contains the tax code of the user (here an impossible tax code).
  await writeZip(join(folder, 'QIP900098_XXXXXX00X00X000X.zip'), (function* (): Generator<ZipEntry> {
    yield [`QI_${text(LAST, '')}_VALORI.csv`, valori(region, comuni, LAST)];
    yield [`QI_${text(LAST, '')}_ZONE.csv`, zone(region, comuni, LAST)];
    for (const comune of comuni.filter((each) => drawnLast(region, each))) yield [`${comune.belfiore}.kml`, kml(region, comune, LAST)];
  })());
  // One comune is delivered again, with an elaboration one month later.
  await writeFile(join(folder, `QI_900099_1_${text(LAST, '')}_VALORI.csv`), [...valori(region, comuni.slice(1, 2), LAST, 1)].join(''));

  for (const province of region.provinces) {
    // A comune that changed its province is in the files of both provinces.
    const members = comuni.filter((comune) => comune.province.code === province.code || comune.index === 1);
    const stem = `Provincia di ${province.name.toUpperCase()} ${text(PROVINCIAL_PERIMETERS, '-')}`;
    const path = (comune: SyntheticComune): string => `Comuni/Comune di ${omiName(comune)} ${text(PROVINCIAL_PERIMETERS, '-')}.kml`;
    const links = members.map((comune) => `<NetworkLink><name>Comune di ${omiName(comune)}</name><Link><href>${path(comune)}</href></Link></NetworkLink>\n`).join('');
    await writeZip(join(folder, `${stem}.kmz`), (function* (): Generator<ZipEntry> {
      yield [`${stem}.kml`, `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>\n<name>${province.name.toUpperCase()}</name>`
        + `<description><![CDATA[<p>Zone OMI estratte il 30 aprile 2026<br>Nro Comuni disponibili: ${members.length}</p>]]></description>${links}</Document>\n</kml>\n`];
      for (const comune of members) yield [path(comune), kml(region, comune, PROVINCIAL_PERIMETERS)];
    })());
  }
  const [first, second] = comuni;
  const single = `${first.belfiore} - Comune di ${omiName(first)} ${text(ONE_COMUNE_PERIMETERS, '-')}`;
  await writeZip(join(folder, `${single}.kmz`), [[`${single}.kml`, kml(region, first, ONE_COMUNE_PERIMETERS)]]);
  await writeFile(join(folder, `${second.belfiore}.kml`), kml(region, second, OLD_FORMAT, { old: true }));
}

// --- truth -------------------------------------------------------------------------------------------------------

/** Returns the quotient of two positive integers, rounded to `decimals` decimals. Halves are rounded up, as PostgreSQL rounds a positive numeric. */
function ratio(n: number, d: number, decimals: number): number {
  const scale = 10n ** BigInt(decimals);
  const doubled = (2n * BigInt(n) * scale) / BigInt(d);
  return Number((doubled + 1n) / 2n) / Number(scale);
}

const euro = (tenth: number): number => tenth / 10;

interface Range {
  readonly min_eur_m2: number | null;
  readonly max_eur_m2: number | null;
}

function range(values: readonly [number, number] | null): Range {
  const [least, most] = values ?? [null, null];
  return { min_eur_m2: least, max_eur_m2: most };
}

function rentRange(values: readonly [number, number] | null): Range {
  return range(values === null ? null : [euro(values[0]), euro(values[1])]);
}

/** Returns a function that finds the zone whose perimeter in a half-year contains a parcel, or null if there is none. */
function drawnZones(region: SyntheticRegion): (parcel: SyntheticParcel, halfYear: number) => string | null {
  const holes = new Map(region.comuni.map((comune) => [comune.index, holeParcel(region, comune).index]));
  return (parcel, halfYear) => {
    const era = eraOf(halfYear);
    if (era !== 'A' && holes.get(parcel.comune.index) === parcel.index) return HOLE;
    const zona = blockOf(parcel.sheet, era);
    return parcel.comune.index === 3 && halfYear === LAST && zona === 'D1' ? null : zona;
  };
}

function isDrawn(region: SyntheticRegion, comune: SyntheticComune, halfYear: number): boolean {
  return halfYear === PROVINCIAL_PERIMETERS || (halfYear === LAST && drawnLast(region, comune)) || (halfYear === ONE_COMUNE_PERIMETERS && comune.index === 0);
}

interface Valuation {
  readonly elements: readonly unknown[];
  readonly price: number | null;
}

/** A zone, its name in the previous half-year, and the half-year of its perimeter. */
interface Zone {
  readonly zona: string;
  readonly before: string | null;
  readonly perimeters: number;
}

/** Returns the expected section `valuation` of a zone in the last half-year, and the average residential price. */
function valuationOf(region: SyntheticRegion, comune: SyntheticComune, { zona, before, perimeters }: Zone): Valuation {
  const earlier = before === null ? [] : quoted(region, comune, before, LAST - 1);
  const now = quoted(region, comune, zona, LAST);
  const order = (a: Quotation, b: Quotation): number => a.codTip - b.codTip || ((a.stato ?? '') < (b.stato ?? '') ? -1 : 1);
  const elements = [...now].sort(order).map((quotation) => {
    const was = earlier.find((each) => each.codTip === quotation.codTip && each.stato === quotation.stato);
    return {
      zone: zona,
      fascia: fasciaOf(zona),
      microzona: microzonaOf(comune, zona),
      zone_description: describe(comune, zona),
      municipality: `${omiName(comune)} (${comune.belfiore})`,
      property_type: valueOf(PROPERTY_TYPES, quotation.codTip),
      condition: quotation.stato,
      purchase: range(quotation.purchase),
      rental: rentRange(quotation.rental),
      previous_semester: { purchase: range(was?.purchase ?? null), rental: rentRange(was?.rental ?? null) },
      semester: text(LAST),
      zone_perimeter_semester: text(perimeters),
    };
  });
  const counts = ({ codTip, prevalent }: Quotation): boolean => [1, 19, 20, 21, 22].includes(codTip) && prevalent;
  const residential = now.filter(counts).flatMap(({ purchase }) => (purchase === null ? [] : [purchase]));
  const sum = residential.reduce((total, [least, most]) => total + least + most, 0);
  return { elements, price: residential.length === 0 ? null : ratio(sum, 2 * residential.length, 2) };
}

/**
 * Returns the expected element of `valuation_history` for one half-year: the quotation of ordinary dwellings in normal state.
 * @param zona null if the parcel is in no zone
 */
function semesterOf(region: SyntheticRegion, comune: SyntheticComune, zona: string | null, halfYear: number): Record<string, unknown> {
  const found = zona === null ? undefined : quoted(region, comune, zona, halfYear).find(({ codTip, stato }) => codTip === 20 && stato === 'NORMALE');
  const purchase = found?.purchase ?? null;
  const rental = found?.rental ?? null;
  return {
    semester: text(halfYear),
    zone: zona,
    purchase: { ...range(purchase), mid_eur_m2: purchase === null ? null : (purchase[0] + purchase[1]) / 2 },
    rental: { ...rentRange(rental), mid_eur_m2: rental === null ? null : ratio(rental[0] + rental[1], 20, 2) },
    gross_yield_pct: purchase === null || rental === null ? null : ratio(120 * (rental[0] + rental[1]), purchase[0] + purchase[1], 2),
  };
}

function truth(region: SyntheticRegion): (parcel: SyntheticParcel) => Record<string, unknown> {
  const byPerimeter = drawnZones(region);
  /** Returns the zone from the perimeters of the half-year or, if there are none, from the LinkZona of the parcel's zone. */
  const zoneAt = (parcel: SyntheticParcel, link: number, halfYear: number): string | null =>
    isDrawn(region, parcel.comune, halfYear) ? byPerimeter(parcel, halfYear) : zoneByLink(link, eraOf(halfYear));
  const valuations = new Map<string, Valuation>();
  const valuation = (comune: SyntheticComune, zona: string, before: string | null, perimeters: number): Valuation => {
    const key = `${comune.index} ${zona} ${before ?? ''}`;
    const known = valuations.get(key) ?? valuationOf(region, comune, { zona, before, perimeters });
    valuations.set(key, known);
    return known;
  };

  return (parcel) => {
    const { comune } = parcel;
    const perimeters = drawnLast(region, comune) ? LAST : PROVINCIAL_PERIMETERS;
    const placed = parcel.kind === 'land' ? byPerimeter(parcel, perimeters) : null;
    if (placed === null) return { valuation: [], valuation_history: null, economics: parcel.kind === 'land' && hasIncomes(comune) ? { avg_residential_price_m2: null } : null };
    const link = linkOf(placed, perimeters);
    /** Name of the zone in the quoted half-year; null if the zone no longer exists. */
    const current = zoneByLink(link, eraOf(LAST));
    const coverage = { valuation: current === null ? 'not_mapped' : 'mapped' };
    const semesters = [];
    for (let halfYear = WINDOW_FIRST; halfYear <= LAST; halfYear += 1) semesters.push(semesterOf(region, comune, zoneAt(parcel, link, halfYear), halfYear));
    const { elements, price } = current === null ? { elements: [], price: null } : valuation(comune, current, zoneAt(parcel, link, LAST - 1), perimeters);
    return {
      coverage,
      valuation: elements,
      valuation_history: { zone_current: current ?? placed, municipality_code: comune.belfiore, property_type: 'Abitazioni civili', condition: 'NORMALE', semesters },
      // The section `economics` contains the price, but exists only for comuni with incomes.
      economics: hasIncomes(comune) ? { avg_residential_price_m2: price } : null,
    };
  };
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
