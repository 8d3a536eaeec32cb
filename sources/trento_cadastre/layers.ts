/** The cadastral map of Trento: parcels, further pieces of parcels, roofs, and the boundaries of comuni catastali (C.C.). */
import { LAND_REGISTER_COMUNE, LAND_REGISTER_NUMBER, publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  trento_parcel: {
    description: 'Parcels of the cadastral map of Trento, with their pieces merged',
    position: 'Number of the parcel\'s main piece (P) in its shapefile, from 1. If the parcel has no P, the number of its first piece.',
    columns: {
      ccat: ['text not null', 'Comune catastale, 3 digits'],
      ...LAND_REGISTER_NUMBER,
      reference: ['text not null', 'IT.TN.<ccat>.<code>; unique in a release'],
      roof: ['text', 'PT_FABB of the piece at this position: S under a roof, N not under a roof; null if not stated'],
      pieces: ['int4 not null', 'Number of pieces from which the parcel was merged'],
      drawn_area_m2: ['float8 not null', 'Area in the file\'s projection, square metres'],
      ...publishedPolygon('Polygon of the parcel'),
    },
    indexes: { 'parcels of a document': ['member_id'] },
  },
  trento_piece: {
    description: 'Further pieces of the parcels of Trento, in addition to the piece in trento_parcel. The area of a further piece is part of the area of the parcel',
    position: 'Number of the piece in its shapefile, from 1.',
    columns: {
      ccat: ['text not null', 'Comune catastale, 3 digits'],
      code: ['text not null', 'Number of the parcel to which the piece belongs'],
      roof: ['text', 'PT_FABB: S under a roof, N not under a roof; null if not stated'],
    },
  },
  trento_building: {
    description: 'Pieces of the parcels of Trento under a roof (PT_FABB S)',
    position: 'Number of the piece in its shapefile, from 1.',
    columns: {
      ccat: ['text not null', 'Comune catastale, 3 digits'],
      code: ['text not null', 'Number of the parcel to which the piece belongs'],
      reference: ['text not null', 'Reference of the parcel'],
      geom: ['geometry(multipolygon, 4326) not null', 'Polygon of the roof, EPSG:4326 longitude latitude'],
    },
    indexes: { 'roofs on parcels': ['geom'] },
  },
  trento_boundary: {
    description: 'Boundaries of the comuni catastali of Trento, with the comune of each boundary',
    position: 'Number of the record in its shapefile, from 1.',
    columns: {
      ccat: ['text not null', 'Comune catastale, 3 digits'],
      name: ['text not null', 'Italian name of the comune catastale, as published'],
      ...LAND_REGISTER_COMUNE,
      parcels: ['int4 not null', 'Number of parcels as stated (BD_SUMPART)'],
      drawn_area_m2: ['float8 not null', 'Area in the file\'s projection, square metres'],
      geom: ['geometry(multipolygon, 4326) not null', 'Polygon of the comune catastale, EPSG:4326 longitude latitude'],
    },
  },
};
