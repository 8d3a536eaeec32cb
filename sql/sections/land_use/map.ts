/** Texts and drawing of section land_use on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';
import { ITALIAN_CLASSES } from './class-names.ts';

export default defineMap({
  panel: {
    words: { class: 'Class', code: 'Code', share: 'Share of the parcel', level1: 'First level', level2: 'Second level' },
    published: Object.keys(ITALIAN_CLASSES),
    units: { share: 'share' },
    codes: ['code', 'level1', 'level2'],
    first: ['class', 'share', 'code', 'level2', 'level1'],
  },
  layer: {
    group: 'land',
    title: 'Urban land use, first level',
    value: 'level1',
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
