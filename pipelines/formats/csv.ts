/**
 * Reads CSV record by record, for files of up to several million records. The parser is csv-parse. This module adds decoding, line numbers, alternative column
 * names and the detection of added columns.
 */
import { isAscii } from 'node:buffer';
import { Readable, pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import type { CsvError, Info } from 'csv-parse';
import { MappaleError, inputError } from '../errors.ts';
import { ODD_TEXT, withoutDoubles } from './malformed-text.ts';
import { isUtf8, withStart } from './streams.ts';
import { TableEnd } from './table-end.ts';

/**
 * Maximum size of a record, in characters. Without a maximum, a record with an unclosed quote would contain the rest of the file. Publishers' records are much
 * shorter.
 */
const MAX_RECORD_CHARACTERS = 1_048_576;

/** Maximum number of columns. The widest tables of publishers have several hundred columns. */
const MOST_COLUMNS = 2_000;

export interface CsvOptions {
  /** Name of the file in messages: `Elenco.csv` or `outer.zip!inner.csv`. */
  readonly at: string;
  readonly delimiter: ';' | ',' | '\t' | '|';
  /** Quote character, `"` by default. Null if the publisher does not quote fields, so that `"` is an ordinary character. */
  readonly quote?: '"' | null;
  /** True for a user's table: rows of blank cells are kept, and the last line may lack columns and a line end. False by default. */
  readonly keepsAllRows?: boolean;
}

export interface CsvRecord {
  /** 1-based number of the record's last line. */
  readonly line: number;
  readonly values: readonly string[];
  /** The record as published, decoded, without the line end. */
  readonly raw: string;
  /** Error in the fields of the record, `column_count` or `unnamed_column`; null if there is no error. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export interface CsvReader {
  /** Column names as published. */
  readonly header: readonly string[];
  /** 1-based number of the header's last line. */
  readonly headerLine: number;
  /**
   * Yields the records in file order. Skips empty lines and records whose fields are all blank, which spreadsheet programs add at the end. Can be called only
   * once.
   * @throws input errors `CSV_MALFORMED`, `ENCODING_WRONG`, `FILE_TRUNCATED`
   */
  records(): AsyncIterable<CsvRecord>;
  /** Closes the stream. Call if not all records are read. */
  close(): void;
}

interface Parsed {
  readonly record: string[];
  readonly raw: string;
  readonly info: Info;
}

/** Number of characters in which a line feed must occur, unless all lines of the file end with carriage returns. */
const MOST_HEAD_CHARACTERS = 65_536;

/**
 * Returns the line ends to expect: carriage returns (old Macintosh programs) if the start of the text contains no line feed. Otherwise both LF and CR LF,
 * because a file from several programs may contain both. Without this list, the parser would accept only the line end of the first line.
 */
function lineEndsOf(start: string): string[] {
  return start.includes('\r') && !start.includes('\n') ? ['\r'] : ['\r\n', '\n'];
}

/**
 * Opens a stream of bytes as CSV and reads its header.
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `COLUMNS_TOO_MANY`, `ENCODING_WRONG`
 */
export async function openCsv(stream: AsyncIterable<Buffer>, options: CsvOptions): Promise<CsvReader> {
  const { at } = options;
  // Imports the parser on demand, because most commands read no CSV.
  const { CsvError, parse } = await import('csv-parse');
  const { start, all } = await withStart(decoded(stream, at), { most: MOST_HEAD_CHARACTERS, until: '\n' });
  const parser = parse({
    delimiter: options.delimiter,
    quote: options.quote === null ? false : '"',
    info: true,
    raw: true,
    relax_column_count: true,
    record_delimiter: lineEndsOf(start.join('')),
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
  });
  // The callback prevents an unhandled error. The iteration below receives the error from the parser.
  pipeline(Readable.from(all), parser, () => undefined);
  const iterator = (parser as AsyncIterable<Parsed, undefined>)[Symbol.asyncIterator]();
  const next = async (): Promise<Parsed | null> => {
    try {
      return (await iterator.next()).value ?? null;
    } catch (error) {
      throw error instanceof CsvError ? malformed(error, at) : error;
    }
  };

  let line = await next();
  while (line !== null && isBlank(line)) line = await next();
  const first = checkedHeader(line, at);
  const header = first.record;
  const unnamed = header.flatMap((name, index) => (name.trim() === '' ? [index] : []));

  async function* records(): AsyncGenerator<CsvRecord> {
    const end = new TableEnd();
    try {
      for (let parsed = await next(); parsed !== null; parsed = await next()) {
        const { record, info, raw } = parsed;
        if (options.keepsAllRows !== true) {
          if (isBlank(parsed)) continue;
          // Only the last line of a file can lack a line end.
          end.take(record, header.length, /[\r\n]$/.test(raw) ? null : `${at}:${info.lines}`);
        }
        yield { line: info.lines, values: record, raw: lineOf(raw), problem: problemOf(record, header, unnamed) };
      }
    } finally {
      parser.destroy();
    }
  }
  return { header, headerLine: first.info.lines, records, close: () => void parser.destroy() };
}

/** Returns whether all fields are blank, as in the lines that spreadsheet programs add at the end. */
function isBlank({ record }: Parsed): boolean {
  return record.every((cell) => cell.trim() === '');
}

/** Returns the header line after checking it. @throws input errors `CSV_EMPTY`, `COLUMNS_TOO_MANY` */
function checkedHeader(first: Parsed | null, at: string): Parsed {
  if (first === null) {
    throw inputError('the file is empty', {
      code: 'CSV_EMPTY', at, detail: 'expected a header line, found none', hint: 'The download was probably cut short. Download the file again.',
    });
  }
  if (first.record.length > MOST_COLUMNS) {
    throw inputError('the table has too many columns', {
      code: 'COLUMNS_TOO_MANY', at: `${at}:${first.info.lines}`, detail: `expected at most ${MOST_COLUMNS} columns, found ${first.record.length}`,
      hint: 'No publisher has that many columns. Check this line. A line end may be missing.',
    });
  }
  return first;
}

/** Returns the error in the fields of a record, or null. @param unnamed indexes of columns without a name */
function problemOf(record: readonly string[], header: readonly string[], unnamed: readonly number[]): CsvRecord['problem'] {
  if (record.length !== header.length) return { code: 'column_count', message: `expected ${header.length} fields, found ${record.length}` };
  const filled = unnamed.find((index) => record[index]?.trim() !== '');
  if (filled === undefined) return null;
  return { code: 'unnamed_column', message: `expected nothing in column ${filled + 1}, which has no name, found "${record[filled] ?? ''}"` };
}

/**
 * Removes the line ends before and after a record. Uses a loop, because a regular expression anchored at the end takes quadratic time on a field full of line
 * ends.
 */
function lineOf(raw: string): string {
  const isLineEnd = (at: number): boolean => raw[at] === '\n' || raw[at] === '\r';
  let start = 0;
  let end = raw.length;
  while (start < end && isLineEnd(start)) start += 1;
  while (end > start && isLineEnd(end - 1)) end -= 1;
  return raw.slice(start, end);
}

function malformed(error: CsvError, at: string): MappaleError {
  const line = typeof error['lines'] === 'number' ? `:${error['lines']}` : '';
  return inputError('the CSV cannot be divided into records', {
    code: 'CSV_MALFORMED', at: `${at}${line}`, detail: `expected fields with the publisher's quotes, found: ${error.message}`, cause: error,
    hint: error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'The file ends inside quotes. The download was probably cut short. Download the file again.'
      : 'Check this line. A quote is not closed or not doubled.',
  });
}

/** A piece of the file to decode. */
interface Piece {
  readonly bytes: Buffer;
  /** True for the last piece of the file. */
  readonly final: boolean;
}

/**
 * Decodes bytes strictly: an invalid byte is an error and is not replaced. A file with a UTF-8 byte order mark is UTF-8. A file without the mark is UTF-8 if
 * its first non-ASCII bytes are valid UTF-8, and otherwise windows-1252. UTF-16 is refused, because only spreadsheet programs write UTF-16.
 */
async function* decoded(stream: AsyncIterable<Buffer>, at: string): AsyncGenerator<string, void, undefined> {
  let decoder: TextDecoder | null = null;
  /** Bytes that are kept until more bytes arrive to determine the encoding. */
  let held: Buffer = Buffer.alloc(0);
  /** Number of line ends so far. */
  let lines = 0;
  let last = '';
  const wrong = (line: number, found: string, cause?: unknown): MappaleError => inputError('the encoding of the file is not the publisher\'s encoding', {
    code: 'ENCODING_WRONG', at: `${at}:${line}`, detail: `expected text in UTF-8 or windows-1252, found ${found}`,
    hint: 'Use the downloaded file. A spreadsheet program may change the encoding when it saves a file.', cause,
  });
  const encodingOf = ({ bytes, final }: Piece): string => {
    const [first, second, third] = lines === 0 && last === '' ? bytes : [];
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw wrong(1, 'the byte order mark of UTF-16');
    return (first === 0xef && second === 0xbb && third === 0xbf) || isUtf8(bytes, final ? 'whole' : 'cut') ? 'utf-8' : 'windows-1252';
  };
  const textOf = ({ bytes, final }: Piece): string => {
    let text: string;
    try {
      // Decodes windows-1252 as a stream, because some versions of Node otherwise decode windows-1252 as Latin-1.
      text = decoder === null ? bytes.toString('latin1') : decoder.decode(bytes, { stream: !final || decoder.encoding === 'windows-1252' });
    } catch (error) {
      throw wrong(lines + 1 + linesBeforeFault(bytes), 'bytes that are not valid UTF-8', error);
    }
    // Ignores names that were encoded twice, because some files contain a few such names. A file that contains only such names is detected later, from the
    // rows.
    const seen = withoutDoubles(last + text);
    const odd = ODD_TEXT.exec(seen);
    if (odd !== null) {
      throw wrong(lines + 1 + countLines(seen.slice(0, odd.index)), `${JSON.stringify(odd[0])}, which looks like bytes of a different encoding`);
    }
    lines += countLines(text);
    last = text === '' ? last : text.endsWith('\n') ? '' : text.slice(-1);
    return text;
  };
  async function* pieces(): AsyncGenerator<Piece, void, undefined> {
    for await (const chunk of stream) yield { bytes: held.length === 0 ? chunk : Buffer.concat([held, chunk]), final: false };
    yield { bytes: held, final: true };
  }
  for await (const { bytes, final } of pieces()) {
    held = Buffer.alloc(0);
    // ASCII bytes do not show the encoding, so the encoding is determined at the first non-ASCII byte.
    const beyond = decoder !== null || isAscii(bytes) ? -1 : bytes.findIndex((byte) => byte > 0x7f);
    if (beyond !== -1 && !final && bytes.length - beyond < 4) {
      // Waits for more bytes, because a UTF-8 character has up to four bytes.
      held = bytes.subarray(beyond);
      yield textOf({ bytes: bytes.subarray(0, beyond), final: false });
      continue;
    }
    if (beyond !== -1) decoder = new TextDecoder(encodingOf({ bytes, final }), { fatal: true });
    yield textOf({ bytes, final });
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Returns the number of lines before the first invalid UTF-8 byte. */
function linesBeforeFault(bytes: Buffer): number {
  let start = 0;
  // Skips bytes that continue a character from the preceding piece.
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  for (let lines = 0; ; lines += 1) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end), 'whole')) return lines;
    start = end + 1;
  }
}

