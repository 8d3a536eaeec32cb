/**
 * Rows of an Excel workbook (.xlsx), streamed: the sheet is never held, only its distinct texts are.
 * Format: ECMA-376 part 1 (SpreadsheetML). Cells come as the file writes them: a number cell as its digits (`42`, `70010000001`,
 * `6.3E11`), a text cell as its text; formulas as their stored result. Dates stay numbers: the publishers read here use none.
 */
import type { SaxesTagPlain } from 'saxes';
import { MappaleError, inputError } from '../errors.ts';
import { BoundedSaxes } from './xml.ts';
import type { ZipArchive } from './zip.ts';

/** Rows handed over at a time. */
const BATCH_ROWS = 512;
/** What a sheet of Excel 2007 and later has. */
const MOST_COLUMNS = 16_384;
const MOST_ROWS = 1_048_576;
/** Columns that may be filled; the widest tables of the publishers have some hundred. */
const MOST_FILLED = 2_000;
/** Excel's own limit is 32,767 in a cell; written out, one of them may take six. */
const CELL_CHARS = 262_144;
/** Distinct texts of a workbook, which are held: a million names of streets have 20 million characters. */
const MOST_TEXTS = 2_000_000;
const TEXTS_CHARS = 100_000_000;
const MOST_SHEETS = 500;

export interface XlsxSheet {
  readonly name: string;
  /** Entry of the zip: `xl/worksheets/sheet1.xml`. */
  readonly path: string;
}

export interface XlsxRow {
  /** As the sheet numbers it, from 1. */
  readonly number: number;
  /** By column, A first; null for an empty cell. Cells after the last filled one are missing. */
  readonly cells: readonly (string | null)[];
}

/** Some rows, and how much of the sheet has been read. */
export interface XlsxBatch {
  readonly rows: readonly XlsxRow[];
  /** Inflated bytes of the sheet so far. */
  readonly bytes: number;
}

/** An open workbook; it lives as long as its archive. */
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
      throw unreadable(archive.label, 'no xl/workbook.xml: the file is a zip, but not an Excel workbook');
    }
    const targets = new Map<string, string>();
    await eachTag(archive, 'xl/_rels/workbook.xml.rels', (name, attributes) => {
      if (name === 'Relationship') targets.set(attributes['Id'] ?? '', attributes['Target'] ?? '');
    });
    const sheets: XlsxSheet[] = [];
    const missing: string[] = [];
    await eachTag(archive, 'xl/workbook.xml', (name, attributes) => {
      if (name !== 'sheet') return;
      const target = targets.get(attributes['r:id'] ?? attributes['id'] ?? '') ?? '';
      const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
      if (paths.has(path)) sheets.push({ name: attributes['name'] ?? '', path });
      else missing.push(attributes['name'] ?? '');
    });
    if (missing.length > 0) throw unreadable(archive.label, `no part for ${missing.length === 1 ? 'the sheet' : 'the sheets'} ${missing.join(', ')}`);
    if (sheets.length === 0) throw unreadable(archive.label, 'no sheet');
    if (sheets.length > MOST_SHEETS) throw unreadable(archive.label, `${sheets.length} sheets, more than ${MOST_SHEETS}`);
    return new Workbook(archive, sheets);
  }

  /**
   * Streams a sheet in batches of rows; rows without any value are left out.
   * @param counter counts the rows by itself, see `XlsxRowCounter`
   * @throws input error `XLSX_UNREADABLE` with the sheet's name
   */
  async *rows(sheet: XlsxSheet, counter?: XlsxRowCounter): AsyncGenerator<XlsxBatch> {
    this.#texts ??= await readTexts(this.#archive);
    const at = `${this.#archive.label}!${sheet.path}`;
    const parser = new SheetParser(this.#texts, at);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let bytes = 0;
    for await (const chunk of (await this.#archive.stream(sheet.path)) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const text = decoded(decoder, chunk, at);
      counter?.count(text);
      parser.write(text);
      if (parser.rows.length >= BATCH_ROWS) yield { rows: parser.take(), bytes };
    }
    parser.end();
    yield { rows: parser.take(), bytes };
  }
}

/**
 * The first rows of a sheet from the first bytes of its two files, for recognising a workbook.
 * @param texts first bytes of `xl/sharedStrings.xml`; a text that lies beyond them is given as null
 * @returns at most `count` rows; fewer when the bytes do not reach
 */
export function firstRows(sheet: Buffer, texts: Buffer | null, count: number): readonly XlsxRow[] {
  const found: string[] = [];
  if (texts !== null) {
    const shared = new TextsParser(found);
    shared.writeHead(cutText(texts));
  }
  const parser = new SheetParser(found, 'head', true);
  parser.writeHead(cutText(sheet));
  return parser.rows.slice(0, count);
}

/** Decodes leniently: the last character may be cut. */
function cutText(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes, { stream: true });
}

