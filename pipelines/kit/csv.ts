/**
 * CSV record by record: decoding, header matching and line numbers for sources of up to some million records.
 * The parser is csv-parse; what the publishers vary — encoding, header spelling, extra columns — is settled here.
 */
import { Readable, pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { CsvError, parse, type Info } from 'csv-parse';
import { MappaleError, inputError } from '../errors.ts';

/** A quote that is never closed would swallow the rest of the file; no record of a publisher comes near this size. */
const MAX_RECORD_CHARACTERS = 1_048_576;

export type CsvEncoding = 'utf-8' | 'windows-1252' | 'utf-16le';

export interface CsvOptions {
  /** How messages name the file: `Elenco.csv` or `outer.zip!inner.csv`. */
  readonly at: string;
  readonly delimiter: ';' | ',' | '\t' | '|';
  /**
   * What the publisher writes; a byte order mark overrules it. `detect`: UTF-8 when the first bytes beyond ASCII are valid
   * UTF-8, windows-1252 otherwise.
   */
  readonly encoding: CsvEncoding | 'detect';
  /** Null when the publisher quotes nothing: then a quote is an ordinary character. Default `"`. */
  readonly quote?: '"' | null;
  /** Lines above the header, such as a title. Default 0. */
  readonly preamble?: number;
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
  /** Lines above the header. */
  readonly preamble: readonly string[];
  /** The encoding in use so far; final once the records are read. */
  encoding(): CsvEncoding;
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
 * @throws input errors `CSV_EMPTY`, `CSV_MALFORMED`, `ENCODING_WRONG`
 */
export async function openCsv(stream: AsyncIterable<Buffer>, options: CsvOptions): Promise<CsvReader> {
  const { at } = options;
  const decoder = new Decoder(options.encoding, at);
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
  pipeline(Readable.from(decoded(stream, decoder)), parser, () => undefined);
  const iterator = (parser as AsyncIterable<Parsed>)[Symbol.asyncIterator]();
  const next = async (): Promise<Parsed | null> => {
    try {
      const { done, value } = await iterator.next();
      return done === true ? null : value;
    } catch (error) {
      throw malformed(error, at);
    }
  };

  const preamble: string[] = [];
  for (let i = 0; i < (options.preamble ?? 0); i += 1) preamble.push(lineOf((await next())?.raw ?? ''));
  const first = await next();
  if (first === null) {
    throw inputError('the file is empty', { code: 'CSV_EMPTY', at, detail: 'expected a header line, found none', hint: 'The download was probably cut short. Download the file again.' });
  }
  const header = first.record;
  const unnamed = header.flatMap((name, index) => (name.trim() === '' ? [index] : []));

  async function* records(): AsyncGenerator<CsvRecord> {
    try {
      for (let parsed = await next(); parsed !== null; parsed = await next()) {
        const { record, info } = parsed;
        let problem: CsvRecord['problem'] = null;
        if (record.length !== header.length) {
          problem = { code: 'column_count', message: `expected ${header.length} fields, found ${record.length}` };
        } else {
          const filled = unnamed.find((index) => record[index]!.trim() !== '');
          if (filled !== undefined) problem = { code: 'unnamed_column', message: `expected nothing in column ${filled + 1}, which has no name, found "${record[filled]}"` };
        }
        yield { line: info.lines, values: record, raw: lineOf(parsed.raw), problem };
      }
    } finally {
      parser.destroy();
    }
  }
  return { header, headerLine: first.info.lines, preamble, encoding: () => decoder.encoding, records, close: () => void parser.destroy() };
}

const lineOf = (raw: string): string => raw.replace(/^[\r\n]+|[\r\n]+$/g, '');

async function* decoded(stream: AsyncIterable<Buffer>, decoder: Decoder): AsyncGenerator<string> {
  for await (const chunk of stream) {
    const text = decoder.push(chunk);
    if (text !== '') yield text;
  }
  const rest = decoder.end();
  if (rest !== '') yield rest;
}

function malformed(error: unknown, at: string): unknown {
  if (error instanceof MappaleError || !(error instanceof CsvError)) return error;
  const line = typeof error['lines'] === 'number' ? `:${error['lines']}` : '';
  return inputError('the CSV cannot be divided into records', {
    code: 'CSV_MALFORMED', at: `${at}${line}`, detail: `expected fields as the publisher quotes them, found: ${error.message}`,
    hint: 'Look at that line: a quote is not closed or not doubled.', cause: error,
  });
}

/** Bytes to text, strictly: a byte that the encoding does not have is an error, never a replacement character. */
class Decoder {
  readonly #declared: CsvEncoding | 'detect';
  readonly #at: string;
  #decoder: TextDecoder | null = null;
  #encoding: CsvEncoding = 'utf-8';
  /** Bytes not yet decoded, because more are needed to know the encoding. */
  #held: Buffer = Buffer.alloc(0);
  #started = false;

  constructor(declared: CsvEncoding | 'detect', at: string) {
    this.#declared = declared;
    this.#at = at;
  }

  get encoding(): CsvEncoding {
    return this.#encoding;
  }

  push(chunk: Buffer): string {
    return this.#decoder === null ? this.#undecided(chunk, false) : this.#text(chunk, true);
  }

  end(): string {
    return this.#decoder === null ? this.#undecided(Buffer.alloc(0), true) : this.#text(Buffer.alloc(0), false);
  }

  #use(encoding: CsvEncoding): void {
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding, { fatal: true });
  }

  #undecided(chunk: Buffer, final: boolean): string {
    const bytes = Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    if (!this.#started) {
      // A byte order mark may be split between chunks.
      if (bytes.length < 3 && !final) {
        this.#held = bytes;
        return '';
      }
      this.#started = true;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#use('utf-8');
      else if (bytes[0] === 0xff && bytes[1] === 0xfe) this.#use('utf-16le');
      else if (this.#declared !== 'detect') this.#use(this.#declared);
    }
    if (this.#decoder === null) {
      const first = bytes.findIndex((byte) => byte > 0x7f);
      // ASCII decides nothing.
      if (first === -1) return bytes.toString('latin1');
      // A UTF-8 character has up to four bytes.
      if (bytes.length - first < 4 && !final) {
        this.#held = bytes.subarray(first);
        return bytes.toString('latin1', 0, first);
      }
      this.#use(isUtf8(bytes, !final) ? 'utf-8' : 'windows-1252');
    }
    return this.#text(bytes, !final);
  }

  #text(bytes: Buffer, stream: boolean): string {
    try {
      return this.#decoder!.decode(bytes, { stream });
    } catch (error) {
      throw this.#wrong(error);
    }
  }

  #wrong(cause: unknown): MappaleError {
    return inputError('the file has another encoding than its publisher uses', {
      code: 'ENCODING_WRONG', at: this.#at, detail: `expected ${this.#encoding}, found bytes that it does not have`,
      hint: 'Use the file as downloaded; a spreadsheet program that saves it again may change its encoding.', cause,
    });
  }
}

