/**
 * Writes synthetic census sections and indicators. Census sections follow the borders of cadastral sheets, so that a parcel's representative point is
 * unambiguous. Most census sections consist of one or two sheets. Some sections consist of two separate sheets, and some have an invalid spike. Others have a
 * hole in the shape of a parcel, and a separate census section fills this hole. Some sheets are in no census section.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BuildingTruth, buildingSource } from '../../pipelines/synthetic/buildings.ts';
import { itemAt, valueOf } from '../../pipelines/synthetic/items.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import { boxRing, mapPoints, polygonsAreaM2 } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileEntries, type ShapefileFeature, type ShapefileField } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { LonLat, Random, SyntheticRegion, SyntheticComune, SyntheticParcel, SyntheticSheet } from '../../pipelines/synthetic/region.ts';
import { writeXlsx, type XlsxValue } from '../../pipelines/synthetic/xlsx-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const BANDS = ['0_4', '5_9', '10_14', '15_19', '20_24', '25_29', '30_34', '35_39', '40_44', '45_49', '50_54', '55_59', '60_64', '65_69', '70_74', '75_plus'];

const range = (prefix: string, from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `${prefix}${from + i}`);

/** The 127 columns of the issue of 2024, in the published order. */
const HEADER: readonly string[] = [
  'CODREG', 'REGIONE', 'CODPRO', 'PROVINCIA', 'CODCOM', 'COMUNE', 'PROCOM', 'SEZ21_ID', 'COM_ASC1', 'COM_ASC2', 'COM_ASC3',
  ...range('P', 1, 3), ...range('P', 14, 45), ...range('P', 67, 103), ...range('IT', 1, 12), 'ST1', 'ST2', 'ST2_B', ...range('ST', 3, 5),
  ...range('ST', 16, 33), 'PF1', ...range('PF', 3, 8), 'A2',
];

const TABLE: readonly ShapefileField[] = [
  ...['COD_REG', 'COD_UTS', 'PRO_COM', 'SEZ21'].map((name) => ({ name, type: 'integer', length: 10 }) as const),
  { name: 'SEZ21_ID', type: 'integer', length: 13 },
  ...['COD_TIPO_S', 'TIPO_LOC'].map((name) => ({ name, type: 'integer', length: 10 }) as const),
  { name: 'LOC21_ID', type: 'integer', length: 13 },
  ...['COD_ZIC', 'COD_ISAM', 'COD_ACQUE', 'COD_ISOLE', 'COD_MONT_D', 'COD_AREA_S'].map((name) => ({ name, type: 'integer', length: 10 }) as const),
  ...['COM_ASC1', 'COM_ASC2', 'COM_ASC3', 'POP21', 'FAM21', 'ABI21', 'EDI21'].map((name) => ({ name, type: 'integer', length: 13 }) as const),
  { name: 'SHAPE_Leng', type: 'real', length: 19, decimals: 11 },
  { name: 'SHAPE_Area', type: 'real', length: 19, decimals: 11 },
];

/**
 * Number of sheets in a group. Each sheet is a census section, except the third and the seventh, which belong to the sections of the second and the fifth
 * sheet.
 */
const GROUP = 7;
const PARTNER: Readonly<Record<number, number>> = { 2: 1, 6: 4 };
const SPIKE = 3;
const ENCLAVE = 5;
/** Returns the number of a sheet in its comune plus four times the number of the comune. Every case therefore occurs even in a region of small comuni. */
const countOf = (sheet: SyntheticSheet): number => sheet.index + 4 * sheet.comune.index;
const placeOf = (sheet: SyntheticSheet): number => countOf(sheet) % GROUP;
/** Returns whether a sheet is in no census section. This applies to every thirteenth sheet. @param count number of the sheet from `countOf` */
const isGap = (count: number): boolean => count % 13 === 12;

/**
 * Number of the enclave in the first sheet of a comune. The number increases by 1 with each sheet. A census section that is not an enclave has the number of
 * its first sheet, from 1.
 */
const FIRST_ENCLAVE = 5_000_000;
const HOMELESS = 8_888_888;
const CONTESTED = 9_999_999;

const sectionId = (comune: SyntheticComune, number: number): string => `${Number(comune.istatCode)}${String(number).padStart(7, '0')}`;

