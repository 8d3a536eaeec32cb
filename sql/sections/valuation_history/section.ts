/** Section valuation_history: quotations of dwellings over the years, in the OMI zones of a parcel. */
import { z } from 'zod';
import { presence } from '../../../pipelines/contract/gate.ts';
import { belfiore, euroPerM2, euroPerM2Month, nullable, semester, source } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const valuationHistory = z.strictObject({
  zone_current: z.string().describe('OMI zone of the newest half-year'),
  municipality_code: belfiore,
  property_type: z.literal('Abitazioni civili').describe('Civil dwellings'),
  condition: z.literal('NORMALE').describe('Normal state of conservation'),
  semesters: z.array(z.strictObject({
    semester: semester.describe('Year and half-year'),
    zone: nullable(z.string(), 'Zone that contained the parcel in the half-year; null: the zone is unknown'),
    purchase: z.strictObject({ min_eur_m2: euroPerM2, max_eur_m2: euroPerM2, mid_eur_m2: euroPerM2 }).describe('Prices'),
    rental: z.strictObject({ min_eur_m2: euroPerM2Month, max_eur_m2: euroPerM2Month, mid_eur_m2: euroPerM2Month }).describe('Rents'),
    gross_yield_pct: nullable(z.number(), 'Annual rent in percent of the price; null: rent or price is not quoted'),
  })).min(22).max(22).describe('Oldest first. Includes half-years without a quotation'),
  source,
}).meta({ id: 'ValuationHistory', description: 'Quotations of the OMI zone over 22 half-years' });

const HALF_YEAR = 'a half-year; the gate does not compare rows of different half-years';

export default defineSection({
  name: 'valuation_history',
  position: 60,
  title: 'Property values since 2015',
  block: nullable(valuationHistory, 'Null: the parcel is in no OMI zone'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.valuation_history': {
      description: 'OMI zones of a parcel over 22 half-years. Each row is a run of half-years in one zone. There are no gaps between runs. No row: no current zone contains the representative point, or the parcel is a road or water',
      key: ['fid', 'since'],
      columns: {
        fid: FID,
        since: { type: 'int2', description: 'First half-year of the run: year × 2 + (half − 1)', gate: HALF_YEAR },
        until: { type: 'int2', description: 'Last half-year of the run', gate: HALF_YEAR },
        belfiore: { type: 'text', description: 'Comune of the current zone' },
        zona: { type: 'text', description: 'Current zone, with its name in the half-year of the quotations. If that name is unknown, the name that the perimeter states' },
        then_belfiore: { type: 'text', description: 'Comune of the zone in this run', null: 'no zone', gate: 'is null exactly if then_zona is null' },
        then_zona: {
          type: 'text',
          description: 'Zone in this run, found by the perimeters of the run\'s half-years. If the comune has no such perimeters, the zone with the same LinkZona',
          null: 'none', gate: presence(),
        },
        half_year: {
          type: 'int2',
          description: 'Newest half-year with quotations of the comune: year × 2 + (half − 1)',
          null: 'the zone of the perimeter was not found in the half-year of the quotations', gate: presence(),
        },
        perimeter_half_year: {
          type: 'int2',
          description: 'Half-year of the perimeter that currently contains the representative point',
          null: 'the parcel was published by a version of mappale that did not store the half-year', gate: HALF_YEAR,
        },
      },
    },
  },
  usual: true,
  flat: {
    zone_current: { type: 'text' }, semester: { type: 'text', of: 'semesters.21.semester' },
    purchase_min_eur_m2: { type: 'float8', of: 'semesters.21.purchase.min_eur_m2' },
    purchase_max_eur_m2: { type: 'float8', of: 'semesters.21.purchase.max_eur_m2' },
    purchase_mid_eur_m2: { type: 'float8', of: 'semesters.21.purchase.mid_eur_m2' },
    rental_min_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.min_eur_m2' },
    rental_max_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.max_eur_m2' },
    rental_mid_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.mid_eur_m2' },
    gross_yield_pct: { type: 'float8', of: 'semesters.21.gross_yield_pct' },
  },
});
