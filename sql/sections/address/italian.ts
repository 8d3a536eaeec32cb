/** Italian texts of section address on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
});
