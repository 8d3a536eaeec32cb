/** CORINE land cover: polygons, their pieces for joins, the names of the classes, and the covered area. */
import { measuredArea, piecesOf, reachedRegions } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  land_cover_polygon: {
    description: 'CORINE Land Cover 2018 in and around Italy: polygons of at least 25 ha without gaps or overlaps, as published. Polygons outside Italy are skipped.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_land_cover',
    columns: {
      clc_id: ['text', 'The publisher\'s identifier of the polygon; null if the file has none.'],
      code: ['text not null', 'Class of the third level, 3 digits, 111 to 523.'],
      ...measuredArea('polygon'),
    },
    checks: { overlaps: [4, 33, 21, 49.5], pieces: 'land_cover_piece' },
  },
  land_cover_piece: piecesOf('land_cover_polygon', ['Polygons', 'polygon'], {
    code: ['text not null', 'As in land_cover_polygon.'],
  }),
  land_cover_class: {
    description: 'Names of the classes that occur in a member.',
    position: 'Number of the member\'s first feature of the class.',
    columns: {
      code: ['text not null', 'As in land_cover_polygon.'],
      description: ['text not null', 'Name of the class in the Italian nomenclature.'],
    },
  },
  land_cover_reach: {
    description: 'Area that the polygons of a member cover. Outside this area, the land cover is unknown.',
    position: 'Number of the first kept feature of the member.',
    columns: reachedRegions('a polygon'),
  },
};