/** Returns the number of the census section that contains a sheet, apart from an enclave; null in a gap. */
function sectionOfSheet(sheet: SyntheticSheet): number | null {
  const count = countOf(sheet);
  if (isGap(count)) return null;
  const back = placeOf(sheet) - (PARTNER[placeOf(sheet)] ?? placeOf(sheet));
  const joins = back <= sheet.index && !isGap(count - back);
  return sheet.index + 1 - (joins ? back : 0);
}

/** Returns the parcel whose outline is a census section: the first land parcel of the sheet that has one cell and touches no border. */
function enclaveIn(parcels: readonly SyntheticParcel[]): SyntheticParcel | null {
  return parcels.find(({ kind, cells: [[column, row], ...others] }) => kind === 'land' && others.length === 0 && column > 0 && column < 11 && row > 0 && row < 9) ?? null;
}

/** Yields each parcel of a sheet with its census section, or with null in a gap. */
function* membership(sheet: SyntheticSheet, parcels: readonly SyntheticParcel[]): Generator<readonly [SyntheticParcel, number | null]> {
  const enclave = placeOf(sheet) === ENCLAVE && !isGap(countOf(sheet)) ? enclaveIn(parcels) : null;
  for (const parcel of parcels) yield [parcel, parcel === enclave ? FIRST_ENCLAVE + sheet.index : sectionOfSheet(sheet)];
}

interface Section {
  readonly number: number;
  /** Polygons in degrees of longitude and latitude. */
  readonly polygons: (readonly (readonly LonLat[])[])[];
}

/** Returns the outline of a sheet with a spike to the north. The ring is invalid, and its repair does not change the area. */
function spikedRing(sheet: SyntheticSheet): LonLat[] {
  const ring = [...sheet.outline()];
  const top = Math.max(...ring.map(([, lat]) => lat));
  const first = ring.findIndex(([, lat]) => lat === top);
  const [east, west] = [itemAt(ring, first), itemAt(ring, first + 1)];
  // The spike is in the middle of a level side, or at the northernmost corner.
  const middle = (west[0] + east[0]) / 2;
  ring.splice(first + 1, 0, ...(west[1] === top ? [[middle, top], [middle, top + 0.0005], [middle, top]] as const : [[east[0], top + 0.0005], east] as const));
  return ring;
}

/** Returns the census sections of a comune without the fictitious sections. */
function sectionsOf(region: SyntheticRegion, comune: SyntheticComune): Section[] {
  const sections = new Map<number, Section>();
  for (const sheet of region.sheets(comune)) {
    const number = sectionOfSheet(sheet);
    if (number === null) continue;
    const enclave = placeOf(sheet) === ENCLAVE ? enclaveIn([...region.parcelsOf(sheet)]) : null;
    const outer = placeOf(sheet) === SPIKE ? spikedRing(sheet) : sheet.outline();
    const polygon = enclave === null ? [outer] : [outer, [...enclave.polygons[0][0]].reverse()];
    const before = sections.get(number);
    if (before === undefined) sections.set(number, { number, polygons: [polygon] });
    else sections.set(number, { number, polygons: [...before.polygons, polygon] });
    if (enclave !== null) sections.set(FIRST_ENCLAVE + sheet.index, { number: FIRST_ENCLAVE + sheet.index, polygons: [enclave.polygons[0]] });
  }
  return [...sections.values()];
}

/**
 * State of the indicators of a census section: published, not published because the section has no residents, or missing although the section has residents.
 */
type Knowledge = 'figures' | 'unpopulated' | 'row_missing';

function knowledgeOf(random: Random): Knowledge {
  const draw = random.below(40);
  return draw < 6 ? 'unpopulated' : draw === 6 ? 'row_missing' : 'figures';
}

