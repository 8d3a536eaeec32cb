/** Defines the layer of Copernicus GLO-30. The layer stores the extent and format of each raster, but not the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileLayer } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  copernicus_tile: tileLayer({
    description: 'Tiles of 1° of Copernicus GLO-30: elevation of the surface, with trees and roofs, in metres above the geoid EGM2008, cells of 1″',
    unit: 'metres',
    columns: {
      elevation_of: ['text not null default \'surface\'', 'Always surface, because the model describes the surface and not the ground.'],
    },
    grid: 'one',
  }),
};
