/**
 * Detects damaged shapefiles that GDAL accepts, and determines the encoding. Compares the headers of the files with each other and with the sizes of the files.
 * Format: ESRI Shapefile Technical Description (1998); dBASE III file structure.
 */
import { isAscii } from 'node:buffer';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { inputError, type MappaleError } from '../errors.ts';
import { notAFile } from './file-error.ts';
import { isUtf8 } from './streams.ts';

export interface Shapefile {
  /** Encoding of the text, by GDAL's name. */
  readonly encoding: string;
  /** Number of records that are not marked as deleted. */
  readonly features: number;
  /** Content of the .prj, or null without a .prj. */
  readonly wkt: string | null;
  /** Path of the .shp and path of its index. */
  readonly shp: string;
  readonly shx: string;
}

/** Number of bytes to read at a time. */
const BATCH_BYTES = 1_048_576;
const DELETED = 0x2a;
const HEADER_BYTES = 100;
const FILE_CODE = 9994;

/**
 * Inspects a shapefile. @param path the path of the .shp @param label name in messages
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
  // Lengths are in 16-bit words. In files above 4 GiB, the lengths overflow, so only the index of these files is checked.
  const declared = main.readUInt32BE(24) * 2;
  const shpSize = (await stat(path)).size;
  if (shpSize < declared) throw truncated(label, `expected ${declared} bytes by its header, found ${shpSize}`);
  const index = await bytesAt(shx, 0, HEADER_BYTES);
  if (index.length < HEADER_BYTES || index.readInt32BE(0) !== FILE_CODE) {
    throw truncated(label, `expected an index (.shx) of at least 100 bytes, found ${index.length}`);
  }
  const indexDeclared = index.readUInt32BE(24) * 2;
  const shxSize = (await stat(shx)).size;
  if (shxSize < indexDeclared) throw truncated(label, `expected ${indexDeclared} bytes of .shx by its header, found ${shxSize}`);
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
  const header = await bytesAt(shp, index.readUInt32BE(0) * 2, 12);
  if (header.length < 12) return `record ${record + 1} is outside the file`;
  const type = header.readInt32LE(8);
  return type === 0 ? null : `record ${record + 1} (shape type ${type}) cannot be read`;
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
 * Returns the path of the sibling with this extension in upper or lower case, like GDAL.
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

/** Encodings by dBASE language driver id. The id 0x00 is undefined. The id 0x57 means the ANSI code page of the program that wrote the file. */
const LANGUAGE_DRIVER: Readonly<Record<number, string>> = { 0x01: 'CP437', 0x02: 'CP850', 0x03: 'CP1252' };

function encodingName(cpg: string, label: string): string {
  const name = cpg.toUpperCase().replace(/^(ANSI|OEM|CP|WINDOWS)[ _-]*(?=\d)/, '');
  if (/^(UTF-?8|65001|(US-?)?ASCII)$/.test(name)) return 'UTF-8';
  const iso = /^(?:ISO[ _-]*)?8859[-_ ]*(\d{1,2})$/.exec(name)?.[1];
  // The bytes 0x80–0x9F are control characters in ISO 8859-1, but letters in the encoding that Windows programs call ISO 8859-1.
  if (iso !== undefined) return iso === '1' ? 'CP1252' : `ISO-8859-${iso}`;
  if (/^(437|850|852|1250|1252)$/.test(name)) return `CP${name}`;
  throw inputError('encoding of the shapefile is not known', {
    code: 'ENCODING_UNKNOWN', at: label, detail: `expected UTF-8, 1252, 1250, 850, 437 or ISO 8859-n in .cpg, found ${JSON.stringify(cpg)}`,
    hint: 'Correct the .cpg file.',
  });
}

interface DbfFacts {
  readonly records: number;
  readonly deleted: number;
  readonly languageDriver: number;
  /** True if every text is valid UTF-8. The field may cut the last character. */
  readonly utf8: boolean;
}

async function inspectDbf(path: string, label: string): Promise<DbfFacts> {
  const { size } = await stat(path);
  const header = await bytesAt(path, 0, 32);
  if (header.length < 32) throw truncated(label, `expected a .dbf header of 32 bytes, found ${header.length}`);
  const records = header.readUInt32LE(4);
  const start = header.readUInt16LE(8);
  const length = header.readUInt16LE(10);
  // A record has at least a deletion mark.
  if (length === 0 || start < 33) {
    throw inputError('table of the shapefile cannot be read', {
      code: 'DBF_HEADER', at: label, detail: `expected a .dbf with a header and records, found a header of ${start} and records of ${length} bytes`,
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

/** Returns the byte ranges of text fields in a record. Field descriptors have 32 bytes, start at byte 32 and end with 0x0D. */
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
