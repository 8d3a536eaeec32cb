/** Texts and layer of the section subsidence on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      velocity_mm_year: 'Vertical velocity', acceleration_mm_year2: 'Acceleration', cells: 'Cells', risk_class: 'Class', risk_label: 'Level', trend: 'Trend', direction: 'Direction',
    },
    values: {
      trascurabile: 'negligible', basso: 'low', medio: 'medium', alto: 'high', elevato: 'very high', stabile: 'stable', subsidenza: 'subsidence', sollevamento: 'uplift',
      stable: 'stable', accelerating: 'accelerating', decelerating: 'decelerating',
    },
    units: { velocity_mm_year: 'mm/year', acceleration_mm_year2: 'mm/year²' },
    first: ['velocity_mm_year', 'acceleration_mm_year2', 'direction', 'trend', 'risk_class', 'risk_label', 'cells'],
  },
  layer: {
    group: 'hazards',
    title: 'Vertical ground motion',
    value: 'velocity_mm_year',
    unit: 'mm/year',
    classes: [
      { color: '#850018' }, { from: -20, color: '#d73027' }, { from: -10, color: '#f46d43' }, { from: -5, color: '#fdae61' }, { from: -2, color: '#fff27d' },
      { from: 2, color: '#74add1' }, { from: 5, color: '#313695' },
    ],
    none: 'No measured point',
  },
});
