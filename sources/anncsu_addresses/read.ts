/**
 * Reads INDIR and STRAD, zipped or plain, in constant memory.
 *
 * INDIR repeats the columns of the street on each line, and the lines of one street follow each other. The bytes of the street's columns are compared
 * with the bytes of the previous line. If the bytes differ, the reader parses, normalises and writes the columns of the street. The columns of the
 * access are scanned on every line.
 */
import { isUtf8 } from 'node:buffer';
import type { ZodError } from 'zod';
import { localityKey, repairLetters, streetNames } from '../../pipelines/address/normalise.ts';
import { titleCase } from '../../pipelines/address/title-case.ts';
import { columnsChanged, expectColumns, resembles, type FoundColumns } from '../../pipelines/formats/csv.ts';
import type { RowWriter } from '../../pipelines/formats/copy.ts';
import { inputError, type ColumnType, type InputFile, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/formats/zip.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { GHOST_COLUMN, manifest } from './manifest.ts';
import { AccessScanner } from './scan.ts';
import {
  INDIR_COLUMNS, INDIR_STREET_COLUMNS, STRAD_COLUMNS, indirAccess, indirStreet, record, refusal, stradRow, type IndirAccess, type IndirStreet, type Role,
} from './schema.ts';

const LF = 0x0a;
const CR = 0x0d;
const SEPARATOR = 0x3b;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** Maximum length of a line in bytes. The publisher's lines have at most a few hundred bytes, so a file with a longer line is not a file of ANNCSU. */
const LONGEST_LINE = 1_048_576;
/** Types of the columns of raw_access up to metodo. */
const ACCESS_TYPES: readonly ColumnType[] = [
  'int8', 'int8', 'text', 'text', 'int4', 'text', 'text', 'int4', 'int4', 'float8', 'float8', 'float8', 'int2',
];
/** The four columns after metodo, as null fields of a COPY. */
const STREET_NULLS = Buffer.alloc(16, 0xff);
/** Maximum number of written streets that the reader remembers. If a file is not sorted by street and has more streets, some streets are written twice. */
const REMEMBERED_STREETS = 65_536;

export interface Header {
  readonly role: Role;
  /** Layout of the file, or null if the file has exactly the publisher's columns in the publisher's order. */
  readonly layout: Layout | null;
}

/** Columns of a file that has additional columns or a different column order than the publisher's files. */
interface Layout {
  readonly columns: FoundColumns<string>;
  /** Number of columns. */
  readonly width: number;
  /** Indexes of the publisher's columns in the file, in the publisher's order. */
  readonly order: readonly number[];
}

/**
 * Parses the first line of a file.
 * @returns null if the line is not a header of ANNCSU
 * @throws `COLUMNS_CHANGED` if one of the publisher's columns is missing, renamed or repeated
 */
export function parseHeader(bytes: Buffer, at: string): Header | null {
  const line = (bytes.subarray(0, 3).equals(BOM) ? bytes.subarray(3) : bytes).toString('utf8').replace(/\r$/, '');
  const names = line.split(';');
  if (!resembles(names, { INDIR: INDIR_COLUMNS, STRAD: STRAD_COLUMNS })) return null;
  // A changed header may lack any column, so the role follows from the columns that only INDIR has.
  const role: Role = INDIR_COLUMNS.some((name) => !(STRAD_COLUMNS as readonly string[]).includes(name) && names.includes(name)) ? 'INDIR' : 'STRAD';
  const expected: readonly string[] = role === 'INDIR' ? INDIR_COLUMNS : STRAD_COLUMNS;
  if (names.length === expected.length && names.every((name, index) => name === expected[index])) return { role, layout: null };
  const named = expected.filter((name) => name !== '');
  const columns = expectColumns(names, {
    mapped: Object.fromEntries(named.map((name) => [name, name])), ignored: { '': manifest.ignored[GHOST_COLUMN] ?? '' }, editions: { [role]: expected }, at: `${at}:1`,
  });
  const order = expected.map((name) => (name === '' ? names.lastIndexOf('') : columns.indexes[name] ?? -1));
  if (order.includes(-1)) throw columnsChanged(`${at}:1`, `expected ${expected.join(';')}, found no separator at the end`);
  return { role, layout: { columns, width: names.length, order } };
}

/** Reads one file as a stream. The position is the line number, and the header is line 1. */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const role = file.role as Role;
  const header = `${(role === 'INDIR' ? INDIR_COLUMNS : STRAD_COLUMNS).join(';')}\n`;
  const envelope = { before: header, after: '' };
  const table = ({ entries }: ZipArchive): readonly ZipEntry[] => {
    const entry = entries.find(({ path, isFolder }) => !isFolder && /\.csv$/i.test(path));
    if (entry !== undefined) return [entry];
    throw inputError('the ANNCSU zip has no CSV', { code: 'ANNCSU_ZIP', at: file.name, detail: 'expected one .csv, found none', hint: 'Download the file again.' });
  };
  // A file has one member, which changes with every release, so members are not reused.
  for await (const { facts, at, open } of partsOf(file, sink, table)) {
    const member = await sink.member({ ...facts, envelope });
    await readCsv(await open(), at, role, member);
  }
}

