/** Texts and layer of the section cultural_heritage on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

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
});
