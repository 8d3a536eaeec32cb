/**
 * Defines the program's interface to GDAL, with plain data that can be sent to a thread. GDAL's functions block, so `vector.ts` runs these functions in a
 * thread. Two engines implement the interface: gdal-async (`gdal-native.ts`), an optional package, and gdal3.js (`gdal-wasm.ts`), which is slower but needs no
 * compilation. Both engines return the same features.
 */
import { GDAL_SETUP } from '../typed.ts';
import type { VectorField, VectorValue } from './vector.ts';

export interface GdalLayer {
  readonly name: string;
  readonly spatial: boolean;
  readonly fields: readonly VectorField[];
  readonly featureCount: number;
  /** CRS of the layer as WKT, or as the `crs` member of a GeoJSON file; null or empty if the file contains no CRS. */
  readonly wkt: string | null;
  /** EPSG number of the CRS, for files that state the CRS without WKT; null if the name in the file is not known. */
  readonly epsg?: number | null;
}

export interface GdalFeature {
  readonly fid: number;
  /** Values in the order of the layer's fields. */
  readonly values: readonly VectorValue[];
  readonly ewkb: Uint8Array | null;
  /** True if the feature has no geometry, or if GDAL returned no geometry for an unreadable geometry. */
  readonly missing: boolean;
  /** Reason why `ewkb` is null; null if there is no error, or if GDAL reports no reason. */
  readonly geometryError: string | null;
}

export interface GdalBatch {
  readonly features: readonly GdalFeature[];
  /** True after the last feature or after a failure. */
  readonly ended: boolean;
  /** Error with which GDAL stopped reading, or null. */
  readonly failure: unknown;
}

/** Formats that GDAL writes. `synthetic/shapefile-writer.ts` writes shapefiles without GDAL. */
export type WrittenFormat = 'GPKG' | 'OpenFileGDB' | 'FlatGeobuf';

export interface GeoPackageFeature {
  /** Values in the order of `fields`. */
  readonly values: readonly VectorValue[];
  /** Geometry as GeoJSON or WKB, with easting before northing or longitude before latitude. */
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | Uint8Array | null;
}

export interface GeoPackageLayer {
  readonly name: string;
  readonly srid: number;
  /** Type of the geometries; `None` for a table without geometries. */
  readonly geometry: 'None' | 'Point' | 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon' | 'MultiPolygon25D' | 'Unknown';
  /** Layer creation options of the format, such as `XYSCALE=1e8`. */
  readonly options?: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: 'string' | 'integer' | 'real' | 'date' }[];
}

/** Names of the engines, which are the names of the npm packages. */
export const VECTOR_ENGINES = ['gdal-async', 'gdal3.js'] as const;
export type VectorEngine = (typeof VECTOR_ENGINES)[number];

export interface EngineFacts {
  readonly engine: VectorEngine;
  /** Version of GDAL. */
  readonly version: string;
  /** Reason why the faster engine cannot be used. Null if the faster engine is used, or if a test requests the other engine. */
  readonly fallback: string | null;
}

/** Calls that an engine implements. A number identifies an open dataset, and an index identifies a layer. */
export interface GdalCalls {
  /** Opens a dataset. @param encoding encoding of the text in a shapefile; null if the format defines the encoding */
  open(path: string, drivers: readonly string[], encoding: string | null): Promise<{ readonly dataset: number; readonly layers: readonly GdalLayer[] }>;
  /**
   * Returns a batch of features of a layer.
   * @param which `first` starts with the first feature, `next` continues
   * @param srid SRID to write into the geometries
   */
  read(dataset: number, index: number, srid: number, which: 'first' | 'next'): Promise<GdalBatch>;
  /** Closes a dataset. @throws Error if buffered data cannot be written */
  close(dataset: number): Promise<void>;
  /** Creates a file or folder for a dataset, and replaces an existing one. @param date time in UTC to write into a GeoPackage instead of the current time */
  create(path: string, format: WrittenFormat, date?: string): Promise<number>;
  addLayer(dataset: number, layer: GeoPackageLayer): Promise<void>;
  addFeatures(dataset: number, layerName: string, features: readonly GeoPackageFeature[]): Promise<void>;
  /** Writes the added features of a layer to the file. */
  flush(dataset: number, layerName: string): Promise<void>;
}

/** Returns a line of text about the engine. If the faster engine cannot be used, the line contains the command that installs the faster engine. */
export function engineText({ engine, version, fallback }: EngineFacts): string {
  return `GDAL ${version} (${engine}${fallback === null ? '' : `; faster with gdal-async: ${GDAL_SETUP}`})`;
}

/** A loaded GDAL engine, with its version and functions. */
export interface LoadedEngine {
  readonly version: string;
  readonly calls: GdalCalls;
}

export interface ChosenEngine extends EngineFacts {
  readonly calls: GdalCalls;
}

/** Default date to write into output files instead of the current time, so that the same input produces the same bytes. */
export const FIXED_DATE = '2000-01-01T00:00:00.000Z';

/** Size in bytes at which a batch of features ends. The last feature may make the batch larger. */
export const BATCH_BYTES = 1_048_576;
/** Maximum number of features that GDAL returns in a batch. */
export const BATCH_FEATURES = 500;
