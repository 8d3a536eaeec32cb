/** Section buildings: the buildings on a parcel. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, share, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const buildings = z.strictObject({
  count: whole.min(0).describe('Number of buildings whose largest part is on the parcel'),
  footprint_m2: z.number().min(0).describe('Sum of the areas of buildings on the parcel, m²; where buildings overlap, the area counts for each of them'),
  residential_count: nullable(whole.min(0), 'Null: the source has no uses of buildings'),
  residential_footprint_m2: nullable(z.number().min(0), 'Footprint of residential buildings, m²; null: the source has no uses of buildings'),
  built_share: share.describe('Share of the parcel under buildings; overlaps count once'),
  source,
}).meta({ id: 'Buildings', description: 'Buildings on the parcel, without ruins, underground buildings and buildings under construction' });

const FEW = 'a parcel has few buildings, so one building can be a change of 25 %';

export default defineSection({
  name: 'buildings',
  position: 110,
  title: 'Buildings',
  block: nullable(buildings, 'Null: no building'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.buildings': {
      description: 'Buildings on each land parcel. No row: no building shares at least 1 m² with the parcel (for parcels below 2 m²: half of the parcel), or no source covers the comune (core.building_coverage)',
      key: ['fid'],
      columns: {
        fid: FID,
        count: { type: 'int4', description: 'Number of buildings whose largest part is on the parcel. If the largest parts are equal, the building counts on the parcel with the smaller fid', gate: quantity({ within: [0, null], moves: { step: 2, why: FEW } }) },
        footprint_m2: {
          type: 'float8', description: 'Sum of the areas that each building shares with the parcel, EPSG:3035, 2 decimals', unit: 'm²',
          gate: quantity({ within: [0, null], typical: [10, 2000] }),
        },
        residential_count: {
          type: 'int4', description: 'Number of buildings with a residential use, among the buildings in the column count', null: 'the source of the comune has no uses of buildings', gate: presence({ within: [0, null] }),
        },
        residential_footprint_m2: {
          type: 'float8', description: 'Part of footprint_m2 under buildings with a residential use, 2 decimals', unit: 'm²', null: 'as residential_count', gate: presence({ within: [0, null] }),
        },
        built_share: {
          type: 'float8', description: 'Share of the parcel under buildings, 0–1, 6 decimals; overlaps count once',
          gate: quantity({ within: [0, 1], moves: { step: 0.1, why: 'most parcels have a share near 0 or near 1, so a small change can move the median by more than 25 %' } }),
        },
        roof_count: { type: 'int4', description: 'Number of buildings with a footprint of at least 10 m², among the buildings in the column count', gate: 'as count' },
        roof_area_m2: { type: 'float8', description: 'Complete footprints of the buildings in roof_count, including parts outside the parcel, 6 decimals', unit: 'm²', gate: 'as footprint_m2' },
      },
    },
  },
  usual: true,
  flat: {
    count: { type: 'int4' }, footprint_m2: { type: 'float8' }, residential_count: { type: 'int4' }, residential_footprint_m2: { type: 'float8' },
    built_share: { type: 'float8' },
  },
});
