/**
 * Names of files as they may be shown and kept: deliveries of the Agenzia delle Entrate are named after the tax code of who asked
 * for them (`QIP294582_<codice fiscale>.zip`).
 */

/** A person's tax code has 16 characters, a company's 11 digits. */
const TAX_CODE = /(?<![A-Za-z0-9])(?:[A-Za-z]{6}\d[0-9A-Za-z]{8}[A-Za-z]|\d{11})(?![A-Za-z0-9])/g;

/** @returns the name with `***` in place of a tax code, and in place of whatever follows `QIP<number>_` */
export function maskTaxCode(name: string): string {
  return name.replace(TAX_CODE, '***').replace(/(QIP\d+_)[A-Za-z0-9]+/i, '$1***');
}
