/** Computes the statistics of a table by place in one pass, for the quality gate. */
import { identityName, type FieldGate, type Identity, type TableGate } from '../contract/gate.ts';
import { statementsOf, type Place } from './statements.ts';
import { ident, type Session } from './types.ts';

const figures = statementsOf('figures');

/** Statistics of one field in one slice of a place. Median and 95th percentile are values that occur in the table, or null if there are no values. */
export interface FieldFigures {
  readonly values: number;
  readonly median: number | null;
  readonly p95: number | null;
  /** Number of values outside the bounds that the gate declares. */
  readonly outside: number;
}

/** Number of rows to which an identity applies, and number of rows that violate the identity. */
export interface IdentityFigures {
  readonly known: number;
  readonly broken: number;
}

/** Statistics of one slice of one place. */
export interface Figures {
  /** Name of the slice; empty if the table has no slices. */
  readonly slice: string;
  /** ISTAT code of the province. Empty if the comune is not in the list of comuni. */
  readonly province: string;
  /** Code of the comune: the cadastral code, or the ISTAT code in tables with ISTAT codes. Empty if the statistics are for the whole province. */
  readonly comune: string;
  readonly rows: number;
  readonly fields: Readonly<Record<string, FieldFigures>>;
  readonly identities: Readonly<Record<string, IdentityFigures>>;
}

/** Province name in the statistics of a whole table, if the table has no places. */
export const WHOLE = '*';

/** A table to measure, with the table of parcels if the rows belong to parcels. */
export interface Measured {
  readonly table: Place;
  readonly parcels: Place | null;
}

/** Returns the comuni of some parcels. @param fids tables with the fids of these parcels @param parcels tables of parcels with fid and comune */
export async function comuniOfParcels(session: Session, fids: readonly Place[], parcels: readonly Place[]): Promise<string[]> {
  const all = { sql: fids.map((table) => figures('fids', { table })).join(' union ') };
  const rows = await session.query<{ comune: string }>(parcels.map((table) => figures('comuni', { parcels: table, fids: all })).join(' union '));
  return rows.map(({ comune }) => comune);
}

/**
 * Creates a table with the comune of each parcel, which is a twelfth of the size of the parcel table. All measured tables of a region are joined with this
 * small table. @returns the small table
 */
export async function writePlaces(session: Session, parcels: Place): Promise<Place> {
  const places = { schema: parcels.schema, table: `${parcels.table}_place` };
  await session.query(figures('drop_places', { places }));
  await session.query(figures('places', { places, parcels }));
  return places;
}

/** Returns the SQL expression for the value of a field. Quantities are converted to double precision, which is exact for whole numbers up to 2^53. */
function expressionOf(name: string, field: FieldGate): string {
  if (field.kind === 'quantity' && field.of !== undefined) return `t.${ident(field.of[0])}::float8 / nullif(t.${ident(field.of[1])}, 0)`;
  return field.kind === 'quantity' ? `t.${ident(name)}::float8` : `t.${ident(name)}`;
}

function figuresOf(name: string, field: FieldGate, column: string): string {
  const [low = null, high = null] = field.kind === 'truth' ? [] : field.within ?? [];
  const outside = [...(low === null ? [] : [`${column} < ${low}`]), ...(high === null ? [] : [`${column} > ${high}`])];
  return figures('field', {
    name,
    count: { sql: field.kind === 'truth' ? `count(*) filter (where ${column})` : `count(${column})` },
    quantiles: { sql: field.kind === 'quantity' ? figures('quantiles', { column }) : 'null::float8[]' },
    outside: { sql: outside.length === 0 ? '0' : `count(*) filter (where ${outside.join(' or ')})` },
  });
}

/** Returns two SQL conditions: whether the identity applies to a row, and whether the row violates the identity */
function conditionsOf({ parts, is, whole }: Identity): { known: string; broken: string } {
  const columns = parts.map((name) => `t.${ident(name)}`);
  const total = `t.${ident(whole)}`;
  if (is === '=') return { known: [...columns, total].map((column) => `${column} is not null`).join(' and '), broken: `${columns.join(' + ')} <> ${total}` };
  return { known: `${total} is not null and num_nonnulls(${columns.join(', ')}) > 0`, broken: `${columns.map((column) => `coalesce(${column}, 0)`).join(' + ')} > ${total}` };
}

/**
 * Returns the SQL expressions for the slice and the place of a row. In these expressions, `t` is the alias of the table, and `c` is the column with the comune.
 */
