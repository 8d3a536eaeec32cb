import type { Columns } from '../../pipelines/contract/source.ts';

/**
 * Staging tables. The other names of a parcel (belfiore, section, sheet, label, gml_id) follow from the reference, and the reader rejects parcels
 * with contradicting names. These names are therefore not staged. load.sql derives them from the reference.
 */
export const tables = {
  raw_parcel: {
    reference: 'text not null',
    administrative_unit: 'text',
    file_belfiore: 'text',
    geom: 'geometry(multipolygon, 6706) not null',
  },
  raw_sheet: {
    reference: 'text not null',
    label: 'text not null',
    begin_date: 'date',
    end_date: 'date',
    scale_denominator: 'int4',
    administrative_unit: 'text',
    file_belfiore: 'text',
    geom: 'geometry(multipolygon, 6706) not null',
  },
} as const satisfies Record<string, Columns>;
