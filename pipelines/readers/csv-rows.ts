/** Reads a small CSV into a staging table. The source's schema checks every record, and each reject has a reason. */
import { expectColumns, openCsv, type CsvOptions } from '../formats/csv.ts';
import { openFile } from './file-parts.ts';
import { placer, type RowReading } from './rows.ts';
import type { InputFile, Sink } from '../contract/source.ts';

/** Number of records after which the reader waits for the database. */
const BATCH = 1000;

/**
 * Reads a plain CSV file as one member. The position of a record is the number of the record's last line, from 1.
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `COLUMNS_TOO_MANY`, `ENCODING_WRONG`, `COLUMNS_CHANGED`
 */
export async function readCsvRows<K extends string>(file: InputFile, sink: Sink, options: Omit<CsvOptions, 'at'> & RowReading<K>): Promise<void> {
  const reader = await openCsv(openFile(file, sink), { ...options, at: file.name });
  try {
    const columns = expectColumns(reader.header, { ...options, at: `${file.name}:${reader.headerLine}` });
    const member = await sink.member({ path: '', size: file.size });
    const place = placer(member, options, columns);
    let records = 0;
    for await (const { line, values, raw, problem } of reader.records()) {
      records += 1;
      if (problem === null) place(values, line, raw);
      else member.reject({ position: line, ...problem, raw });
      if (records % BATCH === 0) await member.drain();
    }
    await member.close(records);
  } finally {
    reader.close();
  }
}