/**
 * Counts the rows that hold a value, apart from the parser on purpose, so that the two can disagree: looks for the tags `row`, `v` and `t`
 * as text.
 */
export class XlsxRowCounter {
  #rest = '';
  #filled = true;
  rows = 0;

  count(chunk: string): void {
    const text = this.#rest + chunk;
    // A tag may be split between chunks.
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
    hint: 'Download the file again; do not save it with another program.', cause,
  });
}

/** Local name of a tag that may carry a prefix. */
const local = (name: string): string => name.slice(name.indexOf(':') + 1);

async function eachTag(archive: ZipArchive, path: string, visit: (name: string, attributes: Readonly<Record<string, string>>) => void): Promise<void> {
  const parser = new BoundedSaxes(CELL_CHARS);
  let failure: Error | null = null;
  parser.on('error', (error) => (failure ??= error));
  parser.on('opentag', (tag: SaxesTagPlain) => visit(local(tag.name), tag.attributes));
  const text = (await archive.buffer(path)).toString('utf8');
  bounded(`${archive.label}!${path}`, () => parser.write(text).close());
  if (failure !== null) throw unreadable(`${archive.label}!${path}`, (failure as Error).message, failure);
}

/** Beyond a bound the parser throws; what is not well-formed it only tells. */
function bounded(at: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw error instanceof MappaleError ? error : unreadable(at, error instanceof Error ? error.message : String(error), error);
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk: Buffer, at: string): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw unreadable(at, 'bytes that UTF-8 does not have', error);
  }
}

async function readTexts(archive: ZipArchive): Promise<readonly string[]> {
  const path = 'xl/sharedStrings.xml';
  const texts: string[] = [];
  // A workbook whose texts are all inline has no such file.
  if (!archive.entries.some((entry) => entry.path === path)) return texts;
  const parser = new TextsParser(texts);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of (await archive.stream(path)) as AsyncIterable<Buffer>) {
    parser.write(decoded(decoder, chunk, `${archive.label}!${path}`), `${archive.label}!${path}`);
  }
  parser.end(`${archive.label}!${path}`);
  return texts;
}

/** Bytes that end anywhere, for recognising: what was complete before their end, or before a bound, has been taken. */
function writeHead(parser: BoundedSaxes, text: string): void {
  try {
    parser.write(text);
  } catch {
    // Reading says what is wrong.
  }
}

/** `sharedStrings.xml`: one `si` per text, in runs `r/t`; what stands under `rPh` is how it is pronounced. */
class TextsParser {
  readonly #sax = new BoundedSaxes(CELL_CHARS);
  #failure: Error | null = null;

