/** Texts and layer of the section nightlights on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { available: 'Measured', ntl_parcel: 'Radiance', ntl_mean_comune: 'Mean of the comune', ntl_ratio: 'Compared with the comune', ntl_class: 'Class', ntl_year: 'Year' },
    values: { dark: 'dark', dim: 'dim', medium: 'medium', bright: 'bright', very_bright: 'very bright' },
    units: { ntl_parcel: 'nW/cm²/sr', ntl_mean_comune: 'nW/cm²/sr', ntl_ratio: '×' },
    codes: ['ntl_year'],
    first: ['ntl_class', 'ntl_parcel', 'ntl_mean_comune', 'ntl_ratio', 'ntl_year'],
  },
  layer: {
    group: 'land',
    title: 'Light at night',
    value: 'ntl_class',
    classes: [
      { value: 'dark', label: 'dark', color: '#000004' },
      { value: 'dim', label: 'dim', color: '#56106e' },
      { value: 'medium', label: 'medium', color: '#bb3754' },
      { value: 'bright', label: 'bright', color: '#f98e09' },
      { value: 'very_bright', label: 'very bright', color: '#fcffa4' },
    ],
    none: 'Not measured',
  },
});
