/** Defines the layer of TINITALY. The layer stores the extent and format of each raster, but not the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileLayer } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  tinitaly_tile: tileLayer({
    description: 'Tiles of 50 km of TINITALY: elevation of the ground in metres above sea level, in cells of 10 m',
    unit: 'metres',
    columns: {
      elevation_of: ['text not null default \'ground\'', 'Always ground, because the model describes the ground and not the surface.'],
    },
    grid: 'one',
  }),
};
