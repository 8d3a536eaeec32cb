/**
 * Parses one line of INDIR or STRAD. This schema alone defines the format.
 *
 * Source: the publisher's column metadata (`metadata_indirizzario.json`, `metadata_stradario.json` of the open data page). The files are UTF-8
 * without BOM, with LF, `;`, decimal commas and no quoting. An empty field means that the value is not stated. `scan.ts` reads well-formed INDIR lines on a
 * fast path over bytes. This schema parses all other lines, and a property test compares both results.
 */
import { z } from 'zod';
import { isNoData } from '../../pipelines/readers/no-data.ts';
import { firstIssue } from '../../pipelines/readers/refusal.ts';

export const STRAD_COLUMNS = [
  'CODICE_COMUNE', 'CODICE_ISTAT', 'PROGRESSIVO_NAZIONALE', 'CODICE_COMUNALE', 'ODONIMO', "LOCALITA'", 'TOTALE_ACCESSI', 'DIZIONE_LINGUA1',
  'DIZIONE_LINGUA2', '',
] as const;

export const INDIR_COLUMNS = [
  'CODICE_COMUNE', 'CODICE_ISTAT', 'PROGRESSIVO_NAZIONALE', 'CODICE_COMUNALE', 'ODONIMO', "LOCALITA'", 'DIZIONE_LINGUA1', 'DIZIONE_LINGUA2',
  'PROGRESSIVO_ACCESSO', 'CODICE_COMUNALE_ACCESSO', 'CIVICO', 'ESPONENTE', 'SPECIFICITA', 'METRICO', 'PROGRESSIVO_SNC', 'COORD_X_COMUNE',
  'COORD_Y_COMUNE', 'QUOTA', 'METODO',
] as const;

/** Number of leading columns of INDIR that describe the street. The rest describes the access. */
export const INDIR_STREET_COLUMNS = 8;

export type Role = 'INDIR' | 'STRAD';

function invalid(code: string, message: string): { message: string; params: { code: string } } {
  return { message, params: { code } };
}

const field = z.string().refine((text) => !text.includes('\0'), invalid('nul_character', 'expected text, found a NUL character'));
const optionalText = field.transform((text) => (text === '' ? null : text));

/** Whole number of at most 15 digits without sign, so that the value is exact in a double. */
const key = (code: string): z.ZodType<number, string> =>
  z.string().refine((text) => /^\d{1,15}$/.test(text), invalid(code, 'expected 1 to 15 digits')).transform(Number);

/** Whole number of at most 9 digits, so that the value fits an int4. */
const whole = (code: string): z.ZodType<number | null, string> =>
  z.string().refine((text) => /^\d{0,9}$/.test(text), invalid(code, 'expected at most 9 digits, or nothing')).transform((text) => (text === '' ? null : Number(text)));

/** Number with a decimal comma, without an exponent or thousands separators. `,5` is 0.5. A value that means no data becomes null, and the address is kept. */
const DECIMAL = /^-?(?:\d+(?:,\d+)?|,\d+)$/;
const decimal = (code: string): z.ZodType<number | null, string> =>
  z.string().refine((text) => text === '' || isNoData(text) || (text.length <= 40 && DECIMAL.test(text)), invalid(code, 'expected a number with a decimal comma, or nothing'))
    .transform((text) => (text === '' || isNoData(text) ? null : Number(text.replace(',', '.').replace(/^(-?)\./, '$10.'))));

const streetColumns = {
  /** Belfiore code of the comune. All joins use this code, because provinces are renumbered and comuni merge. */
  CODICE_COMUNE: z.string().refine((text) => /^[A-Z]\d{3}$/.test(text), invalid('comune_code_malformed', 'expected a letter and three digits')),
  CODICE_ISTAT: z.string().refine((text) => /^(?:\d{6})?$/.test(text), invalid('istat_code_malformed', 'expected six digits, or nothing'))
    .transform((text) => (text === '' ? null : text)),
  PROGRESSIVO_NAZIONALE: key('street_key_malformed'),
  CODICE_COMUNALE: optionalText,
  ODONIMO: field.refine((text) => text.trim() !== '', invalid('odonimo_missing', 'expected the name of the street')),
  "LOCALITA'": optionalText,
  DIZIONE_LINGUA1: optionalText,
  DIZIONE_LINGUA2: optionalText,
};

export const stradRow = z.strictObject({
  ...streetColumns,
  /** Number of accesses. Streets with 0 accesses have no line in INDIR. */
  TOTALE_ACCESSI: whole('total_accesses_malformed'),
  /** Column after the last separator. */
  '': z.string().refine((text) => text === '', invalid('ghost_column_filled', 'expected nothing behind the last separator')),
});

export const indirStreet = z.strictObject(streetColumns);

export const indirAccess = z.strictObject({
  PROGRESSIVO_ACCESSO: key('access_key_malformed'),
  /** Alphanumeric (`G282`). */
  CODICE_COMUNALE_ACCESSO: optionalText,
  CIVICO: whole('civico_malformed'),
  ESPONENTE: optionalText,
  /** Series of the number as published. The value is ROSSO, NERO or, in a few lines, a different text. */
  SPECIFICITA: optionalText,
  /** Distance along the street in metres, where accesses are numbered by distance. */
  METRICO: whole('metrico_malformed'),
  /** Ordinal of an access without a number among the accesses that follow the civico or metrico of the same line. */
  PROGRESSIVO_SNC: whole('snc_malformed'),
  COORD_X_COMUNE: decimal('coordinate_malformed'),
  COORD_Y_COMUNE: decimal('coordinate_malformed'),
  QUOTA: decimal('quota_malformed'),
  METODO: z.string().refine((text) => /^[1-5]?$/.test(text), invalid('metodo_unknown', 'expected 1 to 5, or nothing')).transform((text) => (text === '' ? null : Number(text))),
});

export type IndirStreet = z.output<typeof indirStreet>;
export type IndirAccess = z.output<typeof indirAccess>;

/** Returns the fields by column name. */
export function record(columns: readonly string[], fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? '']));
}

/** @returns the stable code and the one-line message of a rejected line, such as `CIVICO: expected …, found "12A"`. */
export function refusal(error: z.ZodError, fields: Readonly<Record<string, string>>): { readonly code: string; readonly message: string } {
  const { field, message, code } = firstIssue(error);
  // One column has no name.
  return { code: code ?? 'row_malformed', message: `${field === '' ? 'column 10' : field}: ${message}, found ${JSON.stringify((fields[field] ?? '').slice(0, 60))}` };
}
