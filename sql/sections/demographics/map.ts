/** Map layer of the section demographics, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      population_total: 'Residents', male: 'Male', female: 'Female', age_brackets: 'Age', '0_4': '0–4', '5_9': '5–9', '10_14': '10–14', '15_19': '15–19', '20_24': '20–24',
      '25_29': '25–29', '30_34': '30–34', '35_39': '35–39', '40_44': '40–44', '45_49': '45–49', '50_54': '50–54', '55_59': '55–59', '60_64': '60–64', '65_69': '65–69', '70_74': '70–74', '75_plus': '75 and more',
      education: 'Education', no_title: 'no title', elementary: 'elementary school', middle_school: 'middle school', high_school: 'high school', university: 'university', employed: 'Employed',
      foreigners: 'Foreigners', total: 'total', eu: 'EU', non_eu: 'non-EU', households: 'Households', '1_member': '1 member', '2_members': '2 members', '3_members': '3 members',
      '4_members': '4 members', '5_members': '5 members', '6_plus_members': '6 or more members', dwellings: 'Dwellings', section_id: 'Census section',
      parcel_share: 'Parcel\'s share of the census section',
    },
    units: { parcel_share: 'share', population_total: 'persons' },
    first: ['population_total', 'male', 'female', 'age_brackets', 'foreigners', 'households', 'dwellings', 'employed', 'education', 'section_id', 'parcel_share'],
  },
  layer: {
    group: 'people',
    title: 'Residents of the census section',
    value: 'population_total',
    unit: 'persons',
    classes: [
      { color: '#dcd6f7' }, { from: 1, color: '#bcbddc' }, { from: 50, color: '#9e9ac8' }, { from: 150, color: '#807dba' }, { from: 300, color: '#6a51a3' },
      { from: 600, color: '#3f007d' },
    ],
    none: 'In no census section',
  },
  italian: {
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
      'statistics of the census section': 'dati della sezione di censimento',
      "share of the section's land": 'del terreno della sezione',
      persons: 'persone',
    },
  },
});
