/** The cadastral map of Bolzano: parcels, further records of parcels, and their comuni catastali (C.C.). */
import { LAND_REGISTER_COMUNE, LAND_REGISTER_NUMBER, publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  bolzano_parcel: {
    description: 'Parcels of the cadastral map of Bolzano; records of the same C.C. and number are merged',
    position: 'Number of the parcel\'s first record in the layer, from 1.',
    columns: {
      ccat: ['text not null', 'Code of the comune catastale, as written'],
      ...LAND_REGISTER_NUMBER,
      reference: ['text not null', 'IT.BZ.<ccat>.<code>; unique in a file'],
      registered_area_m2: ['float8', 'Registered area in square metres; null if not stated. This area is not served; the served area is measured from the polygon'],
      pieces: ['int4 not null', 'Number of records that the parcel was merged from'],
      ...publishedPolygon('Polygon of the parcel'),
    },
    indexes: { 'parcels of a document': ['member_id'] },
  },
  bolzano_piece: {
    description: 'Further records of the parcels of Bolzano, after the first. The area of a further record is part of the area of the parcel',
    position: 'Number of the record in the layer, from 1.',
    columns: {
      ccat: ['text not null', 'Code of the comune catastale, as written'],
      code: ['text not null', 'Number of the parcel that the record belongs to'],
    },
  },
  bolzano_comune: {
    description: 'Comuni catastali of Bolzano, with the comune that most of their parcels name',
    position: 'Number of the first record that has the values of this row, from 1',
    columns: {
      ccat: ['text not null', 'Code of the comune catastale, as written'],
      name: ['text', 'Italian name of the comune catastale; null if the file has none'],
      ...LAND_REGISTER_COMUNE,
      parcels: ['int4 not null', 'Number of records that have the values of this row'],
    },
  },
};
