/** Validates and converts the fields of a record, for each level. */
import { z } from 'zod';

export type Level = 'comune' | 'provincia' | 'regione';

/** Column names of each field in all editions, as normalised by `normaliseHeader`, by level. */
export const COLUMNS = {
  comune: { code: 'pro_com', padded_code: 'pro_com_t', name: 'comune' },
  provincia: { unit: 'cod_uts', code: ['cod_prov', 'cod_pro'], unit_name: 'den_uts', name: ['den_prov', 'provincia'], city: 'den_cm' },
  regione: { code: 'cod_reg', name: ['den_reg', 'regione'] },
  geojson: { code: 'com_istat_code', belfiore: 'com_catasto_code', name: 'name' },
} as const;

/** All columns of each edition, by level: the census editions by year, and the yearly editions. */
export const EDITIONS = {
  comune: {
    1991: ['COD_RIP', 'COD_REG', 'COD_PROV', 'PRO_COM', 'PRO_COM_T', 'COMUNE', 'COMUNE_A', 'POP_1991', 'CC_P', 'SHAPE_LEN*', 'SHAPE_AREA'],
    2001: ['COD_RIP', 'COD_REG', 'COD_PROV', 'PRO_COM', 'PRO_COM_T', 'COMUNE', 'COMUNE_A', 'POP_2001', 'CC_P', 'SHAPE_LEN*', 'SHAPE_LE_1', 'SHAPE_AREA', 'AREA_NEW'],
    2011: ['COD_REG', 'COD_PRO', 'PRO_COM', 'COMUNE', 'SHAPE_LEN*', 'SHAPE_AREA'],
    2021: ['COD_RIP', 'COD_REG', 'COD_UTS', 'PRO_COM', 'PRO_COM_T', 'COMUNE', 'COMUNE_A', 'CC_UTS', 'POP21', 'FAM21', 'SHAPE_AREA', 'SHAPE_LEN*'],
    yearly: ['COD_RIP', 'COD_REG', 'COD_PROV', 'COD_CM', 'COD_UTS', 'PRO_COM', 'PRO_COM_T', 'COMUNE', 'COMUNE_A', 'CC_UTS', 'SHAPE_LEN*', 'SHAPE_AREA'],
  },
  provincia: {
    2011: ['COD_REG', 'COD_PRO', 'PROVINCIA', 'SIGLA', 'SHAPE_LEN*', 'SHAPE_AREA'],
    2021: ['COD_RIP', 'COD_REG', 'COD_PROV', 'COD_CM', 'COD_UTS', 'DEN_PROV', 'DEN_CM', 'DEN_UTS', 'SIGLA', 'TIPO_UTS', 'POP21', 'FAM21', 'SHAPE_AREA', 'SHAPE_LEN*'],
    yearly: ['COD_RIP', 'COD_REG', 'COD_PROV', 'COD_CM', 'COD_UTS', 'DEN_PROV', 'DEN_CM', 'DEN_UTS', 'SIGLA', 'TIPO_UTS', 'SHAPE_LEN*', 'SHAPE_AREA'],
  },
  regione: {
    2011: ['COD_REG', 'REGIONE', 'SHAPE_LEN*', 'SHAPE_AREA'],
    2021: ['COD_RIP', 'COD_REG', 'DEN_REG', 'POP21', 'FAM21', 'SHAPE_LEN*', 'SHAPE_AREA'],
    yearly: ['COD_RIP', 'COD_REG', 'DEN_REG', 'SHAPE_LEN*', 'SHAPE_AREA'],
  },
  geojson: {
    2023: [
      'name', 'op_id', 'minint_finloc', 'minint_elettorale', 'prov_name', 'prov_istat_code', 'prov_istat_code_num', 'prov_acr', 'reg_name', 'reg_istat_code', 'reg_istat_code_num',
      'opdm_id', 'com_catasto_code', 'com_istat_code', 'com_istat_code_num',
    ],
  },
} as const;

export const OPTIONAL = {
  comune: ['padded_code'],
  provincia: ['unit', 'code', 'unit_name', 'name', 'city'],
  regione: [],
  geojson: [],
} as const;

/** Types that the known files declare for each column. The types in `geojson` are not checked, because GeoJSON declares no types. */
export const TYPES = {
  comune: { code: 'number', padded_code: 'text', name: 'text' },
  provincia: { unit: 'number', code: 'number', unit_name: 'text', name: 'text', city: 'text' },
  regione: { code: 'number', name: 'text' },
  geojson: { code: 'text', belfiore: 'text', name: 'text' },
} as const;

/** Converts a field to trimmed text, and null to empty text. Codes are numbers in shapefiles and text in GeoJSON. */
const text = z.union([z.string(), z.number(), z.null()]).transform((value) => (value === null ? '' : String(value).replaceAll('\u00a0', ' ').trim()));
const code = (digits: number, expected: string) => text.pipe(z.string().regex(new RegExp(`^\\d{1,${digits}}$`), expected)).transform((value) => value.padStart(digits, '0'));
const name = text.pipe(z.string().min(1, 'expected a name'));
/** Name of a province or metropolitan city; null if the text is empty or `-`. A metropolitan city has no province name, and vice versa. */
const said = text.transform((value) => (value === '' || value === '-' ? null : value));

export interface Boundary {
  readonly code: string;
  readonly belfiore: string | null;
  readonly name: string;
}

const comune = z
  .strictObject({ code: code(6, 'expected up to six digits'), padded_code: text.pipe(z.string().regex(/^\d{0,6}$/, 'expected up to six digits')), name })
  .superRefine((fields, context) => {
    // In one edition, `pro_com_t` lacks its leading zero. After padding, `pro_com_t` must equal the code in `pro_com`.
    if (fields.padded_code !== '' && fields.padded_code.padStart(6, '0') !== fields.code) {
      context.addIssue({ code: 'custom', path: ['padded_code'], message: `expected the code of pro_com, ${fields.code}` });
    }
  })
  .transform((fields): Boundary => ({ code: fields.code, belfiore: null, name: fields.name }));

const provincia = z
  .strictObject({ unit: text.pipe(z.string().regex(/^\d{0,3}$/, 'expected up to three digits')), code: text.pipe(z.string().regex(/^\d{0,3}$/, 'expected up to three digits')), unit_name: said, name: said, city: said })
  .transform((fields, context): Boundary => {
    const found = fields.unit === '' ? fields.code : fields.unit;
    const label = fields.unit_name ?? fields.name ?? fields.city;
    if (found === '' || Number(found) === 0) context.addIssue({ code: 'custom', path: ['code'], message: 'expected the code of a unit' });
    if (label === null) context.addIssue({ code: 'custom', path: ['name'], message: 'expected a name' });
    return { code: found.padStart(3, '0'), belfiore: null, name: label ?? '' };
  });

const regione = z.strictObject({ code: code(2, 'expected a region code, 1–20'), name }).transform((fields): Boundary => ({ ...fields, belfiore: null }));

const geojson = z.strictObject({
  code: code(6, 'expected up to six digits'),
  belfiore: text.pipe(z.string().regex(/^[A-Z]\d{3}$/, 'expected a letter and three digits')),
  name,
});

export const SCHEMAS = { comune, provincia, regione, geojson } as const;
