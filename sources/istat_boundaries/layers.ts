/** Boundaries of comuni, provinces and regions. */
import { publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  boundary: {
    description: 'Boundaries of comuni, provinces and regions (ISTAT)',
    position: 'Number of the record in its layer, from 1.',
    columns: {
      kind: ['text not null', 'comune, provincia or regione'],
      code: ['text not null', 'ISTAT code as of the vintage, text. The code of a comune has 6 digits and that of a regione has 2 digits. The code of a provincia has 3 digits and is the statistical code COD_UTS (2xx for metropolitan cities). In editions without COD_UTS, the code of a provincia is COD_PROV or COD_PRO'],
      belfiore: ['text', 'Cadastral code of the comune; null if the file has none (only GeoJSON has codes)'],
      name: ['text not null', 'Name as published; for comuni, the Italian name'],
      vintage: ['text not null', 'Day or year of the edition; 0000 if the file states none'],
      area_m2: ['float8 not null', 'Area in square metres, measured in EPSG:3035'],
      ...publishedPolygon('Polygon'),
    },
    indexes: { 'the unit at a point': ['geom'], 'the boundary with a given code': ['kind', 'code'] },
  },
};
