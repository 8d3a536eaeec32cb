/** Reads a small workbook into a staging table. Finds the sheet with the table, and checks every row with the source's schema. Each reject has a reason. */
import { columnsChanged, expectColumns, resembles, type Editions } from '../formats/csv.ts';
import { placer, type RowReading } from './rows.ts';
import type { InputFile, Probe, Sink } from '../contract/source.ts';
import { Workbook, XlsxRowCounter, firstRows, type XlsxRow, type XlsxSheet } from '../formats/xlsx.ts';

/** Number of rows at the start of a sheet in which the reader looks for the header. Titles and notes may be above the header. */
const HEADER_WITHIN = 20;

const valuesOf = ({ cells }: XlsxRow): string[] => cells.map((cell) => cell ?? '');
const filled = (values: readonly string[]): number => values.filter((value) => value.trim() !== '').length;

/** Returns the names of a workbook's sheets; null for a file that is not a workbook. */
export async function sheetNames(probe: Probe): Promise<string[] | null> {
  if (!(probe.entries ?? []).some(({ path }) => path === 'xl/workbook.xml')) return null;
  return [...(await probe.headOf('xl/workbook.xml')).toString('utf8').matchAll(/<(?:\w+:)?sheet\s[^<>]*?name="([^"]*)"/g)].map((match) => match[1] ?? '');
}

/**
 * Returns the names of all sheets, and the header of the first sheet whose columns resemble an edition; null if the file is not a workbook, or no sheet
 * resembles an edition.
 */
export async function peekWorkbook(probe: Probe, editions: Editions): Promise<{ readonly sheets: string; readonly header: readonly string[] } | null> {
  const entries = probe.entries ?? [];
  const names = await sheetNames(probe);
  if (names === null) return null;
  const texts = entries.some(({ path }) => path === 'xl/sharedStrings.xml') ? await probe.headOf('xl/sharedStrings.xml') : null;
  for (const { path } of entries.filter((entry) => /^xl\/worksheets\/[^/]+\.xml$/.test(entry.path))) {
    const header = firstRows(await probe.headOf(path), texts, HEADER_WITHIN).map(valuesOf).find((values) => resembles(values, editions));
    if (header !== undefined) return { sheets: names.join(' '), header };
  }
  return null;
}

interface Table {
  readonly sheet: XlsxSheet;
  readonly header: readonly string[];
  /** Number of the row with the header. */
  readonly row: number;
}

async function findTable(workbook: Workbook, editions: Editions): Promise<Table | null> {
  for (const sheet of workbook.sheets) {
    for await (const { rows } of workbook.rows(sheet)) {
      const found = rows.slice(0, HEADER_WITHIN).find((row) => resembles(valuesOf(row), editions));
      if (found !== undefined) return { sheet, header: valuesOf(found), row: found.number };
      break;
    }
  }
  return null;
}

/**
 * Reads the table of a workbook as one member. The position of a record is the number of the row in the sheet. Rows with at most one filled cell are not
 * records, but titles, footnotes or empty rows.
 * @throws input errors `XLSX_UNREADABLE`, `COLUMNS_CHANGED`
 */
export async function readXlsxRows<K extends string>(file: InputFile, sink: Sink, options: RowReading<K> & { readonly editions: Editions }): Promise<void> {
  const archive = await file.zip();
  try {
    const workbook = await Workbook.open(archive);
    const table = await findTable(workbook, options.editions);
    if (table === null) {
      const known = Object.keys(options.editions).join(', ');
      const found = workbook.sheets.map(({ name }) => name).join(', ');
      throw columnsChanged(file.name, `expected a sheet with the columns of one of the editions ${known}, found ${found}`);
    }
    const { sheet } = table;
    const header = table.header.slice(0, table.header.findLastIndex((name) => name.trim() !== '') + 1);
    const columns = expectColumns(header, { ...options, at: `${file.name}, sheet ${sheet.name}, row ${table.row}` });
    const member = await sink.member({ path: '', size: file.size });
    const place = placer(member, options, columns);
    const counter = new XlsxRowCounter();
    const { size } = archive.entry(sheet.path);
    let apart = 0;
    for await (const { rows, bytes } of workbook.rows(sheet, counter)) {
      for (const row of rows) {
        const values = valuesOf(row);
        const raw = values.join('\t');
        if (row.number <= table.row || filled(values) <= 1) apart += 1;
        else if (filled(values.slice(header.length)) === 0) place(values, row.number, raw);
        else member.reject({ position: row.number, code: 'column_count', message: `expected ${header.length} cells, found a value behind them`, raw });
      }
      sink.progress((file.size * bytes) / size);
      await member.drain();
    }
    await member.close(counter.rows - apart);
  } finally {
    await archive.close();
  }
}
