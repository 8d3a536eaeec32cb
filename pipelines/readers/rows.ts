/** Published fields on their way through a source's schema: a row, or a reject with its reason. */
import type { ZodType } from 'zod';
import { fieldsOf, type ExpectedColumns } from '../formats/csv.ts';
import type { Columns, MemberSink } from '../contract/source.ts';
import { refusalOf } from './refusal.ts';

export interface RowReading<K extends string> extends Omit<ExpectedColumns<K>, 'at'> {
  /** The staging table. */
  readonly table: string;
  /** Its columns: names of the schema's fields. */
  readonly columns: Columns;
  /** From the published text of the mapped columns to values. */
  readonly schema: ZodType<Readonly<Record<string, unknown>>>;
}

/** Takes the fields of one record, and the record as published. */
export type Place = (values: readonly string[], position: number, raw: string) => void;

/** @param indexes where the mapped columns stand, as `expectColumns` found them */
export function placer<K extends string>(member: MemberSink, { table, columns, schema }: RowReading<K>, indexes: Readonly<Record<K, number>>): Place {
  const fields = Object.keys(columns);
  return (values, position, raw) => {
    const published = fieldsOf(values, indexes);
    const parsed = schema.safeParse(published);
    if (parsed.success) member.row(table, position, fields.map((field) => parsed.data[field]));
    else member.reject({ position, ...refusalOf(published, parsed.error), raw });
  };
}
