/**
 * Schemas of text and coordinate fields, which occur in several publishers' lists of points. The schemas do not check whether coordinates are in Italy, because
 * a record with wrong coordinates can be located by its address.
 */
import { z } from 'zod';
import { isNoData } from './no-data.ts';

/**
 * Schema of a text, in which one space replaces each run of white space. Spaces at the start and end are removed. A no-break space after Â or Ã stays, because
 * the two characters are one letter that was encoded twice.
 */
export const text = z.string().transform((value) => value.replace(/(?:[ \t\r\n\f\v]|(?<![\u00c2\u00c3])\u00a0)+/g, ' ').replace(/^ | $/g, ''));

/** Schema of an optional text; null for an empty text, or for a mark such as `-`, `n.d.` or `NULL`. */
export const optionalText = text.transform((value) => (/^(?:|-+|n\.?d\.?|non disponibile|null)$/i.test(value) ? null : value));

export const requiredText = text.pipe(z.string().min(1, 'expected a text'));

/** Schema of degrees with a decimal point or comma; null for an empty text, dashes, `NULL`, or a number that means "no value". */
export const coordinate = z.string().transform((value, context) => {
  const written = value.trim();
  if (/^(?:-*|null)$/i.test(written) || isNoData(written)) return null;
  if (/^[+-]?(?:\d{1,15}(?:[.,]\d*)?|[.,]\d+)$/.test(written)) return Number(written.replace(',', '.'));
  context.addIssue({ code: 'custom', message: 'expected degrees or nothing' });
  return z.NEVER;
});
