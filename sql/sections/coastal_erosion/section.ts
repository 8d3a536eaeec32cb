/** Section coastal_erosion: shoreline change near a parcel. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const coastalErosion = z.array(z.strictObject({
  dynamic: z.enum(['erosion', 'accretion', 'stable']).describe('Movement of the shore'),
  avg_change_m_year: nullable(z.number(), 'Negative: erosion; null: not published, and the shore is not stable'),
  severity_index: nullable(whole.min(0).max(4), 'Null: as avg_change_m_year'),
  distance_m: z.number().min(0).max(1000).describe('Geodesic distance from the parcel in metres'),
})).max(5).meta({ id: 'CoastalErosion', description: 'Shore segments within 1,000 m, nearest first' });

export default defineSection({
  name: 'coastal_erosion',
  position: 40,
  title: 'Coastal erosion',
  block: coastalErosion,
  kinds: ['land', 'road', 'water'],
  coverage: 'meta',
  tables: {
    'section.coastal_erosion': {
      description: 'Movement of the shore near a parcel, nearest segment first. No row: no segment of low coast with published data within 1,000 m',
      key: ['fid', 'ordinal'],
      columns: {
        fid: FID,
        ordinal: { type: 'int2', description: 'Position in the order by distance, 1–5', gate: 'a position in a sorted list' },
        dynamic: { type: 'text', description: 'erosion, accretion (more than 5 m between the surveys) or stable' },
        avg_change_m_year: {
          type: 'float8',
          description: 'Mean change of the shoreline, positive seaward, 2 decimals',
          unit: 'm/year', null: 'not published', gate: quantity({ within: [-100, 100], moves: { step: 0.5, why: 'most shores hardly move, so a change of 25 % is noise' } }),
        },
        severity_index: {
          type: 'int2',
          description: 'Class by the mean change in m/year: 0 if not negative, 1 above −0.5, 2 above −1, 3 above −2, else 4',
          null: 'mean change not published', gate: 'depends on the mean change',
        },
        distance_m: {
          type: 'float8',
          description: 'Distance from the parcel on the ellipsoid in metres, 2 decimals; 0 if the shore crosses the parcel',
          unit: 'm', gate: quantity({ within: [0, 1000] }),
        },
        may_be_cut: {
          type: 'bool', description: 'True: the segment is from an export that may be incomplete',
          gate: 'decreases when a complete file replaces the export; the gate compares the coverage in core.coast_coverage',
        },
      },
    },
  },
  flat: {
    count: { type: 'int4', of: 'length' }, dynamic: { type: 'text', of: '0.dynamic' },
    avg_change_m_year: { type: 'float8', of: '0.avg_change_m_year' }, severity_index: { type: 'int2', of: '0.severity_index' },
    distance_m: { type: 'float8', of: '0.distance_m' },
  },
});
