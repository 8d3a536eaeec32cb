/**
 * Reads tiles of EGMS L3 Ortho. A row is about 2 kB: 60 bytes of needed fields and the displacement series. Only the needed fields are cut from the
 * bytes. `indexOf` finds the end of the line, so the other fields are never split.
 */
import { columnsChanged, expectColumns, resembles, type FoundColumns } from '../../pipelines/formats/csv.ts';
import type { RowWriter } from '../../pipelines/formats/copy.ts';
import { decimalOf, type DecimalForm } from '../../pipelines/formats/decimal.ts';
import { inputError, type InputFile, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/formats/zip.ts';
import { lineTooLong } from '../../pipelines/readers/delimited-lines.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { manifest } from './manifest.ts';
import { CELL_M, COLUMNS, EDITIONS, FIELDS, HEIGHT_M, MAX_ACCELERATION_MM_YEAR2, MAX_COORDINATE_M, MAX_VELOCITY_MM_YEAR, egmsRow, refusal } from './schema.ts';

const LF = 0x0a;
const CR = 0x0d;
const COMMA = 0x2c;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** Maximum length of a line. A line has about 2 kB, and a file without line ends must not fill the memory. */
const MAX_LINE_BYTES = 1 << 20;
/** Maximum number of bytes of a rejected line that are kept. The checked fields are in these bytes. The series after these bytes is not needed. */
const RAW_BYTES = 512;
/** Columns that only the level 2 products have. Other programs also add latitude and longitude to L3 files, so these two columns do not identify level 2. */
const LEVEL_2 = ['mp_type', 'los_east', 'los_north', 'los_up', 'incidence_angle', 'track_angle', 'temporal_coherence', 'amplitude_dispersion', 'line', 'pixel'];
const LEAST_OF_LEVEL_2 = 2;
/** Number of rows from which values of added columns are sampled. */
const SAMPLED_ROWS = 100;
const DATE = /^(?:19|20)\d{6}$/;
/** Forms of the numbers that the fast path reads. */
const METRES: DecimalForm = { sign: 'none', whole: 7, fraction: 0 };
const MEASURED: DecimalForm = { sign: 'minus', whole: 7, fraction: 6 };

/** Parsed header: the positions of the needed fields, and the dates of the series. */
export interface Header {
  /** Column index of each field, in the order of `FIELDS`. */
  readonly columns: readonly number[];
  /** First and last date column, `20180103`; null in a file without a series. */
  readonly dates: readonly [string, string] | null;
  readonly width: number;
  /** Columns in the header, for the report of added columns. */
  readonly found: FoundColumns<(typeof FIELDS)[number]>;
}

/**
 * Splits the header line of an L3 tile of any component.
 * @returns the column names; null if the line is not an EGMS header
 * @throws `EGMS_LEVEL` if the file is a level 2 file
 */
export function columnNames(line: string, at: string): readonly string[] | null {
  const names = line.replace(/^\ufeff/, '').replace(/\r$/, '').split(',');
  if (!resembles(names, EDITIONS)) return null;
  const level2 = LEVEL_2.filter((name) => names.includes(name));
  if (level2.length < LEAST_OF_LEVEL_2) return names;
  throw inputError('the file is an EGMS level 2 file, which has motion along one line of sight and not the vertical component', {
    code: 'EGMS_LEVEL',
    at,
    detail: `expected the columns of L3 Ortho (pid, easting, northing, height, …), also found ${level2.join(', ')}`,
    hint: 'Download L3 Ortho, component U (EGMS_L3_…_100km_U_….zip), for the same area.',
  });
}

/**
 * Finds the columns of an L3 tile by name, in any order and with any number of date columns.
 * @throws `COLUMNS_CHANGED`
 */
export function headerOf(names: readonly string[], at: string): Header {
  const dates = names.filter((name) => DATE.test(name)).sort();
  const found = expectColumns(names, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, data: DATE, at });
  return { columns: FIELDS.map((field) => found.indexes[field]), dates: dates.length === 0 ? null : [dates[0]!, dates.at(-1)!], width: names.length, found };
}

