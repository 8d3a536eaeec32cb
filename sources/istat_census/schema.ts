/** Validates and converts the fields of the census sections and of their indicators. The publisher writes codes without leading zeros. See notes.md. */
import { z } from 'zod';
import { INDICATORS } from './columns.ts';

/**
 * Returns the schema of a code. A spreadsheet or dBASE table may have converted the code to a number: `70010000001`, `70010000001.0`, `7.0010000001E10`,
 * 70010000001. The result is the digits without leading zeros.
 * @param least minimum number of digits
 * @param most maximum number of digits
 * @param what description of the code in the message of an invalid value
 */
const code = (least: number, most: number, what: string) => z.union([z.string(), z.number()]).transform((value, context) => {
  const text = String(value).trim();
  let digits = /^(\d+)(?:\.0+)?$/.exec(text)?.[1] ?? null;
  if (digits === null && /^\d(?:\.\d+)?[eE]\+?\d{1,2}$/.test(text)) {
    const number = Number(text);
    digits = Number.isSafeInteger(number) ? String(number) : null;
  }
  const bare = digits?.replace(/^0+(?=\d)/, '') ?? '';
  if (bare.length < least || bare.length > most) {
    context.addIssue({ code: 'custom', message: `expected ${what}` });
    return z.NEVER;
  }
  return bare;
});

/** Code of a census section: the number of the comune (PRO_COM, 4–6 digits), followed by the 7 digits of the section in the comune. */
const sectionId = code(11, 13, 'a section code of 2021: number of the comune and 7 digits');
const procom = code(4, 6, 'the number of a comune, 4–6 digits').transform((digits) => digits.padStart(6, '0'));
const region = code(1, 2, 'a region code 1–20').transform(Number).refine((value) => value >= 1 && value <= 20, { message: 'expected a region code 1–20' });

/** A count, published as a number or as text, such as `12` or `12.0`. The text `1.000` is rejected, because the point may separate thousands. */
const count = z.union([z.string(), z.number()]).transform((value, context) => {
  const text = String(value).trim();
  if (/^\d{1,9}(?:\.0{1,2})?$/.test(text)) return Number(text);
  context.addIssue({ code: 'custom', message: 'expected a whole number' });
  return z.NEVER;
});

/**
 * Returns whether the code of the census section starts with the number of the comune. Otherwise, the code or the
 * number of the comune is wrong.
 */
const sameComune = (row: { readonly section_id: string; readonly istat_code: string }): boolean => row.section_id.slice(0, -7) === row.istat_code.replace(/^0+/, '');
const disagreement = { path: ['section_id'], message: 'expected a section code that begins with the number of its comune' };

export const sectionRow = z.strictObject({
  section_id: sectionId,
  region_code: region,
  istat_code: procom,
  /** 1 centro, 2 nucleo, 3 località produttiva, 4 case sparse; 0 means not stated. */
  tipo_loc: z.union([z.literal([0, 1, 2, 3, 4], { error: 'expected 0–4' }), z.null()]).transform((value) => (value === 0 ? null : value)),
  population: count.nullable(),
  households: count.nullable(),
}).refine(sameComune, disagreement);

export const indicatorRow = z.strictObject({
  section_id: sectionId,
  region_code: region,
  istat_code: procom,
  ...Object.fromEntries(Object.keys(INDICATORS).map((name) => [name, count])),
}).refine((row) => sameComune(row as unknown as { section_id: string; istat_code: string }), disagreement);
