/**
 * Detects damaged shapefiles that GDAL accepts, and determines the encoding of the text. Compares the headers of .shp, .shx and .dbf with each other and with
 * the file sizes. Format: ESRI Shapefile Technical Description (1998); dBASE III file structure.
 */
import { isAscii } from 'node:buffer';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { inputError, type MappaleError } from '../errors.ts';
import { notAFile } from './file-error.ts';
import { isUtf8 } from './streams.ts';

export interface Shapefile {
  /** GDAL's name of the text encoding. */
  readonly encoding: string;
  /** Number of records that are not marked as deleted. */
  readonly features: number;
  /** Content of the .prj; null if the shapefile has no .prj. */
  readonly wkt: string | null;
  /** Paths of the .shp and the .shx. */
  readonly shp: string;
  readonly shx: string;
}

/** Number of bytes of the .dbf to read at a time. */
const BATCH_BYTES = 1_048_576;
const DELETED = 0x2a;
const HEADER_BYTES = 100;
const FILE_CODE = 9994;

/**
 * Inspects a shapefile. @param path the path of the .shp @param label name of the shapefile in messages
 * @throws input errors `SIDECAR_MISSING`, `SHAPEFILE_TRUNCATED`, `SHAPEFILE_INCONSISTENT`, `DBF_HEADER`, `VECTOR_UNREADABLE`, `ENCODING_UNKNOWN`, `NOT_A_FILE`
 */
export async function inspectShapefile(path: string, label: string): Promise<Shapefile> {
  const needed = async (part: string): Promise<string> => {
    const found = await sidecar(path, part);
    if (found !== null) return found;
    throw inputError('shapefile is not complete', {
      code: 'SIDECAR_MISSING', at: label, detail: `expected a ${part} in the same folder, found none`, hint: 'Put all files of the shapefile in one folder: .shp, .shx, .dbf, .prj.',
    });
  };
  const shx = await needed('.shx');
  const dbf = await needed('.dbf');
  const main = await bytesAt(path, 0, HEADER_BYTES);
  if (main.length < HEADER_BYTES || main.readInt32BE(0) !== FILE_CODE) {
    const found = main.length < 4 ? `${main.length} bytes` : main.readInt32BE(0);
    throw inputError('shapefile cannot be read', {
      code: 'VECTOR_UNREADABLE', at: label, detail: `expected a header of 100 bytes that starts with 9994, found ${found}`, hint: 'Download the file again.',
    });
  }
  // Headers state lengths in 16-bit words. If a .shp is too large for this field, the length overflows, and only the check of the .shx can detect a truncated
  // file.
  const declared = main.readUInt32BE(24) * 2;
  const shpSize = (await stat(path)).size;
  if (shpSize < declared) throw truncated(label, `expected ${declared} bytes of .shp (header), found ${shpSize}`);
  const index = await bytesAt(shx, 0, HEADER_BYTES);
  if (index.length < HEADER_BYTES || index.readInt32BE(0) !== FILE_CODE) {
    const found = index.length < HEADER_BYTES ? `${index.length} bytes` : String(index.readInt32BE(0));
    throw truncated(label, `expected an index (.shx) with a header of ${HEADER_BYTES} bytes that starts with ${FILE_CODE}, found ${found}`);
  }
  const indexDeclared = index.readUInt32BE(24) * 2;
  const shxSize = (await stat(shx)).size;
  if (shxSize < indexDeclared) throw truncated(label, `expected ${indexDeclared} bytes of .shx (header), found ${shxSize}`);
  const records = (indexDeclared - HEADER_BYTES) / 8;
  const table = await inspectDbf(dbf, label);
  if (table.records !== records) {
    throw inputError('files of the shapefile disagree', {
      code: 'SHAPEFILE_INCONSISTENT', at: label, detail: `expected as many records in .dbf as in .shx, found ${table.records} and ${records}`,
      hint: 'The files are from different deliveries. Download all files again.',
    });
  }
  const cpg = (await sidecarText(path, '.cpg', 64, 'latin1'))?.trim() ?? '';
  return {
    encoding: cpg === '' ? (LANGUAGE_DRIVER[table.languageDriver] ?? (table.utf8 ? 'UTF-8' : 'CP1252')) : encodingName(cpg, label),
    features: records - table.deleted,
    wkt: (await sidecarText(path, '.prj', 65_536, 'utf8'))?.replace(/^\uFEFF/, '') ?? null,
    shp: path,
    shx,
  };
}

/** Returns the reason why GDAL could not read the geometry of a record; null if the record has no geometry. @param record number of the record, from 0 */
export async function whyNoGeometry({ shp, shx }: Shapefile, record: number): Promise<string | null> {
  const index = await bytesAt(shx, HEADER_BYTES + record * 8, 8);
  const header = await bytesAt(shp, index.readUInt32BE(0) * 2, 52);
  if (header.length < 12) return `record ${record + 1} is outside the file`;
  const type = header.readInt32LE(8);
  return type === 0 || hasNoPoints(type, header) ? null : `record ${record + 1} (shape type ${type}) cannot be read`;
}

/**
 * Returns whether a record is a line or polygon without parts and points. ArcGIS writes such a record, with NaN as its box, for a feature without a geometry.
 * @param record first 52 bytes of the record, with its header
 */
