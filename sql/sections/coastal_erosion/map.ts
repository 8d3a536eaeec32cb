/** Map layer of the section coastal_erosion, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    values: { erosion: 'erosion', accretion: 'accretion', stable: 'stable' },
    list: { columns: { dynamic: 'Dynamic', avg_change_m_year: 'Change, m/year', severity_index: 'Severity index', distance_m: 'Distance, m' } },
  },
  layer: {
    group: 'hazards',
    title: 'Coast within 1,000 m',
    value: 'dynamic',
    classes: [
      { value: 'erosion', label: 'Erosion', color: '#d55e00' },
      { value: 'stable', label: 'Stable', color: '#f0e442' },
      { value: 'accretion', label: 'Accretion', color: '#0072b2' },
    ],
    none: 'No low coast nearby',
  },
  italian: {
    title: 'Erosione costiera',
    values: { erosion: 'erosione', accretion: 'avanzamento', stable: 'stabile' },
    columns: { dynamic: 'Dinamica', avg_change_m_year: 'Variazione, m/anno', severity_index: 'Gravità', distance_m: 'Distanza, m' },
    legend: {
      'Coast within 1,000 m': 'Costa entro 1.000 m', Erosion: 'Erosione', Stable: 'Stabile', Accretion: 'Avanzamento',
      'No low coast nearby': 'Nessuna costa bassa vicina',
    },
    fields: {
      'Movement of the shore': 'Che cosa fa la costa',
      'Negative: erosion; null: not published, and the shore is not stable': 'Negativa: erosione; vuoto: non pubblicata, e costa non stabile',
      'Null: as avg_change_m_year': 'Vuoto: come per la variazione',
      'Geodesic distance from the parcel in metres': 'Distanza reale al suolo dalla particella',
    },
    evidence: {
      'segment within 1,000 m, nearest first, at most five': 'tratto di costa entro 1.000 m, dal più vicino, al massimo cinque',
      'segment within 1,000 m, nearest first, at most five; a stable segment without a published mean did not move':
        'tratto di costa entro 1.000 m, dal più vicino, al massimo cinque; stabile senza una media pubblicata: nessuna variazione',
      'segment within 1,000 m, nearest first, at most five; no mean is published':
        'tratto di costa entro 1.000 m, dal più vicino, al massimo cinque; la media non è pubblicata',
      'newest file that covers the coast of Italy, or that has a segment in this comune':
        'file più recente che contiene la costa d’Italia, o un tratto presso questo comune',
    },
  },
});
