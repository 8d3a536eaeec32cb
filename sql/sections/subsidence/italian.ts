/** Italian texts of section subsidence on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
    'Millimetres per year²': 'Millimetri all’anno, per anno',
    'Measured 100 m cells under the parcel': 'Celle di 100 m misurate sotto la particella',
    'From 1 (negligible) to 5 (very high), by the absolute velocity': 'Da 1, trascurabile, a 5, elevato, secondo l’entità della velocità',
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
});
