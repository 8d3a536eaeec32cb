/** Map layer of the section address, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['0.formatted_address'],
    words: { formatted_address: 'Address' },
    codes: ['address_id'],
    list: { columns: { formatted_address: 'Address', locality: 'Locality', address_id: 'ANNCSU id' } },
  },
  layer: {
    group: 'places',
    title: 'Addresses',
    value: 'count',
    classes: [{ label: '0', color: '#ece7f2' }, { from: 1, label: '1', color: '#a6bddb' }, { from: 2, color: '#3690c0' }, { from: 5, color: '#034e7b' }],
    none: 'No address',
  },
  italian: {
    title: 'Indirizzi',
    words: { formatted_address: 'Indirizzo' },
    columns: { formatted_address: 'Indirizzo', locality: 'Località', address_id: 'Progressivo ANNCSU' },
    legend: { Addresses: 'Indirizzi', 'No address': 'Nessun indirizzo' },
    fields: {
      'PROGRESSIVO_ACCESSO of ANNCSU': 'PROGRESSIVO_ACCESSO di ANNCSU',
      'Name of the locality in title case; empty: unknown': 'Nome della località con le iniziali maiuscole; vuoto: non noto',
      'Street and number, then the locality (or the comune, if there is none) and the province': 'Via e numero civico, poi la località (o il comune, se manca) e la provincia',
    },
    evidence: {
      'comune of the access point': 'comune dell’accesso',
      'access point inside the parcel': 'accesso nella particella',
      'access point within 15 m, with no nearer land parcel in the comune': 'accesso entro 15 m, senza una particella di terreno del comune più vicina',
    },
  },
});