/** Splits a whole number into random parts that add up to the number. */
function split(total: number, parts: number, random: Random): number[] {
  const result = new Array<number>(parts).fill(0);
  for (let i = 0; i < total; i += 1) {
    const part = random.below(parts);
    result[part] = itemAt(result, part) + 1;
  }
  return result;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Returns all published indicators of a census section. The indicators are consistent with one another. */
function figuresOf(random: Random): Record<string, number> {
  const total = 1 + random.below(180);
  const figures: Record<string, number> = Object.fromEntries(HEADER.slice(11).map((name) => [name, 0]));
  const males = split(random.below(total + 1), 16, random);
  const females = split(total - sum(males), 16, random);
  males.forEach((value, i) => (figures[`P${30 + i}`] = value));
  females.forEach((value, i) => (figures[`P${67 + i}`] = value));
  const ages = males.map((value, i) => value + itemAt(females, i));
  ages.forEach((value, i) => (figures[`P${14 + i}`] = value));
  figures['P1'] = total;
  figures['P2'] = sum(males);
  figures['P3'] = sum(females);
  const nineAndMore = sum(ages.slice(2)) + Math.floor(itemAt(ages, 1) / 5);
  figures['P83'] = nineAndMore;
  split(nineAndMore, 5, random).forEach((value, i) => (figures[`P${86 + i}`] = value));
  figures['P101'] = random.below(sum(ages.slice(3, 13)) + 1);
  const [young, adult, old] = [sum(ages.slice(0, 3)), sum(ages.slice(3, 13)), sum(ages.slice(13))];
  const foreign = [young, adult, old].map((value, i) => {
    const some = random.below(Math.floor(value / 4) + 1);
    figures[`IT${i + 1}`] = value - some;
    figures[`ST${22 + i}`] = some;
    return some;
  });
  figures['ST1'] = sum(foreign);
  figures['ST16'] = random.below(sum(foreign) + 1);
  figures['ST19'] = sum(foreign) - figures['ST16'];
  // In some census sections, no resident belongs to a household, as in a convent or barracks.
  const households = random.below(20) === 0 ? [0, 0, 0, 0, 0, 0] : split(1 + Math.floor(total / 3), 6, random);
  figures['PF1'] = sum(households);
  households.forEach((value, i) => (figures[`PF${3 + i}`] = value));
  figures['A2'] = Math.max(0, figures['PF1'] - random.below(3));
  return figures;
}

interface Known {
  readonly knowledge: Knowledge;
  readonly figures: Readonly<Record<string, number>>;
}

function known(region: SyntheticRegion, id: string): Known {
  const random = region.random('istat_census', id);
  return { knowledge: knowledgeOf(random), figures: figuresOf(random) };
}

function row(region: SyntheticRegion, comune: SyntheticComune, id: string, figures: Readonly<Record<string, number>>): XlsxValue[] {
  const { province } = comune;
  return [
    String(region.code), region.name, String(Number(province.code)), province.name, String(Number(comune.istatCode.slice(3))), comune.name,
    String(Number(comune.istatCode)), id, '0', '0', '0', ...HEADER.slice(11).map((name) => figures[name] ?? 0),
  ];
}

/** Yields the rows of the region's workbook. Codes are text cells, and some rows have quirks. */
function* indicatorRows(region: SyntheticRegion): Generator<XlsxValue[]> {
  yield [...HEADER];
  for (const comune of region.comuni) {
    let first: XlsxValue[] | null = null;
    let written = 0;
    for (const section of sectionsOf(region, comune)) {
      const id = sectionId(comune, section.number);
      const { knowledge, figures } = known(region, id);
      if (knowledge !== 'figures') continue;
      const cells = row(region, comune, id, figures);
      first ??= cells;
      // In two rows of each comune, a spreadsheet converted the code to a number: one code kept its digits, and the other code got a decimal.
      if (written === 1) cells[7] = Number(id);
      if (written === 2) cells[7] = `${id}.0`;
      written += 1;
      yield cells;
    }
    yield row(region, comune, sectionId(comune, HOMELESS), known(region, sectionId(comune, HOMELESS)).figures);
    if (comune.index !== 0) continue;
    // The first census section of the first comune is repeated with other numbers, which must not be used. The next row has a count that is not a number and
    // must be rejected.
    if (first !== null) yield [...first.slice(0, 11), ...first.slice(11).map(() => 1)];
    yield row(region, comune, sectionId(comune, 7_777_777), known(region, 'refused').figures).map((cell, i) => (i === 11 ? 'n.d.' : cell));
  }
}

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const code = String(region.code).padStart(2, '0');
  function* features(): Generator<ShapefileFeature> {
    for (const comune of region.comuni) {
      const procom = Number(comune.istatCode);
      const feature = (number: number, degrees: Section['polygons'], population: number, households: number): ShapefileFeature => ({
        geometry: { type: 'polygon', polygons: mapPoints(degrees, utm32.forward) },
        values: [
          region.code, Number(comune.province.code), procom, number, Number(sectionId(comune, number)), number === HOMELESS ? 100 : 1, 1 + (number % 4),
          procom * 100_000 + 10_001, 0, 0, 0, 0, 0, 0, 0, 0, 0, population, households, households, Math.ceil(households / 2), 1, 1,
        ],
      });
      for (const section of sectionsOf(region, comune)) {
        const { knowledge, figures } = known(region, sectionId(comune, section.number));
        const lives = knowledge !== 'unpopulated';
        yield feature(section.number, section.polygons, lives ? (figures['P1'] ?? 0) : 0, lives ? (figures['PF1'] ?? 0) : 0);
      }
      // Fictitious sections: a small polygon in the north-western corner of each comune, and a contested area over the whole of every third comune.
      const [west, south, east, north] = comune.box;
      const small: SyntheticSheet['box'] = [west, north - 0.001, west + 0.001, north];
      yield feature(HOMELESS, [[boxRing(small)]], 12, 12);
      if (comune.index % 3 === 0) yield feature(CONTESTED, [[boxRing([west, south, east, north])]], 0, 0);
    }
  }
  await writeZip(join(folder, `R${code}_21.zip`), [
    ...shapefileEntries(`SHP/R${code}_21_WGS84`, { type: 'polygon', fields: TABLE, srid: 32632, features: features() }),
    [`TAB/ASC1_R${code}_21.csv`, Buffer.from('\ufeffCOD_REG\tCOD_UTS\tPRO_COM\tCOM_ASC_1\r\n', 'utf16le')],
    [`TAB/SEZ_R${code}_21.csv`, Buffer.from('\ufeffCOD_REG\tCOD_UTS\tPRO_COM\tSEZ21\tSEZ21_ID\r\n', 'utf16le')],
  ]);

  const data = join(folder, 'Dati_regionali_2021');
  await mkdir(data, { recursive: true });
  await writeXlsx(join(data, `R${code}_indicatori_2021_sezioni.xlsx`), `R${code}`, indicatorRows(region));
  await writeXlsx(join(data, 'TRACCIATO FILE REGIONALI.xlsx'), 'TRACCIATO', [
    ['SEZ21_ID', 'Codice che identifica univocamente la sezione di censimento 2021'], ['P1', 'Popolazione residente - totale'],
  ]);
  // The previous issue has the same file name and the census sections of 2011, which are not loaded.
  const old = join(folder, 'Dati_regionali_2021_prima_edizione');
  await mkdir(old, { recursive: true });
  const [first] = region.comuni;
  await writeXlsx(join(old, `R${code}_indicatori_2021_sezioni.xlsx`), `R${code}`, [
    HEADER.map((name) => (name === 'SEZ21_ID' ? 'SEZ2011' : name)),
    row(region, first, sectionId(first, 1), known(region, 'old').figures),
  ]);
}

