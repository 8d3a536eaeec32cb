/** Numbers that programs write for no data. They are never values: neither NaN nor −9999 may reach a table. */

/**
 * Code of a reject for a record whose own publisher says that it has no value. It is kept like any other, but is no fault of the file: it does
 * not count towards the share of records that may be refused.
 */
export const NO_DATA = 'no_data';

const WRITTEN = /^\s*(?:[+-]?nan(?:\(\w*\))?|-?1[.,]#(?:qnan|snan|ind)\w*|-9{4,6}(?:[.,]0+)?)\s*$/i;

/** Is this the sign for "no value": NaN in any spelling, −9999 with more nines or decimals? */
export function isNoData(value: unknown): boolean {
  if (typeof value === 'number') return Number.isNaN(value) || WRITTEN.test(String(value));
  return typeof value === 'string' && WRITTEN.test(value);
}