function placed({ by, slice }: TableGate): string[] {
  const sliced = slice === undefined ? figures('no_slice') : figures(slice.presence === true ? 'slice_by_presence' : 'slice_by_value', { column: slice.column, name: slice.column });
  if (by === 'whole') return [sliced, figures('whole_place', { whole: WHOLE })];
  return [sliced, figures('place', { comune: { sql: by === 'fid' ? 'p.belfiore' : `t.${by}` } })];
}

/** Converts a number from JSON, which contains NaN and infinity as text. */
function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

type Found = {
  readonly slice: string; readonly province: string; readonly comune: string; readonly rows: number;
  readonly fields: Readonly<Record<string, readonly [number, readonly unknown[] | null, number]>>;
  readonly identities: Readonly<Record<string, readonly [number, number]>>;
};

/**
 * Measures a table. Returns one row per slice and comune, and one row per slice and province. @param only comuni to measure, or null for all; the statistics of
 * a province then cover only these comuni
 */
export async function measure(session: Session, gate: TableGate, { table, parcels }: Measured, only: readonly string[] | null = null): Promise<Figures[]> {
  const fields = Object.entries(gate.fields);
  const identities = gate.identities ?? [];
  if (gate.by === 'fid' && parcels === null) throw new Error(`${table.table} has a column fid, but the caller passed no table of parcels`);
  const columns = [
    ...placed(gate),
    ...fields.map(([name, field], index) => `${expressionOf(name, field)} as f${index}`),
    ...identities.map(conditionsOf).flatMap(({ known, broken }, index) => [`(${known}) as k${index}`, `(${broken}) as b${index}`]),
  ];
  const merged = (objects: readonly string[]): { sql: string } => ({ sql: objects.map((object) => `|| ${object}`).join(' ') });
  const rows = await session.query<Found>(figures('figures', {
    columns: { sql: columns.join(', ') },
    from: { sql: figures(`by_${gate.by}`, { table, parcels: parcels ?? table }) },
    fields: merged(fields.map(([name, field], index) => figuresOf(name, field, `f${index}`))),
    identities: merged(identities.map((identity, index) => figures('identity', { name: identityName(identity), known: `k${index}`, broken: `b${index}` }))),
  }), [only]);
  return rows.map(({ fields: of, identities: broken, ...place }) => ({
    ...place,
    fields: Object.fromEntries(Object.entries(of).map(([name, [values, quantiles, outside]]) => {
      const [median, p95] = quantiles ?? [];
      return [name, { values, median: numberOf(median), p95: numberOf(p95), outside }];
    })),
    identities: Object.fromEntries(Object.entries(broken).map(([name, [known, count]]) => [name, { known, broken: count }])),
  }));
}

/** Difference between two versions of one field at one place. Values are compared as multisets, so values that occur in both versions count as unchanged. */
export interface Changes {
  readonly slice: string;
  /** ISTAT code of the province, as in `Figures`. */
  readonly province: string;
  /** Code of the comune, as in `Figures`; empty for the whole province. */
  readonly comune: string;
  /** Number of non-null values in the old version. */
  readonly before: number;
  readonly after: number;
  /**
   * Number of changed values: the values only in the old version, or the values only in the new version, whichever are more.
   */
  readonly changed: number;
  /** Net number of values that crossed the old quantile in the direction of the quantile's move; 0 if the quantile did not move. */
  readonly crossed: { readonly median: number; readonly p95: number };
}

/**
 * Compares the values of one field in two versions of a table. Returns one row per slice and comune, and one row per slice and province. @param only comuni to
 * compare, or null for all; the result of a province then covers only these comuni
 */
export async function compareValues(
  session: Session, gate: TableGate, name: string, { before, after }: { readonly before: Measured; readonly after: Measured },
  only: readonly string[] | null = null,
): Promise<Changes[]> {
  const field = gate.fields[name];
  if (field === undefined) throw new Error(`the quality gate does not check ${name}`);
  const columns = { sql: [...placed(gate), `${expressionOf(name, field)} as value`].join(', ') };
  const fromOf = ({ table, parcels }: Measured): { sql: string } => ({ sql: figures(`by_${gate.by}`, { table, parcels: parcels ?? table }) });
  const rows = await session.query<Omit<Changes, 'crossed'> & { median: number; p95: number }>(
    figures('changes', { columns, before: fromOf(before), after: fromOf(after) }), [only],
  );
  return rows.map(({ median, p95, ...rest }) => ({ ...rest, crossed: { median, p95 } }));
}
