/** Texts and layer of the section solar on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      available: 'Roofs', n_buildings: 'Buildings', roof_area_m2: 'Roof area', kwp_max_total: 'Maximum peak power', pvout_kwh_per_kwp: 'Yield per kW', pvout_kwh_year_total: 'Annual yield',
      viability_class: 'Class', methodology_version: 'Method',
    },
    values: { alta: 'high', media: 'medium', bassa: 'low' },
    units: { roof_area_m2: 'm²', kwp_max_total: 'kW', pvout_kwh_per_kwp: 'kWh/kW', pvout_kwh_year_total: 'kWh' },
    first: ['viability_class', 'pvout_kwh_year_total', 'kwp_max_total', 'pvout_kwh_per_kwp', 'roof_area_m2', 'n_buildings'],
  },
  layer: {
    group: 'land',
    title: 'Solar yield of roofs',
    value: 'viability_class',
    classes: [
      { value: 'alta', label: 'high, 1,400 kWh/kW or more', color: '#d95f0e' },
      { value: 'media', label: 'medium, 1,200 kWh/kW or more', color: '#fec44f' },
      { value: 'bassa', label: 'low, less', color: '#8073ac' },
    ],
    none: 'No roof',
  },
});
