/**
 * Streams the rows of an Excel workbook (.xlsx). Keeps only the distinct texts of the workbook in memory. Format: ECMA-376 part 1 (SpreadsheetML). Returns a
 * number as the digits in the file (`42`, `70010000001`, `6.3E11`), and a formula as the stored result. Does not convert dates, because the published workbooks
 * contain no dates.
 */
import { inputError, type MappaleError } from '../errors.ts';
import { ElementReader, type Element } from './elements.ts';
import { counted, utf8Text } from './streams.ts';
import type { ZipArchive } from './zip.ts';

/** Minimum number of rows in a batch, except in the last batch. */
const BATCH_ROWS = 512;
/** Maximum number of columns of a sheet, as in Excel 2007 and later. */
const MOST_COLUMNS = 16_384;
const MOST_ROWS = 1_048_576;
/** Number of leading columns that may contain values. The widest published tables have a few hundred columns. */
const MOST_FILLED = 2_000;
/** Maximum length of a cell's text in the file, in characters. Excel allows 32,767 characters, and an escaped character may need six characters in the file. */
const CELL_CHARS = 262_144;
/** Maximum length of a row, or of any other element that is read, in characters. */
const ELEMENT_CHARS = 16_777_216;
/** Maximum number of distinct texts in a workbook, and their maximum total length in characters. A million street names have 20 million characters. */
const MOST_TEXTS = 2_000_000;
const TEXTS_CHARS = 100_000_000;
const MOST_SHEETS = 500;

export interface XlsxSheet {
  readonly name: string;
  /** Path of the sheet inside the zip, such as `xl/worksheets/sheet1.xml`. */
  readonly path: string;
}

export interface XlsxRow {
  /** Number of the row in the sheet, from 1. */
  readonly number: number;
  /** Cells from column A to the last filled cell; null for an empty cell. */
  readonly cells: readonly (string | null)[];
}

/** A batch of rows. */
interface XlsxBatch {
  readonly rows: readonly XlsxRow[];
  /** Number of decompressed bytes of the sheet that were read so far. */
  readonly bytes: number;
}

/** An open workbook. The zip archive must stay open while the workbook is used. */
export class Workbook {
  readonly #archive: ZipArchive;
  readonly sheets: readonly XlsxSheet[];
  #texts: readonly string[] | null = null;

  private constructor(archive: ZipArchive, sheets: readonly XlsxSheet[]) {
    this.#archive = archive;
    this.sheets = sheets;
  }

  /** @throws input error `XLSX_UNREADABLE` */
  static async open(archive: ZipArchive): Promise<Workbook> {
    const paths = new Set(archive.entries.map((entry) => entry.path));
    if (!paths.has('xl/workbook.xml') || !paths.has('xl/_rels/workbook.xml.rels')) {
      throw unreadable(archive.label, 'no xl/workbook.xml, so the zip is not an Excel workbook');
    }
    const relations = await elementsOf(archive, 'xl/_rels/workbook.xml.rels', 'Relationship');
    const targets = new Map(relations.map(({ attributes }) => [attributes['Id'], attributes['Target'] ?? '']));
    const sheets: XlsxSheet[] = [];
    const missing: string[] = [];
    for (const { attributes } of await elementsOf(archive, 'xl/workbook.xml', 'sheet')) {
      const target = targets.get(attributes['r:id'] ?? attributes['id']) ?? '';
      const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
      if (paths.has(path)) sheets.push({ name: attributes['name'] ?? '', path });
      else missing.push(attributes['name'] ?? '');
    }
    if (missing.length > 0) throw unreadable(archive.label, `no part for ${missing.length === 1 ? 'the sheet' : 'the sheets'} ${missing.join(', ')}`);
    if (sheets.length === 0) throw unreadable(archive.label, 'no sheet');
    if (sheets.length > MOST_SHEETS) throw unreadable(archive.label, `${sheets.length} sheets, more than ${MOST_SHEETS}`);
    return new Workbook(archive, sheets);
  }

