/** Reads one OMI file: a CSV of quotations or zones, a KML of perimeters, or a zip or KMZ of such files. */
import type { z } from 'zod';
import { inputError, type InputFile, type MemberFacts, type MemberSink, type Sink } from '../../pipelines/contract/source.ts';
import { outsideItaly } from '../../pipelines/readers/italy.ts';
import { firstIssue } from '../../pipelines/readers/refusal.ts';
import { withStart } from '../../pipelines/formats/streams.ts';
import { TableEnd } from '../../pipelines/formats/table-end.ts';
import type { ZipArchive } from '../../pipelines/formats/zip.ts';
import { expectColumns, type FoundColumns } from '../../pipelines/formats/csv.ts';
import { PropertyColumns } from '../../pipelines/readers/property-columns.ts';
import { KmlReader, multiPolygon, type Placemark } from '../../pipelines/formats/kml.ts';
import { openFile } from '../../pipelines/readers/file-parts.ts';
import { maskTaxCode } from '../../pipelines/mask-tax-code.ts';
import { manifest } from './manifest.ts';
import { HEADERS, PERIMETER_EDITIONS, PROPERTY_TYPES, belfiore, parseDocumentName, parseTitle, semesterOf, valori, zona, zone, type Kind, type Semester, type Title } from './schema.ts';
import { MixedDecoder, readLines, type Line } from './text.ts';

/** Pattern of zip entries without records. */
const COMPANIONS = /(?:\/|\.(?:pdf|txt|html?|docx?|png|jpe?g|gif))$/i;

/** Matches a character that is neither white space nor a semicolon. Spreadsheet programs add lines without such a character at the end. */
const CONTENT = /[^\s;]/;

export async function read(file: InputFile, sink: Sink): Promise<void> {
  const label = maskTaxCode(file.name);
  if (file.role !== 'ARCHIVE') {
    const chunks = openFile(file, sink);
    const facts = { path: '', size: file.size };
    if (file.role === 'PERIMETER') await readKml(chunks, facts, { sink, at: label, name: file.name, vintage: file.vintage });
    else await readCsv(chunks, facts, { sink, at: label, name: file.name, vintage: file.vintage });
    return;
  }
  const zip = await file.zip();
  try {
    await readArchive(zip, '', label, file, sink);
  } finally {
    await zip.close();
  }
}

/** Reads all entries of a zip or KMZ. @returns the number of perimeter files, including those of inner zips */
async function readArchive(zip: ZipArchive, prefix: string, label: string, file: InputFile, sink: Sink): Promise<number> {
  let announced = 0;
  let files = 0;
  let done = 0;
  for (const entry of zip.entries) {
    // Progress counts an inner zip as one entry, so the entries of an inner zip report no progress.
    if (prefix === '') sink.progress(done);
    done += entry.compressedSize;
    const path = prefix + entry.path;
    const at = `${label}!${path}`;
    if (/\.(?:kmz|zip)$/i.test(entry.path)) {
      const inner = await zip.archive(entry.path);
      files += await readArchive(inner, `${path}/`, label, file, sink);
      await inner.close();
      continue;
    }
    const kind = /\.(csv|kml)$/i.exec(entry.path)?.[1]?.toLowerCase();
    if (kind === undefined) {
      if (COMPANIONS.test(entry.path)) continue;
      throw inputError('the OMI zip contains an unknown file', {
        code: 'ENTRY_UNKNOWN', at, detail: 'expected .csv, .kml or .kmz', hint: 'Remove the file from the zip, or report the file.',
      });
    }
    const facts = { path, size: entry.size, crc32: entry.crc32 };
    const context = { sink, at, name: entry.path, vintage: file.vintage };
    // Members are not reused from earlier releases, because load.sql compares the records of all members of a file to determine which record is used.
    const stream = (await zip.stream(entry.path)) as AsyncIterable<Buffer>;
    if (kind === 'csv') {
      await readCsv(stream, facts, context);
    } else {
      const found = await readKml(stream, facts, context);
      announced += found.networkLinks;
      if (found.networkLinks === 0) files += 1;
    }
  }
  if (prefix === '') sink.progress(done);
  if (announced > files) {
    throw inputError('the OMI perimeters are incomplete', {
      code: 'KMZ_INCOMPLETE', at: label, detail: `expected ${announced} comuni as in the index, found ${files}`, hint: 'Download the file again.',
    });
  }
  return files;
}

interface Context {
  readonly sink: Sink;
  /** Name of the member in messages. */
  readonly at: string;
  /** Name of the file or entry. */
  readonly name: string;
  readonly vintage: string;
}

