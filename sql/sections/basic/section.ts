/** Section basic: identification and position of a parcel in the cadastre. Its only table stores postal codes. All other values come from tables of `core`. */
import { z } from 'zod';
import { belfiore, geometry, kind, nullable, parcelFacts } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const basic = z.strictObject({
  ...parcelFacts,
  kind,
  geometry,
  cadastral: z.strictObject({
    comune_catastale: z.strictObject({
      code: z.string().describe('Number of the comune catastale, as published by the province'),
      name: nullable(z.string(), 'Italian name, or else German name; null: no name is published'),
    })
      .describe('Comune catastale of the land register (Libro fondiario). Only in Trentino-Alto Adige').optional(),
    kind: z.enum(['land', 'building']).describe('Particella fondiaria or edificiale. Each kind has its own numbers. Only in a land register').optional(),
    sheet: nullable(z.string(), 'Foglio, without leading zeros; null: the cadastre of the place has no sheets'),
    section: nullable(z.string(), 'Sezione censuaria; null: the comune has none'),
    attachment: nullable(z.string(), 'Allegato; null: none'),
    development: nullable(z.string(), 'Sviluppo; null: none'),
    comune_code: belfiore,
    postal_code: nullable(z.string().regex(/^\d{5}$/), 'CAP; null: unknown'),
  }).describe('Cadastral identification'),
}).meta({ id: 'Basic', description: 'Identification, area and geometry of the parcel' });

export default defineSection({
  name: 'basic',
  position: 10,
  title: 'Parcel',
  block: basic,
  kinds: ['land', 'road', 'water'],
  coverage: 'meta',
  namesComuni: true,
  follows: ['core.comune', 'core.comune_found'],
  tables: {
    'section.postal_code': {
      description: 'Postal code of a parcel, from data that the operator provides. If the comune has only one code, this code is used. Otherwise, the code whose area contains the representative point is used. No row: the postal code is unknown',
      key: ['fid'],
      columns: {
        fid: FID,
        cap: { type: 'text', description: 'Postal code (CAP), 5 digits, text' },
        edition: { type: 'text', description: 'Edition of the table or of the areas from which the postal code comes, as stated in the file name', null: 'none said', gate: 'a year' },
      },
    },
  },
  usual: true,
  brief: true,
  flat: {
    fid: { type: 'int4' }, cadastral_reference: { type: 'text' }, label: { type: 'text' }, kind: { type: 'text' }, area_m2: { type: 'float8' },
    centroid_lat: { type: 'float8', of: 'centroid.lat' }, centroid_lng: { type: 'float8', of: 'centroid.lng' },
    municipality_code: { type: 'text', of: 'municipality.code' }, municipality_name: { type: 'text', of: 'municipality.name' },
    province: { type: 'text', of: 'municipality.province' }, region: { type: 'text', of: 'municipality.region' },
    sheet: { type: 'text', of: 'cadastral.sheet' }, section: { type: 'text', of: 'cadastral.section' },
    attachment: { type: 'text', of: 'cadastral.attachment' }, development: { type: 'text', of: 'cadastral.development' },
    comune_catastale_code: { type: 'text', of: 'cadastral.comune_catastale.code' },
    comune_catastale_name: { type: 'text', of: 'cadastral.comune_catastale.name' }, postal_code: { type: 'text', of: 'cadastral.postal_code' },
    gml_id: { type: 'text' },
  },
});
