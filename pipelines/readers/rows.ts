/** Uses a source's schema to convert a published record to a row, or to a reject with a reason. */
import type { ZodType } from 'zod';
import { fieldsOf, type ExpectedColumns, type FoundColumns } from '../formats/csv.ts';
import type { Columns, MemberSink } from '../contract/source.ts';
import { refusalOf } from './refusal.ts';

export interface RowReading<K extends string> extends Omit<ExpectedColumns<K>, 'at'> {
  /** Name of the staging table. */
  readonly table: string;
  /** Columns of the staging table. Each column has the name of a field of the schema. */
  readonly columns: Columns;
  /** Schema that parses the published text of the mapped columns into values. */
  readonly schema: ZodType<Readonly<Record<string, unknown>>>;
}

/** Writes one record as a row, or rejects the record. @param values fields of the record @param raw published text of the record */
export type Place = (values: readonly string[], position: number, raw: string) => void;

/**
 * Reports the added columns of a header to the member, and returns a function that writes a record as a row or rejects the record. @param found result of
 * `expectColumns` for the header
 */
export function placer<K extends string>(member: MemberSink, { table, columns, schema }: RowReading<K>, found: FoundColumns<K>): Place {
  const fields = Object.keys(columns);
  found.reportTo(member);
  return (values, position, raw) => {
    const published = fieldsOf(values, found);
    const parsed = schema.safeParse(published);
    if (parsed.success) member.row(table, position, fields.map((field) => parsed.data[field]));
    else member.reject({ position, ...refusalOf(published, parsed.error), raw });
  };
}
