/** Texts and layer of the section buildings on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['count'],
    words: {
      count: 'Buildings', footprint_m2: 'Footprint', residential_count: 'Residential buildings', residential_footprint_m2: 'Residential footprint', built_share: 'Share of the parcel built on',
      not_counted: 'Not counted',
    },
    units: { footprint_m2: 'm²', residential_footprint_m2: 'm²', built_share: 'share' },
  },
  layer: {
    group: 'land',
    title: 'Share of the parcel built on',
    value: 'built_share',
    classes: [
      { label: 'under 5 %', color: '#fdd0a2' }, { from: 0.05, label: '5 to 20 %', color: '#fdae6b' }, { from: 0.2, label: '20 to 40 %', color: '#f16913' },
      { from: 0.4, label: '40 to 70 %', color: '#c94701' }, { from: 0.7, label: '70 % or more', color: '#7f2704' },
    ],
    none: 'No building',
  },
});
