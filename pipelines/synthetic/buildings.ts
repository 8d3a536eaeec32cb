/**
 * Generates the buildings of the synthetic region, and computes the true values of each parcel. Each comune's buildings are in the file of at most one source.
 * The buildings of a sheet depend only on the region and the sheet, so a sheet can be generated alone. As in real files, most buildings are small and have four
 * corners. Some are L-shaped, U-shaped or stepped, or have a court. In towns, a parcel has up to six buildings. Elsewhere most parcels have no building. Some
 * buildings cross several parcels or roads, overlap, or occur twice. Italy has 20 million buildings for 87 million parcels, and a dense region has about five
 * times as many.
 */
import { SHEET_COLUMNS, SHEET_ROWS } from './cell-size.ts';
import { commonPart, polygonsAreaM2, unionOf, type MultiPolygon, type Polygon, type Ring } from './plane-geometry.ts';
import { roofsOf } from './roofs.ts';
import type { CellTown, LonLat, Random, SyntheticComune, SyntheticParcel, SyntheticRegion, SyntheticSheet } from './region.ts';

export interface SyntheticBuilding {
  /** Number of the building, unique in the comune. The numbers start at 1 and have gaps between sheets. */
  readonly number: number;
  /** Rings of the building in degrees: the counter-clockwise outer ring, followed by the ring of a court. */
  readonly polygon: readonly (readonly LonLat[])[];
  /** Code of the building's use; null if unknown. */
  readonly use: string | null;
  /** Code of the building's state: 01 under construction, 02 ruin, 03 in use, 91 not known. */
  readonly state: '01' | '02' | '03' | '91';
  readonly underground: boolean;
  readonly name: string | null;
}

/** Box in units of the sheet's cells: west, south, east, north. */
type CellBox = readonly [number, number, number, number];

interface Drawn extends SyntheticBuilding {
  readonly box: CellBox;
}

/** True building values of a parcel. Areas are in m² of EPSG:3035, with 2 decimals except for roofs. */
interface ParcelBuildings {
  /** Number of buildings whose largest part is on the parcel. */
  readonly count: number;
  readonly footprintM2: number;
  readonly residentialCount: number;
  readonly residentialM2: number;
  /** Share of the parcel that buildings cover, 0–1, with 6 decimals. Overlapping buildings count once. */
  readonly builtShare: number;
  /** Number of buildings in `count` with at least 10 m². */
  readonly roofCount: number;
  readonly roofM2: number;
}

/**
 * Returns the source of a comune's buildings. Returns null if the comune is in no file. No file contains the last comune of a region with more than two comuni,
 * unless the comune is in Trento.
 *
 * - `topographic`: the national topographic database, in the province of Isernia.
 * - `register`: the land register, in Trento.
 * - `aggregates`: the structural aggregates, elsewhere.
 */
export function buildingSource(region: SyntheticRegion, comune: SyntheticComune): 'topographic' | 'register' | 'aggregates' | null {
  if (comune.province.sigla === 'TN') return 'register';
  if (region.comuni.length > 2 && comune.index === region.comuni.length - 1) return null;
  return comune.province.sigla === 'IS' ? 'topographic' : 'aggregates';
}

/** Returns the buildings of a comune, sorted by number. */
export function* buildingsOf(region: SyntheticRegion, comune: SyntheticComune): Generator<SyntheticBuilding> {
  for (const sheet of region.sheets(comune)) yield* drawnOn(region, sheet);
}

/** Box in the middle of a cell, which no border of a parcel crosses. */
const INNER: CellBox = [0.27, 0.27, 0.73, 0.73];
/** Maximum distance in cells of a parcel's border from the lines between cells. */
const STRAY = 0.26;
/** Percentage of the cells chosen for buildings that stay empty in a region that is as dense as Italy. A dense region has no such cells. */
const EMPTY_PERCENT = 81;
/** Difference between the first building numbers of two successive sheets. */
const PER_SHEET = 1000;

const USES = ['01', '0101', '0101', '0101', '0102', '02', '0201', '0301', '030102', '030301', '05', '0701', '0801', '11', '93', '95', null] as const;
const NAMES = ['CHIESA DI SAN NESSUNO', 'PALAZZO IMMAGINARIO', "VILLA DELL'IPOTESI", 'SCUOLA "G. FINTO"'] as const;

function moved([west, south, east, north]: CellBox, x: number, y: number): CellBox {
  return [west + x, south + y, east + x, north + y];
}

