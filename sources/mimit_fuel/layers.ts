/** Fuel stations in the ministry's list. */
import { ADDRESS_COLUMNS, REGIONS_REACHED } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  station_id: ['text not null', 'idImpianto'],
  brand: ['text', 'Bandiera; null if not stated'],
  type: ['text', 'Tipo Impianto: Stradale, Autostradale; null if not stated'],
  name: ['text', 'Nome Impianto; null if not stated'],
  address: ['text', 'Indirizzo as published, often followed by the postal code; null if not stated'],
  comune: ['text', 'Comune as published; null if not stated'],
  province: ['text', 'Car plate code of the province as published, upper case; null if not stated'],
  region_code: ['int2', 'ISTAT region code of this plate code; null if no province has the plate code'],
  lat: ['float8', 'Latitude as reported; null if not stated'],
  lon: ['float8', 'Longitude as reported; null if not stated'],
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_fuel_station: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  fuel_station: {
    description: 'Active fuel stations (MIMIT), with the coordinates that they report. core.point_of_interest has the position of each station',
    position: 'Line of the file, from 1.',
    columns: {
      ...PUBLISHED,
      place: ['text not null', 'Province and comune as published, which are the place of the row. A newer part supersedes older parts with the same place'],
      ...REGIONS_REACHED,
    },
  },
};
