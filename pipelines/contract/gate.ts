/** Rules of the quality gate for a published table: limits for changes of statistics, bounds of values, and sums that must agree. */

/** Limits for the changes of a field's median and 95th percentile, if these limits differ from the default. `why` is the reason. */
export interface Moves {
  /** Allowed change of median and 95th percentile, as a share of the old value. Default 0.25. */
  readonly by?: number;
  /** Minimum absolute change that the gate refuses. Smaller changes are always accepted. */
  readonly step?: number;
  readonly why: string;
}

/** A measured or counted number. The gate compares its share of non-null values, median and 95th percentile. */
export interface Quantity {
  readonly kind: 'quantity';
  /** Dividend column and divisor column, if the number is a quotient of two columns. */
  readonly of?: readonly [string, string];
  /** Lower and upper bound of all values; null for no bound. */
  readonly within?: readonly [number | null, number | null];
  /**
   * Bounds of a province's median. A median outside these bounds shows that the values have a wrong unit, and is refused unless the published median is also
   * outside.
   */
  readonly typical?: readonly [number, number];
  readonly moves?: Moves;
}

/** A column whose share of non-null values is compared. */
interface Presence {
  readonly kind: 'presence';
  readonly within?: readonly [number | null, number | null];
  /** For columns with few values: the minimum number of values in a province or comune, as a share of the published number. */
  readonly keeps?: { readonly share: number; readonly why: string };
  /** Limit for the increase of the share of rows with a value. Applies to provinces that already had values. */
  readonly gains?: { readonly share: number; readonly why: string };
}

/** A boolean column. The gate compares the share of true values. */
export interface Truth {
  readonly kind: 'truth';
  /** Minimum number of true values in a province or comune, as a share of the published number. Applies even to small numbers. */
  readonly keeps?: { readonly share: number; readonly why: string };
}

export type FieldGate = Quantity | Presence | Truth;

/** Columns (parts) whose sum must equal another column (the whole) or must not exceed it. */
export interface Identity {
  readonly parts: readonly string[];
  /**
   * `=`: the sum of the parts equals the whole, in rows without nulls in these columns. `<=`: the sum of the non-null parts does not exceed the whole, in rows
   * with a non-null whole and at least one non-null part.
   */
  readonly is: '=' | '<=';
  readonly whole: string;
  /** Share of the checked rows of a place that may violate the identity. */
  readonly most: number;
}

/**
 * A rule that relates several tables. The SQL file returns one row per slice, with the columns `slice`, `known` (number of checked rows) and `broken` (number
 * of violating rows).
 */
interface IdentityQuery {
  readonly file: string;
  /** Description of the rows that violate the rule, for messages. */
  readonly name: string;
  readonly most: number;
}

/** Column that determines the comune of a row; `whole` if statistics are computed only for the whole table. */
type PlacedBy = 'belfiore' | 'istat_code' | 'fid' | 'whole';

export interface TableGate {
  /** Section of the record that shows the table's values. */
  readonly section: string;
  readonly by: PlacedBy;
  /**
   * Column that divides the rows into slices. Statistics are compared separately for each value of the column. With `presence`, the slices are the rows with a
   * value and the rows without a value.
   */
  readonly slice?: { readonly column: string; readonly presence?: true; readonly show?: (value: string) => string };
  readonly fields: Readonly<Record<string, FieldGate>>;
  /** Numeric, boolean and nullable columns without a gate, each with the reason. */
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

/** Returns a map with the same field gate for each name. */
export function each<T extends FieldGate>(names: readonly string[], field: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, field]));
}

/** Returns the name of an identity, such as `male + female = population_total`. */
export function identityName({ parts, is, whole }: Identity): string {
  return `${(parts.length > 3 ? [parts[0], '…', parts.at(-1)] : parts).join(' + ')} ${is} ${whole}`;
}

/** Returns the name of a slice; empty if the table has no slices. */
export function sliceName({ slice }: TableGate, value: string): string {
  return slice === undefined ? '' : slice.show?.(value) ?? value;
}
