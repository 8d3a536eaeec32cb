/** Map layer of the section cultural_heritage, and the texts of the section on the map in English and Italian. */
import { defineMap, PLACED_IN_ITALIAN } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { placed_by: 'Placed by' },
    values: { coordinates: 'coordinates', address: 'address' },
    list: { columns: { name: 'Name', type: 'Type', class: 'Category', address: 'Address', distance_m: 'Distance, m', placed_by: 'Placed by' } },
  },
  layer: {
    group: 'places',
    title: 'Places of culture',
    value: 'count',
    classes: [{ label: '0', color: '#f3ead6' }, { from: 1, label: '1', color: '#e69f00' }, { from: 2, label: '2 or more', color: '#7f3b08' }],
    none: 'No place of culture',
  },
  italian: {
    title: 'Luoghi della cultura',
    words: { placed_by: 'Posizionato per' },
    values: { coordinates: 'coordinate', address: 'indirizzo' },
    columns: { name: 'Nome', type: 'Tipo', address: 'Indirizzo', distance_m: 'Distanza, m', class: 'Categoria', placed_by: 'Posizionato per' },
    legend: { 'Places of culture': 'Luoghi della cultura', '2 or more': '2 o più', 'No place of culture': 'Nessun luogo della cultura' },
    fields: {
      'As published': 'Come pubblicato',
      'As published: Museo, Biblioteca; null: not stated': 'Come pubblicato: Museo, Biblioteca; vuoto: non dichiarato',
      'Category as published; null: not stated': 'Categoria come pubblicata; vuoto: non dichiarata',
      'As published; null: not stated': 'Come pubblicato; vuoto: non dichiarato',
      'Geodesic distance from the parcel in metres, 0 inside the parcel': 'Distanza reale al suolo dalla particella, 0 all’interno',
      'coordinates: the published coordinates, which are in the stated comune; address: the only located access point with the stated street and number':
        'coordinate: come pubblicate, nel comune dichiarato; indirizzo: l’unico accesso georeferenziato con quella via e quel numero civico',
    },
    evidence: PLACED_IN_ITALIAN,
  },
});
