/**
 * Calls of GDAL with plain data. Its functions block, so `vector.ts` runs them in a thread. This is the only file that imports gdal-async. It imports it on
 * demand, so that other files are read without GDAL. The binding does not support threads officially. It works in the first thread that loads it, even if that
 * thread or the process ends during its work, and a second thread cannot load it (3.12.3, observed). So there is one thread for all files, and the main thread
 * never loads it.
 */
import { rm } from 'node:fs/promises';
import type * as Gdal from 'gdal-async';
import { MappaleError } from '../errors.ts';
import type { VectorField, VectorValue } from './vector.ts';
import { checkWkb, toEwkb } from './wkb.ts';

/** A batch ends with the feature that exceeds this size, */
const BATCH_BYTES = 1_048_576;
/** or after this number of features. */
const BATCH_FEATURES = 500;

export interface GdalLayer {
  readonly name: string;
  readonly spatial: boolean;
  readonly fields: readonly VectorField[];
  readonly featureCount: number;
  /** WKT of the CRS; null if the file states none. */
  readonly wkt: string | null;
  /** EPSG number if the file states it without WKT; null if it states another name. */
  readonly epsg?: number | null;
}

export interface GdalFeature {
  readonly fid: number;
  /** In the order of the layer's fields. */
  readonly values: readonly VectorValue[];
  readonly ewkb: Uint8Array | null;
  /** True if GDAL reports no geometry. */
  readonly missing: boolean;
  /** Reason why `ewkb` is null although there is a geometry. */
  readonly geometryError: string | null;
}

export interface GdalBatch {
  readonly features: readonly GdalFeature[];
  /** True after the last feature. */
  readonly ended: boolean;
  /** Error that GDAL threw after the last feature, or null. */
  readonly failure: unknown;
}

const NO_GEOMETRY = { ewkb: null, missing: false, geometryError: null } as const;

/** Formats that can be written, in addition to shapefiles. */
export type WrittenFormat = 'GPKG' | 'OpenFileGDB' | 'FlatGeobuf';

export interface GeoPackageFeature {
  /** In the order of `fields`. */
  readonly values: readonly VectorValue[];
  /** GeoJSON or WKB, in the axis order easting/northing or lon/lat. */
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | Uint8Array | null;
}

export interface GeoPackageLayer {
  readonly name: string;
  readonly srid: number;
  readonly geometry: 'Point' | 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon' | 'MultiPolygon25D' | 'Unknown';
  /** Options of the format for the layer, `XYSCALE=1e8`. */
  readonly options?: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: 'string' | 'integer' | 'real' | 'date' }[];
}

type Gdal = typeof Gdal;

let loaded: Gdal | undefined;
const importGdal = (): Promise<{ readonly default: unknown }> => import('gdal-async');

/**
 * @param load imports the module; replaced in tests
 * @throws `GDAL_MISSING` (usage) with a hint
 */
export async function loadGdal(load: () => Promise<{ readonly default: unknown }> = importGdal): Promise<Gdal> {
  if (loaded !== undefined && load === importGdal) return loaded;
  let gdal: Gdal;
  try {
    gdal = (await load()).default as Gdal;
  } catch (error) {
    throw new MappaleError('this needs GDAL, which is not installed', {
      code: 'GDAL_MISSING',
      kind: 'usage',
      detail: `expected the optional package gdal-async, found: ${(error instanceof Error ? error.message : String(error)).replace(/\n.*/s, '')}`,
      hint: 'Install it with make setup, which reports missing requirements, or with `npm install --include=optional gdal-async`. If there is no binary for this '
        + 'platform, install libgdal-dev and a C++ compiler first, and add `--build-from-source --shared_gdal`. GeoJSON and all files other than maps are read without it.',
      fix: 'make setup',
      cause: error,
    });
  }
  // The checks of `vector.ts` report GDAL's warnings with file and position.
  gdal.quiet();
  // GDAL needs a tenth of a second per shapefile to identify the CRS of a .prj, so `shapefile.ts` reads the .prj.
  gdal.config.set('USE_OSR_FIND_MATCHES', 'NO');
  if (load === importGdal) loaded = gdal;
  return gdal;
}

/** Open datasets by their numbers. */
const datasets = new Map<number, Gdal.Dataset>();
let opened = 0;

function datasetOf(number: number): Gdal.Dataset {
  const dataset = datasets.get(number);
  if (dataset === undefined) throw new Error(`no open dataset ${number}`);
  return dataset;
}