/**
 * Splits the stream into lines and reads the lines. Also counts the line ends of each chunk before the lines of the chunk are read. `close` compares this
 * independent count with the rows and rejects, and a difference reveals an error of the reader.
 */
async function readCsv(stream: AsyncIterable<Buffer>, at: string, role: Role, member: MemberSink): Promise<void> {
  const lines: Lines = role === 'INDIR' ? new IndirLines(member, at) : new StradLines(member, at);
  let carry: Buffer | null = null;
  let lineEnds = 0;
  let endsOpen = false;
  let headed = false;
  for await (const chunk of stream) {
    for (let i = 0; i < chunk.length; i += 1) if (chunk[i] === LF) lineEnds += 1;
    if (chunk.length > 0) endsOpen = chunk[chunk.length - 1] !== LF;
    let body: Buffer = chunk;
    const firstEnd = chunk.indexOf(LF);
    if (firstEnd < 0) {
      carry = carry === null ? Buffer.from(chunk) : Buffer.concat([carry, chunk]);
      if (carry.length > LONGEST_LINE) throw tooLong(at, lines.position + 1);
    } else {
      if (carry !== null) {
        const line: Buffer = Buffer.concat([carry, chunk.subarray(0, firstEnd + 1)]);
        carry = null;
        if (headed) lines.take(line);
        else headed = takeHeader(line, role, at, lines);
        body = chunk.subarray(firstEnd + 1);
      } else if (!headed) {
        headed = takeHeader(chunk.subarray(0, firstEnd + 1), role, at, lines);
        body = chunk.subarray(firstEnd + 1);
      }
      const lastEnd = body.lastIndexOf(LF);
      if (lastEnd >= 0) lines.take(body.subarray(0, lastEnd + 1));
      if (lastEnd + 1 < body.length) carry = Buffer.from(body.subarray(lastEnd + 1));
    }
    const full = member.drain();
    if (full !== undefined) await full;
  }
  if (carry !== null) {
    // Every line of the publisher's files ends with a line end. In a file that was saved again, the last line may be complete without a line end.
    // If the last line also lacks columns, the file was truncated and an unknown number of lines is missing.
    const separators = carry.filter((byte) => byte === SEPARATOR).length;
    const expected = lines.width(role) - 1;
    if (headed && separators < expected) {
      throw inputError('the ANNCSU file is truncated', {
        code: 'ANNCSU_TRUNCATED', at: `${at}:${lines.position + 1}`, detail: `expected ${expected} separators in the last line, found ${separators} and no end of line`,
        hint: 'Download the zip again. The checksum of the zip detects missing data, but a plain CSV has no checksum.',
      });
    }
    const line = Buffer.concat([carry, Buffer.from([LF])]);
    if (headed) lines.take(line);
    else headed = takeHeader(line, role, at, lines);
  }
  if (!headed) throw inputError('the ANNCSU file is empty', { code: 'ANNCSU_EMPTY', at, detail: 'expected a header line, found nothing', hint: 'Download the file again.' });
  await member.close(lineEnds + (endsOpen ? 1 : 0) - 1);
}

