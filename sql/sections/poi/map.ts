/** Map layer of the section poi, and the texts of the section on the map in English and Italian. */
import { defineMap, PLACED_IN_ITALIAN } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { placed_by: 'Placed by' },
    values: { school: 'school', pharmacy: 'pharmacy', fuel: 'filling station', coordinates: 'coordinates', address: 'address' },
    list: { columns: { category: 'Category', name: 'Name', categories: 'Kind', address: 'Address' } },
  },
  layer: {
    group: 'places',
    title: 'Schools, pharmacies, filling stations',
    value: 'category',
    classes: [
      { value: 'school', label: 'School', color: '#0072b2' },
      { value: 'pharmacy', label: 'Pharmacy', color: '#009e73' },
      { value: 'fuel', label: 'Filling station', color: '#d55e00' },
    ],
    none: 'None of these',
  },
  italian: {
    title: 'Punti di interesse',
    words: { placed_by: 'Posizionato per' },
    values: { school: 'scuola', pharmacy: 'farmacia', fuel: 'carburante', coordinates: 'coordinate', address: 'indirizzo' },
    columns: { category: 'Categoria', name: 'Nome', categories: 'Tipo', address: 'Indirizzo' },
    legend: {
      'Schools, pharmacies, filling stations': 'Scuole, farmacie, distributori', School: 'Scuola', Pharmacy: 'Farmacia',
      'Filling station': 'Distributore', 'None of these': 'Nessuno di questi',
    },
    fields: {
      'As published': 'Come pubblicato',
      'List that contains the point: schools, open pharmacies or fuel stations': 'Elenco in cui compare: scuole, farmacie aperte, distributori di carburante',
      'Kind as published, such as SCUOLA PRIMARIA, Ordinaria or Stradale; null: not stated':
        'Che cosa è, nelle parole di chi lo pubblica: SCUOLA PRIMARIA, Ordinaria, Stradale; vuoto: non dichiarato',
      'As published; null: not stated': 'Come pubblicato; vuoto: non dichiarato',
    },
    evidence: PLACED_IN_ITALIAN,
  },
});