/** Returns boxes for at most six buildings in a cell. The boxes are in three columns and two rows, and do not overlap. */
function places(count: number): CellBox[] {
  const [west, south, east, north] = INNER;
  const [width, height] = [(east - west) / 3, (north - south) / 2];
  return Array.from({ length: count }, (_, index) => {
    const [left, bottom] = [west + (index % 3) * width, south + Math.floor(index / 3) * height];
    return [left, bottom, left + width * 0.9, bottom + height * 0.9] as const;
  });
}

/** Outlines of buildings in the unit square, counter-clockwise and not closed. */
const OUTLINES: readonly (readonly (readonly [number, number])[])[] = [
  [[0, 0], [1, 0], [1, 1], [0, 1]],
  [[0, 0], [1, 0], [1, 1], [0, 1]],
  [[0, 0], [1, 0], [1, 1], [0, 1]],
  // This outline is not parallel to the axes.
  [[0.2, 0], [1, 0.3], [0.8, 1], [0, 0.7]],
  [[0, 0], [1, 0], [1, 0.4], [0.45, 0.4], [0.45, 1], [0, 1]],
  [[0, 0], [1, 0], [1, 1], [0.7, 1], [0.7, 0.35], [0.3, 0.35], [0.3, 1], [0, 1]],
  [[0.3, 0], [0.7, 0], [0.7, 0.5], [1, 0.5], [1, 1], [0, 1], [0, 0.5], [0.3, 0.5]],
  [[0, 0], [1, 0], [1, 0.2], [0.8, 0.2], [0.8, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6], [0.4, 0.8], [0.2, 0.8], [0.2, 1], [0, 1]],
  // This outline has a wall with bays.
  [[0, 0], [1, 0], ...Array.from({ length: 8 }, (_, i): readonly [number, number] => [1 - i / 8, i % 2 === 0 ? 1 : 0.85]), [0, 0.85]],
];

function ringIn([west, south, east, north]: CellBox, outline: (typeof OUTLINES)[number]): Ring {
  const corners = outline.map(([x, y]): readonly [number, number] => [west + x * (east - west), south + y * (north - south)]);
  return [...corners, ...corners.slice(0, 1)];
}

function shapeIn(box: CellBox, random: Random): Polygon {
  return [ringIn(box, random.pick(OUTLINES))];
}

/** Returns the same ring, starting at the second corner. */
function turned<P>(ring: readonly P[]): P[] {
  return [...ring.slice(1), ...ring.slice(1, 2)];
}

type Shape = readonly [box: CellBox, polygon: Polygon, twin: boolean];

/**
 * Generates the buildings of a cell, in units of the sheet's cells. At most two buildings of a cell overlap.
 * @param empty percentage of the cells chosen for buildings that stay empty
 */
function* shapesOf(column: number, row: number, { town, empty }: { readonly town: boolean; readonly empty: number }, random: Random): Generator<Shape> {
  const draw = random.below(100);
  const at = (box: CellBox): CellBox => moved(box, column, row);
  const whole = (box: CellBox): Shape => [at(box), shapeIn(at(box), random), false];
  if (town ? draw < 20 : draw < 70) return;
  if (empty > 0 && random.below(100) < empty) return;
  if (draw < 78) {
    for (const place of places(town ? 2 + random.below(5) : 1 + random.below(2))) yield whole(place);
  } else if (draw < 86) {
    // Yields a house, sometimes with a hut of less than 10 m².
    yield whole([0.27, 0.27, 0.45 + random.below(20) / 100, 0.45 + random.below(20) / 100]);
    if (random.below(3) === 0) yield whole([0.7, 0.7, 0.74, 0.75]);
  } else if (draw < 89) {
    // Yields a building with a court.
    const box = at(INNER);
    const [west, south, east, north] = box;
    const [x, y] = [(east - west) / 3, (north - south) / 3];
    const court = ringIn([west + x, south + y, east - x, north - y], OUTLINES[0] ?? []);
    yield [box, [ringIn(box, OUTLINES[0] ?? []), [...court].reverse()], false];
  } else if (draw < 92) {
    // Yields two buildings that overlap.
    yield whole([0.27, 0.27, 0.6, 0.6]);
    yield whole([0.45, 0.45, 0.73, 0.73]);
  } else if (draw < 94) {
    // Yields the same building twice.
    const box = at([0.3, 0.3, 0.6, 0.55]);
    const polygon = shapeIn(box, random);
    yield [box, polygon, false];
    yield [box, polygon.map(turned), true];
  } else if (draw < 98) {
    // Yields a building that crosses the cell's eastern border, or the eastern and northern borders. In the last column or row, the building is inside the
    // cell.
    yield whole(column < SHEET_COLUMNS - 1 && row < SHEET_ROWS - 1 ? (draw === 97 ? [0.75, 0.75, 1.2, 1.25] : [0.76, 0.3, 1.24, 0.6]) : [0.3, 0.3, 0.7, 0.6]);
  } else if (column < SHEET_COLUMNS - 1 && row < SHEET_ROWS - 1) {
    // Yields a hall of about 2,000 m² across four cells.
    yield whole([0.4, 0.5, 1.6, 1.45]);
  }
}

