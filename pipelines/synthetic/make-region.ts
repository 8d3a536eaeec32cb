/**
 * Generates the synthetic region. Comuni are boxes on a lattice, and each comune is divided into sheets. A sheet is a block of 12 × 10 cells, grouped into
 * exactly 100 parcels. The last sheet of a comune may contain only the first of these parcels. Sheets are generated on demand, so ten million parcels need as
 * little memory as ten parcels.
 *
 * Coordinates are computed as integers in units of 1e-8 degree and returned in degrees. Therefore the coordinates of a shared corner are equal numbers with at
 * most 8 decimals. Corners inside a sheet are moved at random. All parcels that meet at a corner share the moved corner. Corners on the sheet's border stay on
 * the border, so 100 parcels fill the sheet's box exactly. In the form `place`, `TownPlan` bends the lines between cells, and only the comuni are boxes.
 */
import type { ParcelKind } from '../contract/section.ts';
import { MappaleError } from '../errors.ts';
import { CELL_LAT, CELL_LON, CELL_X, CELL_Y, SHEET_COLUMNS, SHEET_ROWS, UNIT } from './cell-size.ts';
import { cyclicItem, itemAt, valueOf } from './items.ts';
import { boxRing } from './plane-geometry.ts';
import { randomOf } from './random.ts';
import type {
  CellTown, LonLat, Random, SyntheticCell, SyntheticComune, SyntheticComuneCatastale, SyntheticParcel, SyntheticPolygon, SyntheticProvince,
  SyntheticRegion, SyntheticSheet,
} from './region.ts';
import { TownPlan } from './town-plan.ts';
import { TownSheet } from './town-sheet.ts';

export interface RegionOptions {
  /** Number of valid parcels, from 2 to 10,000,000. */
  readonly parcels: number;
  readonly seed: number;
  /** Number of comuni, from 2 to 999. The default gives comuni of a realistic size. */
  readonly comuni?: number | undefined;
  /** Code of the imitated region: 14, Molise (default), or 4, Trentino-Alto Adige with land registers. */
  readonly region?: number | undefined;
  /**
   * True for dense floods, buildings, land cover and addresses, for tests with few parcels. False if features are as dense as in Italy. The default is true.
   */
  readonly dense?: boolean | undefined;
  /**
   * Form of the parcels. `lattice`: nearly equal parcels. `place`: towns with streets and small lots, and fields, tracks and a stream around each town. The
   * default is `lattice`. Regions with land registers have only the form `lattice`.
   */
  readonly form?: RegionForm | undefined;
}

export const REGION_FORMS = ['lattice', 'place'] as const;
export type RegionForm = typeof REGION_FORMS[number];

/** Number of parcels in a sheet. Only the last sheet of a comune may have fewer parcels. */
export const SHEET_PARCELS = 100;

const MAX_PARCELS = 10_000_000;
/** Maximum number of comuni, with codes Z001 … Z999. */
const MAX_COMUNI = 999;

/** Properties of an imitated region. */
interface Place {
  readonly code: number;
  readonly name: string;
  /** Western and northern edges of the region, in units of 1/UNIT degree. */
  readonly west: number;
  readonly north: number;
  readonly western: SyntheticProvince;
  readonly eastern: SyntheticProvince;
  /** True if the provinces have land registers and every comune has a German name. */
  readonly hasLandRegisters: boolean;
}

const PLACES: readonly Place[] = [
  {
    code: 14, name: 'Molise', west: 14 * UNIT, north: 42 * UNIT, hasLandRegisters: false,
    western: { code: '094', name: 'Isernia', sigla: 'IS' }, eastern: { code: '070', name: 'Campobasso', sigla: 'CB' },
  },
  {
    code: 4, name: 'Trentino-Alto Adige', west: 11 * UNIT, north: 45.45 * UNIT, hasLandRegisters: true,
    western: { code: '022', name: 'Trento', sigla: 'TN' }, eastern: { code: '021', name: 'Bolzano', sigla: 'BZ' },
  },
];

/**
 * Italian and German names of the first comuni; null if a comune has no German name. Difficult names come first, so that even a small region has difficult
 * names.
 */
