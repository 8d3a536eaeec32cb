/** Texts and drawing of section land_cover on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';
import { ENGLISH_CLASSES } from './class-names.ts';

export default defineMap({
  panel: {
    summary: ['description'],
    words: { description: 'Land cover', code: 'Code', share: 'Share of the parcel', subclass: 'Second level', class: 'First level' },
    values: ENGLISH_CLASSES,
    units: { share: 'share' },
    codes: ['code', 'class', 'subclass'],
    first: ['description', 'share', 'code', 'subclass', 'class'],
  },
  layer: {
    group: 'land',
    title: 'Land cover, first level',
    value: 'class',
    classes: [
      { value: '1', label: '1, artificial', color: '#d55e00' },
      { value: '2', label: '2, agricultural', color: '#f0e442' },
      { value: '3', label: '3, forest and semi-natural', color: '#009e73' },
      { value: '4', label: '4, wetlands', color: '#cc79a7' },
      { value: '5', label: '5, water', color: '#0072b2' },
    ],
    none: 'No class',
  },
});