function hasNoPoints(type: number, record: Buffer): boolean {
  return [3, 5].includes(type % 10) && record.length === 52 && record.readInt32LE(44) === 0 && record.readInt32LE(48) === 0;
}

/** Returns at most `count` bytes of a file. */
export async function bytesAt(path: string, position: number, count: number): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Returns the path of a shapefile's part with a given extension, or null if the part does not exist. Like GDAL, accepts the extension in lower or upper case.
 * @throws input error `NOT_A_FILE`, because GDAL would wait for a pipe
 */
async function sidecar(path: string, extension: string): Promise<string | null> {
  const stem = basename(path, extname(path));
  for (const name of [stem + extension, stem + extension.toUpperCase()]) {
    const info = await stat(join(dirname(path), name)).catch(() => null);
    if (info?.isFile() === false) throw notAFile(info, name);
    if (info !== null) return join(dirname(path), name);
  }
  return null;
}

async function sidecarText(path: string, extension: string, most: number, encoding: BufferEncoding): Promise<string | null> {
  const found = await sidecar(path, extension);
  return found === null ? null : (await bytesAt(found, 0, most)).toString(encoding);
}

/** Encodings by dBASE language driver id. The ids 0x00 (undefined) and 0x57 (ANSI code page of the writing program) name no encoding. */
const LANGUAGE_DRIVER: Readonly<Record<number, string>> = { 0x01: 'CP437', 0x02: 'CP850', 0x03: 'CP1252' };

function encodingName(cpg: string, label: string): string {
  const name = cpg.toUpperCase().replace(/^(ANSI|OEM|CP|WINDOWS)[ _-]*(?=\d)/, '');
  if (/^(UTF-?8|65001|(US-?)?ASCII)$/.test(name)) return 'UTF-8';
  const iso = /^(?:ISO[ _-]*)?8859[-_ ]*(\d{1,2})$/.exec(name)?.[1];
  // Windows programs call windows-1252 ISO 8859-1. The bytes 0x80–0x9F are control characters in ISO 8859-1, but printable characters in windows-1252.
  if (iso !== undefined) return iso === '1' ? 'CP1252' : `ISO-8859-${iso}`;
  if (/^(437|850|852|1250|1252)$/.test(name)) return `CP${name}`;
  throw inputError('encoding of the shapefile is not known', {
    code: 'ENCODING_UNKNOWN', at: label, detail: `expected an encoding in .cpg (UTF-8, 1252, 1250, 850, 437 or ISO 8859-n), found ${JSON.stringify(cpg)}`,
    hint: 'Correct the .cpg file.',
  });
}

interface DbfFacts {
  readonly records: number;
  readonly deleted: number;
  readonly languageDriver: number;
  /** True if every text is valid UTF-8. The last character of a text may be incomplete, because a field has a fixed length. */
  readonly utf8: boolean;
}

async function inspectDbf(path: string, label: string): Promise<DbfFacts> {
  const { size } = await stat(path);
  const header = await bytesAt(path, 0, 32);
  if (header.length < 32) throw truncated(label, `expected a .dbf header of 32 bytes, found ${header.length}`);
  const records = header.readUInt32LE(4);
  const start = header.readUInt16LE(8);
  const length = header.readUInt16LE(10);
  // A record has at least one byte, the deletion mark.
  if (length === 0 || start < 33) {
    throw inputError('the .dbf of the shapefile cannot be read', {
      code: 'DBF_HEADER', at: label, detail: `expected a .dbf header of at least 33 bytes and records of at least 1 byte, found ${start} and ${length}`,
      hint: 'The file is damaged. Download the file again.',
    });
  }
  if (size < start + records * length) {
    const whole = Math.max(0, Math.floor((size - start) / length));
    throw truncated(label, `expected ${records} records of ${length} bytes in .dbf, found ${whole}. The file ends in record ${whole + 1}`);
  }
  const texts = textFields(await bytesAt(path, 0, start));
  let deleted = 0;
  let utf8 = true;
  const batch = Math.max(1, Math.floor(BATCH_BYTES / length));
  for (let first = 0; first < records; first += batch) {
    const bytes = await bytesAt(path, start + first * length, Math.min(batch, records - first) * length);
    for (let at = 0; at < bytes.length; at += length) {
      const record = bytes.subarray(at, at + length);
      if (record[0] === DELETED) deleted += 1;
      utf8 &&= isAscii(record) || texts.every(({ from, to }) => isUtf8(record.subarray(from, to), 'cut'));
    }
  }
  return { records, deleted, languageDriver: header.readUInt8(29), utf8 };
}

/** Returns the byte ranges of the text fields in a record. The field descriptors start at byte 32, have 32 bytes each, and end with 0x0D. */
function textFields(header: Buffer): { readonly from: number; readonly to: number }[] {
  const fields: { from: number; to: number }[] = [];
  let offset = 1;
  for (let at = 32; at + 32 <= header.length && header[at] !== 0x0d; at += 32) {
    const width = header.readUInt8(at + 16);
    if (header[at + 11] === 0x43) fields.push({ from: offset, to: offset + width });
    offset += width;
  }
  return fields;
}

function truncated(label: string, detail: string): MappaleError {
  return inputError('shapefile is cut short', {
    code: 'SHAPEFILE_TRUNCATED', at: label, detail, hint: 'The download was probably cut short. Download the file again.',
  });
}
