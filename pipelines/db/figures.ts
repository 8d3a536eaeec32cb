/**
 * Figures of a table by place, in one pass: what the quality gate compares. Text of SQL is put together here from the names of declared columns, quoted;
 * no value is.
 */
import { identityName, type FieldGate, type Identity, type TableGate } from '../contract/gate.ts';
import type { Place } from './catalog.ts';
import { ident, type Session } from './types.ts';

/** What a place's rows of one slice say of a field. Median and 95th percentile are values that stand in the table; null: no value there. */
export interface FieldFigures {
  readonly values: number;
  readonly median: number | null;
  readonly p95: number | null;
  /** Values outside the declared bounds. */
  readonly outside: number;
}

/** Rows that an identity speaks of, and those that break it. */
export interface IdentityFigures {
  readonly known: number;
  readonly broken: number;
}

/** One place of one slice. */
export interface Figures {
  /** Empty where the table has no slices. */
  readonly slice: string;
  /** ISTAT code of the province; empty: the list of comuni does not have the comune. */
  readonly province: string;
  /** Cadastral code, or ISTAT code where the table has that; empty: the province as a whole. */
  readonly comune: string;
  readonly rows: number;
  readonly fields: Readonly<Record<string, FieldFigures>>;
  readonly identities: Readonly<Record<string, IdentityFigures>>;
}

/** The one place of a table that is not divided. */
export const WHOLE = '*';

/** A table and, where its rows are of parcels, the parcels that they are of. */
export interface Measured {
  readonly table: Place;
  readonly parcels: Place | null;
}

/** Comuni of the parcels in these tables of fids, by any of these tables of parcels. */
export async function comuniOfParcels(session: Session, fids: readonly Place[], parcels: readonly Place[]): Promise<string[]> {
  const all = fids.map(({ schema, table }) => `select fid from ${ident(schema, table)}`).join(' union ');
  const rows = await session.query<{ comune: string }>(
    parcels.map(({ schema, table }) => `select p.belfiore as comune from ${ident(schema, table)} p join (${all}) f using (fid)`).join(' union '),
  );
  return rows.map(({ comune }) => comune);
}

/** Quantities are brought to one type: whole numbers of any width are exact in it as far as they go. */
function expressionOf(name: string, field: FieldGate): string {
  if (field.kind === 'quantity' && field.of !== undefined) return `t.${ident(field.of[0])}::float8 / nullif(t.${ident(field.of[1])}, 0)`;
  return field.kind === 'quantity' ? `t.${ident(name)}::float8` : `t.${ident(name)}`;
}

function bound(value: number | null, sign: '<' | '>', column: string): string[] {
  return value === null ? [] : [`${column} ${sign} ${String(value)}`];
}

function figuresOf(field: FieldGate, column: string): string {
  const outside = field.kind === 'truth' || field.within === undefined ? [] : [...bound(field.within[0], '<', column), ...bound(field.within[1], '>', column)];
  const count = field.kind === 'truth' ? `count(*) filter (where ${column})` : `count(${column})`;
  const quantiles = field.kind === 'quantity' ? `percentile_disc(array[0.5, 0.95]) within group (order by ${column})` : 'null::float8[]';
  return `jsonb_build_array(${count}, to_jsonb(${quantiles}), ${outside.length === 0 ? '0' : `count(*) filter (where ${outside.join(' or ')})`})`;
}

/** @returns whether it speaks of a row, and whether the row breaks it */
function conditionsOf({ parts, is, whole }: Identity): { known: string; broken: string } {
  const columns = parts.map((name) => `t.${ident(name)}`);
  const total = `t.${ident(whole)}`;
  if (is === '=') return { known: [...columns, total].map((column) => `${column} is not null`).join(' and '), broken: `${columns.join(' + ')} <> ${total}` };
  return { known: `${total} is not null and num_nonnulls(${columns.join(', ')}) > 0`, broken: `${columns.map((column) => `coalesce(${column}, 0)`).join(' + ')} > ${total}` };
}