/** Percentage of the town's cells without a building in the form `place`, and the percentage elsewhere. */
const EMPTY_IN_TOWN = 9;
const EMPTY_OUTSIDE = 90;

/**
 * Generates the buildings of a cell of the form `place`, in units of the sheet's cells. No building crosses the border of a cell, where a street may be.
 * Houses of the town are near the street.
 */
function* shapesIn(column: number, row: number, { isUrban, isSquare, side }: CellTown, random: Random): Generator<Shape> {
  if (isSquare || random.below(100) < (isUrban ? EMPTY_IN_TOWN : EMPTY_OUTSIDE)) return;
  const at = (box: CellBox): CellBox => moved(box, column, row);
  const draw = random.below(20);
  // Cells outside the town are larger, so houses cover a smaller part of the cell.
  const [short, long] = isUrban ? [0.3 + random.below(14) / 100, 0.38 + random.below(8) / 100] : [0.16 + random.below(8) / 100, 0.2 + random.below(16) / 100];
  const house: CellBox = side === 'west' ? [0.27, 0.27, 0.27 + short, 0.27 + long]
    : side === 'east' ? [0.73 - short, 0.27, 0.73, 0.27 + long]
      : side === 'north' ? [0.27, 0.73 - short, 0.27 + long, 0.73]
        : [0.27, 0.27, 0.27 + long, 0.27 + short];
  const plain = (box: CellBox): Shape => [at(box), [ringIn(at(box), OUTLINES[0] ?? [])], false];
  if (draw === 0) {
    // Yields the same building twice.
    yield plain(house);
    const [box, polygon] = plain(house);
    yield [box, polygon.map(turned), true];
  } else if (draw === 1) {
    // Yields two buildings that overlap.
    const [west, south] = house;
    yield plain(house);
    yield plain([west + short / 2, south + long / 2, Math.min(0.73, west + short / 2 + long), Math.min(0.73, south + long / 2 + short)]);
  } else if (isUrban && draw < 5) {
    yield [at(INNER), shapeIn(at(INNER), random), false];
  } else {
    yield plain(house);
  }
}

function* drawnOn(region: SyntheticRegion, sheet: SyntheticSheet): Generator<Drawn> {
  const random = region.random('building', sheet.reference);
  const town = sheet.index % 3 === 0;
  const degrees = (position: readonly [number, number]): LonLat => sheet.place(position);
  let number = sheet.index * PER_SHEET;
  let before: SyntheticBuilding | null = null;
  for (const [column, row] of sheet.cells()) {
    const place = sheet.townAt([column, row]);
    const shapes = place === null
      ? shapesOf(column, row, { town, empty: region.dense ? 0 : EMPTY_PERCENT }, random)
      : shapesIn(column, row, place, random);
    for (const [box, polygon, twin] of shapes) {
      number += 1;
      const state = random.below(20);
      const building: SyntheticBuilding = {
        number,
        polygon: polygon.map((ring) => ring.map(degrees)),
        use: random.pick(USES),
        state: state === 0 ? '01' : state === 1 ? '02' : state < 7 ? '91' : '03',
        underground: random.below(40) === 0,
        name: random.below(30) === 0 ? random.pick(NAMES) : null,
      };
      // Gives two identical buildings the same attributes, so that the result is the same whichever of the two is counted.
      const said: SyntheticBuilding = twin && before !== null ? { ...before, number, polygon: building.polygon } : building;
      before = said;
      yield { ...said, box };
    }
  }
}

/** The part of a building that is on a parcel. */
interface Share {
  readonly building: Drawn;
  readonly areaM2: number;
  readonly polygons: MultiPolygon;
}

const cents = (m2: number): number => Math.round(m2 * 100);

/** Number of sheets in the cache. For queries in the order of the parcels, one sheet would be sufficient. */
const KEPT = 8;

/** Computes the true building values of each parcel, sheet by sheet. Intersects polygons in degrees, and measures areas in EPSG:3035. */
export class BuildingTruth {
  readonly #region: SyntheticRegion;
  readonly #sheets = new Map<string, ReadonlyMap<number, ParcelBuildings>>();

  constructor(region: SyntheticRegion) {
    this.#region = region;
  }

