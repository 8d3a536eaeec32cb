/** Italian texts of section coastal_erosion on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
});