/**
 * Normalises a column name. Converts the name to lower case, and removes accents and footnote marks such as `(2)`. Replaces each run of characters other than
 * `a` to `z` and digits with one `_`, except at the start and the end. For example, `"Codice Catastale del\n Comune (3)"` becomes
 * `codice_catastale_del_comune`. A column without a name becomes `''`.
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
 * Reads the first rows of a table from the first bytes of the file. Used only for recognising files. Does not use csv-parse, which returns no cells of a row
 * that ends inside quotes. csv-parse also takes three times as long as this function (measured on published files).
 * @param head first bytes of the file, in any encoding that publishers or spreadsheet programs use
 * @returns rows of cells as published, without quotes; the last row may be incomplete
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

/** Decodes the first bytes of a file: as UTF-16 after a UTF-16 byte order mark, as UTF-8 if valid, otherwise as windows-1252. */
function peekText(head: Buffer): string {
  let text = peeked.get(head);
  if (text === undefined) peeked.set(head, text = decodeHead(head));
  return text;
}

/** Cache of decoded first bytes, because every source reads the same bytes. */
const peeked = new WeakMap<Buffer, string>();

function decodeHead(head: Buffer): string {
  // Decodes as a stream, as in `decoded`. The decoder also omits an incomplete character at the end.
  const decode = (encoding: string, bytes: Buffer): string => new TextDecoder(encoding).decode(bytes, { stream: true });
  if (head[0] === 0xff && head[1] === 0xfe) return decode('utf-16le', head);
  if (head[0] === 0xfe && head[1] === 0xff) return decode('utf-16le', Buffer.from(head.subarray(0, head.length & ~1)).swap16());
  return decode(isUtf8(head, 'cut') ? 'utf-8' : 'windows-1252', head);
}

