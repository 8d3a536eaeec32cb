/** Validates and converts the text of a file of postal codes. */
import { z } from 'zod';
import type { Columns } from '../../pipelines/contract/source.ts';

/** Accepted headers of each field, normalised (without case, accents and punctuation). */
export const ALIASES = {
  cap: ['cap', 'codice_postale', 'codice_avviamento_postale', 'codice_cap', 'postal_code', 'postcode', 'zip', 'zip_code'],
  belfiore: ['belfiore', 'codice_belfiore', 'cod_belfiore', 'catasto', 'codice_catasto', 'codice_catastale', 'cod_catastale', 'codicecatastale', 'codice_catastale_comune'],
  istat_code: ['istat', 'istat_code', 'codice_istat', 'cod_istat', 'codiceistat', 'codice_istat_comune', 'codice_comune_istat', 'pro_com_t', 'pro_com', 'procom'],
} as const;

/** Columns that only other tables with a CAP and a comune have: tax returns, offices, addresses. A table with one of these columns is not recognised. */
export const FOREIGN = ['anno_di_imposta', 'numero_contribuenti', 'codice_ipa', 'cod_amm', 'civico', 'numero_civico', 'odonimo', 'indirizzo'];

/** Removes the decimals that some programs add to codes in a column with blanks: `118.0` becomes `118`. */
const withoutDecimals = z.string().trim().transform((text) => text.replace(/\.0+$/, ''));

/** CAP `118` becomes 00118, because spreadsheets drop leading zeros. In some tables, 99999 means none, so 99999 is rejected. */
export const cap = z
  .union([z.string(), z.number().transform(String)], 'expected a postal code')
  .pipe(withoutDecimals.pipe(z.string().regex(/^\d{3,5}$/, 'expected a postal code of five digits')).transform((text) => text.padStart(5, '0')))
  .refine((text) => text !== '99999', 'expected a postal code, not the mark for none');

export const belfiore = z.string().trim().toUpperCase().regex(/^[A-Z]\d{3}$/, 'expected a cadastral code such as F205');

export const istatCode = z
  .union([z.string(), z.number().transform(String)], 'expected an ISTAT code')
  .pipe(withoutDecimals.pipe(z.string().regex(/^\d{4,6}$/, 'expected an ISTAT code of six digits')).transform((text) => text.padStart(6, '0')));

/** A postal code and its comune. The comune has a cadastral or an ISTAT code. If both codes are present, both are kept. */
export const pair = z
  .object({ cap, belfiore: z.union([z.literal('').transform(() => null), z.null(), belfiore]), istat_code: z.union([z.literal('').transform(() => null), z.null(), istatCode]) })
  .refine((row) => row.belfiore !== null || row.istat_code !== null, { path: ['belfiore'], message: 'expected a cadastral or an ISTAT code' });

export const tables = {
  raw_postal_code: { edition: 'text not null', belfiore: 'text', istat_code: 'text', cap: 'text not null' },
  raw_postal_code_area: { edition: 'text not null', cap: 'text not null', geom: 'geometry not null' },
} satisfies Record<string, Columns>;
