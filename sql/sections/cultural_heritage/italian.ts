/** Italian texts of section cultural_heritage on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
  evidence: {
    'inside the parcel; located by the published coordinates, which are in the stated comune': 'nella particella; coordinate pubblicate, nel comune dichiarato',
    'inside the parcel; located by street and number': 'nella particella; per via e numero civico',
    'within 15 m, with no nearer land parcel in the comune; located by the published coordinates, which are in the stated comune':
      'entro 15 m, senza una particella di terreno del comune più vicina; coordinate pubblicate, nel comune dichiarato',
    'within 15 m, with no nearer land parcel in the comune; located by street and number':
      'entro 15 m, senza una particella di terreno del comune più vicina; per via e numero civico',
    'the only located access point of the comune with this street and number': 'unico accesso georeferenziato del comune con questa via e questo numero civico',
  },
});