function keep(dataset: Gdal.Dataset): number {
  datasets.set((opened += 1), dataset);
  return opened;
}

/**
 * Dataset that a CRS object was first returned for. gdal-async 3.12 identifies a CRS by its memory address, which another CRS may reuse after a dataset is
 * closed. It then returns the closed dataset's CRS (3.5 % of 400 openings, observed). A CRS of another dataset is therefore rejected. The caller opens the
 * file again while the first dataset is still open, so the next CRS has another address.
 */
const firstOf = new WeakMap<Gdal.SpatialReference, number>();

function isOf(system: Gdal.SpatialReference, dataset: number): boolean {
  if (!firstOf.has(system)) firstOf.set(system, dataset);
  return firstOf.get(system) === dataset;
}

/** @returns the result of `get`; null if GDAL does not understand the CRS */
function understood<T>(get: () => T): T | null {
  try {
    return get();
  } catch {
    return null;
  }
}

/** Calls that the thread answers. Datasets are identified by number, layers by index. */
export const calls = {
  async version(): Promise<string> {
    return (await loadGdal()).version;
  },

  /** @param encoding of a shapefile's text; null if the format determines it */
  async open(path: string, drivers: readonly string[], encoding: string | null): Promise<{ readonly dataset: number; readonly layers: readonly GdalLayer[] }> {
    const gdal = await loadGdal();
    gdal.config.set('SHAPE_ENCODING', encoding);
    const known = drivers.filter((name) => gdal.drivers.getNames().includes(name));
    const doubtful: Gdal.Dataset[] = [];
    const seen = new Set<Gdal.SpatialReference>();
    try {
      for (;;) {
        const dataset = gdal.open(path, 'r', known);
        const number = keep(dataset);
        const layers = dataset.layers.map((layer) => ({ layer, system: understood(() => layer.srs) }));
        const systems = layers.flatMap(({ system }) => (system === null ? [] : [system]));
        // A CRS that comes again while the first dataset is open is shared by all files of a driver.
        if (systems.every((system) => isOf(system, number) || seen.has(system))) {
          return { dataset: number, layers: layers.map(({ layer, system }) => layerFacts(gdal, layer, system)) };
        }
        for (const system of systems) seen.add(system);
        datasets.delete(number);
        doubtful.push(dataset);
      }
    } finally {
      gdal.config.set('SHAPE_ENCODING', null);
      for (const dataset of doubtful) dataset.close();
    }
  },

  /** Returns a batch of features of a layer. @param which `first`: from the first feature on. @param srid is written to the geometries */
  async read(dataset: number, index: number, srid: number, which: 'first' | 'next'): Promise<GdalBatch> {
    const gdal = await loadGdal();
    const layer = datasetOf(dataset).layers.get(index);
    const spatial = layer.geomType !== gdal.wkbNone;
    const features: GdalFeature[] = [];
    let bytes = 0;
    try {
      while (features.length < BATCH_FEATURES && bytes < BATCH_BYTES) {
        const raw = (which === 'first' && features.length === 0 ? layer.features.first() : layer.features.next()) as Gdal.Feature | null;
        if (raw === null) return { features, ended: true, failure: null };
        const values = (raw.fields.toArray() as unknown[]).map(plainValue);
        const feature = { fid: raw.fid, values, ...(spatial ? geometryOf(gdal, raw, srid) : NO_GEOMETRY) };
        features.push(feature);
        bytes += feature.ewkb?.length ?? 0;
      }
    } catch (failure) {
      return { features, ended: true, failure };
    }
    return { features, ended: false, failure: null };
  },

  /** @throws Error if the remaining data could not be written */
  async close(dataset: number): Promise<void> {
    const gdal = await loadGdal();
    const open = datasetOf(dataset);
    datasets.delete(dataset);
    heard(gdal, () => open.close());
  },

  /** Creates a file or folder, and replaces an existing one. @param date date of a GeoPackage in place of the current time; UTC */
  async create(path: string, format: WrittenFormat, date = '2000-01-01T00:00:00.000Z'): Promise<number> {
    const gdal = await loadGdal();
    gdal.config.set('OGR_CURRENT_DATE', date);
    await rm(path, { force: true, recursive: true });
    return keep(gdal.open(path, 'w', format));
  },

  async addLayer(dataset: number, { name, srid, geometry, fields, options = [] }: GeoPackageLayer): Promise<void> {
    const gdal = await loadGdal();
    const types = { string: gdal.OFTString, integer: gdal.OFTInteger64, real: gdal.OFTReal, date: gdal.OFTDate };
    let system = gdal.SpatialReference.fromEPSG(srid);
    while (!isOf(system, dataset)) system = gdal.SpatialReference.fromEPSG(srid);
    const layer = datasetOf(dataset).layers.create(name, system, gdal[`wkb${geometry}`], [...options]);
    for (const field of fields) layer.fields.add(new gdal.FieldDefn(field.name, types[field.type]));
  },

  async addFeatures(dataset: number, layerName: string, features: readonly GeoPackageFeature[]): Promise<void> {
    const gdal = await loadGdal();
    const layer = datasetOf(dataset).layers.get(layerName);
    for (const { values, geometry } of features) {
      const feature = new gdal.Feature(layer);
      for (const [index, value] of values.entries()) feature.fields.set(index, value);
      if (geometry instanceof Uint8Array) feature.setGeometry(gdal.Geometry.fromWKB(Buffer.from(geometry)));
      else if (geometry !== null) feature.setGeometry(gdal.Geometry.fromGeoJson(geometry));
      layer.features.add(feature);
    }
  },

  /** Writes the added features of a layer to the file. */
  async flush(dataset: number, layerName: string): Promise<void> {
    const gdal = await loadGdal();
    const layer = datasetOf(dataset).layers.get(layerName);
    heard(gdal, () => layer.flush());
  },
};

