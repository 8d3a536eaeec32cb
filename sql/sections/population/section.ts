/** Section population: residents of a parcel, estimated from its census section. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const residents = z.number().min(0);

const population = z.strictObject({
  estimated: residents.describe('Estimated residents: dasymetric if known, else areal'),
  dasymetric: nullable(residents, 'Residents of the parcel: the residents of the census section, distributed by residential footprint; null: there is no residential footprint, or the uses of the buildings are unknown'),
  areal: residents.describe('Residents of the parcel: the residents of the census section, distributed by area of the land parcels'),
  estimation_method: z.enum(['dasymetric', 'areal']).describe('Method by which estimated was computed'),
  estimation_confidence: nullable(z.number().min(0).max(1), "Agreement of the census section's residents per household with the comune's mean, 0.1–0.9, halved for method areal; null: the census section has no residents"),
  municipality_total: nullable(whole.min(0), 'Residents of the comune, including homeless people; null: not published'),
  source,
}).meta({ id: 'Population', description: 'Estimated residents. The estimates of the parcels in a census section add up to the residents of the census section' });

/** Limits of the gate for estimates of single parcels. */
const PERSONS = quantity({ within: [0, null], moves: { step: 2, why: 'a parcel has few residents, so one person can be a change of 25 %' } });

export default defineSection({
  name: 'population',
  position: 120,
  title: 'Population',
  block: nullable(population, 'Null: the parcel is in no census section with published statistics'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.population': {
      description: 'Residents of each land parcel, estimated from its census section (section.demographics). No row: the parcel is in no census section with published statistics',
      key: ['fid'],
      columns: {
        fid: FID,
        section_id: { type: 'text', description: 'SEZ21_ID of the census section' },
        estimated: { type: 'float8', description: 'Residents, 2 decimals: dasymetric if known, else areal. The estimates of the parcels in a census section add up to the residents of the census section', gate: PERSONS },
        dasymetric: {
          type: 'float8', description: 'Residents of the parcel: the residents of the census section, distributed by residential footprint, 2 decimals',
          null: 'the census section has no residential footprint, or the source of buildings has no uses in one of the section\'s comuni', gate: presence({ within: [0, null] }),
        },
        areal: { type: 'float8', description: 'Residents of the parcel: the residents of the census section, distributed by area of the land parcels, 2 decimals', gate: PERSONS },
        estimation_method: { type: 'text', description: 'dasymetric or areal' },
        estimation_confidence: {
          type: 'float8',
          description: '1 minus the relative difference between residents and households × mean household size of the comune; limited to 0.1–0.9, halved for areal; 4 decimals',
          null: 'the census section has no residents', gate: quantity({ within: [0.05, 0.9], moves: { step: 0.2, why: 'census sections differ, so small changes are noise' } }),
        },
        municipality_total: { type: 'int4', description: 'Residents of all census sections of the comune, including fictitious sections', null: 'not published', gate: quantity({ within: [0, null] }) },
      },
    },
  },
  flat: {
    estimated: { type: 'float8' }, dasymetric: { type: 'float8' }, areal: { type: 'float8' }, estimation_method: { type: 'text' },
    estimation_confidence: { type: 'float8' }, municipality_total: { type: 'int4' },
  },
});