/**
 * Columns of each edition of a file, by name of the edition, spelled as in `ExpectedColumns`. `|` separates alternative names of one column. `''` is a column
 * without a name.
 */
export type Editions = Readonly<Record<string, readonly string[]>>;

/** Smallest share of an edition's columns that a changed header must contain to be recognised. */
const RESEMBLING = 0.6;

/** Returns whether a header resembles the header of an edition. The reader reports the differences. */
export function resembles(found: readonly string[], editions: Editions): boolean {
  const wanted = Object.values(editions).map((columns) => columns.filter((column) => column !== ''));
  // Skips editions with many more columns than the header, which excludes most tables of other sources quickly.
  const possible = wanted.filter((columns) => found.length >= columns.length * RESEMBLING);
  if (possible.length === 0) return false;
  const names = found.map(normaliseHeader);
  return possible.some((columns) => columns.filter((column) => names.some((name) => matchesName(column, name))).length / columns.length >= RESEMBLING);
}

export interface ExpectedColumns<K extends string> {
  /** Publisher's names of each column, by the project's name. Names are compared after `normaliseHeader`. A final `*` matches any ending. */
  readonly mapped: Readonly<Record<K, string | readonly string[]>>;
  /** Mapped columns that some known files lack. */
  readonly optional?: readonly NoInfer<K>[];
  /** Published columns that the reader ignores, spelled as in `mapped`, with reasons. The key `''` allows columns without a name. */
  readonly ignored: Readonly<Record<string, string>>;
  /**
   * Ignored columns (keys of `ignored`, or `*` for all) that some known files lack, with the reason. All other ignored columns are required. If `editions` is
   * set, only the editions determine which ignored columns are required.
   */
  readonly mayLack?: Readonly<Record<string, string>> | undefined;
  /** All columns of each known edition, including ignored columns. A header must have all columns of one edition, in any order. */
  readonly editions?: Editions;
  /** Pattern for column names that are data, such as one column per day. Such columns are never reported as added. */
  readonly data?: RegExp;
  /** Name of the file in messages. */
  readonly at: string;
}

