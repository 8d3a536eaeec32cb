/** Validates and converts the properties of a feature. The scanner's fast path accepts a subset of these texts, byte by byte. */
import { z } from 'zod';
import { isoDate } from '../../pipelines/readers/iso-date.ts';
import { parseReference } from './reference.ts';

/** Prefix of the reference in INSPIREID_LOCALID of a parcel. */
export const PARCEL_ID = 'IT.AGE.PLA.';
export const SHEET_ID = 'IT.AGE.MAP.';
export const PARCEL_GML_ID = `CadastralParcel.${PARCEL_ID}`;
export const SHEET_GML_ID = `CadastralZoning.${SHEET_ID}`;

const reference = z.string().refine((text) => parseReference(text) !== null, { error: 'expected CCCCZFFFFAS or CCCCZFFFFAS.label' });
/** Converts `01/03/1985` to `1985-03-01`, and an empty text to null. */
const date = z.string().transform((text, context) => {
  if (text === '') return null;
  const iso = isoDate(text);
  if (iso !== null) return iso;
  context.addIssue({ code: 'custom', message: 'expected a day as DD/MM/YYYY or nothing' });
  return z.NEVER;
});

/** Simple properties of `CP:CadastralParcel`, as text. */
export const parcelSchema = z.strictObject({
  'gml:id': z.string(),
  INSPIREID_LOCALID: z.string(),
  INSPIREID_NAMESPACE: z.string().optional(),
  LABEL: z.string().min(1, { error: 'expected a label' }),
  NATIONALCADASTRALREFERENCE: reference,
  ADMINISTRATIVEUNIT: z.string().regex(/^[A-Z]\d{3}$/, { error: 'expected a cadastral code' }),
});

/** Simple properties of `CP:CadastralZoning`, as text. */
export const sheetSchema = z.strictObject({
  'gml:id': z.string(),
  INSPIREID_LOCALID: z.string(),
  INSPIREID_NAMESPACE: z.string().optional(),
  LABEL: z.string(),
  NATIONALCADASTRALZONINGREFERENCE: reference,
  BEGINLIFESPANVERSION: date.optional(),
  ENDLIFESPANVERSION: date.optional(),
  // In INSPIRE's hierarchy, 1stOrder and 2ndOrder are comuni and sections. Such records are rejected, because a comune that was loaded as a sheet
  // would cover all its sheets.
  LEVEL: z.literal('3rdOrder', { error: 'expected 3rdOrder' }).optional(),
  LEVELNAME: z.string().optional(),
  LEVELNAME_LOCALE: z.string().optional(),
  ORIGINALMAPSCALEDENOMINATOR: z
    .string()
    .regex(/^(|[1-9]\d{0,8})$/, { error: 'expected a whole number or nothing' })
    .transform((text) => (text === '' ? null : Number(text)))
    .optional(),
  ADMINISTRATIVEUNIT: z.string().regex(/^[A-Z]\d{3}$/, { error: 'expected a cadastral code' }),
});
