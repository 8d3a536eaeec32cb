/** Landslide hazard areas of the PAI, their pieces for joins, and the area that they cover. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  landslide_hazard: {
    description: 'Landslide hazard areas of the ISPRA mosaic of the PAI. Areas of neighbouring basin authorities overlap and disagree. The worst class counts. The authorities\' scales are not harmonised.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_landslide_hazard',
    columns: {
      class: ['text', 'P4 very high, P3 high, P2 medium, P1 moderate, AA area of attention; null: not determined by the publisher (Pn.d. or no text), which does not mean none.'],
      label: ['text', 'per_fr_ita verbatim; null if none.'],
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The polygon made valid, EPSG:4326.'],
    },
    checks: { within: [6, 35, 19, 48], pieces: 'landslide_hazard_piece' },
  },
  landslide_hazard_piece: {
    description: 'The same areas cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one area do not overlap.',
    position: 'As in landslide_hazard. Pieces of one area share it.',
    columns: {
      class: ['text', 'As in landslide_hazard.'],
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
  landslide_coverage: {
    description: 'Regions that the areas of each member cover. Outside them a place without an area is not free of landslides: its hazard is unknown.',
    position: 'Number of the member\'s first feature.',
    columns: {
      regions: ['int2[] not null', 'ISTAT codes of the regions whose boxes (core.region_box) an area overlaps.'],
    },
  },
};
