/** Defines the columns and fields of points that `sql/steps/placement.sql` placed on parcels. */
import { z } from 'zod';
import { quantity, truth } from './gate.ts';
import type { Column } from './section.ts';

export const PLACED: Readonly<Record<'inside' | 'distance_m', Column>> = {
  inside: { type: 'bool', description: 'True: the point is in the parcel or on its border', gate: truth },
  distance_m: {
    type: 'float8',
    description: 'Geodesic distance from the parcel in metres, 2 decimals; 0 inside the parcel',
    unit: 'm', gate: quantity({ within: [0, 15], moves: { step: 3, why: 'half of the points are inside the parcel or a few centimetres away' } }),
  },
};

/** Schema of the field that states how a point of interest was located. */
export const placedBy = z.enum(['coordinates', 'address'])
  .describe('coordinates: the published coordinates, which are in the stated comune; address: the only located access point with the stated street and number');
