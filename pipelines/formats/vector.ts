/**
 * Vector files — shapefile, GeoPackage, GeoJSON, KML — feature by feature, through GDAL.
 *
 * The only file that imports gdal-async, and lazily: who reads no vector file needs no GDAL.
 * GDAL reads what it can of a damaged file and says so on stderr at most: a truncated .dbf ends the layer early, a truncated .shp gives
 * features without geometry (GDAL 3.6, observed). So the headers are checked here against the sizes first, the number of features
 * read is held against the number that the file declares, and a geometry that is there but cannot be read is told from one that is not there.
 *
 * Coordinates come as the file stores them, which for these four formats is easting/northing or lon/lat, whatever axis order
 * EPSG gives the CRS: GDAL swaps axes in transformations only, and none is made here.
 */
import { mkdtemp, open as openFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import type * as Gdal from 'gdal-async';
import { MappaleError, inputError } from '../errors.ts';
import { notAFile } from './file-error.ts';
import type { ZipArchive } from './zip.ts';

/** A file, or an entry of an open zip (a shapefile is named by its .shp). */
export type VectorPath = string | { readonly zip: ZipArchive; readonly entry: string };

export type VectorValue = string | number | null;

export interface VectorField {
  readonly name: string;
  /** `date` and `datetime` values are ISO text; `other` is text in GDAL's form. */
  readonly type: 'string' | 'integer' | 'real' | 'date' | 'datetime' | 'other';
}

export interface VectorLayer {
  readonly name: string;
  /** False for a table of attributes only. */
  readonly spatial: boolean;
  /**
   * EPSG number of the layer's own CRS; 0 when the layer is not spatial.
   * @throws input errors `CRS_MISSING`, `CRS_UNKNOWN`.
   */
  readonly srid: number;
  readonly fields: readonly VectorField[];
  /** Features that the file declares. */
  readonly featureCount: number;
}

export interface VectorFeature {
  /** GDAL's feature id: 0-based record number in a shapefile, primary key in a GeoPackage. */
  readonly fid: number;
  /** 1-based ordinal of reading; use it as the record's position. */
  readonly position: number;
  readonly properties: Readonly<Record<string, VectorValue>>;
  /** EWKB, little-endian, XY, with the layer's SRID; null when there is none or it cannot be used. */
  readonly ewkb: Buffer | null;
  /** Why `ewkb` is null although the file has a geometry there; null otherwise. */
  readonly geometryError: string | null;
}

export interface VectorDataset {
  /** How the file is named in messages. */
  readonly label: string;
  /** Encoding of text; null where the format fixes UTF-8. */
  readonly encoding: string | null;
  readonly layers: readonly VectorLayer[];
  /** The layer of that name, or the only spatial one. @throws input error `LAYER_MISSING`. */
  layer(name?: string): VectorLayer;
  /**
   * Streams one layer in file order; the memory is that of one feature.
   * @throws input error `FEATURES_MISSING` when fewer or more come than the file declares.
   */
  features(layer: string | VectorLayer): AsyncIterable<VectorFeature>;
  /** Frees the file and removes what was unpacked for it. */
  close(): Promise<void>;
}

const DRIVERS: Readonly<Record<string, readonly string[]>> = {
  '.shp': ['ESRI Shapefile'],
  '.gpkg': ['GPKG'],
  '.geojson': ['GeoJSON'],
  '.json': ['GeoJSON'],
  '.kml': ['LIBKML', 'KML'],
};
const SHAPEFILE_PARTS = ['.shp', '.shx', '.dbf', '.prj', '.cpg'];

/**
 * Opens a vector file. A zip's entry is unpacked to the temporary folder first (random access through deflate is slow, and
 * the unpacking verifies size and CRC-32); `close` removes it.
 * @throws `GDAL_MISSING` (usage); input errors `VECTOR_FORMAT`, `SIDECAR_MISSING`, `SHAPEFILE_TRUNCATED`, `SHAPEFILE_INCONSISTENT`,
 *   `GPKG_TRUNCATED`, `VECTOR_UNREADABLE`, `ENCODING_UNKNOWN`, and those of the zip
 */
export async function openVector(path: VectorPath): Promise<VectorDataset> {
  const gdal = await loadGdal();
  if (typeof path === 'string') return GdalDataset.open(gdal, path, basename(path), null);
  const folder = await mkdtemp(join(tmpdir(), 'mappale-vector-'));
  try {
    const file = await unpack(path.zip, path.entry, folder);
    return await GdalDataset.open(gdal, file, `${path.zip.label}!${path.entry}`, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

type GdalModule = typeof Gdal;

let loaded: GdalModule | undefined;
const importGdal = (): Promise<{ readonly default: unknown }> => import('gdal-async');

/**
 * @param load for tests: how the module is imported
 * @throws `GDAL_MISSING` (usage) with what to do
 */
export async function loadGdal(load: () => Promise<{ readonly default: unknown }> = importGdal): Promise<GdalModule> {
  if (loaded !== undefined && load === importGdal) return loaded;
  let module: GdalModule;
  try {
    module = (await load()).default as GdalModule;
  } catch (error) {
    throw new MappaleError('vector files cannot be read on this machine', {
      code: 'GDAL_MISSING',
      kind: 'usage',
      detail: `expected the optional package gdal-async, found: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
      hint: 'Run `npm install --include=optional gdal-async`; where no binary is offered for this platform, install libgdal-dev and a C++ compiler first and add `--build-from-source --shared_gdal`.',
      cause: error,
    });
  }
  // What GDAL would print is found again by the checks below and told with its place.
  module.quiet();
  if (load === importGdal) loaded = module;
  return module;
}

// ---------------------------------------------------------------------------------------------------------------- files

async function unpack(zip: ZipArchive, entry: string, folder: string): Promise<string> {
  const extension = extname(entry).toLowerCase();
  const parts = extension === '.shp' ? SHAPEFILE_PARTS : [extension];
  const stem = entry.slice(0, entry.length - extension.length).toLowerCase();
  const name = basename(entry).slice(0, -extension.length);
  zip.entry(entry);
  for (const part of parts) {
    const [found, other] = zip.entries.filter((candidate) => candidate.path.toLowerCase() === `${stem}${part}`);
    if (found === undefined) continue;
    if (other !== undefined) {
      throw inputError('two members of the zip are the same part of a shapefile', {
        code: 'ZIP_MEMBER_REPEATED', at: `${zip.label}!${other.path}`, detail: `expected one ${part} of it, found ${found.path} and ${other.path}`, hint: 'Nobody can tell which is meant. Download the zip again, or pack it again with the right one.',
      });
    }
    await zip.spool(found.path, join(folder, `${name}${part}`));
  }
  return join(folder, `${name}${extension}`);
}

/**
 * Path of the sibling with this extension in either case, as GDAL looks for it.
 * @throws input error `NOT_A_FILE`: GDAL would wait for a pipe
 */
async function sidecar(path: string, extension: string): Promise<string | null> {
  const stem = basename(path).slice(0, -extname(path).length);
  for (const candidate of [stem + extension, stem + extension.toUpperCase()]) {
    const info = await stat(join(dirname(path), candidate)).catch(() => null);
    if (info?.isFile() === false) throw notAFile(info, candidate);
    if (info !== null) return join(dirname(path), candidate);
  }
  return null;
}

interface ShapefileFacts {
  readonly encoding: string;
  /** Records that are not flagged as deleted. */
  readonly features: number;
  readonly shp: string;
  readonly shx: string;
}

/**
 * Holds the three headers against one another and the sizes, reads the deletion flags, settles the encoding.
 * Facts: ESRI Shapefile Technical Description (1998); dBASE III file structure.
 */
async function inspectShapefile(path: string, label: string): Promise<ShapefileFacts> {
  const shx = await sidecar(path, '.shx');
  const dbf = await sidecar(path, '.dbf');
  for (const [part, found] of [['.shx', shx], ['.dbf', dbf]] as const) {
    if (found === null) {
      throw inputError('shapefile is not complete', {
        code: 'SIDECAR_MISSING', at: label, detail: `expected a ${part} beside it, found none`, hint: 'Give all files of the shapefile: .shp, .shx, .dbf, .prj.',
      });
    }
  }
  const shpSize = (await stat(path)).size;
  const shxSize = (await stat(shx!)).size;
  const main = await firstBytes(path, 100);
  if (main.length < 100 || main.readInt32BE(0) !== 9994) {
    throw inputError('shapefile cannot be read', {
      code: 'VECTOR_UNREADABLE', at: label, detail: `expected a header of 100 bytes that starts with 9994, found ${main.length < 4 ? `${main.length} bytes` : main.readInt32BE(0)}`, hint: 'Download the file again.',
    });
  }
  // Lengths count 16-bit words; files above 4 GiB wrap, and are then only checked by their index.
  const declared = main.readUInt32BE(24) * 2;
  if (shpSize < declared) throw truncated(label, `expected ${declared} bytes by its header, found ${shpSize}`);
  const index = await firstBytes(shx!, 100);
  if (index.length < 100 || index.readInt32BE(0) !== 9994) throw truncated(label, `expected an index (.shx) of at least 100 bytes, found ${index.length}`);
  const indexDeclared = index.readUInt32BE(24) * 2;
  if (shxSize < indexDeclared) throw truncated(label, `expected ${indexDeclared} bytes of .shx by its header, found ${shxSize}`);
  const records = (indexDeclared - 100) / 8;

  const table = await inspectDbf(dbf!, label);
  if (table.records !== records) {
    throw inputError('files of the shapefile disagree', {
      code: 'SHAPEFILE_INCONSISTENT', at: label, detail: `expected as many records in .dbf as in .shx, found ${table.records} and ${records}`, hint: 'The files are not of one delivery. Download all of them again.',
    });
  }
  const cpg = await sidecar(path, '.cpg');
  const declaredEncoding = cpg === null ? null : (await firstBytes(cpg, 64)).toString('latin1').trim();
  const encoding = declaredEncoding === null || declaredEncoding === ''
    ? (LANGUAGE_DRIVER[table.languageDriver] ?? (table.utf8 ? 'UTF-8' : 'CP1252'))
    : encodingName(declaredEncoding, label);
  return { encoding, features: records - table.deleted, shp: path, shx: shx! };
}

/** dBASE language driver ids that say something; 0x00 says nothing and 0x57 only "the writer's ANSI". */
const LANGUAGE_DRIVER: Readonly<Record<number, string>> = { 0x01: 'CP437', 0x02: 'CP850', 0x03: 'CP1252' };

function encodingName(cpg: string, label: string): string {
  const name = cpg.toUpperCase().replace(/^(ANSI|OEM|CP|WINDOWS)[ _-]*(?=\d)/, '');
  if (/^(UTF-?8|65001)$/.test(name)) return 'UTF-8';
  const iso = /^(?:ISO[ _-]*)?8859[-_ ]*(\d{1,2})$/.exec(name);
  // The bytes 0x80–0x9F are controls in ISO 8859-1 and letters in what Windows programs call by that name.
  if (iso !== null) return iso[1] === '1' ? 'CP1252' : `ISO-8859-${iso[1]}`;
  if (/^(437|850|852|1250|1252)$/.test(name)) return `CP${name}`;
  if (/^(US-?)?ASCII$/.test(name)) return 'UTF-8';
  throw inputError('encoding of the shapefile is not known', {
    code: 'ENCODING_UNKNOWN', at: label, detail: `expected UTF-8, 1252, 1250, 850, 437 or ISO 8859-n in .cpg, found ${JSON.stringify(cpg)}`, hint: 'Correct the .cpg file.',
  });
}

interface DbfFacts {
  readonly records: number;
  readonly deleted: number;
  readonly languageDriver: number;
  /** Every text is valid UTF-8, but for a character that the field's width cut. */
  readonly utf8: boolean;
}

async function inspectDbf(path: string, label: string): Promise<DbfFacts> {
  const { size } = await stat(path);
  const header = await firstBytes(path, 32);
  if (header.length < 32) throw truncated(label, `expected a .dbf header of 32 bytes, found ${header.length}`);
  const records = header.readUInt32LE(4);
  const start = header.readUInt16LE(8);
  const length = header.readUInt16LE(10);
  // A record has at least its mark of deletion.
  if (length === 0 || start < 33) {
    throw inputError('table of the shapefile cannot be read', { code: 'DBF_HEADER', at: label, detail: `expected a .dbf with a header and records, found a header of ${start} and records of ${length} bytes`, hint: 'The file is damaged. Download it again.' });
  }
  if (size < start + records * length) {
    const whole = Math.max(0, Math.floor((size - start) / length));
    throw truncated(label, `expected ${records} records of ${length} bytes in .dbf, found ${whole}: it ends in record ${whole + 1}`);
  }
  const text = textFields(await firstBytes(path, start));
  let deleted = 0;
  let utf8 = true;
  const handle = await openFile(path, 'r');
  try {
    const batch = Math.max(1, Math.floor(1_048_576 / length));
    const buffer = Buffer.allocUnsafe(batch * length);
    for (let record = 0; record < records; record += batch) {
      const count = Math.min(batch, records - record);
      await fill(handle, buffer, count * length, start + record * length);
      for (let i = 0; i < count; i += 1) {
        if (buffer[i * length] === 0x2a) deleted += 1;
        if (!utf8) continue;
        for (const field of text) {
          if (!isUtf8(buffer, i * length + field.offset, i * length + field.offset + field.width)) {
            utf8 = false;
            break;
          }
        }
      }
    }
  } finally {
    await handle.close();
  }
  return { records, deleted, languageDriver: header[29]!, utf8 };
}

/** Where text stands in a record: field descriptors of 32 bytes from byte 32, ended by 0x0D. */
function textFields(header: Buffer): { readonly offset: number; readonly width: number }[] {
  const fields: { offset: number; width: number }[] = [];
  let offset = 1;
  for (let at = 32; at + 32 <= header.length && header[at] !== 0x0d; at += 32) {
    const width = header[at + 16]!;
    if (header[at + 11] === 0x43) fields.push({ offset, width });
    offset += width;
  }
  return fields;
}

function isUtf8(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const byte = bytes[at]!;
    const more = byte < 0x80 ? 0 : byte >= 0xc2 && byte < 0xe0 ? 1 : byte >= 0xe0 && byte < 0xf0 ? 2 : byte >= 0xf0 && byte < 0xf5 ? 3 : -1;
    if (more < 0) return false;
    for (let i = 1; i <= more; i += 1) {
      if (at + i >= end) return true;
      if ((bytes[at + i]! & 0xc0) !== 0x80) return false;
    }
    at += more + 1;
  }
  return true;
}

/** A GeoPackage is an SQLite file; its header counts its pages (SQLite, "Database File Format", 1.3). */
async function inspectGeoPackage(path: string, label: string): Promise<void> {
  const { size } = await stat(path);
  const header = await firstBytes(path, 100);
  if (header.length < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3') {
    throw inputError('GeoPackage cannot be read', { code: 'VECTOR_UNREADABLE', at: label, detail: 'expected an SQLite file, found other bytes', hint: 'Download the file again.' });
  }
  const page = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // The page count is only kept by writers that also set "version valid for" to the change counter.
  if (header.readUInt32BE(24) === header.readUInt32BE(92) && size < page * pages) {
    throw inputError('GeoPackage is cut short', {
      code: 'GPKG_TRUNCATED', at: label, detail: `expected ${pages} pages of ${page} bytes by its header, found ${size} bytes`, hint: 'The download was probably cut short. Download the file again.',
    });
  }
}

function truncated(label: string, detail: string): MappaleError {
  return inputError('shapefile is cut short', { code: 'SHAPEFILE_TRUNCATED', at: label, detail, hint: 'The download was probably cut short. Download the file again.' });
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  const handle = await openFile(path, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, buffer: Buffer, length: number, position: number): Promise<void> {
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) throw new Error('file shrank while it was read');
    done += bytesRead;
  }
}

// ------------------------------------------------------------------------------------------------------------------ CRS

/**
 * EPSG numbers by the names that ESRI, GDAL and OGC writers give a CRS in a .prj without authority; keys are
 * lower case with everything but letters and digits taken out.
 */
const CRS_BY_NAME: Readonly<Record<string, number>> = {
  gcswgs1984: 4326, wgs84: 4326, wgs1984: 4326, wgs84longitudelatitude: 4326, wgs84crs84: 4326,
  gcsetrs1989: 4258, etrs89: 4258, etrs1989: 4258,
  gcsrdn2008: 6706, rdn2008: 6706,
  gcseuropean1950: 4230, ed50: 4230, europeandatum1950: 4230,
  gcsmontemario: 4265, montemario: 4265,
  gcsigm1995: 4670, igm95: 4670,
  etrs1989laea: 3035, etrs89laea: 3035, etrs89laeaeurope: 3035, etrs89extendedlaeaeurope: 3035, etrs1989laeaeurope: 3035,
  wgs1984webmercatorauxiliarysphere: 3857, wgs84pseudomercator: 3857,
  montemarioitaly1: 3003, montemarioitalyzone1: 3003, montemarioitaly2: 3004, montemarioitalyzone2: 3004,
  rdn2008italyzoneen: 7794, rdn2008zone12en: 7795,
  rdn2008utmzone32nen: 7791, rdn2008utmzone33nen: 7792, rdn2008utmzone34nen: 7793,
};
for (const zone of [32, 33, 34]) {
  Object.assign(CRS_BY_NAME, {
    [`wgs1984utmzone${zone}n`]: 32_600 + zone,
    [`wgs84utmzone${zone}n`]: 32_600 + zone,
    [`etrs1989utmzone${zone}n`]: 25_800 + zone,
    [`etrs89utmzone${zone}n`]: 25_800 + zone,
    [`ed1950utmzone${zone}n`]: 23_000 + zone,
    [`ed50utmzone${zone}n`]: 23_000 + zone,
    [`rdn2008utmzone${zone}n`]: 7759 + zone,
  });
}

/**
 * EPSG number of a CRS in WKT 1 (OGC or ESRI) or WKT 2: by the authority at its root, else by its name.
 * Northing-easting CRSs resolve to their easting-northing twin, because files of this kind store easting first; 3D ones to 2D.
 * @returns null when neither is known
 */
export function epsgOfWkt(wkt: string): number | null {
  const text = wkt.trim();
  const root = /(?:AUTHORITY|ID)\s*\[\s*"([A-Za-z]+)"\s*,\s*"?([A-Za-z0-9]+)"?\s*\]\s*\]$/.exec(text);
  if (root !== null) {
    if (root[1]!.toUpperCase() === 'EPSG' && /^\d+$/.test(root[2]!)) return SAME_IN_XY[Number(root[2])] ?? Number(root[2]);
    if (root[1]!.toUpperCase() === 'OGC' && root[2] === 'CRS84') return 4326;
  }
  const name = /^[A-Za-z]+\s*\[\s*"([^"]*)"/.exec(text)?.[1];
  if (name === undefined) return null;
  return CRS_BY_NAME[name.toLowerCase().replace(/[^a-z0-9]/g, '')] ?? null;
}

/** RDN2008 (N-E) codes and their (E-N) twins; geographic 3D codes and their 2D ones, because only XY is kept. */
const SAME_IN_XY: Readonly<Record<number, number>> = { 4979: 4326, 4937: 4258, 6705: 6706, 6707: 7791, 6708: 7792, 6709: 7793, 6875: 7794, 6876: 7795 };

// ----------------------------------------------------------------------------------------------------------------- GDAL

class GdalLayer implements VectorLayer {
  readonly #srid: number | MappaleError;
  readonly name: string;
  readonly spatial: boolean;
  readonly fields: readonly VectorField[];
  readonly featureCount: number;
  readonly layer: Gdal.Layer;

  constructor(gdal: GdalModule, layer: Gdal.Layer, prj: string | null, count: number | null, label: string) {
    this.layer = layer;
    this.name = layer.name;
    this.spatial = layer.geomType !== gdal.wkbNone;
    this.fields = layer.fields.map((field) => ({ name: field.name, type: fieldType(gdal, field.type) }));
    this.featureCount = count ?? layer.features.count(true);
    this.#srid = this.spatial ? resolveSrid(layer, prj, `${label}, layer ${layer.name}`) : 0;
  }

  get srid(): number {
    if (typeof this.#srid === 'number') return this.#srid;
    throw this.#srid;
  }
}

function fieldType(gdal: GdalModule, type: string): VectorField['type'] {
  switch (type) {
    case gdal.OFTString:
      return 'string';
    case gdal.OFTInteger:
    case gdal.OFTInteger64:
      return 'integer';
    case gdal.OFTReal:
      return 'real';
    case gdal.OFTDate:
      return 'date';
    case gdal.OFTDateTime:
      return 'datetime';
    default:
      return 'other';
  }
}

function resolveSrid(layer: Gdal.Layer, prj: string | null, at: string): number | MappaleError {
  let wkt = prj;
  if (wkt === null) {
    try {
      wkt = layer.srs?.toWKT() ?? null;
    } catch {
      wkt = null;
    }
  }
  if (wkt === null || wkt.trim() === '') {
    return inputError('CRS of the layer is not said', { code: 'CRS_MISSING', at, detail: 'expected a .prj or a CRS in the file, found none', hint: 'Put the .prj that the publisher delivers beside the file.' });
  }
  const srid = epsgOfWkt(wkt);
  if (srid !== null) return srid;
  return inputError('CRS of the layer is not known', {
    code: 'CRS_UNKNOWN', at, detail: `expected an EPSG code or a known name, found ${wkt.trim().slice(0, 80)}`, hint: 'Reproject the file to EPSG:4326, 3035 or 32632 with ogr2ogr, or add the name to CRS_BY_NAME.',
  });
}

class GdalDataset implements VectorDataset {
  readonly #gdal: GdalModule;
  readonly #dataset: Gdal.Dataset;
  readonly #folder: string | null;
  readonly #shapefile: ShapefileFacts | null;
  readonly #layers: readonly GdalLayer[];
  #closed = false;
  readonly label: string;
  readonly encoding: string | null;

  private constructor(gdal: GdalModule, dataset: Gdal.Dataset, layers: readonly GdalLayer[], shapefile: ShapefileFacts | null, label: string, folder: string | null) {
    this.#gdal = gdal;
    this.#dataset = dataset;
    this.#layers = layers;
    this.#shapefile = shapefile;
    this.#folder = folder;
    this.label = label;
    this.encoding = shapefile?.encoding ?? null;
  }

  static async open(gdal: GdalModule, path: string, label: string, folder: string | null): Promise<GdalDataset> {
    const extension = extname(path).toLowerCase();
    const drivers = DRIVERS[extension];
    if (drivers === undefined) {
      throw inputError('vector format is not read', { code: 'VECTOR_FORMAT', at: label, detail: `expected ${Object.keys(DRIVERS).join(', ')}, found ${extension === '' ? 'no extension' : extension}` });
    }
    const shapefile = extension === '.shp' ? await inspectShapefile(path, label) : null;
    if (extension === '.gpkg') await inspectGeoPackage(path, label);
    const prj = shapefile === null ? null : await sidecar(path, '.prj');
    // An absent .prj is told from an unknown CRS; GDAL would guess neither.
    const wkt = shapefile === null ? null : prj === null ? '' : (await firstBytes(prj, 65_536)).toString('utf8').replace(/^\uFEFF/, '');
    try {
      // Nothing awaits between setting the encoding and opening: the setting is the process's.
      gdal.config.set('SHAPE_ENCODING', shapefile?.encoding ?? null);
      const dataset = gdal.open(path, 'r', drivers.filter((name) => gdal.drivers.getNames().includes(name)));
      gdal.config.set('SHAPE_ENCODING', null);
      const layers = dataset.layers.map((layer) => new GdalLayer(gdal, layer, wkt, shapefile?.features ?? null, label));
      return new GdalDataset(gdal, dataset, layers, shapefile, label, folder);
    } catch (error) {
      throw unreadable(label, error);
    }
  }

  get layers(): readonly VectorLayer[] {
    return this.#layers;
  }

  layer(name?: string): VectorLayer {
    return this.#layer(name);
  }

  #layer(name: string | undefined): GdalLayer {
    const found = name === undefined ? this.#layers.filter((layer) => layer.spatial) : this.#layers.filter((layer) => layer.name === name);
    if (found.length === 1) return found[0]!;
    throw inputError('vector file has not the layer', {
      code: 'LAYER_MISSING', at: this.label, detail: `expected ${name === undefined ? 'one spatial layer' : name}, found ${this.#layers.map((layer) => layer.name).join(', ') || 'none'}`,
    });
  }

  async *features(which: string | VectorLayer): AsyncGenerator<VectorFeature> {
    const layer = this.#layer(typeof which === 'string' ? which : which.name);
    const srid = layer.spatial ? layer.srid : 0;
    const at = `${this.label}, layer ${layer.name}`;
    const source = layer.layer.features;
    let position = 0;
    let raw: Gdal.Feature | null = null;
    for (;;) {
      try {
        raw = position === 0 ? source.first() : source.next();
      } catch (error) {
        throw unreadable(`${at}, feature ${position + 1}`, error);
      }
      if (raw === null) break;
      position += 1;
      yield await this.#feature(raw, layer, srid, position);
    }
    if (position !== layer.featureCount) {
      throw inputError('vector file ends early', {
        code: 'FEATURES_MISSING', at: `${at}, feature ${position + 1}`, detail: `expected ${layer.featureCount} features, found ${position}`, hint: 'The file is damaged. Download it again.',
      });
    }
  }

  async #feature(raw: Gdal.Feature, layer: GdalLayer, srid: number, position: number): Promise<VectorFeature> {
    const properties: Record<string, VectorValue> = {};
    const values = raw.fields.toArray() as unknown[];
    for (let i = 0; i < layer.fields.length; i += 1) properties[layer.fields[i]!.name] = plainValue(values[i]);
    let ewkb: Buffer | null = null;
    let geometryError: string | null = null;
    if (layer.spatial) {
      try {
        const geometry = raw.getGeometry();
        if (geometry === null) {
          geometryError = await this.#whyNoGeometry(raw.fid);
        } else {
          geometry.flattenTo2D();
          const wkb = geometry.toWKB('LSB', 'ISO');
          geometryError = checkWkb(wkb);
          if (geometryError === null) ewkb = toEwkb(wkb, srid);
        }
      } catch (error) {
        // gdal-async has no class for curves and surfaces of TIN type and throws on them.
        geometryError = error instanceof Error ? error.message : String(error);
      }
    }
    return { fid: raw.fid, position, properties, ewkb, geometryError };
  }

  /** Null when the file really has no geometry there. */
  async #whyNoGeometry(fid: number): Promise<string | null> {
    if (this.#shapefile === null) {
      const error = this.#gdal.lastError as { readonly message?: string } | null;
      this.#gdal.lastError = null as never;
      return error?.message ?? null;
    }
    const { shp, shx } = this.#shapefile;
    const index = await bytesAt(shx, 100 + fid * 8, 8);
    const offset = index.readUInt32BE(0) * 2;
    const record = await bytesAt(shp, offset, 12);
    if (record.length < 12) return `record ${fid + 1} lies outside the file`;
    const type = record.readInt32LE(8);
    return type === 0 ? null : `record ${fid + 1} (shape type ${type}) cannot be read`;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#dataset.close();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}

async function bytesAt(path: string, position: number, count: number): Promise<Buffer> {
  const handle = await openFile(path, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unreadable(at: string, error: unknown): MappaleError {
  if (error instanceof MappaleError) return error;
  return inputError('vector file cannot be read', {
    code: 'VECTOR_UNREADABLE', at, detail: `expected a complete file, found: ${error instanceof Error ? error.message : String(error)}`, hint: 'The file is damaged. Download it again.', cause: error,
  });
}

function plainValue(value: unknown): VectorValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return value;
  if (typeof value === 'object' && 'year' in value) {
    const date = value as { year: number; month: number; day: number; hour?: number; minute?: number; second?: number };
    const two = (part: number): string => String(Math.trunc(part)).padStart(2, '0');
    const day = `${String(date.year).padStart(4, '0')}-${two(date.month)}-${two(date.day)}`;
    return date.hour === undefined ? day : `${day}T${two(date.hour)}:${two(date.minute ?? 0)}:${two(date.second ?? 0)}`;
  }
  return JSON.stringify(value);
}

// ------------------------------------------------------------------------------------------------------------------ WKB

/** WKB type of a collection that must hold simple members → what it is when they are linear. */
const LINEAR: Readonly<Record<number, number>> = { 11: 5, 12: 6 };

/**
 * Walks little-endian 2D WKB in place: numbers must be finite, types simple features. MultiCurve and MultiSurface of straight members, as some
 * desktop programs write, become MultiLineString and MultiPolygon.
 * @returns null, or what is wrong
 */
function checkWkb(wkb: Buffer): string | null {
  let at = 0;
  const coordinates = (count: number): string | null => {
    for (const end = at + count * 16; at < end; at += 8) {
      // An exponent of all ones is an infinity or not a number; cheaper than reading the double.
      if ((wkb[at + 7]! & 0x7f) === 0x7f && wkb[at + 6]! >= 0xf0) return 'a coordinate is not a number';
    }
    return null;
  };
  const walk = (): string | null => {
    const type = wkb.readUInt32LE(at + 1);
    const typeAt = at + 1;
    at += 5;
    if (type === 1) return coordinates(1);
    const count = wkb.readUInt32LE(at);
    at += 4;
    if (type === 2) return coordinates(count);
    if (type === 3) {
      for (let ring = 0; ring < count; ring += 1) {
        const points = wkb.readUInt32LE(at);
        at += 4;
        const wrong = coordinates(points);
        if (wrong !== null) return wrong;
      }
      return null;
    }
    const linear = LINEAR[type];
    if ((type < 4 || type > 7) && linear === undefined) return `geometry type ${type} has curves or surfaces that are not simple features`;
    if (linear !== undefined) wkb.writeUInt32LE(linear, typeAt);
    for (let member = 0; member < count; member += 1) {
      const wrong = walk();
      if (wrong !== null) return wrong;
    }
    return null;
  };
  return walk();
}

/** EWKB of PostGIS: the type's flag 0x20000000, then the SRID, on the outermost geometry only. */
function toEwkb(wkb: Buffer, srid: number): Buffer {
  const ewkb = Buffer.allocUnsafe(wkb.length + 4);
  ewkb[0] = 1;
  ewkb.writeUInt32LE((wkb.readUInt32LE(1) | 0x20000000) >>> 0, 1);
  ewkb.writeUInt32LE(srid, 5);
  wkb.copy(ewkb, 9, 5);
  return ewkb;
}

// --------------------------------------------------------------------------------------------------------------- writing

export interface GeoPackageLayer {
  readonly name: string;
  readonly srid: number;
  readonly geometry: 'Point' | 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon' | 'Unknown';
  readonly fields: readonly { readonly name: string; readonly type: 'string' | 'integer' | 'real' }[];
  /** Values in the order of `fields`; geometry as GeoJSON, in the axis order easting/northing or lon/lat. */
  readonly features: Iterable<{ readonly values: readonly VectorValue[]; readonly geometry: { readonly type: string; readonly coordinates: unknown } | null }>;
}

/** Writes a GeoPackage for fixtures and synthetic regions: the same input gives the same bytes. @throws `GDAL_MISSING` */
export async function writeGeoPackage(path: string, layers: readonly GeoPackageLayer[]): Promise<void> {
  const gdal = await loadGdal();
  await rm(path, { force: true });
  // The driver stamps gpkg_contents.last_change with this instead of the clock.
  gdal.config.set('OGR_CURRENT_DATE', '2000-01-01T00:00:00.000Z');
  try {
    const dataset = gdal.open(path, 'w', 'GPKG');
    for (const facts of layers) {
      const layer = dataset.layers.create(facts.name, gdal.SpatialReference.fromEPSG(facts.srid), gdal[`wkb${facts.geometry}`]);
      const types = { string: gdal.OFTString, integer: gdal.OFTInteger64, real: gdal.OFTReal };
      for (const field of facts.fields) layer.fields.add(new gdal.FieldDefn(field.name, types[field.type]));
      for (const feature of facts.features) {
        const row = new gdal.Feature(layer);
        for (let i = 0; i < facts.fields.length; i += 1) row.fields.set(facts.fields[i]!.name, feature.values[i] ?? null);
        if (feature.geometry !== null) row.setGeometry(gdal.Geometry.fromGeoJson(feature.geometry));
        layer.features.add(row);
      }
      layer.flush();
    }
    dataset.close();
  } finally {
    gdal.config.set('OGR_CURRENT_DATE', null);
  }
}
