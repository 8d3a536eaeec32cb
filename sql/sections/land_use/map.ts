/** Texts and layer of the section land_use on the map. */
import { defineMap, FIRST_LEVEL_OF_LAND } from '../../../pipelines/contract/section-map.ts';
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
    classes: FIRST_LEVEL_OF_LAND,
    none: 'No class',
  },
});
