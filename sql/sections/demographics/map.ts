/** Texts and layer of the section demographics on the map. */
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
});
