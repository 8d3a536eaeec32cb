/** Photovoltaic potential of the Global Solar Atlas by reference: the extent and format of each raster without the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileColumns } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  pvout_tile: {
    description: 'Electricity from 1 kWp of photovoltaics in an average year, kWh/kWp, in cells of 30″. The cells stay in the file and are read when parcels are built.',
    position: 'Always 1, because a file contains one raster.',
    columns: {
      ...tileColumns('kWh/kWp'),
      geom: ['geometry(polygon, 4326) not null', 'Extent of the raster, EPSG:4326.'],
    },
    checks: { overlaps: [6, 35, 19, 47.5] },
  },
};
