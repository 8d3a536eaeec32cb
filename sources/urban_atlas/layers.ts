/** Land use of the Urban Atlas, its pieces for joins, the names of its classes, and the mapped urban areas. */
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
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The polygon after a repair if it was invalid, EPSG:4326.'],
    },
    checks: { overlaps: [4, 33, 21, 49.5], pieces: 'land_use_piece' },
  },
  land_use_piece: {
    description: 'Polygons of land_use_polygon, cut into pieces of at most 256 vertices for joins with parcels. Pieces of one polygon do not overlap.',
    position: 'Position of the polygon in land_use_polygon, the same for all pieces of the polygon.',
    columns: {
      code: ['text not null', 'As in land_use_polygon.'],
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
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
    columns: {
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The boundary after a repair if it was invalid, EPSG:4326.'],
    },
  },
  urban_boundary_piece: {
    description: 'Boundaries of urban_boundary, cut into pieces of at most 256 vertices for joins with parcels.',
    position: 'Position of the boundary in urban_boundary, the same for all pieces of the boundary.',
    columns: {
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
};