function takeHeader(line: Buffer, role: Role, at: string, lines: Lines): true {
  const header = parseHeader(line.subarray(0, line.length - 1), at);
  if (header?.role !== role) {
    throw inputError('the file does not have the expected ANNCSU header', { code: 'ANNCSU_HEADER', at: `${at}:1`, detail: `expected the header of ${role}, found ${JSON.stringify(line.toString('latin1', 0, 80))}`, hint: 'Download the file again.' });
  }
  lines.position = 1;
  lines.arrange(header.layout);
  return true;
}

function tooLong(at: string, line: number): Error {
  return inputError('a line has no end', { code: 'ANNCSU_LINE_TOO_LONG', at: `${at}:${line}`, detail: `expected a line end within ${LONGEST_LINE} bytes, found none`, hint: 'The file is not a CSV. Download it again.' });
}

/** Converts each complete line to a row or a reject. */
abstract class Lines {
  /** Number of the last line that was read. */
  position = 0;
  protected readonly member: MemberSink;
  readonly #at: string;
  #layout: Layout | null = null;

  /** @param at name of the file in errors */
  constructor(member: MemberSink, at: string) {
    this.member = member;
    this.#at = at;
  }

  /** Sets the layout of the following lines, and reports added columns. */
  arrange(layout: Layout | null): void {
    this.#layout = layout;
    layout?.columns.reportTo(this.member);
  }

  /** Returns the number of columns of a line. */
  width(role: Role): number {
    return this.#layout?.width ?? (role === 'INDIR' ? INDIR_COLUMNS : STRAD_COLUMNS).length;
  }

  /** @param bytes complete lines, each with its LF @throws input error `ANNCSU_LINE_TOO_LONG` */
  take(bytes: Buffer): void {
    const clean = isUtf8(bytes) && !bytes.includes(0);
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(LF, start);
      this.position += 1;
      if (end - start > LONGEST_LINE) throw tooLong(this.#at, this.position);
      // A file saved by a Windows editor has CRLF.
      const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
      if (clean || this.#isText(bytes, start, stop)) {
        if (this.#layout === null) this.line(bytes, start, stop);
        else this.#arranged(this.#layout, bytes.toString('utf8', start, stop));
      }
      start = end + 1;
    }
  }

  /** Reads one line of valid UTF-8 without NUL in the publisher's layout. */
  protected abstract line(bytes: Buffer, start: number, end: number): void;

  /**
   * Converts a line with a different layout to the publisher's layout and reads it. If a value is rejected, the reject contains the converted line, which
   * matches the header in the member's envelope. A line with a wrong number of separators is rejected without conversion.
   */
  #arranged({ columns, width, order }: Layout, text: string): void {
    const cells = text.split(';');
    if (cells.length !== width) return this.reject('separator_count', `expected ${width - 1} separators, found ${cells.length - 1}`, text);
    columns.sample((index) => cells[index]);
    const line = Buffer.from(order.map((index) => cells[index] ?? '').join(';'));
    this.line(line, 0, line.length);
  }

