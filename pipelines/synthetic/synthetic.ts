/** Writes the synthetic files of sources, and computes the true values of parcels. */
import { readdir } from 'node:fs/promises';
import { loadModule } from '../program.ts';
import { makeRegion, REGION_CODES, type RegionOptions } from './make-region.ts';
import type { SyntheticRegion, SyntheticParcel } from './region.ts';

/** Default export of a source's `synthetic.ts`: writes the source's files for a synthetic region, and computes true values. */
export interface Synthetic {
  /**
   * Writes the source's files for a synthetic region in the publisher's exact format, including typical errors.
   * @param folder existing folder to write to.
   */
  write(region: SyntheticRegion, folder: string): Promise<void>;
  /**
   * Returns a function that computes the true values of a parcel that depend on the source: section → field → value. The computation does not use PostGIS. The
   * caller calls the function once per parcel.
   */
  truth?(region: SyntheticRegion): (parcel: SyntheticParcel) => Record<string, unknown>;
}

/** Loads the default export of a source's `synthetic.ts`. */
export function loadSynthetic(id: string): Promise<Synthetic> {
  return loadModule(`sources/${id}/synthetic.ts`);
}

/** Writes the files of a source for the first synthetic region that the source covers, because some sources cover only some regions. Returns this region. */
export async function writeOwn(id: string, folder: string, options: Omit<RegionOptions, 'region'>): Promise<SyntheticRegion> {
  const synthetic = await loadSynthetic(id);
  for (const code of REGION_CODES) {
    const region = makeRegion({ ...options, region: code });
    await synthetic.write(region, folder);
    if ((await readdir(folder)).length > 0) return region;
  }
  throw new RangeError(`source ${id} writes no files for any synthetic region`);
}

/** Writes the files of all sources. The same options give the same bytes. @throws MappaleError of `makeRegion` */
export async function writeSynthetic(sources: readonly { readonly id: string }[], folder: string, options: RegionOptions): Promise<SyntheticRegion> {
  const region = makeRegion(options);
  for (const { id } of sources) await (await loadSynthetic(id)).write(region, folder);
  return region;
}
