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
  previous_semester: z.strictObject({ purchase, rental }).describe('Quotations of the previous half-year'),
  semester: semester.describe('Newest half-year with quotations of the comune'),
  zone_perimeter_semester: nullable(semester, 'Half-year of the perimeter that contains the parcel; null: the parcel was published by a version of mappale that did not store the half-year'),
})).meta({ id: 'Valuation', description: 'Quotations of the OMI zone, one element per building type and state of repair' });

export default defineSection({
  name: 'valuation',
  position: 50,
  title: 'Property values (OMI)',
  block: valuation,
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.valuation': {
      description: 'OMI zone of a parcel in the newest half-year with quotations and in the previous half-year. The quotations are in core.quotation. No row: no zone contains the representative point, the zone has no known name, or the parcel is a road or water',
      key: ['fid'],
      columns: {
        fid: FID,
        belfiore: { type: 'text', description: 'Comune of the zone, as published by OMI' },
        zona: { type: 'text', description: 'Zone in the half-year of the quotations. If that zone is unknown, the zone that the perimeter names' },
        half_year: {
          type: 'int2',
          description: 'Newest half-year with quotations of the comune: year × 2 + (half − 1)',
          null: 'the zone of the perimeter was not found in the half-year of the quotations', gate: presence(),
        },
        previous_belfiore: { type: 'text', description: 'Comune of the zone in the previous half-year', null: 'the parcel has no zone in the previous half-year', gate: 'is null exactly if previous_zona is null' },
        previous_zona: { type: 'text', description: 'Zone in the previous half-year', null: 'none', gate: presence() },
        perimeter_half_year: {
          type: 'int2',
          description: 'Half-year of the perimeter that contains the representative point',
          null: 'the parcel was published by a version of mappale that did not store the half-year', gate: 'a half-year; the gate does not compare rows of different half-years',
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