  constructor(into: string[]) {
    let text = '';
    let characters = 0;
    let taking = false;
    let phonetic = false;
    this.#sax.on('error', (error) => (this.#failure ??= error));
    this.#sax.on('opentag', (tag) => {
      const name = local(tag.name);
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic = true;
      else if (name === 't') taking = !phonetic;
    });
    this.#sax.on('text', (piece) => {
      if (taking) text += piece;
      if (text.length > CELL_CHARS) throw new Error(`a text of more than ${CELL_CHARS} characters`);
    });
    this.#sax.on('closetag', (tag) => {
      const name = local(tag.name);
      if (name === 't') taking = false;
      else if (name === 'rPh') phonetic = false;
      else if (name === 'si') {
        characters += text.length;
        if (into.length >= MOST_TEXTS || characters > TEXTS_CHARS) throw new Error(`more than ${MOST_TEXTS} texts or ${TEXTS_CHARS} characters of text`);
        into.push(text);
      }
    });
  }

  write(text: string, at: string): void {
    bounded(at, () => this.#sax.write(text));
    if (this.#failure !== null) throw unreadable(at, this.#failure.message, this.#failure);
  }

  writeHead(text: string): void {
    writeHead(this.#sax, text);
  }

  end(at: string): void {
    this.#sax.close();
    if (this.#failure !== null) throw unreadable(at, this.#failure.message, this.#failure);
  }
}

/** A sheet's rows, as they are completed. */
class SheetParser {
  readonly #sax = new BoundedSaxes(CELL_CHARS);
  readonly #at: string;
  #failure: Error | null = null;
  rows: XlsxRow[] = [];

  /** @param lenient a text that is not there is null instead of an error */
  constructor(texts: readonly string[], at: string, lenient = false) {
    this.#at = at;
    let number = 0;
    let cells: (string | null)[] = [];
    let filled = false;
    let column = -1;
    let type = '';
    let text: string | null = null;
    let taking = false;
    let phonetic = false;
    let formula = false;
    const fail = (found: string): void => {
      this.#failure ??= new Error(found);
    };
    this.#sax.on('error', (error) => (this.#failure ??= error));
    this.#sax.on('opentag', (tag) => {
      const name = local(tag.name);
      if (name === 'c') {
        const attributes = tag.attributes as Readonly<Record<string, string>>;
        const reference = attributes['r'];
        const before = column;
        column = reference === undefined ? column + 1 : columnOf(reference, number);
        // What stands nowhere, or where something stands, would be lost.
        if (column < 0 || column >= MOST_COLUMNS) fail(`a cell with the reference ${JSON.stringify(reference ?? `${MOST_COLUMNS + 1}th`)} in row ${number}`);
        else if (column <= before) fail(`cell ${String(reference)} behind one of column ${before + 1} of row ${number}`);
        type = attributes['t'] ?? 'n';
        text = null;
        formula = false;
      } else if (name === 'f') {
        formula = true;
      } else if (name === 'v' || name === 't') {
        taking = !phonetic;
        if (taking) text ??= '';
      } else if (name === 'rPh') {
        phonetic = true;
      } else if (name === 'row') {
        const declared = (tag.attributes as Readonly<Record<string, string>>)['r'];
        const before = number;
        number = declared === undefined ? number + 1 : Number(declared);
        if (!Number.isInteger(number) || number <= before || number > MOST_ROWS) fail(`a row numbered ${JSON.stringify(declared ?? String(number))} behind row ${before}`);
        cells = [];
        filled = false;
        column = -1;
      }
    });
    this.#sax.on('text', (piece) => {
      if (!taking) return;
      text = (text ?? '') + piece;
      if (text.length > CELL_CHARS) throw new Error(`a text of more than ${CELL_CHARS} characters in column ${column + 1} of row ${number}`);
    });
    this.#sax.on('closetag', (tag) => {
      const name = local(tag.name);
      if (name === 'v' || name === 't') {
        taking = false;
      } else if (name === 'rPh') {
        phonetic = false;
      } else if (name === 'c') {
        if (text === null) {
          if (formula && !lenient) fail(`a formula without its result in column ${column + 1} of row ${number}`);
          return;
        }
        if (column >= MOST_FILLED) fail(`a value in column ${column + 1} of row ${number}, where tables have at most ${MOST_FILLED}`);
        if (this.#failure !== null) return;
        let value: string | null = text;
        if (type === 's') {
          value = /^\d+$/.test(text) ? texts[Number(text)] ?? null : null;
          if (value === null && !lenient) fail(`a cell in column ${column + 1} of row ${number} that names text ${JSON.stringify(text)} of ${texts.length}`);
        }
        while (cells.length < column) cells.push(null);
        cells[column] = value;
        filled = true;
      } else if (name === 'row' && filled) {
        this.rows.push({ number, cells });
      }
    });
  }

  write(text: string): void {
    bounded(this.#at, () => this.#sax.write(text));
    this.#check();
  }

  writeHead(text: string): void {
    writeHead(this.#sax, text);
  }

  end(): void {
    this.#sax.close();
    this.#check();
  }

  take(): XlsxRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  #check(): void {
    if (this.#failure !== null) throw unreadable(this.#at, this.#failure.message, this.#failure);
  }
}

/** `AB12` → 27. @returns −1 for what is no reference, or one of another row */
function columnOf(reference: string, row: number): number {
  const parts = /^([A-Z]{1,3})([1-9]\d*)$/.exec(reference);
  if (parts === null || Number(parts[2]) !== row) return -1;
  let column = 0;
  for (const letter of parts[1]!) column = column * 26 + letter.charCodeAt(0) - 0x40;
  return column - 1;
}