  /** Returns the building values of a parcel; null if no building covers at least 1 m² of the parcel, or half of a parcel of less than 2 m². */
  of(parcel: SyntheticParcel): ParcelBuildings | null {
    const { sheet } = parcel;
    const key = `${sheet.comune.belfiore} ${sheet.index}`;
    const known = this.#sheets.get(key) ?? this.#sheet(sheet);
    this.#sheets.delete(key);
    this.#sheets.set(key, known);
    for (const [oldest] of this.#sheets) {
      if (this.#sheets.size <= KEPT) break;
      this.#sheets.delete(oldest);
    }
    return known.get(parcel.index) ?? null;
  }

  #sheet(sheet: SyntheticSheet): ReadonlyMap<number, ParcelBuildings> {
    const source = buildingSource(this.#region, sheet.comune);
    if (source === null) return new Map();
    const land = [...this.#region.parcelsOf(sheet)].filter(({ kind }) => kind === 'land');
    const areas = new Map(land.map((parcel) => [parcel, polygonsAreaM2(parcel.polygons)] as const));
    const shares = new Map<SyntheticParcel, Share[]>();
    const counted = new Map<SyntheticParcel, { readonly building: Drawn; readonly wholeM2: number }[]>();
    const drawn = source === 'register' ? land.flatMap(roofs) : drawnOn(this.#region, sheet);
    for (const building of once(source === 'topographic' ? [...drawn].filter(isStanding) : drawn)) {
      const wholeM2 = polygonsAreaM2([building.polygon]);
      const met = land.flatMap((parcel): { parcel: SyntheticParcel; share: Share }[] => {
        if (!parcel.cells.some((cell) => near(building.box, cell))) return [];
        const polygons = commonPart([building.polygon], parcel.polygons);
        const areaM2 = polygonsAreaM2(polygons);
        return areaM2 >= Math.min(1, (areas.get(parcel) ?? 0) / 2) ? [{ parcel, share: { building, areaM2, polygons } }] : [];
      });
      for (const { parcel, share } of met) shares.set(parcel, [...(shares.get(parcel) ?? []), share]);
      // The order of references decides between parcels with the same share, because fids are assigned in this order.
      const [largest] = met.sort((a, b) => cents(b.share.areaM2) - cents(a.share.areaM2) || (a.parcel.reference < b.parcel.reference ? -1 : 1));
      if (largest !== undefined) counted.set(largest.parcel, [...(counted.get(largest.parcel) ?? []), { building, wholeM2 }]);
    }
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    return new Map([...shares].map(([parcel, mine]) => {
      const here = counted.get(parcel) ?? [];
      const large = here.filter(({ wholeM2 }) => wholeM2 >= 10);
      return [parcel.index, {
        count: here.length,
        footprintM2: cents(sum(mine.map(({ areaM2 }) => areaM2))) / 100,
        residentialCount: here.filter(({ building }) => isResidential(building)).length,
        residentialM2: cents(sum(mine.filter(({ building }) => isResidential(building)).map(({ areaM2 }) => areaM2))) / 100,
        builtShare: Math.round((1e6 * polygonsAreaM2(unionOf(mine.map(({ polygons }) => polygons)))) / polygonsAreaM2(parcel.polygons)) / 1e6,
        roofCount: large.length,
        roofM2: sum(large.map(({ wholeM2 }) => wholeM2)),
      }];
    }));
  }
}

/** Returns the roofs of a parcel in a land register as buildings without attributes. */
function roofs(parcel: SyntheticParcel): Drawn[] {
  const [columns, rows] = [parcel.cells.map(([column]) => column), parcel.cells.map(([, row]) => row)];
  const box: CellBox = [Math.min(...columns), Math.min(...rows), Math.max(...columns) + 1, Math.max(...rows) + 1];
  return roofsOf(parcel).map((polygon) => ({ number: 0, polygon, use: null, state: '03', underground: false, name: null, box }));
}

function isResidential({ use }: SyntheticBuilding): boolean {
  return use?.startsWith('01') === true;
}

/** Returns whether a building is neither a ruin nor under construction nor underground. */
function isStanding({ state, underground }: SyntheticBuilding): boolean {
  return state !== '01' && state !== '02' && !underground;
}

/** Returns the first building of each footprint. */
function once(buildings: Iterable<Drawn>): Drawn[] {
  const seen = new Set<string>();
  return [...buildings].filter(({ polygon }) => {
    const key = polygon.map((ring) => ring.slice(1).map(String).sort().join(' ')).join('|');
    return !seen.has(key) && seen.add(key);
  });
}

/** Returns whether a building in a box may intersect a parcel that has a given cell. */
function near([west, south, east, north]: CellBox, [column, row]: readonly [number, number]): boolean {
  return west < column + 1 + STRAY && column - STRAY < east && south < row + 1 + STRAY && row - STRAY < north;
}
