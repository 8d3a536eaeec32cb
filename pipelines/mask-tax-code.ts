/**
 * Hides tax codes in file names before the names are printed or stored. The file names of deliveries by the Agenzia delle Entrate contain the
 * applicant's tax code (`QIP294582_<codice fiscale>.zip`).
 */

/** Pattern for a digit of a person's tax code. If two persons would have the same code, letters replace digits (omocodia). */
const DIGIT = '[0-9LMNPQRSTUV]';
/** Matches a tax code. The code of a person has 16 characters, and the code of a company has 11 digits. */
const TAX_CODE = new RegExp(`(?<![A-Z0-9])(?:[A-Z]{6}(?:\\d[0-9A-Z]{8}|${DIGIT}{2}[ABCDEHLMPRST]${DIGIT}{2}[A-Z]${DIGIT}{3})[A-Z]|\\d{11})(?![A-Z0-9])`, 'gi');

/** Replaces tax codes in a file name, and the text after `QIP<number>_`, with `***`. */
export function maskTaxCode(name: string): string {
  return name.replace(TAX_CODE, '***').replace(/(QIP\d+_)[A-Za-z0-9]+/i, '$1***');
}
