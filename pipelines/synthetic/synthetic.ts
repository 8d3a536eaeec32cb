/** Synthetic files and true values of a source. */
import { readdir } from 'node:fs/promises';
import { loadModule } from '../program.ts';
import { makeRegion, REGION_CODES, type RegionOptions } from './make-region.ts';
import type { SyntheticRegion, SyntheticParcel } from './region.ts';

/** Files and truth of a synthetic region (a source's `synthetic.ts`, default export). */
export interface Synthetic {
  /**
   * Writes this source's files for the synthetic region, in the publisher's exact format, quirks included.
   * @param folder existing folder to write to.
   */
  write(region: SyntheticRegion, folder: string): Promise<void>;
  /**
   * Returns the true values of each parcel that depend on this source, computed without PostGIS: section → field → value.
   * The returned function is called once per parcel.
   */
  truth?(region: SyntheticRegion): (parcel: SyntheticParcel) => Record<string, unknown>;
}

/** The writer of a source's synthetic files. */
export function loadSynthetic(id: string): Promise<Synthetic> {
  return loadModule(`sources/${id}/synthetic.ts`);
}

/** Writes the files of a source for the first region that has any, because some sources publish some regions only. */
export async function writeOwn(id: string, folder: string, options: Omit<RegionOptions, 'region'>): Promise<SyntheticRegion> {
  const synthetic = await loadSynthetic(id);
  for (const code of REGION_CODES) {
    const region = makeRegion({ ...options, region: code });
    await synthetic.write(region, folder);
    if ((await readdir(folder)).length > 0) return region;
  }
  throw new RangeError(`${id} writes nothing of any synthetic region`);
}

/** Writes the files of all sources. The same (parcels, seed, comuni) give the same bytes. @throws MappaleError of `makeRegion` */
export async function writeSynthetic(sources: readonly { readonly id: string }[], folder: string, options: RegionOptions): Promise<SyntheticRegion> {
  const region = makeRegion(options);
  for (const { id } of sources) await (await loadSynthetic(id)).write(region, folder);
  return region;
}
