/** TINITALY by reference: the extent and format of each raster without the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileColumns } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  tinitaly_tile: {
    description: 'Tiles of 50 km of TINITALY: elevation of the ground in metres above sea level, in cells of 10 m. The cells stay in the file and are read when parcels are built.',
    position: 'Always 1, because a file contains one raster.',
    columns: {
      ...tileColumns('metres'),
      elevation_of: ['text not null default \'ground\'', 'Always ground, because the model describes the ground and not the surface.'],
      geom: ['geometry(polygon, 4326) not null', 'Extent of the raster, EPSG:4326.'],
    },
    checks: { overlaps: [6, 35, 19, 47.5], grid: 'one' },
  },
};