function sliceOf(gate: TableGate): string {
  if (gate.slice === undefined) return "''";
  const column = `t.${ident(gate.slice.column)}`;
  return gate.slice.presence === true ? `case when ${column} is null then 'without ' else 'with ' end || '${gate.slice.column.replaceAll("'", "''")}'` : `coalesce(${column}::text, '')`;
}

function placed(gate: TableGate, { table, parcels }: Measured): { from: string; province: string; comune: string } {
  const from = `${ident(table.schema, table.table)} t`;
  const listed = (on: string): string => `left join core.comune c on ${on}`;
  switch (gate.by) {
    case 'whole': return { from, province: "''", comune: `'${WHOLE}'` };
    case 'belfiore': return { from: `${from} ${listed('c.belfiore = t.belfiore')}`, province: "coalesce(c.province_code, '')", comune: 't.belfiore' };
    case 'istat_code': return { from: `${from} ${listed('c.istat_code = t.istat_code')}`, province: "coalesce(c.province_code, '')", comune: 't.istat_code' };
    case 'fid': {
      if (parcels === null) throw new Error(`${table.table} is of parcels, and there are none`);
      return { from: `${from} join ${ident(parcels.schema, parcels.table)} p using (fid) ${listed('c.belfiore = p.belfiore')}`, province: "coalesce(c.province_code, '')", comune: 'p.belfiore' };
    }
  }
}

/** What is no number is text in JSON. */
function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

type Found = {
  readonly slice: string; readonly province: string; readonly comune: string; readonly rows: number;
  readonly fields: Readonly<Record<string, readonly [number, readonly unknown[] | null, number]>>;
  readonly identities: Readonly<Record<string, readonly [number, number]>>;
};

/**
 * Measures a table: a line for each slice and comune, and for each slice and province.
 * @param only comuni to look at, a province's figures being theirs; null: all
 */
export async function measure(session: Session, gate: TableGate, measured: Measured, only: readonly string[] | null = null): Promise<Figures[]> {
  const fields = Object.entries(gate.fields);
  const identities = gate.identities ?? [];
  const { from, province, comune } = placed(gate, measured);
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const columns = [
    ...fields.map(([name, field], index) => `${expressionOf(name, field)} as f${index}`),
    ...identities.flatMap((identity, index) => {
      const { known, broken } = conditionsOf(identity);
      return [`(${known}) as k${index}`, `(${broken}) as b${index}`];
    }),
  ];
  const object = (pairs: readonly string[]): string => (pairs.length === 0 ? "'{}'::jsonb" : pairs.join(' || '));
  const rows = await session.query<Found>(
    `select slice, province, coalesce(comune, '') as comune, count(*) as rows,
       ${object(fields.map(([name, field], index) => `jsonb_build_object(${literal(name)}, ${figuresOf(field, `f${index}`)})`))} as fields,
       ${object(identities.map((identity, index) => `jsonb_build_object(${literal(identityName(identity))}, jsonb_build_array(count(*) filter (where k${index}), count(*) filter (where k${index} and b${index})))`))} as identities
     from (
       select ${[`${sliceOf(gate)} as slice`, `${province} as province`, `${comune} as comune`, ...columns].join(', ')}
       from ${from}
     ) r
     ${only === null ? '' : 'where comune = any ($1)'}
     group by grouping sets ((slice, province, comune), (slice, province))
     order by 1, 2, 3`,
    only === null ? [] : [only],
  );
  return rows.map(({ fields: of, identities: broken, ...place }) => ({
    ...place,
    fields: Object.fromEntries(Object.entries(of).map(([name, [values, quantiles, outside]]) => [name, { values, median: numberOf(quantiles?.[0]), p95: numberOf(quantiles?.[1]), outside }])),
    identities: Object.fromEntries(Object.entries(broken).map(([name, [known, count]]) => [name, { known, broken: count }])),
  }));
}
