/**
 * Defines the type of a synthetic region. `synthetic.ts` of each source uses the region to write files and to compute true values. The region depends only on
 * the number of parcels and the seed, so the same two numbers give the same bytes. PostGIS is not used.
 */
import type { ParcelKind } from '../contract/section.ts';

/** Longitude and latitude in degrees, with at most 8 decimals (RDN2008, EPSG:6706, which PROJ treats as WGS 84). */
export type LonLat = readonly [number, number];
/** A polygon of closed rings: the counter-clockwise outer ring, followed by clockwise holes. */
export type SyntheticPolygon = readonly [outer: readonly LonLat[], ...holes: (readonly LonLat[])[]];

export interface SyntheticProvince {
  /** ISTAT province code, 3 digits. */
  readonly code: string;
  readonly name: string;
  /** Car plate sigla. */
  readonly sigla: string;
}

export interface SyntheticComune {
  readonly index: number;
  /** Cadastral code: `Z001`… synthetic codes start with Z, which the publishers use only for foreign states. */
  readonly belfiore: string;
  /** ISTAT code, 6 digits. */
  readonly istatCode: string;
  /** Name in mixed case, with accents and apostrophes as in ISTAT's list. */
  readonly name: string;
  /** Italian part of the name, such as `Borgo Finto` in `Borgo Finto/Scheindorf`; the whole name if it has one language. */
  readonly italianName: string;
  readonly otherName: string | null;
  readonly province: SyntheticProvince;
  /** Rectangle of the comune: west, south, east, north. */
  readonly box: readonly [number, number, number, number];
  /** True if the northern edge of the comune is the coast. */
  readonly coastal: boolean;
  /** Postal codes. Only the largest comune has more than one code. */
  readonly postalCodes: readonly [string, ...string[]];
  readonly parcelCount: number;
}

/** A comune catastale of a land register (Libro fondiario). A comune has one or several comuni catastali. */
export interface SyntheticComuneCatastale {
  readonly comune: SyntheticComune;
  /** Prefix of the parcels' references: `IT.TN.001`. */
  readonly prefix: string;
  /** `001`. */
  readonly code: string;
  /** Name in capitals, as in the registers. */
  readonly name: string;
  /** German name; null if there is none. */
  readonly otherName: string | null;
}

/** A cadastral sheet: a square block of parcels. */
export interface SyntheticSheet {
  readonly comune: SyntheticComune;
  /** Number in the comune, from 0. Sheets are written in the order of these numbers. */
  readonly index: number;
  /** `CCCCZFFFFAS`. */
  readonly reference: string;
  readonly section: string | null;
  /** Four digits. */
  readonly sheet: string;
  /** `0` if there is none. */
  readonly attachment: string;
  readonly development: string;
  readonly box: readonly [number, number, number, number];
  readonly parcelCount: number;
  /** Comune catastale in a region with land registers; null elsewhere. In such a region, a sheet is only a block of parcels. */
  readonly comuneCatastale: SyntheticComuneCatastale | null;
}

/** Position of a cell in the grid of the region: column and row. */
export type SyntheticCell = readonly [number, number];

export interface SyntheticParcel {
  /** Number of the parcel, 0 … parcelCount − 1. Parcels are written in this order. */
  readonly index: number;
  readonly comune: SyntheticComune;
  readonly sheet: SyntheticSheet;
  /** `123`, `12A`, `STRADA001`, `ACQUA001`; in a land register `12/1`, and `.12` for a building parcel. */
  readonly label: string;
  /** `Z001_000100.123`, the national cadastral reference; `IT.TN.001..12` in a land register. */
  readonly reference: string;
  readonly kind: ParcelKind;
  readonly polygons: readonly [SyntheticPolygon, ...SyntheticPolygon[]];
  /** Columns (from the west) and rows (from the south) of the parcel's cells in the sheet. Sources use the cells to draw zones along cell borders. */
  readonly cells: readonly [SyntheticCell, ...SyntheticCell[]];
}

/** A repeatable stream of numbers. */
export interface Random {
  /** Returns a number x with 0 ≤ x < 1. */
  next(): number;
  /** Returns an integer, 0 … n − 1. */
  below(n: number): number;
  pick<T>(values: readonly T[]): T;
}

export interface SyntheticRegion {
  readonly seed: number;
  /** ISTAT code of the real region that the synthetic region imitates. */
  readonly code: number;
  readonly name: string;
  readonly provinces: readonly SyntheticProvince[];
  readonly comuni: readonly [SyntheticComune, SyntheticComune, ...SyntheticComune[]];
  /** Comuni catastali. Empty except in a region with land registers. */
  readonly comuniCatastali: readonly SyntheticComuneCatastale[];
  /** Number of different valid parcels. The database must contain this number of parcels. */
  readonly parcelCount: number;
  /** True if features are so dense that a small region has all kinds of features. Otherwise the density is about that of Italy. */
  readonly dense: boolean;
  /** West, south, east, north of all comuni. */
  readonly box: readonly [number, number, number, number];
  sheets(comune: SyntheticComune): Iterable<SyntheticSheet>;
  /** Generates parcels on demand, in the order of `index`, for one comune or for all comuni. */
  parcels(comune?: SyntheticComune): Iterable<SyntheticParcel>;
  /** Returns the parcels of one sheet. */
  parcelsOf(sheet: SyntheticSheet): Iterable<SyntheticParcel>;
  /** Returns a separate stream for each key, so that the numbers of one source do not change the numbers of another source. */
  random(...key: readonly (string | number)[]): Random;
}
