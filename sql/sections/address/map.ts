/** Texts and layer of the section address on the map. */
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
});
