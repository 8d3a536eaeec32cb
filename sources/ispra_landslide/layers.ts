/** Landslide hazard areas of the PAI, pieces of these areas for joins, and the territory that the map covers. */
import { measuredArea, piecesOf, reachedRegions } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  landslide_hazard: {
    description: 'Landslide hazard areas of the ISPRA mosaic of the PAI. Areas of neighbouring basin authorities overlap and may have different classes. In an overlap, the highest class applies. The authorities\' scales are not harmonised.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_landslide_hazard',
    columns: {
      class: ['text', 'P4 very high, P3 high, P2 medium, P1 moderate, AA area of attention. Null: not determined by the publisher (Pn.d. or no text), which does not mean no hazard.'],
      label: ['text', 'Text of per_fr_ita as published; null if none.'],
      ...measuredArea('polygon'),
    },
    checks: { within: [6, 35, 19, 48], pieces: 'landslide_hazard_piece' },
  },
  landslide_hazard_piece: piecesOf('landslide_hazard', ['Areas', 'area'], {
    class: ['text', 'As in landslide_hazard.'],
  }),
  landslide_coverage: {
    description: 'Regions that the areas of each member cover. In other regions, the hazard outside the mapped areas is unknown.',
    position: 'Number of the first feature of the member.',
    columns: reachedRegions('an area'),
  },
};
