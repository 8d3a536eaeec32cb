/** Who lives in the census section that a parcel lies in. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const people = nullable(whole.min(0), 'Null: not published');

const demographics = z.strictObject({
  population_total: nullable(z.number().min(0), 'Null: not published'),
  male: people,
  female: people,
  age_brackets: z.strictObject(Object.fromEntries([...Array.from({ length: 15 }, (_, index) => `${index * 5}_${index * 5 + 4}`), '75_plus'].map((key) => [key, people]))).describe('Residents by age in years'),
  education: z.strictObject({ no_title: people, elementary: people, middle_school: people, high_school: people, university: people })
    .describe('Residents of 9 years and more by their highest title'),
  employed: people,
  foreigners: z.strictObject({ total: people, eu: people, non_eu: people }).describe('Foreign residents'),
  households: z.strictObject({
    total: people, '1_member': people, '2_members': people, '3_members': people, '4_members': people, '5_members': people, '6_plus_members': people,
  }).describe('Households by number of members'),
  dwellings: people,
  section_id: z.string().describe('Census section'),
  parcel_share: nullable(z.number().min(0).max(1), 'Part of the area of the section\'s land parcels'),
  source,
}).meta({ id: 'Demographics', description: 'Figures of the whole census section that holds the parcel\'s representative point' });

export default defineSection({
  name: 'demographics',
  position: 80,
  title: 'Census 2021',
  block: nullable(demographics, 'Null: in no census section'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.demographics': {
      description: 'Census section that contains the representative point of each land parcel; roads and water have none. No row: the parcel lies in no section that is loaded',
      key: ['fid'],
      columns: {
        fid: FID,
        section_id: { type: 'text', description: 'SEZ21_ID of the section; its figures are in core.census_figures' },
        parcel_share: {
          type: 'float8',
          description: 'Area of the parcel divided by the area of all land parcels of the section, 0–1, 6 decimals',
          gate: quantity({ within: [0, 1] }),
        },
      },
    },
  },
  map: {
    words: { parcel_share: 'Parcel\'s share of the section', eu: 'EU', non_eu: 'non-EU' },
    first: ['population_total', 'male', 'female', 'age_brackets', 'foreigners', 'households', 'dwellings', 'employed', 'education', 'section_id', 'parcel_share'],
  },
});
