/** Recognises numbers for no data. Neither NaN nor −9999 may be stored in a table. */

/**
 * Code of a reject for a record that the publisher marks as without a value. The reject is stored like all rejects, but is not included in the share of
 * rejects.
 */
export const NO_DATA = 'no_data';

const WRITTEN = /^\s*(?:[+-]?nan(?:\(\w*\))?|-?1[.,]#(?:qnan|snan|ind)\w*|-9{4,6}(?:[.,]0+)?)\s*$/i;

/** Returns whether a value means "no value": NaN in any spelling, −9999 with more nines or decimals. */
export function isNoData(value: unknown): boolean {
  if (typeof value === 'number') return Number.isNaN(value) || WRITTEN.test(String(value));
  return typeof value === 'string' && WRITTEN.test(value);
}
