/**
 * Prints as JSON the digest of every layer of the named vector files, which may be in zips, and the peak memory of this process.
 * `MAPPALE_TEST_VECTOR_ENGINE` names the engine.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { MappaleError } from '../../pipelines/errors.ts';
import { openVector, type VectorDataset, type VectorLayer, type VectorPath } from '../../pipelines/formats/vector.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { geodatabaseFolders } from '../../pipelines/readers/vector-members.ts';

export interface LayerDigest {
  readonly file: string;
  readonly layer: string;
  readonly features: number;
  /** CPU time in seconds. */
  readonly seconds: number;
  /** Code of the error that stopped the reader, or null. */
  readonly error: string | null;
  /** SHA-256 of the layer's name, fields, number of features and CRS, and of every feature. Empty if the file could not be opened. */
  readonly digest: string;
}

const codeOf = (error: unknown): string => {
  if (error instanceof MappaleError) return error.code;
  throw error;
};

async function digestOf(dataset: VectorDataset, layer: VectorLayer): Promise<LayerDigest> {
  const began = process.cpuUsage();
  const hash = createHash('sha256').update(JSON.stringify([layer.name, layer.spatial, layer.fields, layer.featureCount]));
  let features = 0;
  let error: string | null = null;
  try {
    hash.update(String(layer.srid));
    for await (const { fid, position, properties, geometryError, ewkb } of dataset.features(layer)) {
      features += 1;
      hash.update(JSON.stringify([fid, position, properties, geometryError])).update(ewkb ?? 'none');
    }
  } catch (thrown) {
    error = codeOf(thrown);
  }
  const { user, system } = process.cpuUsage(began);
  return { file: dataset.label, layer: layer.name, features, seconds: (user + system) / 1e6, error, digest: hash.digest('hex') };
}

async function digestsOf(path: VectorPath): Promise<LayerDigest[]> {
  let dataset: VectorDataset;
  try {
    dataset = await openVector(path);
  } catch (thrown) {
    return [{ file: typeof path === 'string' ? basename(path) : path.entry, layer: '', features: 0, seconds: 0, error: codeOf(thrown), digest: '' }];
  }
  const digests: LayerDigest[] = [];
  for (const layer of dataset.layers) digests.push(await digestOf(dataset, layer));
  await dataset.close();
  return digests;
}

async function digestsOfZip(path: string): Promise<LayerDigest[]> {
  const digests: LayerDigest[] = [];
  const zip = await ZipArchive.open(path).catch((error: unknown) => codeOf(error));
  // A zip that cannot be opened has no digests, because the vector engine does not read it.
  if (typeof zip === 'string') return [];
  const plain = zip.entries.filter((entry) => !entry.isFolder && /\.(?:shp|gpkg|kml)$/i.test(entry.path)).map((entry) => entry.path);
  for (const entry of [...plain, ...geodatabaseFolders(zip.entries)]) digests.push(...await digestsOf({ zip, entry }));
  await zip.close();
  return digests;
}

const all: LayerDigest[] = [];
for (const path of process.argv.slice(2)) all.push(...(path.endsWith('.zip') ? await digestsOfZip(path) : await digestsOf(path)));
console.log(JSON.stringify({ layers: all, maxRssMb: Math.round(process.resourceUsage().maxRSS / 1024) }));