/**
 * Counts records separately, on the raw bytes before parsing. Records are lines that are neither blank nor the header. This count is independent of
 * the reader, so that a difference reveals an error.
 */
export class LineCounter {
  #lines = 0;
  #blank = 0;
  /** Number of bytes in the unfinished line, without a CR at the end of a chunk. */
  #open = 0;

  count(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.#open + this.#visible(chunk, start, end) === 0) this.#blank += 1;
      this.#lines += 1;
      this.#open = 0;
      start = end + 1;
    }
    this.#open += this.#visible(chunk, start, chunk.length);
  }

  /** Number of records so far, including an unfinished last line. */
  get records(): number {
    return Math.max(0, this.#lines - this.#blank + (this.#open > 0 ? 1 : 0) - 1);
  }

  #visible(chunk: Buffer, start: number, end: number): number {
    // A CR is part of the line end only if the CR is the last byte of the line. A line that contains only such a CR is blank.
    return end > start && chunk[end - 1] === CR ? end - start - 1 : end - start;
  }
}

/** Returns the path of the CSV inside a tile's zip. @throws `EGMS_ZIP` if the zip does not contain exactly one CSV */
export function csvEntry(paths: readonly string[], at: string): string {
  const found = paths.filter((path) => path.toLowerCase().endsWith('.csv'));
  if (found.length === 1) return found[0]!;
  throw inputError('the EGMS zip does not contain exactly one CSV', {
    code: 'EGMS_ZIP',
    at,
    detail: `expected one .csv next to the .tiff and the .xml, found ${found.length === 0 ? paths.join(', ') || 'an empty zip' : found.join(', ')}`,
    hint: 'Download the tile again. Each zip contains one tile.',
  });
}

/** Reads one tile as a stream, zipped or plain. The position is the line number, and the header is line 1. */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  const tile = (zip: ZipArchive): readonly ZipEntry[] => [zip.entry(csvEntry(zip.entries.map((entry) => entry.path), file.name))];
  for await (const { facts, at, open } of partsOf(file, sink, tile)) {
    if (facts.path !== '' && (await sink.reuse(facts))) continue;
    const member = await sink.member(facts);
    await readCsv(await open(), at, member);
  }
}

async function readCsv(stream: AsyncIterable<Buffer>, at: string, member: MemberSink): Promise<void> {
  const counter = new LineCounter();
  const rows = new TileRows(member, at);
  let carry: Buffer | null = null;
  for await (const chunk of stream) {
    counter.count(chunk);
    let start = 0;
    if (carry !== null) {
      const end = chunk.indexOf(LF);
      if (end === -1) {
        carry = Buffer.concat([carry, chunk]);
        if (carry.length > MAX_LINE_BYTES) throw lineTooLong('tile', `${at}:${rows.number + 1}`, MAX_LINE_BYTES);
        continue;
      }
      const joined: Buffer = Buffer.concat([carry, chunk.subarray(0, end)]);
      rows.line(joined, 0, joined.length);
      carry = null;
      start = end + 1;
    }
    start = rows.lines(chunk, start);
    if (start < chunk.length) carry = Buffer.from(chunk.subarray(start));
    const full = member.drain();
    if (full !== undefined) await full;
  }
  if (carry !== null) rows.lastLine(carry);
  rows.end();
  await member.close(counter.records);
}

/** Writes the rows of one tile to the staging table. */
class TileRows {
  readonly #member: MemberSink;
  readonly #writer: RowWriter;
  readonly #at: string;
  #header: Header | null = null;
  /** For each leading column up to the last needed column, the index of the field; −1 for other columns. */
  #slots: Int8Array = new Int8Array(0);
  readonly #from = new Int32Array(FIELDS.length);
  readonly #to = new Int32Array(FIELDS.length);
  #number = 0;
  /** Number of rows from which values of added columns are still to be sampled. */
  #sampled = 0;

