/**
 * Runs GDAL with gdal-async, a binding to native code. Only this file imports gdal-async, and only when GDAL is needed. The authors of gdal-async do not
 * guarantee that the binding works in worker threads. Observed with 3.12.3: the binding works in the first thread that loads it, even if the thread or the
 * process ends during a call. A second thread cannot load the binding. One worker thread therefore loads the binding for all files, and the main thread never
 * loads the binding.
 */
import { rm } from 'node:fs/promises';
import type * as Gdal from 'gdal-async';
import { BATCH_BYTES, BATCH_FEATURES, FIXED_DATE, type GdalBatch, type GdalCalls, type GdalFeature, type GdalLayer, type LoadedEngine } from './gdal.ts';
import type { VectorField, VectorValue } from './vector.ts';
import { checkWkb, toEwkb } from './wkb.ts';

const NO_GEOMETRY = { ewkb: null, missing: false, geometryError: null } as const;

type Gdal = typeof Gdal;

let loaded: Gdal | undefined;

/** Loads gdal-async. @throws Error if the package is not installed, or was compiled for a different version of Node */
export async function loadNative(): Promise<LoadedEngine> {
  const { version } = await loadGdal();
  return { version, calls };
}

async function loadGdal(): Promise<Gdal> {
  if (loaded !== undefined) return loaded;
  const gdal = (await import('gdal-async')).default as unknown as Gdal;
  // Silences GDAL's own warnings, because the checks in `vector.ts` report problems with file and position.
  gdal.quiet();
  // GDAL would search all CRSs for a match with the .prj, which takes a tenth of a second per shapefile. `shapefile.ts` reads the .prj instead.
  gdal.config.set('USE_OSR_FIND_MATCHES', 'NO');
  loaded = gdal;
  return gdal;
}

/** Open datasets, by number. */
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
 * The first dataset that returned each CRS object. Version 3.12 of gdal-async identifies a CRS by its memory address, which a different CRS may reuse after a
 * dataset is closed. In this case, gdal-async returns the CRS of the closed dataset (observed in 3.5 % of 400 openings). A CRS object of another dataset is
 * therefore rejected. The file is then opened again while the rejected dataset is still open, so that the next CRS has a different address.
 */
const firstOf = new WeakMap<Gdal.SpatialReference, number>();

function isOf(system: Gdal.SpatialReference, dataset: number): boolean {
  if (!firstOf.has(system)) firstOf.set(system, dataset);
  return firstOf.get(system) === dataset;
}

/** Returns the result of `get`, or null if GDAL throws because GDAL does not support the CRS. Such a CRS is treated as missing. */
function understood<T>(get: () => T): T | null {
  try {
    return get();
  } catch {
    return null;
  }
}

const calls: GdalCalls = {
  async open(path, drivers, encoding) {
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
        // Accepts a CRS object that GDAL returns again while the rejected dataset is still open. The driver then uses one object for all files.
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

  async read(dataset, index, srid, which): Promise<GdalBatch> {
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

  async close(dataset) {
    const gdal = await loadGdal();
    const open = datasetOf(dataset);
    datasets.delete(dataset);
    heard(gdal, () => open.close());
  },

  async create(path, format, date = FIXED_DATE) {
    const gdal = await loadGdal();
    gdal.config.set('OGR_CURRENT_DATE', date);
    await rm(path, { force: true, recursive: true });
    return keep(gdal.open(path, 'w', format));
  },

  async addLayer(dataset, { name, srid, geometry, fields, options = [] }) {
    const gdal = await loadGdal();
    const types = { string: gdal.OFTString, integer: gdal.OFTInteger64, real: gdal.OFTReal, date: gdal.OFTDate };
    let system = gdal.SpatialReference.fromEPSG(srid);
    while (!isOf(system, dataset)) system = gdal.SpatialReference.fromEPSG(srid);
    const layer = datasetOf(dataset).layers.create(name, geometry === 'None' ? null : system, gdal[`wkb${geometry}`], [...options]);
    for (const field of fields) layer.fields.add(new gdal.FieldDefn(field.name, types[field.type]));
  },

  async addFeatures(dataset, layerName, features) {
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

  async flush(dataset, layerName) {
    const gdal = await loadGdal();
    const layer = datasetOf(dataset).layers.get(layerName);
    heard(gdal, () => layer.flush());
  },
};

/**
 * Runs work, and throws an error that GDAL recorded without throwing. For example, GDAL writes a FlatGeobuf when the file is closed. On a full disk, the file
 * is then truncated without an exception (observed with 3.6).
 */
function heard(gdal: Gdal, work: () => void): void {
  gdal.lastError = null;
  work();
  const error = gdal.lastError as { readonly level: number; readonly message: string } | null;
  gdal.lastError = null;
  if (error !== null && error.level >= gdal.CE_Failure) throw new Error(error.message);
}

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
    // gdal-async throws for curved polygons and for surfaces such as TINs, because gdal-async has no classes for these geometries.
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
  // gdal-async omits parts of a date or time that are 0.
  return hour === undefined && minute === undefined && second === undefined ? date : `${date}T${two(hour, minute, second).join(':')}`;
}
