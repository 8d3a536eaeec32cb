/** Types of the site's pages. */

/** Parts of the menu, in its order. */
export const PARTS = ['Begin', 'Use', 'Reference', 'Make'] as const;

export type Part = (typeof PARTS)[number];

export interface Page {
  /** From the site's root: `docs/sizing.html`. */
  readonly path: string;
  readonly title: string;
  readonly part: Part;
  /** Path of its parent in the menu; null if the page is at the top level. */
  readonly below: string | null;
  /** HTML of the page, without the menu. Links that begin with `/` start at the site's root. */
  readonly body: string;
}
