/** Fuel stations in the ministry's list. */
import { ADDRESS_COLUMNS, PLACE_OF_POINT, pointLayer, PUBLISHED_COMUNE, PUBLISHED_POSITION } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  station_id: ['text not null', 'idImpianto'],
  brand: ['text', 'Bandiera; null if not stated'],
  type: ['text', 'Tipo Impianto: Stradale, Autostradale; null if not stated'],
  name: ['text', 'Nome Impianto; null if not stated'],
  address: ['text', 'Indirizzo as published, often followed by the postal code; null if not stated'],
  ...PUBLISHED_COMUNE,
  province: ['text', 'Car plate code of the province as published, upper case; null if not stated'],
  region_code: ['int2', 'ISTAT region code of this plate code; null if no province has the plate code'],
  ...PUBLISHED_POSITION,
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_fuel_station: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  fuel_station: pointLayer({
    description: 'Active fuel stations (MIMIT), with the coordinates that they report. core.point_of_interest has the position of each station',
    position: 'Line of the file, from 1.',
  }, PUBLISHED, PLACE_OF_POINT),
};
