/** Vintages of files, as people read them. */

/** Vintage of a file that gives no date: before all others, so that every dated file of its kind is newer. */
const UNDATED = '0000';

/** A vintage for people: `undated` where the file gives no date. */
export function vintageText(vintage: string): string {
  return vintage.startsWith(UNDATED) ? 'undated' : vintage;
}
