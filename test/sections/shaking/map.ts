/** Texts of the section shaking on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { ag_min: 'Least acceleration', ag_max: 'Greatest acceleration', corners: 'Corners' },
    units: { ag_min: 'g', ag_max: 'g' },
  },
});
