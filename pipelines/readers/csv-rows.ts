/** The way of a small CSV into its staging table: every record through the source's schema, refusals with their reason. */
import type { ZodType } from 'zod';
import { expectColumns, fieldsOf, openCsv, type CsvOptions, type ExpectedColumns } from '../formats/csv.ts';
import { refusalOf } from './refusal.ts';
import type { Columns, InputFile, Sink } from '../contract/source.ts';

export interface CsvRows<K extends string> extends Omit<CsvOptions, 'at'>, Omit<ExpectedColumns<K>, 'at'> {
  /** The staging table. */
  readonly table: string;
  /** Its columns: names of the schema's fields. */
  readonly columns: Columns;
  /** From the published text of the mapped columns to values. */
  readonly schema: ZodType<Readonly<Record<string, unknown>>>;
}

/** Records between two waits for the database. */
const BATCH = 1000;

/**
 * Reads a plain CSV file as one member. Position = 1-based number of the record's last line.
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `ENCODING_WRONG`, `COLUMNS_CHANGED`
 */
export async function readCsvRows<K extends string>(file: InputFile, sink: Sink, options: CsvRows<K>): Promise<void> {
  const reader = await openCsv(file.open(), { ...options, at: file.name });
  try {
    const indexes = expectColumns(reader.header, { ...options, at: `${file.name}:${reader.headerLine}` });
    const member = await sink.member({ path: '', size: file.size });
    const fields = Object.keys(options.columns);
    let records = 0;
    for await (const record of reader.records()) {
      records += 1;
      if (record.problem !== null) {
        member.reject({ position: record.line, ...record.problem, raw: record.raw });
        continue;
      }
      const published = fieldsOf(record.values, indexes);
      const parsed = options.schema.safeParse(published);
      if (parsed.success) member.row(options.table, record.line, fields.map((field) => parsed.data[field]));
      else member.reject({ position: record.line, ...refusalOf(published, parsed.error), raw: record.raw });
      if (records % BATCH === 0) await member.drain();
    }
    await member.close(records);
  } finally {
    reader.close();
  }
}
