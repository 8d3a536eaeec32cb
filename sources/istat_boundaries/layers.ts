/** Boundaries of comuni, provinces and regions. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  boundary: {
    description: 'Boundaries of comuni, provinces and regions (ISTAT)',
    position: 'Number of the record in its layer, from 1.',
    columns: {
      kind: ['text not null', 'comune, provincia or regione'],
      code: ['text not null', 'ISTAT code as of the vintage, text: comune 6 digits; provincia 3 digits (UTS; metropolitan cities 2xx, in older editions the province); regione 2 digits'],
      belfiore: ['text', 'Cadastral code of the comune; null if the file has none (all files except GeoJSON)'],
      name: ['text not null', 'Name as published; the Italian name for comuni'],
      vintage: ['text not null', 'Day or year of the edition; 0000 if the file states none'],
      area_m2: ['float8 not null', 'Area in square metres, measured in EPSG:3035'],
      made_valid: ['bool not null', 'True if the published polygon was invalid and was repaired'],
      geom: ['geometry(multipolygon, 4326) not null', 'Polygon, EPSG:4326 longitude latitude'],
    },
    indexes: { 'the unit at a point': ['geom'], 'the boundary of a code': ['kind', 'code'] },
  },
};
