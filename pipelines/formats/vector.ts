/**
 * Reads vector files feature by feature. GDAL reads Shapefile, GeoPackage, KML and File Geodatabase in a thread, with one of two engines (`gdal.ts`). GeoJSON
 * needs no GDAL (`geojson.ts`).
 *
 * GDAL reads the intact part of a damaged file, and at most writes a message to stderr. A truncated .dbf ends the layer early, and a truncated .shp results in
 * features without geometry (GDAL 3.6, observed). Therefore this module compares the headers with the file sizes, and the number of features from GDAL with the
 * number in the header. For each feature without geometry, the module determines whether the geometry is unreadable or missing.
 *
 * Coordinates keep the axis order of the file. For these formats, easting precedes northing, and longitude precedes latitude, even if EPSG defines a different
 * order. GDAL swaps axes only in transformations, and this module transforms nothing.
 */
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { testVectorEngine } from '../config.ts';
import { MappaleError, inputError } from '../errors.ts';
import { epsgOfWkt } from './crs.ts';
import { VECTOR_ENGINES, engineText, type EngineFacts, type GdalBatch, type GdalFeature, type GdalLayer } from './gdal.ts';
import type { Answer, Call } from './gdal-thread.ts';
import { openGeoJson } from './geojson.ts';
import { bytesAt, inspectShapefile, whyNoGeometry, type Shapefile } from './shapefile.ts';
import { Threads } from './threads.ts';
import type { ZipArchive } from './zip.ts';

/** Path of a file, or of an entry in an open zip. For a shapefile, the path of the .shp; for a File Geodatabase, the path of the folder. */
export type VectorPath = string | { readonly zip: ZipArchive; readonly entry: string };

export type VectorValue = string | number | null;

export interface VectorField {
  readonly name: string;
  /** Type of the values. `date` and `datetime` values are ISO text, and `other` values are text whose format depends on GDAL. */
  readonly type: 'string' | 'integer' | 'real' | 'date' | 'datetime' | 'other';
}

export interface VectorFeature {
  /** GDAL's feature id, such as the 0-based record number in a shapefile or the primary key in a GeoPackage; 0-based number of the feature in GeoJSON. */
  readonly fid: number;
  /** Number of the feature in reading order, from 1. This number is the record's position. */
  readonly position: number;
  readonly properties: Readonly<Record<string, VectorValue>>;
  /** Geometry as EWKB (little-endian, XY, with the layer's SRID); null if the feature has no usable geometry. */
  readonly ewkb: Buffer | null;
  /** Reason why a geometry of the file is unusable; null if the geometry is usable or missing. */
  readonly geometryError: string | null;
}

const DRIVERS: Readonly<Record<string, readonly string[]>> = {
  '.shp': ['ESRI Shapefile'],
  '.gpkg': ['GPKG'],
  '.geojson': [],
  '.json': [],
  // The driver LIBKML is not used, because LIBKML returns other fields and is not part of gdal3.js.
  '.kml': ['KML'],
  '.gdb': ['OpenFileGDB'],
};
const SHAPEFILE_PARTS = ['.shp', '.shx', '.dbf', '.prj', '.cpg'];

function isGeoJson(path: string): boolean {
  return /\.(?:geo)?json$/i.test(path);
}

/** Reads the features of an open vector file. */
export interface VectorReader {
  readonly layers: readonly GdalLayer[];
  /** Returns a batch of features of a layer. @param which `first` restarts at the first feature @param srid SRID of the returned geometries */
  read(index: number, srid: number, which: 'first' | 'next', at: string): Promise<GdalBatch>;
  close(): Promise<void>;
}

/** The thread in which GDAL runs; null until the first call. */
let thread: Threads<Call, unknown> | null = null;

/** GDAL engine that opened the last file in this process; null if GDAL opened no file. */
let used: EngineFacts | null = null;

/** Returns a description of the GDAL engine that opened the last file; null if GDAL opened no file. */
export function vectorEngineUsed(): string | null {
  return used === null ? null : engineText(used);
}

/**
 * Calls a GDAL function in GDAL's thread. The call starts even if the caller does not await the result.
 * @param at name of the file in errors. @throws `GDAL_MISSING` (usage), `THREAD_ENDED` (bug)
 */