  /**
   * Streams the rows of a sheet in batches. Leaves out rows without a value. @param counter counts the rows independently, see `XlsxRowCounter`
   * @throws input error `XLSX_UNREADABLE` with the path of the sheet or of the shared texts
   */
  async *rows(sheet: XlsxSheet, counter?: XlsxRowCounter): AsyncGenerator<XlsxBatch> {
    this.#texts ??= await readTexts(this.#archive);
    const at = `${this.#archive.label}!${sheet.path}`;
    let bytes = 0;
    let rows: XlsxRow[] = [];
    const take = rowTaker(this.#texts, 'whole', (row) => rows.push(row));
    const reader = elementReader('row', at, take);
    for await (const text of textOf(this.#archive, sheet.path, (read) => (bytes = read))) {
      counter?.count(text);
      reader.write(text);
      if (rows.length < BATCH_ROWS) continue;
      yield { rows, bytes };
      rows = [];
    }
    reader.end();
    yield { rows, bytes };
  }
}

/**
 * Returns the first rows of a sheet, read from the first bytes of the sheet and of the shared texts. Sources recognise a workbook by these rows.
 * @param texts first bytes of `xl/sharedStrings.xml`. A text beyond these bytes is returned as null @returns at most `count` rows, or fewer if the bytes end
 * earlier
 */
export function firstRows(sheet: Buffer, texts: Buffer | null, count: number): readonly XlsxRow[] {
  const found: string[] = [];
  const rows: XlsxRow[] = [];
  // Uses only complete rows before the end of the bytes or before an error. The error is reported when the whole file is read.
  const readHead = (bytes: Buffer, name: string, take: (element: Element) => void): void => {
    try {
      elementReader(name, 'head', take).write(new TextDecoder('utf-8').decode(bytes, { stream: true }));
    } catch {
      // The rest is not needed.
    }
  };
  if (texts !== null) readHead(texts, 'si', (element) => found.push(contentOf(element) ?? ''));
  readHead(sheet, 'row', rowTaker(found, 'cut', (row) => rows.push(row)));
  return rows.slice(0, count);
}

/** Counts the rows with a value, to detect errors of the parser. Searches the XML for the tags `row`, `v` and `t` without the parser. */
export class XlsxRowCounter {
  #rest = '';
  #filled = true;
  rows = 0;

  count(chunk: string): void {
    const text = this.#rest + chunk;
    // Keeps the last incomplete tag for the next chunk.
    const end = text.lastIndexOf('<');
    const whole = end === -1 || text.indexOf('>', end) !== -1 ? text.length : end;
    this.#rest = text.slice(whole);
    for (const match of text.slice(0, whole).matchAll(/<(?:\w+:)?(row|v|t)(?=[\s>])/g)) {
      if (match[1] === 'row') {
        this.#filled = false;
      } else if (!this.#filled) {
        this.#filled = true;
        this.rows += 1;
      }
    }
  }
}

function unreadable(at: string, reason: string, cause?: unknown): MappaleError {
  return inputError('workbook cannot be read', {
    code: 'XLSX_UNREADABLE', at, detail: `expected an Excel workbook (.xlsx), found: ${reason}`,
    hint: 'Download the file again, and do not save the file with another program.', cause,
  });
}

/**
 * Returns a reader that calls `take` for each element with a given name. The reader throws the input error `XLSX_UNREADABLE` for malformed XML, and for errors
 * of `take`.
 */
function elementReader(name: string, at: string, take: (element: Element) => void): ElementReader {
  return new ElementReader({
    strict: true,
    most: { text: CELL_CHARS, element: ELEMENT_CHARS },
    what: `<${name}>`,
    wants: (each) => each === name,
    found: ({ element }) => take(element),
    broken(message) {
      throw unreadable(at, message);
    },
  });
}

/** Streams the text of one file of the workbook. @throws input error `XLSX_UNREADABLE` */
async function* textOf(archive: ZipArchive, path: string, count: (bytes: number) => void = () => undefined): AsyncGenerator<string, void, undefined> {
  const stream = (await archive.stream(path)) as AsyncIterable<Buffer>;
  yield* utf8Text(counted(stream, count), (cause) => unreadable(`${archive.label}!${path}`, 'bytes that are not valid UTF-8', cause));
}

/** Returns all elements with a given name in a small file of the workbook. */
async function elementsOf(archive: ZipArchive, path: string, name: string): Promise<Element[]> {
  const found: Element[] = [];
  const reader = elementReader(name, `${archive.label}!${path}`, (element) => found.push(element));
  reader.write((await archive.buffer(path)).toString('utf8'));
  reader.end();
  return found;
}

/** Returns the distinct texts of the workbook from `sharedStrings.xml`. */
async function readTexts(archive: ZipArchive): Promise<readonly string[]> {
  const path = 'xl/sharedStrings.xml';
  const texts: string[] = [];
  // A workbook without shared texts may lack this file.
  if (!archive.entries.some((entry) => entry.path === path)) return texts;
  let characters = 0;
  const reader = elementReader('si', `${archive.label}!${path}`, (element) => {
    const text = contentOf(element) ?? '';
    if (text.length > CELL_CHARS) throw new Error(`a text of more than ${CELL_CHARS} characters`);
    characters += text.length;
    if (texts.length >= MOST_TEXTS || characters > TEXTS_CHARS) throw new Error(`more than ${MOST_TEXTS} texts or ${TEXTS_CHARS} characters of text`);
    texts.push(text);
  });
  for await (const text of textOf(archive, path)) reader.write(text);
  reader.end();
  return texts;
}

/**
 * Returns the text of a cell or shared string, or null if there is no text. The text is in one element `v` or several elements `t`. Leaves out phonetic text
 * (`rPh`).
 */
function contentOf({ children }: Element): string | null {
  let text: string | null = null;
  for (const child of children) {
    const inside = child.name === 'v' || child.name === 't' ? child.text : child.name === 'rPh' ? null : contentOf(child);
    if (inside !== null) text = (text ?? '') + inside;
  }
  return text;
}

/**
 * Returns a function that converts a `<row>` element and passes the row to `take`. Rows without a value are left out.
 * @param extent `cut` if `texts` contains only the first texts of the file @throws Error for an invalid row or cell
 */
function rowTaker(texts: readonly string[], extent: 'whole' | 'cut', take: (row: XlsxRow) => void): (row: Element) => void {
  let number = 0;
  return (row) => {
    const before = number;
    const declared = row.attributes['r'];
    number = declared === undefined ? before + 1 : Number(declared);
    if (!Number.isInteger(number) || number <= before || number > MOST_ROWS) {
      throw new Error(`a row numbered ${JSON.stringify(declared ?? String(number))} after row ${before}`);
    }
    const cells: (string | null)[] = [];
    let column = -1;
    for (const cell of row.children.filter(({ name }) => name === 'c')) {
      column = columnBehind(column, cell.attributes['r'], number);
      const value = valueOf(cell, texts, extent, `column ${column + 1} of row ${number}`);
      if (value === undefined) continue;
      if (column >= MOST_FILLED) throw new Error(`a value in column ${column + 1} of row ${number}, but tables have at most ${MOST_FILLED} columns`);
      while (cells.length < column) cells.push(null);
      cells.push(value);
    }
    if (cells.length > 0) take({ number, cells });
  };
}

/** Returns the column of a cell, from 0. @throws Error for an invalid reference, or for a column that does not follow the previous cell's column */
function columnBehind(before: number, reference: string | undefined, row: number): number {
  const column = reference === undefined ? before + 1 : columnOf(reference, row);
  if (column < 0 || column >= MOST_COLUMNS) throw new Error(`a cell with the reference ${JSON.stringify(reference ?? `${MOST_COLUMNS + 1}th`)} in row ${row}`);
  if (column <= before) throw new Error(`cell ${String(reference)} follows a cell in column ${before + 1} of row ${row}`);
  return column;
}

/** Returns the value of a cell: undefined for an empty cell, null for a shared text that was not read. */
function valueOf(cell: Element, texts: readonly string[], extent: 'whole' | 'cut', at: string): string | null | undefined {
  const text = contentOf(cell);
  if (text === null) {
    if (extent === 'whole' && cell.children.some(({ name }) => name === 'f')) throw new Error(`a formula without its result in ${at}`);
    return undefined;
  }
  if (text.length > CELL_CHARS) throw new Error(`a text of more than ${CELL_CHARS} characters in ${at}`);
  if (cell.attributes['t'] !== 's') return text;
  const shared = /^\d+$/.test(text) ? texts[Number(text)] : undefined;
  if (shared === undefined && extent === 'whole') throw new Error(`a cell in ${at} that refers to text ${JSON.stringify(text)}, but there are ${texts.length} texts`);
  return shared ?? null;
}

/** Converts a cell reference to a column, from 0: `AB12` → 27. @returns −1 for an invalid reference or a reference to a different row */
function columnOf(reference: string, row: number): number {
  const parts = /^([A-Z]{1,3})([1-9]\d*)$/.exec(reference);
  if (parts === null || Number(parts[2]) !== row) return -1;
  let column = 0;
  for (const letter of parts[1] ?? '') column = column * 26 + letter.charCodeAt(0) - 0x40;
  return column - 1;
}
