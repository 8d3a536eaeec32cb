/** Peak ground acceleration at the nodes of a regular grid. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  pga_node: {
    description: 'MPS04: peak ground acceleration with 10 % probability of being exceeded in 50 years, on rock (Vs30 > 800 m/s), median. Sardinia and the small islands are not covered, so a missing node there does not mean low hazard.',
    position: 'Line number in the file; the header is line 1.',
    columns: {
      ix: ['int4 not null', 'Column of the node: round(lon / spacing_deg).'],
      iy: ['int4 not null', 'Row of the node: round(lat / spacing_deg).'],
      lon: ['float8 not null', 'Longitude, degrees of ED50 (EPSG:4230), as published.'],
      lat: ['float8 not null', 'Latitude, degrees of ED50 (EPSG:4230), as published.'],
      ag_g: ['float8 not null', 'Acceleration in g.'],
      spacing_deg: ['float8 not null', 'Step of the grid in degrees, the same in the whole file: 0.02, or 0.05 in the coarser grid.'],
    },
  },
};
