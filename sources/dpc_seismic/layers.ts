/** The seismic zone of each comune. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  seismic_zone: {
    description: 'Seismic classification of comuni (Dipartimento della Protezione Civile)',
    position: 'Line of the file, from 1.',
    columns: {
      istat_code: ['text not null', 'ISTAT code of the comune in the year of the edition, 6 digits, text'],
      name: ['text not null', 'Name of the comune as published'],
      sigla: ['text', 'Car plate code of the province; null if the edition has none'],
      region_name: ['text not null', 'Name of the region as published'],
      label: ['text not null', 'Label of the zone as published, with subzones. The label has several zones if the comune is divided: 2A-3A-3B'],
      zone: ['int2 not null', 'Most severe zone of the label, from 1 (highest hazard) to 4'],
    },
    indexes: { 'the seismic zone of a parcel\'s comune': ['istat_code'] },
  },
};