const FIRST_NAMES: readonly (readonly [string, string | null])[] = [
  ["Castel dell'Inventato", null],
  ['Forlì Finto', null],
  ['Borgo Finto', 'Scheindorf'],
  ["Sant'Illusorio del Nulla", null],
  ['Roccapparente', null],
  ['Però Immaginario', null],
  ["Città d'Invenzione", null],
  ['Colle Fittizio-Superiore', null],
  ['Montemai', null],
  ['Civita Presunta', null],
  ['San Nessuno in Fantàsia', null],
  ['Nonsò', null],
];
const NAME_HEADS: readonly string[] = [
  'Acqua', 'Bagno', 'Campo', 'Castel', 'Cerro', 'Civita', 'Colle', 'Croce', 'Fonte', 'Guardia', 'Macchia', 'Molin', 'Monte', 'Oliveto',
  'Pesco', 'Pietra', 'Poggio', 'Ponte', 'Ripa', 'Rocca', 'San Nessuno', "Sant'Assente", 'Torre', 'Valle', 'Villa',
];
const NAME_TAILS: readonly string[] = [
  'Finto', 'Fittizio', 'Immaginario', 'Inventato', 'Irreale', 'Presunto', 'Ipotetico', 'di Carta', 'di Sogno', "dell'Apparenza", "d'Esempio",
  'del Nulla', 'Mai Visto', 'Senza Luogo', 'Chimerico', 'Verosimile', 'Supposto', 'Simulato', 'Illusorio', 'Fantasioso', 'della Prova',
  'Astratto', 'Posticcio', 'Sintetico', 'di Fantasia', 'Teorico', 'Congetturale', "dell'Ombra", 'Disegnato', 'Generato', 'Casuale',
  'Ripetibile', 'Provvisorio', 'Campione', 'Modello', "dell'Ipotesi", 'Figurato', 'Favoloso', 'Fiabesco', 'Nominale',
];

/** Codes of regions that can be imitated. */
export const REGION_CODES: readonly number[] = PLACES.map(({ code }) => code);

const GERMAN_HEADS: readonly string[] = ['Blend', 'Trug', 'Wahn', 'Traum', 'Märchen', 'Luft', 'Nirgend', 'Geister'];
const GERMAN_TAILS: readonly string[] = ['dorf', 'berg', 'bach', 'tal', 'feld', 'kirchen', 'brücken', 'au'];

function cannotMake(option: string, expected: string, found: number | string): MappaleError {
  return new MappaleError('cannot generate the synthetic region', {
    code: 'SYNTHETIC_REGION', kind: 'usage', detail: `expected ${option} to be ${expected}, found ${found}`, hint: 'List the options and their limits.', fix: 'npx mappale synth --help',
  });
}

/** Grid of a region: the number of parcels in each comune, and the positions of the comuni. Lengths are in units of 1/UNIT degree. */
interface Grid {
  readonly count: number;
  /** Number of parcels of the first comune: a tenth more than in each other comune, plus the remainder of the division. */
  readonly largest: number;
  readonly usual: number;
  /** Number of comuni in a row of the grid. */
  readonly across: number;
  readonly sheetsAcross: number;
  /** Width and height of a comune. */
  readonly width: number;
  readonly height: number;
}

/** @throws MappaleError `SYNTHETIC_REGION` (exit 2) */
function gridOf({ parcels, comuni: wanted }: Pick<RegionOptions, 'parcels' | 'comuni'>): Grid {
  if (!Number.isInteger(parcels) || parcels < 2 || parcels > MAX_PARCELS) throw cannotMake('parcels', `2 to ${MAX_PARCELS}`, parcels);
  const size = Math.max(Math.min(8000, Math.max(400, parcels / 12)), parcels / (MAX_COMUNI - 9));
  if (wanted !== undefined && (!Number.isInteger(wanted) || wanted < 2 || wanted > Math.min(MAX_COMUNI, parcels))) {
    throw cannotMake('comuni', `2 to ${Math.min(MAX_COMUNI, parcels)}`, wanted);
  }
  const count = wanted ?? Math.max(2, Math.round(parcels / size));
  const usual = Math.floor(parcels / (count + 0.1));
  const largest = parcels - usual * (count - 1);
  const sheetSlots = Math.ceil(largest / SHEET_PARCELS);
  const sheetsAcross = Math.ceil(Math.sqrt(sheetSlots));
  const sheetsDown = Math.ceil(sheetSlots / sheetsAcross);
  return {
    count, largest, usual, across: Math.ceil(Math.sqrt(count * 1.2)), sheetsAcross,
    width: sheetsAcross * SHEET_COLUMNS * CELL_X, height: sheetsDown * SHEET_ROWS * CELL_Y,
  };
}

function sheetTotal({ parcelCount }: SyntheticComune): number {
  return Math.ceil(parcelCount / SHEET_PARCELS);
}

/** Columns and rows of the cells of a sheet in the form `lattice`. */
const SHEET_CELLS = Array.from({ length: SHEET_COLUMNS * SHEET_ROWS }, (_, cell): SyntheticCell => (
  [cell % SHEET_COLUMNS, Math.floor(cell / SHEET_COLUMNS)]
));