  #isText(bytes: Buffer, start: number, end: number): boolean {
    const line = bytes.subarray(start, end);
    if (line.includes(0)) this.reject('nul_character', 'expected text, found a NUL character', Buffer.from(line));
    else if (!isUtf8(line)) this.reject('encoding_invalid', 'expected UTF-8, found bytes that are not', Buffer.from(line));
    else return true;
    return false;
  }

  protected reject(code: string, message: string, raw: string | Buffer): void {
    this.member.reject({ position: this.position, code, message, raw });
  }

  /** Returns the fields of a line, or null if the number of fields is wrong and the line was rejected. */
  protected fields(text: string, columns: readonly string[]): string[] | null {
    const fields = text.split(';');
    if (fields.length === columns.length) return fields;
    this.reject('separator_count', `expected ${columns.length - 1} separators, found ${fields.length - 1}`, text);
    return null;
  }
}

/** Display and search texts of a street, derived from its names. */
interface Names {
  readonly displayName: string;
  readonly displayLocalita: string | null;
  readonly localitaKey: string | null;
  readonly kinds: readonly string[];
  readonly types: readonly (string | null)[];
  readonly tokens: readonly string[];
}

function namesOf(street: IndirStreet): Names {
  const localita = street["LOCALITA'"];
  const names = streetNames(street.ODONIMO, street.DIZIONE_LINGUA1, street.DIZIONE_LINGUA2);
  return {
    displayName: titleCase(repairLetters(street.ODONIMO)),
    displayLocalita: localita === null ? null : titleCase(repairLetters(localita)),
    localitaKey: localita === null ? null : localityKey(localita),
    kinds: names.map(({ kind }) => kind),
    types: names.map(({ type }) => type),
    tokens: names.map(({ tokens }) => tokens.join(' ')),
  };
}

class StradLines extends Lines {
  protected override line(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('utf8', start, end);
    const fields = this.fields(text, STRAD_COLUMNS);
    if (fields === null) return;
    const named = record(STRAD_COLUMNS, fields);
    const parsed = stradRow.safeParse(named);
    if (!parsed.success) {
      const { code, message } = refusal(parsed.error, named);
      return this.reject(code, message, text);
    }
    const street = parsed.data;
    const names = namesOf(street);
    this.member.row('raw_street', this.position, [
      street.PROGRESSIVO_NAZIONALE, street.CODICE_COMUNE, street.CODICE_ISTAT, street.CODICE_COMUNALE, street.ODONIMO, street["LOCALITA'"],
      street.DIZIONE_LINGUA1, street.DIZIONE_LINGUA2, street.TOTALE_ACCESSI, names.displayName, names.displayLocalita, names.localitaKey,
      names.kinds, names.types, names.tokens,
    ]);
  }
}

class IndirLines extends Lines {
  readonly #writer: RowWriter;
  readonly #scanner: AccessScanner;
  /** Bytes of the street's columns on the previous line, with the separator after them. */
  #prefix: Buffer = Buffer.alloc(0);
  /** Length of `#prefix`; 0 if the previous line had no valid street. */
  #prefixLength = 0;
  /** The street's columns, kept until its first access is accepted. */
  #unwritten: { readonly columns: string; readonly street: IndirStreet } | null = null;
  readonly #written = new Set<string>();

  constructor(member: MemberSink, at: string) {
    super(member, at);
    this.#writer = member.writer('raw_access');
    this.#scanner = new AccessScanner(this.#writer);
  }

