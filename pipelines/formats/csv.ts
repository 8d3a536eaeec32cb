/**
 * CSV record by record: decoding, header matching and line numbers for sources of up to some million records.
 * The parser is csv-parse; what the publishers vary — encoding, header spelling, extra columns — is settled here.
 */
import { isAscii } from 'node:buffer';
import { Readable, pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { CsvError, parse, type Info } from 'csv-parse';
import { MappaleError, inputError } from '../errors.ts';
import { ODD_TEXT, withoutDoubles } from './odd-text.ts';
import { isUtf8 } from './streams.ts';

/** A quote that is never closed would swallow the rest of the file; no record of a publisher comes near this size. */
const MAX_RECORD_CHARACTERS = 1_048_576;

/** The widest tables of the publishers have some hundred. */
const MOST_COLUMNS = 2_000;

export interface CsvOptions {
  /** How messages name the file: `Elenco.csv` or `outer.zip!inner.csv`. */
  readonly at: string;
  readonly delimiter: ';' | ',' | '\t' | '|';
  /** Null when the publisher quotes nothing: then a quote is an ordinary character. Default `"`. */
  readonly quote?: '"' | null;
}

export interface CsvRecord {
  /** 1-based number of the record's last line. */
  readonly line: number;
  readonly values: readonly string[];
  /** The record as published, decoded, without its line end. */
  readonly raw: string;
  /** What is wrong with its shape, `column_count` or `unnamed_column`; null when nothing is. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export interface CsvReader {
  /** Column names as published. */
  readonly header: readonly string[];
  /** 1-based number of the header's last line. */
  readonly headerLine: number;
  /**
   * The records in file order; empty lines are passed over. May be called once.
   * @throws input errors `CSV_MALFORMED`, `ENCODING_WRONG`
   */
  records(): AsyncIterable<CsvRecord>;
  /** Frees the stream when not all records are read. */
  close(): void;
}

interface Parsed {
  readonly record: string[];
  readonly raw: string;
  readonly info: Info;
}

/**
 * Opens a stream of bytes as CSV and reads its header.
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `COLUMNS_TOO_MANY`, `ENCODING_WRONG`
 */
export async function openCsv(stream: AsyncIterable<Buffer>, options: CsvOptions): Promise<CsvReader> {
  const { at } = options;
  const parser = parse({
    delimiter: options.delimiter,
    quote: options.quote === null ? false : '"',
    info: true,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
  });
  // The callback is there to take the error, which reaches the iteration below through the parser.
  pipeline(Readable.from(decoded(stream, at)), parser, () => undefined);
  const iterator = (parser as AsyncIterable<Parsed, undefined>)[Symbol.asyncIterator]();
  const next = async (): Promise<Parsed | null> => {
    try {
      return (await iterator.next()).value ?? null;
    } catch (error) {
      throw malformed(error, at);
    }
  };

  const first = await next();
  if (first === null) {
    throw inputError('the file is empty', {
      code: 'CSV_EMPTY', at, detail: 'expected a header line, found none', hint: 'The download was probably cut short. Download the file again.',
    });
  }
  const header = first.record;
  if (header.length > MOST_COLUMNS) {
    throw inputError('the table has too many columns', {
      code: 'COLUMNS_TOO_MANY', at: `${at}:${first.info.lines}`, detail: `expected at most ${MOST_COLUMNS} columns, found ${header.length}`,
      hint: 'No publisher has so many. Look at that line: a line end may be missing.',
    });
  }
  const unnamed = header.flatMap((name, index) => (name.trim() === '' ? [index] : []));

  async function* records(): AsyncGenerator<CsvRecord> {
    try {
      for (let parsed = await next(); parsed !== null; parsed = await next()) {
        const { record, info } = parsed;
        let problem: CsvRecord['problem'] = null;
        if (record.length !== header.length) {
          problem = { code: 'column_count', message: `expected ${header.length} fields, found ${record.length}` };
        } else {
          const filled = unnamed.find((index) => record[index]?.trim() !== '');
          if (filled !== undefined) {
            problem = { code: 'unnamed_column', message: `expected nothing in column ${filled + 1}, which has no name, found "${record[filled] ?? ''}"` };
          }
        }
        yield { line: info.lines, values: record, raw: lineOf(parsed.raw), problem };
      }
    } finally {
      parser.destroy();
    }
  }
  return { header, headerLine: first.info.lines, records, close: () => void parser.destroy() };
}

/** Removes the line ends around a record. Counts characters: an expression anchored at the end takes quadratic time on a field full of line ends. */
function lineOf(raw: string): string {
  const isLineEnd = (at: number): boolean => raw[at] === '\n' || raw[at] === '\r';
  let start = 0;
  let end = raw.length;
  while (start < end && isLineEnd(start)) start += 1;
  while (end > start && isLineEnd(end - 1)) end -= 1;
  return raw.slice(start, end);
}

function malformed(error: unknown, at: string): unknown {
  if (error instanceof MappaleError || !(error instanceof CsvError)) return error;
  const line = typeof error['lines'] === 'number' ? `:${error['lines']}` : '';
  return inputError('the CSV cannot be divided into records', {
    code: 'CSV_MALFORMED', at: `${at}${line}`, detail: `expected fields as the publisher quotes them, found: ${error.message}`,
    hint: 'Look at that line: a quote is not closed or not doubled.', cause: error,
  });
}

/**
 * Bytes to text, strictly: a byte that the encoding does not have is an error, never a replacement character. The text is UTF-8 when it has its byte order
 * mark or its first bytes beyond ASCII are valid, windows-1252 otherwise; UTF-16 no publisher changes to, and spreadsheets do.
 */
async function* decoded(stream: AsyncIterable<Buffer>, at: string): AsyncGenerator<string, void, undefined> {
  let decoder: TextDecoder | null = null;
  /** Bytes not yet decoded, because more are needed to know the encoding. */
  let held: Buffer = Buffer.alloc(0);
  /** Line ends in the text so far, and its last character: what was decoded wrongly may lie across two chunks. */
  let lines = 0;
  let last = '';
  const wrong = (line: number, found: string, cause?: unknown): MappaleError => inputError('the file has another encoding than its publisher uses', {
    code: 'ENCODING_WRONG', at: `${at}:${line}`, detail: `expected text in UTF-8 or windows-1252, found ${found}`,
    hint: 'Use the file as downloaded; a spreadsheet program that saves it again may change its encoding.', cause,
  });
  const encodingOf = (bytes: Buffer, final: boolean): string => {
    const [first, second, third] = lines === 0 && last === '' ? bytes : [];
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw wrong(1, 'the byte order mark of UTF-16');
    return (first === 0xef && second === 0xbb && third === 0xbf) || isUtf8(bytes, !final) ? 'utf-8' : 'windows-1252';
  };
  const textOf = (bytes: Buffer, final: boolean): string => {
    let text: string;
    try {
      // Whole texts of windows-1252 are read as Latin-1 by some versions of Node, streams are not; it has no letters of several bytes.
      text = decoder === null ? bytes.toString('latin1') : decoder.decode(bytes, { stream: !final || decoder.encoding === 'windows-1252' });
    } catch (error) {
      throw wrong(lines + 1 + linesBeforeFault(bytes), 'bytes that utf-8 does not have', error);
    }
    // Single names that were encoded twice are the publishers' own; whether all are is asked of the rows.
    const seen = withoutDoubles(last + text);
    const odd = ODD_TEXT.exec(seen);
    if (odd !== null) {
      throw wrong(lines + 1 + countLines(seen.slice(0, odd.index)), `${JSON.stringify(odd[0])}, which is what another encoding's bytes look like`);
    }
    lines += countLines(text);
    last = text === '' ? last : text.endsWith('\n') ? '' : text.slice(-1);
    return text;
  };
  async function* pieces(): AsyncGenerator<{ readonly bytes: Buffer; readonly final: boolean }, void, undefined> {
    for await (const chunk of stream) yield { bytes: held.length === 0 ? chunk : Buffer.concat([held, chunk]), final: false };
    yield { bytes: held, final: true };
  }
  for await (const { bytes, final } of pieces()) {
    held = Buffer.alloc(0);
    // ASCII decides nothing.
    const beyond = decoder !== null || isAscii(bytes) ? -1 : bytes.findIndex((byte) => byte > 0x7f);
    if (beyond !== -1 && !final && bytes.length - beyond < 4) {
      // A UTF-8 character has up to four bytes.
      held = bytes.subarray(beyond);
      yield textOf(bytes.subarray(0, beyond), false);
      continue;
    }
    if (beyond !== -1) decoder = new TextDecoder(encodingOf(bytes, final), { fatal: true });
    yield textOf(bytes, final);
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Lines that end before the first that is not UTF-8. */
function linesBeforeFault(bytes: Buffer): number {
  let start = 0;
  // The rest of a character that was cut.
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  for (let lines = 0; ; lines += 1) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end), false)) return lines;
    start = end + 1;
  }
}