// --- CSV ---------------------------------------------------------------------------------------------------------

type Cell<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Returns a function that parses a cell and caches the result, because texts are often repeated. The cache is cleared when it contains 20,000 texts. */
function remembering<T>(schema: z.ZodType<T>): (text: string) => Cell<T> {
  const known = new Map<string, Cell<T>>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const parsed = schema.safeParse(text);
    const cell: Cell<T> = parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: firstIssue(parsed.error).message };
    if (known.size >= 20_000) known.clear();
    known.set(text, cell);
    return cell;
  };
}

type Readers = readonly { readonly column: string; readonly at: number; readonly read: (text: string) => Cell<unknown> }[];

/** Returns the conversion functions of the mapped columns, with the index of each column in the file. */
function readersOf(kind: Kind, { indexes }: FoundColumns<string>): Readers {
  return Object.entries(fieldsOfKind(kind)).map(([column, schema]) => ({ column, at: indexes[column] ?? -1, read: remembering(schema) }));
}

function fieldsOfKind(kind: Kind): Readonly<Record<string, z.ZodType>> {
  return kind === 'VALORI' ? valori : zone;
}

async function readCsv(chunks: AsyncIterable<Buffer>, facts: MemberFacts, context: Context): Promise<void> {
  const { sink, at } = context;
  let title = null as Title | null;
  let titleLine = '';
  let header: Header | null = null;
  const end = new TableEnd();
  let readers: Readers = [];
  let member = null as MemberSink | null;
  let records = 0;
  for await (const lines of readLines(chunks, at)) {
    for (const line of lines) {
      if (title === null) {
        title = parseTitle(line.text);
        titleLine = line.text;
        if (title === null) {
          throw inputError('the OMI file has no title line', {
            code: 'TITLE_UNREADABLE', at: `${at}:1`,
            detail: `expected "Quotazioni Immobiliari : … - Semestre 2025/1 - elaborazione del 23-NOV-25", found ${JSON.stringify(line.text.slice(0, 120))}`,
            hint: 'Use the file as delivered by the Agenzia delle Entrate, with its first line.',
          });
        }
        continue;
      }
      if (member === null || header === null) {
        header = headerOf(title.kind, line, at);
        readers = readersOf(title.kind, header.columns);
        member = await sink.member({ ...facts, envelope: { before: `${titleLine}\n${line.text}\n`, after: '\n' } });
        header.columns.reportTo(member);
        continue;
      }
      if (!CONTENT.test(line.text)) continue;
      records += 1;
      const cells = line.text.split(';');
      // A complete record has an empty cell after its closing semicolon.
      end.take(cells, header.width + 1, line.isOpen ? `${at}:${line.number}` : null);
      readRecord(title, header, readers, { line, cells }, member);
    }
    await member?.drain();
  }
  if (member === null) {
    throw inputError('the OMI file is empty', { code: 'TITLE_UNREADABLE', at, detail: 'expected a title line and a header, found the end of the file', hint: 'Download the file again.' });
  }
  await member.close(records);
}

interface Header {
  readonly columns: FoundColumns<string>;
  /** Number of columns. */
  readonly width: number;
}