/** A column in a header that is not mapped, not ignored, not data and not in a known edition. */
interface AddedColumn {
  /** Name as published; a text such as `column 12` if the column has no name. */
  readonly name: string;
  /** Index of the column in a record. */
  readonly index: number;
}

/** The method of a `MemberSink` that receives added columns. */
export interface AddedColumnSink {
  added(column: string, sample?: string): void;
}

/** Maximum number of sample values that are kept of an added column. */
export const MOST_SAMPLES = 3;

/** Positions of the expected columns in a file, and the added columns. */
export class FoundColumns<K extends string> {
  /** Index of each column in a record, by the project's name; −1 for a missing optional column. */
  readonly indexes: Readonly<Record<K, number>>;
  readonly added: readonly AddedColumn[];
  #sink: AddedColumnSink | null = null;
  /** For each column in `added`, the number of samples that are still needed. */
  #wanted: number[] = [];

  constructor(indexes: Readonly<Record<K, number>>, added: readonly AddedColumn[]) {
    this.indexes = indexes;
    this.added = added;
  }

  /** Reports the added columns to a sink. Later calls of `sample` and `fieldsOf` report sample values of the first records. */
  reportTo(sink: AddedColumnSink): this {
    for (const { name } of this.added) sink.added(name);
    this.#sink = sink;
    this.#wanted = this.added.map(() => MOST_SAMPLES);
    return this;
  }

