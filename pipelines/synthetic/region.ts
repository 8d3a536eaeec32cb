/**
 * Defines the type of a synthetic region. `synthetic.ts` of each source uses the region to write files and to compute true values. The region depends only on
 * the options, so the same options give the same bytes. No value is computed with PostGIS.
 */
import type { ParcelKind } from '../contract/section.ts';

/** Longitude and latitude in degrees, with at most 8 decimals (RDN2008, EPSG:6706, which PROJ treats as WGS 84). */
export type LonLat = readonly [number, number];
/** A polygon of closed rings: the counter-clockwise outer ring, followed by clockwise holes. */
export type SyntheticPolygon = readonly [outer: readonly LonLat[], ...holes: (readonly LonLat[])[]];

export interface SyntheticProvince {
  /** ISTAT code of the province, 3 digits. */
  readonly code: string;
  readonly name: string;
  /** Abbreviation of the province on car plates (sigla). */
  readonly sigla: string;
}

export interface SyntheticComune {
  readonly index: number;
  /** Cadastral code, such as `Z001`. Publishers use the letter Z only for foreign states. */
  readonly belfiore: string;
  /** ISTAT code of the comune, 6 digits. */
  readonly istatCode: string;
  /** Name in mixed case, with accents and apostrophes as in ISTAT's list. */
  readonly name: string;
  /** Italian part of the name, such as `Borgo Finto` in `Borgo Finto/Scheindorf`; the whole name if the name is only Italian. */
  readonly italianName: string;
  readonly otherName: string | null;
  readonly province: SyntheticProvince;
  /** Box of the comune in degrees: west, south, east, north. */
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
  /** Prefix of the parcels' references, such as `IT.TN.001`. */
  readonly prefix: string;
  /** Code of the comune catastale in the register, such as `001`. */
  readonly code: string;
  /** Name in capitals, as in the registers. */
  readonly name: string;
  /** German name; null without a German name. */
  readonly otherName: string | null;
}

/** A cadastral sheet: a block of 12 × 10 cells. In the form `place`, the last sheet of a comune may have more cells. */
export interface SyntheticSheet {
  readonly comune: SyntheticComune;
  /** Number of the sheet in the comune, from 0. Files contain the sheets in this order. */
  readonly index: number;
  /** Reference of the sheet, in the form `CCCCZFFFFAS`: comune, sezione censuaria (or `_`), sheet, attachment and development. */
  readonly reference: string;
  readonly section: string | null;
  /** Number of the sheet in the reference, four digits. */
  readonly sheet: string;
  /** Letter of the attachment (allegato), such as `A`; `0` for a sheet that is not an attachment. */
  readonly attachment: string;
  readonly development: string;
  /**
   * Box of the cells in degrees. In the form `lattice`, 100 parcels fill the box. In the form `place`, the method `place` moves the cells away from the box.
   */
  readonly box: readonly [number, number, number, number];
  /** Returns the ring around the sheet's cells, counter-clockwise. */
  outline(): readonly LonLat[];
  /** Returns the column and row of each cell of the sheet. */
  cells(): readonly SyntheticCell[];
  /** Converts a position in cells from the sheet's south-western corner to degrees. */
  place(position: readonly [x: number, y: number]): LonLat;
  /** Returns the town and the street at a cell; null in the form `lattice`. */
  townAt(cell: SyntheticCell): CellTown | null;
  readonly parcelCount: number;
  /** Comune catastale in a region with land registers; null elsewhere. In a region with land registers, the publisher's files have no sheets. */
  readonly comuneCatastale: SyntheticComuneCatastale | null;
}

/** Column and row of a cell in a sheet, counted from the south-west. */
export type SyntheticCell = readonly [number, number];

/** A comune of the form `place`: the number of columns and rows of cells, and the middle of the town. */
export interface Town {
  readonly columns: number;
  readonly rows: number;
  readonly centre: readonly [x: number, y: number];
}

/** Town and streets at a cell of the form `place`. */
export interface CellTown {
  /** True if the cell is in the town. */
  readonly isUrban: boolean;
  /** True if the cell is the town's square, which is a part of the road. */
  readonly isSquare: boolean;
  /** Side of the cell with a street or track; null if no side has one. */
  readonly side: 'west' | 'east' | 'south' | 'north' | null;
  /** Number of the street or track in the comune, and position of the cell along the street or track, in cells. Both numbers are 0 if `side` is null. */
  readonly street: number;
  readonly along: number;
}

export interface SyntheticParcel {
  /** Number of the parcel, from 0 to parcelCount − 1. Files contain the parcels in this order. */
  readonly index: number;
  readonly comune: SyntheticComune;
  readonly sheet: SyntheticSheet;
  /**
   * Label of the parcel, such as `123`, `12A`, `STRADA001` or `ACQUA001`. In a land register, a label is for example `12/1`, or `.12` for a building parcel.
   */
  readonly label: string;
  /** National cadastral reference, such as `Z001_000100.123`; in a land register, such as `IT.TN.001..12`. */
  readonly reference: string;
  readonly kind: ParcelKind;
  readonly polygons: readonly [SyntheticPolygon, ...SyntheticPolygon[]];
  /**
   * Columns (from the west) and rows (from the south) of the parcel's cells in the sheet. Sources use the cells to place zones and points. In the form `place`,
   * the cells of a road or water are the cells on both sides. The cells of a road also include the town's square.
   */
  readonly cells: readonly [SyntheticCell, ...SyntheticCell[]];
}

/** A repeatable stream of random numbers. */
export interface Random {
  /** Returns a number x with 0 ≤ x < 1. */
  next(): number;
  /** Returns an integer from 0 to n − 1. */
  below(n: number): number;
  pick<T>(values: readonly T[]): T;
}

export interface SyntheticRegion {
  readonly seed: number;
  /** Form of the parcels. `lattice`: nearly equal parcels. `place`: towns with streets and small lots, and fields, tracks and a stream around each town. */
  readonly form: 'lattice' | 'place';
  /** ISTAT code of the real region that the synthetic region imitates. */
  readonly code: number;
  readonly name: string;
  readonly provinces: readonly SyntheticProvince[];
  readonly comuni: readonly [SyntheticComune, SyntheticComune, ...SyntheticComune[]];
  /** Comuni catastali; empty except in a region with land registers. */
  readonly comuniCatastali: readonly SyntheticComuneCatastale[];
  /** Number of different valid parcels. After a load, the database must contain this number of parcels. */
  readonly parcelCount: number;
  /** True if features are so dense that even a small region has all kinds of features. False if features are about as dense as in Italy. */
  readonly dense: boolean;
  /** Box of all comuni in degrees: west, south, east, north. */
  readonly box: readonly [number, number, number, number];
  /** Returns the size of a comune and the middle of the comune's town, in cells from the south-western corner of the comune; null in the form `lattice`. */
  townOf(comune: SyntheticComune): Town | null;
  /** Converts a position in cells from the region's south-western corner to degrees. */
  place(position: readonly [x: number, y: number]): LonLat;
  sheets(comune: SyntheticComune): Iterable<SyntheticSheet>;
  /** Generates parcels on demand, in the order of `index`, for one comune or for all comuni. */
  parcels(comune?: SyntheticComune): Iterable<SyntheticParcel>;
  /** Returns the parcels of one sheet. */
  parcelsOf(sheet: SyntheticSheet): Iterable<SyntheticParcel>;
  /**
   * Returns the stream of random numbers of a key. Each source has its own keys, so that a change of one source does not change the numbers of another source.
   */
  random(...key: readonly (string | number)[]): Random;
}
