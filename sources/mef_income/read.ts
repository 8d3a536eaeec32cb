/** Reads one MEF file, plain or zipped: a table of tax returns by comune (comunale) or by postal code (subcomunale). */
import { expectColumns, fieldsOf, openCsv } from '../../pipelines/formats/csv.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { inputError, type InputFile, type MemberFacts, type Sink } from '../../pipelines/contract/source.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/formats/zip.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, OPTIONAL, PAIRS, record as schema, tables } from './schema.ts';

const ORDER = Object.keys(tables.raw_income);

export async function read(file: InputFile, sink: Sink): Promise<void> {
  const table = ({ entries }: ZipArchive): readonly ZipEntry[] => {
    const found = entries.filter((entry) => /\.csv$/i.test(entry.path));
    if (found.length === 1) return found;
    throw inputError('the MEF zip does not contain exactly one table', {
      code: 'ENTRY_COUNT', at: file.name, detail: `expected one .csv, found ${found.length}`, hint: 'Use one zip per table, as published.',
    });
  };
  for await (const { facts, at, open } of partsOf(file, sink, table)) await readCsv(await open(), facts, at, file, sink);
}

async function readCsv(stream: AsyncIterable<Buffer>, facts: MemberFacts, at: string, file: InputFile, sink: Sink): Promise<void> {
  const reader = await openCsv(stream, { at, delimiter: ';', quote: null });
  const columns = expectColumns(reader.header, { mapped: COLUMNS, optional: OPTIONAL, ignored: manifest.ignored, editions: EDITIONS[file.role as keyof typeof EDITIONS], at: `${at}:${reader.headerLine}` });
  // The header and the rows have different numbers of cells at the end, which change every year. Columns with a name are required, and the cells after
  // these columns must be blank.
  const named = reader.header.findLastIndex((name) => name.trim() !== '') + 1;
  const member = await sink.member({ ...facts, envelope: { before: `${reader.header.join(';')}\r\n`, after: '\r\n' } });
  columns.reportTo(member);
  let records = 0;
  for await (const { line, values, raw } of reader.records()) {
    records += 1;
    const reject = (code: string, message: string): void => member.reject({ position: line, code, message, raw });
    const surplus = values.slice(named).find((cell) => cell.trim() !== '');
    if (values.length < named || surplus !== undefined) {
      reject('column_count', `expected ${named} fields and blanks after them, found ${values.length}${surplus === undefined ? '' : ` and ${JSON.stringify(surplus)}`}`);
      continue;
    }
    const fields = fieldsOf(values.map((cell) => cell.trim()), columns);
    const parsed = schema.safeParse(fields);
    if (!parsed.success) {
      const { code, message } = refusalOf(fields, parsed.error);
      reject(code, message);
      continue;
    }
    const row: Record<string, unknown> = parsed.data;
    const halved = PAIRS.find((name) => (row[`${name}_n`] === null) !== (row[`${name}_eur`] === null));
    if (halved !== undefined) {
      reject('pair_halved', `expected number and amount of ${halved} together, found only one`);
      continue;
    }
    if (String(row['tax_year']) !== file.vintage) {
      reject('tax_year_other', `expected tax year ${file.vintage} as in the first record, found ${String(row['tax_year'])}`);
      continue;
    }
    if (row['belfiore'] !== null && (row['istat_code'] === null || row['region_code'] === null)) {
      reject('istat_code_missing', 'expected the ISTAT codes of the comune and of its region, found 0');
      continue;
    }
    if (file.role === 'subcomunale' && row['belfiore'] !== null && row['cap'] === null) {
      reject('cap_missing', 'expected a postal code, found none');
      continue;
    }
    row['level'] = row['belfiore'] === null ? 'unplaced' : file.role === 'subcomunale' ? 'cap' : 'comune';
    member.row('raw_income', line, ORDER.map((name) => row[name]));
    await member.drain();
  }
  await member.close(records);
}
