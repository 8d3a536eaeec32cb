/** Texts and layer of the section valuation on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { zone: 'OMI zone', zone_description: 'Description of the zone', zone_perimeter_semester: 'Half-year of the perimeter' },
    list: {
      note: 'Zone {zone}, {zone_description} {semester}',
      columns: {
        property_type: 'Property type', condition: 'Condition', 'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month',
        'rental.max_eur_m2': 'to',
      },
    },
  },
  layer: {
    group: 'value',
    title: 'Band of the market zone',
    value: 'fascia',
    classes: [
      { value: 'B', label: 'B, centre', color: '#440154' },
      { value: 'C', label: 'C, around the centre', color: '#3b528b' },
      { value: 'D', label: 'D, outskirts', color: '#21918c' },
      { value: 'E', label: 'E, suburbs', color: '#5ec962' },
      { value: 'R', label: 'R, rural', color: '#fde725' },
    ],
    none: 'In no market zone',
  },
});