/**
 * A column's name without what the publishers vary: case, accents, footnote marks such as `(2)`, line breaks, apostrophes, other
 * punctuation. `"Codice Catastale del\n Comune (3)"` → `codice_catastale_del_comune`; a column without a name → `''`.
 */
export function normaliseHeader(name: string): string {
  return name
    .replace(/\(\d+\)/g, ' ')
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

/**
 * First lines of a table of which only the first bytes are known: for recognising files, never for reading them. csv-parse gives nothing of a row in
 * which the bytes end inside quotes, and takes three times as long (measured on first bytes of published files).
 * @param head first bytes, in any encoding that publishers or spreadsheet programs use
 * @returns cells as published, without quotes; the last row may be cut
 */
export function peekRows(head: Buffer, delimiter: CsvOptions['delimiter'], rows: number): string[][] {
  const text = peekText(head);
  const found: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (const letter of text) {
    if (quoted) {
      if (letter === '"') quoted = false;
      else cell += letter;
    } else if (letter === '"' && cell === '') quoted = true;
    else if (letter === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (letter === '\n') {
      found.push([...cells, cell.replace(/\r$/, '')]);
      if (found.length === rows) return found;
      cells = [];
      cell = '';
    } else cell += letter;
  }
  if (cell !== '' || cells.length > 0) found.push([...cells, cell]);
  return found;
}

/** Text of a file's first bytes: UTF-16 by its mark, UTF-8 when it is valid, else windows-1252. */
function peekText(head: Buffer): string {
  let text = peeked.get(head);
  if (text === undefined) peeked.set(head, text = decodeHead(head));
  return text;
}

/** Every source looks at the same bytes. */
const peeked = new WeakMap<Buffer, string>();

function decodeHead(head: Buffer): string {
  // As a stream: see `Decoder`. A letter that is cut at the end is left out.
  const decode = (encoding: string, bytes: Buffer): string => new TextDecoder(encoding).decode(bytes, { stream: true });
  if (head[0] === 0xff && head[1] === 0xfe) return decode('utf-16le', head);
  if (head[0] === 0xfe && head[1] === 0xff) return decode('utf-16le', Buffer.from(head.subarray(0, head.length & ~1)).swap16());
  return decode(isUtf8(head, true) ? 'utf-8' : 'windows-1252', head);
}

/** Name of an edition → the publisher's columns, spelled as in `ExpectedColumns`. A column `''` is a cell without a name. */
export type Editions = Readonly<Record<string, readonly string[]>>;

/** Share of an edition's columns that a changed header must have to be known for what it is. */
const RESEMBLING = 0.6;

/** Is this the header of one of these editions, perhaps changed? Then reading it says how. */
export function resembles(found: readonly string[], editions: Editions): boolean {
  const wanted = Object.values(editions).map((columns) => columns.filter((column) => column !== ''));
  // Most strangers have too few cells, whatever stands in them.
  const possible = wanted.filter((columns) => found.length >= columns.length * RESEMBLING);
  if (possible.length === 0) return false;
  const names = found.map(normaliseHeader);
  return possible.some((columns) => columns.filter((column) => names.some((name) => matchesName(column, name))).length / columns.length >= RESEMBLING);
}

export interface ExpectedColumns<K extends string> {
  /** Our name → the publisher's spellings, compared as `normaliseHeader` makes them; a final `*` stands for any ending. */
  readonly mapped: Readonly<Record<K, string | readonly string[]>>;
  /** Of the mapped ones, those that some editions lack. */
  readonly optional?: readonly NoInfer<K>[];
  /** Published columns that are not used (same spelling rules) → why. The key `''` allows columns without a name. */
  readonly ignored: Readonly<Record<string, string>>;
  /**
   * All columns of each known edition, used or not. When given, the header must be exactly that of one edition (in any order,
   * with any number of columns without a name where those are ignored): a column that nobody uses is missed as well.
   */
  readonly editions?: Editions;
  /** How messages name the file. */
  readonly at: string;
}

/**
 * Finds each column by its name, wherever it stands.
 * @returns our name → index in the record; −1 for an optional column that is not there
 * @throws input error `COLUMNS_CHANGED` with the columns that are missing, unknown or there twice
 */
export function expectColumns<K extends string>(found: readonly string[], expected: ExpectedColumns<K>): Record<K, number> {
  const names = found.map(normaliseHeader);
  const taken = new Set<number>();
  const missing: string[] = [];
  const missed: string[] = [];
  const twice: string[] = [];
  const indexes = {} as Record<K, number>;
  for (const [key, spellings] of Object.entries(expected.mapped) as [K, string | readonly string[]][]) {
    const patterns = typeof spellings === 'string' ? [spellings] : spellings;
    const matches = names.flatMap((name, index) => (patterns.some((pattern) => matchesName(pattern, name)) ? [index] : []));
    if (matches.length > 1) twice.push(`${key} (${found.filter((_, index) => matches.includes(index)).map((name) => `"${name}"`).join(' and ')})`);
    if (matches.length === 0 && expected.optional?.includes(key) !== true) {
      missing.push(`${key} (${patterns.join(' or ')})`);
      missed.push(...patterns.map(normaliseHeader));
    }
    indexes[key] = matches[0] ?? -1;
    for (const index of matches) taken.add(index);
  }
  const reasons = Object.keys(expected.ignored);
  const unknown = found.filter((published, index) => !taken.has(index) && !reasons.some((pattern) => matchesName(pattern, normaliseHeader(published))));
  const nearest = expected.editions === undefined ? null : differenceTo(found, names, expected.editions);
  // What is mapped is missing by our name; an edition's other columns by the publisher's.
  const lost = nearest?.missing.filter((column) => !missed.includes(normaliseHeader(column))) ?? [];
  const strange = [...unknown, ...(nearest?.unknown ?? []).filter((name) => !unknown.includes(name))];
  if (missing.length + lost.length + strange.length + twice.length > 0) {
    const parts = [
      missing.length + lost.length > 0 ? `missing: ${[...missing, ...lost.map((column) => `"${column}"`)].join(', ')}` : '',
      strange.length > 0 ? `unknown: ${strange.map((name) => `"${name.replace(/\s+/g, ' ')}"`).join(', ')}` : '',
      twice.length > 0 ? `there twice: ${twice.join(', ')}` : '',
    ].filter((part) => part !== '');
    throw inputError('the columns have changed', {
      code: 'COLUMNS_CHANGED', at: expected.at,
      detail: `expected ${nearest === null ? 'the known columns' : `the columns of edition ${nearest.edition}`}, found ${parts.join('; ')}`,
      hint: 'Map the new column in the source\'s schema.ts, or name it in manifest.ignored with the reason; a new set of columns is a new edition.',
    });
  }
  return indexes;
}

interface Difference {
  readonly edition: string;
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

/** The edition that the header differs least from, and how. */
function differenceTo(found: readonly string[], names: readonly string[], editions: Editions): Difference | null {
  let nearest: Difference | null = null;
  for (const [edition, columns] of Object.entries(editions)) {
    const taken = new Set<number>();
    const missing = columns.filter((column) => {
      if (column === '') return false;
      const index = names.findIndex((name, at) => !taken.has(at) && matchesName(column, name));
      if (index !== -1) taken.add(index);
      return index === -1;
    });
    const unknown = found.filter((_, index) => !taken.has(index) && names[index] !== '');
    if (nearest === null || missing.length + unknown.length < nearest.missing.length + nearest.unknown.length) nearest = { edition, missing, unknown };
  }
  return nearest;
}

/** Spellings stand in the sources and are compared with every file of a folder: each is normalised once. */
const spellings = new Map<string, string>();

function matchesName(pattern: string, name: string): boolean {
  let normal = spellings.get(pattern);
  if (normal === undefined) spellings.set(pattern, normal = normaliseHeader(pattern.replace(/\*$/, '')));
  return pattern.endsWith('*') ? name.startsWith(normal) : name === normal;
}

/** The mapped fields of a record by our names; an optional column that is not there gives `''`. */
export function fieldsOf<K extends string>(values: readonly string[], indexes: Readonly<Record<K, number>>): Record<K, string> {
  const fields = {} as Record<K, string>;
  for (const key of Object.keys(indexes) as K[]) fields[key] = values[indexes[key]] ?? '';
  return fields;
}