  protected override line(bytes: Buffer, start: number, end: number): void {
    if (!this.#hasSameStreet(bytes, start, end) && !this.#takeStreet(bytes, start, end)) return this.#slow(bytes, start, end);
    if (!this.#scanner.scan(bytes, start + this.#prefixLength, end, this.position)) return this.#slow(bytes, start, end);
    this.#endRow();
  }

  /** Ends a row. Writes the columns of the street with the street's first accepted access, and null with its other accesses. */
  #endRow(): void {
    const writer = this.#writer;
    if (this.#unwritten === null) {
      writer.ensure(STREET_NULLS.length);
      writer.buffer.set(STREET_NULLS, writer.length);
      writer.length += STREET_NULLS.length;
    } else {
      if (this.#written.size >= REMEMBERED_STREETS) this.#written.clear();
      const { columns, street } = this.#unwritten;
      this.#written.add(columns);
      this.#unwritten = null;
      const names = namesOf(street);
      writer.value('text[]', [
        street.CODICE_ISTAT, street.CODICE_COMUNALE, street.ODONIMO, street["LOCALITA'"], street.DIZIONE_LINGUA1, street.DIZIONE_LINGUA2, names.displayName,
        names.displayLocalita, names.localitaKey,
      ]);
      writer.value('text[]', names.kinds);
      writer.value('text[]', names.types);
      writer.value('text[]', names.tokens);
    }
    writer.end();
  }

  #hasSameStreet(bytes: Buffer, start: number, end: number): boolean {
    const length = this.#prefixLength;
    if (length === 0 || end - start < length) return false;
    const prefix = this.#prefix;
    // Compare from the end, because streets of one comune have the same leading codes and different names.
    for (let i = length - 1; i >= 0; i -= 1) if (bytes[start + i] !== prefix[i]) return false;
    return true;
  }

  /** Parses the street's columns. Returns false if the columns are invalid. The slow path then finds the reason. */
  #takeStreet(bytes: Buffer, start: number, end: number): boolean {
    this.#prefixLength = 0;
    let at = start;
    for (let separators = 0; separators < INDIR_STREET_COLUMNS; at += 1) {
      if (at === end) return false;
      if (bytes[at] === SEPARATOR) separators += 1;
    }
    const fields = bytes.toString('utf8', start, at - 1).split(';');
    const parsed = indirStreet.safeParse(record(INDIR_COLUMNS.slice(0, INDIR_STREET_COLUMNS), fields));
    if (!parsed.success) return false;
    this.#scanner.street(parsed.data.PROGRESSIVO_NAZIONALE, parsed.data.CODICE_COMUNE);
    const columns = fields.join(';');
    this.#unwritten = this.#written.has(columns) ? null : { columns, street: parsed.data };
    this.#prefix = Buffer.from(bytes.subarray(start, at));
    this.#prefixLength = at - start;
    return true;
  }

  #refuse(error: ZodError, named: Readonly<Record<string, string>>, text: string): void {
    const { code, message } = refusal(error, named);
    this.reject(code, message, text);
  }

  /** Checks every column with the schema, and writes or rejects the line. */
  #slow(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('utf8', start, end);
    const fields = this.fields(text, INDIR_COLUMNS);
    if (fields === null) return;
    const named = record(INDIR_COLUMNS, fields);
    const street = indirStreet.safeParse(record(INDIR_COLUMNS.slice(0, INDIR_STREET_COLUMNS), fields));
    const access = indirAccess.safeParse(record(INDIR_COLUMNS.slice(INDIR_STREET_COLUMNS), fields.slice(INDIR_STREET_COLUMNS)));
    if (!street.success) return this.#refuse(street.error, named, text);
    if (!access.success) return this.#refuse(access.error, named, text);
    this.#writer.begin(this.position);
    const values = accessValues(street.data, access.data);
    for (const [column, type] of ACCESS_TYPES.entries()) this.#writer.value(type, values[column]);
    this.#endRow();
  }
}

/** Returns the values of the columns of raw_access up to metodo, in the order of the table. */
function accessValues(street: IndirStreet, access: IndirAccess): unknown[] {
  return [
    access.PROGRESSIVO_ACCESSO, street.PROGRESSIVO_NAZIONALE, street.CODICE_COMUNE, access.CODICE_COMUNALE_ACCESSO, access.CIVICO, access.ESPONENTE,
    access.SPECIFICITA, access.METRICO, access.PROGRESSIVO_SNC, access.COORD_X_COMUNE, access.COORD_Y_COMUNE, access.QUOTA, access.METODO,
  ];
}
