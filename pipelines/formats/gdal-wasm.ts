/**
 * Runs GDAL as WebAssembly (gdal3.js), for machines without gdal-async. The package offers GDAL's command-line programs, but no access to single features. To
 * read a layer, GDAL converts the layer to a temporary FlatGeobuf, which `flatgeobuf.ts` reads. To write a layer, this module writes a CSV, which GDAL converts
 * to the target format. Only this file loads gdal3.js.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { FlatGeobufFile, type FlatFeature } from './flatgeobuf.ts';
import { BATCH_BYTES, BATCH_FEATURES, FIXED_DATE, type GdalBatch, type GdalCalls, type GdalFeature, type GdalLayer, type GeoPackageFeature, type GeoPackageLayer, type LoadedEngine, type WrittenFormat } from './gdal.ts';
import type { VectorField, VectorValue } from './vector.ts';
import { checkWkb, geoJsonWkb, toEwkb } from './wkb.ts';

/** Members of the Emscripten module that this engine uses. */
interface Emscripten {
  ccall(name: string, result: 'number' | 'string' | null, types: readonly string[], args: readonly (string | number)[]): unknown;
  _malloc(bytes: number): number;
  _free(at: number): void;
  setValue(at: number, value: number, type: 'i32'): void;
  UTF8ToString(at: number): string;
  stringToUTF8(text: string, at: number, bytes: number): void;
  lengthBytesUTF8(text: string): number;
  addFunction(called: (level: number, number: number, text: number) => void, signature: string): number;
  readonly FS: { mkdir(path: string): void; mount(type: unknown, options: { readonly root: string }, path: string): void };
  readonly NODEFS: { realPath: (node: unknown) => string; getMode: (path: string) => number };
}

/** Folder in the module's file system on which the machine's file system is mounted. */
const HOST = '/host';
/** `GDAL_OF_VECTOR`. */
const OF_VECTOR = 4;
/** `CE_Failure`. */
const FAILURE = 3;

interface Message {
  readonly level: number;
  readonly text: string;
}

/** An instance of GDAL in WebAssembly. */
class Wasm {
  readonly #module: Emscripten;
  /** GDAL's errors and warnings since the start of the last call of `open` or `translate`. */
  messages: Message[] = [];

  constructor(module: Emscripten) {
    this.#module = module;
    const { FS, NODEFS } = module;
    followLinks(NODEFS);
    FS.mkdir(HOST);
    FS.mount(NODEFS, { root: '/' }, HOST);
    this.number('CPLSetErrorHandler', module.addFunction((level, _number, text) => this.messages.push({ level, text: module.UTF8ToString(text) }), 'viii'));
    this.number('GDALAllRegister');
    this.configure('USE_OSR_FIND_MATCHES', 'NO');
  }

  number(name: string, ...args: readonly (string | number)[]): number {
    return this.#module.ccall(name, 'number', args.map((arg) => typeof arg), args) as number;
  }

  configure(name: string, value: string | null): void {
    this.number('CPLSetConfigOption', name, value ?? 0);
  }

  /** Returns the text at an address of the module's memory. */
  text(at: number): string {
    return this.#module.UTF8ToString(at);
  }

  /** Copies a list of texts into the module's memory, and passes the address of the list to `work`. */
  withList<T>(texts: readonly string[], work: (list: number) => T): T {
    const places = texts.map((text) => {
      const bytes = this.#module.lengthBytesUTF8(text) + 1;
      const at = this.#module._malloc(bytes);
      this.#module.stringToUTF8(text, at, bytes);
      return at;
    });
    return this.withNumbers([...places, 0], (list) => {
      try {
        return work(list);
      } finally {
        for (const at of places) this.#module._free(at);
      }
    });
  }

