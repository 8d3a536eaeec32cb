/** Places of culture in the result of the query or in the ministry's list. */
import { ADDRESS_COLUMNS, PLACE_OF_POINT, pointLayer, PUBLISHED_COMUNE, PUBLISHED_POSITION } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  place_id: ['text not null', 'Identifier as published'],
  name: ['text not null', 'Name'],
  type: ['text', 'Type as published: Museo, Biblioteca; null if not stated'],
  class: ['text', 'Category as published; null if not stated'],
  address: ['text', 'Address as published; null if not stated'],
  ...PUBLISHED_COMUNE,
  province: ['text', 'Name or car plate code of the province as published; null if not stated'],
  region_code: ['int2', 'ISTAT region code of the province; null if the province is not stated as a plate code'],
  ...PUBLISHED_POSITION,
  catalog_code: ['text', 'Code in the catalogue; null if not stated'],
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_cultural_place: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  cultural_place: pointLayer({
    description: 'Places of culture (MiC), with the coordinates as published. core.point_of_interest has the position of each place',
    position: 'Number of the last line of the record, from 1.',
  }, PUBLISHED, PLACE_OF_POINT),
};
