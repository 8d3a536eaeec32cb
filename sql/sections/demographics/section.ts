/** Section demographics: statistics of the census section that contains the representative point of a parcel. */
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
    .describe('Residents aged 9 years or more by their highest educational level'),
  employed: people,
  foreigners: z.strictObject({ total: people, eu: people, non_eu: people }).describe('Foreign residents'),
  households: z.strictObject({
    total: people, '1_member': people, '2_members': people, '3_members': people, '4_members': people, '5_members': people, '6_plus_members': people,
  }).describe('Households by number of members'),
  dwellings: people,
  section_id: z.string().describe('Census section'),
  parcel_share: nullable(z.number().min(0).max(1), "The parcel's share of the total area of the census section's land parcels"),
  source,
}).meta({ id: 'Demographics', description: "Statistics of the complete census section that contains the parcel's representative point" });

export default defineSection({
  name: 'demographics',
  position: 80,
  title: 'Census 2021',
  block: nullable(demographics, 'Null: the parcel is in no census section with published statistics'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.demographics': {
      description: 'Census section that contains the representative point of each land parcel. Roads and waters have no census section. No row: no loaded census section contains the point',
      key: ['fid'],
      columns: {
        fid: FID,
        section_id: { type: 'text', description: 'SEZ21_ID of the census section, whose statistics are in core.census_figures' },
        parcel_share: { type: 'float8', description: 'Area of the parcel divided by the area of all land parcels of the census section, 0–1, 6 decimals', gate: quantity({ within: [0, 1] }) },
      },
    },
  },
  flat: {
    population_total: { type: 'float8' }, male: { type: 'int4' }, female: { type: 'int4' },
    age_0_4: { type: 'int4', of: 'age_brackets.0_4' }, age_5_9: { type: 'int4', of: 'age_brackets.5_9' },
    age_10_14: { type: 'int4', of: 'age_brackets.10_14' }, age_15_19: { type: 'int4', of: 'age_brackets.15_19' },
    age_20_24: { type: 'int4', of: 'age_brackets.20_24' }, age_25_29: { type: 'int4', of: 'age_brackets.25_29' },
    age_30_34: { type: 'int4', of: 'age_brackets.30_34' }, age_35_39: { type: 'int4', of: 'age_brackets.35_39' },
    age_40_44: { type: 'int4', of: 'age_brackets.40_44' }, age_45_49: { type: 'int4', of: 'age_brackets.45_49' },
    age_50_54: { type: 'int4', of: 'age_brackets.50_54' }, age_55_59: { type: 'int4', of: 'age_brackets.55_59' },
    age_60_64: { type: 'int4', of: 'age_brackets.60_64' }, age_65_69: { type: 'int4', of: 'age_brackets.65_69' },
    age_70_74: { type: 'int4', of: 'age_brackets.70_74' }, age_75_plus: { type: 'int4', of: 'age_brackets.75_plus' },
    education_no_title: { type: 'int4', of: 'education.no_title' }, education_elementary: { type: 'int4', of: 'education.elementary' },
    education_middle_school: { type: 'int4', of: 'education.middle_school' }, education_high_school: { type: 'int4', of: 'education.high_school' },
    education_university: { type: 'int4', of: 'education.university' },
    employed: { type: 'int4' }, foreigners_total: { type: 'int4', of: 'foreigners.total' }, foreigners_eu: { type: 'int4', of: 'foreigners.eu' },
    foreigners_non_eu: { type: 'int4', of: 'foreigners.non_eu' },
    households_total: { type: 'int4', of: 'households.total' }, households_1_member: { type: 'int4', of: 'households.1_member' },
    households_2_members: { type: 'int4', of: 'households.2_members' }, households_3_members: { type: 'int4', of: 'households.3_members' },
    households_4_members: { type: 'int4', of: 'households.4_members' }, households_5_members: { type: 'int4', of: 'households.5_members' },
    households_6_plus_members: { type: 'int4', of: 'households.6_plus_members' },
    dwellings: { type: 'int4' }, section_id: { type: 'text' }, parcel_share: { type: 'float8' },
  },
});
