/** Defines the layer of light at night. The layer stores the extent and format of each raster, but not the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileLayer } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  radiance_tile: tileLayer({
    description: 'Average radiance of the nights of a year, nW cm⁻² sr⁻¹, in cells of 15″',
    unit: 'nW cm⁻² sr⁻¹',
    columns: {
      year: ['int4 not null', 'Year of the nights.'],
      product: ['text', 'Product at the start of the name: VNP46A4, VJ146A4 or VNL; null if an earlier version of mappale loaded the raster.'],
      collection: ['int4', 'NASA\'s collection in the name, 1 or 2; 0 if the name states none; null if an earlier version of mappale loaded the raster.'],
      regions: ['int2[]', 'ISTAT codes of the regions whose boxes overlap the raster; null if an earlier version of mappale loaded the raster.'],
    },
    grid: 'one',
  }),
};