  /** Copies a list of numbers into the module's memory, and passes the address of the list to `work`. */
  withNumbers<T>(numbers: readonly number[], work: (list: number) => T): T {
    const list = this.#module._malloc(numbers.length * 4);
    numbers.forEach((number, index) => this.#module.setValue(list + index * 4, number, 'i32'));
    try {
      return work(list);
    } finally {
      this.#module._free(list);
    }
  }

  /** Opens a dataset. @throws Error with GDAL's reason */
  open(path: string, drivers: readonly string[], options: readonly string[] = []): number {
    this.messages = [];
    const dataset = this.withList(drivers, (list) => this.withList(options, (more) => this.number('GDALOpenEx', HOST + resolve(path), OF_VECTOR, list, more, 0)));
    if (dataset === 0) throw new Error(this.#reason() ?? `none of the drivers ${drivers.join(', ')} can open the file`);
    return dataset;
  }

  /** Converts a layer of a dataset to a file. @param options ogr2ogr options @throws Error with GDAL's reason */
  translate(dataset: number, path: string, options: readonly string[]): void {
    this.messages = [];
    const given = this.withList(options, (list) => this.number('GDALVectorTranslateOptionsNew', list, 0));
    const written = this.withNumbers([dataset], (list) => this.withNumbers([0], (usage) => this.number('GDALVectorTranslate', HOST + resolve(path), 0, 1, list, given, usage)));
    this.number('GDALVectorTranslateOptionsFree', given);
    if (written === 0) throw new Error(this.#reason() ?? 'the layer cannot be converted');
    this.number('GDALClose', written);
  }

  close(dataset: number): void {
    this.number('GDALClose', dataset);
  }

  /** Checks the last write. @throws Error if GDAL reported a failure */
  checkWritten(): void {
    const reason = this.messages.some(({ level }) => level >= FAILURE) ? this.#reason() : null;
    if (reason !== null) throw new Error(reason);
  }

  #reason(): string | null {
    return (this.messages.find(({ level }) => level >= FAILURE) ?? this.messages[0])?.text ?? null;
  }
}

/** Makes the module's file system resolve symbolic links on the machine, because the target of a link may be outside the mounted folder. */
function followLinks(system: Emscripten['NODEFS']): void {
  const [realPath, getMode] = [system.realPath, system.getMode];
  const target = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  };
  system.realPath = (node) => target(realPath(node));
  system.getMode = (path) => getMode(target(path));
}

async function instantiate(): Promise<Wasm> {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve('gdal3.js/package.json')), 'dist/package');
  const make = require('gdal3.js/build/package/gdal3WebAssembly.js') as (options: object) => Promise<Emscripten>;
  const module: object = {
    locateFile: (name: string) => join(folder, basename(name)),
    getPreloadedPackage: () => new Uint8Array(readFileSync(join(folder, 'gdal3WebAssembly.data'))).buffer,
    preRun: [({ ENV }: { readonly ENV: Record<string, string> }) => Object.assign(ENV, { GDAL_DATA: '/usr/share/gdal', PROJ_LIB: '/usr/share/proj' })],
  };
  await make(module);
  return new Wasm(module as Emscripten);
}

/** Version of GDAL in gdal3.js 2.8.1, which offers no function for the version. A test compares this constant with the version text in the WebAssembly file. */
export const WASM_VERSION = '3.8.4';

let loaded: Promise<Wasm> | null = null;

/** Loads gdal3.js. @throws Error if the package is not installed */
export async function loadWasm(): Promise<LoadedEngine> {
  await instance();
  return { version: WASM_VERSION, calls };
}

function instance(): Promise<Wasm> {
  loaded ??= instantiate();
  return loaded;
}

/** Runs a GDAL call. After a crash, files that are opened later use a new instance. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') loaded = null;
    throw error;
  }
}

// --- reading -------------------------------------------------------------------------------------------------------

/** A layer that is being read. */
interface Reading {
  readonly folder: string;
  readonly file: FlatGeobufFile;
  /** True if GDAL reported errors or warnings during the conversion. Any of these messages may explain why a feature has no geometry. */
  readonly hasMessages: boolean;
  readonly failure: string | null;
  /** Names of the columns that the conversion added after the layer's fields. */
  readonly added: readonly string[];
  /** Number of features read so far. */
  count: number;
}