/** The plan of a comune of the form `place`, and the cells of its sheets. The last sheet also contains the cells of the grid's remaining, unused sheets. */
class ComuneTown {
  readonly plan: TownPlan;
  readonly #west: number;
  readonly #south: number;
  readonly #across: number;
  readonly #down: number;
  readonly #total: number;

  constructor(seed: number, comune: SyntheticComune, place: Place, grid: Grid) {
    const [west, north] = cornerOf(comune, place, grid);
    this.#west = west;
    this.#south = north - grid.height;
    this.#across = grid.sheetsAcross;
    this.#down = Math.round(grid.height / CELL_Y / SHEET_ROWS);
    this.#total = sheetTotal(comune);
    // The town is in the middle, and above the rows of sheets that the last sheet may fill.
    const townRow = this.#down - 1 - Math.floor((this.#down - 1) / 2);
    this.plan = new TownPlan(seed, comune.belfiore, this.#across * SHEET_COLUMNS, this.#down * SHEET_ROWS, townRow);
  }

  /** Returns a position in degrees. @param position in cells from the comune's south-western corner */
  at(position: LonLat): LonLat {
    const [east, north] = this.plan.map(position);
    return [(this.#west + east) / UNIT, (this.#south + north) / UNIT];
  }

  /** Returns the extent of a sheet's cells in the comune, counted from the south-west. `right` and `top` are the column and row after the last cell. */
  #extent(index: number): readonly [left: number, bottom: number, right: number, top: number] {
    const last = index === this.#total - 1 ? this.#across * this.#down - 1 : index;
    const [top, bottom] = [Math.floor(index / this.#across), Math.floor(last / this.#across)];
    const [left, right] = top === bottom ? [index % this.#across, last % this.#across] : [0, this.#across - 1];
    return [left * SHEET_COLUMNS, (this.#down - 1 - bottom) * SHEET_ROWS, (right + 1) * SHEET_COLUMNS, (this.#down - top) * SHEET_ROWS];
  }

  /** Returns the box of a sheet in degrees, before the plan bends the lines between cells. */
  boxOf(index: number): readonly [number, number, number, number] {
    const [left, bottom, right, top] = this.#extent(index);
    return degrees(this.#west + left * CELL_X, this.#south + bottom * CELL_Y, this.#west + right * CELL_X, this.#south + top * CELL_Y);
  }

  /** Converts a position in cells from a sheet's south-western corner to degrees. */
  placeOn(index: number, [x, y]: LonLat): LonLat {
    const [left, bottom] = this.#extent(index);
    return this.at([left + x, bottom + y]);
  }

  /** Returns the town and the street at a cell of a sheet. */
  townOn(index: number, [column, row]: SyntheticCell): CellTown {
    const [left, bottom] = this.#extent(index);
    return this.plan.townAt(left + column, bottom + row);
  }

  /** Returns the cells of a sheet. Columns and rows are counted from the comune's south-western corner. */
  #cells(index: number): SyntheticCell[] {
    const [left, bottom, right, top] = this.#extent(index);
    const slotOf = (column: number, row: number): number =>
      (this.#down - 1 - Math.floor(row / SHEET_ROWS)) * this.#across + Math.floor(column / SHEET_COLUMNS);
    const cells: SyntheticCell[] = [];
    for (let row = bottom; row < top; row += 1) {
      for (let column = left; column < right; column += 1) if (Math.min(slotOf(column, row), this.#total - 1) === index) cells.push([column, row]);
    }
    return cells;
  }

  localCells(index: number): SyntheticCell[] {
    const [left, bottom] = this.#extent(index);
    return this.#cells(index).map(([column, row]) => [column - left, row - bottom]);
  }

  sheet(index: number): TownSheet {
    return new TownSheet(this.plan, [this.#west, this.#south], this.#cells(index));
  }

  /** Returns the parcels of a sheet. The columns and rows of cells are counted from the sheet's south-western corner. */
  drawn(sheet: SyntheticSheet, random: Random): Shape[] {
    const [left, bottom] = this.#extent(sheet.index);
    return this.sheet(sheet.index).parcels(sheet.parcelCount, random).map(({ kind, cells, polygons }) => (
      { kind, polygons, cells: cells.map(([column, row]): SyntheticCell => [column - left, row - bottom]) }
    ));
  }
}

type SheetData = Omit<SyntheticSheet, 'outline' | 'cells' | 'place' | 'townAt'>;

/** A sheet with the positions of its cells. Two objects for the same sheet have equal content. */
class Sheet implements SyntheticSheet {
  readonly comune: SyntheticComune;
  readonly index: number;
  readonly reference: string;
  readonly section: string | null;
  readonly sheet: string;
  readonly attachment: string;
  readonly development: string;
  readonly box: SyntheticSheet['box'];
  readonly parcelCount: number;
  readonly comuneCatastale: SyntheticComuneCatastale | null;
  readonly #town: ComuneTown | null;

  constructor(town: ComuneTown | null, data: SheetData) {
    this.#town = town;
    this.comune = data.comune;
    this.index = data.index;
    this.reference = data.reference;
    this.section = data.section;
    this.sheet = data.sheet;
    this.attachment = data.attachment;
    this.development = data.development;
    this.box = data.box;
    this.parcelCount = data.parcelCount;
    this.comuneCatastale = data.comuneCatastale;
  }

  outline(): readonly LonLat[] {
    return this.#town === null ? boxRing(this.box) : this.#town.sheet(this.index).outline();
  }

  cells(): readonly SyntheticCell[] {
    return this.#town === null ? SHEET_CELLS : this.#town.localCells(this.index);
  }

  place(position: LonLat): LonLat {
    return this.#town === null ? [this.box[0] + position[0] * CELL_LON, this.box[1] + position[1] * CELL_LAT] : this.#town.placeOn(this.index, position);
  }

  townAt(cell: SyntheticCell): CellTown | null {
    return this.#town?.townOn(this.index, cell) ?? null;
  }
}

function comuniOf(place: Place, { count, largest, usual, across, width, height }: Grid): SyntheticComune[] {
  const perProvince = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    const column = index % across;
    const row = Math.floor(index / across);
    const province = column < Math.floor(across / 2) ? place.western : place.eastern;
    const number = perProvince.get(province.code) ?? 0;
    perProvince.set(province.code, number + 1);
    const [italianName, secondName] = nameOf(index);
    const otherName = secondName ?? (place.hasLandRegisters ? germanName(index) : null);
    const west = place.west + column * width;
    const north = place.north - row * height;
    return {
      index,
      belfiore: `Z${String(index + 1).padStart(3, '0')}`,
      // The last three digits are above 400, because the codes of the real comuni in the provinces end in numbers below 300.
      istatCode: `${province.code}${String(number < 99 ? 901 + number : 401 + number - 99).padStart(3, '0')}`,
      name: otherName === null ? italianName : `${italianName}/${otherName}`,
      italianName,
      otherName,
      province,
      box: degrees(west, north - height, west + width, north),
      coastal: row === 0,
      postalCodes: index === 0 ? ['86001', '86002', '86003'] : [`86${String(10 + (index % 90))}0`],
      parcelCount: index === 0 ? largest : usual,
    };
  });
}

/** Returns the western and northern edges of a comune in coordinate units. */
function cornerOf(comune: SyntheticComune, place: Place, grid: Grid): readonly [west: number, north: number] {
  return [place.west + (comune.index % grid.across) * grid.width, place.north - Math.floor(comune.index / grid.across) * grid.height];
}

/** Yields the sheets of a comune. @param registers comuni catastali of the comune @param town null in the form `lattice` */
function* sheetsOf(
  comune: SyntheticComune, registers: readonly SyntheticComuneCatastale[], place: Place, grid: Grid, town: ComuneTown | null,
): Generator<SyntheticSheet> {
  const total = sheetTotal(comune);
  const [west, north] = cornerOf(comune, place, grid);
  // One comune has two sezioni censuarie with separate sheet numbers.
  const sections = comune.index === 1 ? ['A', 'B'] : [null];
  const perSection = Math.ceil(total / sections.length);
  let number = 0;
  for (let index = 0; index < total; index += 1) {
    const section = sections[Math.floor(index / perSection)] ?? null;
    if (index % perSection === 0) number = 0;
    const inSection = index % perSection;
    // A sheet that is an allegato (attachment) or a sviluppo (development) has the number of the preceding sheet.
    const attachment = inSection % 7 === 2 ? 'A' : inSection % 7 === 3 ? 'B' : '0';
    const development = inSection % 11 === 5 ? '1' : '0';
    if (attachment === '0' && development === '0') number += 1;
    const sheet = String(number).padStart(4, '0');
    const left = west + (index % grid.sheetsAcross) * SHEET_COLUMNS * CELL_X;
    const top = north - Math.floor(index / grid.sheetsAcross) * SHEET_ROWS * CELL_Y;
    const box = town === null ? degrees(left, top - SHEET_ROWS * CELL_Y, left + SHEET_COLUMNS * CELL_X, top) : town.boxOf(index);
    yield new Sheet(town, {
      comune,
      index,
      reference: `${comune.belfiore}${section ?? '_'}${sheet}${attachment}${development}`,
      section,
      sheet,
      attachment,
      development,
      box,
      parcelCount: Math.min(SHEET_PARCELS, comune.parcelCount - index * SHEET_PARCELS),
      comuneCatastale: registers[Math.floor((index * registers.length) / total)] ?? null,
    });
  }
}

/**
 * Generates a region, which depends only on the options.
 * @throws MappaleError `SYNTHETIC_REGION` (exit 2) if an option is outside the allowed range, if there are more comuni than parcels, or if a region with land
 * registers has the form `place`
 */
export function makeRegion({ parcels, seed, comuni: wanted, region: code = 14, dense = true, form = 'lattice' }: RegionOptions): SyntheticRegion {
  const place = PLACES.find((each) => each.code === code);
  if (place === undefined) throw cannotMake('region', PLACES.map((each) => each.code).join(' or '), code);
  if (!REGION_FORMS.includes(form)) throw cannotMake('form', REGION_FORMS.join(' or '), form);
  if (form === 'place' && place.hasLandRegisters) throw cannotMake('form', `lattice for region ${code}`, form);
  const grid = gridOf({ parcels, comuni: wanted });
  const { count, largest, usual, across, width, height } = grid;
  const comuni = comuniOf(place, grid);
  const numbers = new Map<string, number>();
  const comuniCatastali = place.hasLandRegisters ? comuni.flatMap((comune) => landRegister(comune, numbers)) : [];
  const inComune = new Map(comuni.map((comune) => [comune, comuniCatastali.filter((each) => each.comune === comune)]));

  const firstIndex = (comune: SyntheticComune): number => (comune.index === 0 ? 0 : largest + usual * (comune.index - 1));
  const sheets = (comune: SyntheticComune): Generator<SyntheticSheet> => sheetsOf(comune, valueOf(inComune, comune), place, grid, towns[comune.index] ?? null);
  const towns = form === 'place' ? comuni.map((comune) => new ComuneTown(seed, comune, place, grid)) : [];
  const parcelsOf = (sheet: SyntheticSheet): Iterable<SyntheticParcel> => {
    const random = randomOf(seed, 'sheet', sheet.comune.belfiore, sheet.index);
    const shapes = towns[sheet.comune.index]?.drawn(sheet, random) ?? shapesOf(sheet, random);
    return sheetParcels(sheet, firstIndex(sheet.comune) + sheet.index * SHEET_PARCELS, shapes);
  };

  const [one, other, ...others] = comuni;
  if (one === undefined || other === undefined) throw new RangeError(`expected at least two comuni, found ${comuni.length}`);
  const down = Math.ceil(count / across);
  const [west, south] = [place.west, place.north - down * height];
  const box = degrees(west, south, place.west + Math.min(across, count) * width, place.north);
  const bent = (position: LonLat): LonLat | null => {
    const [column, row] = [Math.floor((position[0] * CELL_X) / width), down - 1 - Math.floor((position[1] * CELL_Y) / height)];
    const town = column < 0 || column >= across || row < 0 || row >= down ? undefined : towns[row * across + column];
    return town?.at([position[0] - (column * width) / CELL_X, position[1] - ((down - 1 - row) * height) / CELL_Y]) ?? null;
  };
  return {
    seed,
    form,
    code: place.code,
    name: place.name,
    provinces: [place.eastern, place.western],
    comuni: [one, other, ...others],
    comuniCatastali,
    parcelCount: parcels,
    dense,
    box,
    townOf: ({ index }) => towns[index]?.plan ?? null,
    place: (position) => bent(position) ?? [box[0] + position[0] * CELL_LON, box[1] + position[1] * CELL_LAT],
    sheets,
    *parcels(comune?: SyntheticComune): Generator<SyntheticParcel> {
      for (const each of comune === undefined ? comuni : [comune]) for (const sheet of sheets(each)) yield* parcelsOf(sheet);
    },
    parcelsOf,
    random: (...key) => randomOf(seed, ...key),
  };
}

/**
 * Returns the comuni catastali of a comune: three for the first comune, two for every second comune, and one for all others. A comune has at most as many
 * comuni catastali as sheets.
 * @param numbers number of comuni catastali so far, by province
 */
function landRegister(comune: SyntheticComune, numbers: Map<string, number>): SyntheticComuneCatastale[] {
  const { index, province: { sigla }, italianName, otherName } = comune;
  const count = Math.min(Math.ceil(comune.parcelCount / SHEET_PARCELS), index === 0 ? 3 : index % 2 + 1);
  const before = numbers.get(sigla) ?? 0;
  numbers.set(sigla, before + count);
  return Array.from({ length: count }, (_, nth) => {
    const code = String(before + nth + 1).padStart(3, '0');
    const numbered = (name: string): string => (nth === 0 ? name : `${name} ${'I'.repeat(nth + 1)}`).toUpperCase();
    return {
      comune, code, prefix: `IT.${sigla}.${code}`, name: numbered(italianName),
      // In Trento, only the comuni catastali of every fourth comune have a German name. In Bolzano, all have a German name.
      otherName: otherName === null || (sigla === 'TN' && index % 4 !== 0) ? null : numbered(otherName),
    };
  });
}

/** Returns the first land parcels of a comune, up to a maximum. */
export function firstLand(region: SyntheticRegion, comune: SyntheticComune, most: number): SyntheticParcel[] {
  const land: SyntheticParcel[] = [];
  for (const parcel of region.parcels(comune)) {
    if (parcel.kind === 'land') land.push(parcel);
    if (land.length === most) break;
  }
  return land;
}

function nameOf(index: number): readonly [string, string | null] {
  const first = FIRST_NAMES[index];
  if (first !== undefined) return first;
  const rest = index - FIRST_NAMES.length;
  return [`${cyclicItem(NAME_HEADS, rest)} ${cyclicItem(NAME_TAILS, Math.floor(rest / NAME_HEADS.length))}`, null];
}

function germanName(index: number): string {
  const round = Math.floor(index / (GERMAN_HEADS.length * GERMAN_TAILS.length));
  return `${cyclicItem(GERMAN_HEADS, index)}${cyclicItem(GERMAN_TAILS, Math.floor(index / GERMAN_HEADS.length))}${round === 0 ? '' : ` ${round + 1}`}`;
}

function degrees(west: number, south: number, east: number, north: number): readonly [number, number, number, number] {
  return [west / UNIT, south / UNIT, east / UNIT, north / UNIT];
}

// --- one sheet ---------------------------------------------------------------------------------------------------

/** The cells and the kind of one parcel. */
interface Group {
  readonly kind: ParcelKind;
  readonly cells: number[];
}

const CELLS = SHEET_COLUMNS * SHEET_ROWS;

function cellAt(column: number, row: number): number {
  return row * SHEET_COLUMNS + column;
}

/** Groups the cells of a sheet, until the total number of groups and single cells equals the number of parcels. */
class Grouping {
  readonly #owner = new Int16Array(CELLS).fill(-1);
  readonly #merged: Group[] = [];
  /** Number of cells that must still be merged with other cells. */
  #excess = CELLS - SHEET_PARCELS;

  get isDone(): boolean {
    return this.#excess === 0;
  }

  isFree(cell: number): boolean {
    return this.#owner[cell] === -1;
  }

  /** Groups cells into a parcel, if all cells are free and the sheet keeps at least 100 parcels. @returns whether the cells were grouped */
  take(kind: ParcelKind, cells: number[]): boolean {
    if (cells.length - 1 > this.#excess || !cells.every((cell) => this.isFree(cell))) return false;
    for (const cell of cells) this.#owner[cell] = this.#merged.length;
    this.#merged.push({ kind, cells });
    this.#excess -= cells.length - 1;
    return true;
  }

  /** Returns the parcels in the order of their south-western cells. */
  groups(): Group[] {
    const emitted = new Set<number>();
    return Array.from(this.#owner).flatMap((group, cell): Group[] => {
      if (group === -1) return [{ kind: 'land', cells: [cell] }];
      if (emitted.has(group)) return [];
      emitted.add(group);
      return [itemAt(this.#merged, group)];
    });
  }
}

/** Groups the 120 cells of a sheet into exactly 100 parcels. The parcels are sorted by their south-western cells. */
function layout(sheetIndex: number, random: Random): Group[] {
  const grouping = new Grouping();
  takeLines(grouping, sheetIndex, random);
  if (sheetIndex % 2 === 0) takeRing(grouping, random);
  // Creates up to two parcels that consist of two separate polygons, with at least one column between the polygons.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const column = random.below(SHEET_COLUMNS - 3);
    const row = random.below(SHEET_ROWS);
    grouping.take('land', [cellAt(column, row), cellAt(column + 2 + random.below(2), row)]);
  }
  // Groups cells into L-shapes, and then into pairs, until exactly 100 parcels are left.
  for (let attempt = 0; attempt < 40 && !grouping.isDone; attempt += 1) {
    const column = random.below(SHEET_COLUMNS - 1);
    const row = random.below(SHEET_ROWS - 1);
    const square = [cellAt(column, row), cellAt(column + 1, row), cellAt(column, row + 1), cellAt(column + 1, row + 1)];
    square.splice(random.below(4), 1);
    grouping.take('land', square);
  }
  for (let cell = 0; cell < CELLS && !grouping.isDone; cell += 1) {
    if (cell % SHEET_COLUMNS < SHEET_COLUMNS - 1) grouping.take('land', [cell, cell + 1]);
  }
  return grouping.groups();
}

/** Groups a column of cells into a water parcel, and a row of cells into a road parcel, in some sheets. */
function takeLines(grouping: Grouping, sheetIndex: number, random: Random): void {
  if (sheetIndex % 4 === 1) {
    const column = 3 + random.below(SHEET_COLUMNS - 6);
    grouping.take('water', Array.from({ length: SHEET_ROWS }, (_, row) => cellAt(column, row)));
  }
  if (sheetIndex % 3 === 0 || sheetIndex % 12 === 1) {
    // If water crosses the road, the road parcel has two polygons.
    const row = 2 + random.below(SHEET_ROWS - 4);
    grouping.take('road', Array.from({ length: SHEET_COLUMNS }, (_, column) => cellAt(column, row)).filter((cell) => grouping.isFree(cell)));
  }
}

/** Groups eight cells of a 3 × 3 block into a parcel around the middle cell, which stays a separate parcel. */
function takeRing(grouping: Grouping, random: Random): void {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const column = random.below(SHEET_COLUMNS - 2);
    const row = random.below(SHEET_ROWS - 2);
    const block: number[] = [];
    for (let r = 0; r < 3; r += 1) for (let c = 0; c < 3; c += 1) if (r !== 1 || c !== 1) block.push(cellAt(column + c, row + r));
    if (grouping.isFree(cellAt(column + 1, row + 1)) && grouping.take('land', block)) break;
  }
}

const NODES_ACROSS = SHEET_COLUMNS + 1;

/**
 * Factor for the bend of the rows of cells in a land register. The bend is at most about an eightieth of a cell. Because of the bend, no corner is exactly at
 * half the height of a parcel, where the line through the representative point runs. Otherwise the rounding of corners in files in metres would decide the
 * position of the point.
 */
const BOW = 20;

/** Corners of a sheet's cells and points on the cells' edges, in degrees. */
interface Lattice {
  readonly nodes: readonly LonLat[];
  /** Point on the edge from node n to the next node in the east; null for a straight edge. */
  readonly alongX: readonly (LonLat | null)[];
  /** Point on the edge from node n to the next node in the north; null for a straight edge. */
  readonly alongY: readonly (LonLat | null)[];
}

function lattice(west: number, south: number, bow: number, random: Random): Lattice {
  const corners: (readonly [number, number])[] = [];
  // Moves corners by up to 15 % of a cell, and edge points by up to 10 %, so that edges cannot intersect.
  const jitter = (range: number): number => Math.round((random.next() * 2 - 1) * range);
  for (let row = 0; row <= SHEET_ROWS; row += 1) {
    for (let column = 0; column <= SHEET_COLUMNS; column += 1) {
      const inside = row > 0 && row < SHEET_ROWS && column > 0 && column < SHEET_COLUMNS;
      const dx = jitter(CELL_X * 0.15);
      const dy = jitter(CELL_Y * 0.15);
      corners.push([west + column * CELL_X + (inside ? dx : 0), south + row * CELL_Y + row * (SHEET_ROWS - row) * bow + (inside ? dy : 0)]);
    }
  }
  /** Returns a point near the middle between two corners, but not on the straight line. */
  const between = ([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], offX: number, offY: number): LonLat =>
    [Math.round((x1 + x2) / 2 + offX) / UNIT, Math.round((y1 + y2) / 2 + offY) / UNIT];
  const alongX: (LonLat | null)[] = [];
  const alongY: (LonLat | null)[] = [];
  for (const [node, [x, y]] of corners.entries()) {
    const column = node % NODES_ACROSS;
    const row = Math.floor(node / NODES_ACROSS);
    const bentX = random.next() < 0.4;
    const bentY = random.next() < 0.4;
    const offX = jitter(CELL_X * 0.1);
    const offY = jitter(CELL_Y * 0.1);
    alongX.push(bentX && column < SHEET_COLUMNS && row > 0 && row < SHEET_ROWS
      ? between([x, y], itemAt(corners, node + 1), 0, offY)
      : null);
    alongY.push(bentY && row < SHEET_ROWS && column > 0 && column < SHEET_COLUMNS
      ? between([x, y], itemAt(corners, node + NODES_ACROSS), offX, bow)
      : null);
  }
  return { nodes: corners.map(([x, y]) => [x / UNIT, y / UNIT]), alongX, alongY };
}

/** Returns the polygons of a group of cells. Outer rings are counter-clockwise, holes are clockwise. */
function outline(cells: readonly number[], points: Lattice): SyntheticParcel['polygons'] {
  /** Edges of the group's border, as first node → second node. A node starts only one edge, because no two cells of a group touch only at a corner. */
  const edges = new Map<number, number>();
  const member = new Set(cells);
  for (const cell of cells) {
    const column = cell % SHEET_COLUMNS;
    const a = Math.floor(cell / SHEET_COLUMNS) * NODES_ACROSS + column;
    const b = a + 1;
    const c = b + NODES_ACROSS;
    const d = a + NODES_ACROSS;
    if (!member.has(cell - SHEET_COLUMNS)) edges.set(a, b);
    if (column === SHEET_COLUMNS - 1 || !member.has(cell + 1)) edges.set(b, c);
    if (!member.has(cell + SHEET_COLUMNS)) edges.set(c, d);
    if (column === 0 || !member.has(cell - 1)) edges.set(d, a);
  }
  const outers: (readonly LonLat[])[] = [];
  const holes: LonLat[][] = [];
  // Computes areas relative to a corner of the sheet, so that large coordinates cause no loss of digits.
  const [x0, y0] = itemAt(points.nodes, 0);
  for (const [start] of edges) {
    const ring: LonLat[] = [];
    let turn = 0;
    let node = start;
    do {
      const to = valueOf(edges, node);
      edges.delete(node);
      const p = itemAt(points.nodes, node);
      const q = itemAt(points.nodes, to);
      const between = itemAt(Math.abs(to - node) === 1 ? points.alongX : points.alongY, Math.min(node, to));
      ring.push(p, ...(between === null ? [] : [between]));
      turn += (p[0] - x0) * (q[1] - y0) - (q[0] - x0) * (p[1] - y0);
      node = to;
    } while (node !== start);
    ring.push(itemAt(points.nodes, start));
    if (turn > 0) outers.push(ring);
    else holes.push(ring);
  }
  // All holes belong to the first polygon, because only parcels with one polygon have holes.
  const [first, ...others] = outers;
  if (first === undefined) throw new RangeError(`expected cells with an outline, found ${cells.length} cells`);
  return [[first, ...holes], ...others.map((ring): SyntheticPolygon => [ring])];
}

/** The kind, cells and polygons of a parcel. */
interface Shape {
  readonly kind: ParcelKind;
  readonly cells: readonly SyntheticCell[];
  readonly polygons: SyntheticParcel['polygons'];
}

/** Returns the first parcels of a sheet in the form `lattice`. */
function shapesOf(sheet: SyntheticSheet, random: Random): Shape[] {
  const groups = layout(sheet.index, random);
  const points = lattice(Math.round(sheet.box[0] * UNIT), Math.round(sheet.box[1] * UNIT), sheet.comuneCatastale === null ? 0 : BOW, random);
  return groups.slice(0, sheet.parcelCount).map(({ kind, cells }) => (
    { kind, cells: cells.map((cell): SyntheticCell => [cell % SHEET_COLUMNS, Math.floor(cell / SHEET_COLUMNS)]), polygons: outline(cells, points) }
  ));
}

function* sheetParcels(sheet: SyntheticSheet, base: number, shapes: readonly Shape[]): Generator<SyntheticParcel> {
  let number = 0;
  for (let i = 0; i < sheet.parcelCount; i += 1) {
    const { kind, cells: [first, ...others], polygons } = itemAt(shapes, i);
    if (first === undefined) throw new RangeError(`expected a parcel of cells, found none in ${sheet.reference}`);
    let label: string;
    if (kind === 'road') {
      label = 'STRADA001';
    } else if (kind === 'water') {
      label = 'ACQUA001';
    } else {
      // Labels are numbers, sometimes with a letter (`12A`), or a single letter.
      const letter = number > 0 && i % 17 === 9;
      if (!letter) number += 1;
      label = letter ? `${number}A` : i === 62 ? 'A' : String(number);
    }
    const register = sheet.comuneCatastale;
    if (register !== null) label = landRegisterLabel(sheet, i);
    yield {
      index: base + i,
      comune: sheet.comune,
      sheet,
      label,
      reference: `${register?.prefix ?? sheet.reference}.${label}`,
      // In a land register, roads and waters are drawn as land.
      kind: register === null ? kind : 'land',
      polygons,
      cells: [first, ...others],
    };
  }
}

/**
 * Returns a label of a land register. Every seventh parcel is a building parcel. Building parcels have a separate numbering, so `12` and `.12` are two parcels.
 * Some labels have a subdivision, such as `12/3`.
 */
function landRegisterLabel({ index }: SyntheticSheet, i: number): string {
  const building = i % 7 === 3;
  const buildings = Math.floor((i + 3) / 7);
  const number = index * SHEET_PARCELS + 1 + (building ? buildings : i - buildings);
  return building ? `.${number}` : i % 5 === 4 ? `${number}/${1 + (i % 3)}` : String(number);
}
