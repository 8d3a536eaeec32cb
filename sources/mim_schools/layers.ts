/** Schools in the ministry's lists. */
import { ADDRESS_COLUMNS, pointLayer, PUBLISHED_COMUNE } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  kind: ['text not null', 'Code of the list: STAT for state schools, PAR for private schools; AUTSTAT and AUTPAR for Aosta, Trento and Bolzano'],
  school_year: ['text not null', 'ANNOSCOLASTICO, 2024_2025'],
  region_code: ['int2', 'ISTAT region code of REGIONE; null if no region has this name'],
  province: ['text', 'Name of the province as published; null if not stated'],
  school_id: ['text not null', 'CODICESCUOLA, upper case'],
  name: ['text not null', 'DENOMINAZIONESCUOLA'],
  address: ['text', 'INDIRIZZOSCUOLA; null if not stated'],
  belfiore: ['text not null', 'Cadastral code of the comune as published, in some cases of a former comune'],
  ...PUBLISHED_COMUNE,
  type: ['text', 'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA: SCUOLA PRIMARIA; null if not stated'],
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_school: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  school: pointLayer({
    description: 'State and private schools (MIM), published without coordinates. core.point_of_interest has the position of each school',
    position: 'Number of the last line of the record, from 1.',
  }, PUBLISHED),
};
