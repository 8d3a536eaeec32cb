/**
 * Reads the grid as GML (`gml.ts`) or as text. A text file has a header with column names in any order, and one node per line. Columns are separated by spaces,
 * tabs, semicolons or commas.
 */
import { expectColumns, fieldsOf, normaliseHeader, type FoundColumns } from '../../pipelines/formats/csv.ts';
import { withoutByteOrderMark } from '../../pipelines/formats/streams.ts';
import { TableEnd } from '../../pipelines/formats/table-end.ts';
import { lineTooLong } from '../../pipelines/readers/delimited-lines.ts';
import { firstLine } from '../../pipelines/readers/head.ts';
import { inputError, type InputFile, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import type { ZipArchive, ZipEntry } from '../../pipelines/formats/zip.ts';
import { partsOf } from '../../pipelines/readers/file-parts.ts';
import { gmlDegrees, isGmlGrid, readGml } from './gml.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, EDITIONS, isNodeTable, node, refusal } from './schema.ts';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
/** Maximum length of a line. Lines have about 40 characters, and a file without line ends must not fill the memory. */
const MAX_LINE_BYTES = 4096;
/** Matches a line without content. `String.trim` also removes Unicode blanks, whose bytes count as content when records are counted. */
const BLANK_LINE = /^[\t-\r ]*$/;

type Split = (line: string) => string[];

/** Returns a function that splits a line at the separator of the header. If the separator is a semicolon, a comma in a number is the decimal sign. */
function splitter(header: string): Split {
  const separator = header.includes(';') ? ';' : header.includes(',') ? ',' : /\s+/;
  const plain: Split = (line) => line.trim().split(separator).map((field) => field.trim().replace(/^"(.*)"$/, '$1'));
  return separator === ';' ? (line) => plain(line).map((field) => (/^-?\d+,\d+$/.test(field) ? field.replace(',', '.') : field)) : plain;
}

/** Returns whether a text begins with a header that names the columns of nodes. The original header is `id lon lat ag 16perc 84perc`. */
function isTextGrid(head: Buffer): boolean {
  const line = firstLine(head.toString('utf8', 0, MAX_LINE_BYTES).replace(/^\uFEFF/, '').trimStart());
  const names = splitter(line)(line).map(normaliseHeader);
  return isNodeTable(names);
}

/**
 * Reads the file as a stream, zipped or plain. The position is the line number, and the header is line 1. In a GML document, the position is the
 * number of the feature.
 */
export async function read(file: InputFile, sink: Sink): Promise<void> {
  for await (const { facts, at, open } of partsOf(file, sink, grids)) {
    if (facts.path !== '' && (await sink.reuse(facts))) continue;
    const member = await sink.member(facts);
    await (isGml(at) ? readGml : readText)(await open(), at, member);
  }
}

async function grids(zip: ZipArchive): Promise<ZipEntry[]> {
  const found: ZipEntry[] = [];
  for (const entry of zip.entries) if (!entry.isFolder && isGridName(entry.path) && isGrid(entry.path, await zip.head(entry.path))) found.push(entry);
  return found;
}

/** Returns whether a file with this name may be the grid. */
export function isGridName(path: string): boolean {
  return /\.(?:txt|csv|dat|asc|gml|xml)$/i.test(path);
}

/** Returns whether the first bytes belong to the grid, as text or as GML. */
export function isGrid(path: string, head: Buffer): boolean {
  return isGml(path) ? isGmlGrid(head) : isTextGrid(head);
}

/** Steps of the grids that INGV publishes, as nodes per degree, finest first. */
const NODES_PER_DEGREE = [50, 20];

/**
 * Returns the nodes per degree of a grid, from the coordinates in the first bytes. Chooses the step that divides most coordinates. If both steps divide the
 * same number of coordinates, chooses the finer step.
 * @param head first bytes of a grid for which `isGrid` is true
 */
export function nodesPerDegree(path: string, head: Buffer): number {
  const degrees = isGml(path) ? gmlDegrees(head) : textDegrees(head);
  const onGrid = (nodes: number): number => degrees.filter((value) => Math.abs(value * nodes - Math.round(value * nodes)) < 1e-4).length;
  return NODES_PER_DEGREE.reduce((best, nodes) => (onGrid(nodes) > onGrid(best) ? nodes : best));
}

function textDegrees(head: Buffer): number[] {
  const [header = '', ...lines] = head.toString('utf8').replace(/^\uFEFF/, '').trimStart().split(/\r?\n/).slice(0, -1);
  const split = splitter(header);
  const names = split(header).map(normaliseHeader);
  const columns = [COLUMNS.lon, COLUMNS.lat].map((aliases) => names.findIndex((name) => (aliases as readonly string[]).includes(name)));
  return lines.filter((line) => line.trim() !== '').flatMap((line) => columns.map((column) => Number(split(line)[column]))).filter(Number.isFinite);
}

function isGml(path: string): boolean {
  return /\.(?:gml|xml)$/i.test(path);
}

async function readText(stream: AsyncIterable<Buffer>, at: string, member: MemberSink): Promise<void> {
  const lines = new Lines(member, at);
  let records = -1;
  let blank = true;
  let carry = Buffer.alloc(0);
  for await (const chunk of withoutByteOrderMark(stream)) {
    // Counts lines on the raw bytes, separately from parsing. Blank lines and the header do not count.
    for (const byte of chunk) {
      if (byte === LF) blank = true;
      else if (blank && byte !== SPACE && !(byte >= TAB && byte <= CR)) {
        blank = false;
        records += 1;
      }
    }
    const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      lines.line(bytes.toString('utf8', start, end));
      start = end + 1;
    }
    carry = Buffer.from(bytes.subarray(start));
    if (carry.length > MAX_LINE_BYTES) throw lineTooLong('grid', `${at}:${lines.number + 1}`, MAX_LINE_BYTES);
    const full = member.drain();
    if (full !== undefined) await full;
  }
  if (carry.length > 0) lines.line(carry.toString('utf8'), true);
  if (records < 0) throw inputError('the grid is empty', { code: 'GRID_EMPTY', at, detail: 'expected a header line, found nothing', hint: 'Download the file again.' });
  await member.close(records);
}

