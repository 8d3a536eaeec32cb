/** Section land_use: urban land use of a parcel. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, share, source } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const landUse = z.strictObject({
  code: z.string().regex(/^[1-5]\d{4}$/).describe('Class of the Urban Atlas, such as 11210'),
  class: nullable(z.string(), 'Name of the class as published; null: not published'),
  level1: z.string().regex(/^[1-5]$/).describe('First digit: 1 artificial, 2 agricultural, 3 natural, 4 wetlands, 5 water'),
  level2: z.string().regex(/^[1-5]\d$/).describe('First two digits'),
  share: share.describe('Share of the parcel that the class covers'),
  source,
}).meta({ id: 'LandUse', description: 'The land use class with the largest area in the parcel' });

export default defineSection({
  name: 'land_use',
  position: 140,
  title: 'Land use',
  block: nullable(landUse, 'Null: the parcel is outside the mapped urban areas, or the map has no class here'),
  kinds: ['land'],
  coverage: 'meta',
  reaches: 'points',
  tables: {
    'section.land_use': {
      description: 'Class of the Urban Atlas 2018 with the largest area in each land parcel. If the areas of two classes differ by less than 0.01 m², the smaller code is used. No row: the parcel is a road or water, or is outside the mapped urban areas',
      key: ['fid'],
      columns: {
        fid: FID,
        code: { type: 'text', description: 'Class, 5 digits. The first digit is the class of the first level. The first two digits are the class of the second level' },
        class: { type: 'text', description: 'Name of the class', null: 'the publisher does not name the class', gate: presence() },
        share: { type: 'float8', description: "Share of the parcel's area that the class covers, 0–1, 6 decimals", gate: quantity({ within: [0, 1] }) },
      },
    },
  },
  flat: {
    code: { type: 'text' }, class: { type: 'text' }, level1: { type: 'text' }, level2: { type: 'text' }, share: { type: 'float8' },
  },
});