/** Returns the expected section `demographics` with the statistics of a census section. */
function demographics(figures: Readonly<Record<string, number>>, id: string, share: number): Record<string, unknown> {
  const of = (name: string): number => figures[name] ?? 0;
  return {
    population_total: of('P1'),
    male: of('P2'),
    female: of('P3'),
    age_brackets: Object.fromEntries(BANDS.map((band, i) => [band, of(`P${14 + i}`)])),
    education: { no_title: of('P86'), elementary: of('P87'), middle_school: of('P88'), high_school: of('P89'), university: of('P90') },
    employed: of('P101'),
    foreigners: { total: of('ST1'), eu: of('ST16'), non_eu: of('ST19') },
    households: {
      total: of('PF1'), '1_member': of('PF3'), '2_members': of('PF4'), '3_members': of('PF5'), '4_members': of('PF6'), '5_members': of('PF7'), '6_plus_members': of('PF8'),
    },
    dwellings: of('A2'),
    section_id: id,
    parcel_share: share,
  };
}

/** A land parcel of a census section, with its area and its residential footprint in hundredths of a square metre. Both are weights. */
interface Weight {
  readonly index: number;
  readonly reference: string;
  readonly area: number;
  readonly residential: number;
}

/**
 * Distributes residents over parcels in proportion to the weights, by the method of largest remainders. The results are multiples of a hundredth of a person.
 */
function spread(residents: number, weights: readonly number[]): number[] {
  const total = BigInt(sum(weights));
  const hundredths = BigInt(residents * 100);
  const parts = weights.map((weight, place) => ({ place, whole: (hundredths * BigInt(weight)) / total, rest: (hundredths * BigInt(weight)) % total }));
  const left = Number(hundredths - parts.reduce((all, { whole }) => all + whole, 0n));
  const largest = [...parts].sort((a, b) => (a.rest === b.rest ? a.place - b.place : a.rest > b.rest ? -1 : 1));
  const more = new Set(largest.slice(0, left).map(({ place }) => place));
  return parts.map(({ place, whole }) => (Number(whole) + (more.has(place) ? 1 : 0)) / 100);
}

