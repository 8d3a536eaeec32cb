/** Land use of the Urban Atlas, its pieces for joins, the names of its classes, and the mapped urban areas. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  land_use_polygon: {
    description: 'Land use of the Urban Atlas 2018: polygons of 0.25 ha and more (1 ha outside the towns) that fill a functional urban area without overlaps, as published.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_land_use',
    columns: {
      fua_code: ['text not null', 'The publisher\'s code of the functional urban area: IT025L3.'],
      code: ['text not null', 'Class, 5 digits, 11100 to 50000.'],
      class: ['text', 'Name of the class as published; null if not published.'],
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The polygon made valid, EPSG:4326.'],
    },
    checks: { overlaps: [4, 33, 21, 49.5], pieces: 'land_use_piece' },
  },
  land_use_piece: {
    description: 'The same polygons cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one polygon do not overlap.',
    position: 'As in land_use_polygon. All pieces of an area have the same position.',
    columns: {
      code: ['text not null', 'As in land_use_polygon.'],
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
  land_use_class: {
    description: 'Names of the classes, each as first spelled in the member.',
    position: 'Number of the member\'s first feature of the class with a name.',
    columns: {
      code: ['text not null', 'As in land_use_polygon.'],
      class: ['text not null', 'As in land_use_polygon.'],
    },
  },
  urban_boundary: {
    description: 'Boundaries of the mapped functional urban areas. Outside them the land use is unknown.',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_urban_area',
    columns: {
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The boundary made valid, EPSG:4326.'],
    },
  },
  urban_boundary_piece: {
    description: 'The same boundaries cut into pieces of at most 256 vertices, for joins with parcels.',
    position: 'As in urban_boundary. All pieces of an area have the same position.',
    columns: {
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
};
