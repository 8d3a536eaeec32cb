/** Land use of the Urban Atlas, its pieces for joins, the names of its classes, and the mapped urban areas. */
import { measuredArea, piecesOf } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  land_use_polygon: {
    description: 'Land use of the Urban Atlas 2018: polygons of at least 0.25 ha (1 ha outside towns), as published. The polygons fill a functional urban area without overlaps.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_land_use',
    columns: {
      fua_code: ['text not null', 'The publisher\'s code of the functional urban area, such as IT025L3.'],
      code: ['text not null', 'Class of the land use, 5 digits, 11100 to 50000.'],
      class: ['text', 'Name of the class as published; null if not published.'],
      ...measuredArea('polygon'),
    },
    checks: { overlaps: [4, 33, 21, 49.5], pieces: 'land_use_piece' },
  },
  land_use_piece: piecesOf('land_use_polygon', ['Polygons', 'polygon'], {
    code: ['text not null', 'As in land_use_polygon.'],
  }),
  land_use_class: {
    description: 'Names of the classes in a member. If a name has several spellings, the first spelling is used.',
    position: 'Number of the member\'s first feature that has the class and a name.',
    columns: {
      code: ['text not null', 'As in land_use_polygon.'],
      class: ['text not null', 'As in land_use_polygon.'],
    },
  },
  urban_boundary: {
    description: 'Boundaries of the mapped functional urban areas. Outside these areas, the land use is unknown.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_urban_area',
    columns: measuredArea('boundary'),
  },
  urban_boundary_piece: piecesOf('urban_boundary', ['Boundaries', 'boundary']),
};
