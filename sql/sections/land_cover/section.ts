/** Section land_cover: land cover of a parcel. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, share, source } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const landCover = z.strictObject({
  code: z.string().regex(/^[1-5]\d\d$/).describe('Class of CORINE Land Cover, third level, such as 112'),
  class: z.string().regex(/^[1-5]$/).describe('First level: 1 artificial, 2 agricultural, 3 forest and semi-natural, 4 wetlands, 5 water'),
  subclass: z.string().regex(/^[1-5]\d$/).describe('Second level, such as 11'),
  description: z.string().describe('Name of the class in the Italian nomenclature'),
  share: share.describe('Share of the parcel that the class covers'),
  source,
}).meta({ id: 'LandCover', description: 'The land cover class with the largest area in the parcel' });

export default defineSection({
  name: 'land_cover',
  position: 130,
  title: 'Land cover',
  block: nullable(landCover, 'Null: the map has no class here'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.land_cover': {
      description: 'Class of CORINE Land Cover 2018 with the largest area in each land parcel. If the areas of two classes differ by less than 0.01 m², the smaller code is used. No row: the parcel is a road or water, or the map has no class here',
      key: ['fid'],
      columns: {
        fid: FID,
        code: { type: 'text', description: 'Class of the third level, 3 digits. The first digit is the class of the first level. The first two digits are the class of the second level' },
        description: { type: 'text', description: 'Name of the class in the Italian nomenclature' },
        share: { type: 'float8', description: "Share of the parcel's area that the class covers, 0–1, 6 decimals", gate: quantity({ within: [0, 1] }) },
      },
    },
  },
  usual: true,
  flat: {
    code: { type: 'text' }, class: { type: 'text' }, subclass: { type: 'text' }, description: { type: 'text' }, share: { type: 'float8' },
  },
});
