/** Texts and layer of the section poi on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

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
});
