/** Section valuation: real estate quotations of a parcel's OMI zone. */
import { z } from 'zod';
import { presence } from '../../../pipelines/contract/gate.ts';
import { euroPerM2, euroPerM2Month, nullable, semester, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const purchase = z.strictObject({ min_eur_m2: euroPerM2, max_eur_m2: euroPerM2 }).describe('Prices');
const rental = z.strictObject({ min_eur_m2: euroPerM2Month, max_eur_m2: euroPerM2Month }).describe('Rents');

const valuation = z.array(z.strictObject({
  zone: z.string().describe('OMI zone'),
  fascia: nullable(z.string(), 'Band, from B (central) to R (rural)'),
  microzona: nullable(whole, 'Null: not published'),
  zone_description: nullable(z.string(), 'Null: not published'),
  municipality: z.string().describe('Name (cadastral code)'),
  property_type: z.string().describe('As published, such as Abitazioni civili or Negozi'),
  condition: nullable(z.string(), 'State of conservation; null: not published'),
  purchase,
  rental,
  previous_semester: z.strictObject({ purchase, rental }).describe('Quotations of the half-year before'),
  semester: semester.describe('Newest half-year with quotations of the comune'),
  zone_perimeter_semester: nullable(semester, 'Half-year of the perimeter that contains the parcel; null: published by a version that did not store it'),
})).meta({ id: 'Valuation', description: 'Quotations of the OMI zone, one element per type and state' });

export default defineSection({
  name: 'valuation',
  position: 50,
  title: 'Property values (OMI)',
  block: valuation,
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.valuation': {
      description: 'OMI zone of a parcel in the newest half-year and in the half-year before. The quotations are in core.quotation. No row: no zone contains the representative point, the zone is unknown, or the parcel is a road or water',
      key: ['fid'],
      columns: {
        fid: FID,
        belfiore: { type: 'text', description: 'Comune of the zone, as published by OMI' },
        zona: { type: 'text', description: 'Zone in the half-year of the quotations. If this zone is unknown, the zone of the perimeter' },
        half_year: {
          type: 'int2',
          description: 'Newest half-year with quotations of the comune: year × 2 + (half − 1)',
          null: 'the zone of the perimeter was not found in this half-year', gate: presence(),
        },
        previous_belfiore: { type: 'text', description: 'Comune of the zone in the half-year before', null: 'no zone in this half-year', gate: 'there with previous_zona' },
        previous_zona: { type: 'text', description: 'Zone in the half-year before', null: 'none', gate: presence() },
        perimeter_half_year: {
          type: 'int2',
          description: 'Half-year of the perimeter that contains the representative point',
          null: 'published by a version that did not store it', gate: 'a half-year, and different half-years are not compared',
        },
      },
    },
  },
  brief: true,
  flat: {
    count: { type: 'int4', of: 'length' }, zone: { type: 'text', of: '0.zone' }, fascia: { type: 'text', of: '0.fascia' },
    zone_description: { type: 'text', of: '0.zone_description' }, semester: { type: 'text', of: '0.semester' },
  },
});
