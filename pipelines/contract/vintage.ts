/** Formats the vintages of files as text. */

/** Beginning of the vintage of a file without a date. In text order, such a vintage precedes all others, so every dated file of the same kind is newer. */
const UNDATED = '0000';

/** Returns a vintage as text: `undated` for a file without a date. */
export function vintageText(vintage: string): string {
  return vintage.startsWith(UNDATED) ? 'undated' : vintage;
}
