/**
 * GDAL behind one interface, as calls of plain data. Its functions block, so `vector.ts` has them run in a thread. Two engines implement the interface:
 * gdal-async (`gdal-native.ts`), where it is installed, and gdal3.js (`gdal-wasm.ts`), which needs no compilation and is slower. Both give the same rows.
 */
import { GDAL_SETUP } from '../typed.ts';
import type { VectorField, VectorValue } from './vector.ts';

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

/** Names of the engines: the packages that they come in. */
export const VECTOR_ENGINES = ['gdal-async', 'gdal3.js'] as const;
export type VectorEngine = (typeof VECTOR_ENGINES)[number];

export interface EngineFacts {
  readonly engine: VectorEngine;
  /** Version of GDAL. */
  readonly version: string;
  /** Why the faster engine is not used; null if it is, or if a setting excludes it. */
  readonly fallback: string | null;
}

/** Calls that the thread answers. Datasets are identified by number, layers by index. */
export interface GdalCalls {
  /** @param encoding of a shapefile's text; null where the format fixes it */
  open(path: string, drivers: readonly string[], encoding: string | null): Promise<{ readonly dataset: number; readonly layers: readonly GdalLayer[] }>;
  /** Returns a batch of features of a layer. @param which `first`: from the first feature on. @param srid is written to the geometries */
  read(dataset: number, index: number, srid: number, which: 'first' | 'next'): Promise<GdalBatch>;
  /** @throws Error when what was still to be written could not be */
  close(dataset: number): Promise<void>;
  /** A new file, or folder, in place of what was there. @param date that a GeoPackage is stamped with instead of the clock's; UTC */
  create(path: string, format: WrittenFormat, date?: string): Promise<number>;
  addLayer(dataset: number, layer: GeoPackageLayer): Promise<void>;
  addFeatures(dataset: number, layerName: string, features: readonly GeoPackageFeature[]): Promise<void>;
  /** Writes the added features of a layer to the file. */
  flush(dataset: number, layerName: string): Promise<void>;
}

/** Returns the engine as text, with what makes reading faster. */
export function engineText({ engine, version, fallback }: EngineFacts): string {
  return `GDAL ${version} (${engine}${fallback === null ? '' : `; faster with gdal-async: ${GDAL_SETUP}`})`;
}

/** An engine that is loaded. */
export interface LoadedEngine {
  readonly version: string;
  readonly calls: GdalCalls;
}

export interface ChosenEngine extends EngineFacts {
  readonly calls: GdalCalls;
}

/** Date in a written file if the caller gives none, so that the same input gives the same bytes. */
export const FIXED_DATE = '2000-01-01T00:00:00.000Z';

/** A batch ends with the feature that makes it so large, */
export const BATCH_BYTES = 1_048_576;
/** or with so many. */
export const BATCH_FEATURES = 500;
