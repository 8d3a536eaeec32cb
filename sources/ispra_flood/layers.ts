/** Flood hazard areas, their pieces for joins, and the area that each scenario covers. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  flood_hazard: {
    description: 'Flood hazard areas of the ISPRA mosaic (D.Lgs. 49/2010). The classes are nested: an area of P3 is also in P2 and P1, so their areas must not be added up.',
    position: 'Number of the feature in its shapefile, from 1.',
    areasOf: 'raw_flood_hazard',
    columns: {
      class: ['text not null', 'P3: floods of 20–50 years; P2: 100–200 years; P1: 200–500 years or extreme; HPH: an area whose class is missing from both the text and the file name.'],
      scenario: ['text', 'Text that states the class, verbatim; null if none, then the class is that of the file.'],
      area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
      geom: ['geometry(multipolygon, 4326) not null', 'The polygon made valid, EPSG:4326, with up to some million vertices. Join with flood_hazard_piece instead.'],
    },
    checks: { within: [6, 35, 19, 48], pieces: 'flood_hazard_piece' },
  },
  flood_hazard_piece: {
    description: 'The same areas cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one area do not overlap.',
    position: 'Number of the area, as in flood_hazard; the pieces of one area share the number.',
    columns: {
      class: ['text not null', 'As in flood_hazard.'],
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  },
  flood_coverage: {
    description: 'Scenarios of each member, the regions that they cover, and the provinces where they were not mapped. In such a province the class is unknown at a place outside all areas.',
    position: 'Number of the first feature of the class in the member.',
    columns: {
      class: ['text not null', 'P1, P2 or P3; HPH for areas without a class, which map no scenario.'],
      missing_provinces: ['text[] not null', 'ISTAT codes (3 digits) of the provinces where the authorities delivered no map of this scenario; empty if mapped everywhere.'],
      regions: ['int2[] not null', 'ISTAT codes of the regions whose boxes (core.region_box) an area of the class overlaps.'],
    },
  },
};
