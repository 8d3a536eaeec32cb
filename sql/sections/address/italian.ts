/** Italian texts of section address on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
  title: 'Indirizzi',
  words: { formatted_address: 'Indirizzo' },
  columns: { formatted_address: 'Indirizzo', locality: 'Località', address_id: 'Progressivo ANNCSU' },
  legend: { Addresses: 'Indirizzi', 'No address': 'Nessun indirizzo' },
  fields: {
    'PROGRESSIVO_ACCESSO of ANNCSU': 'PROGRESSIVO_ACCESSO di ANNCSU',
    'In title case; empty: unknown': 'Con le iniziali maiuscole; vuota: non nota',
    'Street and number, with the locality or otherwise the comune, and the province': 'Via e numero civico, località o altrimenti comune, provincia',
  },
  evidence: {
    'comune of the access point': 'comune dell’accesso',
    'access point inside the parcel': 'accesso nella particella',
    'access point within 15 m, with no nearer land parcel in the comune': 'accesso entro 15 m, senza una particella di terreno del comune più vicina',
  },
});
