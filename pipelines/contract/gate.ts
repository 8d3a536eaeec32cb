/** Rules of the quality gate for a published table: statistics that a refresh may not change unnoticed, bounds of values, and sums that must agree. */

/** How far a figure may go from what is published. Where a field says otherwise than the rule, it says why. */
export interface Moves {
  /** Median and 95th percentile: share of what they were, default 0.25. */
  readonly by?: number;
  /** A smaller absolute change of them is never suspicious. */
  readonly step?: number;
  readonly why: string;
}

/** A number that is measured or counted: its share of non-null, median and 95th percentile are watched. */
export interface Quantity {
  readonly kind: 'quantity';
  /** Not a column but the quotient of two. */
  readonly of?: readonly [string, string];
  /** No value lies outside; null: open. */
  readonly within?: readonly [number | null, number | null];
  /** Nor does the median of a province, whatever is published: beyond it the unit is another. */
  readonly typical?: readonly [number, number];
  readonly moves?: Moves;
}

/** A column whose share of non-null values is compared. */
interface Presence {
  readonly kind: 'presence';
  readonly within?: readonly [number | null, number | null];
  /** For rare values: the share of them that a place must keep. */
  readonly keeps?: { readonly share: number; readonly why: string };
  /** The share of a province's rows with a value may not rise by this much, where some had a value before. */
  readonly gains?: { readonly share: number; readonly why: string };
}

/** A bool: its share of true is watched. */
export interface Truth {
  readonly kind: 'truth';
  /** Rows that are true: a place keeps this share of them, too, however few they are. */
  readonly keeps?: { readonly share: number; readonly why: string };
}

export type FieldGate = Quantity | Presence | Truth;

/** Parts that make a whole, or stay below it, in each row where the whole is known. */
export interface Identity {
  readonly parts: readonly string[];
  /** `=`: where all parts are known they make the whole; `<=`: those known do not pass it. */
  readonly is: '=' | '<=';
  readonly whole: string;
  /** Share of a place's rows that may break it. */
  readonly most: number;
}

/** An identity between tables, which a file of SQL looks at: rows of slice, place, known, broken. */
interface IdentityQuery {
  readonly file: string;
  /** Name of the violated rule. */
  readonly name: string;
  readonly most: number;
}

/** How a row's comune is known; `whole`: the table is one place. */
type PlacedBy = 'belfiore' | 'istat_code' | 'fid' | 'whole';

export interface TableGate {
  /** Section of the record that its values are seen in. */
  readonly section: string;
  readonly by: PlacedBy;
  /** Rows with different values of this column are never compared with each other; `presence`: those with a value, and those without. */
  readonly slice?: { readonly column: string; readonly presence?: true; readonly show?: (value: string) => string };
  readonly fields: Readonly<Record<string, FieldGate>>;
  /** Numbers and nullable columns that are not watched, each with the reason. */
  readonly excused: Readonly<Record<string, string>>;
  readonly identities?: readonly Identity[];
  readonly queries?: readonly IdentityQuery[];
}

/** A table that is not watched as a whole, and why. */
export interface Unwatched {
  readonly unwatched: string;
}

export const quantity = (more: Omit<Quantity, 'kind'> = {}): Quantity => ({ kind: 'quantity', ...more });
export const truth: Truth = { kind: 'truth' };
export const presence = (more: Omit<Presence, 'kind'> = {}): Presence => ({ kind: 'presence', ...more });

/** @returns the same field under each of the names */
export function each<T extends FieldGate>(names: readonly string[], field: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, field]));
}

/** `male + female = population_total`. */
export function identityName({ parts, is, whole }: Identity): string {
  return `${(parts.length > 3 ? [parts[0], '…', parts.at(-1)] : parts).join(' + ')} ${is} ${whole}`;
}

/** Returns the name of a slice; empty if the table has no slices. */
export function sliceName({ slice }: TableGate, value: string): string {
  return slice === undefined ? '' : slice.show?.(value) ?? value;
}
