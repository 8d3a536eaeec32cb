/** Converts published fields by a source's schema to a row, or to a reject with its reason. */
import type { ZodType } from 'zod';
import { fieldsOf, type ExpectedColumns, type FoundColumns } from '../formats/csv.ts';
import type { Columns, MemberSink } from '../contract/source.ts';
import { refusalOf } from './refusal.ts';

export interface RowReading<K extends string> extends Omit<ExpectedColumns<K>, 'at'> {
  /** The staging table. */
  readonly table: string;
  /** Columns of the staging table, which are names of the schema's fields. */
  readonly columns: Columns;
  /** Schema that parses the published text of the mapped columns into values. */
  readonly schema: ZodType<Readonly<Record<string, unknown>>>;
}

/** A function that receives the fields of one record and the published record. */
export type Place = (values: readonly string[], position: number, raw: string) => void;

/**
 * Returns a function that writes a record as a row or rejects the record. @param found result of `expectColumns` for the header. Added columns are reported to
 * the member
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
