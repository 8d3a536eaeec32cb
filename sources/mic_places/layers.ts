/** Places of culture in the ministry's list. */
import { ADDRESS_COLUMNS, REGIONS_REACHED } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  place_id: ['text not null', 'Identifier as published'],
  name: ['text not null', 'Name'],
  type: ['text', 'Type as published: Museo, Biblioteca; null if not stated'],
  class: ['text', 'Category as published; null if not stated'],
  address: ['text', 'Address as published; null if not stated'],
  comune: ['text', 'Comune as published; null if not stated'],
  province: ['text', 'Name or car plate code of the province as published; null if not stated'],
  region_code: ['int2', 'ISTAT region code of the province; null if the province is not stated as a plate code'],
  lat: ['float8', 'Latitude as published; null if not stated'],
  lon: ['float8', 'Longitude as published; null if not stated'],
  catalog_code: ['text', 'Code in the catalogue; null if not stated'],
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_cultural_place: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  cultural_place: {
    description: 'Places of culture (MiC), with the coordinates as published. core.point_of_interest has the position of each place',
    position: 'Number of the last line of the record, from 1.',
    columns: {
      ...PUBLISHED,
      place: ['text not null', 'Province and comune as published, which are the place of the row. A newer part supersedes older parts with the same place'],
      ...REGIONS_REACHED,
    },
  },
};
