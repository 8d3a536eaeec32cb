/** Section cultural_heritage: places of culture of a parcel. */
import { z } from 'zod';
import { nullable } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID, PLACED } from '../../../pipelines/contract/section.ts';

const culturalHeritage = z.array(z.strictObject({
  id: z.string().describe('Identifier as published'),
  name: z.string().describe('As published'),
  type: nullable(z.string(), 'As published: Museo, Biblioteca; null: not stated'),
  class: nullable(z.string(), 'Category as published; null: not stated'),
  address: nullable(z.string(), 'As published; null: not stated'),
  municipality: nullable(z.string(), 'Comune as published; null: not stated'),
  province: nullable(z.string(), 'Province as published, its name or car plate code; null: not stated'),
  catalog_code: nullable(z.string(), 'Code in the catalogue; null: not stated'),
  distance_m: z.number().min(0).max(15).describe('Geodesic distance from the parcel in metres, 0 inside the parcel'),
  placed_by: z.enum(['coordinates', 'address']).describe('coordinates: the published coordinates, which are in the stated comune; address: the only located access point with the stated street and number'),
})).max(20).meta({ id: 'CulturalHeritage', description: 'Places of culture inside the parcel, and those within 15 m that have no nearer land parcel, sorted by name' });

export default defineSection({
  name: 'cultural_heritage',
  position: 150,
  title: 'Cultural heritage',
  block: culturalHeritage,
  kinds: ['land'],
  coverage: 'meta',
  follows: ['core.point_of_interest'],
  tables: {
    'section.cultural_heritage': {
      description: 'Places of culture inside a parcel, and those within 15 m that have no nearer land parcel in their comune. At most 20 per parcel. No row: no known place. Places without a location are in section.unplaced',
      key: ['fid', 'ordinal'],
      columns: {
        fid: FID,
        ordinal: { type: 'int2', description: 'Position in the array, from 1: by name, then by identifier', gate: 'a position in a sorted list' },
        id: { type: 'text', description: 'Point (core.point_of_interest)', gate: 'a key' },
        ...PLACED,
      },
    },
  },
  flat: {
    count: { type: 'int4', of: 'length' }, id: { type: 'text', of: '0.id' }, name: { type: 'text', of: '0.name' },
    type: { type: 'text', of: '0.type' }, placed_by: { type: 'text', of: '0.placed_by' },
  },
});