  constructor(member: MemberSink, at: string) {
    this.#member = member;
    this.#writer = member.writer('raw_egms_cell');
    this.#at = at;
  }

  /** Number of the last line that was read. */
  get number(): number {
    return this.#number;
  }

  /** Reads every complete line of the chunk. @returns the index at which the unfinished line starts */
  lines(chunk: Buffer, start: number): number {
    for (let end = chunk.indexOf(LF, start); end !== -1; end = chunk.indexOf(LF, start)) {
      this.line(chunk, start, end);
      start = end + 1;
    }
    return start;
  }

  line(buffer: Buffer, start: number, end: number): void {
    this.#number += 1;
    if (end > start && buffer[end - 1] === CR) end -= 1;
    if (end === start) return;
    if (this.#header === null) return this.#head(buffer, start, end);
    if (this.#sampled > 0) this.#sample(buffer, start, end);
    if (!this.#fast(buffer, start, end)) this.#slow(buffer, start, end);
  }

  /**
   * Reads a last line that has no line end. Some programs write no line end after a complete last line. If the last line has fewer columns than the
   * header, the file was truncated and an unknown number of cells is missing. @throws `EGMS_TRUNCATED`
   */
  lastLine(bytes: Buffer): void {
    if (this.#header !== null && bytes.length > 0) {
      let columns = 1;
      for (const byte of bytes) if (byte === COMMA) columns += 1;
      if (columns < this.#header.width) {
        throw inputError('the EGMS file is truncated', {
          code: 'EGMS_TRUNCATED',
          at: `${this.#at}:${this.#number + 1}`,
          detail: `expected ${this.#header.width} columns in the last line, found ${columns} and no line end`,
          hint: 'Unpack the zip again or download the tile again. The checksum of the zip detects missing data, but a plain CSV has no checksum.',
        });
      }
    }
    this.line(bytes, 0, bytes.length);
  }

  end(): void {
    if (this.#header === null) {
      throw inputError('the EGMS file is empty', { code: 'EGMS_EMPTY', at: this.#at, detail: 'expected a header line, found nothing', hint: 'Download the tile again.' });
    }
  }

  #head(buffer: Buffer, start: number, end: number): void {
    const line = buffer.toString('utf8', buffer.indexOf(BOM, start) === start ? start + BOM.length : start, end);
    const at = `${this.#at}:${this.#number}`;
    const names = columnNames(line, at);
    if (names === null) {
      throw inputError('the file is not an EGMS CSV', {
        code: 'EGMS_HEADER', at, detail: `expected a header with pid, easting and mean_velocity, found ${JSON.stringify(line.slice(0, 80))}`,
        hint: 'Use the tile as downloaded.',
      });
    }
    const header = headerOf(names, at);
    this.#header = header;
    header.found.reportTo(this.#member);
    this.#sampled = header.found.added.length === 0 ? 0 : SAMPLED_ROWS;
    this.#slots = new Int8Array(Math.max(...header.columns) + 1).fill(-1);
    for (const [slot, column] of header.columns.entries()) this.#slots[column] = slot;
  }

  #sample(buffer: Buffer, start: number, end: number): void {
    this.#sampled -= 1;
    const cells = buffer.toString('utf8', start, end).split(',');
    this.#header?.found.sample((index) => cells[index]);
  }

  /** Finds the needed fields of a line. Returns false if the line ends before the last needed field. */
  #split(buffer: Buffer, start: number, end: number): boolean {
    const slots = this.#slots;
    let at = start;
    for (let column = 0; column < slots.length; column += 1) {
      const from = at;
      while (at < end && buffer[at] !== COMMA) at += 1;
      const slot = slots[column]!;
      if (slot >= 0) {
        this.#from[slot] = from;
        this.#to[slot] = at;
      }
      if (at >= end && column < slots.length - 1) return false;
      at += 1;
    }
    return true;
  }

  /** Writes the row if the row is certainly valid. Returns false if the schema must parse the row. */
  #fast(buffer: Buffer, start: number, end: number): boolean {
    if (!this.#split(buffer, start, end)) return false;
    const from = this.#from;
    const to = this.#to;
    if (to[0]! - from[0]! !== 10) return false;
    for (let at = from[0]!; at < to[0]!; at += 1) if (!isBase62(buffer[at]!)) return false;
    const easting = decimalOf(buffer, from[1]!, to[1]!, METRES);
    const northing = decimalOf(buffer, from[2]!, to[2]!, METRES);
    if (!(easting % CELL_M === CELL_M / 2 && northing % CELL_M === CELL_M / 2 && easting < MAX_COORDINATE_M && northing < MAX_COORDINATE_M)) return false;
    const height = decimalOf(buffer, from[3]!, to[3]!, MEASURED);
    const rmse = decimalOf(buffer, from[4]!, to[4]!, MEASURED);
    const velocity = decimalOf(buffer, from[5]!, to[5]!, MEASURED);
    const velocityStd = decimalOf(buffer, from[6]!, to[6]!, MEASURED);
    const acceleration = decimalOf(buffer, from[7]!, to[7]!, MEASURED);
    // NaN fails every comparison.
    if (!(rmse >= 0 && velocityStd >= 0 && velocity <= MAX_VELOCITY_MM_YEAR && velocity >= -MAX_VELOCITY_MM_YEAR)) return false;
    if (!(height >= HEIGHT_M[0] && height <= HEIGHT_M[1] && acceleration <= MAX_ACCELERATION_MM_YEAR2 && acceleration >= -MAX_ACCELERATION_MM_YEAR2))
      return false;
    const writer = this.#writer;
    writer.begin(this.#number);
    writer.bytes(buffer, from[0], to[0]);
    writer.int4(easting);
    writer.int4(northing);
    writer.float8(height);
    writer.float8(rmse);
    writer.float8(velocity);
    writer.float8(velocityStd);
    writer.float8(acceleration);
    writer.end();
    return true;
  }

  /** Parses the row with the schema, and writes or rejects the row. */
  #slow(buffer: Buffer, start: number, end: number): void {
    const raw = Buffer.from(buffer.subarray(start, Math.min(end, start + RAW_BYTES)));
    const reject = (code: string, message: string): void => this.#member.reject({ position: this.#number, code, message, raw });
    if (raw.includes('mean_velocity')) {
      this.#headerAgain(buffer.toString('utf8', start, end));
      return reject('header_repeated', 'expected a cell, found the header again, because tiles were concatenated');
    }
    if (!this.#split(buffer, start, end)) {
      return reject('columns_missing', `expected at least ${this.#slots.length} columns, found the end of the line`);
    }
    const text: Record<string, string> = {};
    for (const [slot, field] of FIELDS.entries()) text[field] = buffer.toString('utf8', this.#from[slot], this.#to[slot]);
    const parsed = egmsRow.safeParse(text);
    if (parsed.success) return this.#member.row('raw_egms_cell', this.#number, FIELDS.map((field) => parsed.data[field]));
    const { code, message } = refusal(text, parsed.error);
    reject(code, message);
  }

  /**
   * Checks a repeated header, which occurs in concatenated tiles. The date columns may differ from the first header.
   * @throws `COLUMNS_CHANGED` if a field is missing or at a different position, because values would be read from the wrong columns
   */
  #headerAgain(line: string): void {
    const at = `${this.#at}:${this.#number}`;
    const names = columnNames(line, at);
    if (names !== null && headerOf(names, at).columns.every((column, slot) => column === this.#header!.columns[slot])) return;
    throw columnsChanged(at, 'expected the fields at the positions of the first header, found a second header with other positions, because tiles were concatenated');
  }
}

function isBase62(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}