interface ComuneFigures {
  /** Residents per household, without fictitious census sections. */
  readonly household: number;
  /** Residents, including residents without a home. */
  readonly residents: number;
}

function comuneFigures(region: SyntheticRegion, comune: SyntheticComune): ComuneFigures {
  let residents = 0;
  let households = 0;
  for (const { number } of sectionsOf(region, comune)) {
    const { knowledge, figures } = known(region, sectionId(comune, number));
    if (knowledge !== 'figures') continue;
    residents += figures['P1'] ?? 0;
    households += figures['PF1'] ?? 0;
  }
  return { household: residents / households, residents: residents + (known(region, sectionId(comune, HOMELESS)).figures['P1'] ?? 0) };
}

/**
 * Yields the index and the expected section `population` of each land parcel in a census section. Yields nothing if the row of the census section is missing.
 * @param weights in the order of the fids
 */
function* populationOf(
  region: SyntheticRegion, comune: SyntheticComune, id: string, weights: readonly Weight[], of: ComuneFigures,
): Generator<readonly [index: number, population: Record<string, unknown>]> {
  const { knowledge, figures } = known(region, id);
  if (knowledge === 'row_missing') return;
  const [residents, households] = knowledge === 'figures' ? [figures['P1'] ?? 0, figures['PF1'] ?? 0] : [0, 0];
  const areal = spread(residents, weights.map(({ area }) => area));
  const hasFootprint = buildingSource(region, comune) === 'topographic' && weights.some(({ residential }) => residential > 0);
  const dasymetric = hasFootprint ? spread(residents, weights.map(({ residential }) => residential)) : null;
  const fit = Math.min(0.9, Math.max(0.1, 1 - Math.abs(residents - households * of.household) / residents));
  for (const [place, { index }] of weights.entries()) {
    yield [index, {
      estimated: itemAt(dasymetric ?? areal, place),
      dasymetric: dasymetric === null ? null : itemAt(dasymetric, place),
      areal: itemAt(areal, place),
      estimation_method: dasymetric === null ? 'areal' : 'dasymetric',
      estimation_confidence: residents === 0 ? null : Math.round((dasymetric === null ? fit / 2 : fit) * 1e4) / 1e4,
      municipality_total: of.residents,
    }];
  }
}

function truth(region: SyntheticRegion): (parcel: SyntheticParcel) => Record<string, unknown> {
  const land = new Map<string, number>();
  const sectionOf = new Map<number, string>();
  const population = new Map<number, Record<string, unknown>>();
  const buildings = new BuildingTruth(region);
  for (const comune of region.comuni) {
    const weighed = new Map<string, Weight[]>();
    for (const sheet of region.sheets(comune)) {
      for (const [parcel, number] of membership(sheet, [...region.parcelsOf(sheet)])) {
        if (number === null || parcel.kind !== 'land') continue;
        const id = sectionId(comune, number);
        const areaM2 = polygonsAreaM2(parcel.polygons);
        sectionOf.set(parcel.index, id);
        land.set(id, (land.get(id) ?? 0) + areaM2);
        const { index, reference } = parcel;
        const weight = { index, reference, area: Math.round(areaM2 * 100), residential: Math.round((buildings.of(parcel)?.residentialM2 ?? 0) * 100) };
        weighed.set(id, [...(weighed.get(id) ?? []), weight]);
      }
    }
    const figures = comuneFigures(region, comune);
    for (const [id, weights] of weighed) {
      // Fids follow the order of the parcels' references.
      weights.sort((a, b) => (a.reference < b.reference ? -1 : 1));
      for (const [index, found] of populationOf(region, comune, id, weights, figures)) population.set(index, found);
    }
  }
  return (parcel) => {
    const id = sectionOf.get(parcel.index);
    if (id === undefined) return { demographics: null, population: null };
    const { knowledge, figures } = known(region, id);
    if (knowledge === 'row_missing') return { demographics: null, population: null };
    const share = Math.round((polygonsAreaM2(parcel.polygons) / valueOf(land, id)) * 1e6) / 1e6;
    return { demographics: demographics(knowledge === 'figures' ? figures : {}, id, share), population: population.get(parcel.index) ?? null };
  };
}

const synthetic: Synthetic = { write, truth };
export default synthetic;
