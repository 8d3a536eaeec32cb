/** Postal codes of comuni, and their areas. */
import { publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  comune_postal_code: {
    description: 'Postal codes (CAP) of comuni from the operator\'s file, which is not an official list',
    position: 'Line number in the CSV, or number of the pair in the JSON, from 1.',
    columns: {
      edition: ['text not null', 'Edition in the file name; 0000 if the name has no edition'],
      belfiore: ['text', 'Cadastral code of the comune; null if the file has only the ISTAT code'],
      istat_code: ['text', 'ISTAT code of the comune, 6 digits; null if the file has only the cadastral code'],
      cap: ['text not null', 'Postal code, 5 digits, text'],
    },
  },
  postal_code_area: {
    description: 'Areas of postal codes from the operator\'s file; there are no official areas',
    position: 'Number of the feature in the file, from 1.',
    columns: {
      edition: ['text not null', 'Edition in the file name; 0000 if the name has no edition'],
      cap: ['text not null', 'Postal code, 5 digits, text'],
      ...publishedPolygon('Polygon'),
    },
  },
};