/** Parses the header. The header and every record end with an additional semicolon. @throws input error `COLUMNS_CHANGED` */
function headerOf(kind: Kind, line: Line, at: string): Header {
  const cells = line.text.split(';').map((cell) => cell.trim());
  if (cells.at(-1) === '') cells.pop();
  const mapped = Object.fromEntries(Object.keys(fieldsOfKind(kind)).map((column) => [column, column]));
  return { columns: expectColumns(cells, { mapped, ignored: manifest.ignored, editions: { [kind]: HEADERS[kind] }, at: `${at}:${line.number}` }), width: cells.length };
}
function readRecord(
  title: Title, { columns, width }: Header, readers: Readers, { line, cells }: { readonly line: Line; readonly cells: readonly string[] }, member: MemberSink,
): void {
  const reject = (code: string, message: string): void => member.reject({ position: line.number, code, message, raw: line.text });
  // The empty text after the closing semicolon is not a cell.
  const isClosed = cells.length > 1 && cells.at(-1)?.trim() === '';
  const count = isClosed ? cells.length - 1 : cells.length;
  if (!isClosed || count !== width) {
    return reject('cell_count', `expected ${width} cells and a closing semicolon, found ${count} cells and ${isClosed ? 'a' : 'no'} closing semicolon`);
  }
  if (line.text.includes('\0')) return reject('nul_character', 'expected text, found a NUL character');
  columns.sample((index) => cells[index]);
  const value: Record<string, unknown> = {};
  for (const { column, at, read } of readers) {
    const cell = read(cells[at] ?? '');
    if (!cell.ok) {
      const colon = cell.message.indexOf(': ');
      return reject(cell.message.slice(0, colon), `${column}: ${cell.message.slice(colon + 2)}, found ${JSON.stringify(cells[at])}`);
    }
    value[column] = cell.value;
  }
  const { semester, elaborated } = title;
  const first = [semester.text, semester.halfYear, elaborated, value['Regione'], value['Comune_amm'], value['Comune_descrizione'], value['Fascia'], value['Zona'], value['LinkZona']];
  if (title.kind === 'ZONE') {
    const prevalent = value['Cod_tip_prev'] as number;
    member.row('raw_zone', line.number, [
      ...first, value['Zona_Descr'],
      // The code 0 means "Non presente". In rural zones, the prevalent type is a crop. The name of the crop is kept.
      prevalent === 0 ? null : prevalent, prevalent === 0 ? null : value['Descr_tip_prev'],
      value['Stato_prev'], value['Microzona'],
    ]);
    return;
  }
  const words = PROPERTY_TYPES.get(value['Cod_Tip'] as number);
  if (words === undefined) return reject('type_unknown', `Cod_Tip: expected one of ${[...PROPERTY_TYPES.keys()].join(', ')}, found ${String(value['Cod_Tip'])}`);
  if (words !== value['Descr_Tipologia']) return reject('type_mismatch', `Descr_Tipologia: expected ${JSON.stringify(words)} with Cod_Tip ${String(value['Cod_Tip'])}, found ${JSON.stringify(value['Descr_Tipologia'])}`);
  member.row('raw_quotation', line.number, [
    ...first, value['Cod_Tip'], words, value['Stato'], value['Stato_prev'],
    value['Compr_min'], value['Compr_max'], value['Sup_NL_compr'], value['Loc_min'], value['Loc_max'], value['Sup_NL_loc'],
  ]);
}

// --- KML ---------------------------------------------------------------------------------------------------------

/** Number of bytes at the start of a KML in which the document's name must occur. Styles and placemarks come after the name. */
const HEAD_BYTES = 65_536;

async function readKml(chunks: AsyncIterable<Buffer>, facts: MemberFacts, context: Context): Promise<{ readonly networkLinks: number }> {
  const { sink, at } = context;
  const { start, all } = await withStart(chunks, { most: HEAD_BYTES });
  const head = new MixedDecoder().write(Buffer.concat(start));
  const documentName = /<Document>\s*<name>([^<]*)<\/name>/.exec(head)?.[1] ?? '';
  const document = parseDocumentName(documentName);
  const semester = document?.semester ?? semesterOfName(context.name);

  const member = await sink.member({
    ...facts,
    envelope: {
      before: `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n<name>${documentName}</name>\n`,
      after: '\n</Document></kml>\n',
    },
  });
  let refusedParts = 0;
  const columns = new PropertyColumns({ mapped: { CODCOM: 'CODCOM', CODZONA: 'CODZONA' }, optional: ['CODCOM', 'CODZONA'], ignored: manifest.ignored, editions: PERIMETER_EDITIONS, at }, member);
  const reader = new KmlReader({
    placemark(placemark) {
      const doubled = placemark.fault === null ? columns.take(placemark.names, (index) => placemark.data.get(placemark.names[index] ?? '')) : null;
      if (doubled !== null) {
        member.reject({ position: placemark.number, code: 'data_repeated', message: `expected one ${doubled}, found two`, raw: placemark.raw });
        return;
      }
      refusedParts += readPlacemark(placemark, { semester, generated: document?.generated ?? null, fileName: context.name, vintage: context.vintage }, member);
    },
    broken(message) {
      const line = /^(\d+):\d+: /.exec(message)?.[1];
      throw inputError('the OMI perimeters cannot be read', {
        code: 'KML_BROKEN', at: line === undefined ? at : `${at}:${line}`, detail: `expected well-formed XML to the end, found: ${message}`, hint: 'Download the file again.',
      });
    },
  });
  const decoder = new MixedDecoder();
  for await (const chunk of all) {
    reader.write(decoder.write(chunk));
    await member.drain();
  }
  reader.write(decoder.end());
  reader.end();
  columns.end();
  await member.close(reader.placemarks + refusedParts);
  return { networkLinks: reader.networkLinks };
}

