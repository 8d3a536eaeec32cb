/** Map layer of the section subsidence, and the texts of the section on the map in English and Italian. */
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
  italian: {
    title: 'Movimenti del suolo',
    words: {
      velocity_mm_year: 'Velocità verticale', acceleration_mm_year2: 'Accelerazione', direction: 'Direzione', trend: 'Tendenza', risk_class: 'Classe',
      risk_label: 'Livello', cells: 'Celle',
    },
    units: { 'mm/year': 'mm/anno', 'mm/year²': 'mm/anno²' },
    values: {
      accelerating: 'in accelerazione', decelerating: 'in rallentamento', stable: 'stabile', stabile: 'stabile', subsidenza: 'subsidenza', sollevamento: 'sollevamento',
      trascurabile: 'trascurabile', basso: 'basso', medio: 'medio', alto: 'alto', elevato: 'elevato',
    },
    legend: { 'Vertical ground motion': 'Movimento verticale del suolo', 'No measured point': 'Nessun punto misurato' },
    fields: {
      'Mean vertical velocity; negative: the ground sinks': 'Negativa: il suolo si abbassa',
      'Mean vertical acceleration in mm/year²; positive: upwards': 'Millimetri all’anno, per anno',
      'Measured 100 m cells under the parcel': 'Celle di 100 m misurate sotto la particella',
      'From 1 (negligible) to 5 (very high), by the sinking speed': 'Da 1, trascurabile, a 5, elevato, secondo la velocità di abbassamento',
      'Name of the class': 'Nome della classe',
      'Acceleration compared with the direction of motion': 'Secondo l’accelerazione',
      'Stable, sinking or rising': 'Stabile, subsidenza o sollevamento',
    },
    evidence: {
      'velocity of a cell, weighted by the area shared with the parcel': 'velocità di una cella, pesata con la superficie che la particella ne copre',
      'acceleration of a cell, weighted by the area shared with the parcel':
        'accelerazione di una cella, pesata con la superficie che la particella ne copre',
      'tile that contains the representative point': 'riquadro che contiene il punto rappresentativo',
      '% of the parcel': '% della particella',
    },
  },
});
