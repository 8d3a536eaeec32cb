/** Section poi: schools, pharmacies and fuel stations of a parcel. */
import { z } from 'zod';
import { latitude, longitude, nullable } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID, PLACED } from '../../../pipelines/contract/section.ts';

const poi = z.array(z.strictObject({
  id: z.string().describe('Category and the publisher\'s code, such as school:CBEE000001, pharmacy:123 or fuel:456'),
  name: z.string().describe('As published'),
  category: z.enum(['school', 'pharmacy', 'fuel']).describe('List that contains the point: schools, open pharmacies or fuel stations'),
  categories: nullable(z.string(), 'Kind as published, such as SCUOLA PRIMARIA, Ordinaria or Stradale; null: not stated'),
  address: nullable(z.string(), 'As published; null: not stated'),
  locality: nullable(z.string(), 'Comune as published; null: not stated'),
  coordinates: z.strictObject({ lat: latitude, lng: longitude }).describe('7 decimals'),
  placed_by: z.enum(['coordinates', 'address']).describe('coordinates: the published coordinates, which are in the stated comune; address: the only located access point with the stated street and number'),
})).max(50).meta({ id: 'PointsOfInterest', description: 'Schools, open pharmacies and fuel stations inside the parcel, and those within 15 m that have no nearer land parcel' });

export default defineSection({
  name: 'poi',
  position: 160,
  title: 'Points of interest',
  block: poi,
  kinds: ['land'],
  coverage: 'meta',
  follows: ['core.point_of_interest'],
  tables: {
    'section.poi': {
      description: 'Schools, open pharmacies and fuel stations inside a parcel, and those within 15 m that have no nearer land parcel in their comune. At most 50 per parcel. No row: no known point. Points without a location are in section.unplaced',
      key: ['fid', 'ordinal'],
      columns: {
        fid: FID,
        ordinal: { type: 'int2', description: 'Position in the array, from 1: by category, name and id', gate: 'a position in a sorted list' },
        id: { type: 'text', description: 'Point (core.point_of_interest)', gate: 'a key' },
        ...PLACED,
      },
    },
  },
  flat: {
    count: { type: 'int4', of: 'length' }, id: { type: 'text', of: '0.id' }, name: { type: 'text', of: '0.name' },
    category: { type: 'text', of: '0.category' },
  },
});
