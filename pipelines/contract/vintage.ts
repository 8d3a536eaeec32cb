/** Formats the vintages of files as text. */

/** Vintage of a file without a date. This vintage sorts before all others, so that every dated file of the same kind counts as newer. */
const UNDATED = '0000';

/** Returns a vintage as text: `undated` for a file without a date. */
export function vintageText(vintage: string): string {
  return vintage.startsWith(UNDATED) ? 'undated' : vintage;
}