/** Returns the half-year in a text, or null if the pattern does not match. @param pattern expression that captures the year and the half */
function semesterIn(pattern: RegExp, text: string): Semester | null {
  const [, year, half] = pattern.exec(text) ?? [];
  return year === undefined || half === undefined ? null : semesterOf(year, half);
}

function semesterOfName(name: string): Semester | null {
  return semesterIn(/(\d{4})[-_]([12])\.km[lz]$/i, name);
}

/** Properties of the file that apply to all its placemarks. */
interface KmlFacts {
  readonly semester: Semester | null;
  readonly generated: string | null;
  readonly fileName: string;
  readonly vintage: string;
}

/**
 * Reads one zone of a KML. An unusable part or hole is rejected as a separate record, and the zone keeps its other parts.
 * @returns the number of rejected parts and holes
 */
function readPlacemark(placemark: Placemark, facts: KmlFacts, member: MemberSink): number {
  const { number: position } = placemark;
  const reject = (code: string, message: string, raw: string = placemark.raw): void => member.reject({ position, code, message, raw });
  if (placemark.fault !== null) {
    reject('xml_malformed', `expected well-formed XML, found: ${placemark.fault}`);
    return 0;
  }
  // Deliveries before 2014/2 have no CODCOM and CODZONA. The table in the description or the file's name contains the comune, and <name> contains the zone.
  const comune = belfiore.safeParse(placemark.data.get('CODCOM') || (/Cod\. Naz\. Comune<\/b><\/td><td>\s*(\w{4})/.exec(placemark.description)?.[1] ?? /(?:^|\/)([A-Z]\d{3})(?: - |[._])/.exec(facts.fileName)?.[1] ?? ''));
  if (!comune.success) {
    reject('belfiore_malformed', `CODCOM: expected a cadastral code such as F205, found ${JSON.stringify(placemark.data.get('CODCOM') ?? placemark.name)}`);
    return 0;
  }
  const zone = zona.safeParse(placemark.data.get('CODZONA') || (/Zona OMI\s+(\w+)\s*$/.exec(placemark.name)?.[1] ?? ''));
  if (!zone.success) {
    reject('zone_malformed', `CODZONA: expected a zone code such as B1 or R, found ${JSON.stringify(placemark.data.get('CODZONA') ?? placemark.name)}`);
    return 0;
  }
  const semester = facts.semester
    ?? semesterIn(/Anno \/ Semestre<\/b><\/td><td>\s*(\d{4})\s*\/\s*([12])/, placemark.description)
    ?? semesterIn(/^(\d{4})_([12])$/, facts.vintage);
  if (semester === null) {
    reject('semester_missing', 'expected the half-year in the document\'s name, the description or the file\'s name, found none');
    return 0;
  }

  let refused = 0;
  const refusePart = (fault: string, raw: string): void => {
    refused += 1;
    const colon = fault.indexOf(': ');
    // The raw record contains only the rejected part, so that a retry does not load the whole zone twice.
    reject(fault.slice(0, colon), fault.slice(colon + 2), `<Placemark><ExtendedData><Data name="CODCOM"><value>${comune.data}</value></Data><Data name="CODZONA"><value>${zone.data}</value></Data><Data name="LINKZONA"><value></value></Data></ExtendedData>${raw}</Placemark>`);
  };
  const polygons = [];
  for (const part of placemark.parts) {
    const fault = part.fault ?? part.rings.map(misplaced).find((found) => found !== null) ?? null;
    if (fault === null) {
      polygons.push(part.rings);
      for (const hole of part.refusedHoles) refusePart(hole.fault, hole.raw);
    } else {
      refusePart(fault, part.raw);
    }
  }
  if (polygons.length === 0) {
    reject('no_polygon', `expected at least one usable polygon, found ${placemark.parts.length === 0 ? 'none' : `${refused} refused`}`);
    return refused;
  }
  member.row('raw_perimeter', position, [semester.text, semester.halfYear, facts.generated, comune.data, zone.data, multiPolygon(polygons)]);
  return refused;
}

/**
 * Returns the error of the first point of a ring that is outside Italy, or null if all points are in Italy. Points outside Italy are errors in the data (a
 * Sardinian zone has a part off Africa).
 */
function misplaced(ring: readonly number[]): string | null {
  for (let i = 0; i < ring.length; i += 2) {
    const fault = outsideItaly(ring[i] ?? Number.NaN, ring[i + 1] ?? Number.NaN);
    if (fault !== null) return `${fault.code === 'outside_italy' ? 'part_outside_italy' : fault.code}: ${fault.message}`;
  }
  return null;
}
