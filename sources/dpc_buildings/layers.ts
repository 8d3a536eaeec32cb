/** Footprints of structural aggregates. */
import { FOOTPRINT } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  dpc_building: {
    description: 'Structural aggregates of the Dipartimento della Protezione Civile: adjoining buildings, drawn as one polygon. The use of the buildings is not stated.',
    position: 'Number of the feature in its shapefile, from 1.',
    areasOf: 'raw_dpc_building',
    columns: {
      aggregate_id: ['text not null', 'IDAG as published: region, comune and number, as a text of 20 digits.'],
      istat_code: ['text not null', 'ISTAT code of the comune at the time of the survey, 6 digits, text. The code is part of IDAG.'],
      ...FOOTPRINT,
    },
    checks: { within: [6, 35, 19, 48], area: [1, 500_000] },
  },
};
