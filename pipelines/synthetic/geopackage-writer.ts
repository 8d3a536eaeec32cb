/** Writes GeoPackages and other formats with GDAL, for fixtures and synthetic regions. */
import { basename } from 'node:path';
import { MappaleError } from '../errors.ts';
import { notWritten } from '../formats/file-error.ts';
import type { GeoPackageFeature, GeoPackageLayer, WrittenFormat } from '../formats/gdal.ts';
import { gdal } from '../formats/vector.ts';

/** Maximum number of features in a message to GDAL's thread. */
const WRITTEN_TOGETHER = 500;

export type WrittenLayer = GeoPackageLayer & { readonly features: Iterable<GeoPackageFeature> };

/** Writes a GeoPackage. The same input gives the same bytes. @throws MappaleError `GDAL_MISSING`, `FILE_NOT_WRITTEN` (exit 2) */
export async function writeGeoPackage(path: string, layers: readonly WrittenLayer[]): Promise<void> {
  await writeLayers(path, 'GPKG', layers);
}

/** @throws MappaleError `GDAL_MISSING`, `FILE_NOT_WRITTEN` (exit 2) */
export async function writeLayers(path: string, format: WrittenFormat, layers: readonly WrittenLayer[]): Promise<void> {
  await write(path, format, layers).catch((error: unknown) => {
    throw error instanceof MappaleError ? error : notWritten(path, format, error as Error);
  });
}

async function write(path: string, format: WrittenFormat, layers: readonly WrittenLayer[]): Promise<void> {
  const at = basename(path);
  const dataset = await gdal(at, 'create', path, format);
  for (const { features, ...layer } of layers) {
    await gdal(at, 'addLayer', dataset, layer);
    let batch: GeoPackageFeature[] = [];
    for (const feature of features) {
      batch.push(feature);
      if (batch.length < WRITTEN_TOGETHER) continue;
      await gdal(at, 'addFeatures', dataset, layer.name, batch);
      batch = [];
    }
    await gdal(at, 'addFeatures', dataset, layer.name, batch);
    await gdal(at, 'flush', dataset, layer.name);
  }
  await gdal(at, 'close', dataset);
}
