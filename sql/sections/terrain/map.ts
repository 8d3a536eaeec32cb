/** Texts and layer of the section terrain on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      elevation_min: 'Lowest', elevation_max: 'Highest', elevation_mean: 'Mean height', elevation_std: 'Standard deviation of heights', slope_mean: 'Mean slope', slope_max: 'Steepest',
      ruggedness_index: 'Ruggedness (Riley)', tri_mean: 'Ruggedness (TRI)', aspect_predominant: 'Faces', cells: 'Number of model cells', elevation_of: 'Elevations of', elevation: 'elevation', slope: 'slope',
    },
    values: { flat: 'flat', ground: 'ground', surface: 'surface, with trees and roofs' },
    units: {
      elevation_min: 'm', elevation_max: 'm', elevation_mean: 'm', elevation_std: 'm', slope_mean: '°', slope_max: '°', ruggedness_index: 'm', tri_mean: 'm',
    },
    first: ['elevation_mean', 'elevation_min', 'elevation_max', 'slope_mean', 'slope_max', 'aspect_predominant'],
  },
  layer: {
    group: 'land',
    title: 'Mean height',
    value: 'elevation_mean_m',
    unit: 'm',
    classes: [
      { color: '#440154' }, { from: 50, color: '#443983' }, { from: 200, color: '#31688e' }, { from: 400, color: '#21918c' }, { from: 700, color: '#35b779' },
      { from: 1200, color: '#90d743' }, { from: 2000, color: '#fde725' },
    ],
    none: 'No elevation known',
  },
});
