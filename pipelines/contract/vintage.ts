/** Formats the vintages of files. */

/** Vintage of a file without a date. It sorts before all others, so that every dated file of its kind is newer. */
const UNDATED = '0000';

/** Returns a vintage as text: `undated` for a file without a date. */
export function vintageText(vintage: string): string {
  return vintage.startsWith(UNDATED) ? 'undated' : vintage;
}