interface ReadDataset {
  readonly gdal: Wasm;
  readonly dataset: number;
  readonly layers: readonly GdalLayer[];
  reading: Reading | null;
}

const datasets = new Map<number, ReadDataset | WrittenDataset>();
let opened = 0;

function keep(dataset: ReadDataset | WrittenDataset): number {
  datasets.set((opened += 1), dataset);
  return opened;
}

function datasetOf<Kind extends 'dataset' | 'format'>(number: number, kind: Kind): Extract<ReadDataset | WrittenDataset, Readonly<Record<Kind, unknown>>> {
  const found = datasets.get(number);
  if (found === undefined || !(kind in found)) throw new Error(`no open dataset ${number}`);
  return found as Extract<ReadDataset | WrittenDataset, Readonly<Record<Kind, unknown>>>;
}

const TYPES: Readonly<Record<string, VectorField['type']>> = { String: 'string', Integer: 'integer', Integer64: 'integer', Real: 'real', Date: 'date', DateTime: 'datetime' };

interface LayerJson {
  readonly name: string;
  readonly featureCount: number;
  readonly geometryFields?: readonly { readonly coordinateSystem?: { readonly wkt?: string } }[];
  readonly fields?: readonly { readonly name: string; readonly type: string }[];
}

function layersOf(gdal: Wasm, dataset: number): GdalLayer[] {
  const options = gdal.withList(['-json', '-so', '-wkt_format', 'WKT1'], (list) => gdal.number('GDALVectorInfoOptionsNew', list, 0));
  const at = gdal.number('GDALVectorInfo', dataset, options);
  gdal.number('GDALVectorInfoOptionsFree', options);
  const { layers } = JSON.parse(gdal.text(at)) as { readonly layers: readonly LayerJson[] };
  return layers.map(({ name, featureCount, geometryFields = [], fields = [] }) => ({
    name, featureCount, spatial: geometryFields.length > 0,
    fields: fields.map((field) => ({ name: field.name, type: TYPES[field.type] ?? 'other' })),
    wkt: geometryFields[0]?.coordinateSystem?.wkt?.replace(/\n\s*/g, '') ?? null,
  }));
}

/**
 * Columns that the conversion adds after the fields of a layer, as [GDAL's field, name of the column]. A column is omitted if the layer already has a field
 * with the same name as GDAL's field.
 */
const ADDED = [['FID', 'mappale fid'], ['OGR_GEOMETRY', 'mappale geometry']] as const;

const quoted = (name: string): string => `"${name.replaceAll('"', '\\"')}"`;

/** Returns a query in GDAL's SQL dialect. The query reads the open dataset, not the database. @param columns column names, quoted; empty for all columns */
function selection(columns: readonly string[], table: string): string {
  return ['SELECT', columns.length === 0 ? '*' : columns.join(', '), 'FROM', quoted(table)].join(' ');
}

function addedTo(layer: GdalLayer): string[] {
  const names = new Set(layer.fields.map(({ name }) => name.toUpperCase()));
  return ADDED.filter(([value]) => !names.has(value)).map(([, name]) => name);
}

/** Returns the ogr2ogr options that convert a layer to a FlatGeobuf. @param fid fid of the only feature to convert, or null for all features */
function readOptions(layer: GdalLayer, fid: number | null): string[] {
  const added = addedTo(layer);
  const columns = ['*', ...ADDED.filter(([, name]) => added.includes(name)).map(([value, name]) => `${value} AS ${quoted(name)}`)];
  return [
    '-f', 'FlatGeobuf', '-lco', 'SPATIAL_INDEX=NO', '-nlt', layer.spatial ? 'GEOMETRY' : 'NONE', '-nln', 'layer', '-a_srs', '', '-dialect', 'OGRSQL',
    '-sql', [selection(columns, layer.name), ...(fid === null ? [] : [`WHERE FID = ${fid}`])].join(' '),
  ];
}

