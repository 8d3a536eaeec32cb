/** Recognises numbers that mean "no value". No table may contain NaN or −9999. */

/**
 * Code of the reject for a record that the publisher marks as having no value. Such rejects are stored like other rejects, but do not count in the share of
 * rejects.
 */
export const NO_DATA = 'no_data';

const WRITTEN = /^\s*(?:[+-]?nan(?:\(\w*\))?|-?1[.,]#(?:qnan|snan|ind)\w*|-9{4,6}(?:[.,]0+)?)\s*$/i;

/** Returns whether a value means "no value": NaN in any spelling, or −9999, −99999 or −999999, with or without zeros as decimals. */
export function isNoData(value: unknown): boolean {
  if (typeof value === 'number') return Number.isNaN(value) || WRITTEN.test(String(value));
  return typeof value === 'string' && WRITTEN.test(value);
}
