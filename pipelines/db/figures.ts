/** Computes the statistics of a table for each comune and province in one pass, for the quality gate. */
import { identityName, type FieldGate, type Identity, type TableGate } from '../contract/gate.ts';
import { patchedRows, type Patch } from './changed-rows.ts';
import { changedWindow, rankOf, sharesAround, valueAt, windowOf, type Difference, type QuantileWindow } from './quantile-window.ts';
import { statementsOf, type Part, type Place } from './statements.ts';
import { ident, one, type Session } from './types.ts';

const figures = statementsOf('figures');

/**
 * Statistics of one field in one slice of a place. Median and 95th percentile are values that occur in the table. Both are null for a field that has no values
 * or is not a quantity.
 */
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
  /** ISTAT code of the province. Empty if the comune is not in the list of comuni, or if the table has no places. `WHOLE` in results of gate queries. */
  readonly province: string;
  /**
   * Code of the comune: the cadastral code, or the ISTAT code in tables with ISTAT codes. Empty if the statistics are for the whole province. `WHOLE` in a
   * table without places.
   */
  readonly comune: string;
  readonly rows: number;
  readonly fields: Readonly<Record<string, FieldFigures>>;
  readonly identities: Readonly<Record<string, IdentityFigures>>;
  /** Windows around the quantiles of a province, by field. Null for a comune, or if the table was measured without windows. */
  readonly windows: Readonly<Record<string, Windows>> | null;
}

/** Gated quantiles, with the share of values up to each quantile. */
export const QUANTILES = { median: 0.5, p95: 0.95 } as const;
export type Quantile = keyof typeof QUANTILES;

/** A window is null if the field has a value that is not finite. */
type Windows = Readonly<Record<Quantile, QuantileWindow | null>>;

/** Value that means the whole table: the `comune` in statistics of a table without places, and the `province` in results of gate queries. */
export const WHOLE = '*';

/** A table to measure, with the table of parcels if the rows belong to parcels. */
export interface Measured {
  readonly table: Place;
  readonly parcels: Place | null;
  /** Rows that replace rows of the table, and the columns of both. Only the rows of the parcels in `parcels` are measured. */
  readonly patch?: Pick<Patch, 'fids' | 'came'> & { readonly columns: readonly string[] };
}

interface MeasureOptions {
  /** Comuni to measure, or null for all. The statistics of a province cover only the measured comuni. */
  readonly only?: readonly string[] | null;
  /** Places to measure. The quantiles of a province cost more than the quantiles of all its comuni. */
  readonly places?: 'comuni_only' | 'comuni_and_provinces';
  /** Largest number of rows of a province in one slice, to measure the windows of provinces; null for no windows. */
  readonly rowsOfProvince?: number | null;
}

/** Lowers the planner's page costs for measurements. The build has read the pages of the changed rows, so these pages are in memory. */
export async function expectPagesInMemory(session: Session): Promise<void> {
  await session.script(figures('pages_in_memory'), 'sql/statements/figures.sql, pages_in_memory');
}

/**
 * Creates a table with the comuni of some parcels, before and after a change.
 * @param fids tables with the fids of these parcels
 * @returns the comuni
 */
export async function writeComuni(
  session: Session, comuni: Place, { fids, before, after }: { readonly fids: readonly Place[]; readonly before: Place; readonly after: Place },
): Promise<string[]> {
  const all = { sql: fids.map((table) => figures('fids', { table })).join(' union ') };
  const of = (parcels: Place): Part => ({ sql: figures('comune_of_parcel', { parcels, fids: all }) });
  await session.script(figures('comuni', { comuni, before: of(before), after: of(after) }), 'sql/statements/figures.sql, comuni');
  return namesOf(await session.query<{ comune: string }>(figures('all_comuni', { comuni })));
}

/**
 * Returns the comuni in which the rows of a table changed. These are the comuni of parcels with changed rows, and the old and new comuni of parcels that moved.
 * @param comuni table that `writeComuni` created
 * @param fids table with the fids of the changed rows
 */
