/** Section solar: potential yield of solar panels on the roofs of a parcel. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const NO_YIELD = 'no loaded raster has a yield at the parcel';

const solar = z.strictObject({
  available: z.boolean().describe('False: no building of 10 m² or more has its largest part on the parcel, and the other fields are absent'),
  n_buildings: whole.min(1).optional().describe('Buildings of 10 m² or more whose largest part is on the parcel'),
  roof_area_m2: z.number().min(0).optional().describe('Total footprint of the buildings in n_buildings, including parts outside the parcel'),
  kwp_max_total: z.number().min(0).optional().describe('Peak power of panels on 45 % of the footprint, 0.21 kW per m²'),
  pvout_kwh_per_kwp: nullable(z.number().min(0), `Annual yield per kW of peak power; null: ${NO_YIELD}`).optional(),
  pvout_kwh_year_total: nullable(z.number().min(0), `Annual yield of the total peak power; null: ${NO_YIELD}`).optional(),
  viability_class: nullable(z.enum(['alta', 'media', 'bassa']), `Class by annual yield per kW: alta from 1,400 kWh, media from 1,200, else bassa; null: ${NO_YIELD}`).optional(),
  methodology_version: z.literal('1').optional().describe('Version of the factors in the computation'),
  source,
}).meta({ id: 'Solar', description: 'Solar panels on the roofs' });

const UNREAD = `${NO_YIELD}, or the raster was missing when the parcel was added or changed (see the column unread)`;

export default defineSection({
  name: 'solar',
  position: 170,
  title: 'Solar',
  block: nullable(solar, 'Null: no source of buildings covers the parcel'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.solar': {
      description: 'Potential yield of solar panels on the roofs of each land parcel. No row: no building of 10 m² or more has its largest part on the parcel',
      key: ['fid'],
      columns: {
        fid: FID,
        n_buildings: { type: 'int4', description: 'Buildings with a footprint of 10 m² or more whose largest part is on the parcel', gate: 'watched in section.buildings' },
        roof_area_m2: { type: 'float8', description: 'Total footprint of the buildings in n_buildings, including parts outside the parcel, 2 decimals', unit: 'm²', gate: quantity({ within: [10, null] }) },
        kwp_max_total: { type: 'float8', description: 'Peak power: roof area × 0.45 (usable) × 0.21 kW/m², 2 decimals', unit: 'kW', gate: 'follows from roof_area_m2' },
        pvout_kwh_per_kwp: {
          type: 'float8', description: 'Annual yield per kW of peak power at the representative point, interpolated between the centres of the four surrounding cells, rounded to an integer',
          unit: 'kWh/kW', null: UNREAD, gate: quantity({ within: [300, 2500], typical: [800, 2000] }),
        },
        pvout_kwh_year_total: { type: 'float8', description: 'Unrounded peak power × unrounded yield, rounded to an integer', unit: 'kWh', null: UNREAD, gate: quantity({ within: [0, null] }) },
        viability_class: { type: 'text', description: 'Class by pvout_kwh_per_kwp: alta from 1,400, media from 1,200, else bassa', null: UNREAD, gate: presence() },
        unread: { type: 'bool', description: 'True: no yield was computed when the parcel was added or changed, because the raster was missing', gate: 'status counts these rows' },
      },
    },
  },
  flat: {
    available: { type: 'bool' }, n_buildings: { type: 'int4' }, roof_area_m2: { type: 'float8' },
    kwp_max_total_kw: { type: 'float8', of: 'kwp_max_total' }, pvout_kwh_per_kwp: { type: 'float8' }, pvout_kwh_year_total: { type: 'float8' },
    viability_class: { type: 'text' },
  },
});