export function gdal<Name extends Call['name']>(at: string, name: Name, ...args: Call<Name>['args']): Promise<Answer<Name>> {
  thread ??= new Threads(new URL('./gdal-thread.ts', import.meta.url), 1);
  const answer = thread.start({ name, args, only: testVectorEngine(VECTOR_ENGINES) }, at).next().then(({ value }) => value as Answer<Name>);
  // Prevents an unhandled rejection if no caller awaits the result.
  answer.catch(() => undefined);
  return answer;
}

/**
 * Opens a vector file. Unpacks an entry of a zip to a temporary folder, because random access in deflated data is slow. Unpacking also verifies size and
 * CRC-32. `close` removes the unpacked files.
 * @throws input errors `GDAL_MISSING`, `VECTOR_FORMAT`, `SIDECAR_MISSING`, `SHAPEFILE_TRUNCATED`, `SHAPEFILE_INCONSISTENT`, `DBF_HEADER`, `GPKG_TRUNCATED`,
 * `VECTOR_UNREADABLE`, `ENCODING_UNKNOWN`, `ENCODING_WRONG`, `NOT_A_FILE`, and errors of the zip; `THREAD_ENDED` (bug)
 */
export async function openVector(path: VectorPath): Promise<VectorDataset> {
  const label = typeof path === 'string' ? basename(path) : `${path.zip.label}!${path.entry}`;
  // Loads GDAL before unpacking, so that a missing GDAL is reported first.
  if (!isGeoJson(typeof path === 'string' ? path : path.entry)) used = await gdal(label, 'version').catch((error: unknown) => {
    throw unreadable(label, error);
  });
  if (typeof path === 'string') return openFile(path, label, null);
  const folder = await mkdtemp(join(tmpdir(), 'mappale-vector-'));
  try {
    return await openFile(await unpack(path.zip, path.entry, folder), label, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function openFile(path: string, label: string, folder: string | null): Promise<VectorDataset> {
  const extension = extname(path).toLowerCase();
  const drivers = DRIVERS[extension];
  if (drivers === undefined) {
    throw inputError('vector format is not supported', {
      code: 'VECTOR_FORMAT', at: label, detail: `expected ${Object.keys(DRIVERS).join(', ')}, found ${extension === '' ? 'no extension' : extension}`,
      hint: 'Use the downloaded file, unchanged and with its original name.',
    });
  }
  const shapefile = extension === '.shp' ? await inspectShapefile(path, label) : null;
  if (extension === '.gpkg') await inspectGeoPackage(path, label);
  try {
    const reader = isGeoJson(path) ? await openGeoJson(path, label) : await openWithGdal(path, label, drivers, shapefile?.encoding ?? null);
    return new VectorDataset(reader, shapefile, label, folder);
  } catch (error) {
    throw unreadable(label, error);
  }
}

async function openWithGdal(path: string, label: string, drivers: readonly string[], encoding: string | null): Promise<VectorReader> {
  const { dataset, layers } = await gdal(label, 'open', path, drivers, encoding);
  return {
    layers,
    read: (index, srid, which, at) => gdal(at, 'read', dataset, index, srid, which),
    close: () => gdal(label, 'close', dataset),
  };
}

async function unpack(zip: ZipArchive, entry: string, folder: string): Promise<string> {
  const extension = extname(entry).toLowerCase();
  if (extension === '.gdb') return unpackGeodatabase(zip, entry, folder);
  const parts = extension === '.shp' ? SHAPEFILE_PARTS : [extension];
  const stem = entry.slice(0, entry.length - extension.length).toLowerCase();
  const name = basename(entry).slice(0, -extension.length);
  zip.entry(entry);
  for (const part of parts) {
    const [found, other] = zip.entries.filter((candidate) => candidate.path.toLowerCase() === `${stem}${part}`);
    if (found === undefined) continue;
    if (other !== undefined) {
      throw inputError('two members of the zip are the same part of a shapefile', {
        code: 'ZIP_MEMBER_REPEATED', at: `${zip.label}!${other.path}`, detail: `expected one ${part} of the shapefile, found ${found.path} and ${other.path}`,
        hint: 'The program cannot decide which member is correct. Download the zip again, or create a zip with only the correct member.',
      });
    }
    await zip.spool(found.path, join(folder, `${name}${part}`));
  }
  return join(folder, `${name}${extension}`);
}

/** Matches names of files in a File Geodatabase, except the lock files that other programs create. */
const GEODATABASE_FILE = /^(?:a[0-9a-f]{8}(?:\.[a-z0-9_]+)+|gdb|timestamps)$/i;

/** Unpacks all files of a File Geodatabase, because GDAL may need any file. */
async function unpackGeodatabase(zip: ZipArchive, entry: string, folder: string): Promise<string> {
  const target = join(folder, 'unpacked.gdb');
  await mkdir(target);
  const names = new Set<string>();
  for (const { path, isFolder } of zip.entries) {
    const name = path.slice(entry.length + 1);
    if (isFolder || !path.startsWith(`${entry}/`) || !GEODATABASE_FILE.test(name)) continue;
    // Compares names in lower case, because some file systems ignore case.
    const key = name.toLowerCase();
    if (names.has(key)) {
      throw inputError('two members of the zip are the same part of a geodatabase', {
        code: 'ZIP_MEMBER_REPEATED', at: `${zip.label}!${path}`, detail: `expected one ${key} of the geodatabase, found two`,
        hint: 'The program cannot decide which member is correct. Download the zip again.',
      });
    }
    names.add(key);
    await zip.spool(path, join(target, name));
  }
  return target;
}

/** Compares the size of a GeoPackage with the number of pages in the file's SQLite header (SQLite, "Database File Format", 1.3). */
async function inspectGeoPackage(path: string, label: string): Promise<void> {
  const { size } = await stat(path);
  const header = await bytesAt(path, 0, 100);
  if (header.length < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3') {
    throw inputError('GeoPackage cannot be read', {
      code: 'VECTOR_UNREADABLE', at: label, detail: 'expected the header of an SQLite file, found other bytes', hint: 'Download the file again.',
    });
  }
  const page = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // The page count is valid only if the field "version valid for" equals the change counter.
  if (header.readUInt32BE(24) === header.readUInt32BE(92) && size < page * pages) {
    throw inputError('GeoPackage is cut short', {
      code: 'GPKG_TRUNCATED', at: label, detail: `expected ${pages} pages of ${page} bytes according to the header, found ${size} bytes`,
      hint: 'The download was probably cut short. Download the file again.',
    });
  }
}

export class VectorLayer {
  readonly name: string;
  /** False for a table without geometries. */
  readonly spatial: boolean;
  readonly fields: readonly VectorField[];
  /** Number of features according to the file. */
  readonly featureCount: number;
  /** Name of the layer in messages. */
  readonly at: string;
  readonly #wkt: string | null;
  readonly #epsg: number | null | undefined;

  constructor({ name, spatial, fields, featureCount, wkt, epsg }: GdalLayer, shapefile: Shapefile | null, label: string) {
    this.name = name;
    this.spatial = spatial;
    this.fields = fields;
    this.featureCount = shapefile?.features ?? featureCount;
    this.at = `${label}, layer ${name}`;
    // A missing .prj and an unknown CRS are different errors. GDAL reports neither.
    this.#wkt = shapefile === null ? wkt : shapefile.wkt;
    this.#epsg = epsg;
  }

  /**
   * Returns the EPSG number of the layer's CRS; 0 for a layer without geometries.
   * @throws input errors `CRS_MISSING`, `CRS_UNKNOWN`.
   */
  get srid(): number {
    if (!this.spatial) return 0;
    if (typeof this.#epsg === 'number') return this.#epsg;
    const wkt = this.#wkt?.trim() ?? '';
    if (wkt === '') {
      throw inputError('the file does not contain the CRS of the layer', {
        code: 'CRS_MISSING', at: this.at, detail: 'expected a .prj or a CRS in the file, found none',
        hint: 'Put the publisher\'s .prj into the folder of the file.',
      });
    }
    const srid = epsgOfWkt(wkt);
    if (srid !== null) return srid;
    throw inputError('the CRS of the layer is not known', {
      code: 'CRS_UNKNOWN', at: this.at, detail: `expected an EPSG code or a known name, found ${wkt.slice(0, 80)}`,
      hint: 'Convert the file to EPSG:4326, 3035 or 32632 with ogr2ogr, or report the name of the CRS.',
    });
  }
}

/** An open vector file, which the caller must close. */
export class VectorDataset {
  readonly #reader: VectorReader;
  readonly #shapefile: Shapefile | null;
  /** Temporary folder with the files unpacked from a zip; null for a file that is not in a zip. */
  readonly #folder: string | null;
  #closed = false;
  /** Name of the file in messages. */
  readonly label: string;
  /** Encoding of the file's text; null if the format requires UTF-8. */
  readonly encoding: string | null;
  readonly layers: readonly VectorLayer[];

  constructor(reader: VectorReader, shapefile: Shapefile | null, label: string, folder: string | null) {
    this.#reader = reader;
    this.#shapefile = shapefile;
    this.#folder = folder;
    this.label = label;
    this.encoding = shapefile?.encoding ?? null;
    this.layers = reader.layers.map((layer) => new VectorLayer(layer, shapefile, label));
  }

  /** Returns the layer with the given name or, without a name, the only spatial layer. @throws input error `LAYER_MISSING` */
  layer(name?: string): VectorLayer {
    const [found, another] = this.layers.filter((layer) => (name === undefined ? layer.spatial : layer.name === name));
    if (found !== undefined && another === undefined) return found;
    const names = this.layers.map((layer) => layer.name).join(', ') || 'none';
    throw inputError('vector file does not have the expected layer', {
      code: 'LAYER_MISSING', at: this.label, detail: `expected ${name ?? 'one spatial layer'}, found ${names}`,
      hint: 'Download the file again, and check whether the publisher has changed the file.',
    });
  }

  /**
   * Streams the features of one layer in file order, with at most two batches in memory. @throws input errors `LAYER_MISSING`, `CRS_MISSING`, `CRS_UNKNOWN`;
   * `VECTOR_UNREADABLE` if a feature cannot be read, `FEATURES_MISSING` if the number of features differs from the layer's `featureCount`
   */
  async *features(which: string | VectorLayer): AsyncGenerator<VectorFeature> {
    const layer = this.layer(typeof which === 'string' ? which : which.name);
    const { srid, at } = layer;
    const read = (which: 'first' | 'next'): Promise<GdalBatch> => this.#reader.read(this.layers.indexOf(layer), srid, which, at);
    let position = 0;
    for (let coming = read('first'), ended = false; !ended;) {
      const batch = await coming.catch((error: unknown) => {
        throw unreadable(at, error);
      });
      ended = batch.ended;
      // Requests the next batch while the caller uses the current batch.
      if (!ended) coming = read('next');
      for (const feature of batch.features) {
        position += 1;
        yield await this.#feature(feature, layer, position);
      }
      if (batch.failure !== null) throw unreadable(`${at}, feature ${position + 1}`, batch.failure);
    }
    if (position !== layer.featureCount) {
      throw inputError('vector file ends early', {
        code: 'FEATURES_MISSING', at: `${at}, feature ${position + 1}`, detail: `expected ${layer.featureCount} features, found ${position}`,
        hint: 'The file is damaged. Download the file again.',
      });
    }
  }

  async #feature({ fid, values, ewkb, geometryError, missing }: GdalFeature, layer: VectorLayer, position: number): Promise<VectorFeature> {
    const properties = Object.fromEntries(layer.fields.map(({ name }, index) => [name, values[index] ?? null]));
    if (ewkb !== null) return { fid, position, properties, ewkb: Buffer.from(ewkb.buffer, ewkb.byteOffset, ewkb.length), geometryError: null };
    const why = missing && this.#shapefile !== null ? await whyNoGeometry(this.#shapefile, fid) : geometryError;
    return { fid, position, properties, ewkb: null, geometryError: why };
  }

  /** Closes the file and removes the unpacked files. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#reader.close();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}

function unreadable(at: string, error: unknown): MappaleError {
  // Converts the usage error `GDAL_MISSING` to an input error about the file.
  if (error instanceof MappaleError && error.code === 'GDAL_MISSING') {
    const { message, code, detail, hint, fix } = error;
    return inputError(message, { code, at, detail, hint, fix, cause: error });
  }
  if (error instanceof MappaleError) return error;
  return inputError('vector file cannot be read', {
    code: 'VECTOR_UNREADABLE', at, detail: `expected a complete file, found: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'The file is damaged. Download the file again.', cause: error,
  });
}
