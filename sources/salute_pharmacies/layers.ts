/** Pharmacies in the ministry's list, including closed pharmacies. */
import { ADDRESS_COLUMNS, pointLayer, PUBLISHED_COMUNE, PUBLISHED_POSITION } from '../../pipelines/address/point-address.ts';
import { stagedColumns, type Columns, type Layers, type SharedColumns } from '../../pipelines/contract/source.ts';

const PUBLISHED = {
  pharmacy_id: ['text not null', 'cod_farmacia. A pharmacy that moved has several rows, and at most one of these rows is open'],
  name: ['text not null', 'descrizione_farmacia'],
  address: ['text', 'indirizzo; null if not stated'],
  istat_code: ['text not null', 'ISTAT code of the comune or of a former comune, 6 digits, text'],
  ...PUBLISHED_COMUNE,
  type: ['text', 'descrizione_tipologia: Ordinaria, Succursale, Dispensario; null if not stated'],
  opened_on: ['date', 'data_inizio_validita; null if not stated'],
  closed_on: ['date', 'data_fine_validita; null if none'],
  open: ['bool not null', 'False if closed_on is not later than the day of the file. Closed pharmacies are not served'],
  ...PUBLISHED_POSITION,
  ...ADDRESS_COLUMNS,
} as const satisfies SharedColumns;

export const raw_pharmacy: Columns = stagedColumns(PUBLISHED);

export const layers: Layers = {
  pharmacy: pointLayer({
    description: 'Open and closed pharmacies (Ministero della Salute), with the coordinates as published. core.point_of_interest has the position of each pharmacy',
    position: 'Line of the file, from 1.',
  }, PUBLISHED),
};