  /** Reports a record's values in added columns, until there are enough samples. @param valueOf returns the value at an index of the record */
  sample(valueOf: (index: number) => unknown): void {
    if (this.#sink === null || this.#wanted.length === 0) return;
    for (const [each, { name, index }] of this.added.entries()) {
      const wanted = this.#wanted[each] ?? 0;
      const value = wanted === 0 ? null : valueOf(index);
      if (value === null || value === undefined || value === '') continue;
      this.#wanted[each] = wanted - 1;
      this.#sink.added(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    if (this.#wanted.every((wanted) => wanted === 0)) this.#wanted = [];
  }
}

/**
 * Finds the expected columns in a header by name, in any order. Also finds added columns, which the caller reports with `reportTo`. The readers of all table
 * formats call this function.
 * @throws input error `COLUMNS_CHANGED`, which lists missing, added and repeated columns, and columns of a different edition
 */
export function expectColumns<K extends string>(found: readonly string[], expected: ExpectedColumns<K>): FoundColumns<K> {
  const names = found.map(normaliseHeader);
  const isData = (index: number): boolean => expected.data?.test(found[index] ?? '') === true;
  const { indexes, missing, missed, doubled, taken } = findMapped(found, names, expected);
  // Unmapped columns must not repeat a name either, because such columns are ambiguous.
  const again = found.filter((_, index) => names[index] !== '' && !taken.has(index) && !isData(index) && names.indexOf(names[index] ?? '') < index);
  doubled.push(...new Set(again.map((name) => `"${name}"`)));
  const { lacking, strays, edition } = compareWithEditions(names, expected);
  // Lists a missing mapped column only once, with the project's name and the publisher's names.
  const lost = [...missing, ...lacking.filter((column) => !column.split('|').some((each) => missed.has(normaliseHeader(each)))).map((column) => column.split('|').map((each) => `"${each}"`).join(' or '))];
  const isKnown = knownBy(expected);
  const added = found.flatMap((name, index): AddedColumn[] => (taken.has(index) || isKnown(name) ? [] : [{ name: name.trim() === '' ? `column ${index + 1}` : name.replace(/\s+/g, ' ').trim(), index }]));
  if (lost.length + doubled.length === 0) return new FoundColumns(indexes, added);
  const listed = (what: string, columns: readonly string[]): string[] => (columns.length === 0 ? [] : [`${what}: ${columns.join(', ')}`]);
  const parts = [
    ...listed('missing', lost), ...listed('new', added.map(({ name }) => `"${name}"`)), ...listed('of another edition', strays.map((index) => `"${found[index] ?? ''}"`)),
    ...listed('doubled', doubled),
  ];
  throw columnsChanged(expected.at, `expected ${edition === null ? 'the known columns' : `the columns of edition ${edition}`}, found ${parts.join('; ')}`);
}

/** Returns the error for a file with changed columns. */
export function columnsChanged(at: string, detail: string): MappaleError {
  return inputError('the columns have changed', {
    code: 'COLUMNS_CHANGED', at, detail,
    hint: 'Use the downloaded file, because a program that saves a file may change its columns. If the publisher changed the columns, keep the earlier file and report the change. This version cannot read the new layout.',
  });
}

/** Returns a function that returns whether a column name is known: mapped, ignored, in an edition, or data. */
export function knownBy({ mapped, ignored, editions = {}, data }: Omit<ExpectedColumns<string>, 'at'>): (name: string) => boolean {
  const patterns = [...Object.values(mapped).flat(), ...Object.keys(ignored), ...Object.values(editions).flat()];
  return (name) => {
    const normal = normaliseHeader(name);
    return data?.test(name) === true || patterns.some((pattern) => matchesName(pattern, normal));
  };
}

interface Mapped<K extends string> {
  readonly indexes: Record<K, number>;
  /** Missing mapped columns, as text for messages. */
  readonly missing: readonly string[];
  readonly missed: ReadonlySet<string>;
  readonly doubled: string[];
  /** Indexes of all columns that match a mapped column. */
  readonly taken: ReadonlySet<number>;
}

function findMapped<K extends string>(found: readonly string[], names: readonly string[], { mapped, optional }: ExpectedColumns<K>): Mapped<K> {
  const taken = new Set<number>();
  const missing: string[] = [];
  const missed = new Set<string>();
  const doubled: string[] = [];
  const indexes = {} as Record<K, number>;
  for (const [key, spellings] of Object.entries(mapped) as [K, string | readonly string[]][]) {
    const patterns = typeof spellings === 'string' ? [spellings] : spellings;
    const matches = names.flatMap((name, index) => (patterns.some((pattern) => matchesName(pattern, name)) ? [index] : []));
    if (matches.length > 1) doubled.push(`${key} (${matches.map((index) => `"${found[index] ?? ''}"`).join(' and ')})`);
    if (matches.length === 0 && optional?.includes(key) !== true) {
      missing.push(`${key} (${patterns.join(' or ')})`);
      for (const pattern of patterns) missed.add(normaliseHeader(pattern));
    }
    indexes[key] = matches[0] ?? -1;
    for (const index of matches) taken.add(index);
  }
  return { indexes, missing, missed, doubled, taken };
}

interface Difference {
  /** Name of the edition that the header resembles most. Null if there are no editions, or if the header matches an edition. */
  readonly edition: string | null;
  /** Columns of the edition that the header lacks. */
  readonly lacking: readonly string[];
  /** Indexes of columns of the header that only other editions have. */
  readonly strays: readonly number[];
}

/**
 * Compares a header with the editions. The header must have all columns of one edition. If the header also has a column of a different edition, the header must
 * have all columns of that edition, too. Otherwise a column was removed.
 */
function compareWithEditions<K extends string>(names: readonly string[], { editions, ignored, mayLack = {} }: ExpectedColumns<K>): Difference {
  if (editions === undefined) {
    const lacking = Object.keys(ignored).filter((column) => column !== '' && !Object.keys(mayLack).some((pattern) => pattern === column || pattern === '*') && !names.some((name) => matchesName(column, name)));
    return { edition: null, lacking, strays: [] };
  }
  const compared = Object.entries<readonly string[]>(editions).map(([edition, columns]) => {
    const has = new Set<number>();
    const lacking = columns.filter((column) => {
      if (column === '') return false;
      const index = names.findIndex((name, at) => !has.has(at) && matchesName(column, name));
      if (index !== -1) has.add(index);
      return index === -1;
    });
    return { edition, lacking, has };
  });
  const incomplete = compared.filter(({ lacking }) => lacking.length > 0);
  const covered = new Set(compared.filter(({ lacking }) => lacking.length === 0).flatMap(({ has }) => [...has]));
  const strays = [...new Set(incomplete.flatMap(({ has }) => [...has]))].filter((index) => !covered.has(index)).sort((a, b) => a - b);
  if (incomplete.length < compared.length && strays.length === 0) return { edition: null, lacking: [], strays };
  const distance = ({ lacking, has }: typeof compared[number]): number => lacking.length + strays.filter((index) => !has.has(index)).length;
  const [nearest] = incomplete.sort((a, b) => distance(a) - distance(b) || b.has.size - a.has.size);
  return { edition: nearest?.edition ?? null, lacking: nearest?.lacking ?? [], strays: strays.filter((index) => nearest?.has.has(index) !== true) };
}

/** Cache of the normalised names in each pattern, because the patterns are compared with every file of a folder. */
const spellings = new Map<string, readonly { readonly normal: string; readonly open: boolean }[]>();

/**
 * Returns whether a column name matches a pattern.
 * @param pattern alternative names separated by `|`; a final `*` matches any ending
 * @param name normalised name
 */
function matchesName(pattern: string, name: string): boolean {
  let known = spellings.get(pattern);
  if (known === undefined) spellings.set(pattern, known = pattern.split('|').map((each) => ({ normal: normaliseHeader(each.replace(/\*$/, '')), open: each.endsWith('*') })));
  return known.some(({ normal, open }) => (open ? name.startsWith(normal) : name === normal));
}

/** Returns the mapped fields of a record by the project's names; `''` for a missing optional column. Also samples the values of added columns. */
export function fieldsOf<K extends string>(values: readonly string[], columns: FoundColumns<K>): Record<K, string> {
  const { indexes } = columns;
  const fields = {} as Record<K, string>;
  columns.sample((index) => values[index]);
  for (const key of Object.keys(indexes) as K[]) fields[key] = values[indexes[key]] ?? '';
  return fields;
}
