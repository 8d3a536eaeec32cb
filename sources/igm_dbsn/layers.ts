/** Buildings of the national topographic database. */
import { FOOTPRINT } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  dbsn_building: {
    description: 'Buildings of the Database di sintesi nazionale (IGM).',
    position: 'Number of the feature in its layer, from 1.',
    areasOf: 'raw_dbsn_building',
    columns: {
      use: ['text', 'edifc_uso as published: codes starting with 01 are residential; null if none.'],
      type: ['text', 'edifc_ty as published; null if none.'],
      state: ['text', 'edifc_stat as published: 01 under construction, 02 ruin, 03 in use, 91 unknown; null if none.'],
      level: ['text', 'edifc_sot as published: 02 underground; null if none.'],
      name: ['text', 'edifc_nome; null if none or UNK.'],
      origin: ['text', 'meta_ist as published: the origin of IGM\'s data; 03, 21 and 23 are OpenStreetMap; null if none.'],
      counts: ['bool not null', 'False for a ruin, and for a building under construction or underground.'],
      residential: ['bool not null', 'True if the code of the use starts with 01.'],
      ...FOOTPRINT,
    },
    checks: { within: [6, 35, 19, 48], area: [1, 500_000] },
  },
  dbsn_extent: {
    description: 'Province of each layer of buildings, from the name of the geodatabase or of the file.',
    position: 'Number of the first feature of the member.',
    columns: {
      province: ['text', 'Name or car plate code of the province, normalised. This is the part before dbsn in the name of the geodatabase, otherwise in the name of the file; null if neither name has a province.'],
    },
  },
};
