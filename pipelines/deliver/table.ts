/** Reads users' CSV tables, whose delimiter and encoding are detected, and writes CSV. */
import { openCsv, peekRows, type CsvOptions, type CsvReader } from '../formats/csv.ts';
import { withStart } from '../formats/streams.ts';
import type { Cell } from './columns.ts';

export type Delimiter = CsvOptions['delimiter'];

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

/** Number of bytes after which the delimiter is detected even if no line has ended. */
const HEAD_BYTES = 65_536;

export interface Table extends CsvReader {
  readonly delimiter: Delimiter;
}

/**
 * Opens a CSV table, and detects its delimiter and encoding.
 * @param at name of the table in messages
 * @param fits returns whether a header has the expected columns; if no delimiter gives such a header, the delimiter with the most columns is used
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `COLUMNS_TOO_MANY`, `ENCODING_WRONG`
 */
export async function openTable(stream: AsyncIterable<Buffer>, at: string, fits: (header: readonly string[]) => boolean): Promise<Table> {
  const { start, all } = await withStart(stream, { most: HEAD_BYTES, until: '\n' });
  const head = Buffer.concat(start);
  const headers = DELIMITERS.map((delimiter) => ({ delimiter, header: peekRows(head, delimiter, 1)[0] ?? [] }));
  const most = Math.max(...headers.map(({ header }) => header.length));
  const delimiter = (headers.find(({ header }) => fits(header)) ?? headers.find(({ header }) => header.length === most))?.delimiter ?? ',';
  return { ...await openCsv(all, { at, delimiter, keepsAllRows: true }), delimiter };
}

/** Returns a CSV record (RFC 4180) that ends with a line feed. Null becomes an empty field. */
export function csvLine(cells: readonly Cell[], delimiter: Delimiter): string {
  return `${cells.map((cell) => csvField(cell, delimiter)).join(delimiter)}\n`;
}

function csvField(cell: Cell, delimiter: Delimiter): string {
  if (cell === null) return '';
  const text = String(cell);
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Matches the first character of a text that a spreadsheet program would evaluate as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i;

/** Adds an apostrophe before a text that a spreadsheet program would evaluate as a formula. Numbers stay unchanged. */
export function withoutFormula(cell: Cell): Cell {
  return typeof cell === 'string' && FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}

/** Applies `withoutFormula` to the cell at index `from` and to all later cells. */
export function guardedCells(cells: readonly Cell[], from: number): readonly Cell[] {
  return cells.map((cell, column) => (column < from ? cell : withoutFormula(cell)));
}
