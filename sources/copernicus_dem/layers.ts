/** Copernicus GLO-30 by reference: the extent and format of each raster without the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileColumns } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  copernicus_tile: {
    description: 'Tiles of 1° of Copernicus GLO-30: elevation of the surface, with trees and roofs, in metres above the geoid EGM2008, cells of 1″. The cells stay in the file and are read when parcels are built.',
    position: 'Always 1, because a file contains one raster.',
    columns: {
      ...tileColumns('metres'),
      elevation_of: ['text not null default \'surface\'', 'Always surface, because the model describes the surface and not the ground.'],
      geom: ['geometry(polygon, 4326) not null', 'Extent of the raster, EPSG:4326.'],
    },
    checks: { overlaps: [6, 35, 19, 47.5], grid: 'one' },
  },
};
