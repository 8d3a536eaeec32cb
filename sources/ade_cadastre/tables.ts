import type { Columns } from '../../pipelines/contract/source.ts';

/**
 * Staging tables. A parcel's other names (belfiore, section, sheet, label, gml_id …) follow from its reference, and the
 * reader rejects parcels whose names contradict it. These names are therefore not staged. load.sql cuts them from the reference.
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
