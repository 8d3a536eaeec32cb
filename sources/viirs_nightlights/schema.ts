/** Defines the names and the allowed properties of a raster. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** File names of rasters: `VNP46A4.A2025001.h19v04.002.2026120123456.h5`, `VJ146A4.…h5`, `VNL_v22_npp-j01_2023_global_….average_masked.dat.tif`. */
export const NAME = /^(?:V(?:NP|J1)46A4[^/]*\.(?:h5|tiff?)|VNL_[^/]*\.tiff?)$/i;
/**
 * Other rasters of the VNL product in the same folder, by the part of the name that precedes the extension. Their cells contain no average or median radiance.
 */
export const COMPANIONS: Readonly<Record<string, string>> = {
  cf_cvg: 'the number of cloud-free observations',
  cvg: 'the number of observations',
  lit_mask: 'a mask of lit cells',
  maximum: 'the highest radiance of the year',
  minimum: 'the lowest radiance of the year',
};
/** Pattern of the names of COMPANIONS, such as `VNL_v22_npp-j01_2023_global_….cf_cvg.dat.tif`. The group contains the key in COMPANIONS. */
export const COMPANION = /^VNL_[^/]*?[._-](cf_cvg|cvg|lit_mask|maximum|minimum)(?:[._-]|$)/i;
/** Matches the file names of rasters with radiances: those of `NAME` without those of `COMPANION`. */
export const RADIANCE: Pick<RegExp, 'test'> = { test: (name) => NAME.test(name) && !COMPANION.test(name) };

/** File names of NASA's products, in which the radiance is never below zero. */
const NASA = /^V(?:NP|J1)46A4/i;

const CELL = cellsOf(1 / 240, '15″');

export const tile = TILE.extend({
  epsg: z.literal(4326, 'expected EPSG:4326'),
  cell_width: CELL,
  cell_height: CELL,
  // Only lava lakes and gas flares reach radiances near this limit.
  max_value: z.number().max(20_000, 'expected nW cm⁻² sr⁻¹, 20,000 or less').nullable(),
}).superRefine(({ name, min_value: least }, context) => {
  // VNL subtracts the background, so dark cells may be slightly below zero.
  const [lowest, words] = NASA.test(name) ? [0, '0'] : [-10, '−10'];
  if (least === null || least >= lowest) return;
  context.addIssue({ code: 'custom', path: ['min_value'], message: `expected nW cm⁻² sr⁻¹, ${words} or more` });
});
