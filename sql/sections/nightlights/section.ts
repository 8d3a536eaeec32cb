/** Section nightlights: brightness of a parcel at night, measured by satellite. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const CLASSES = ['dark', 'dim', 'medium', 'bright', 'very_bright'] as const;

const nightlights = z.strictObject({
  available: z.boolean().describe('False: the raster has no value at the parcel, and the other fields are absent'),
  ntl_parcel: z.number().min(0).optional().describe('Radiance of the cell that contains the representative point, nW cm⁻² sr⁻¹'),
  ntl_mean_comune: nullable(z.number().min(0), 'Mean of the cells whose centre is in the comune, nW cm⁻² sr⁻¹; null: no boundary of the comune is loaded, or no raster of the same year and collection has a value in the comune').optional(),
  ntl_ratio: nullable(z.number().min(0), 'ntl_parcel / ntl_mean_comune; null: no mean, or a mean of 0').optional(),
  ntl_class: z.enum(CLASSES).optional().describe('dark < 0.5, dim < 5, medium < 20, bright < 60, very_bright'),
  ntl_year: whole.optional().describe('Year of the radiance'),
  source,
}).meta({ id: 'Nightlights', description: 'Light at night' });

const UNREAD = 'the raster was missing when the parcel was added or changed (see the column unread)';
const DARK = 'most land is dark, so a change of 25 % is noise';

export default defineSection({
  name: 'nightlights',
  position: 180,
  title: 'Night lights',
  block: nullable(nightlights, 'Null: no raster covers the parcel'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.nightlights': {
      description: 'Radiance at night at the representative point of each land parcel, and the mean of its comune, in the newest year with a value. No row: no loaded raster has a value at the parcel',
      key: ['fid'],
      columns: {
        fid: FID,
        ntl_parcel: { type: 'float8', description: 'Radiance of the cell that contains the representative point, 2 decimals', unit: 'nW cm⁻² sr⁻¹', null: UNREAD, gate: quantity({ within: [0, 100_000], moves: { step: 1, why: DARK } }) },
        ntl_mean_comune: {
          type: 'float8',
          description: "Unweighted mean radiance of the cells whose centre is in the comune, 2 decimals. If there is no such cell, the radiance of the cell at the comune's point",
          unit: 'nW cm⁻² sr⁻¹', null: `no boundary of the comune is loaded, or no raster of the same year and collection has a value in the comune; ${UNREAD}`, gate: quantity({ within: [0, 100_000], moves: { step: 1, why: DARK } }),
        },
        ntl_ratio: { type: 'float8', description: 'Radiance of the parcel divided by the mean of the comune, both unrounded; 2 decimals', null: 'ntl_mean_comune is null or 0', gate: quantity({ within: [0, null], moves: { step: 0.5, why: DARK } }) },
        ntl_class: { type: 'text', description: 'Class by ntl_parcel: dark below 0.5, dim below 5, medium below 20, bright below 60, else very_bright', null: UNREAD, gate: 'follows from ntl_parcel' },
        ntl_year: { type: 'int4', description: 'Year of the radiance', null: UNREAD, gate: 'a year' },
        unread: { type: 'bool', description: 'True: no value was computed when the parcel was added or changed, because a raster of the parcel or of its comune was missing', gate: 'status counts these rows' },
      },
    },
  },
  flat: {
    available: { type: 'bool' },
    ntl_parcel_nw_cm2_sr: { type: 'float8', of: 'ntl_parcel' }, ntl_mean_comune_nw_cm2_sr: { type: 'float8', of: 'ntl_mean_comune' },
    ntl_ratio: { type: 'float8' }, ntl_class: { type: 'text' }, ntl_year: { type: 'int4' },
  },
});
