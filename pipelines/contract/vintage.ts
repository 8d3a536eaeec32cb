/** Formats the vintages of files. */

/** Vintage of a file without a date. The vintage sorts before all others, so that every dated file of the same kind is newer. */
const UNDATED = '0000';

/** Returns a vintage as text: `undated` for a file without a date. */
export function vintageText(vintage: string): string {
  return vintage.startsWith(UNDATED) ? 'undated' : vintage;
}
