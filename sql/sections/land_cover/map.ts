/** Texts and layer of the section land_cover on the map. */
import { defineMap, FIRST_LEVEL_OF_LAND } from '../../../pipelines/contract/section-map.ts';
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
    classes: FIRST_LEVEL_OF_LAND,
    none: 'No class',
  },
});