class Lines {
  readonly #member: MemberSink;
  readonly #at: string;
  #split: Split | null = null;
  #columns: FoundColumns<keyof typeof COLUMNS> | null = null;
  #width = 0;
  readonly #end = new TableEnd();
  number = 0;

  constructor(member: MemberSink, at: string) {
    this.#member = member;
    this.#at = at;
  }

  /** @param isOpen true for a last line without a line end @throws input error `FILE_TRUNCATED` */
  line(text: string, isOpen = false): void {
    this.number += 1;
    if (BLANK_LINE.test(text)) return;
    if (this.#split === null || this.#columns === null) return this.#header(text);
    const values = this.#split(text);
    this.#end.take(values, this.#width, isOpen ? `${this.#at}:${this.number}` : null);
    const reject = (code: string, message: string): void => this.#member.reject({ position: this.number, code, message, raw: text.replace(/\r$/, '') });
    if (values.length !== this.#width) return reject('column_count', `expected ${this.#width} fields, found ${values.length}`);
    const fields = fieldsOf(values, this.#columns);
    const parsed = node.safeParse(fields);
    if (!parsed.success) {
      const { code, message } = refusal(fields, parsed.error);
      return reject(code, message);
    }
    this.#member.row('raw_pga_node', this.number, [parsed.data.lon, parsed.data.lat, parsed.data.ag]);
  }

  #header(text: string): void {
    this.#split = splitter(text);
    const names = this.#split(text);
    this.#width = names.length;
    this.#columns = expectColumns(names, { mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, at: `${this.#at}:${this.number}` }).reportTo(this.#member);
  }
}
