/** Light at night by reference: the extent and format of each raster without the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileColumns } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  radiance_tile: {
    description: 'Average radiance of the nights of a year, nW cm⁻² sr⁻¹, in cells of 15″. The cells stay in the file and are read when parcels are built.',
    position: 'Always 1, because a file contains one raster.',
    columns: {
      ...tileColumns('nW cm⁻² sr⁻¹'),
      year: ['int4 not null', 'Year of the nights.'],
      product: ['text', 'Product at the start of the name: VNP46A4, VJ146A4 or VNL; null if an earlier version of mappale loaded the raster.'],
      collection: ['int4', 'NASA\'s collection in the name, 1 or 2; 0 if the name states none; null if an earlier version of mappale loaded the raster.'],
      regions: ['int2[]', 'ISTAT codes of the regions whose boxes overlap the raster; null if an earlier version of mappale loaded the raster.'],
      geom: ['geometry(polygon, 4326) not null', 'Extent of the raster, EPSG:4326.'],
    },
    checks: { overlaps: [6, 35, 19, 47.5], grid: 'one' },
  },
};
