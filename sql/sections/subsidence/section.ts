/** Section subsidence: vertical ground motion of a parcel. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const subsidence = z.strictObject({
  velocity_mm_year: z.number().describe('Mean vertical velocity; negative: the ground sinks'),
  acceleration_mm_year2: z.number().describe('Mean vertical acceleration in mm/year²; positive: upwards'),
  cells: whole.min(1).describe('Measured 100 m cells under the parcel'),
  risk_class: whole.min(1).max(5).describe('From 1 (negligible) to 5 (very high), by the sinking speed'),
  risk_label: z.enum(['trascurabile', 'basso', 'medio', 'alto', 'elevato']).describe('Name of the class'),
  trend: z.enum(['stable', 'accelerating', 'decelerating']).describe('Acceleration compared with the direction of motion'),
  direction: z.enum(['stabile', 'subsidenza', 'sollevamento']).describe('Stable, sinking or rising'),
  source,
}).meta({ id: 'Subsidence', description: 'Vertical ground motion' });

export default defineSection({
  name: 'subsidence',
  position: 30,
  title: 'Ground motion',
  block: nullable(subsidence, 'Null: no cell under the parcel was measured'),
  kinds: ['land', 'road', 'water'],
  coverage: 'meta',
  reaches: 'points',
  tables: {
    'section.subsidence': {
      description: 'Vertical ground motion (EGMS L3): mean of the measured 100 m cells under the parcel, weighted by the shared area. No row: no cell under the parcel was measured, which does not mean that the ground is stable',
      key: ['fid'],
      columns: {
        fid: FID,
        velocity_mm_year: {
          type: 'float8',
          description: 'Mean vertical velocity, 2 decimals; negative: the ground sinks; positive: the ground rises',
          unit: 'mm/year', gate: quantity({ within: [-300, 300], moves: { step: 2, why: 'the ground hardly moves, so a change of 25 % is noise; at 2 mm/year the direction changes' } }),
        },
        acceleration_mm_year2: {
          type: 'float8',
          description: 'Mean vertical acceleration, 2 decimals; positive: upwards',
          unit: 'mm/year²', gate: quantity({ within: [-300, 300], moves: { step: 1, why: 'the ground hardly moves, so a change of 25 % is noise' } }),
        },
        cells: {
          type: 'int4',
          description: 'Number of measured cells under the parcel',
          gate: quantity({ within: [1, null], moves: { step: 2, why: 'most parcels cover one to three cells' } }),
        },
        risk_class: {
          type: 'int2',
          description: 'Class by the sinking speed (−velocity): 1 below 2 mm/year, 2 below 5, 3 below 10, 4 below 20, else 5',
          gate: 'depends on the velocity',
        },
        risk_label: { type: 'text', description: 'Name of the class: trascurabile, basso, medio, alto, elevato' },
        trend: {
          type: 'text',
          description: 'stable: |acceleration| is at most 0.1 mm/year²; accelerating: the acceleration has the direction of the motion, or the ground is at rest; decelerating: the acceleration has the opposite direction',
        },
        direction: { type: 'text', description: 'stabile: velocity from −2 to +2 mm/year, both included; else subsidenza or sollevamento' },
      },
    },
  },
  usual: true,
  flat: {
    velocity_mm_year: { type: 'float8' }, acceleration_mm_year2: { type: 'float8' }, cells: { type: 'int4' }, risk_class: { type: 'int2' },
    risk_label: { type: 'text' }, trend: { type: 'text' }, direction: { type: 'text' },
  },
});