function startReading({ gdal, dataset }: ReadDataset, layer: GdalLayer): Reading {
  const folder = mkdtempSync(join(tmpdir(), 'mappale-vector-'));
  try {
    const path = join(folder, 'layer.fgb');
    gdal.translate(dataset, path, readOptions(layer, null));
    const failure = gdal.messages.find(({ level }) => level >= FAILURE)?.text ?? null;
    return { folder, file: new FlatGeobufFile(path), hasMessages: gdal.messages.length > 0, failure, added: addedTo(layer), count: 0 };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function stopReading(dataset: ReadDataset): void {
  dataset.reading?.file.close();
  if (dataset.reading !== null) rmSync(dataset.reading.folder, { recursive: true, force: true });
  dataset.reading = null;
}

/** Returns GDAL's message about a feature without geometry, or null. Converts this feature alone, so that the message belongs to the feature. */
function whyMissing({ gdal, dataset, reading }: ReadDataset, layer: GdalLayer, fid: number): string | null {
  if (reading === null || !reading.hasMessages) return null;
  try {
    gdal.translate(dataset, join(reading.folder, 'feature.fgb'), ['-overwrite', ...readOptions(layer, fid)]);
    return gdal.messages.at(-1)?.text ?? null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** WKB type numbers, by the names that `OGR_GEOMETRY` returns. */
const GEOMETRY_TYPES: Readonly<Record<string, number>> = {
  POINT: 1, LINESTRING: 2, POLYGON: 3, MULTIPOINT: 4, MULTILINESTRING: 5, MULTIPOLYGON: 6, GEOMETRYCOLLECTION: 7, CIRCULARSTRING: 8, COMPOUNDCURVE: 9,
  CURVEPOLYGON: 10, MULTICURVE: 11, MULTISURFACE: 12, POLYHEDRALSURFACE: 15, TIN: 16, TRIANGLE: 17,
};

/**
 * WKB types that gdal-async cannot read (curved polygons and surfaces). This engine rejects such features with the message of gdal-async, so that both engines
 * reject the same features.
 */
const UNSUPPORTED_TYPES: ReadonlySet<number> = new Set([10, 12, 15, 16, 17]);
const UNSUPPORTED = 'Tried to create unsupported geometry type';

/**
 * Returns the WKB of an empty geometry, because a FlatGeobuf cannot store empty geometries. An empty point has NaN coordinates. @param name geometry type from
 * `OGR_GEOMETRY` @returns null for an unknown or missing type
 */
function emptyWkb(name: VectorValue): Buffer | null {
  const type = GEOMETRY_TYPES[String(name)];
  if (type === undefined) return null;
  const bytes = Buffer.alloc(type === 1 ? 21 : 9);
  bytes[0] = 1;
  bytes.writeUInt32LE(type, 1);
  if (type === 1) [5, 13].forEach((at) => bytes.writeDoubleLE(Number.NaN, at));
  return bytes;
}

function featureOf(open: ReadDataset, { added, count }: Reading, layer: GdalLayer, feature: FlatFeature, srid: number): GdalFeature {
  const valueOf = (name: string): VectorValue => (added.includes(name) ? feature.values[layer.fields.length + added.indexOf(name)] ?? null : null);
  const number = valueOf('mappale fid');
  const fid = typeof number === 'number' ? number : count;
  const values = layer.fields.map(({ type }, index) => plainValue(feature.values[index] ?? null, type));
  if (!layer.spatial) return { fid, values, ewkb: null, missing: false, geometryError: null };
  const wkb = feature.wkb ?? emptyWkb(valueOf('mappale geometry'));
  if (wkb === null) return { fid, values, ewkb: null, missing: true, geometryError: whyMissing(open, layer, fid) };
  const geometryError = UNSUPPORTED_TYPES.has(wkb.readUInt32LE(1)) ? UNSUPPORTED : checkWkb(wkb);
  return { fid, values, ewkb: geometryError === null ? toEwkb(wkb, srid) : null, missing: false, geometryError };
}

/**
 * Converts a value to the form that gdal-async returns. A FlatGeobuf stores dates with a time, `2020-01-01T00:00:00`. Omits midnight, and converts the date
 * `0000-00-00` to null.
 */
function plainValue(value: VectorValue, type: VectorField['type']): VectorValue {
  if (typeof value !== 'string' || (type !== 'date' && type !== 'datetime')) return value;
  const moment = value.slice(0, 19).replaceAll('/', '-');
  if (moment.startsWith('0000-00-00')) return null;
  return type === 'date' || moment.endsWith('T00:00:00') ? moment.slice(0, 10) : moment;
}

function readBatch(open: ReadDataset, layer: GdalLayer, srid: number): GdalBatch {
  const { reading } = open;
  if (reading === null) throw new Error('the layer is not being read');
  const features: GdalFeature[] = [];
  for (let bytes = 0; features.length < BATCH_FEATURES && bytes < BATCH_BYTES;) {
    const next = reading.file.next();
    if (next === null) {
      // Ignores failures from which GDAL recovered. After any other failure, features are missing.
      const failure = reading.failure !== null && reading.count < layer.featureCount ? new Error(reading.failure) : null;
      return { features, ended: true, failure };
    }
    features.push(featureOf(open, reading, layer, next, srid));
    reading.count += 1;
    bytes += next.size;
  }
  return { features, ended: false, failure: null };
}

// --- writing -------------------------------------------------------------------------------------------------------

interface WrittenLayer {
  readonly layer: GeoPackageLayer;
  /** Path of the layer's CSV file. */
  readonly table: string;
  readonly file: number;
}

interface WrittenDataset {
  readonly gdal: Wasm;
  readonly path: string;
  readonly format: WrittenFormat;
  readonly date: string;
  readonly folder: string;
  readonly open: Map<string, WrittenLayer>;
  /** Number of layers that have been written to the file. */
  written: number;
}

const COLUMN_TYPES = { string: 'String', integer: 'Integer64', real: 'Real', date: 'Date' } as const;

/** Prefix of text values in the CSV, so that an empty text differs from a missing value. */
const MARK = '=';

function cell(value: VectorValue, type: GeoPackageLayer['fields'][number]['type']): string {
  if (value === null) return '';
  return type === 'string' ? `"${MARK}${String(value).replaceAll('"', '""')}"` : String(value);
}

function line({ fields }: GeoPackageLayer, { values, geometry }: GeoPackageFeature): string {
  const wkb = geometry === null || geometry instanceof Uint8Array ? geometry : geoJsonWkb(geometry);
  if (typeof wkb === 'string') throw new Error(wkb);
  return [wkb === null ? '' : Buffer.from(wkb).toString('hex'), ...fields.map(({ type }, index) => cell(values[index] ?? null, type))].join(',') + '\n';
}

function startLayer({ folder, open }: WrittenDataset, layer: GeoPackageLayer): void {
  const table = join(folder, `layer_${open.size}.csv`);
  writeFileSync(table.replace(/csv$/, 'csvt'), ['String', ...layer.fields.map(({ type }) => COLUMN_TYPES[type])].map((type) => `"${type}"`).join(','));
  const file = openSync(table, 'w');
  writeSync(file, `${['geometry', ...layer.fields.map((_, index) => `f${index}`)].join(',')}\n`);
  open.set(layer.name, { layer, table, file });
}

/** Returns the ogr2ogr options that convert the CSV of a layer to the target format. */
function writeOptions({ format, written }: WrittenDataset, { layer, table }: WrittenLayer): string[] {
  const { name, srid, geometry, fields, options = [] } = layer;
  const columns = fields.map((field, index) => `${field.type === 'string' ? `SUBSTR(f${index}, ${MARK.length + 1})` : `f${index}`} AS ${quoted(field.name)}`);
  return [
    '-f', format, ...(written > 0 ? ['-update'] : []), '-nln', name, '-a_srs', `EPSG:${srid}`, '-nlt', geometry === 'Unknown' ? 'GEOMETRY' : geometry.toUpperCase(),
    ...options.flatMap((option) => ['-lco', option]), '-dialect', 'OGRSQL', '-sql', selection(columns, basename(table, '.csv')),
  ];
}

function writeLayer(dataset: WrittenDataset, layer: WrittenLayer): void {
  const { gdal, path, date } = dataset;
  closeSync(layer.file);
  dataset.open.delete(layer.layer.name);
  const table = gdal.open(layer.table, ['CSV'], ['GEOM_POSSIBLE_NAMES=geometry', 'KEEP_GEOM_COLUMNS=NO', 'EMPTY_STRING_AS_NULL=YES']);
  gdal.configure('OGR_CURRENT_DATE', date);
  try {
    gdal.translate(table, path, writeOptions(dataset, layer));
    gdal.checkWritten();
    dataset.written += 1;
  } finally {
    gdal.close(table);
    rmSync(layer.table);
  }
}

// --- calls of the engine -----------------------------------------------------------------------------------------------------

const calls: GdalCalls = {
  async open(path, drivers, encoding) {
    const gdal = await instance();
    return guarded(() => {
      gdal.configure('SHAPE_ENCODING', encoding);
      try {
        const dataset = gdal.open(path, drivers);
        const layers = layersOf(gdal, dataset);
        return { dataset: keep({ gdal, dataset, layers, reading: null }), layers };
      } finally {
        gdal.configure('SHAPE_ENCODING', null);
      }
    });
  },

  read(number, index, srid, which) {
    return new Promise((done) => {
      const open = datasetOf(number, 'dataset');
      const layer = open.layers[index];
      if (layer === undefined) throw new Error(`no layer ${index}`);
      guarded(() => {
        if (which === 'first') {
          stopReading(open);
          open.reading = startReading(open, layer);
        }
        done(readBatch(open, layer, srid));
      });
    });
  },

  close(number) {
    return new Promise((done) => {
      const found = datasets.get(number);
      datasets.delete(number);
      if (found !== undefined && 'format' in found) {
        for (const { file } of found.open.values()) closeSync(file);
        rmSync(found.folder, { recursive: true, force: true });
      } else if (found !== undefined) {
        stopReading(found);
        guarded(() => found.gdal.close(found.dataset));
      }
      done();
    });
  },

  async create(path, format, date = FIXED_DATE) {
    const gdal = await instance();
    rmSync(path, { force: true, recursive: true });
    return keep({ gdal, path, format, date, folder: mkdtempSync(join(tmpdir(), 'mappale-written-')), open: new Map(), written: 0 });
  },

  addLayer(number, layer) {
    return new Promise((done) => {
      startLayer(datasetOf(number, 'format'), layer);
      done();
    });
  },

  addFeatures(number, layerName, features) {
    return new Promise((done) => {
      const found = datasetOf(number, 'format').open.get(layerName);
      if (found === undefined) throw new Error(`no layer ${layerName}`);
      writeSync(found.file, features.map((feature) => line(found.layer, feature)).join(''));
      done();
    });
  },

  flush(number, layerName) {
    return new Promise((done) => {
      const dataset = datasetOf(number, 'format');
      const layer = dataset.open.get(layerName);
      if (layer === undefined) throw new Error(`no layer ${layerName}`);
      guarded(() => writeLayer(dataset, layer));
      done();
    });
  },
};