/**
 * Runs work and throws errors that GDAL only logs. A FlatGeobuf is written when it is closed, and a full disk truncates it without an exception (3.6,
 * observed).
 */
function heard(gdal: Gdal, work: () => void): void {
  gdal.lastError = null;
  work();
  const error = gdal.lastError as { readonly level: number; readonly message: string } | null;
  gdal.lastError = null;
  if (error !== null && error.level >= gdal.CE_Failure) throw new Error(error.message);
}

type Calls = typeof calls;

/** Message to the thread. */
export interface Call<Name extends keyof Calls = keyof Calls> {
  readonly name: Name;
  readonly args: Parameters<Calls[Name]>;
}

export type Answer<Name extends keyof Calls> = Awaited<ReturnType<Calls[Name]>>;

function layerFacts(gdal: Gdal, layer: Gdal.Layer, system: Gdal.SpatialReference | null): GdalLayer {
  const types = new Map<string, VectorField['type']>([
    [gdal.OFTString, 'string'], [gdal.OFTInteger, 'integer'], [gdal.OFTInteger64, 'integer'], [gdal.OFTReal, 'real'],
    [gdal.OFTDate, 'date'], [gdal.OFTDateTime, 'datetime'],
  ]);
  return {
    name: layer.name,
    spatial: layer.geomType !== gdal.wkbNone,
    fields: layer.fields.map(({ name, type }) => ({ name, type: types.get(type) ?? 'other' })),
    featureCount: layer.features.count(true),
    wkt: system === null ? null : understood(() => system.toWKT()),
  };
}

function geometryOf(gdal: Gdal, raw: Gdal.Feature, srid: number): Pick<GdalFeature, 'ewkb' | 'missing' | 'geometryError'> {
  try {
    const geometry = raw.getGeometry();
    if (geometry === null) {
      const error = gdal.lastError as { readonly message?: string } | null;
      gdal.lastError = null;
      return { ewkb: null, missing: true, geometryError: error?.message ?? null };
    }
    geometry.flattenTo2D();
    const wkb = geometry.toWKB('LSB', 'ISO');
    const geometryError = checkWkb(wkb);
    return { ewkb: geometryError === null ? toEwkb(wkb, srid) : null, missing: false, geometryError };
  } catch (error) {
    // gdal-async has no class for curves and surfaces of TIN type and throws on them.
    return { ewkb: null, missing: false, geometryError: error instanceof Error ? error.message : String(error) };
  }
}

function plainValue(value: unknown): VectorValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value !== 'object' || !('year' in value)) return JSON.stringify(value);
  const { year, month, day, hour, minute, second } = value as Partial<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>;
  const two = (...parts: readonly (number | undefined)[]): string[] => parts.map((part = 0) => String(Math.trunc(part)).padStart(2, '0'));
  const date = [String(year).padStart(4, '0'), ...two(month, day)].join('-');
  return hour === undefined ? date : `${date}T${two(hour, minute, second).join(':')}`;
}
