/** Section basic: identification and position of a parcel in the cadastre. Its rows are those of `core.parcel` and a table of postal codes. */
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
      name: nullable(z.string(), 'Italian name, otherwise German; null: none published'),
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
  tables: {
    'section.postal_code': {
      description: 'Postal code of a parcel, from data that the operator supplied: the only code of its comune, otherwise the code whose area contains the representative point. No row: unknown',
      key: ['fid'],
      columns: {
        fid: FID,
        cap: { type: 'text', description: 'Postal code (CAP), 5 digits, text' },
        edition: {
          type: 'text',
          description: 'Edition of the table or of the areas with the code, from the name of the file',
          null: 'none said', gate: 'it is a year',
        },
      },
    },
  },
  usual: true,
  flat: {
    fid: { type: 'int4' },
    cadastral_reference: { type: 'text' },
    label: { type: 'text' },
    kind: { type: 'text' },
    area_m2: { type: 'float8' },
    centroid_lat: { type: 'float8', of: 'centroid.lat' },
    centroid_lng: { type: 'float8', of: 'centroid.lng' },
    municipality_code: { type: 'text', of: 'municipality.code' },
    municipality_name: { type: 'text', of: 'municipality.name' },
    province: { type: 'text', of: 'municipality.province' },
    region: { type: 'text', of: 'municipality.region' },
    sheet: { type: 'text', of: 'cadastral.sheet' },
    section: { type: 'text', of: 'cadastral.section' },
    attachment: { type: 'text', of: 'cadastral.attachment' },
    development: { type: 'text', of: 'cadastral.development' },
    comune_catastale_code: { type: 'text', of: 'cadastral.comune_catastale.code' },
    comune_catastale_name: { type: 'text', of: 'cadastral.comune_catastale.name' },
    postal_code: { type: 'text', of: 'cadastral.postal_code' },
    gml_id: { type: 'text' },
  },
  map: {
    italian: {
      title: 'Particella',
      words: {
        area_m2: 'Superficie', gml_id: 'Identificativo (gml:id)', fid: 'Identificativo (fid)', comune_code: 'codice catastale', cadastral: 'Catasto',
        comune_catastale: 'comune catastale', sheet: 'foglio', section: 'sezione', attachment: 'allegato', development: 'sviluppo', postal_code: 'CAP',
        label: 'Particella', kind: 'Tipo', cadastral_reference: 'Riferimento catastale', centroid: 'Punto interno', lat: 'latitudine', lng: 'longitudine',
        code: 'codice', name: 'nome', parcel: 'Particella', municipality: 'Comune',
      },
      fields: {
        'Identifier, stable across reloads': 'Identificativo, stabile anche dopo nuovi caricamenti',
        'Identifier of the feature as published (gml:id); in a land register the reference':
          'Identificativo dell’oggetto come pubblicato (gml:id); nel Libro fondiario il riferimento',
        'Number of the parcel (particella). In a land register the number of a building parcel begins with a dot':
          'Numero della particella; nel Libro fondiario quello di una particella edificiale comincia con un punto',
        'CCCCZFFFFAS.label; in the land registers of Trentino-Alto Adige IT.TN.<comune catastale>.label or IT.BZ.…':
          'CCCCZFFFFAS.particella; nei Libri fondiari del Trentino-Alto Adige IT.TN.<comune catastale>.particella o IT.BZ.…',
        'Cadastral code of the comune: a letter and three digits': 'Codice catastale del comune: una lettera e tre cifre',
        'True ground area': 'Superficie reale al suolo',
        'Degrees, EPSG:4326': 'Gradi, EPSG:4326',
        'Land, or a strip of road or water that is mapped like a parcel': 'Terreno, oppure le fasce di strade e acque rappresentate come particelle',
        'Cadastral identification': 'Come la identifica il catasto',
        'Comune catastale of the land register (Libro fondiario). Only in Trentino-Alto Adige':
          'Comune catastale del Libro fondiario; solo dove le Province lo tengono, in Trentino-Alto Adige',
        'Number of the comune catastale, as published by the province': 'Il suo numero, come lo scrive la Provincia',
        'Italian name, otherwise German; null: none published': 'In italiano, altrimenti in tedesco; vuoto: non pubblicato',
        'Particella fondiaria or edificiale. Each kind has its own numbers. Only in a land register':
          'Particella fondiaria o edificiale, ciascuna con numerazione propria; solo nel Libro fondiario',
        'Foglio, without leading zeros; null: the cadastre of the place has no sheets': 'Foglio, senza zeri iniziali; vuoto: il catasto del luogo non ne ha',
        'Sezione censuaria; null: the comune has none': 'Sezione censuaria; vuoto: il comune non ne ha',
        'Allegato; null: none': 'Allegato; vuoto: nessuno',
        'Sviluppo; null: none': 'Sviluppo; vuoto: nessuno',
        'CAP; null: unknown': 'CAP; vuoto: non noto',
      },
      evidence: {
        'published polygon': 'poligono pubblicato',
        'published polygon, repaired': 'poligono pubblicato, corretto nella geometria',
        'comune of the cadastral code': 'comune del codice catastale',
        'comune catastale of the reference; it names the comune': 'comune catastale del riferimento; il comune è quello che esso indica',
        'postal code of the comune': 'CAP del comune',
        'area of the postal code that contains the representative point': 'area del CAP che contiene il punto rappresentativo',
      },
    },
    words: {
      area_m2: 'Area', gml_id: 'Identifier (gml:id)', fid: 'Identifier (fid)', comune_code: 'Cadastral code', cadastral: 'Cadastre', comune_catastale: 'comune catastale', sheet: 'foglio', section: 'sezione',
      attachment: 'allegato', development: 'sviluppo', label: 'Particella', lat: 'latitude', lng: 'longitude',
    },
    units: { area_m2: 'm²' },
    codes: ['fid'],
    first: ['cadastral', 'label', 'kind', 'area_m2', 'cadastral_reference', 'centroid', 'fid', 'gml_id'],
  },
});