/** @param cut the last character may be incomplete */
function isUtf8(bytes: Buffer, cut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut });
    return true;
  } catch {
    return false;
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
    .replace(/^_+|_+$/g, '');
}

export interface ExpectedColumns<K extends string> {
  /** Our name → the publisher's spellings, compared as `normaliseHeader` makes them; a final `*` stands for any ending. */
  readonly mapped: Readonly<Record<K, string | readonly string[]>>;
  /** Of the mapped ones, those that some editions lack. */
  readonly optional?: readonly NoInfer<K>[];
  /** Published columns that are not used (same spelling rules) → why. The key `''` allows columns without a name. */
  readonly ignored: Readonly<Record<string, string>>;
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
  const twice: string[] = [];
  const indexes = {} as Record<K, number>;
  for (const [key, spellings] of Object.entries(expected.mapped) as [K, string | readonly string[]][]) {
    const patterns = typeof spellings === 'string' ? [spellings] : spellings;
    const matches = names.flatMap((name, index) => (patterns.some((pattern) => matchesName(pattern, name)) ? [index] : []));
    if (matches.length > 1) twice.push(`${key} (${matches.map((index) => `"${found[index]}"`).join(' and ')})`);
    if (matches.length === 0 && expected.optional?.includes(key) !== true) missing.push(`${key} (${patterns.join(' or ')})`);
    indexes[key] = matches[0] ?? -1;
    for (const index of matches) taken.add(index);
  }
  const reasons = Object.keys(expected.ignored);
  const unknown = found.filter((_, index) => !taken.has(index) && !reasons.some((pattern) => matchesName(pattern, names[index]!)));
  if (missing.length > 0 || unknown.length > 0 || twice.length > 0) {
    const parts = [
      missing.length > 0 ? `missing: ${missing.join(', ')}` : '',
      unknown.length > 0 ? `unknown: ${unknown.map((name) => `"${name.replace(/\s+/g, ' ')}"`).join(', ')}` : '',
      twice.length > 0 ? `there twice: ${twice.join(', ')}` : '',
    ].filter((part) => part !== '');
    throw inputError('the columns have changed', {
      code: 'COLUMNS_CHANGED', at: expected.at, detail: `expected the known columns, found ${parts.join('; ')}`,
      hint: 'Map the new column in the source, or name it in manifest.ignored with the reason.',
    });
  }
  return indexes;
}

function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(normaliseHeader(pattern.slice(0, -1))) : name === normaliseHeader(pattern);
}

/** The mapped fields of a record by our names; an optional column that is not there gives `''`. */
export function fieldsOf<K extends string>(values: readonly string[], indexes: Readonly<Record<K, number>>): Record<K, string> {
  const fields = {} as Record<K, string>;
  for (const key of Object.keys(indexes) as K[]) fields[key] = values[indexes[key]] ?? '';
  return fields;
}
