/**
 * A synthetic region, from which every source's `synthetic.ts` writes its files and computes the truth.
 * Everything is derived from (parcels, seed): the same two numbers give the same bytes. Nothing here uses PostGIS.
 */
import type { ParcelKind } from '../contract/section.ts';

/** Longitude, latitude in degrees (RDN2008, EPSG:6706, which PROJ treats as WGS 84), at most 8 decimals. */
export type LonLat = readonly [number, number];
/** Outer ring counter-clockwise, then holes, clockwise; each closed. */
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
  /** Cadastral code: `Z001`… synthetic codes start with Z, which the publishers use for foreign states only. */
  readonly belfiore: string;
  /** ISTAT code, 6 digits. */
  readonly istatCode: string;
  /** Mixed case with accents and apostrophes as ISTAT writes it. */
  readonly name: string;
  /** `Borgo Finto` of `Borgo Finto/Scheindorf`; the whole name if there is one language. */
  readonly italianName: string;
  readonly otherName: string | null;
  readonly province: SyntheticProvince;
  /** Rectangle that the comune fills: west, south, east, north. */
  readonly box: readonly [number, number, number, number];
  /** True if its northern edge is the coast. */
  readonly coastal: boolean;
  /** Postal codes; more than one in the largest comune only. */
  readonly postalCodes: readonly [string, ...string[]];
  readonly parcelCount: number;
}

/** A comune catastale of a land register (Libro fondiario); a comune has one or several. */
export interface SyntheticComuneCatastale {
  readonly comune: SyntheticComune;
  /** Prefix of its parcels' references: `IT.TN.001`. */
  readonly prefix: string;
  /** `001`. */
  readonly code: string;
  /** In capitals, as the registers write it. */
  readonly name: string;
  /** German name; null if there is none. */
  readonly otherName: string | null;
}

/** A cadastral sheet: a square block of parcels. */
export interface SyntheticSheet {
  readonly comune: SyntheticComune;
  /** Number inside the comune, from 0, also the order of writing. */
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
  /** Comune catastale in a region with land registers, where a sheet is only a block of parcels; null elsewhere. */
  readonly comuneCatastale: SyntheticComuneCatastale | null;
}

/** Column, row. */
export type SyntheticCell = readonly [number, number];

export interface SyntheticParcel {
  /** 0 … parcelCount − 1, in the order of writing. */
  readonly index: number;
  readonly comune: SyntheticComune;
  readonly sheet: SyntheticSheet;
  /** `123`, `12A`, `STRADA001`, `ACQUA001`; in a land register `12/1`, and `.12` of a building parcel. */
  readonly label: string;
  /** `Z001_000100.123`, the national cadastral reference; `IT.TN.001..12` in a land register. */
  readonly reference: string;
  readonly kind: ParcelKind;
  readonly polygons: readonly [SyntheticPolygon, ...SyntheticPolygon[]];
  /** Columns (from the west) and rows (from the south) of its cells inside the sheet, for sources that draw their own zones along cell borders. */
  readonly cells: readonly [SyntheticCell, ...SyntheticCell[]];
}

/** A repeatable stream of numbers. */
export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** Integer, 0 … n − 1. */
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
  /** Empty except in a region with land registers. */
  readonly comuniCatastali: readonly SyntheticComuneCatastale[];
  /** Number of valid parcels that are written once, which the database must contain. */
  readonly parcelCount: number;
  /** True if features are dense enough that a small region has all of them; otherwise about as dense as in Italy. */
  readonly dense: boolean;
  /** West, south, east, north of all comuni. */
  readonly box: readonly [number, number, number, number];
  sheets(comune: SyntheticComune): Iterable<SyntheticSheet>;
  /** Generates parcels on demand, in the order of `index`, for one comune or for all. */
  parcels(comune?: SyntheticComune): Iterable<SyntheticParcel>;
  /** Returns the parcels of one sheet. */
  parcelsOf(sheet: SyntheticSheet): Iterable<SyntheticParcel>;
  /** Returns a separate stream for each key, so that one source's numbers do not change another's. */
  random(...key: readonly (string | number)[]): Random;
}
