/** Validates and converts the fields of the records of a comune catastale (C.C.). */
import { z } from 'zod';

/** Published column name of each field, by layer. */
export const COLUMNS = {
  parcel: { type: 'pt_type', code: 'pt_code', ccat: 'pt_ccat', roof: 'pt_fabb' },
  boundary: {
    ccat: 'bd_ccat', name: 'bd_name_it', name_other: 'bd_name_de', istat_code: 'bd_istat', comune_name: 'bd_adm_it', comune_name_other: 'bd_adm_de', parcels: 'bd_sumpart',
  },
} as const;

/** All columns of the known edition (July 2024). */
export const EDITIONS = {
  parcel: { 2024: ['PT_TYPE', 'PT_CODE', 'PT_CCAT', 'PT_FABB', 'PT_PUB'] },
  boundary: {
    2024: ['BD_PZ', 'BD_PUB', 'BD_PUB_IT', 'BD_PUB_DE', 'BD_CCAT', 'BD_NAME_IT', 'BD_NAME_DE', 'BD_ISTAT', 'BD_ADM_IT', 'BD_ADM_DE', 'BD_SUMPART'],
  },
} as const;

/** Declared types of the mapped columns. */
export const TYPES = {
  parcel: { type: 'text', code: 'text', ccat: 'number', roof: 'text' },
  boundary: { ccat: 'number', name: 'text', name_other: 'text', istat_code: 'number', comune_name: 'text', comune_name_other: 'text', parcels: 'number' },
} as const;

const text = z.union([z.string(), z.number(), z.null()]).transform((value) => (value === null ? '' : String(value).trim()));
const said = text.transform((value) => (value === '' ? null : value));

/** Number of a C.C. The texts `1` and `001` are the same number. */
const ccat = text.pipe(z.string().regex(/^\d{1,3}$/, 'expected the number of a comune catastale, 1–999'))
  .refine((value) => Number(value) > 0, 'expected the number of a comune catastale, 1–999')
  .transform((value) => value.padStart(3, '0'));

export const parcelSchema = z.strictObject({
  /** `P` marks the main piece of the parcel. `C` marks any other piece of the parcel. */
  type: text.pipe(z.enum(['P', 'C'], 'expected P or C')),
  /** `481/1` is a land parcel (particella fondiaria); `.107/2`, with a dot, is a building parcel (particella edificiale). */
  code: text.pipe(z.string().regex(/^\.?\d[0-9A-Za-z/]*$/, 'expected a number such as 481/1 or .107/2')),
  ccat,
  /** `S` means under a roof, and `N` means not under a roof. The meaning of `T` is unknown. `T` and other letters are kept, and a check counts them. */
  roof: said,
});

export const boundarySchema = z.strictObject({
  ccat,
  name: text.pipe(z.string().min(1, 'expected a name')),
  name_other: said,
  /** Code without leading zeros: `22234` means `022234`. Null if the code is 0 or blank. */
  istat_code: text.pipe(z.string().regex(/^\d{0,6}$/, 'expected up to six digits')).transform((value) => (Number(value) === 0 ? null : value.padStart(6, '0'))),
  comune_name: said,
  comune_name_other: said,
  /** Number of parcels as stated (`BD_SUMPART`). */
  parcels: text.pipe(z.string().regex(/^\d{1,7}$/, 'expected a whole number')).transform(Number),
});