export async function comuniOfFids(session: Session, comuni: Place, fids: Place): Promise<string[]> {
  return namesOf(await session.query<{ comune: string }>(figures('comuni_of_fids', { comuni, fids })));
}

function namesOf(rows: readonly { readonly comune: string }[]): string[] {
  return rows.map(({ comune }) => comune);
}

/**
 * Creates a table with the comune of each parcel. This table is one twelfth as large as the table of parcels. All measured tables of a region are joined with
 * this small table.
 * @param only comuni whose parcels are listed, or null for all
 */
export async function writePlaces(session: Session, places: Place, parcels: Place, only: readonly string[] | null = null): Promise<void> {
  await session.query(figures('drop_places', { places }));
  await session.query(figures('places', { places, parcels, only: only === null ? { sql: '' } : { sql: figures('of_comuni', { comuni: only }) } }));
  await session.query(figures('analyze_places', { places }));
}

/** Returns the largest number of rows that a province has in one slice. */
export async function rowsOfLargestProvince(session: Session, gate: TableGate, measured: Measured): Promise<number> {
  return (await one<{ rows: number }>(session, figures('largest_place', { columns: { sql: placed(gate).join(', ') }, from: rowsOf(gate, measured) }))).rows;
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

/** Returns two SQL conditions: whether the identity applies to a row, and whether the row violates the identity. */
function conditionsOf({ parts, is, whole }: Identity): { known: string; broken: string } {
  const columns = parts.map((name) => `t.${ident(name)}`);
  const total = `t.${ident(whole)}`;
  if (is === '=') return { known: [...columns, total].map((column) => `${column} is not null`).join(' and '), broken: `${columns.join(' + ')} <> ${total}` };
  return { known: `${total} is not null and num_nonnulls(${columns.join(', ')}) > 0`, broken: `${columns.map((column) => `coalesce(${column}, 0)`).join(' + ')} > ${total}` };
}

/**
 * Returns the SQL expressions for the slice and the place of a row. In these expressions, `t` is the alias of the measured table, `p` of the table of parcels,
 * and `c` of `core.comune`.
 */
function placed({ by, slice }: TableGate): string[] {
  const sliced = slice === undefined ? figures('no_slice') : figures(slice.presence === true ? 'slice_by_presence' : 'slice_by_value', { column: slice.column, name: slice.column });
  if (by === 'whole') return [sliced, figures('whole_place', { whole: WHOLE })];
  return [sliced, figures('place', { comune: { sql: by === 'fid' ? 'p.belfiore' : `t.${by}` } })];
}

/** Converts a value from JSON to a number. In JSON, NaN and infinity are texts. */
function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

type Found = {
  readonly slice: string; readonly province: string; readonly comune: string; readonly rows: number;
  readonly fields: Readonly<Record<string, readonly [number, readonly unknown[] | null, number]>>;
  readonly identities: Readonly<Record<string, readonly [number, number]>>;
};

/** Returns the SQL for the rows of a table and their comuni. */
function rowsOf({ by }: TableGate, { table, parcels, patch }: Measured): { sql: string } {
  if (by === 'fid' && parcels === null) throw new Error(`${table.table} is a table of parcels, but the call has no parcels`);
  if (patch !== undefined && parcels !== null) return { sql: figures('by_fid', { table: patchedRows({ was: table, ...patch, parcels }), parcels }) };
  return { sql: figures(`by_${by}`, { table, parcels: parcels ?? table }) };
}

/** Measures a table. Returns one row per slice and comune, and one row per slice and province if provinces are measured. */
export async function measure(
  session: Session, gate: TableGate, measured: Measured, { only = null, places = 'comuni_and_provinces', rowsOfProvince = null }: MeasureOptions = {},
): Promise<Figures[]> {
  const fields = Object.entries(gate.fields);
  const identities = gate.identities ?? [];
  const columns = [
    ...placed(gate),
    ...fields.map(([name, field], index) => `${expressionOf(name, field)} as f${index}`),
    ...identities.map(conditionsOf).flatMap(({ known, broken }, index) => [`(${known}) as k${index}`, `(${broken}) as b${index}`]),
  ];
  const merged = (objects: readonly string[]): { sql: string } => ({ sql: objects.map((object) => `|| ${object}`).join(' ') });
  const around = rowsOfProvince === null ? null : mapQuantiles((share) => sharesAround(share, rowsOfProvince));
  const rows = await session.query<Found>(figures('figures', {
    columns: { sql: columns.join(', ') },
    from: rowsOf(gate, measured),
    places: { sql: figures(places) },
    fields: merged(fields.map(([name, field], index) => figuresOf(name, field, `f${index}`))),
    identities: merged(identities.map((identity, index) => figures('identity', { name: identityName(identity), known: `k${index}`, broken: `b${index}` }))),
  }), [only, ...(fields.some(([, { kind }]) => kind === 'quantity') ? [[...Object.values(QUANTILES), ...Object.values(around ?? {}).flat()]] : [])]);
  return rows.map(({ fields: of, identities: broken, ...place }) => {
    const found = Object.entries(of).map(([name, [values, quantiles, outside]]) => [name, values, (quantiles ?? []).map(numberOf), outside] as const);
    return {
      ...place,
      fields: Object.fromEntries(found.map(([name, values, [median = null, p95 = null], outside]) => [name, { values, median, p95, outside }])),
      identities: Object.fromEntries(Object.entries(broken).map(([name, [known, count]]) => [name, { known, broken: count }])),
      windows: around === null || place.comune !== '' ? null : Object.fromEntries(found.filter(([name]) => gate.fields[name]?.kind === 'quantity')
        .map(([name, values, quantiles]) => [name, windowsOf(around, values, quantiles.slice(Object.keys(QUANTILES).length))])),
    };
  });
}

function mapQuantiles<T>(map: (share: number, name: Quantile) => T): Record<Quantile, T> {
  return { median: map(QUANTILES.median, 'median'), p95: map(QUANTILES.p95, 'p95') };
}

/** @param found values at the shares in `around`, first at the shares around the median */
function windowsOf(around: Readonly<Record<Quantile, readonly number[]>>, total: number, found: readonly (number | null)[]): Windows {
  const values = { median: found.slice(0, around.median.length), p95: found.slice(around.median.length) };
  return mapQuantiles((share, name) => windowOf(share, { total, values: around[name].map((each, index) => [each, values[name][index] ?? NaN] as const) }));
}

/** Number of added or removed occurrences of one value of a field, in a slice of a province. */
interface FieldDifferences extends Difference {
  readonly slice: string;
  readonly province: string;
  readonly field: string;
}

/** Returns the values of quantities that a patch adds or removes, by slice and province. */
export async function differencesOf(
  session: Session, gate: TableGate, { before, after }: { readonly before: Measured; readonly after: Measured },
): Promise<FieldDifferences[]> {
  const quantities = Object.entries(gate.fields).filter(([, { kind }]) => kind === 'quantity');
  if (quantities.length === 0) return [];
  const columns = { sql: [...placed(gate), ...quantities.map(([name, field], index) => `${expressionOf(name, field)} as f${index}`)].join(', ') };
  const values = { sql: quantities.map(([name], index) => figures('value', { name, column: `f${index}` })).join(', ') };
  const rows = await session.query<Omit<FieldDifferences, 'value'> & { value: unknown }>(
    figures('differences', { columns, values, before: rowsOf(gate, before), after: rowsOf(gate, after) }),
  );
  return rows.map((row) => ({ ...row, value: numberOf(row.value) ?? NaN }));
}

/**
 * Computes the statistics of a province from the statistics of its comuni. The quantiles are found in the windows of the province before the change.
 * @param was statistics of the province before the change; null if the province had no rows
 * @param comuni statistics of all comuni of the province after the change
 * @returns null if `comuni` is empty, no windows are stored, or a new quantile is outside its window
 */
export function changedProvince(
  gate: TableGate, was: Figures | null, { comuni, differences }: { readonly comuni: readonly Figures[]; readonly differences: readonly FieldDifferences[] },
): Figures | null {
  const [first] = comuni;
  if (first === undefined || (was !== null && was.windows === null)) return null;
  const windows: Record<string, Windows> = {};
  const whole = sumOf(gate, comuni);
  const fields = { ...whole.fields };
  for (const [name, { kind }] of Object.entries(gate.fields)) {
    if (kind !== 'quantity') continue;
    const total = was?.fields[name]?.values ?? 0;
    const mine = differences.filter(({ field }) => field === name);
    const old = was === null ? mapQuantiles(() => NO_VALUES) : was.windows?.[name];
    const changed = mapQuantiles((share, quantile) => {
      const window = old?.[quantile] ?? null;
      return window === null ? null : changedWindow(share, window, { total, differences: mine });
    });
    const { values = 0, outside = 0 } = fields[name] ?? {};
    const { median, p95 } = changed;
    if (median === null || p95 === null) return null;
    windows[name] = changed;
    fields[name] = { values, outside, median: valueAt(median, rankOf(QUANTILES.median, values)), p95: valueAt(p95, rankOf(QUANTILES.p95, values)) };
  }
  return { ...first, comune: '', rows: whole.rows, fields, identities: whole.identities, windows };
}

const NO_VALUES: QuantileWindow = { below: 0, values: [] };

/** Adds up the statistics of places. Quantiles cannot be added, so the result has null as median and 95th percentile. */
export function sumOf(gate: TableGate, places: readonly Figures[]): Pick<Figures, 'rows' | 'fields' | 'identities'> {
  const add = (of: (place: Figures) => number): number => places.reduce((total, place) => total + of(place), 0);
  return {
    rows: add(({ rows }) => rows),
    fields: Object.fromEntries(Object.keys(gate.fields).map((name) => [name, {
      values: add(({ fields }) => fields[name]?.values ?? 0), median: null, p95: null, outside: add(({ fields }) => fields[name]?.outside ?? 0),
    }])),
    identities: Object.fromEntries((gate.identities ?? []).map(identityName).map((name) => [name, {
      known: add(({ identities }) => identities[name]?.known ?? 0), broken: add(({ identities }) => identities[name]?.broken ?? 0),
    }])),
  };
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
  /** Number of changed values. Values only in the old version and values only in the new version are counted separately, and the larger number is used. */
  readonly changed: number;
  /** Net number of values that crossed the old quantile in the direction of the quantile's move; 0 if the quantile did not move. */
  readonly crossed: { readonly median: number; readonly p95: number };
}

/**
 * Compares the values of one field in two versions of a table. Returns one row per slice and comune, and one row per slice and province. Leaves out places that
 * have no values in one of the versions.
 * @param only comuni to compare, or null for all; the result of a province then covers only these comuni
 */
export async function compareValues(
  session: Session, gate: TableGate, name: string, { before, after }: { readonly before: Measured; readonly after: Measured },
  only: readonly string[] | null = null,
): Promise<Changes[]> {
  const field = gate.fields[name];
  if (field === undefined) throw new Error(`the quality gate does not check ${name}`);
  const columns = { sql: [...placed(gate), `${expressionOf(name, field)} as value`].join(', ') };
  const rows = await session.query<Omit<Changes, 'crossed'> & { median: number; p95: number }>(
    figures('changes', { columns, before: rowsOf(gate, before), after: rowsOf(gate, after) }), [only],
  );
  return rows.map(({ median, p95, ...rest }) => ({ ...rest, crossed: { median, p95 } }));
}
