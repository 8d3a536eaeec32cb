/** Defines the names and the allowed properties of a raster. */
import { z } from 'zod';
import { cellsOf, TILE } from '../../pipelines/readers/raster-tiles.ts';

/** File names of rasters: `VNP46A4.A2025001.h19v04.002.2026120123456.h5`, `VJ146A4.…h5`, `VNL_v22_npp-j01_2023_global_….average_masked.dat.tif`. */
export const NAME = /^(?:V(?:NP|J1)46A4[^/]*\.(?:h5|tiff?)|VNL_[^/]*\.tiff?)$/i;
/** File names of NASA's products, in which the radiance is never below zero. */
const NASA = /^V(?:NP|J1)46A4/i;

const CELL = cellsOf(1 / 240, '15″');

export const tile = TILE.extend({
  epsg: z.literal(4326, 'expected EPSG:4326'),
  cell_width: CELL,
  cell_height: CELL,
  // VNL subtracts the background, so dark cells may be slightly below zero.
  min_value: z.number().min(-10, 'expected nW cm⁻² sr⁻¹, −10 or more').nullable(),
  // Only lava lakes and gas flares reach radiances near this limit.
  max_value: z.number().max(20_000, 'expected nW cm⁻² sr⁻¹, 20,000 or less').nullable(),
}).superRefine(({ name, min_value: least }, context) => {
  if (least === null || least >= 0 || !NASA.test(name)) return;
  context.addIssue({ code: 'custom', path: ['min_value'], message: 'expected nW cm⁻² sr⁻¹, 0 or more' });
});
