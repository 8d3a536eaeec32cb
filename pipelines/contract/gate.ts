/** Rules of the quality gate for a published table: limits for changes of statistics, bounds of values, and sums that must agree. */

/** Allowed change of a statistic from the published value. If a field has its own limits, a reason is required. */
export interface Moves {
  /** Allowed change of median and 95th percentile, as a share of the old value. Default 0.25. */
  readonly by?: number;
  /** Absolute change below which a move is never suspicious. */
  readonly step?: number;
  readonly why: string;
}

/** A measured or counted number. The gate compares its share of non-null values, median and 95th percentile. */
export interface Quantity {
  readonly kind: 'quantity';
  /** Two columns, if the number is their quotient and not a column. */
  readonly of?: readonly [string, string];
  /** Bounds of all values; null for no bound. */
  readonly within?: readonly [number | null, number | null];
  /** Bounds of a province's median, independent of the published value. Values with a median outside these bounds have a wrong unit. */
  readonly typical?: readonly [number, number];
  readonly moves?: Moves;
}

/** A column whose share of non-null values is compared. */
interface Presence {
  readonly kind: 'presence';
  readonly within?: readonly [number | null, number | null];
  /** For rare values: the share of the values that a place must keep. */
  readonly keeps?: { readonly share: number; readonly why: string };
  /** Limit for the increase of the share of rows with a value, in a province that already had values. */
  readonly gains?: { readonly share: number; readonly why: string };
}

/** A bool. The gate compares its share of true values. */
export interface Truth {
  readonly kind: 'truth';
  /** Share of the true rows that a place must keep, even if there are only few. */
  readonly keeps?: { readonly share: number; readonly why: string };
}

export type FieldGate = Quantity | Presence | Truth;

/** Parts whose sum equals a whole or does not exceed it, in each row with a known whole. */
export interface Identity {
  readonly parts: readonly string[];
  /** `=`: the parts add up to the whole if all parts are known. `<=`: the known parts do not exceed the whole. */
  readonly is: '=' | '<=';
  readonly whole: string;
  /** Share of a place's rows that may violate the identity. */
  readonly most: number;
}

/** An identity between tables. An SQL file checks the identity and returns the columns slice, place, known and broken. */
interface IdentityQuery {
  readonly file: string;
  /** Name of the violated rule. */
  readonly name: string;
  readonly most: number;
}

/** Column with the comune of a row; `whole` if the table is a single place. */
type PlacedBy = 'belfiore' | 'istat_code' | 'fid' | 'whole';

export interface TableGate {
  /** Section of the record that shows the table's values. */
  readonly section: string;
  readonly by: PlacedBy;
  /** Column whose values separate rows: only rows with the same value are compared. `presence` separates rows with a value from rows without a value. */
  readonly slice?: { readonly column: string; readonly presence?: true; readonly show?: (value: string) => string };
  readonly fields: Readonly<Record<string, FieldGate>>;
  /** Numbers and nullable columns that have no gate, each with the reason. */
  readonly excused: Readonly<Record<string, string>>;
  readonly identities?: readonly Identity[];
  readonly queries?: readonly IdentityQuery[];
}

/** A table without a gate, and the reason. */
export interface Unwatched {
  readonly unwatched: string;
}

export const quantity = (more: Omit<Quantity, 'kind'> = {}): Quantity => ({ kind: 'quantity', ...more });
export const truth: Truth = { kind: 'truth' };
export const presence = (more: Omit<Presence, 'kind'> = {}): Presence => ({ kind: 'presence', ...more });

/** Returns the same field gate for each name. */
export function each<T extends FieldGate>(names: readonly string[], field: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, field]));
}

/** Returns the name of an identity: `male + female = population_total`. */
export function identityName({ parts, is, whole }: Identity): string {
  return `${(parts.length > 3 ? [parts[0], '…', parts.at(-1)] : parts).join(' + ')} ${is} ${whole}`;
}

/** Returns the name of a slice; empty if the table has no slices. */
export function sliceName({ slice }: TableGate, value: string): string {
  return slice === undefined ? '' : slice.show?.(value) ?? value;
}
