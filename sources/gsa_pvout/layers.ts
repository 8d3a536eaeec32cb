/** Defines the layer of photovoltaic potential of the Global Solar Atlas. The layer stores the extent and format of each raster, but not the cells. */
import type { Layers } from '../../pipelines/contract/source.ts';
import { tileLayer } from '../../pipelines/readers/raster-tiles.ts';

export const layers: Layers = {
  pvout_tile: tileLayer({
    description: 'Electricity from 1 kWp of photovoltaics in an average year, kWh/kWp, in cells of 30″',
    unit: 'kWh/kWp',
  }),
};
