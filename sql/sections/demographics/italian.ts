/** Italian texts of section demographics on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
  title: 'Censimento 2021',
  words: {
    population_total: 'Residenti', male: 'Maschi', female: 'Femmine', age_brackets: 'Classi di età', education: 'Titolo di studio',
    '75_plus': '75 e più', no_title: 'nessun titolo', elementary: 'licenza elementare', middle_school: 'licenza media', high_school: 'diploma', university: 'laurea',
    employed: 'Occupati', foreigners: 'Stranieri', total: 'totale', eu: 'UE', non_eu: 'extra UE', households: 'Famiglie', '1_member': '1 componente',
    '2_members': '2 componenti', '3_members': '3 componenti', '4_members': '4 componenti', '5_members': '5 componenti',
    '6_plus_members': '6 e più componenti', dwellings: 'Abitazioni', section_id: 'Sezione di censimento',
    parcel_share: 'Quota della particella nella sezione',
  },
  units: { persons: 'persone' },
  legend: { 'Residents of the census section': 'Residenti della sezione di censimento', 'In no census section': 'In nessuna sezione di censimento' },
  fields: {
    'Null: not published': 'Vuoto: non pubblicato',
    'Residents by age in years': 'Residenti per età in anni',
    'Residents aged 9 years or more by their highest educational level': 'Residenti di 9 anni e più per titolo di studio più alto',
    'Foreign residents': 'Residenti stranieri',
    'Households by number of members': 'Famiglie per numero di componenti',
    'Census section': 'Sezione di censimento',
    "The parcel's share of the total area of the census section's land parcels": 'Parte della superficie delle particelle di terreno della sezione',
  },
  evidence: {
    'population_total and all other numbers': 'Residenti e tutti gli altri conteggi',
    'census section that contains the representative point': 'sezione di censimento che contiene il punto rappresentativo',
    'numbers of the census section': 'dati della sezione di censimento',
    "share of the section's land": 'del terreno della sezione',
    persons: 'persone',
  },
});
